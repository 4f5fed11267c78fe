from __future__ import annotations

import attrs
import pytest

from yazcore.capabilities.grants import Grant, GrantedSet
from yazcore.capabilities.standing import granted_set, standing
from yazcore.kinds import Capability, FsProject, Net
from yazcore.manifest.model import Manifest

PROJECT = FsProject(access="write")
WEB = Net(hosts=("api.zotero.org",), optional=True)
DIGESTS = {"tools/search-library": "ab12"}


def manifest(*capabilities: Capability) -> Manifest:
    return Manifest(
        contract=1,
        id="zotero",
        name="Zotero",
        version="0.2.0",
        min_app_version="0.1.0",
        author="a",
        description="d",
        module="yaz_plugin_zotero.plugin:Plugin",
        capabilities=capabilities,
    )


GRANT = Grant(
    plugin="zotero",
    version="0.1.0",
    capabilities=(PROJECT.identity,),
    digests=DIGESTS,
    time="2026-10-01T12:00:00+00:00",
)


def test_a_plugin_that_was_never_granted_is_held() -> None:
    stands = standing(manifest(PROJECT, WEB), DIGESTS, None, "installed")
    assert stands.state == "held"
    assert stands.reasons == ("it has not been granted",)
    assert stands.asks == (PROJECT,)


def test_a_plugin_that_asks_for_nothing_is_held_all_the_same() -> None:
    assert standing(manifest(), {}, None, "installed").state == "held"


def test_a_denial_alone_is_no_grant() -> None:
    grant = Grant(plugin="zotero", denied=(PROJECT.identity,))
    assert standing(manifest(PROJECT), {}, grant, "installed").reasons == ("it has not been granted",)


def test_a_granted_plugin_is_allowed() -> None:
    assert standing(manifest(PROJECT), DIGESTS, GRANT, "installed").state == "allowed"


def test_another_version_that_asks_for_the_same_is_allowed() -> None:
    newer = attrs.evolve(manifest(PROJECT), version="9.0.0")
    assert standing(newer, DIGESTS, GRANT, "installed").state == "allowed"


def test_an_optional_capability_that_is_undecided_holds_nothing_up() -> None:
    stands = standing(manifest(PROJECT, WEB), DIGESTS, GRANT, "installed")
    assert (stands.state, stands.asks) == ("allowed", ())


def test_an_update_that_asks_for_more_is_held() -> None:
    more = Net(hosts=("api.zotero.org",))
    stands = standing(manifest(PROJECT, more), DIGESTS, GRANT, "installed")
    assert stands.state == "held"
    assert stands.reasons == ("it asks for more: send data to api.zotero.org",)
    assert stands.asks == (more,)


def test_an_update_that_asks_for_less_is_allowed() -> None:
    assert standing(manifest(FsProject()), DIGESTS, GRANT, "installed").state == "allowed"
    assert standing(manifest(), DIGESTS, GRANT, "installed").state == "allowed"


def test_a_denied_required_capability_is_decided() -> None:
    grant = attrs.evolve(GRANT, capabilities=(), denied=(PROJECT.identity,))
    assert standing(manifest(PROJECT), DIGESTS, grant, "installed").state == "allowed"


@pytest.mark.parametrize(
    ("digests", "reason"),
    [
        ({"tools/search-library": "cd34"}, "tools/search-library has changed since it was granted"),
        ({**DIGESTS, "tools/cite-item": "ef56"}, "tools/cite-item is new since it was granted"),
    ],
)
def test_a_tool_that_is_new_or_changed_holds_the_plugin(digests: dict[str, str], reason: str) -> None:
    stands = standing(manifest(PROJECT), digests, GRANT, "installed")
    assert (stands.state, stands.reasons) == ("held", (reason,))


