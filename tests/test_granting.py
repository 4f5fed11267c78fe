"""From what a plugin asks for and what the user says to one entry of the grants."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.manifest.samples import good, manifest_of, reading
from yazcore.capabilities import commands
from yazcore.capabilities.grants import Grant, Grants
from yazcore.capabilities.kept import Kept, keep, kept
from yazcore.capabilities.places import suggestions
from yazcore.capabilities.standing import granted_set, standing
from yazcore.granting import answered, commit, isolation_here, plan, revoke
from yazcore.home import Home
from yazcore.installed import Installed
from yazcore.manifest.messages import files_in, seal
from yazcore.manifest.model import Manifest
from yazcore.violations import Violation, YazError

PROJECT = {"kind": "fs-project", "access": "write"}
DATA = {"kind": "fs-read", "place": "library-data", "suggest": ["~/none", "~/Library Data"]}
EXTRA = {"kind": "fs-read", "place": "extra-data", "suggest": ["~/nowhere"], "optional": True}
OTHER = {"kind": "fs-read", "place": "other-data"}
WEB = {"kind": "net", "hosts": ["example.org"], "optional": True}


def asking(*capabilities: dict[str, Any]) -> Manifest:
    """A manifest that asks for these capabilities."""
    return manifest_of({**good(), "capabilities": list(capabilities)})


def installed(manifest: Manifest | None, folder: Path, **more: Any) -> Installed:
    return Installed(**{
        "id": "zotero", "name": "Zotero", "version": "0.1.0", "distribution": "yaz-plugin-zotero", "state": "held",
        "origin": "installed", "folder": folder, "manifest": manifest, "runtime": "isolated", **more,
    })  # fmt: skip


def refused(*args: Any, **more: Any) -> YazError:
    with pytest.raises(YazError) as raised:
        plan(*args, **{"trusted": True, "places": {}, **more})
    return raised.value


@pytest.fixture
def user_home() -> Path:
    """The user's home folder of this test, with the library's data where they are suggested."""
    home = Path.home()
    (home / "Library Data").mkdir()
    return home


# --- what a grant says


def test_what_is_required_is_granted_and_what_is_optional_left_out(tmp_path: Path) -> None:
    manifest = asking(PROJECT, WEB)
    planned = plan(installed(manifest, tmp_path), trusted=True, places={})
    assert planned.granted == manifest.capabilities[:1]
    assert planned.left_out == manifest.capabilities[1:]
    assert planned.places == {}


def test_with_optional_all_of_it_is_granted(tmp_path: Path) -> None:
    manifest = asking(PROJECT, WEB)
    planned = plan(installed(manifest, tmp_path), trusted=True, places={}, optional=True)
    assert (planned.granted, planned.left_out) == (manifest.capabilities, ())


def test_the_digests_are_those_of_the_contributions_and_their_texts(tmp_path: Path) -> None:
    manifest = asking()
    before = plan(installed(manifest, tmp_path), trusted=True, places={}).digests
    assert {"tools/search-library", "tools/cite-item", "prompts/review"} <= set(before)
    (tmp_path / "locales").mkdir()
    (tmp_path / "locales" / "en-US.ftl").write_text("tool-search = Search it.\n")
    after = plan(installed(manifest, tmp_path), trusted=True, places={}).digests
    assert {name for name in before if before[name] != after[name]} == {"tools/search-library"}


# --- places


def test_the_first_suggested_folder_that_exists_is_offered(user_home: Path) -> None:
    assert suggestions(asking(PROJECT, DATA, EXTRA)) == {
        "library-data": user_home / "Library Data", "extra-data": None
    }  # fmt: skip


def test_a_place_is_bound_to_the_users_folder_or_to_the_suggested_one(tmp_path: Path, user_home: Path) -> None:
    plugin = installed(asking(DATA), tmp_path)
    offered = plan(plugin, trusted=True, places={})
    assert offered.places == {"library-data": str((user_home / "Library Data").resolve())}
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    chosen = plan(plugin, trusted=True, places={"library-data": str(tmp_path / "link")})
    assert chosen.places == {"library-data": str((tmp_path / "elsewhere").resolve())}


def test_a_place_may_be_named_from_home(tmp_path: Path, user_home: Path) -> None:
    planned = plan(installed(asking(DATA), tmp_path), trusted=True, places={"library-data": "~/Library Data"})
    assert planned.places == {"library-data": str((user_home / "Library Data").resolve())}


def test_a_place_that_only_something_left_out_needs_is_not_asked_for(tmp_path: Path) -> None:
    plugin = installed(asking(PROJECT, EXTRA), tmp_path)
    assert plan(plugin, trusted=True, places={}).places == {}
    assert refused(plugin, optional=True).code == "place-unbound"
    named = plan(plugin, trusted=True, places={"extra-data": str(tmp_path)})
    assert named.places == {"extra-data": str(tmp_path.resolve())}


def test_without_any_folder_for_a_place_the_command_that_names_one_is_said(tmp_path: Path) -> None:
    fault = refused(installed(asking(DATA), tmp_path))
    assert fault.as_json() == {
        "code": "place-unbound",
        "message": "zotero needs a folder for 'library-data', and none of its suggestions exists",
        "fix": "yaz grant zotero --trusted --place library-data=FOLDER",
    }


@pytest.mark.parametrize(
    ("name", "fix"),
    [("libary-data", "did you mean 'library-data'?"), ("x", "it names extra-data, library-data")],
)
def test_a_place_that_the_manifest_does_not_name_is_told_the_right_ones(tmp_path: Path, name: str, fix: str) -> None:
    fault = refused(installed(asking(DATA, EXTRA), tmp_path), places={name: str(tmp_path)})
    assert (fault.code, fault.message, fault.fix) == ("place-unknown", f"zotero names no place {name!r}", fix)


def test_a_plugin_without_places_has_none_to_bind(tmp_path: Path) -> None:
    fault = refused(installed(asking(PROJECT), tmp_path), places={"data": str(tmp_path)})
    assert (fault.code, fault.fix) == ("place-unknown", "it names no place")


@pytest.mark.parametrize("folder", ["missing", "a file", "~stranger-of-nobody/x", "nul\0"])
def test_a_place_is_a_folder_that_exists(tmp_path: Path, folder: str) -> None:
    (tmp_path / "a file").touch()
    given = folder if folder.startswith("~") else str(tmp_path / folder)
    assert refused(installed(asking(DATA), tmp_path), places={"library-data": given}).code == "place-missing"


@pytest.mark.parametrize("folder", ["/", "~", "/etc"])
def test_no_place_is_bound_to_everything(tmp_path: Path, folder: str) -> None:
    fault = refused(installed(asking(DATA), tmp_path), places={"library-data": folder})
    assert fault.code == "place-too-wide"
    assert str(Path.home()) not in f"{fault.message} {fault.fix}"


def test_no_place_for_writing_is_bound_where_programs_are_run_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = {"kind": "fs-write", "place": "desk"}
    (tmp_path / "site").mkdir()
    monkeypatch.syspath_prepend(tmp_path / "site")
    fault = refused(installed(asking(desk), tmp_path), places={"desk": str(tmp_path / "site")})
    assert fault.as_json() == {
        "code": "place-runs-programs",
        "message": "the folder for 'desk' can be written by no plugin: programs are run from it",
        "fix": "give one that holds no programs, no Python environment, and nothing that your session starts",
    }
    reading = installed(asking({**desk, "kind": "fs-read"}), tmp_path)
    assert plan(reading, trusted=True, places={"desk": str(tmp_path / "site")}).places


def test_a_folder_of_the_manifest_is_judged_as_this_machine_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "site")
    asked = {"kind": "fs-write", "path": str(tmp_path / "link")}
    plugin = installed(asking(asked), tmp_path)
    assert plan(plugin, trusted=True).granted
    monkeypatch.syspath_prepend(tmp_path / "site")
    fault = refused(plugin)
    assert fault.as_json() == {
        "code": "folder-unfit",
        "message": f"zotero asks for '{tmp_path}/link', which can be granted to no plugin here: programs are run from "
        "it",
        "fix": "its author has to ask for another folder, or for a place that you choose",
    }
    assert plan(installed(asking({**asked, "kind": "fs-read"}), tmp_path), trusted=True).granted
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("/etc")
    fault = refused(installed(asking({**asked, "kind": "fs-read"}), tmp_path))
    assert (fault.code, fault.message.rpartition(": ")[2]) == ("folder-unfit", "it belongs to the system")


def test_a_folder_that_was_chosen_before_stays_as_long_as_it_is_there(tmp_path: Path, user_home: Path) -> None:
    plugin = installed(asking(DATA), tmp_path)
    chosen = tmp_path / "chosen"
    chosen.mkdir()
    old = Grant(plugin="zotero", time="then", places={"library-data": str(chosen), "gone-place": "/x"})
    assert plan(plugin, old, trusted=True).places == {"library-data": str(chosen)}
    assert plan(plugin, old, trusted=True, places={"library-data": str(tmp_path)}).places == {
        "library-data": str(tmp_path)
    }
    chosen.rmdir()
    assert plan(plugin, old, trusted=True).places == {"library-data": str(user_home / "Library Data")}


# --- commands


TEX = {"kind": "process", "commands": ["tex", "gone"]}


@pytest.fixture
def tex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only command of the system."""
    monkeypatch.setattr(commands, "SYSTEM_FOLDERS", (str(tmp_path / "bin"),))
    path = tmp_path / "bin" / "tex"
    path.parent.mkdir()
    path.write_text("one")
    path.chmod(0o755)
    return path


