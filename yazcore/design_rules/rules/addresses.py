"""Rules about resources: URIs as identities, templates, variables, caches (G53 to G57, G60, G63, G64, G69, G70)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from yazcore.design_rules.examples import resource, resources
from yazcore.design_rules.rule import Found, found_in, rule
from yazcore.design_rules.surface import Resource
from yazcore.design_rules.view import View
from yazcore.design_rules.words import stem, stems, tokens, word_set
from yazcore.manifest.words import listed, quoted

LONGEST_ADDRESS = 4_000
"""As much of an address is judged, in characters."""

_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_NAME = r"(?:[A-Za-z0-9_.]|%[0-9A-Fa-f]{2})+(?::[1-9][0-9]{0,3}|\*)?"
_VARIABLES = re.compile(rf"[+#./;?&]?({_NAME}(?:,{_NAME})*)")
_TEXT = "The runbook for one failure of one service; {service} and {failure} are listed by the inventory."
_NOTED = [{"name": "service", "note": "a service of the inventory"}, {"name": "failure", "note": "as in timeout"}]


def variables_of(template: str) -> tuple[str, ...] | None:
    """The variables of an RFC 6570 template; None where it is none."""
    rest, names = _EXPRESSION.sub("", template[:LONGEST_ADDRESS]), []
    if "{" in rest or "}" in rest:
        return None
    for found in _EXPRESSION.finditer(template[:LONGEST_ADDRESS]):
        inner = _VARIABLES.fullmatch(found[1])
        if inner is None:
            return None
        names += [re.sub(r":\d+$|\*$", "", one) for one in inner[1].split(",")]
    return tuple(names)


def _literal(found: Resource) -> str:
    """The address with a plain word for each expression."""
    return _EXPRESSION.sub("x", found.name[:LONGEST_ADDRESS])


_HOST = r"localhost|127\.|0\.0\.0\.0|\[|10\.\d|192\.168\.|[^/@{}]*:\d{2,5}(?:/|$)"
_STORES = "postgres|postgresql|mysql|mongodb|redis|s3|gs|jdbc|sqlite|ldap|ftp|smb|nfs"
_LEAKS = tuple(
    (re.compile(pattern, re.IGNORECASE), why)
    for pattern, why in (
        (r"^file:", "is a file of one machine"),
        (r"(?:^|/)(?:tmp|temp|var/tmp|var/folders|private/tmp)(?:/|$)", "is a temporary path"),
        (rf"^[a-z][a-z0-9+.-]*://(?:{_HOST})", "names a host"),
        (r"^[a-z][a-z0-9+.-]*://[^/@]*@", "holds an account"),
        (rf"^(?:{_STORES}):", "names what the data is kept in"),
        (r"(?:^|[/_-])(?:exports?|dumps?|jobs?|runs?)[-_/]?\d{2,}(?:\D|$)", "is the number of one run"),
        (r"/(?:home|users|mnt|opt|srv|var)/", "holds a path of one machine"),
    )
)


@rule(
    "G53", "suspicion", "A URI names a thing, and not where it is kept today",
    change="name the thing in a scheme of your own, as in runbook://payments/timeout",
    good=resources(resource("runbook://payments/timeout", "What to do when payments time out.")),
    bad=resources(resource("file:///tmp/export-8472.json", "The latest export.")),
    at=["/resources/0/uri"],
    unmeasured="the corpus has no resources",
)  # fmt: skip
def names_a_thing(view: View) -> Iterator[Found]:
    """A URI is kept in notes, prompts and caches: one that names a disk, a host or a job is dead after the next
    move."""
    for found in view.surface.resources:
        for pattern, why in _LEAKS:
            if pattern.search(_literal(found)):
                yield found_in(found, found.address_path, f"{quoted(found.name)} {why}")
                break


_ADDRESS = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:|\{)[^\s<>]+\Z")


@rule(
    "G55", "error", "A resource has a URI of its own; what has variables is a template, and a template has variables",
    change="write a URI as in runbook://payments/timeout, a template as RFC 6570 has it: {name}, closed; each once",
    good=resources(resource("runbook://{service}/{failure}", _TEXT, variables=_NOTED)),
    bad=resources(
        resource("runbook://{service", "A runbook."), {"uri": "runbook://{service}/x", "description": "A runbook."},
        {"uriTemplate": "runbook://payments", "description": "The runbooks of payments."},
        resource("", "A runbook."), resource("payments runbook", "A runbook."),
        resource("runbook://refunds", "A runbook."), resource("runbook://refunds", "Another one."),
    ),
    at=[
        "/resources/0/uriTemplate", "/resources/1/uri", "/resources/2/uriTemplate", "/resources/3/uri",
        "/resources/4/uri", "/resources/6/uri",
    ],
    argument="RFC 3986 and RFC 6570 say what parses, and two of one URI cannot both be read",
)  # fmt: skip
def is_a_template(view: View) -> Iterator[Found]:
    """A resource is asked for by its URI and by nothing else: one that two have, or that is none, reaches one of them
    or nobody. Only a template that parses can be expanded; braces in a plain URI are sent as they are."""
    seen: set[str] = set()
    for found in view.surface.resources:
        if not found.name:
            yield found_in(found, found.address_path, "the resource has no URI")
            continue
        if found.name in seen:
            yield found_in(found, found.address_path, f"{quoted(found.name)} is the URI of an earlier one")
        seen.add(found.name)
        if _ADDRESS.match(found.name) is None:
            yield found_in(found, found.address_path, f"{quoted(found.name)} is no URI: no scheme, or spaces")
            continue
        names = variables_of(found.name)
        if found.is_template and names is None:
            yield found_in(found, found.address_path, f"{quoted(found.name)} is no template")
        elif found.is_template and not names:
            yield found_in(found, found.address_path, f"{quoted(found.name)} is called a template, and has no variable")
        elif not found.is_template and ("{" in found.name or "}" in found.name):
            yield found_in(found, found.address_path, f"{quoted(found.name)} has braces, and is called a URI")


@rule(
    "G56", "error", "A resource says what reading it gives",
    change="describe what it is, how fresh it is, and what is left out",
    good=resources(resource("runbook://payments/timeout", "What to do when payments time out.")),
    bad=resources(resource("runbook://payments/timeout", "")),
    at=["/resources/0/description"],
    argument="the text is there or not, and beside the URI a reader has nothing else",
)  # fmt: skip
def says_what(view: View) -> Iterator[Found]:
    """The URI is an identity; what stands behind it, and whether it is the current state, only words say."""
    for found in view.surface.resources:
        if not found.description.strip():
            yield found_in(found, found.text_path, "nothing says what reading it gives")


@rule(
    "G57", "suspicion", "Each variable of a template is explained",
    change="say for each variable what may stand there, and where values come from",
    good=resources(resource("runbook://{service}/{failure}", _TEXT, variables=_NOTED)),
    bad=resources(resource("runbook://{service}/{failure}", "A page for when something breaks.")),
    at=["/resources/0/uriTemplate"],
    unmeasured="the corpus has no resources",
)  # fmt: skip
def explains_variables(view: View) -> Iterator[Found]:
    """RFC 6570 says how a value is put in, not which values there are."""
    for found in view.surface.resources:
        noted = {note.name for note in found.variables if note.text.strip() or note.values}
        said = stems(f"{found.description} {found.title}")
        unsaid = [
            name
            for name in (variables_of(found.name) or () if found.is_template else ())
            if name not in noted and not {stem(word) for word in tokens(name)} & said
        ]
        if unsaid and view.is_in_english(found):
            yield found_in(found, found.address_path, f"nothing says what may stand for {listed(unsaid, 5)}")


@rule(
    "G57b", "suspicion", "Each variable of a template can be completed",
    change="declare its values, or give the resource a completer",
    good=resources(resource("runbook://{service}/{failure}", _TEXT, variables=_NOTED, completes=True)),
    bad=resources(resource("runbook://{service}/{failure}", _TEXT, variables=_NOTED, completes=False)),
    at=["/resources/0/uriTemplate"],
    needs="completes",
    unmeasured="the corpus has no resources, and no code that could be asked",
)  # fmt: skip
def completes_variables(view: View) -> Iterator[Found]:
    """A host that can ask for values builds URIs that exist; one that cannot tries."""
    for found in view.surface.resources:
        if found.is_template and found.completes is False:
            listed_values = {note.name for note in found.variables if note.values}
            rest = [name for name in variables_of(found.name) or () if name not in listed_values]
            if rest:
                message = f"for {listed(rest, 5)} there are neither declared values nor a completer"
                yield found_in(found, found.address_path, message)


@rule(
    "G60", "suspicion", "A URI is https only where the client may fetch it by itself",
    change="use a scheme of your own; how the server loads it is its own business",
    good=resources(resource("runbook://payments/timeout", "What to do when payments time out.")),
    bad=resources(resource("https://wiki.example.org/payments/timeout", "What to do when payments time out.")),
    at=["/resources/0/uri"],
    unmeasured="the corpus has no resources",
)  # fmt: skip
def no_web_address(view: View) -> Iterator[Found]:
    """The URI is a key of the contract: that the content comes from the web today ties it to a place."""
    for found in view.surface.resources:
        if re.match(r"https?:", found.name, re.I):
            yield found_in(found, found.address_path, f"{quoted(found.name)} is an address of the web")


_OF_A_VERSION = re.compile(r"\b(?:versions?|revisions?|audit\w*|as of|history|historical|snapshots?|archived)\b", re.I)
_VERSION_NAMES = word_set("version revision rev commit sha tag date snapshot at id")


@rule(
    "G63", "question", "A version that is needed again has an identity of its own",
    change="give the version a place in the URI, or metadata under which the same bytes are found",
    good=resources(resource("policy://{name}/version/{version}", "One version of a policy; it never changes.")),
    bad=resources(resource("policy://{name}", "A policy, with its versions for audits.")),
    at=["/resources/0/uriTemplate"],
    unsure="a text that speaks of versions may mean the current one, and that is a good model as well",
)  # fmt: skip
def versions(view: View) -> Iterator[Found]:
    """Who has to prove what was read needs the same bytes again."""
    for found in view.surface.resources:
        names = {word for name in variables_of(found.name) or () for word in tokens(name)}
        if _OF_A_VERSION.search(found.description) and not names & _VERSION_NAMES:
            yield found_in(found, found.address_path, "the text speaks of versions, and the URI has no place for one")


@rule(
    "G64", "question", "What a URI means does not follow from a file path",
    change="name the thing, unless files are what the domain is about",
    good=resources(resource("runbook://{service}/{failure}", _TEXT)),
    bad=resources(resource("docs://{path}", "A document by its path.")),
    at=["/resources/0/uriTemplate"],
    unsure="in a project of files the path is the name that everybody knows",
)  # fmt: skip
def no_file_paths(view: View) -> Iterator[Found]:
    """A path that nobody outside knows cannot be guessed, and breaks when somebody tidies up."""
    for found in view.surface.resources:
        names = {word for name in variables_of(found.name) or () for word in tokens(name)}
        if found.is_template and names & {"path", "file", "filename", "filepath", "dir", "directory", "folder"}:
            yield found_in(found, found.address_path, f"{quoted(found.name)} is made of a file path")


@rule(
    "G69", "question", "What is public may be given to everybody",
    change='make it "private", unless every caller may have what any caller got',
    good=resources(resource("runbook://payments/timeout", "A runbook.", cache={"scope": "private"})),
    bad=resources(resource("runbook://payments/timeout", "A runbook.", cache={"scope": "public"})),
    at=["/resources/0"],
    unsure="whether everybody may read a page is a fact about the page",
)  # fmt: skip
def really_public(view: View) -> Iterator[Found]:
    """A public answer may be kept and handed to others, whatever their token says."""
    for found in view.surface.resources:
        if found.cache_scope == "public":
            yield found_in(found, found.path, "it says that what one caller got may be handed to any other")


_OWNERS = word_set(
    """
    tenant user account org organization organisation customer owner workspace team client member project cluster
    """
)  # fmt: skip


_TICKETS = {**resource("yaz://desk/{projectId}/tickets", "The tickets."), "scope": "project", "permission": "desk:read"}
_PLUGIN: Mapping[str, Any] = {"kind": "plugin", "scopesWithIds": ["project"]}


@rule(
    "G70", "error", "What callers are allowed one by one is private",
    change='set the cache\'s scope to "private"',
    good=resources({**_TICKETS, "cache": {"scope": "private"}}, **_PLUGIN),
    bad=resources({**_TICKETS, "cache": {"scope": "public"}}, **_PLUGIN),
    at=["/resources/0/cache/scope"],
    argument="two callers who are allowed different ones are served from one cache, whatever is in it",
)  # fmt: skip
def private(view: View) -> Iterator[Found]:
    """A shared cache between two tenants answers the second with what belongs to the first."""
    for found in view.surface.resources:
        if found.cache_scope == "public" and found.scope in view.surface.scopes_with_ids:
            message = f"a caller is allowed it by its {quoted(found.scope or '')}, and it is called public"
            yield found_in(found, found.cache_path, message)


@rule(
    "G70b", "suspicion", "What is named for its owner is private",
    change='set the cache\'s scope to "private", unless everybody may read what belongs to anyone',
    good=resources(resource("desk://{tenant}/tickets", "The tickets of a tenant.", cache={"scope": "private"})),
    bad=resources(
        resource("desk://{tenant}/tickets", "The tickets of a tenant.", cache={"scope": "public"}),
        resource("desk://user/{user_name}", "A user."), cacheScope="public",
    ),
    at=["/resources/0/cache/scope", "/cacheScope"],
    unmeasured="the corpus has no resources",
)  # fmt: skip
def not_for_all(view: View) -> Iterator[Found]:
    """Whose a thing is, its URI often says; what belongs to one is seldom meant for the cache of another."""
    for found in view.surface.resources:
        if found.cache_scope != "public" or found.scope in view.surface.scopes_with_ids:
            continue
        if owners := {word for name in variables_of(found.name) or () for word in tokens(name)} & _OWNERS:
            yield found_in(found, found.cache_path, f"it differs by {quoted(min(owners))}, and is called public")


RULES = (
    names_a_thing, is_a_template, says_what, explains_variables, completes_variables, no_web_address, versions,
    no_file_paths, really_public, private, not_for_all,
)  # fmt: skip
"""The rules of this page, in the order of the seed."""
