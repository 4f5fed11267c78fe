"""What a handler may say beside text and data: pictures, sound, documents, messages, and questions to its caller.

Values alone. Their bytes count against the size that a result may have, as they stand on the wire (design 7, G29).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import attrs


@attrs.frozen
class Image:
    """A picture, with its media type (`image/png`)."""

    data: bytes
    mime_type: str


@attrs.frozen
class Audio:
    """A piece of sound, with its media type (`audio/wav`)."""

    data: bytes
    mime_type: str


@attrs.frozen
class Embedded:
    """A resource with its contents, text or bytes, inside the result."""

    uri: str
    data: str | bytes
    mime_type: str | None = None


Part = Image | Audio | Embedded
"""What a result may hold beside its text."""


@attrs.frozen
class Message:
    """One message of a prompt: what is said, and by whom."""

    content: str | Part
    role: Literal["user", "assistant"] = "user"


@attrs.frozen
class Form:
    """A question to the person at the client: a few words, and the fields to fill in, as a JSON Schema of an object."""

    message: str
    schema: Mapping[str, Any]


@attrs.frozen
class Sample:
    """A question to the client's own model; at most `max_tokens` of an answer."""

    text: str
    max_tokens: int = 500


@attrs.frozen
class Roots:
    """A question to the client: which folders does it work in?"""


Question = Form | Sample | Roots


@attrs.frozen
class Ask:
    """Returned in place of a result: the call cannot go on before the client has answered these questions.

    The same call then comes again: `context.client.answers` holds the answers by the same names, as the client sent
    them, and `context.client.state` is `state` as it was given here. Nothing is kept in between. For tools and prompts
    of the host itself; no manifest promises that a plugin asks, so a plugin's `Ask` is refused.
    """

    questions: Mapping[str, Question]
    state: str = ""


NEEDED: Mapping[type[Question], str] = {Form: "elicitation", Sample: "sampling", Roots: "roots"}
"""What a client must be able to do, for each kind of question."""


def needs(questions: Sequence[Question]) -> frozenset[str]:
    """What a client must be able to do to answer all of these."""
    return frozenset(NEEDED[type(question)] for question in questions)
