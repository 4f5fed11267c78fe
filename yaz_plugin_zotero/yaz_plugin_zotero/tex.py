"""Text of an item as the value of a .bib field: escaped, markup turned into TeX, mathematics kept where it is safe.

Two dialects: TeX engines and pandoc read `\\textit{…}` and `\\alpha`; Typst (measured with 0.15) prints commands it
does not know as they stand, and *evaluates* what stands between dollars, `#read("…")` included. So a text between
dollars is kept as mathematics only if everything in it is known to be harmless; otherwise its signs are escaped.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

from yaz_plugin_zotero.folding import MARKUP

Dialect = Literal["tex", "typst"]

_ESCAPES = {
    "#": r"\#", "$": r"\$", "%": r"\%", "&": r"\&", "_": r"\_",
    "\\": r"{\textbackslash}", "^": r"{\textasciicircum}", "~": r"{\textasciitilde}",
    "|": r"{\textbar}", "<": r"{\textless}", ">": r"{\textgreater}",
}  # fmt: skip
_BALANCED = {"{": r"\{", "}": r"\}"}
# BibTeX counts escaped braces too, and Typst cannot read \vphantom{\}}: only names of braces are safe alone.
_UNBALANCED = {"{": r"{\textbraceleft}", "}": r"{\textbraceright}"}

# As in pandoc: no blank inside the dollars, no digit after them, so that prices are no mathematics.
_MATH = re.compile(r"\$(?!\s)([^$]+?)(?<!\s)\$(?!\d)")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_PIECE = re.compile(f"(?P<math>{_MATH.pattern})|(?P<tag>{MARKUP.pattern})", re.IGNORECASE)
_TAG = re.compile(r"<(/?)([a-z]+)(.*)>", re.IGNORECASE | re.DOTALL)

_WRAPS = {
    "i": r"\textit{%s}", "b": r"\textbf{%s}", "sc": r"\textsc{%s}", "nocase": "{%s}",
    "sub": r"$_{\textrm{%s}}$", "sup": r"$^{\textrm{%s}}$",
}  # fmt: skip
_SCRIPTS = {
    "sub": dict(zip("0123456789+-=()aeoxhklmnpst", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₒₓₕₖₗₘₙₚₛₜ", strict=True)),
    "sup": dict(zip("0123456789+-=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ", strict=True)),
}


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SYMBOLS = _names(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi "
    "omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
)
"""Commands of TeX that are names in Typst's mathematics as well."""

_TEX_ONLY = _names(
    "varepsilon vartheta varphi varrho ell hbar infty partial nabla pm mp times cdot circ ast star leq geq le ge "
    "neq ne equiv approx sim simeq propto ll gg in notin subset supset subseteq cup cap wedge vee forall exists "
    "to rightarrow "
    "leftarrow Rightarrow leftrightarrow mapsto ldots cdots dots sum prod int sqrt frac log ln exp sin cos tan max min "
    "sup inf lim det dim ker left right mathbb mathbf mathcal mathfrak mathit mathrm mathsf bar hat tilde vec dot ddot "
    "overline underline prime dagger"
)
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_SAFE = re.compile(r"[A-Za-z0-9 ^_+\-=<>()\[\],.;:!/|*'{}]*")
_SCRIPT_GROUP = re.compile(r"([\^_])\{([^{}]*)\}")


def value(text: str, dialect: Dialect, *, protect: bool = False) -> str:
    """The text of a title as a field's value, without the outer braces.

    `protect` braces the words whose capitals a style must not lower: those with a capital, but for the first word's
    initial (the rule of Zotero's exporter).
    """
    return _Writer(one_line(text), dialect, protect).written()


def escaped(text: str) -> str:
    """Plain text (a name, a publisher) as a field's value: every special sign stands for itself."""
    line = one_line(text)
    return "".join(map(_escapes(line), line))


def verbatim(text: str) -> str:
    """A URL or DOI as a field's value: as it is, but for what would end the field or the line."""
    return "".join(f"%{ord(sign):02X}" if sign in "{}\\" else sign for sign in one_line(text).replace(" ", "%20"))


def _is_unprintable(sign: str) -> bool:
    # noncharacters (U+FDD0 and its like) stand in no text that is passed on: Typst cannot write them as HTML
    number = ord(sign)
    return unicodedata.category(sign) in ("Cc", "Cs") or number & 0xFFFE == 0xFFFE or 0xFDD0 <= number <= 0xFDEF


def one_line(text: str) -> str:
    """The text composed (NFC), without line breaks, control and noncharacters, with single blanks."""
    seen = (sign for sign in text if sign.isspace() or not _is_unprintable(sign))
    return unicodedata.normalize("NFC", " ".join("".join(seen).split()))


