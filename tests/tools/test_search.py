"""Search over tools: what comes first, what is left out, and what a hostile description cannot do."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.model.tools import Tool
from paddock.tools.search import Index, words
from tests.tools.samples import SHOP, real_tools

INDEX = Index([*real_tools(), *SHOP])


def names(query: str, index: Index = INDEX, **options: object) -> list[str]:
    return [tool.full_name for tool in index.search(query, **options)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("shop.orders", "shop.orders"),
        ("cancel", "shop.cancel-order"),
        ("cancelling an order", "shop.cancel-order"),
        ("move", "filesystem.move_file"),
        ("rename a file", "filesystem.move_file"),
        ("glob pattern", "filesystem.search_files"),
        ("knowledge graph", "memory.read_graph"),
        ("create an entity", "memory.create_entities"),
        ("GetSum", "everything.get-sum"),
        ("get_sum", "everything.get-sum"),
        ("ech", "everything.echo"),
        ("serch nodes", "memory.search_nodes"),
        ("directroy sizes", "filesystem.list_directory_with_sizes"),
        ("dryRun", "filesystem.edit_file"),
        ("exact old text", "filesystem.edit_file"),
        ("weather", "everything.get-structured-content"),
        ("how do I compress a file", "everything.gzip-file-as-resource"),
    ],
)
def test_the_wanted_tool_ranks_first(query: str, first: str) -> None:
    assert names(query)[0] == first


def test_tools_named_exactly_like_the_query_come_first() -> None:
    assert set(names("orders")[:2]) == {"legacy.orders", "shop.orders"}
    assert names("orders")[2] == "shop.cancel-order"


def test_a_word_counts_for_more_in_a_name_than_in_a_title_a_description_or_a_parameter() -> None:
    schema = {"type": "object", "properties": {"refund": {"type": "string"}}}
    described = {"type": "object", "properties": {"x": {"type": "string", "description": "the refund"}}}
    tools = [
        Tool("s", "e", "Something else.", described),
        Tool("s", "d", "Something else.", schema),
        Tool("s", "c", "Makes a refund."),
        Tool("s", "b", "Something else.", title="Refund"),
        Tool("s", "refund", "Something else."),
    ]
    assert names("refund", Index(tools)) == ["s.refund", "s.b", "s.c", "s.d", "s.e"]


def test_tools_that_match_equally_come_by_name() -> None:
    tools = [Tool(server, "orders", "Orders.") for server in "cab"]
    assert names("orders", Index(tools)) == ["a.orders", "b.orders", "c.orders"]


def test_tags_exclude_tools_that_have_none_of_them() -> None:
    assert names("", tags=["sales"]) == ["shop.cancel-order", "shop.orders"]
    assert names("", tags=["Danger", "no such tag"]) == ["shop.cancel-order"]


def test_an_empty_query_lists_every_tool_by_name() -> None:
    every = sorted(tool.full_name for tool in [*real_tools(), *SHOP])
    assert names("", limit=None) == names("   ", limit=None) == names("?!", limit=None) == every
    assert names("", limit=3) == every[:3]
    assert names("", limit=0) == []


def test_a_query_without_matches_finds_nothing() -> None:
    assert names("zzzzqqqq") == []
    assert Index([]).search("orders") == []


def test_the_words_of_a_name_are_the_same_however_it_is_written() -> None:
    spellings = ("getHTTPStatus", "get_http_status", "get-http-status", "get.http.status", "GET HTTP STATUS")
    assert {tuple(words(name)) for name in spellings} == {("get", "http", "status")}


def test_word_endings_make_no_difference() -> None:
    index = Index([Tool("s", "list_lamps"), Tool("s", "query"), Tool("s", "delete-address"), Tool("s", "status")])
    for word in ("list", "lists", "listed", "listing", "lamp"):
        assert names(word, index)[0] == "s.list_lamps"
    for word in ("query", "queries", "querying"):
        assert names(word, index)[0] == "s.query"
    for word in ("delete", "deletes", "deleted", "deleting", "addresses"):
        assert names(word, index)[0] == "s.delete-address"
    assert names("status", index) == ["s.status"]


def test_scripts_without_spaces_are_found_by_parts() -> None:
    index = Index([Tool("店", "search", "顧客の注文履歴を検索する"), Tool("店", "other", "在庫")])
    assert names("注文", index) == ["店.search"]


def test_the_beginning_of_a_long_description_is_found_and_its_end_is_not() -> None:
    index = Index([Tool("s", "long", "beginning " + "filler " * 1_000_000 + "end"), Tool("s", "short", "plain")])
    assert (names("beginning", index), names("end", index)) == (["s.long"], [])


def test_repeating_a_word_in_a_description_does_not_outrank_a_name() -> None:
    index = Index([Tool("spam", "buy", "refund " * 10_000), Tool("shop", "refund", "Pays back.")])
    assert names("refund", index) == ["shop.refund", "spam.buy"]


@given(st.text(), st.lists(st.text(max_size=5)))
def test_any_query_has_an_answer_and_always_the_same(query: str, tags: list[str]) -> None:
    found = INDEX.search(query, tags=tags)
    assert found == INDEX.search(query, tags=tags)
    assert all(isinstance(tool, Tool) for tool in found)


@given(st.lists(st.builds(Tool, st.text(), st.text(), st.text(), st.dictionaries(st.text(), st.none() | st.text()))))
def test_any_tools_can_be_indexed(tools: list[Tool]) -> None:
    assert len(Index(tools).search("", limit=None)) == len(tools)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": []},
        {"properties": {"a": 5}},
        {"properties": {"a": {"description": 5, "items": [1], "properties": "x"}}},
        {"properties": {f"p{number}": {"description": "x" * 10_000} for number in range(10_000)}},
    ],
)
def test_an_invalid_schema_can_be_indexed(schema: dict[str, object]) -> None:
    assert names("tool", Index([Tool("s", "tool", "", schema)])) == ["s.tool"]


def test_a_synonym_ranks_below_the_word_itself() -> None:
    tools = [Tool("s", "create_directory"), Tool("s", "make_folder"), Tool("s", "other")]
    assert names("make a folder", Index(tools)) == ["s.make_folder", "s.create_directory"]
    assert names("create directories", Index(tools)) == ["s.create_directory", "s.make_folder"]


DATA = Path(__file__).parent / "data"
FIRST = 3
QUESTIONS = dict(line.split(" | ") for line in (DATA / "questions.txt").read_text(encoding="utf-8").splitlines())


def tools() -> list[Tool]:
    made = []
    for line in (DATA / "many_tools.txt").read_text(encoding="utf-8").splitlines():
        name, description, parameters = (part.strip() for part in f"{line} ".split(" | "))
        server, _, tool = name.partition(".")
        properties = {parameter: {"type": "string"} for parameter in parameters.split()}
        made.append(Tool(server, tool, description, {"type": "object", "properties": properties}))
    return made


@pytest.fixture(scope="module")
def index() -> Index:
    return Index(tools())


def test_nine_of_ten_questions_find_their_tool_among_the_first_three(index: Index) -> None:
    missed = {
        question: [tool.full_name for tool in index.search(question, limit=FIRST)]
        for question, wanted in QUESTIONS.items()
        if wanted not in [tool.full_name for tool in index.search(question, limit=FIRST)]
    }
    assert len(QUESTIONS) >= 40
    assert len(missed) <= len(QUESTIONS) // 10, missed


def test_every_question_has_the_same_answer_whatever_the_order_of_the_tools(index: Index) -> None:
    turned = Index(reversed(tools()))
    for question in QUESTIONS:
        assert index.search(question) == turned.search(question)
