"""Rules about descriptions: enough to choose by, told apart, in every language (G25b, G27, G35 to G37)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from yazcore.design_rules.examples import prompt, prompts, tool, tools
from yazcore.design_rules.rule import Found, found_in, rule
from yazcore.design_rules.surface import FALLBACK
from yazcore.design_rules.view import ToolView, View
from yazcore.design_rules.words import STRONG, alternatives, phrases, singular, stem, stems, tokens, word_set, words
from yazcore.manifest.messages import chain
from yazcore.manifest.words import listed, quoted

LONGEST_DESCRIPTION = 1024
"""The longest description that every model's interface takes, in characters."""

_KEY = {"type": "string", "maxLength": 40, "description": "The ticket's key, from search_tickets."}
_GOOD = "Closes a ticket for good; a closed one cannot be opened again. Use park_ticket for a pause. Gives its state."


@rule(
    "G25b", "suspicion", "A text is there in every language of the surface, and about as long",
    change="write it in that language too, and say the same in both",
    good=tools(
        tool("close_ticket", _GOOD, texts={"de": "Schließt einen Vorgang endgültig; er geht nicht wieder auf."}),
        tool("park_ticket", "Sets a ticket aside.", texts={"de": "Legt einen Vorgang beiseite."}),
    ),
    bad=tools(
        tool("close_ticket", _GOOD, texts={"de": "Schließt einen Vorgang endgültig; er geht nicht wieder auf."}),
        tool("park_ticket", "Sets a ticket aside."),
    ),
    at=["/tools/1/description"],
    unmeasured="the corpus has one language",
)  # fmt: skip
def in_every_language(view: View) -> Iterator[Found]:
    """An agent that works in a language gets English where its text is missing, and another tool where the texts have
    grown apart."""
    locales = sorted({one for entry in view.surface.entries for one in entry.texts} - {FALLBACK})
    for entry in view.surface.entries:
        english = entry.description
        if not english:
            continue
        missing = [one for one in locales if not any(each in entry.texts for each in chain(one) if each != FALLBACK)]
        if missing:
            yield found_in(entry, entry.text_path, f"there is no text in {listed(missing, 5)}")
        for locale in locales:
            text = entry.texts.get(locale)
            if text is not None and len(english) >= 80 and not 0.2 <= len(text) / len(english) <= 3:
                message = f"the text in {quoted(locale)} has {len(text)} characters, the English one {len(english)}"
                yield found_in(entry, entry.text_path, message)


@rule(
    "G25c", "suspicion", "Each argument of a prompt is explained",
    change="say for each argument what it is for, and whether it is needed",
    good=prompts(prompt("handover", "Writes up a shift for who comes next.", [("team", "the team that hands over")])),
    bad=prompts(prompt("handover", "Writes up a shift for who comes next.", [("team", "")])),
    at=["/prompts/0/arguments/0"],
    unmeasured="the corpus has no prompts",
)  # fmt: skip
def explains_arguments(view: View) -> Iterator[Found]:
    """A person fills a prompt's form in, and sees nothing of it but names and these words."""
    for one in view.surface.prompts:
        for note in one.arguments:
            if not note.text.strip():
                yield found_in(one, note.path, f"nothing says what {quoted(note.name)} is for")


@rule(
    "G25d", "suspicion", "Texts are in English, so that their wording is judged",
    change="give them in English, too; or let a person who reads the language judge them, and say so in a waiver",
    good=tools(tool("close_ticket", _GOOD, {"key": _KEY}, ["key"])),
    bad=tools(
        tool("close_ticket", "Schließt einen Vorgang endgültig; er geht nicht wieder auf. Nur nach Freigabe."),
        tool("park_ticket", "把一张工单搁置一段时间，之后可以再次打开。"),
    ),
    at=[""],
    unmeasured="the corpus is in English; that none of its texts is taken for another language is tested",
)  # fmt: skip
def in_english(view: View) -> Iterator[Found]:
    """What is said of wording is said of English; of another language a program here knows only whether a text is
    there, and how long it is. That nothing was found in it means nothing."""
    if view.foreign:
        message = f"the wording of {len(view.foreign)} texts is not judged, for they are not English: "
        yield Found("surface", (), message + listed((entry.subject for entry in view.foreign.values()), 3))


