from __future__ import annotations

import json
import os
import stat
import threading

import attrs
import pytest

from yazcore.capabilities.grants import Earlier, Grant, Grants, earlier_of
from yazcore.home import Home
from yazcore.violations import YazError

GRANT = Grant(
    plugin="zotero",
    version="0.1.0",
    runtime="isolated",
    capabilities=('fs-project {"access": "write"}', 'fs-read {"place": "zotero-data"}'),
    places={"zotero-data": "/home/ada/Zotero"},
    digests={"tools/search-library": "ab12"},
    time="2026-10-01T12:00:00+00:00",
)


@pytest.fixture
def grants(home: Home) -> Grants:
    return Grants(home)


def test_without_a_file_nothing_is_granted(grants: Grants) -> None:
    assert grants.get("zotero") is None
    assert grants.all() == ()


def test_a_grant_comes_back_as_it_was_put(grants: Grants, home: Home) -> None:
    grants.put(GRANT)
    assert grants.get("zotero") == GRANT
    assert Grants(home).get("zotero") == GRANT


def test_what_the_version_before_was_granted_comes_back_too(grants: Grants, home: Home) -> None:
    grants.put(attrs.evolve(GRANT, version="0.2.0", earlier=earlier_of(GRANT, "0.2.0")))
    found = Grants(home).get("zotero")
    assert found is not None
    assert found.earlier == Earlier(
        version="0.1.0", capabilities=GRANT.capabilities, places=GRANT.places, digests=GRANT.digests, time=GRANT.time
    )


def test_grants_of_several_plugins_do_not_touch_each_other(grants: Grants) -> None:
    other = Grant(plugin="arxiv", time="2026-10-01T12:00:00+00:00")
    grants.put(GRANT)
    grants.put(other)
    assert grants.all() == (other, GRANT)


def test_revoking_a_capability_denies_it(grants: Grants) -> None:
    grants.put(GRANT)
    assert grants.revoke("zotero", GRANT.capabilities[0])
    found = grants.get("zotero")
    assert found is not None
    assert (found.capabilities, found.denied) == (GRANT.capabilities[1:], GRANT.capabilities[:1])


def test_revoking_twice_changes_nothing_the_second_time(grants: Grants) -> None:
    grants.put(GRANT)
    assert grants.revoke("zotero", GRANT.capabilities[0])
    assert not grants.revoke("zotero", GRANT.capabilities[0])


def test_a_capability_of_a_plugin_that_was_never_granted_can_be_denied(grants: Grants) -> None:
    assert grants.revoke("typst", 'fs-project {"access": "write"}')
    found = grants.get("typst")
    assert found is not None
    assert found.denied == ('fs-project {"access": "write"}',)
    assert not found.given


def test_revoking_a_plugin_forgets_it(grants: Grants) -> None:
    grants.put(GRANT)
    assert grants.revoke("zotero")
    assert grants.get("zotero") is None
    assert not grants.revoke("zotero")


def test_switching_off_keeps_what_was_granted(grants: Grants) -> None:
    grants.put(GRANT)
    assert grants.set_enabled("zotero", enabled=False)
    found = grants.get("zotero")
    assert found is not None
    assert (found.enabled, found.capabilities) == (False, GRANT.capabilities)


def test_switching_on_a_plugin_that_was_never_granted_grants_nothing(grants: Grants) -> None:
    assert not grants.set_enabled("zotero", enabled=True)
    assert grants.get("zotero") is None
    grants.set_enabled("zotero", enabled=False)
    grants.set_enabled("zotero", enabled=True)
    found = grants.get("zotero")
    assert found is not None
    assert not found.given


def test_what_another_process_revokes_counts_at_once(grants: Grants, home: Home) -> None:
    grants.put(GRANT)
    assert grants.get("zotero") is not None
    Grants(home).revoke("zotero")
    assert grants.get("zotero") is None


def test_a_file_that_goes_away_grants_nothing(grants: Grants, home: Home) -> None:
    grants.put(GRANT)
    assert grants.get("zotero") is not None
    home.path("grants.json").unlink()
    assert grants.get("zotero") is None


def test_the_file_is_for_people_and_for_this_user_alone(grants: Grants, home: Home) -> None:
    grants.put(GRANT)
    path = home.path("grants.json")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text()) == {
        "plugins": {
            "zotero": {
                "version": "0.1.0",
                "runtime": "isolated",
                "enabled": True,
                "capabilities": ['fs-project {"access": "write"}', 'fs-read {"place": "zotero-data"}'],
                "denied": [],
                "places": {"zotero-data": "/home/ada/Zotero"},
                "commands": {},
                "digests": {"tools/search-library": "ab12"},
                "seal": "",
                "time": "2026-10-01T12:00:00+00:00",
            }
        }
    }
    assert len(path.read_text().splitlines()) > 10


BROKEN = [
    ("[]", "it has no object 'plugins'"),
    ('{"plugins": []}', "it has no object 'plugins'"),
    ('{"plugins": {"zotero": 1}}', "plugins.zotero is no object"),
    ('{"plugins": {"zotero": {"enabled": 1}}}', "plugins.zotero.enabled is not what it should be"),
    ('{"plugins": {"zotero": {"runtime": "free"}}}', "plugins.zotero.runtime is not what it should be"),
    ('{"plugins": {"zotero": {"capabilities": "net"}}}', "plugins.zotero.capabilities is not what it should be"),
    ('{"plugins": {"zotero": {"denied": [1]}}}', "plugins.zotero.denied is not what it should be"),
    ('{"plugins": {"zotero": {"places": {"a": 1}}}}', "plugins.zotero.places is not what it should be"),
    ('{"plugins": {"zotero": {"earlier": {"version": "1"}}}}', "plugins.zotero.earlier is not what it should be"),
    ('{"plugins": {"zotero": {"allow": []}}}', "plugins.zotero has an unknown key 'allow'"),
]


@pytest.mark.parametrize(("text", "what"), BROKEN)
def test_a_file_that_is_not_understood_grants_nothing_and_says_where(
    grants: Grants, home: Home, text: str, what: str
) -> None:
    home.write_text("grants.json", text)
    with pytest.raises(YazError) as caught:
        grants.get("zotero")
    assert caught.value.code == "grants-broken"
    assert caught.value.message == f"grants.json cannot be understood: {what}"
    assert caught.value.fix == "mend the file, or move it away and grant again"


def test_a_file_that_breaks_later_takes_the_grants_away(grants: Grants, home: Home) -> None:
    grants.put(GRANT)
    assert grants.get("zotero") is not None
    home.write_text("grants.json", "{")
    for _ in range(2):
        with pytest.raises(YazError):
            grants.get("zotero")


def test_a_broken_file_is_never_written_over(grants: Grants, home: Home) -> None:
    home.write_text("grants.json", '{"plugins": {"zotero": {"allow": []}}}')
    with pytest.raises(YazError):
        grants.put(GRANT)
    assert home.path("grants.json").read_text() == '{"plugins": {"zotero": {"allow": []}}}'


def test_grants_made_at_the_same_time_are_all_kept(home: Home) -> None:
    plugins = [f"plugin-{number}" for number in range(8)]
    threads = [
        threading.Thread(target=lambda name=name: Grants(home).put(Grant(plugin=name, time="t"))) for name in plugins
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [grant.plugin for grant in Grants(home).all()] == plugins


def test_reading_makes_nothing(grants: Grants, home: Home) -> None:
    grants.get("zotero")
    assert not os.path.lexists(home.folder)