def balanced(text: str) -> bool:
    """Whether every brace has its partner, in order."""
    depth = 0
    for sign in text:
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if depth < 0:
            return False
    return depth == 0


class _Writer:
    """One text, piece by piece: mathematics, tags and what lies between them."""

    def __init__(self, text: str, dialect: Dialect, protect: bool) -> None:
        self._text = text
        self._dialect = dialect
        self._protect = protect
        self._escape = _escapes(text)
        self._begun = False
        self._open: list[tuple[str, list[str]]] = [("", [])]

    def written(self) -> str:
        at = 0
        while (piece := _PIECE.search(self._text, at)) is not None:
            self._words(self._text[at : piece.start()])
            at = piece.end()
            if piece["tag"] is not None:
                self._tag(piece["tag"])
            elif (formula := mathematics(piece["math"][1:-1], self._dialect)) is not None:
                self._open[-1][1].append("{$" + formula + "$}")
                self._begun = True
            else:
                # The second dollar may begin what is mathematics, so only the first one is text.
                at = piece.start() + 1
                self._words("$")
        self._words(self._text[at:])
        return self._closed()

    def _closed(self) -> str:
        while len(self._open) > 1:
            self._close()
        return "".join(self._open[0][1])

    def _tag(self, tag: str) -> None:
        match = _TAG.fullmatch(tag)
        if match is None:
            return
        closing, name, attributes = match[1], match[2].lower(), match[3].lower()
        if not closing:
            self._open.append((_meaning(name, attributes), []))
        elif any(_element(meaning) == name for meaning, _ in self._open):
            while _element(self._open[-1][0]) != name:
                self._close()
            self._close()

    def _close(self) -> None:
        meaning, parts = self._open.pop()
        content = "".join(parts)
        self._open[-1][1].append(_wrapped(meaning, content, self._dialect) if content else "")

    def _words(self, text: str) -> None:
        end = 0
        for word in _WORD.finditer(text):
            self._signs(text[end : word.start()])
            end = word.end()
            braced = self._protect and _has_capital(word.group(), first=not self._begun)
            written = "".join(map(self._escape, word.group()))
            self._open[-1][1].append("{" + written + "}" if braced else written)
            self._begun = True
        self._signs(text[end:])

    def _signs(self, text: str) -> None:
        self._open[-1][1].append("".join(map(self._escape, text)))
        self._begun = self._begun or bool(text.strip())


def mathematics(formula: str, dialect: Dialect) -> str | None:
    """What stood between dollars, for this dialect; None where it is not known to be harmless and well-formed."""
    commands = set(_COMMAND.findall(formula))
    signs = _COMMAND.sub("", formula)
    if not balanced(formula) or not _SAFE.fullmatch(signs) or not commands <= _SYMBOLS | _TEX_ONLY:
        return None
    if dialect == "tex":
        return formula
    if not commands <= _SYMBOLS:
        return None
    # Typst reads letters in a row as one name, and groups with parentheses that it does not show.
    spaced = re.sub(r"(?<![\\A-Za-z])[A-Za-z]{2,}", lambda run: " ".join(run.group()), _COMMAND.sub(r" \\\1 ", formula))
    grouped = _SCRIPT_GROUP.sub(r"\1(\2)", spaced)
    if "{" in grouped:
        return None
    return " ".join(grouped.replace("\\", "").split())


def _escapes(text: str) -> _Escapes:
    return _Escapes(_ESCAPES | (_BALANCED if balanced(text) else _UNBALANCED))


class _Escapes:
    def __init__(self, table: dict[str, str]) -> None:
        self._table = table

    def __call__(self, sign: str) -> str:
        return self._table.get(sign, sign)


def _meaning(name: str, attributes: str) -> str:
    if name != "span":
        return name
    if "small-caps" in attributes or "smallcaps" in attributes:
        return "span sc"
    return "span nocase" if "nocase" in attributes else "span"


def _element(meaning: str) -> str:
    return meaning.partition(" ")[0]


def _wrapped(meaning: str, content: str, dialect: Dialect) -> str:
    kind = meaning.rpartition(" ")[2]
    if dialect == "typst" and kind != "nocase":
        forms = _SCRIPTS.get(kind, {})
        return "".join(forms[sign] for sign in content) if forms and all(map(forms.__contains__, content)) else content
    return _WRAPS.get(kind, "%s") % content


def _has_capital(word: str, *, first: bool) -> bool:
    """Whether a style that lowers titles would spoil the word; only Latin letters are lowered by BibTeX."""
    counted = word[1:] if first else word
    return any(sign.isupper() and (sign < "\u0250" or "\u1e00" <= sign <= "\u1eff") for sign in counted)
