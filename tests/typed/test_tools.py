from __future__ import annotations

import asyncio
import functools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

import pytest
from pydantic import Field

import yazcore
from tests.testing.projects import CONTRACT, package, pyproject
from yazcore.check import check_target
from yazcore.contributions import Page, Tool
from yazcore.manifest.discovery import builtin
from yazcore.manifest.reading import read_found
from yazcore.testing import plugin_host
from yazcore.typed.schemas import NotATool
from yazcore.typed.tools import tool
from yazcore.violations import YazError

if TYPE_CHECKING:
    from yazcore import CallContext

Short = Annotated[str, Field(max_length=5)]


class Found(TypedDict):
    words: list[str]


def refused(function: Any, **options: Any) -> NotATool:
    with pytest.raises(NotATool) as caught:
        tool(function, **options)
    return caught.value


# -- the tool ---------------------------------------------------------------------------------------------------------


def test_a_function_becomes_a_plain_tool() -> None:
    @tool
    def search_words(
        context: CallContext,
        query: Annotated[str, Field(max_length=9, description="What to look for.")],
        project_id: Short,
        mode: Literal["all", "any"] = "all",
        limit: Annotated[int, Field(ge=1, le=50, description="How many.")] = 20,
        cursor: Short | None = None,
    ) -> Found:
        return {"words": [query, project_id, mode, str(limit), str(cursor)]}

    assert type(search_words) is Tool
    assert search_words.name == "search-words"
    assert search_words.input_schema == {
        "type": "object",
        "properties": {
            "query": {"type": "string", "maxLength": 9, "description": "What to look for."},
            "projectId": {"type": "string", "maxLength": 5},
            "mode": {"type": "string", "enum": ["all", "any"], "default": "all"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 20, "description": "How many."},
            "cursor": {"anyOf": [{"type": "string", "maxLength": 5}, {"type": "null"}], "default": None},
        },
        "required": ["query", "projectId"],
        "additionalProperties": False,
    }
    assert list(search_words.input_schema["properties"]["limit"])[-2:] == ["default", "description"]
    assert search_words.output_schema == {
        "type": "object", "properties": {"words": {"type": "array", "items": {"type": "string"}}},
        "required": ["words"], "additionalProperties": False,
    }  # fmt: skip
    assert search_words.read_only_hint is None
    assert search_words.handler(None, {"query": "a", "projectId": "b"}) == {"words": ["a", "b", "all", "20", "None"]}
    assert search_words.handler(None, {"query": "a", "projectId": "b", "cursor": "c"})["words"][-1] == "c"


def test_name_and_hint_may_be_given() -> None:
    @tool(name="look-up", read_only_hint=True)
    def search() -> None: ...

    assert (search.name, search.read_only_hint) == ("look-up", True)


def test_a_function_without_arguments_takes_a_closed_empty_object_and_no_context() -> None:
    made = tool(lambda: {"ok": True}, name="ok")
    assert made.input_schema == {"type": "object", "properties": {}, "additionalProperties": False}
    assert made.output_schema is None
    assert made.handler("context", {}) == {"ok": True}


def test_the_context_may_stand_anywhere_and_is_no_argument() -> None:
    @tool
    def go(fast: bool, *, context: Any) -> Any:
        return fast, context

    assert list((go.input_schema or {})["properties"]) == ["fast"]
    assert go.handler("context", {"fast": True}) == (True, "context")


def test_arguments_come_as_they_are() -> None:
    @tool
    def go(words: Annotated[list[Short], Field(max_length=3)], share: Annotated[float, Field(ge=0, le=1)]) -> Any:
        return words, share

    words = ["a"]
    given, share = go.handler(None, {"words": words, "share": 1})
    assert given is words
    assert type(share) is int


def test_an_async_function_gives_an_async_handler() -> None:
    @tool
    async def go(context: Any, fast: bool) -> Found:
        return {"words": [str(fast), context]}

    assert asyncio.iscoroutinefunction(go.handler)
    assert asyncio.run(go.handler("here", {"fast": True})) == {"words": ["True", "here"]}
    assert go.output_schema is not None


def test_a_handler_is_called_what_its_function_is() -> None:
    @tool
    def go(fast: bool) -> None:
        """Go."""

    assert (go.handler.__name__, go.handler.__doc__) == ("go", "Go.")


# -- methods ----------------------------------------------------------------------------------------------------------


