"""What people and models read of a plugin: its message files, in Fluent (trials 9).

The only module that knows Fluent. A plugin's files are a stranger's text: they are bounded, parsed in the host without
running anything of the plugin, and whatever is wrong in them costs one text, never the host.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from yazcore.manifest.model import Manifest
from yazcore.manifest.places import MOST_FAULTS, line_and_column
from yazcore.manifest.words import did_you_mean, escaped, is_harmless, quoted
from yazcore.violations import Violation

if TYPE_CHECKING:
    from fluent.runtime import FluentBundle
    from fluent.syntax.ast import Resource

FALLBACK = "en-US"
"""The locale that every text must be in."""

MOST_BYTES = 256 * 1024
"""The largest message file, in bytes."""

MOST_LOCALES = 40
"""The most locales of one plugin; others are not looked at."""

LONGEST_ARGUMENT = 2000
"""The most characters of an argument that enter a text."""

LONGEST_MESSAGE = 8000
"""The longest message that is used, in characters: a text may name another 2,500 times over, and is bounded by this."""

CYCLIC = "Cyclic reference"
"""How Fluent says that a text contains itself."""

_MOST_DIGITS = 20  # padding a number to a million digits takes minutes
_LOCALE = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?")
_DIGIT_OPTIONS = re.compile(r"(minimum|maximum)\w*Digits")


def chain(locale: str) -> tuple[str, ...]:
    """The locales to try, in order: `de-AT` gives `de-AT`, `de`, `en-US`. Takes `de_AT.UTF-8` too."""
    parts = locale.partition(".")[0].partition("@")[0].replace("_", "-").split("-")
    tried = ("-".join(parts[:count]) for count in range(len(parts), 0, -1))
    return tuple(dict.fromkeys([*filter(is_locale, tried), FALLBACK]))


def is_locale(text: str) -> bool:
    """Whether a text is a locale as message files are named: language, script, region, as in `de`, `zh-Hant-TW`."""
    return _LOCALE.fullmatch(text) is not None


def locales_in(folder: Path | None) -> tuple[str, ...]:
    """The locales there are files for, sorted, at most `MOST_LOCALES`."""
    try:
        names = sorted(entry.name for entry in folder.iterdir()) if folder is not None else []
    except OSError:
        return ()
    stems = [name.removesuffix(".ftl") for name in names if name.endswith(".ftl")]
    return tuple(filter(is_locale, stems))[:MOST_LOCALES]


@attrs.frozen
class TextFault:
    """One thing wrong in a message file: a stable code, what, and how to mend it; `offset` is in characters."""

    code: str
    message: str
    fix: str
    offset: int | None = None


@attrs.frozen
class _Parsed:
    """`plain`: the texts in which nothing has to be filled in."""

    resource: Resource | None = None
    keys: frozenset[str] = frozenset()
    plain: Mapping[str, str] = attrs.field(factory=dict)
    faults: tuple[TextFault, ...] = ()


class MessageFile:
    """One locale's messages: read at once, parsed when first asked for one. Nothing that a file holds raises here."""

    def __init__(self, path: Path, locale: str) -> None:
        self.locale = locale
        self.text, self._unreadable = _text_of(path)

    @property
    def keys(self) -> frozenset[str]:
        """The messages that have a text."""
        return self._parsed.keys

    @property
    def faults(self) -> tuple[TextFault, ...]:
        """What is wrong with the file as such: unreadable, not Fluent, a key twice, a text that is far too long."""
        return self._parsed.faults

    def format(self, key: str, arguments: dict[str, Any] | None = None) -> tuple[str | None, list[str]]:
        """A message's text, None where there is none or it cannot be made, and what went wrong."""
        if (plain := self._parsed.plain.get(key)) is not None:
            return plain, []
        bundle = self._bundle
        if bundle is None or key not in self.keys:
            return None, []
        try:
            pattern = bundle.get_message(key).value
            assert pattern is not None, "keys are of messages with a text"
            text, problems = bundle.format_pattern(pattern, arguments)
            return str(text), [str(problem) for problem in problems]
        except RecursionError:
            return None, [CYCLIC]
        except Exception as error:  # noqa: BLE001 - a stranger's text, in code that does not foresee everything
            return None, [f"it cannot be formatted ({type(error).__name__})"]

    @cached_property
    def _parsed(self) -> _Parsed:
        if self.text is None:
            return _Parsed(faults=self._unreadable)
        from fluent.syntax import FluentParser
        from fluent.syntax.ast import Message

        try:
            resource = FluentParser().parse(self.text)
        except RecursionError:
            return _Parsed(faults=(TextFault("messages-syntax", "it nests too deeply", "nest less deeply"),))
        faults = tuple(_faults_in(resource.body))
        resource.body = [entry for entry in resource.body if not _is_too_long(entry)]
        first: dict[str, Any] = {}
        for entry in resource.body:
            if isinstance(entry, Message):
                first.setdefault(entry.id.name, entry.value)
        written = {key: pattern for key, pattern in first.items() if pattern is not None}
        plain = {key: text for key, pattern in written.items() if (text := _plain(pattern)) is not None}
        return _Parsed(resource, frozenset(written), plain, faults)

    @cached_property
    def _bundle(self) -> FluentBundle | None:
        """What fills texts in: an import of 30 ms, which most files of manifests do without."""
        if self._parsed.resource is None:
            return None
        from fluent.runtime import FluentBundle

        functions: dict[str, Any] = {"NUMBER": _number}
        try:
            # a language that the number formats do not know gets those of the fallback, not those of this machine
            bundle = FluentBundle([self.locale, FALLBACK], functions=functions, use_isolating=False)
        except ValueError:
            bundle = FluentBundle([FALLBACK], functions=functions, use_isolating=False)
        bundle.add_resource(self._parsed.resource)
        return bundle