_CONDITIONS = alternatives(
    """
    if | when | whenever | unless | only | before | after | instead | rather | not | never | no | without |
    except | excluding | including | default* | up to | at most | at least | max* | min* | limit* | e.g | i.e |
    example* | such as | sorted | ordered | optional* | use this | use it | use for | use to | return | returns
    | give | gives | yields | each with | with its | with their | must | can | cannot | already | first | then |
    until | otherwise | should | where | each | included | in one | single | cursor | next page | paging |
    nothing | require | requires | need | needs | based on | per | between | older | newer | latest | recent
    """
)
_MARKS = re.compile(rf"\b{_CONDITIONS}\b|[(:;]|\d|\w, (?:\w+, )*(?:\w+ )?or \w", re.IGNORECASE)


@rule(
    "G27", "suspicion", "A description is more than a handful of words",
    change="say when it is the right tool and when another is, what it changes, and what it gives",
    good=tools(tool("close_ticket", _GOOD, {"key": _KEY}, ["key"])),
    bad=tools(tool("close_ticket", "Closes the given ticket.", {"key": _KEY}, ["key"])),
    at=["/tools/0/description"],
)  # fmt: skip
def says_something(view: View) -> Iterator[Found]:
    """A model chooses by the text: a handful of words cannot say when, with what effect, and with what result."""
    for one in view.in_english:
        if _says_little(one, view, FEW_WORDS, 1):
            yield found_in(one.tool, one.tool.text_path, "the description is a handful of words")


FEW_WORDS = 7
"""So many words say nothing of when, what and with what result."""


@rule(
    "G27c", "question", "A description says when to use the tool, what it does, what it leaves out, what comes back",
    change="say when it is the right tool and when another is, what it changes, and what it gives",
    good=tools(tool("close_ticket", _GOOD, {"key": _KEY}, ["key"])),
    bad=tools(tool("close_ticket", "Closes the given ticket in the system.", {"key": _KEY}, ["key"])),
    at=["/tools/0/description"],
    unsure="of tools that no check was written for, every third short text that it finds was enough for a reader",
)  # fmt: skip
def says_when(view: View) -> Iterator[Found]:
    """Without a condition, a limit or a result in the text, the choice is by the name alone."""
    for one in view.in_english:
        if _says_little(one, view, 16, 2):
            message = "the description names no condition, limit, exclusion or result"
            yield found_in(one.tool, one.tool.text_path, message)


def _says_little(one: ToolView, view: View, most_words: int, most_sentences: int) -> bool:
    """Whether a text is short, or only what the whole server repeats, and nothing in it marks a condition, a limit, a
    result or another tool."""
    rest = one.text.replace("read-only", "").partition(" ")[2]  # that it returns something, its first word may say
    is_short = len(words(one.text)) <= most_words and len(one.sentences) <= most_sentences
    has_marks = _MARKS.search(rest) is not None or _names_another(one, view)
    return bool(one.tool.description.strip()) and is_short and not has_marks


def _names_another(one: ToolView, view: View) -> bool:
    """Whether its text names another tool of the surface."""
    return any(word in view.by_name for word in re.findall(r"[\w-]+", one.text) if word != one.tool.name)


@rule(
    "G27b", "suspicion", "A description is short enough for every model",
    change=f"use at most {LONGEST_DESCRIPTION} characters; what is needed only at times belongs into a help tool",
    good=tools(tool("close_ticket", _GOOD)),
    bad=tools(tool("close_ticket", _GOOD * 12)),
    at=["/tools/0/description"],
    unmeasured="no text of the corpus is so long; the bound is that of models' interfaces",
)  # fmt: skip
def short_enough(view: View) -> Iterator[Found]:
    """Some interfaces of models refuse a description that is longer, and with it the whole list; all others pay for it
    in every conversation."""
    for one in view.surface.entries:
        for locale, text in sorted(one.texts.items()):
            if len(text) > LONGEST_DESCRIPTION:
                where = "" if locale == FALLBACK else f" in {quoted(locale)}"
                message = f"the description{where} has {len(text)} characters, more than {LONGEST_DESCRIPTION}"
                yield found_in(one, one.text_path, message)