class Plugin:
    def __init__(self, name: str) -> None:
        self.name = name

    @tool(name="hello")
    def greet(self, context: Any, loud: bool = False) -> Any:
        return self.name, context, loud

    @tool
    async def wait(self, long: bool) -> Any:
        return self.name, long

    @staticmethod
    @tool
    def count(words: Annotated[list[Short], Field(max_length=3)]) -> Any:
        return len(words)

    def plain(self, context: Any, loud: bool) -> Any:
        return self.name, context, loud


def test_a_method_is_a_tool_of_each_instance() -> None:
    one, two = Plugin("one"), Plugin("two")
    assert type(one.greet) is Tool
    assert (one.greet.name, one.greet.input_schema) == (two.greet.name, two.greet.input_schema)
    assert one.greet.handler("c", {}) == ("one", "c", False)
    assert two.greet.handler("c", {"loud": True}) == ("two", "c", True)
    assert asyncio.run(one.wait.handler("c", {"long": True})) == ("one", True)


def test_a_static_method_and_a_bound_method_are_tools() -> None:
    assert Plugin("one").count.handler(None, {"words": ["a", "b"]}) == 2
    assert tool(Plugin("one").plain).handler("c", {"loud": True}) == ("one", "c", True)


def test_a_subclass_inherits_a_tool_and_may_replace_it() -> None:
    class Louder(Plugin):
        @tool(name="hello")
        def greet(self, context: Any) -> Any:
            return self.name.upper()

    assert Louder("one").greet.handler("c", {}) == "ONE"
    assert asyncio.run(Louder("one").wait.handler("c", {"long": True})) == ("one", True)


# -- what is refused --------------------------------------------------------------------------------------------------


def untyped(words) -> None: ...  # type: ignore[no-untyped-def]


def starred(*words: Short) -> None: ...


def double_starred(**words: Short) -> None: ...


def positional(words: Short, /) -> None: ...


def underscored(_words: Short) -> None: ...


def twice(two_words: Short, twoWords: Short) -> None: ...  # noqa: N803


def generating() -> Any:
    yield


async def streaming() -> Any:
    yield


def Shouting() -> None: ...  # noqa: N802


def unbounded(words: str) -> None: ...


def for_checkers(words: CallContext) -> None: ...


def for_checkers_too() -> CallContext: ...  # type: ignore[empty-body]


def undefined(words: list[Nowhere]) -> None: ...  # type: ignore[name-defined]  # noqa: F821


def exploding(words: 1 / 0) -> None: ...  # type: ignore[valid-type]


def implicit(words: Short = None) -> None: ...  # type: ignore[assignment]


def too_long(words: Short = "too long") -> None: ...


def no_data(words: Annotated[list[Short], Field(max_length=3)] = ()) -> None: ...  # type: ignore[assignment]


def not_a_number(share: Annotated[float, Field(ge=0, le=1)] = float("nan")) -> None: ...


def runaway(words: Annotated[str, Field(max_length=5, pattern="(a+)+b")]) -> None: ...


@pytest.mark.parametrize(
    ("function", "code", "message"),
    [
        (untyped, "typed-parameter", 'untyped: "words" has no type'),
        (starred, "typed-parameter", 'starred: "words" would take anything'),
        (double_starred, "typed-parameter", 'double-starred: "words" would take anything'),
        (positional, "typed-parameter", 'positional: "words" can only be given by its position'),
        (underscored, "typed-parameter", 'underscored: "_words" begins with an underscore'),
        (twice, "typed-parameter", 'twice: "twoWords" and "two_words" are both "twoWords" on the wire'),
        (generating, "typed-function", "generating is a generator"),
        (streaming, "typed-function", "streaming is a generator"),
        (len, "typed-function", '"<built-in function len>" is no function'),
        (Plugin, "typed-function", '"Plugin" is no function'),
        (3, "typed-function", '"3" is no function'),
        (Shouting, "typed-name", '"Shouting" is no name of a tool'),
        (unbounded, "typed-unbounded", 'unbounded: "words" is a text of any length'),
        (
            for_checkers,
            "typed-unresolved",
            "for-checkers: the type of \"words\" cannot be looked up: name 'CallContext' is not defined",
        ),
        (
            for_checkers_too,
            "typed-unresolved",
            "for-checkers-too: the type of the result cannot be looked up: name 'CallContext' is not defined",
        ),
        (
            undefined,
            "typed-unresolved",
            "undefined: the type of \"words\" cannot be looked up: name 'Nowhere' is not defined",
        ),
        (
            exploding,
            "typed-unresolved",
            'exploding: the type of "words" cannot be looked up: division by zero',
        ),
        (
            implicit,
            "typed-default",
            'implicit: the default of "words" does not fit: the value must be a string, not null',
        ),
        (
            too_long,
            "typed-default",
            'too-long: the default of "words" does not fit: the value must have at most 5 characters, not 8',
        ),
        (no_data, "typed-default", 'no-data: the default of "words" does not fit: it is no plain data'),
        (not_a_number, "typed-default", 'not-a-number: the default of "share" does not fit: it is no plain data'),
        (
            runaway,
            "schema-pattern",
            (
                'runaway: the schema of the arguments cannot be used: the pattern "(a+)+b" cannot be used: inside a '
                "repeat, one character can be matched in two ways: make the parts begin differently "
                "at /properties/words/pattern"
            ),
        ),
    ],
)
def test_what_makes_no_tool_is_refused_with_a_code_and_a_fix(function: Any, code: str, message: str) -> None:
    problem = refused(function)
    assert isinstance(problem, YazError)
    assert (problem.code, problem.message) == (code, message)
    assert problem.fix