class Messages:
    """A plugin's texts in one language, with its fallbacks. Files are read and parsed when a text is first asked for.

    * `folder`: the folder with the `.ftl` files, None for a plugin without any.
    * `locale`: the user's language.
    * `escape`: whether control and bidirectional characters of arguments are escaped, line breaks included. Leave it
      on wherever a person or a model reads the result.
    """

    def __init__(self, folder: Path | None, locale: str = FALLBACK, *, escape: bool = True) -> None:
        self._folder = folder
        self._chain = chain(locale)
        self._escape = escape
        self._files: dict[str, MessageFile] = {}

    def text(self, key: str, /, **arguments: Any) -> str:
        """The text of a key in the first language that has it, else the key in angle brackets. Never raises."""
        given = {name: self._argument(value) for name, value in arguments.items()}
        for locale in self._chain:
            text, _ = self._file(locale).format(key, given)
            if text is not None:
                return text
        return f"<{escaped(str(key))}>"

    def keys(self, locale: str) -> frozenset[str]:
        """The keys that have a text in exactly that locale."""
        return self._file(locale).keys if is_locale(locale) else frozenset()

    def _file(self, locale: str) -> MessageFile:
        found = self._files.get(locale)
        if found is None:
            folder = self._folder if self._folder is not None else Path()
            found = self._files[locale] = MessageFile(folder / f"{locale}.ftl", locale)
        return found

    def _argument(self, value: Any) -> Any:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return value
        try:
            text = str(value)
        except Exception:  # noqa: BLE001 - an argument is a plugin's object
            text = "?"
        text = text if len(text) <= LONGEST_ARGUMENT else f"{text[: LONGEST_ARGUMENT - 1]}…"
        return escaped(text) if self._escape else text


def _text_of(path: Path) -> tuple[str | None, tuple[TextFault, ...]]:
    try:
        if not path.is_file():
            return None, (TextFault("messages-missing", "it is not there", "add it"),)
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError):
        return None, (TextFault("messages-unreadable", "it cannot be read", "give the right to read it"),)
    if len(data) > MOST_BYTES:
        return None, (TextFault("messages-too-large", f"it is larger than {MOST_BYTES} bytes", "shorten the texts"),)
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError:
        return None, (TextFault("messages-not-utf8", "it is not UTF-8", "save it as UTF-8"),)


def _number(value: Any, **options: Any) -> Any:
    from fluent.runtime.types import fluent_number

    for name, option in options.items():
        if _DIGIT_OPTIONS.fullmatch(name) and isinstance(option, (int, float)):
            options[name] = min(option, _MOST_DIGITS)
    return fluent_number(value, **options)


def _plain(pattern: Any) -> str | None:
    """The text of a pattern that is text alone."""
    from fluent.syntax.ast import TextElement

    parts = pattern.elements
    return "".join(part.value for part in parts) if all(type(part) is TextElement for part in parts) else None


def _is_too_long(entry: Any) -> bool:
    span = entry.span
    return span is not None and span.end - span.start > LONGEST_MESSAGE


def _faults_in(body: list[Any]) -> Iterator[TextFault]:
    from fluent.syntax.ast import Junk, Message, Term

    seen: set[tuple[type, str]] = set()
    for entry in body:
        start = entry.span.start if entry.span is not None else 0
        if isinstance(entry, Junk):
            note = entry.annotations[0] if entry.annotations else None
            reason = note.message if note is not None and note.message else "this is no message"
            at = note.span.start if note is not None and note.span is not None else start
            yield TextFault("messages-syntax", f"{reason[:1].lower()}{reason[1:]}", "mend the syntax here", at)
        elif isinstance(entry, (Message, Term)):
            name = entry.id.name
            if _is_too_long(entry):
                fix = f"use at most {LONGEST_MESSAGE} characters"
                yield TextFault("message-too-long", f"{quoted(name)} is too long to be used", fix, start)
            if (type(entry), name) in seen:
                message = f"{quoted(name)} stands there a second time, and only the first counts"
                yield TextFault("messages-duplicate", message, "remove one of them", start)
            seen.add((type(entry), name))


