"""Search over tools: what comes first, what is left out, and what a hostile description cannot do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.model.tools import Tool
from paddock.tools.search import Found, Index, words
from tests.tools.samples import SHOP, real_tools

INDEX = Index([*real_tools(), *SHOP])


def names(query: str, index: Index = INDEX, **options: object) -> list[str]:
    return [found.tool.full_name for found in index.search(query, **options)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("orders", "shop.orders"),
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
def test_what_is_meant_comes_first(query: str, first: str) -> None:
    assert names(query)[0] == first


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
    found = Index(tools).search("orders")
    assert [(one.tool.server, one.score == found[0].score) for one in found] == [("a", True), ("b", True), ("c", True)]


def test_tags_and_servers_leave_out_whatever_has_none_of_them() -> None:
    assert names("", tags=["sales"]) == ["shop.cancel-order", "shop.orders"]
    assert names("", tags=["Danger", "no such tag"]) == ["shop.cancel-order"]
    assert names("orders", servers=["shop"]) == ["shop.orders", "shop.cancel-order"]
    assert names("", servers=["shop", "legacy"], tags=["sales"]) == ["shop.cancel-order", "shop.orders"]
    assert names("", servers=["no such server"]) == []


def test_nothing_asked_lists_everything_by_name() -> None:
    every = sorted(tool.full_name for tool in [*real_tools(), *SHOP])
    assert names("", limit=None) == names("   ", limit=None) == names("?!", limit=None) == every
    assert names("", limit=3) == every[:3]
    assert names("", limit=0) == []


def test_what_matches_nothing_finds_nothing() -> None:
    assert names("zzzzqqqq") == []
    assert Index([]).search("orders") == []


def test_the_words_of_a_name_are_the_same_however_it_is_written() -> None:
    spellings = ("getHTTPStatus", "get_http_status", "get-http-status", "get.http.status", "GET HTTP STATUS")
    assert {tuple(words(name)) for name in spellings} == {("get", "http", "status")}


def test_an_ending_makes_no_difference() -> None:
    assert len({words(word)[0] for word in ("list", "lists", "listed", "listing")}) == 1
    assert len({words(word)[0] for word in ("query", "queries")}) == 1
    assert len({words(word)[0] for word in ("delete", "deletes", "deleted", "deleting")}) == 1
    assert words("status address") == ["status", "address"]


def test_scripts_without_spaces_are_found_by_parts() -> None:
    index = Index([Tool("店", "search", "顧客の注文履歴を検索する"), Tool("店", "other", "在庫")])
    assert names("注文", index) == ["店.search"]


def test_the_beginning_of_a_long_description_is_found_and_its_end_is_not() -> None:
    index = Index([Tool("s", "long", "beginning " + "filler " * 1_000_000 + "end"), Tool("s", "short", "plain")])
    assert (names("beginning", index), names("end", index)) == (["s.long"], [])


def test_a_description_that_repeats_a_word_does_not_come_before_a_name_that_is_it() -> None:
    index = Index([Tool("spam", "buy", "refund " * 10_000), Tool("shop", "refund", "Pays back.")])
    assert names("refund", index) == ["shop.refund", "spam.buy"]


@given(st.text(), st.lists(st.text(max_size=5)))
def test_any_query_has_an_answer_and_always_the_same(query: str, tags: list[str]) -> None:
    found = INDEX.search(query, tags=tags)
    assert found == INDEX.search(query, tags=tags)
    assert found == sorted(found, key=lambda one: (-one.score, one.tool.full_name))
    assert all(isinstance(one, Found) for one in found)


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
def test_a_schema_that_is_none_does_no_harm(schema: dict[str, object]) -> None:
    assert names("tool", Index([Tool("s", "tool", "", schema)])) == ["s.tool"]


def test_a_word_that_means_the_same_is_found_after_the_word_itself() -> None:
    tools = [Tool("s", "create_directory"), Tool("s", "make_folder"), Tool("s", "other")]
    assert names("make a folder", Index(tools)) == ["s.make_folder", "s.create_directory"]
    assert names("create directories", Index(tools)) == ["s.create_directory", "s.make_folder"]
