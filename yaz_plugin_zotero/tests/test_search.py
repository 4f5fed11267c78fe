from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yazcore import ToolError

from yaz_plugin_zotero.index import Index
from yaz_plugin_zotero.library import Creator, Item
from yaz_plugin_zotero.sample import make_library
from yaz_plugin_zotero.search import PAGE_BYTES, parse, search, shown

if TYPE_CHECKING:
    from conftest import Desk

ECOLI = "Escherichia coli and H2O at 105 Pa: a Study of mRNA"
COST = "Cost & risk in 50% of public projects"


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("godel", ["Über formal unentscheidbare Sätze"]),
        ("GÖDEL", ["Über formal unentscheidbare Sätze"]),
        ("goedel", ["Über formal unentscheidbare Sätze"]),
        ("ueber unentscheidbare", ["Über formal unentscheidbare Sätze"]),
        ("escherichia coli", [ECOLI]),
        ("h2o mrna", [ECOLI]),
        ("достоевский", ["О ТЕОРИИ ЧТЕНИЯ"]),
        ("теории", ["О ТЕОРИИ ЧТЕНИЯ"]),
        ("言語処", ["日本語の題名：自然言語処理の研究"]),
        ("研", ["日本語の題名：自然言語処理の研究"]),
        ("first well-known don't", ["The “ﬁrst” well‐known co\u00adoperation – pre–post study: don’t"]),
        ("brown board 1954", ["Brown v. Board of Education"]),
        ("pinnedextra2014", ["Pinned key in Extra"]),
        ("native_nora:2022", ["Native citation key"]),
        ("nativekey", ["Two citation keys"]),
        ("extrakey", ["Two citation keys"]),
        ("zzqx", []),
        ("zzfeed", []),
        ("zznote", []),
    ],
)
def test_what_is_found(desk: Desk, query: str, titles: list[str]) -> None:
    assert desk.titles(query) == titles


def test_umlauts_are_found_in_either_spelling(desk: Desk) -> None:
    found = [sorted(desk.titles(query)) for query in ("müller", "muller", "mueller", "MÜLLER")]
    assert found == [[COST, ECOLI]] * 4


def test_every_word_must_match_wherever_it_stands(desk: Desk) -> None:
    assert desk.titles("müller cost 2024 journal") == [COST]
    assert desk.titles("müller cost 2023") == []


def test_words_match_from_their_beginning(desk: Desk) -> None:
    assert desk.titles("unentsch") == ["Über formal unentscheidbare Sätze"]


def test_where_no_word_begins_so_the_inside_of_words_is_looked_at(desk: Desk) -> None:
    assert desk.titles("scheidbare") == ["Über formal unentscheidbare Sätze"]


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("100%", ["100% of A_B cases"]),
        ("A_B", ["100% of A_B cases"]),
        ("A%B", []),
        ("_B", ["100% of A_B cases"]),
        ("r&d", ["R&D spending: 50% of $10 #1 {braces} ~tilde^ back\\slash under_score <tag> | pipe"]),
        ("back\\slash", ["R&D spending: 50% of $10 #1 {braces} ~tilde^ back\\slash under_score <tag> | pipe"]),
        ('" OR title:', []),
        ("NOT", []),
        ("cost*", []),
    ],
)
def test_signs_are_no_wildcards_and_no_language(desk: Desk, query: str, titles: list[str]) -> None:
    assert desk.titles(query) == titles


def test_a_query_of_signs_alone_finds_them(desk: Desk) -> None:
    assert sorted(desk.titles("%")) == sorted(
        [COST, "100% of A_B cases", "R&D spending: 50% of $10 #1 {braces} ~tilde^ back\\slash under_score <tag> | pipe"]
    )


def test_an_item_key_is_found(desk: Desk) -> None:
    item = desk.search("brown board")["items"][0]
    assert desk.titles(item["key"]) == ["Brown v. Board of Education"]
    assert desk.titles(item["key"].lower()) == ["Brown v. Board of Education"]


def test_an_empty_query_gives_the_items_added_last(desk: Desk) -> None:
    found = desk.search("", limit=3)
    assert [item["title"] for item in found["items"]] == [
        "Same item key, other library", "A paper of the group", "A paper of very many",
    ]  # fmt: skip
    assert found["total"] == 43


