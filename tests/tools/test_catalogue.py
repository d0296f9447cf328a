"""The names under which tools are found, and the functions that a script gets."""

from __future__ import annotations

import re

import pytest

from paddock import Paddock
from paddock.errors import UnknownTool
from paddock.model.tools import Tool
from paddock.tools.catalogue import Catalogue

ORDERS, USERS, OTHER = Tool("shop", "orders"), Tool("shop", "users"), Tool("crm", "users")
ALL = Catalogue([ORDERS, USERS, OTHER, Tool("", "add")])


def full_names(tools: object) -> list[str]:
    return [tool.full_name for tool in tools]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "found"),
    [("shop.orders", ORDERS), ("orders", ORDERS), ("crm.users", OTHER), ("users", None), ("nothing", None)],
)
def test_a_tool_is_found_by_its_full_name_or_by_an_unambiguous_bare_name(name: str, found: Tool | None) -> None:
    assert ALL.find(name) is found


PREFIXED = Catalogue(
    [ORDERS, Tool("shop", "shop_users"), USERS, Tool("shop.eu", "orders")], servers=("shop", "shop.eu", "crm")
)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("shop.shop_orders", "shop.orders"),
        ("shop.shop_users", "shop.shop_users"),
        ("shop.eu.shop.eu_orders", "shop.eu.orders"),
        ("shop.shop_eu.orders", None),
        ("shop.crm_orders", None),
        ("shop.shop_", None),
        ("shop_orders", None),
    ],
)
def test_a_tool_name_may_be_prefixed_with_its_server(name: str, found: str | None) -> None:
    tool = PREFIXED.find(name)
    assert (tool and tool.full_name) == found


@pytest.mark.parametrize(
    ("name", "hints"),
    [
        ("users", ["Several servers have a tool 'users'; say which: shop.users, crm.users."]),
        ("order", ["Did you mean 'orders'?"]),
        ("shop.order", ["Did you mean 'shop.orders'?"]),
        ("zzz", []),
    ],
)
def test_an_unknown_name_gets_suggestions(name: str, hints: list[str]) -> None:
    assert ALL.hints(name)[: len(hints) or 1] == hints


def test_a_run_can_be_limited_to_some_tools() -> None:
    assert full_names(ALL.subset(["orders", "crm.users"])) == ["shop.orders", "crm.users"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["order"], r"^unknown tool 'order'; Did you mean 'orders'\?"),
        (["zzz"], "^unknown tool 'zzz'; `search` lists all tools$"),
        ([5], "^unknown tool 5; "),
    ],
)
def test_choosing_an_unknown_tool_is_refused(names: object, message: str) -> None:
    with pytest.raises(UnknownTool, match=message):
        ALL.subset(names)  # type: ignore[arg-type]


@pytest.mark.parametrize("names", ["orders", 5, [5], [{}]])
async def test_a_choice_of_tools_that_is_not_a_list_is_refused(names: object) -> None:
    with pytest.raises(UnknownTool, match=f"^tools must be a list of names, not {re.escape(repr(names))}$"):
        await Paddock().run("1", tools=names)  # type: ignore[arg-type]


def test_there_may_be_no_tools_to_choose_from() -> None:
    with pytest.raises(UnknownTool, match=r"^unknown tool 'x'; there are no tools here$"):
        Catalogue().subset(["x"])


def test_a_script_is_linked_with_the_tools_that_it_mentions() -> None:
    assert full_names(ALL.linked("await orders({})\nawait add({})").values()) == ["shop.orders", "add"]
    assert full_names(ALL.linked("reorders").values()) == []
    assert ALL.linked()["users"] is USERS
    assert ALL.linked()[f"users_{OTHER.id}"] is OTHER


def test_of_two_tools_with_one_full_name_the_first_counts() -> None:
    assert len(Catalogue([ORDERS, Tool("shop", "orders", "again")])) == 1


@pytest.mark.parametrize("name", ["nowhere.orders", "crm.orders", "a.b.orders"])
def test_the_same_tool_name_of_another_server_is_suggested(name: str) -> None:
    assert ALL.hints(name)[0] == "Did you mean 'shop.orders'?"


def test_the_nearest_of_thousands_of_long_names_is_found() -> None:
    many = Catalogue([Tool("s", f"{'x' * 50}{'y' * 40}{number}") for number in range(2000)] + [Tool("s", "z" * 128)])
    assert many.hints(f"s.{'x' * 50}{'y' * 40}1999x")[0] == f"Did you mean 's.{'x' * 50}{'y' * 40}1999'?"
