"""How each format writes a citation, and where it goes in a text; no file is touched here (zotero 0, fact 8)."""

from __future__ import annotations

import re
import unicodedata

import attrs
from yazcore import ToolError

from yaz_plugin_zotero import runs
from yaz_plugin_zotero.runs import Format

# What Typst reads as a reference: letters, digits, _ - and, inside, : and . (zotero 5).
_TYPST_KEY = re.compile(r"[\w-](?:[\w:.-]*[\w-])?")
_TYPST_GOES_ON = re.compile(r"[\w\-\[]|[:.]+[\w-]")
_TYPST_CALL_GOES_ON = re.compile(r"[\[(;]|\.\w")
_TYPST_SIGNS = re.compile(r"([\\#\[\]*_`$@<>~=/\"'+-])")
_PANDOC_KEY = re.compile(r"\w(?:[\w:.#$%&+?<>~/-]*\w)?")
_TEX_SIGNS = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


@attrs.frozen
class Placed:
    """A document with the citation in it: the new text, the line it stands on, whether it was put in now."""

    text: str
    line: int
    inserted: bool


def citation(form: Format, key: str, locator: str | None = None, following: str = "") -> str:
    """The citation as the format writes it; `following` is the text right after it.

    Raises `ToolError` for a key that LaTeX cannot take.
    """
    if form == "latex":
        if re.search(r"[\s#%~\\{}^$&,]", key):
            raise ToolError(
                f"LaTeX cannot cite the key {key}. Rename it in the .bib with letters, digits, - and : only."
            )
        return f"\\cite[{_tex(locator)}]{{{key}}}" if locator else f"\\cite{{{key}}}"
    if form == "markdown":
        name = key if _PANDOC_KEY.fullmatch(key) else f"{{{key}}}"
        return f"[@{name}, {_markdown(locator)}]" if locator else f"[@{name}]"
    return _typst(key, locator, following)


def place(text: str, name: str, after: str, form: Format, key: str, locator: str | None) -> Placed:
    """Put the citation right after the text `after`, which must stand in the document exactly once.

    Where the key is cited there already with this locator, anywhere in the run of citations that ends or begins there,
    the text is left as it is. Raises `ToolError` where `after` does not occur, or more than once.
    """
    if "\r\n" in text and after not in text:
        after = after.replace("\r\n", "\n").replace("\n", "\r\n")
    places = _places(text, after)
    if not places:
        raise ToolError(
            f"The text to cite after does not stand in {name}, so nothing was written. Read the document and pass a "
            "piece of it exactly as it stands there."
        )
    if len(places) > 1:
        lines = ", ".join(str(_line(text, at)) for at in places[:5])
        raise ToolError(
            f"The text to cite after stands in {name} {len(places)} times (lines {lines}), so nothing was written. "
            "Pass a longer piece that stands there once."
        )
    at = places[0] + len(after)
    before, following = text[:at], text[at:]
    wanted = (key, runs.plain(_located(form, locator)))
    for one in runs.around(text, at, form):
        if (one.key, one.locator) == wanted:
            return Placed(text, _line(text, one.start), False)
    gap = "" if not before or before[-1].isspace() or before[-1] in "([{~" else "~" if form == "latex" else " "
    cited = citation(form, key, locator, following)
    if form == "markdown" and following[:1] in ("(", "[", "{", ":"):
        cited += " "
    return Placed(before + gap + cited + following, _line(text, at), True)


def _located(form: Format, locator: str | None) -> str:
    """The locator as the format writes it."""
    written = {"typst": _supplement, "latex": _tex, "markdown": _markdown}[form]
    return written(locator) if locator else ""


def _places(text: str, wanted: str) -> list[int]:
    found, at = [], text.find(wanted)
    while at >= 0:
        found.append(at)
        at = text.find(wanted, at + 1)
    return found


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _typst(key: str, locator: str | None, following: str) -> str:
    supplement = f"[{_supplement(locator)}]" if locator else ""
    if _TYPST_KEY.fullmatch(key) and (supplement or not _TYPST_GOES_ON.match(following)):
        return f"@{key}{supplement}"
    quoted = key.replace("\\", "\\\\").replace('"', '\\"')
    told = f", supplement: {supplement}" if supplement else ""
    # A semicolon ends the call where the text goes on in a way that would belong to it; it is not printed.
    return f'#cite(label("{quoted}"){told})' + (";" if _TYPST_CALL_GOES_ON.match(following) else "")


def _supplement(text: str) -> str:
    return _TYPST_SIGNS.sub(r"\\\1", text)


def _tex(text: str) -> str:
    written = "".join(_TEX_SIGNS.get(sign, f"\\{sign}" if sign in "#$%&_{}" else sign) for sign in text)
    return "{" + written + "}" if "]" in written or "[" in written else written


def _markdown(text: str) -> str:
    signs = (f"\\{sign}" if unicodedata.category(sign)[0] in "PS" and sign not in ".,-–&§" else sign for sign in text)
    return "".join(signs)