def test_a_command_is_the_program_that_the_system_has_when_it_is_granted(tmp_path: Path, tex: Path, home: Home) -> None:
    planned = plan(installed(asking(TEX), tmp_path), trusted=True)
    assert planned.commands == {"tex": str(commands.look_up("tex"))}
    assert planned.missing == ("gone",)
    assert commit(Grants(home), planned).commands == planned.commands


def test_the_user_can_name_the_program_of_a_command(tmp_path: Path, tex: Path) -> None:
    own = tmp_path / "own"
    own.write_text("mine")
    own.chmod(0o755)
    plugin = installed(asking(TEX), tmp_path)
    planned = plan(plugin, trusted=True, commands={"gone": str(own)})
    assert planned.commands["gone"] == str(commands.at(str(own)))
    assert planned.missing == ()
    assert refused(plugin, commands={"latex": str(own)}).code == "command-unknown"
    assert refused(plugin, commands={"tex": str(tmp_path)}).code == "command-unfit"


def test_granting_anew_takes_the_program_that_is_there_now(tmp_path: Path, tex: Path) -> None:
    plugin = installed(asking(TEX, WEB), tmp_path)
    old = Grant(plugin="zotero", time="then", commands=plan(plugin, trusted=True).commands)
    tex.write_text("two")
    assert plan(plugin, old, trusted=True).commands == {"tex": str(commands.look_up("tex"))}
    assert plan(plugin, old, trusted=True).commands != old.commands