def test_a_record_is_short_and_says_what_citing_needs(desk: Desk) -> None:
    item = desk.search("wave collaboration")["items"][0]
    assert {**item, "key": ""} == {
        "key": "",
        "library": "user",
        "citationKey": None,
        "title": "Observation of small waves",
        "creators": ["Abbott, B. P.", "The Sample Wave Collaboration", "王, 小明"],
        "creatorCount": 3,
        "year": 2016,
        "container": "Journal of Sample Studies",
        "type": "journalArticle",
        "retracted": False,
    }


def test_creators_after_the_third_are_counted(desk: Desk) -> None:
    item = desk.search("paper of very many")["items"][0]
    assert item["creators"] == ["Author000, A. B.", "Author001, A. B.", "Author002, A. B."]
    assert item["creatorCount"] == 300


def test_retracted_items_are_marked_unless_the_user_hid_it(desk: Desk) -> None:
    marks = {item["title"]: item["retracted"] for item in desk.search("retract")["items"]}
    assert marks["RETRACTED: Lymphoid hyperplasia in samples"]
    assert marks["Retracted, and cited for it"]
    assert not desk.search("falsely")["items"][0]["retracted"]


def test_a_citation_key_comes_before_a_creator_and_a_creator_before_a_title(tmp_path: Path) -> None:
    index = filled(
        tmp_path,
        [
            Item(
                library="user",
                key="AAAAAAA2",
                type="book",
                fields={"title": "Zorn of words", "date": "2025-00-00 2025"},
            ),
            Item(
                library="user",
                key="AAAAAAA3",
                type="book",
                fields={"title": "B"},
                creators=(Creator("author", "Zorn"),),
            ),
            Item(library="user", key="AAAAAAA4", type="book", fields={"title": "C", "citationKey": "zorn"}),
            Item(library="user", key="AAAAAAA5", type="book", fields={"title": "Zornig", "date": "2026-00-00 2026"}),
        ],
    )
    answer = search(index, parse("zorn"), 10, None)
    assert [item.key for item in answer.items] == ["AAAAAAA4", "AAAAAAA3", "AAAAAAA2", "AAAAAAA5"]


def test_of_equal_items_the_newer_work_comes_first(tmp_path: Path) -> None:
    dates = {
        "AAAAAAA2": "1999-00-00 1999",
        "AAAAAAA3": "2021-00-00 2021",
        "AAAAAAA4": "",
        "AAAAAAA5": "2020-00-00 2020",
    }
    index = filled(
        tmp_path,
        [
            Item(library="user", key=key, type="book", fields={"title": "Same", "date": date})
            for key, date in dates.items()
        ],
    )
    found = search(index, parse("same"), 10, None)
    assert [item.key for item in found.items] == ["AAAAAAA3", "AAAAAAA5", "AAAAAAA2", "AAAAAAA4"]


@pytest.mark.parametrize("query", ["journal", "", "a"])
@pytest.mark.parametrize("limit", [1, 3, 7, 50])
def test_pages_give_everything_once(desk: Desk, query: str, limit: int) -> None:
    keys: list[tuple[str, str]] = []
    cursor, total = None, None
    while True:
        page = desk.search(query, limit=limit, **({"cursor": cursor} if cursor else {}))
        assert len(page["items"]) <= limit
        assert total in (None, page["total"])
        total = page["total"]
        keys += [(item["library"], item["key"]) for item in page["items"]]
        assert len(keys) <= total
        if (cursor := page["nextCursor"]) is None:
            break
    assert len(keys) == len(set(keys)) == total


def test_a_cursor_of_another_query_is_refused(desk: Desk) -> None:
    cursor = desk.search("journal", limit=1)["nextCursor"]
    with pytest.raises(ToolError) as refused:
        desk.search("paper", cursor=cursor)
    assert str(refused.value) == (
        "cursor belongs to another query. Pass the query that gave it, or leave the cursor out to start anew."
    )