def test_what_is_known_of_a_change_is_said_and_decides_nothing() -> None:
    more = Net(hosts=("api.zotero.org",))
    why = {"tools/search-library": "it now writes", more.identity: "before: nothing", "tools/other": "unheard"}
    stands = standing(manifest(PROJECT, more), {"tools/search-library": "cd34"}, GRANT, "installed", why)
    assert stands.reasons == (
        "it asks for more: send data to api.zotero.org; before: nothing",
        "tools/search-library has changed since it was granted: it now writes",
    )
    assert standing(manifest(PROJECT), DIGESTS, GRANT, "installed", why).state == "allowed"


def test_a_tool_that_is_gone_holds_nothing_up() -> None:
    assert standing(manifest(PROJECT), {}, GRANT, "installed").state == "allowed"


def test_a_plugin_that_is_switched_off_is_disabled() -> None:
    stands = standing(manifest(PROJECT), DIGESTS, attrs.evolve(GRANT, enabled=False), "installed")
    assert (stands.state, stands.reasons) == ("disabled", ("it is switched off",))


@pytest.mark.parametrize("origin", ["builtin", "own"])
def test_a_shipped_plugin_is_allowed_without_a_grant(origin: str) -> None:
    stands = standing(manifest(PROJECT), DIGESTS, None, origin)
    assert (stands.state, stands.runtime) == ("allowed", "trusted")


def test_a_shipped_plugin_can_be_switched_off() -> None:
    grant = Grant(plugin="zotero", enabled=False)
    assert standing(manifest(PROJECT), DIGESTS, grant, "builtin").state == "disabled"


def test_a_third_party_plugin_is_isolated_unless_the_user_says_otherwise() -> None:
    assert standing(manifest(), DIGESTS, GRANT, "installed").runtime == "isolated"
    assert standing(manifest(), DIGESTS, None, "installed").runtime == "isolated"
    assert standing(manifest(), DIGESTS, attrs.evolve(GRANT, runtime="trusted"), "installed").runtime == "trusted"


def test_denying_a_capability_of_a_shipped_plugin_leaves_it_trusted() -> None:
    assert standing(manifest(), {}, Grant(plugin="zotero", denied=("x",)), "builtin").runtime == "trusted"


# --- what it holds


def test_a_shipped_plugin_holds_all_that_is_not_optional() -> None:
    held = granted_set(manifest(PROJECT, WEB), None, "builtin")
    assert held == GrantedSet(allowed=frozenset({PROJECT.identity}), commands=None)


def test_a_shipped_plugin_holds_an_optional_capability_once_it_is_granted() -> None:
    grant = attrs.evolve(GRANT, capabilities=(WEB.identity,))
    assert granted_set(manifest(PROJECT, WEB), grant, "builtin").holds(WEB)


def test_what_is_denied_on_disk_a_shipped_plugin_does_not_hold() -> None:
    grant = Grant(plugin="zotero", denied=(PROJECT.identity,))
    assert not granted_set(manifest(PROJECT), grant, "builtin").holds(PROJECT)


def test_a_third_party_plugin_holds_what_was_granted_and_no_more() -> None:
    held = granted_set(manifest(PROJECT, WEB), GRANT, "installed")
    assert held.holds(PROJECT)
    assert not held.holds(WEB)
    assert not granted_set(manifest(PROJECT), None, "installed").holds(PROJECT)


def test_an_entry_without_a_time_of_granting_grants_a_third_party_plugin_nothing() -> None:
    assert not granted_set(manifest(PROJECT), attrs.evolve(GRANT, time=""), "installed").holds(PROJECT)


@pytest.mark.parametrize("origin", ["installed", "builtin"])
def test_a_plugin_that_is_switched_off_holds_nothing(origin: str) -> None:
    assert not granted_set(manifest(PROJECT), attrs.evolve(GRANT, enabled=False), origin).holds(PROJECT)


def test_places_come_from_the_grant() -> None:
    grant = attrs.evolve(GRANT, places={"zotero-data": "/srv/zotero"})
    assert granted_set(manifest(PROJECT), grant, "installed").places == {"zotero-data": "/srv/zotero"}