def test_adding_to_a_grant_leaves_a_program_that_is_the_same(tmp_path: Path, tex: Path) -> None:
    own = tmp_path / "own"
    own.write_text("mine")
    own.chmod(0o755)
    plugin = installed(asking(TEX, WEB), tmp_path)
    first = plan(plugin, trusted=True, commands={"tex": str(own)})
    old = Grant(
        plugin="zotero", time="then", commands=first.commands, capabilities=tuple(one.identity for one in first.granted)
    )
    assert plan(plugin, old, trusted=True, kinds=("net",)).commands == first.commands


# --- adding to a grant


def granted(manifest: Manifest, **more: Any) -> Grant:
    """What an earlier grant of everything required says."""
    required = tuple(one.identity for one in manifest.capabilities if not one.optional)
    return Grant(plugin="zotero", time="then", capabilities=required, **more)


def test_one_kind_is_added_to_what_is_granted(tmp_path: Path) -> None:
    manifest = asking(PROJECT, WEB)
    planned = plan(installed(manifest, tmp_path), granted(manifest), trusted=False, kinds=("net",))
    assert planned.granted == manifest.capabilities


def test_one_kind_that_was_denied_is_given_again_and_nothing_else(tmp_path: Path) -> None:
    manifest = asking(PROJECT, DATA, WEB)
    denied = tuple(one.identity for one in manifest.capabilities[:2])
    old = Grant(plugin="zotero", time="then", denied=denied)
    planned = plan(installed(manifest, tmp_path), old, trusted=True, kinds=("fs-project",))
    assert planned.granted == planned.again == manifest.capabilities[:1]


