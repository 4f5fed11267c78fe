"""`yaz install`: a plugin into a folder of its own, so that pip is not consent (design 5).

    with prepared("zotero", contract, home) as found:       # looked at, fitted to what is there; nothing written
        ...                                                 # show found.target and found.brings, and ask
        place(found, contract, home)

What pip installs beside the host runs in it: `.pth` files, entry points that others load, whatever its dependencies
bring. In a folder that only the plugin's own worker has on its path, none of that is read by the host.
"""

from __future__ import annotations

from yazcore.install.placing import leftovers, place, rollback, uninstall
from yazcore.install.preparing import Prepared, RefusedTarget, prepared

__all__ = ["Prepared", "RefusedTarget", "leftovers", "place", "prepared", "rollback", "uninstall"]