@pytest.mark.parametrize("name", ["", "No", "a--b", "a b", "-a", "x" * 49])
def test_a_name_that_no_tool_may_have_is_refused(name: str) -> None:
    assert refused(lambda: None, name=name).code == "typed-name"


def test_a_partial_is_no_function() -> None:
    assert refused(functools.partial(unbounded, words="a")).code == "typed-function"


def test_an_author_reads_code_and_fix_where_the_plugin_is_checked(tmp_path: Path) -> None:
    code = "from yazcore import tool\n\nclass Plugin:\n    @tool\n    def go(self, words: str): ...\n"
    (violation,) = check_target(package(tmp_path, code=code), CONTRACT).violations
    assert violation.message == (
        'demo 1.0: import or constructor raised NotATool: [typed-unbounded] go: "words" is a text of any length. '
        "give a bound, as in Annotated[str, Field(max_length=200)], or a Literal"
    )


# -- equal to a plain tool --------------------------------------------------------------------------------------------

SCHEMAS: dict[str, Any] = {
    "inputSchema": {
        "type": "object",
        "properties": {
            "text": {"type": "string", "maxLength": 5, "description": "A text."},
            "times": {"type": "integer", "minimum": 1, "maximum": 3, "default": 2},
        },
        "required": ["text"],
        "additionalProperties": False,
    },
    "outputSchema": {
        "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"],
        "additionalProperties": False,
    },
}  # fmt: skip

HEAD = """
from typing import Annotated, Any, TypedDict
from pydantic import Field
from yazcore import Tool, ToolError, hookimpl, tool

class Said(TypedDict):
    text: str

def said(text, times):
    if text == "error":
        raise ToolError("not that")
    if text == "crash":
        raise ValueError("secret")
    return {"text": text * times} if text != "wrong" else {"text": times}

class Plugin:
    def __init__(self, context):
        self.context = context

    @hookimpl
    def provide_tools(self):
        return [self.say, self.say_later]
"""
TYPED = f"""{HEAD}
    @tool(read_only_hint=True)
    def say(self, text: Annotated[str, Field(max_length=5, description="A text.")],
            times: Annotated[int, Field(ge=1, le=3)] = 2) -> Said:
        return said(text, times)

    @tool
    async def say_later(self, context: Any, text: Annotated[str, Field(max_length=5, description="A text.")],
                        times: Annotated[int, Field(ge=1, le=3)] = 2) -> Said:
        context.progress(1, 1, "soon")
        return said(text, times)
"""
PLAIN = f"""{HEAD}
    @property
    def say(self):
        return Tool("say", lambda context, given: said(given["text"], given.get("times", 2)), *SCHEMAS, True)

    @property
    def say_later(self):
        async def later(context, given):
            context.progress(1, 1, "soon")
            return said(given["text"], given.get("times", 2))
        return Tool("say-later", later, *SCHEMAS)

SCHEMAS = {[SCHEMAS["inputSchema"], SCHEMAS["outputSchema"]]!r}
"""
DECLARED = [
    {"name": name, "descriptionKey": "text", "posture": "read", "scope": "global", "permission": "demo:read", **SCHEMAS}
    for name in ("say", "say-later")
]
CALLS: list[dict[str, Any]] = [
    {"text": "a"}, {"text": "a", "times": 3}, {"text": "a", "times": 9}, {"text": "too long"}, {"text": 3}, {},
    {"text": "a", "more": 1}, {"text": "error"}, {"text": "crash"}, {"text": "wrong"},
]  # fmt: skip


