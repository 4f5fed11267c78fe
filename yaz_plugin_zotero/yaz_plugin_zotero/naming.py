r"""What a document says of its bibliography, and which file of the project that is; no file is touched here.

Read are the plain ways to say it: in Typst texts in `bibliography(...)`, in LaTeX `\bibliography{...}` and
`\addbibresource{...}`, in Markdown `bibliography:` in the front matter. Comments say nothing.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from itertools import islice

import attrs

from yaz_plugin_zotero.runs import Format

_LONGEST = 400
"""The longest path that the tool's schema takes, too."""

# Each bounded, so that no text takes long to read, whoever wrote it.
_LONGEST_CALL = 5_000
_MOST_CALLS = 20
_LONGEST_VALUE = 1_000

_STRANGE = re.compile(r"[\x00-\x1f\x7f\\*?<>|\"{}$%#]|://|^~|^[A-Za-z]:")


@attrs.frozen
class Named:
    """The bibliographies that a document names, in order, as they stand there; none and `unclear`: it names one in a
    way that is not read here."""

    paths: tuple[str, ...] = ()
    unclear: bool = False

    def __bool__(self) -> bool:
        return bool(self.paths) or self.unclear


def named(text: str, form: Format) -> Named:
    """What a document of that format names. Never raises."""
    return _READERS[form](text)


def in_project(path: str, document: str, form: Format) -> str | None:
    """The path in the project of a .bib that `document` names, or None where it is none that may be used.

    It counts from the document's folder, in Typst with a `/` at its beginning from the project. Not used: what leaves
    the project, an address, a path with a macro or another sign that only a program could have meant, and what lies in
    a hidden folder.
    """
    if not path.lower().endswith(".bib") or len(path) > _LONGEST or _STRANGE.search(path):
        return None
    if path.startswith("/"):
        if form != "typst":
            return None
        found = posixpath.normpath(path.lstrip("/"))
    else:
        found = posixpath.normpath(posixpath.join(posixpath.dirname(document), path))
    hidden = any(part.startswith(".") for part in found.split("/"))
    return None if hidden or len(found) > _LONGEST else found


def line_for(path: str, document: str, form: Format) -> str:
    """What `document` has to say for `path` to be its bibliography."""
    if form == "latex":  # which counts from where the main document is compiled
        return f"\\bibliography{{{path.removesuffix('.bib')}}}"
    near = posixpath.relpath(path, posixpath.dirname(document) or ".")
    return f'#bibliography("{near}")' if form == "typst" else f"bibliography: {near} (in the front matter)"


_STRING = r'"(?:[^"\\]|\\.)*+"'
_TYPST = re.compile(
    r"//[^\n]*|/\*(?:.*?\*/|.*)|(?P<raw>`{3,}+)(?:.*?(?P=raw)|.*)|`[^`]*`|https?://[^\s\")\]]*|\\."
    r"|\bset\s+bibliography\(|(?<![\w-])(?P<call>bibliography\()",
    re.DOTALL,
)
# A named argument's text is no path: style: "apa".
_TYPST_ARGUMENT = re.compile(
    rf"//[^\n]*|/\*.*?\*/|\b[\w-]+\s*:\s*{_STRING}|(?P<text>{_STRING})|(?P<open>[(\[])|(?P<close>[)\]])|.", re.DOTALL
)


def _typst(text: str) -> Named:
    paths: list[str] = []
    calls = islice((found for found in _TYPST.finditer(text) if found["call"]), _MOST_CALLS)
    called = False
    for found in calls:
        called = True
        open_ones = ["("]
        for part in _TYPST_ARGUMENT.finditer(text, found.end(), found.end() + _LONGEST_CALL):
            if part["open"]:
                open_ones.append(part["open"])
            elif part["close"]:
                open_ones.pop()
            elif part["text"] and "[" not in open_ones:  # what stands in brackets is printed
                paths.append(part["text"][1:-1])
            if not open_ones:
                break
    return Named(tuple(paths), called and not paths)


_LATEX_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*")
_LATEX = re.compile(
    r"\\(?:(?P<bibtex>bibliography)|addbibresource\s*(?:\[[^\]]{0,500}\])?)\s*\{(?P<names>[^{}]*)\}"
    r"|\\(?:bibliography|addbibresource)(?![A-Za-z])"
)


def _latex(text: str) -> Named:
    paths: list[str] = []
    unclear = False
    for found in _LATEX.finditer(_LATEX_COMMENT.sub(r"\1", text)):
        names = [name.strip() for name in (found["names"] or "").split(",") if name.strip()]
        unclear = unclear or not names
        paths += [_with_ending(name) if found["bibtex"] else name for name in names]
    return Named(tuple(paths), unclear and not paths)


def _with_ending(name: str) -> str:
    return name if name.lower().endswith(".bib") else f"{name}.bib"


_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n(?P<lines>.*?)^(?:---|\.\.\.)[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_MARKDOWN = re.compile(
    r"^bibliography[ \t]*:"
    r"(?:[ \t]*\[(?P<flow>[^\]]{0,5000})\]|(?P<rows>[ \t]*(?:#[^\n]*)?(?:\r?\n[ \t]*-[ \t]+[^\n]*)+)|(?P<one>[^\n]*))",
    re.MULTILINE,
)
_SCALAR = re.compile(r"""\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<plain>[^\s#"'].*?))\s*(?:\s\#.*)?""")


def _markdown(text: str) -> Named:
    front = _FRONT_MATTER.match(text)
    found = _MARKDOWN.search(front["lines"]) if front is not None else None
    if found is None:
        return Named()
    if found["flow"] is not None:
        values = found["flow"].split(",")
    elif found["rows"] is not None:
        values = [re.sub(r"^[ \t]*-[ \t]+", "", row) for row in found["rows"].split("\n")[1:]]
    else:
        values = [found["one"]]
    scalars = [_SCALAR.fullmatch(value) for value in values if len(value) <= _LONGEST_VALUE]
    paths = [one["double"] or one["single"] or one["plain"] or "" for one in scalars if one is not None]
    paths = [path for path in paths if path]
    return Named(tuple(paths), not paths)


_READERS: dict[Format, Callable[[str], Named]] = {"typst": _typst, "latex": _latex, "markdown": _markdown}