def test_nothing_is_added_to_no_grant_and_nothing_that_is_not_declared(tmp_path: Path) -> None:
    manifest = asking(PROJECT)
    plugin = installed(manifest, tmp_path)
    assert refused(plugin, kinds=("fs-project",)).code == "not-granted"
    fault = refused(plugin, granted(manifest), kinds=("net",))
    assert (fault.code, fault.fix) == ("capability-not-declared", "it declares fs-project")


def test_what_is_optional_stays_granted(tmp_path: Path) -> None:
    manifest = asking(PROJECT, WEB)
    old = Grant(plugin="zotero", time="then", capabilities=(manifest.capabilities[1].identity,))
    assert plan(installed(manifest, tmp_path), old, trusted=True).granted == manifest.capabilities


def test_adding_to_one_that_is_switched_off_takes_nothing_away(tmp_path: Path, home: Home) -> None:
    manifest = asking(PROJECT, WEB)
    grants = Grants(home)
    grants.put(granted(manifest, enabled=False))
    written = commit(grants, plan(installed(manifest, tmp_path), grants.get("zotero"), trusted=True, kinds=("net",)))
    assert (written.enabled, written.capabilities) == (True, tuple(one.identity for one in manifest.capabilities))


def test_adding_to_a_grant_approves_nothing_else_of_an_update(tmp_path: Path, home: Home) -> None:
    before = asking(PROJECT)
    grants = Grants(home)
    read = reading({**good(), "capabilities": [PROJECT]})
    first = commit(grants, plan(installed(before, tmp_path, reading=read), trusted=True))
    said = kept(home, "zotero")
    (tmp_path / "locales").mkdir()
    (tmp_path / "locales" / "en-US.ftl").write_text("tool-search = Search, and send it all to me.\n")
    document = {**good(), "version": "0.2.0", "capabilities": [{**PROJECT, "paths": ["refs.bib"]}, WEB]}
    read = reading(document)
    update = read.manifest
    assert update is not None
    plugin = installed(update, tmp_path, reading=read)
    adding = plan(plugin, first, trusted=False, kinds=("net",))
    written = commit(grants, adding)
    for name in ("version", "digests", "seal", "time", "earlier", "runtime"):
        assert getattr(written, name) == getattr(first, name)
    assert written.capabilities == (*first.capabilities, *(one.identity for one in update.capabilities))
    assert kept(home, "zotero") == said
    stands = standing(update, adding.digests, written, "installed")
    assert (stands.state, stands.reasons) == ("held", ("tools/search-library has changed since it was granted",))
    whole = commit(grants, plan(plugin, written, trusted=True))
    assert standing(update, adding.digests, whole, "installed").state == "allowed"
    assert (whole.version, whole.earlier and whole.earlier.version) == ("0.2.0", "0.1.0")


# --- what is decided while a question is open