@given(st.text(min_size=1, max_size=60) | st.binary(max_size=40).map(lambda data: data.hex()) | st.just("W10"))
def test_a_cursor_that_was_never_given_is_refused(cursor: str) -> None:
    with pytest.raises(ToolError, match=r"^cursor (is not one that this tool gave|belongs to another query)"):
        search(Index(Path("never-opened")), parse("journal"), 5, cursor)


def test_a_cursor_with_other_numbers_is_refused(desk: Desk) -> None:
    query = parse("journal")
    for told in ([query.digest], [query.digest, 1, 2], [query.digest, 1, 2, True], [query.digest, 1, 2, 2**70]):
        cursor = base64.urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip("=")
        with pytest.raises(ToolError, match=r"^cursor is not one that this tool gave"):
            desk.search("journal", cursor=cursor)


@pytest.mark.parametrize("runtime", ["trusted"], indirect=True)  # it reaches into the plugin
def test_of_very_many_matches_the_newest_are_ranked_and_all_counted(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    everyone = desk.search("journal", limit=50)
    monkeypatch.setattr("yaz_plugin_zotero.search.RANKED", 3)
    found = desk.search("journal", limit=50)
    assert (len(found["items"]), found["nextCursor"], found["total"]) == (3, None, everyone["total"])


def test_a_page_of_long_items_ends_early(tmp_path: Path) -> None:
    index = filled(
        tmp_path,
        [
            Item(
                library="user", key=f"AAAAAA{number:02d}", type="book", fields={"title": "長い題名 " * 400},
                creators=tuple(Creator("author", "名前" * 200) for _ in range(9)),
            )
            for number in range(50)
        ],
    )  # fmt: skip
    answer = search(index, parse(""), 50, None)
    assert 1 < len(answer.items) < 50
    assert answer.next_cursor is not None
    assert len(json.dumps([shown(item) for item in answer.items], ensure_ascii=False).encode()) < PAGE_BYTES + 5_000


@given(st.text(max_size=200))
def test_no_query_breaks_the_search(index_of_one: Index, query: str) -> None:
    search(index_of_one, parse(query), 5, None)


@given(
    st.lists(
        st.sampled_from(["Müller", "Cost", "risk", "50%", "2024", "Straße", "言語", "o’connor"]), min_size=1, max_size=5
    )
)
def test_an_item_is_found_by_any_of_its_own_words(index_of_one: Index, words: list[str]) -> None:
    assert search(index_of_one, parse(" ".join(words)), 5, None).total == 1


@pytest.fixture(scope="module")
def index_of_one(tmp_path_factory: pytest.TempPathFactory) -> Index:
    item = Item(
        library="user", key="AAAAAAA2", type="book", creators=(Creator("author", "Müller", "O’Connor"),),
        fields={"title": "Cost & risk: 50% of Straße 自然言語処理", "date": "2024-00-00 2024"},
    )  # fmt: skip
    return filled(tmp_path_factory.mktemp("index"), [item])


_indexes: list[Index] = []


@pytest.fixture(autouse=True)
def _close_indexes() -> Iterator[None]:
    yield
    for index in _indexes:
        index.close()


def filled(folder: Path, items: list[Item]) -> Index:
    index = Index(folder / "index.sqlite")
    _indexes.append(index)
    with index.refreshing() as changes:
        changes.store(items, [str(number) for number in range(len(items))], lambda count: None)
    return index


def test_many_made_up_items_are_found_as_reading_them_one_by_one_finds_them(
    tmp_path: Path, make_desk: Callable[..., Desk]
) -> None:
    make_library(tmp_path / "Zotero", items=400)
    desk = make_desk(tmp_path / "Zotero")
    found = everything(desk, "")
    for word in ("model", "network", "climate"):
        wanted = {
            identity
            for identity, item in found.items()
            if any(part.lower().startswith(word) for part in item["title"].split())
        }
        assert wanted
        assert set(everything(desk, word)) >= wanted


def everything(desk: Desk, query: str) -> dict[tuple[str, str], dict[str, str]]:
    """All pages of a query."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    page = desk.search(query, limit=50)
    while True:
        found |= {(item["library"], item["key"]): item for item in page["items"]}
        if page["nextCursor"] is None:
            return found
        page = desk.search(query, limit=50, cursor=page["nextCursor"])
