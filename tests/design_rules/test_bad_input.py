"""Whatever a list or a schema holds: a finding or a clear error, in bounded time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.design_rules.long_texts import PIECES
from yazcore.design_rules.documents import MOST_BYTES, MOST_ENTRIES, parse, read
from yazcore.design_rules.engine import LONGEST_MESSAGE, MOST_OF_ONE_RULE, Outcome, chosen, judge
from yazcore.design_rules.examples import tool
from yazcore.design_rules.record import record_of
from yazcore.design_rules.rules import RULES
from yazcore.design_rules.schemas import MOST_SAID, SchemaView
from yazcore.design_rules.view import View
from yazcore.design_rules.waivers import read_waivers
from yazcore.judging import check_listing
from yazcore.violations import YazError

ROOT = Path(__file__).parents[2]


def outcome(document: Any, text: str | None = None) -> Outcome:
    return judge(View(read(document), record=record_of({})), chosen(RULES), text=text)


def rules(document: Any) -> set[str]:
    return {one.rule for one in outcome(document).findings}


def messages(document: Any, rule: str) -> list[str]:
    return [one.message for one in outcome(document).findings if one.rule == rule]


def with_schema(schema: Any) -> dict[str, Any]:
    return {"tools": [{"name": "search_tickets", "description": "Finds tickets; gives a page.", "inputSchema": schema}]}


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


# -- schemas ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reference",
    [
        "http://169.254.169.254/",
        "https://example.org/a.json",
        "file:///etc/passwd",
        "#/$defs/none",
        "#none",
        "other.json",
        "",
    ],
)
def test_a_reference_that_leads_nowhere_is_found_and_nothing_is_fetched(reference: str) -> None:
    assert messages(with_schema(closed(a={"$ref": reference})), "G25") != [] or reference == ""


def test_a_schema_that_refers_to_itself_is_walked_once() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "additionalProperties": False}
    schema = {**closed(first={"$ref": "#/$defs/node"}), "$defs": {"node": node, "a": {"$ref": "#/$defs/a"}}}
    assert messages(with_schema(schema), "G25") == []
    assert messages(with_schema({"$ref": "#"}), "G49") != []


def test_references_in_a_circle_of_unions_end() -> None:
    names = [f"n{number}" for number in range(30)]
    defs = {
        name: {"anyOf": [{"$ref": f"#/$defs/{after}"}, {"$ref": f"#/$defs/{after}"}]}
        for name, after in zip(names, [*names[1:], names[0]], strict=True)
    }
    said = messages(with_schema({**closed(a={"$ref": "#/$defs/n0"}), "$defs": defs}), "G25")
    assert said == ["the input schema is too large or too deep to be judged"]


@pytest.mark.parametrize("depth", [50, 300, 900])
def test_a_deep_schema_is_said_to_be_too_deep(depth: int) -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = closed(a=schema)
    assert messages(with_schema(schema), "G25") == ["the input schema is too large or too deep to be judged"]


def test_a_schema_of_ten_megabytes_is_said_to_be_too_large() -> None:
    schema = closed(**{f"p{number}": {"type": "string", "description": "x" * 80} for number in range(90_000)})
    assert messages(with_schema(schema), "G25") == ["the input schema is too large or too deep to be judged"]


def test_a_text_of_ten_megabytes_is_judged_by_its_beginning() -> None:
    document = {"tools": [tool("search_tickets", "Finds tickets. " * 700_000)]}
    assert "G27b" in rules(document)


@pytest.mark.parametrize(
    "schema", [None, [], "object", 3, True, {"type": 3}, {"properties": []}, {"required": "a", "properties": {"a": 3}}]
)
def test_a_schema_that_is_none_is_a_finding(schema: Any) -> None:
    assert "G25" in rules(with_schema(schema))


# -- lists ------------------------------------------------------------------------------------------------------------


def test_five_thousand_tools_are_judged_and_no_rule_says_more_than_a_person_reads() -> None:
    document = {"tools": [tool(f"get_thing_{number}", "Gets.") for number in range(5_000)]}
    found = outcome(document).findings
    by_rule = {rule: [one for one in found if one.rule == rule] for rule in {one.rule for one in found}}
    assert max(map(len, by_rule.values())) == MOST_OF_ONE_RULE + 1
    last = [one for one in by_rule["G27"] if one.subject == "surface"]
    assert [one.message for one in last] == ["this is so in more than 100 places, and no more of them are named"]


def test_more_entries_than_are_looked_at_are_refused() -> None:
    with pytest.raises(YazError, match=f"it has more than {MOST_ENTRIES} entries"):
        read({"tools": [{}] * (MOST_ENTRIES + 1)})


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it is not JSON"), (b"{", "it is not JSON"), (b"\xff\xfe", "it is not UTF-8"), (b"NaN", "it is not JSON"),
        (b"[" * 100_000, "it nests too deeply"), (b'{"a": 1}', "it holds none of tools"), (b"[]", "it holds none of"),
        (b"3", "it holds none of"), (b'{"tools": {}}', "it holds none of"),
    ],
)  # fmt: skip
def test_what_is_no_list_is_said(tmp_path: Path, data: bytes, why: str) -> None:
    file = tmp_path / "tools.json"
    file.write_bytes(data)
    with pytest.raises(YazError, match="this is no list of tools") as refused:
        check_listing(file, chosen(RULES))
    assert why in refused.value.message


def test_a_file_that_is_too_large_is_said() -> None:
    with pytest.raises(YazError, match="it is larger than"):
        parse(b" " * (MOST_BYTES + 1))


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(YazError, match=r"there is no file 'none\.json'"):
        check_listing(tmp_path / "none.json", chosen(RULES))


@pytest.mark.parametrize("entry", [3, None, "tool", [], {}, {"name": 3}, {"name": "a", "inputSchema": {}}])
def test_an_entry_that_is_no_tool_is_a_finding(entry: Any) -> None:
    assert "G25" in rules({"tools": [entry]})


def test_pages_and_answers_are_read_together() -> None:
    one, two = tool("read_ticket", "Reads."), tool("read_log", "Reads.")
    for document in (
        [{"tools": [one]}, {"tools": [two]}],
        [{"result": {"tools": [one]}}, {"result": {"tools": [two], "nextCursor": None}}],
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [one, two]}},
        [one, two],
    ):
        assert [found.name for found in read(document).tools] == ["read_ticket", "read_log"]


def test_pointers_lead_into_the_document_as_it_is() -> None:
    document = [{"result": {"tools": [tool("read_ticket", "")]}}]
    found = [one.pointer for one in outcome(document).findings if one.rule == "G25"]
    assert found == ["/0/result/tools/0/description"]


# -- texts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["查找工单", "Находит заявки по словам.", "🎫" * 50, "ﬁnds\u202etickets", "a\x00b"])
def test_texts_of_other_scripts_are_no_obstacle(text: str) -> None:
    assert "G25" not in rules({"tools": [tool("search_tickets", text)]})


def test_no_text_takes_a_rule_the_square_of_its_length() -> None:
    """In a process of its own, which a rule that hangs does not leave alive; else it is done in a few seconds."""
    command = [sys.executable, "-m", "tests.design_rules.long_texts"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=150)
    except subprocess.TimeoutExpired as hung:
        last = (hung.stdout or b"").splitlines()[-1:]
        pytest.fail(f"it does not end: {last}")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(PIECES) * len(RULES)


def test_of_a_description_in_a_schema_the_beginning_is_judged() -> None:
    long = "x" * MOST_SAID
    view = SchemaView(closed(a={"description": long + "y"}, b={"anyOf": [{"description": long}, {"description": "y"}]}))
    assert {one.said for one in view.parameters} == {long}
    assert max(len(one.said) for one in view.nodes) == MOST_SAID


def test_a_language_without_a_text_is_a_finding_and_a_region_has_its_languages_text() -> None:
    said = tool("read_ticket", "Reads a ticket.", texts={"de": "Liest einen Vorgang."})
    other = tool("read_log", "Reads a log.", texts={"de": "Liest ein Protokoll.", "de-AT": "Liest ein Protokoll."})
    assert messages({"tools": [said, other]}, "G25b") == []
    assert messages({"tools": [tool("read_ticket", "Reads."), other]}, "G25b") == ['there is no text in "de", "de-AT"']


def test_what_a_stranger_wrote_is_cut_and_escaped() -> None:
    name = "a\u202e\x1b[2J" * 500
    found = outcome({"tools": [tool(name, "Does it.", annotations={"readOnlyHint": True})]}).findings
    assert all(len(one.message) <= LONGEST_MESSAGE + 200 for one in found)
    assert all(one.message.isprintable() and one.subject.isprintable() and one.pointer.isprintable() for one in found)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    """
    name description inputSchema outputSchema annotations params texts effect permission type properties required anyOf
    items enum default minimum maximum pattern format $ref uri uriTemplate variables cache posture scope limit cursor
    additionalProperties action
    """.split()  # noqa: SIM905 - a list of so many words is not read as well
)
SHAPED = st.recursive(
    JSON | st.sampled_from(["object", "string", "array", "#/properties/a", "{a}", "yaz://x/{y}"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=20,
)


LISTS = st.sampled_from(["tools", "resources", "resourceTemplates", "prompts"])


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(LISTS, st.lists(SHAPED, max_size=4)))
def test_nothing_that_json_can_hold_raises(document: dict[str, Any]) -> None:
    text = json.dumps(document)
    try:
        surface = read(json.loads(text))
    except YazError:
        return
    found = judge(View(surface), chosen(RULES), text=text).findings
    assert all(json.dumps(one.as_json()) for one in found)
    assert all(one.line is not None for one in found if one.pointer)


# -- files of a reviewer ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"\xff", "it is not UTF-8"),
        (b"[[waiver", "it is not TOML: "),
        (b"a = " + b"[" * 5_000, "it n"),
        (b"waiver = 3", "waiver is no list"),
        (b"[[waiver]]\nrule = 3", '"rule" is missing, or is no text'),
        (b'[[waiver]]\nrule = "G0"\nsubject = "tools/a"\nreason = "It is a test."', '"G0" is no rule that finds'),
        (b'[[waiver]]\nrule = "G99"\nsubject = "tools/a"\nreason = "It is a test."', "did you mean"),
        (b'[[waiver]]\nrule = "G7"\nsubject = "tools/a"\nreason = "It is a test."', '"G7" is no rule that finds'),
        (b'[[waiver]]\nrule = "G77"\nsubject = "tools/a"\nreason = "It is a test."', '"G77" is a question for the'),
        (b'[[waiver]]\nrule = "G1"\nsubject = "a"\nreason = "It is a test."', '"a" names nothing'),
        (b'[[waiver]]\nrule = "G1"\nsubject = "tools/a"\nreason = "Because."', "its reason must say why"),
        (b'[[waiver]]\nrule = "G1"\nsubject = "tools/a"\nreason = "It is a test."\nwhen = "now"', 'unknown key "when"'),
        (b"x" * 70_000, "it is larger than 65536 bytes"),
    ],
)
def test_a_waiver_that_says_nothing_waives_nothing(data: bytes, fault: str) -> None:
    waivers = read_waivers(data, RULES)
    assert waivers.entries == ()
    assert fault in waivers.faults[0]


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        ({"decision": {}}, '"decision" is none of its parts; did you mean "decisions"?'),
        ({"decisions": 3}, '"decisions" is none of its parts'),
        ({"decisions": {"task-cu": "One tool, one task."}}, 'did you mean "task-cut"?'),
        ({"decisions": {"task-cut": 3}}, "task-cut: an answer is a text"),
        ({"decisions": {"task-cut": "Fine."}}, "task-cut: an answer has at least 3 words"),
        ({"decisions": {"task-cut": ""}}, "task-cut: it is not answered"),
        ({"decisions": {"task-cut": "One tool\u202e one task."}}, "all of them visible"),
    ],
)
def test_an_answer_that_says_nothing_is_none(document: dict[str, Any], fault: str) -> None:
    record = record_of(document)
    assert record.answers == {}
    assert fault in record.faults[0]