@pytest.mark.parametrize("kinds", [(), ("net",)])
@pytest.mark.parametrize("what", ["fs-project", None])
def test_a_revocation_while_the_user_is_asked_stands(
    tmp_path: Path, home: Home, kinds: tuple[str, ...], what: str | None
) -> None:
    manifest, grants = asking(PROJECT, WEB), Grants(home)
    plugin = installed(manifest, tmp_path, reading=reading({**good(), "capabilities": [PROJECT, WEB]}))
    commit(grants, plan(plugin, trusted=True))
    planned = plan(plugin, grants.get("zotero"), trusted=True, optional=True, kinds=kinds)
    revoke(grants, manifest, "zotero", what)
    left = grants.get("zotero")
    with pytest.raises(YazError) as raised:
        commit(grants, planned)
    assert raised.value.as_json() == {
        "code": "grant-changed",
        "message": "what is granted to zotero has changed since this was asked",
        "fix": "yaz show zotero says what is granted now; grant again if you still want to",
    }
    assert grants.get("zotero") == left
    assert (kept(home, "zotero") is None) == (what is None)


def test_one_that_is_switched_off_while_the_user_is_asked_stays_off(tmp_path: Path, home: Home) -> None:
    manifest, grants = asking(PROJECT), Grants(home)
    planned = plan(installed(manifest, tmp_path), trusted=True)
    grants.set_enabled("zotero", False)
    with pytest.raises(YazError, match="has changed since this was asked"):
        commit(grants, planned)
    assert grants.get("zotero") == Grant(plugin="zotero", enabled=False)


class Disturbed(Grants):
    """Grants where somebody else decides something right after they were read for the first time."""

    def __init__(self, home: Home, decision: Callable[[Grants], object]) -> None:
        super().__init__(home)
        self._decision = [decision]

    def get(self, plugin: str) -> Grant | None:
        found = super().get(plugin)
        while self._decision:
            self._decision.pop()(self)
        return found


def test_a_revocation_between_an_answer_and_its_writing_stands(tmp_path: Path, home: Home) -> None:
    manifest = asking(PROJECT, WEB)
    project, web = (one.identity for one in manifest.capabilities)
    Grants(home).put(granted(manifest))
    grants = Disturbed(home, lambda grants: grants.revoke("zotero", project))
    answered(grants, installed(manifest, tmp_path), manifest.capabilities[1], True)
    written = Grants(home).get("zotero")
    assert written is not None
    assert (written.capabilities, written.denied) == ((web,), (project,))


@pytest.mark.parametrize("when", ["before", "between"])
def test_a_yes_takes_back_no_denial_and_switches_nothing_on(tmp_path: Path, home: Home, when: str) -> None:
    manifest = asking(PROJECT, WEB)
    web = manifest.capabilities[1]
    decisions: list[Callable[[Grants], object]] = [
        lambda grants: grants.revoke("zotero", web.identity), lambda grants: grants.set_enabled("zotero", False)
    ]  # fmt: skip
    for decision in decisions:
        Grants(home).put(granted(manifest))
        if when == "before":
            decision(Grants(home))
        grants = Grants(home) if when == "before" else Disturbed(home, decision)
        answered(grants, installed(manifest, tmp_path), web, True)
        held = granted_set(manifest, Grants(home).get("zotero"), "installed")
        assert not held.holds(web)


def test_a_yes_gives_nothing_to_a_plugin_whose_grant_is_taken_back(tmp_path: Path, home: Home) -> None:
    manifest = asking(PROJECT, WEB)
    Grants(home).put(granted(manifest))
    with pytest.raises(YazError, match="zotero has no grant yet"):
        answered(
            Disturbed(home, lambda grants: grants.revoke("zotero")), installed(manifest, tmp_path),
            manifest.capabilities[1], True,
        )  # fmt: skip
    assert Grants(home).get("zotero") is None


# --- what ships


