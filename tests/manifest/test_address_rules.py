from __future__ import annotations

from typing import Any

import attrs
import pytest

from tests.manifest.samples import CONTRACT, GOOD, codes, good, only, reading, said

BASE = {"nameKey": "n", "descriptionKey": "d", "scope": "global", "permission": "zotero:read"}


def with_resource(contract: Any = CONTRACT, **entry: Any) -> Any:
    document = good()
    document["provides"]["resources"] = [{**BASE, **entry}]
    return reading(document, contract, own=contract is not CONTRACT).violations


def template(text: str, *names: str, **more: Any) -> Any:
    return with_resource(uriTemplate=text, variables=[{"name": name, "note": "n"} for name in names], **more)


@pytest.mark.parametrize("entry", [{}, {"uri": "yaz://zotero/a", "uriTemplate": "yaz://zotero/{a}"}])
def test_a_resource_has_exactly_one_address(entry: dict[str, str]) -> None:
    violation = only(with_resource(**entry))
    assert (violation.code, violation.pointer, said(violation)) == (
        "resource-address",
        "/provides/resources/0",
        'a resource has exactly one of "uri" and "uriTemplate". give "uri" for one thing, "uriTemplate" for many',
    )


def test_no_two_resources_have_one_address() -> None:
    document = good()
    document["provides"]["resources"] = [{**BASE, "uri": "yaz://zotero/a"}] * 2
    assert codes(reading(document).violations) == [("resource-duplicate", "/provides/resources/1/uri")]


@pytest.mark.parametrize("uri", ["yaz://zotero/a", "yaz://zotero/a/b-c_d.e~f", "yaz://zotero/caf%C3%A9/@x:1"])
def test_uris(uri: str) -> None:
    assert with_resource(uri=uri) == ()


@pytest.mark.parametrize(
    "uri",
    [
        "yaz://zotero/", "yaz://zotero/a/", "yaz://zotero//a", "yaz://zotero/../a", "yaz://zotero/a/.", "yaz://zotero/.../a",
        "yaz://zotero/a b",
        "yaz://zotero/a?b=c", "yaz://zotero/a#b", "yaz://zotero/é", "yaz://zotero/%zz", "yaz://zotero/%c3%a9",
        "yaz://zotero/{a}", "yaz://zotero/a\n", "yaz://zotero/" + "a" * 512,
    ],
)  # fmt: skip
def test_what_is_no_uri_of_a_resource(uri: str) -> None:
    violation = only(with_resource(uri=uri))
    assert (violation.code, violation.pointer) == ("resource-uri", "/provides/resources/0/uri")
    assert violation.fix == "name the thing, not where it is kept, as in yaz://zotero/library/main"


@pytest.mark.parametrize(
    "uri", ["yaz://other/a", "yaz://zotero2/a", "https://example.org/zotero/a", "zotero://a", "file:///home/anna/x"]
)
def test_an_address_outside_the_plugins_own(uri: str) -> None:
    found = [one for one in with_resource(uri=uri) if one.code == "resource-namespace"]
    assert said(only(found)) == f'"{uri}" does not belong to this plugin. begin it with yaz://zotero/'


def test_a_variable_cannot_reach_outside_the_plugins_own() -> None:
    assert ("resource-namespace", "/provides/resources/0/uriTemplate") in codes(template("yaz://{plugin}/a", "plugin"))


OWN = attrs.evolve(CONTRACT, host="zotero", schemes=("cluster",))


@pytest.mark.parametrize("uri", ["yaz://tools", "yaz://result/a", "cluster://a/topology"])
def test_the_hosts_own_addresses_have_a_scheme_of_the_hosts(uri: str) -> None:
    assert with_resource(OWN, uri=uri) == ()


@pytest.mark.parametrize("uri", ["yaz:tools", "tools", "yaz://", "Yaz://tools", "yaz://user@tools", "yaz://tools:80/a"])
def test_the_hosts_own_addresses_have_the_form_of_all_others(uri: str) -> None:
    assert ("resource-uri", "/provides/resources/0/uri") in codes(with_resource(OWN, uri=uri))


def test_an_address_has_a_longest() -> None:
    longest = "yaz://zotero/".ljust(512, "a")
    assert with_resource(uri=longest) == ()
    assert codes(with_resource(uri=longest + "a")) == [("resource-uri", "/provides/resources/0/uri")]


def test_a_template_has_the_same_longest() -> None:
    longest = "yaz://zotero/{a}".ljust(512, "b")
    assert template(longest, "a") == ()
    assert codes(template(longest + "b", "a")) == [("resource-uri", "/provides/resources/0/uriTemplate")]


