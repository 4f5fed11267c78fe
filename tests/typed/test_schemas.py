"""The schemas of types. No `from __future__ import annotations`: what a type is should stand here as it is."""

import collections.abc
import dataclasses
import datetime
import enum
import sys
import typing
from typing import Annotated, Any, Literal, NewType, NotRequired, Optional, Required, TypedDict, Union

import annotated_types
import pytest
import typing_extensions
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field, StringConstraints

from yazcore.manifest.schemas import argument_errors, schema_faults, validator
from yazcore.typed.schemas import Hints, NotATool, closed, usable
from yazcore.violations import sentence

Short = Annotated[str, Field(max_length=5)]


def schema(hint: Any) -> dict[str, Any]:
    """The schema of an argument of this type."""
    return Hints("demo", bounded=True).schema(hint, ("it",))


def refused(hint: Any) -> NotATool:
    with pytest.raises(NotATool) as caught:
        schema(hint)
    return caught.value


# -- what can be said -------------------------------------------------------------------------------------------------


class Point(TypedDict):
    x: Annotated[int, Field(ge=0, le=9)]
    label: NotRequired[Annotated[Short, Field(description="What it is called.")]]


class Partial(typing_extensions.TypedDict, total=False):
    a: Required[bool]
    b: typing_extensions.ReadOnly[bool]
    c: Annotated[NotRequired[bool], Field(description="The third.")]


class More(Partial):
    d: bool


Name = NewType("Name", Short)
Words = typing_extensions.TypeAliasType("Words", Annotated[list[Short], Field(max_length=3)])


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (Short, {"type": "string", "maxLength": 5}),
        (
            Annotated[str, Field(min_length=1, max_length=5, pattern="^[a-z]+$", description="A word.", title="Word")],
            {"type": "string", "minLength": 1, "maxLength": 5, "pattern": "^[a-z]+$", "title": "Word",
             "description": "A word."},
        ),
        (Annotated[str, annotated_types.Len(1, 5)], {"type": "string", "minLength": 1, "maxLength": 5}),
        (Annotated[str, StringConstraints(max_length=5)], {"type": "string", "maxLength": 5}),
        (Annotated[int, Field(ge=1, le=50)], {"type": "integer", "minimum": 1, "maximum": 50}),
        (
            Annotated[float, annotated_types.Interval(gt=0, lt=1)],
            {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        ),
        (
            Annotated[int, Field(ge=0, le=10, multiple_of=5, examples=[5])],
            {"type": "integer", "minimum": 0, "maximum": 10, "multipleOf": 5, "examples": [5]},
        ),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal["a"], {"type": "string", "const": "a"}),
        (Literal["a", 1, None, True], {"enum": ["a", 1, None, True]}),
        (
            Annotated[list[Short], Field(min_length=1, max_length=3, description="Words.")],
            {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "string", "maxLength": 5},
             "description": "Words."},
        ),
        (Short | None, {"anyOf": [{"type": "string", "maxLength": 5}, {"type": "null"}]}),
        (Optional[bool], {"anyOf": [{"type": "boolean"}, {"type": "null"}]}),  # noqa: UP045 - both ways are written
        (
            Annotated[Union[bool, Literal["auto"]], Field(description="Whether.")],  # noqa: UP007
            {"anyOf": [{"type": "boolean"}, {"type": "string", "const": "auto"}], "description": "Whether."},
        ),
        (Name, {"type": "string", "maxLength": 5}),
        (
            Annotated[Words, Field(description="Some.")],
            {"type": "array", "maxItems": 3, "items": {"type": "string", "maxLength": 5}, "description": "Some."},
        ),
        (
            Annotated[Point, Field(description="A place.")],
            {"type": "object",
             "properties": {
                 "x": {"type": "integer", "minimum": 0, "maximum": 9},
                 "label": {"type": "string", "maxLength": 5, "description": "What it is called."},
             },
             "required": ["x"], "additionalProperties": False, "description": "A place."},
        ),
        (
            More,
            {"type": "object",
             "properties": {"a": {"type": "boolean"}, "b": {"type": "boolean"},
                            "c": {"type": "boolean", "description": "The third."}, "d": {"type": "boolean"}},
             "required": ["a", "d"], "additionalProperties": False},
        ),
    ],
)  # fmt: skip
def test_a_type_of_plain_data_has_a_schema(hint: Any, expected: dict[str, Any]) -> None:
    found = schema(hint)
    assert found == expected
    assert list(found) == list(expected)
    assert schema_faults(found) == ()


class Late(TypedDict):
    """Its annotations are texts, as under `from __future__ import annotations`."""

    a: "bool"
    b: "NotRequired[Short]"


def test_a_typed_dict_whose_annotations_are_texts_knows_what_is_required() -> None:
    assert schema(Late)["required"] == ["a"]


def test_the_same_type_may_stand_beside_itself() -> None:
    class Pair(TypedDict):
        left: Point
        right: Point

    properties = schema(Pair)["properties"]
    assert properties["left"] == properties["right"] == schema(Point)


