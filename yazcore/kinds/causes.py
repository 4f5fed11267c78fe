"""Why something was refused, for a program to read: one word, beside the reason and the sentence.

A reason says whose decision it was; a cause says what would have to change. `yaz denials` tells a person by it.
"""

from __future__ import annotations

from typing import Literal

Cause = Literal[
    "",
    "posture",
    "unmarked-tool",
    "malformed",
    "protected",
    "address",
    "link",
    "not-a-file",
    "no-project",
    "place-unbound",
    "folder-closed",
    "folder-gone",
    "program-absent",
    "program-missing",
    "program-changed",
    "program-unfit",
    "secret-bound",
    "own-code",
]
"""* empty: the reason says it all.
* `posture`: the call's posture is `read`; `unmarked-tool`: it is, and the user has not said that the remote tool reads.
* `malformed`: no capability could cover it; `protected`: a name that no plugin is given in a project.
* `address`: the host's name stands for an address that is not public.
* `link`: a link on the way leads out of the folder, or nowhere; `not-a-file`: neither a regular file nor a folder.
* `no-project`: the call is about no project; `place-unbound`: no folder is bound to the place.
* `folder-closed`: the folder is given to no plugin; `folder-gone`: it cannot be opened.
* `program-absent`: the system has no such command, and the plugin ships with the host; `program-missing`: there was
  none at the grant, or there is none any more; `program-changed`: it is not the one that was granted;
  `program-unfit`: everybody could replace it.
* `secret-bound`: the user has bound the secret to other hosts.
* `own-code`: it was done past the services, by code of a plugin in the host's own process."""