def effects(folder: Path, code: str) -> list[Any]:
    """All that anybody can see of a plugin with this code: its report, what is published, what calls answer."""
    package(folder, code=code, provides={"tools": DECLARED})
    project = pyproject(folder)
    report = check_target(project, CONTRACT)
    with plugin_host(project, contract=CONTRACT) as demo:
        published = demo.host.catalogue.now.tools
        seen: list[Any] = [report, demo.state, published["demo__say"], published["demo__say-later"]]
        for name in ("say", "say-later"):
            for arguments in CALLS:
                outcome = demo.call(name, arguments)
                # what differs by nature: the reference of a crash
                text = outcome.text.partition("yaz log ")[0]
                seen.append((name, arguments, outcome.is_error, text, outcome.structured, outcome.links))
    return seen


def test_a_typed_tool_and_a_plain_one_with_the_same_schemas_are_equal_in_every_effect(tmp_path: Path) -> None:
    typed, plain = effects(tmp_path / "typed", TYPED), effects(tmp_path / "plain", PLAIN)
    assert typed == plain
    assert (typed[0].violations, typed[0].differences, typed[1]) == ((), (), "active")
    answers = [(is_error, structured) for _, _, is_error, _, structured, _ in typed[4:]]
    assert answers[:3] == [(False, {"text": "aa"}), (False, {"text": "aaa"}), (True, None)]
    assert [is_error for is_error, _ in answers[2:10]] == [True] * 8


def test_the_registrations_themselves_are_equal_but_for_the_handler(tmp_path: Path) -> None:
    def registered(code: str) -> list[Any]:
        scope: dict[str, Any] = {"__name__": "demo"}
        exec(code, scope)
        tools: list[Tool] = scope["Plugin"](None).provide_tools()
        return [(type(one), one.name, one.input_schema, one.output_schema, one.read_only_hint) for one in tools]

    assert registered(TYPED) == registered(PLAIN)


@pytest.mark.parametrize(
    ("change", "field"), [("max_length=5", "inputSchema"), ("-> Said", "outputSchema"), ("=True", "readOnlyHint")]
)
def test_a_typed_tool_that_says_something_else_than_the_manifest_is_a_difference(
    tmp_path: Path, change: str, field: str
) -> None:
    other = {"max_length=5": "max_length=6", "-> Said": "-> Other", "=True": "=False"}[change]
    code = TYPED.replace(change, other, 1).replace("class Said", "class Other(TypedDict):\n    a: int\n\nclass Said")
    report = check_target(package(tmp_path, code=code, provides={"tools": DECLARED}), CONTRACT)
    assert [difference.message for difference in report.differences] == [
        f"'say' was registered with another {field} than the manifest declares"
    ]


def test_what_a_typed_tool_publishes_is_a_schema_that_a_manifest_may_have(tmp_path: Path) -> None:
    where = package(tmp_path, code=TYPED, provides={"tools": DECLARED})
    assert read_found(builtin(where), CONTRACT).violations == ()


def test_a_page_is_a_result_like_any_other() -> None:
    @tool
    def go() -> Page:
        return Page(items=[1])

    assert (go.output_schema, go.handler(None, {})) == (None, Page(items=[1]))


# -- what it costs ----------------------------------------------------------------------------------------------------


def loaded(code: str, *names: str) -> list[str]:
    """Which of these packages a fresh interpreter has loaded after some code."""
    asked = f"{code}\nimport sys\nprint(*(name for name in {names!r} if name in sys.modules))"
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(yazcore.__file__).parent.parent)}
    done = subprocess.run([sys.executable, "-c", asked], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("from yazcore import Tool; Tool('a', print, {'type': 'object'})", []),
        ("from yazcore import tool", []),
        ("from yazcore import tool\n@tool\ndef go(fast: bool): ...", ["pydantic"]),
    ],
)
def test_pydantic_is_loaded_when_a_first_tool_is_derived_and_never_for_a_plain_one(
    code: str, expected: list[str]
) -> None:
    assert loaded(code, "pydantic", "mcp") == expected


def test_type_checkers_are_told_that_a_decorated_method_is_a_tool() -> None:
    derive: Callable[..., Tool] = tool
    made: Tool = derive(lambda: None, name="go")
    assert made.name == "go"