_SYNONYMS = (
    word_set("get describe show read fetch view retrieve inspect lookup"),
    frozenset({"list", "search", "find", "query"}),
    frozenset({"kill", "terminate", "stop"}),
    frozenset({"remove", "delete", "drop", "destroy"}),
    frozenset({"run", "execute", "exec", "invoke"}),
    frozenset({"update", "edit", "modify", "patch", "change"}),
    frozenset({"create", "add", "new", "apply"}),
)


def _same_task(one: ToolView, other: ToolView) -> bool:
    verbs = {one.verb, other.verb}
    return one.verb != other.verb and any(verbs <= group for group in _SYNONYMS)


def _names(text: str, other: ToolView) -> bool:
    """Whether a text names another tool, as it is written or as words."""
    return other.tool.name.lower() in text.lower() or " ".join(other.tokens) in " ".join(words(text))


@rule(
    "G35", "question", "Neighbours say what the other one is for",
    change="say in each when the other one is right",
    good=tools(
        tool("list_tickets", "Lists all open tickets. To find one by its words, use search_tickets."),
        tool("search_tickets", "Finds tickets by words. For all that are open, use list_tickets."),
    ),
    bad=tools(tool("list_tickets", "Lists the tickets."), tool("search_tickets", "Finds tickets.")),
    at=["/tools/1/description"],
    unsure="whether two tools are mistaken for each other shows only where people or models choose between them",
)  # fmt: skip
def told_apart(view: View) -> Iterator[Found]:
    """Where two tools sound alike, a text that only says what its own does leaves the choice to chance."""
    groups: dict[tuple[str, ...], list[ToolView]] = defaultdict(list)
    for one in view.in_english:
        if one.verb is not None:
            groups[tuple(map(singular, one.objects))].append(one)
    for group in groups.values():
        for index, one in enumerate(group[1:40], 1):
            for other in group[:index]:
                short = len(words(one.text)) <= 25 and len(words(other.text)) <= 25
                if _same_task(one, other) and short and not _names(one.text, other) and not _names(other.text, one):
                    message = f"nothing tells it from {quoted(other.tool.name)}, and neither text names the other"
                    yield found_in(one.tool, one.tool.text_path, message)
                    break


@rule(
    "G36", "suspicion", "A description has words that its name has not",
    change="say what the name does not: when, with what effect, with what result",
    good=tools(tool("close_ticket", _GOOD, {"key": _KEY}, ["key"])),
    bad=tools(tool("close_ticket", "Closes a ticket.", {"key": _KEY}, ["key"])),
    at=["/tools/0/description"],
)  # fmt: skip
def more_than_its_name(view: View) -> Iterator[Found]:
    """The model has read the name already; to say it again costs tokens and decides nothing."""
    for one in view.in_english:
        if one.text and not _left(one):
            yield found_in(one.tool, one.tool.text_path, "the description says no more than the name")


@rule(
    "G36b", "question", "A description is more than its name and its arguments in other words",
    change="say what the name does not: when, with what effect, with what result",
    good=tools(tool("close_ticket", _GOOD, {"key": _KEY}, ["key"])),
    bad=tools(tool("close_ticket", "Close a ticket by its key.", {"key": _KEY}, ["key"])),
    at=["/tools/0/description"],
    unsure="the one word that is left is often the one that was needed, and then the text is short and good",
)  # fmt: skip
def no_paraphrase(view: View) -> Iterator[Found]:
    """What the arguments are called, and what every text of the server says, tells no tool from another."""
    for one in view.in_english:
        if one.text and not _left(one) - view.common_stems - one.parameter_stems:
            yield found_in(one.tool, one.tool.text_path, "the description is its name and its arguments in other words")


def _left(one: ToolView) -> set[str]:
    """The stems of its text that its name has not, and that say something."""
    named = {stem(word) for word in tokens(one.tool.name)} | {stem(singular(word)) for word in one.tokens}
    return stems(one.text) - named - _SAYS_NOTHING


_SAYS_NOTHING = {
    stem(word)
    for word in word_set(
        """
        allow perform provide given existing current certain particular retrieve get fetch obtain return give show
        display make create list information details data value
        """
    )
}