def test_a_scheme_that_is_not_the_hosts() -> None:
    violation = only(with_resource(OWN, uri="queue://a/b"))
    assert said(violation) == '"queue://a/b" has no scheme of zotero. use one of "yaz", "cluster"'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("yaz://zotero/a", "has no variable"),
        ("yaz://zotero/{a}/{a}", "is not a template: a variable stands twice"),
        ("yaz://zotero/{a}{b}", "is not a template: two variables touch: nothing says where one ends"),
        ("yaz://zotero/{?a}", "is not a template: only {name} and {+name} may stand in a template"),
        ("yaz://zotero/{a", "is not a template: only {name} and {+name} may stand in a template"),
    ],
)
def test_what_is_no_template(text: str, reason: str) -> None:
    violation = only(template(text))
    assert (violation.code, violation.pointer) == ("resource-template", "/provides/resources/0/uriTemplate")
    assert violation.message == f'"{text}" {reason}'


def test_each_variable_is_documented() -> None:
    found = template("yaz://zotero/{library}/{key}", "key")
    assert [(one.code, one.pointer, one.message) for one in found] == [
        (
            "resource-variable-undocumented", "/provides/resources/0/variables",
            'nothing says what may stand for "library"',
        )
    ]  # fmt: skip


def test_nothing_else_is_documented() -> None:
    found = template("yaz://zotero/{library}", "library", "libary", "library")
    assert [(one.code, one.pointer, said(one)) for one in found] == [
        (
            "resource-variable-unknown", "/provides/resources/0/variables/1/name",
            'the address has no variable "libary". did you mean "library"?',
        ),
        (
            "name-duplicate", "/provides/resources/0/variables/2/name",
            ('entry 1 of "variables" has the name "library" already; case, - and _ do not count. '
            "rename or remove one of them"),
        ),
    ]  # fmt: skip


def test_a_fixed_address_has_no_variables() -> None:
    found = with_resource(uri="yaz://zotero/a", variables=[{"name": "a", "note": "n"}])
    assert codes(found) == [("resource-variable-unknown", "/provides/resources/0/variables/0/name")]


def test_a_variable_that_may_have_no_value() -> None:
    found = with_resource(uriTemplate="yaz://zotero/{a}", variables=[{"name": "a", "note": "n", "values": []}])
    assert codes(found) == [("resource-variable-values", "/provides/resources/0/variables/0/values")]


def test_a_resource_in_a_project_has_the_projects_id_in_its_address() -> None:
    assert template("yaz://zotero/{projectId}/cited", "projectId", scope="project") == ()
    found = template("yaz://zotero/{project}/cited", "project", scope="project")
    assert [(one.code, one.pointer, said(one)) for one in found] == [
        (
            "resource-scope-variable", "/provides/resources/0/uriTemplate",
            'a resource of scope "project" has the variable "projectId". give a "uriTemplate" with {projectId} in it',
        )
    ]  # fmt: skip
    assert codes(with_resource(uri="yaz://zotero/cited", scope="project")) == [
        ("resource-scope-variable", "/provides/resources/0/uri")
    ]


@pytest.mark.parametrize("mime", ["application/json", "text/plain; charset=utf-8", "image/svg+xml"])
def test_media_types(mime: str) -> None:
    assert with_resource(uri="yaz://zotero/a", mimeType=mime) == ()


@pytest.mark.parametrize(
    "mime", ["", "json", "Text/Plain", "text/plain\n", "text/plain; <script>", "text/" + "x; a=b" * 50]
)
def test_what_is_no_media_type(mime: str) -> None:
    assert codes(with_resource(uri="yaz://zotero/a", mimeType=mime)) == [
        ("resource-mime-type", "/provides/resources/0/mimeType")
    ]


@pytest.mark.parametrize("time", [-1, 365 * 24 * 60 * 60 * 1000 + 1])
def test_a_resource_is_kept_for_a_year_at_most(time: int) -> None:
    violation = only(with_resource(uri="yaz://zotero/a", cache={"ttlMs": time}))
    assert (violation.code, violation.pointer, said(violation)) == (
        "resource-cache", "/provides/resources/0/cache/ttlMs",
        f"a resource cannot be kept for {time} milliseconds. give 0 to 31536000000 milliseconds, at most a year",
    )  # fmt: skip
    assert with_resource(uri="yaz://zotero/a", cache={"ttlMs": 365 * 24 * 60 * 60 * 1000}) == ()


def test_the_good_manifests_addresses() -> None:
    assert reading(GOOD).violations == ()