# -- the texts of a manifest -----------------------------------------------------------------------------------------


def texts(manifest: Manifest, folder: Path | None) -> dict[str, dict[str, str]]:
    """What a manifest's message keys say in every locale that the plugin has, as people and models will read it."""
    return texts_of(manifest, files_in(folder))


def texts_of(manifest: Manifest, files: Iterable[MessageFile]) -> dict[str, dict[str, str]]:
    """The same, of message files that were read. For digests: a text that one of them names is in it."""
    return said((key for key, _ in manifest.message_keys()), files)


def said(keys: Iterable[str], files: Iterable[MessageFile]) -> dict[str, dict[str, str]]:
    """What the texts under these keys say, by locale; what is not there is left out."""
    keys = sorted(set(keys))
    found: dict[str, dict[str, str]] = {}
    for file in files:
        if texts := {key: text for key in keys if (text := file.format(key)[0]) is not None}:
            found[file.locale] = texts
    return found


def seal(text: str, files: Iterable[MessageFile]) -> str:
    """SHA-256 in hex over a manifest's text and its message files: as long as it is the same, no digest is another."""
    import hashlib  # where nothing is granted, no listing needs it

    whole = hashlib.sha256()
    for part in (text, *(part for file in files for part in (file.locale, file.text))):
        data = b"-" if part is None else part.encode("utf-8", "surrogatepass")
        whole.update(b"%d:" % (-1 if part is None else len(data)))
        whole.update(data)
    return whole.hexdigest()


def check_messages(manifest: Manifest, folder: Path | None) -> tuple[Violation, ...]:
    """What is wrong with a plugin's message files, and with the texts that its manifest names.

    Texts first, in the order in which the manifest names them, then the files. At most one more than `MOST_FAULTS`.
    """
    return tuple(islice(_violations(manifest, folder), MOST_FAULTS + 1))


def _violations(manifest: Manifest, folder: Path | None) -> Iterator[Violation]:
    files = {file.locale: file for file in files_in(folder)}
    named = dict(
        reversed([*manifest.message_keys()])
    )  # a key that is named twice has the place where it is named first
    if FALLBACK not in files:
        if named:
            name = f"{manifest.locales or 'locales'}/{FALLBACK}.ftl"
            message = f"the manifest names texts, and the file {quoted(name)} is not there"
            yield Violation("messages-missing", message, "add the file, and name its folder under locales", "/locales")
        return
    for key in dict.fromkeys(key for key, _ in manifest.message_keys()):
        if key not in files[FALLBACK].keys:
            message = f"{FALLBACK}.ftl has no text for {quoted(key)}"
            fix = did_you_mean(key, sorted(files[FALLBACK].keys), "its keys are")
            yield Violation("message-missing", message, fix, named[key])
        for file in files.values():
            yield from _text_violations(file, key, named[key])
    for file in files.values():
        yield from _file_violations(file, named.keys())


def files_in(folder: Path | None) -> list[MessageFile]:
    """The message files of a folder, by locale: read, and not parsed before somebody asks for a text."""
    if folder is None:
        return []
    return [MessageFile(folder / f"{locale}.ftl", locale) for locale in locales_in(folder)]


def _text_violations(file: MessageFile, key: str, pointer: str) -> Iterator[Violation]:
    """What is wrong with the text that one locale gives for a key of the manifest."""
    if key not in file.keys:
        return
    where = f"{quoted(key)} in {file.locale}.ftl"
    text, problems = file.format(key)
    for problem in problems:
        if problem == CYCLIC:
            yield Violation("message-cyclic", f"{where} contains itself", "take it out of itself", pointer)
        else:
            fix = "a text that a manifest names gets no arguments, and may name only what stands in the same file"
            message = f"{where} cannot be resolved: {escaped(problem[:1].lower() + problem[1:])}"
            yield Violation("message-unresolved", message, fix, pointer)
    if text is not None and not text.strip():
        yield Violation("message-empty", f"{where} says nothing", "write what should be read", pointer)
    if text is not None and not is_harmless(text):
        message = f"{where} holds control characters, or ones that reorder text"
        yield Violation("message-unprintable", message, "remove them: nobody can see them", pointer)


def _file_violations(file: MessageFile, named: Collection[str]) -> Iterator[Violation]:
    """What is wrong with a file as such, and with its texts that only the plugin's code names."""
    for fault in file.faults:
        where = f"{file.locale}.ftl"
        if fault.offset is not None and file.text is not None:
            line, column = line_and_column(file.text, fault.offset)
            where += f", line {line}, column {column}"
        yield Violation(fault.code, f"{where}: {fault.message}", fault.fix, "/locales")
    for key in sorted(file.keys.difference(named)):
        if CYCLIC in file.format(key)[1]:
            message = f"{quoted(key)} in {file.locale}.ftl contains itself"
            yield Violation("message-cyclic", message, "take it out of itself", "/locales")