def test_what_bounds_the_entries_does_not_bound_the_list() -> None:
    assert refused(list[Short]).code == "typed-unbounded"
    assert refused(Annotated[list[str], Field(max_length=3)]).message == 'demo: "it[]" is a text of any length'


# -- what cannot ------------------------------------------------------------------------------------------------------


class Color(enum.Enum):
    RED = "red"


class Model(BaseModel):
    a: bool


@dataclasses.dataclass
class Data:
    a: bool


class Tree(TypedDict):
    children: "Annotated[list[Tree], Field(max_length=3)]"


Chain = typing_extensions.TypeAliasType("Chain", "Annotated[list[Chain], Field(max_length=3)] | None")


class Lost(TypedDict):
    a: "Nowhere"  # type: ignore[name-defined]  # noqa: F821


class Open(typing_extensions.TypedDict, extra_items=bool):  # type: ignore[call-arg]
    a: bool


class Box(typing_extensions.TypedDict, typing.Generic[typing.TypeVar("T")]):  # type: ignore[misc]
    a: bool


@pytest.mark.parametrize(
    ("hint", "code"),
    [
        (str, "typed-unbounded"),
        (list[bool], "typed-unbounded"),
        (int, "typed-unbounded"),
        (float, "typed-unbounded"),
        (Annotated[int, Field(ge=1)], "typed-unbounded"),
        (Annotated[int, Field(lt=1)], "typed-unbounded"),
        (Annotated[float, Field(ge=0, le=float("inf"))], "typed-unbounded"),
        (Annotated[str, Field(pattern="^a$")], "typed-unbounded"),
        (Short | int, "typed-unbounded"),
        (Any, "typed-open"),
        (object, "typed-open"),
        (dict, "typed-open"),
        (dict[str, bool], "typed-open"),
        (typing.Mapping[str, bool], "typed-open"),
        (collections.abc.Mapping[str, bool], "typed-open"),
        (list, "typed-open"),
        (Annotated[typing.List, Field(max_length=3)], "typed-open"),  # noqa: UP006 - the old name is what an author may have written
        (Annotated[list[Any], Field(max_length=3)], "typed-open"),
        (Open, "typed-open"),
        (tuple[bool, ...], "typed-type"),
        (set[bool], "typed-type"),
        (collections.abc.Sequence[bool], "typed-type"),
        (bytes, "typed-type"),
        (datetime.date, "typed-type"),
        (Color, "typed-type"),
        (Model, "typed-type"),
        (Data, "typed-type"),
        (collections.abc.Callable[[], None], "typed-type"),
        (typing.TypeVar("T"), "typed-type"),
        (type, "typed-type"),
        (3, "typed-type"),
        (Box[bool], "typed-type"),
        (Literal[Color.RED], "typed-type"),
        (Literal[b"a"], "typed-type"),
        (Tree, "typed-recursive"),
        (Chain, "typed-unresolved"),
        (Lost, "typed-unresolved"),
        (Annotated[str, AfterValidator(str.strip)], "typed-constraint"),
        (Annotated[str, StringConstraints(strip_whitespace=True, max_length=5)], "typed-constraint"),
        (Annotated[str, annotated_types.Predicate(str.islower)], "typed-constraint"),
        (Annotated[str, "A word."], "typed-constraint"),
        (Annotated[str, Field(max_length=5, alias="word")], "typed-constraint"),
        (Annotated[str, Field(max_length=5, default="word")], "typed-constraint"),
        (Annotated[str, Field(max_length=5, strict=True)], "typed-constraint"),
        (Annotated[str, Field(max_length=5, json_schema_extra={"format": "email"})], "typed-constraint"),
        (Annotated[str, Field(max_length=-1)], "typed-constraint"),
        (Annotated[str, Field(max_length=5, pattern="(")], "typed-constraint"),
        (Annotated[str, Field(max_length=5, examples=[object()])], "typed-constraint"),
        (Annotated[str, Field(ge=3)], "typed-constraint"),
        (Annotated[int, Field(max_length=3)], "typed-constraint"),
        (Annotated[str | None, Field(max_length=5)], "typed-constraint"),
        (Annotated[Point, Field(max_length=5)], "typed-constraint"),
        (Annotated[Literal["a"], Field(max_length=5)], "typed-constraint"),
    ],
)
def test_what_no_closed_and_bounded_schema_can_say_is_refused(hint: Any, code: str) -> None:
    problem = refused(hint)
    assert problem.code == code
    assert problem.message.startswith("demo: ")
    assert '"it' in problem.message
    assert problem.fix


@pytest.mark.skipif(sys.version_info < (3, 12), reason="only the type statement makes such an alias")
def test_an_alias_that_contains_itself_is_refused() -> None:
    scope: dict[str, Any] = {"Annotated": Annotated, "Field": Field}
    exec("type Loop = Annotated[list[Loop], Field(max_length=3)]", scope)
    assert refused(scope["Loop"]).code == "typed-recursive"