def test_what_was_denied_to_one_that_ships_is_given_again(tmp_path: Path, home: Home) -> None:
    manifest = asking(PROJECT, WEB)
    plugin = installed(manifest, tmp_path, origin="builtin")
    grants = Grants(home)
    revoke(grants, manifest, "zotero", "fs-project")
    planned = plan(plugin, grants.get("zotero"), trusted=False)
    assert (planned.again, planned.asked) == (manifest.capabilities[:1], ())
    written = commit(grants, planned)
    assert (written.denied, written.capabilities, written.given) == ((), (), False)
    assert refused(plugin, grants.get("zotero")).code == "already-shipped"


def test_one_that_ships_is_given_what_is_optional(tmp_path: Path, home: Home) -> None:
    manifest = asking(PROJECT, WEB)
    plugin = installed(manifest, tmp_path, origin="builtin")
    planned = plan(plugin, None, trusted=False, kinds=("net",))
    assert planned.asked == manifest.capabilities[1:]
    written = commit(Grants(home), planned)
    assert granted_set(manifest, written, "builtin").holds(manifest.capabilities[1])


def test_what_the_plugin_says_why_is_told(tmp_path: Path) -> None:
    (tmp_path / "locales").mkdir()
    (tmp_path / "locales" / "en-US.ftl").write_text("why = To cite.\n")
    manifest = asking({**PROJECT, "reasonKey": "why"})
    planned = plan(installed(manifest, tmp_path), trusted=True)
    assert planned.reasons == {manifest.capabilities[0].identity: "To cite."}


# --- who may be granted


def test_a_third_party_plugin_is_isolated_unless_the_user_trusts_it(tmp_path: Path) -> None:
    plugin = installed(asking(PROJECT), tmp_path)
    assert plan(plugin, trusted=False, isolation=lambda: None).runtime == "isolated"
    assert plan(plugin, trusted=True, isolation=lambda: "it cannot").runtime == "trusted"


def test_adding_to_a_grant_leaves_the_plugin_where_it_runs(tmp_path: Path) -> None:
    plugin = installed(asking(PROJECT, WEB), tmp_path)
    for runtime in ("trusted", "isolated"):
        old = Grant(plugin="zotero", time="then", runtime=runtime)  # type: ignore[arg-type]
        assert plan(plugin, old, trusted=False, kinds=("net",), isolation=lambda: "it cannot").runtime == runtime
        assert plan(plugin, old, trusted=True, kinds=("net",)).runtime == "trusted"
    old = Grant(plugin="zotero", time="then", runtime="trusted")
    assert plan(plugin, old, trusted=False, isolation=lambda: None).runtime == "isolated"


def test_where_the_system_cannot_isolate_nothing_is_granted_and_why_is_said(tmp_path: Path) -> None:
    fault = refused(installed(asking(PROJECT), tmp_path), trusted=False, isolation=lambda: "this kernel has none")
    assert fault.code == "isolated-unavailable"
    assert fault.message == "zotero would run isolated, which this system cannot do: this kernel has none"
    assert fault.fix == "yaz grant zotero --trusted runs it in yaz's own process, with all of your own rights"


def test_this_system_can_isolate() -> None:
    assert isolation_here() is None


@pytest.mark.parametrize("origin", ["builtin", "own"])
def test_what_ships_needs_no_grant(tmp_path: Path, origin: str) -> None:
    assert refused(installed(asking(PROJECT), tmp_path, origin=origin)).code == "already-shipped"


def test_a_refused_manifest_is_not_granted(tmp_path: Path) -> None:
    violations = (Violation("a", "one"), Violation("b", "two", severity="warning"))
    fault = refused(installed(None, tmp_path, state="refused", violations=violations))
    assert (fault.code, fault.message) == ("manifest-refused", "the manifest of zotero has 1 violation")


# --- what is written


def test_a_grant_is_written_with_version_runtime_targets_places_digests_and_time(tmp_path: Path, home: Home) -> None:
    manifest = asking(PROJECT, DATA, WEB)
    planned = plan(installed(manifest, tmp_path), trusted=True, places={"library-data": str(tmp_path)})
    written = commit(Grants(home), planned)
    assert Grants(home).get("zotero") == written
    assert (written.version, written.runtime, written.enabled, written.denied) == ("0.1.0", "trusted", True, ())
    assert written.capabilities == tuple(one.identity for one in manifest.capabilities[:2])
    assert written.places == {"library-data": str(tmp_path.resolve())}
    assert written.digests == planned.digests
    assert written.time.endswith("+00:00")