_EFFECT = phrases(
    """
    permanent* | irrevers* | irrecover* | irrevoc* | undo* | undone | for good | trash* | recycle* | recover* |
    restor* | lost | loses | lose | overwrit* | caution* | careful* | danger* | destructive* | approv* |
    consent* | confirm | confirms | confirmed | confirmation by | confirmation from | confirmation is |
    confirmation of the | asks the user | asks a person | asks the operator | ask the user | cost | costs |
    charge | charges | charged | billed | money | payment | visible | public | publicly | everyone | anyone |
    recipient* | notif* | e-mail* | email* | external* | outside | outage | downtime | interrupt* | unavailable
    | unsaved | cannot be | can't be | no longer | gone | leaves the | leave the | immediate* | only if | only
    when | only after | fails if | fails when | fails unless | also removes | also deletes | with all
    """
)


@rule(
    "G37", "suspicion", "A strong verb says what its effect is, and who has to agree",
    change="say what is lost or who gets it, whether it can be taken back, and what approval it needs",
    good=tools(tool("send_mail", "Sends a mail to customers: it leaves the company and cannot be called back. "
                    "Needs the approval of a person.", {"key": _KEY}, ["key"])),
    bad=tools(tool("send_mail", "Sends a mail with the given subject.", {"key": _KEY}, ["key"])),
    at=["/tools/0/description"],
)  # fmt: skip
def names_its_effect(view: View) -> Iterator[Found]:
    """Between reading and sending lies a decision of a person; a text that hides the effect takes it away."""
    for one in view.in_english:
        declared = one.tool.destroys or one.tool.effect.get("external", False)
        strong = (one.verb in STRONG or _posts(one)) and one.tool.reads is not True
        if (strong or declared) and not _asks_back(one) and _EFFECT.search(one.tool.description[:6_000]) is None:
            what = "it declares a strong effect" if declared else f"{quoted(one.verb or '')} is a strong verb"
            message = f"{what}, and the description says nothing of its effect or an approval"
            yield found_in(one.tool, one.tool.text_path, message)


def _posts(one: ToolView) -> bool:
    """Whether it puts words before other people."""
    words_of_people = {"message", "comment", "reply", "thread"}
    return one.verb in ("post", "reply", "comment") and bool(words_of_people & set(one.tokens))


def _asks_back(one: ToolView) -> bool:
    return any(word.startswith("confirm") for each in one.input.arguments for word in tokens(each.name))


_TRIES = frozenset({"draft", "prepare", "compose", "preview", "plan", "simulate"})
_DOES = word_set("send publish submit apply post deploy execute release")
_DENIES = phrases(
    """
    not | nothing | never | no | without | nobody | isn't | doesn't | only shows | only plans | only writes
    """
)


@rule(
    "G37b", "suspicion", "A draft says that nothing is sent",
    change="say in the draft's text that nothing is sent, and by which tool it would be",
    good=tools(
        tool("draft_mail", "Writes a mail as a draft. Nothing is sent: send_mail does that."),
        tool("send_mail", "Sends a draft to its recipients, outside too; needs approval. Make it with draft_mail."),
    ),
    bad=tools(
        tool("draft_mail", "Writes a mail to a customer."),
        tool("send_mail", "Sends a draft to its recipients, outside too; needs approval."),
    ),
    at=["/tools/0/description"],
)  # fmt: skip
def drafts(view: View) -> Iterator[Found]:
    """Of two tools that differ only in whether anything happens, the harmless one must say that nothing does."""
    does = defaultdict(list)
    for one in view.in_english:
        if one.tokens and one.tokens[0] in _DOES:
            does[tuple(map(singular, one.tokens[1:]))].append(one)
    for one in view.in_english:
        others = does.get(tuple(map(singular, one.tokens[1:]))) if one.tokens and one.tokens[0] in _TRIES else None
        if others and _DENIES.search(one.tool.description[:6_000]) is None:
            message = f"the text does not say that nothing happens yet, unlike with {quoted(others[0].tool.name)}"
            yield found_in(one.tool, one.tool.text_path, message)


RULES = (
    in_every_language, explains_arguments, in_english, says_something, short_enough, says_when, told_apart,
    more_than_its_name, no_paraphrase, names_its_effect, drafts,
)  # fmt: skip
"""The rules of this page, in the order of the seed."""