def test_an_alias_whose_value_names_what_is_not_there_is_refused() -> None:
    assert refused(Chain).message == (
        'demo: the type of "it" cannot be looked up: "Annotated[list[Chain], Field(max_length=3)] | None" is a text'
    )


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        (
            str,
            (
                '[typed-unbounded] demo: "it" is a text of any length. '
                "give a bound, as in Annotated[str, Field(max_length=200)], or a Literal"
            ),
        ),
        (
            list[bool],
            (
                '[typed-unbounded] demo: "it" is a list of any length. '
                "give a bound, as in Annotated[list[...], Field(max_length=20)]"
            ),
        ),
        (
            float,
            (
                '[typed-unbounded] demo: "it" is a number without a smallest and a largest value. '
                "give both bounds, as in Annotated[int, Field(ge=1, le=50)]"
            ),
        ),
        (
            dict[str, int],
            (
                '[typed-open] demo: "it" may hold anything, as "dict[str, int]" says. '
                "say what is in it: a TypedDict for an object, list[...] for a list"
            ),
        ),
        (
            datetime.date,
            (
                '[typed-type] demo: "it" is "date", which no plain data is. use str, int, float, bool, None, Literal, '
                "list, TypedDict and unions of them: nothing is converted"
            ),
        ),
        (
            Tree,
            (
                '[typed-recursive] demo: "it.children[]" contains its own type, "Tree". '
                "write a type for each level, or take a flat list whose entries name each other"
            ),
        ),
    ],
)
def test_a_refusal_is_a_sentence_with_the_fix(hint: Any, said: str) -> None:
    problem = refused(hint)
    assert str(problem) == sentence(problem) == said


# -- results ----------------------------------------------------------------------------------------------------------


def promise(hint: Any) -> dict[str, Any] | None:
    return Hints("demo", bounded=False).promise(hint)


class Found(TypedDict):
    lines: list[str]
    total: int


FoundAlias = typing_extensions.TypeAliasType("FoundAlias", Found)


@pytest.mark.parametrize("hint", [Found, FoundAlias, Annotated[FoundAlias, Field(description="What was found.")]])
def test_a_result_needs_no_bounds(hint: Any) -> None:
    found = promise(hint)
    assert found is not None
    found.pop("description", None)
    assert found == closed(
        {"lines": {"type": "array", "items": {"type": "string"}}, "total": {"type": "integer"}}, ["lines", "total"]
    )


@pytest.mark.parametrize("hint", [None, Any, str, dict, dict[str, int], list[Found], Found | None, Model])
def test_what_is_no_typed_dict_promises_nothing(hint: Any) -> None:
    assert promise(hint) is None


def test_a_promise_that_cannot_be_said_is_refused_with_its_place() -> None:
    class Wrong(TypedDict):
        days: list[datetime.date]

    with pytest.raises(NotATool, match='demo: "days\\[\\]" of the result is "date", which no plain data is'):
        promise(Wrong)
    with pytest.raises(NotATool, match="demo: the type of the result cannot be looked up: name 'Nowhere'"):
        promise(Lost)


# -- the schema and the type agree ------------------------------------------------------------------------------------

LEAVES = st.one_of(
    st.just((bool, st.booleans())),
    st.just((None, st.none())),
    st.integers(0, 5).map(lambda most: (Annotated[str, Field(max_length=most)], st.text(max_size=most))),
    st.integers(0, 5).map(lambda most: (Annotated[int, Field(ge=-most, le=most)], st.integers(-most, most))),
    st.just((Literal["a", "b"], st.sampled_from(["a", "b"]))),
)


def lists(inner: tuple[Any, Any]) -> tuple[Any, Any]:
    hint, values = inner
    return Annotated[list[hint], Field(max_length=2)], st.lists(values, max_size=2)  # type: ignore[valid-type]


def dicts(inner: tuple[Any, Any]) -> tuple[Any, Any]:
    hint, values = inner
    made = TypedDict("made", {"a": hint, "b": NotRequired[hint]})  # type: ignore[misc, valid-type]  # noqa: UP013
    return made, st.fixed_dictionaries({"a": values}, optional={"b": values})


def unions(inner: tuple[Any, Any]) -> tuple[Any, Any]:
    hint, values = inner
    return Union[hint, None], values | st.none()  # noqa: UP007


@settings(max_examples=50)
@given(
    st.recursive(LEAVES, lambda inner: inner.map(lists) | inner.map(dicts) | inner.map(unions), max_leaves=4), st.data()
)
def test_values_of_a_type_fit_its_schema(typed: tuple[Any, Any], data: st.DataObject) -> None:
    hint, values = typed
    asked = validator(usable("demo", "the arguments", closed({"it": schema(hint)}, ["it"])))
    assert argument_errors(asked, {"it": data.draw(values)}) == []
    assert argument_errors(asked, {"it": {"unknown": object}}) != []
    assert argument_errors(asked, {"it": data.draw(values), "more": 1}) != []