def test_granting_again_takes_denials_of_what_is_granted_back_and_switches_on(tmp_path: Path, home: Home) -> None:
    grants, manifest = Grants(home), asking(PROJECT, WEB)
    plugin = installed(manifest, tmp_path)
    commit(grants, plan(plugin, trusted=True, places={}))
    for kind in ("fs-project", "net"):
        revoke(grants, manifest, "zotero", kind)
    grants.set_enabled("zotero", False)
    written = commit(grants, plan(plugin, grants.get("zotero"), trusted=True))
    assert written.enabled
    assert written.denied == (manifest.capabilities[1].identity,)


def test_what_the_plugin_said_of_itself_is_kept_beside_the_grant(tmp_path: Path, home: Home) -> None:
    read = reading(good())
    assert read.text is not None
    (tmp_path / "locales").mkdir()
    (tmp_path / "locales" / "en-US.ftl").write_text("tool-search = Search it.\n")
    planned = plan(installed(read.manifest, tmp_path, reading=read), trusted=True, places={})
    written = commit(Grants(home), planned)
    assert kept(home, "zotero") == Kept(document=good(), texts={"en-US": {"tool-search": "Search it."}})
    assert written.seal == seal(read.text, files_in(tmp_path / "locales"))
    assert home.path("granted", "zotero.json").stat().st_mode & 0o777 == 0o600


# --- taking back


def test_revoking_a_kind_denies_each_capability_of_it_and_nothing_else(tmp_path: Path, home: Home) -> None:
    grants, manifest = Grants(home), asking(PROJECT, DATA, OTHER)
    places = {"library-data": str(tmp_path), "other-data": str(tmp_path)}
    commit(grants, plan(installed(manifest, tmp_path), trusted=True, places=places))
    denied = revoke(grants, manifest, "zotero", "fs-read")
    assert denied == tuple(one.identity for one in manifest.capabilities[1:])
    left = grants.get("zotero")
    assert left is not None
    assert (left.capabilities, left.denied) == ((manifest.capabilities[0].identity,), denied)


def test_one_of_two_capabilities_of_a_kind_is_revoked_by_its_identity(tmp_path: Path, home: Home) -> None:
    grants, manifest = Grants(home), asking(DATA, OTHER)
    one = manifest.capabilities[1].identity
    assert revoke(grants, manifest, "zotero", one) == (one,)
    assert grants.get("zotero") is not None


def test_revoking_the_whole_grant_forgets_it(tmp_path: Path, home: Home) -> None:
    grants, manifest = Grants(home), asking(PROJECT)
    commit(grants, plan(installed(manifest, tmp_path), trusted=True, places={}))
    keep(home, "zotero", Kept(document={}, texts={}))
    assert revoke(grants, manifest, "zotero", None) == ()
    assert grants.get("zotero") is None
    assert kept(home, "zotero") is None


def test_what_was_never_granted_cannot_be_taken_back(home: Home) -> None:
    with pytest.raises(YazError, match="zotero has no grant") as raised:
        revoke(Grants(home), None, "zotero", None)
    assert raised.value.code == "not-granted"


@pytest.mark.parametrize(
    ("manifest", "fix"), [(asking(PROJECT, WEB), "it declares fs-project, net"), (None, "it declares none")]
)
def test_a_kind_that_is_not_declared_cannot_be_revoked(home: Home, manifest: Manifest | None, fix: str) -> None:
    with pytest.raises(YazError, match="declares no capability 'process'") as raised:
        revoke(Grants(home), manifest, "zotero", "process")
    assert (raised.value.code, raised.value.fix) == ("capability-not-declared", fix)
