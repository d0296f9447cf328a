"""The names that tools have in scripts."""

from __future__ import annotations

from keyword import iskeyword

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.model.tools import Tool
from paddock.tools.identifiers import identifier, linked, reserved


@pytest.mark.parametrize(
    ("name", "python", "javascript"),
    [
        ("orders", "orders", "orders"),
        ("getOrders", "getOrders", "getOrders"),
        ("get-orders", "get_orders", "get_orders"),
        ("shop/orders.list", "shop_orders_list", "shop_orders_list"),
        ("_internal", "_internal", "_internal"),
        ("2fa", "tool_2fa", "tool_2fa"),
        ("", "tool", "tool"),
        ("***", "tool", "tool"),
        ("__paddock_call", "_paddock_call", "_paddock_call"),
        ("import", "import_", "import_"),
        ("lambda", "lambda_", "lambda"),
        ("typeof", "typeof", "typeof_"),
        ("list", "list_", "list"),
        ("Promise", "Promise", "Promise_"),
        ("Any", "Any_", "Any"),
        ("call_tool", "call_tool_", "call_tool"),
        ("callTool", "callTool", "callTool_"),
        ("readFile", "readFile", "readFile_"),
        ("ToolError", "ToolError", "ToolError_"),
        ("files", "files_", "files_"),
        ("注文", "注文", "注文"),
        ("größe", "größe", "größe"),
        ("a\u202eb\x1b[31m\nc", "a_b_31m_c", "a_b_31m_c"),
        ("a\u3164b", "a_b", "a_b"),
        ('x"); import os #', "x_import_os", "x_import_os"),
        ("n" * 500, "n" * 100, "n" * 100),
        *((name, f"{name}_", name) for name in ("json", "asyncio", "Path", "display")),
        *((name, name, f"{name}_") for name in ("Blob", "Response")),
    ],
)
def test_a_name_becomes_an_identifier_that_hides_nothing(name: str, python: str, javascript: str) -> None:
    assert (identifier(name), identifier(name, "javascript"), identifier(name, "typescript")) == (
        python,
        javascript,
        javascript,
    )


@given(st.text(), st.sampled_from(["python", "typescript"]))
def test_any_name_becomes_an_identifier(name: str, language: str) -> None:
    made = identifier(name, language)
    assert made.isidentifier()
    assert not (language == "python" and iskeyword(made))
    assert made not in reserved(language)
    assert not made.startswith("__")


def test_tools_with_different_names_keep_them() -> None:
    tools = [Tool("b", "two"), Tool("a", "one")]
    assert linked(tools) == {"two": tools[0], "one": tools[1]}


def test_tools_that_share_a_name_get_ids_and_the_first_also_has_the_bare_name() -> None:
    first, second, other = Tool("shop", "orders"), Tool("legacy", "orders"), Tool("shop", "ping")
    assert list(linked([first, second, other]).items()) == [
        ("orders", first),
        (f"orders_{first.id}", first),
        (f"orders_{second.id}", second),
        ("ping", other),
    ]
    assert linked([second, first])["orders"] is second


def test_names_that_become_equal_identifiers_are_shared_too() -> None:
    dashed, plain = Tool("shop", "get-orders"), Tool("shop", "get_orders")
    assert linked([dashed, plain]) == {
        "get_orders": dashed,
        f"get_orders_{dashed.id}": dashed,
        f"get_orders_{plain.id}": plain,
    }


def test_a_tool_linked_twice_is_one_tool() -> None:
    tool = Tool("shop", "orders")
    assert linked([tool, tool]) == {"orders": tool}


def test_a_tool_cannot_take_the_long_name_of_another() -> None:
    first, second = Tool("shop", "orders"), Tool("legacy", "orders")
    impostor = Tool("evil", f"orders_{first.id}")
    for order in ([impostor, first, second], [first, second, impostor]):
        names = linked(order)
        assert names[f"orders_{first.id}"] is first
        assert [name for name, tool in names.items() if tool is impostor] == [f"orders_{first.id}_{impostor.id}"]


def test_two_tools_with_the_same_name_and_id_get_longer_ids() -> None:
    honest = Tool("shop", "orders")
    impostor = Tool("ads", "orders..-.//-../-.-..")  # chosen, in seconds, for its id
    assert honest.id == impostor.id
    taker = Tool("evil", f"orders_{honest.id}")
    for order in ([impostor, honest, taker], [taker, honest, impostor]):
        names = linked(order)
        assert f"orders_{honest.id}" not in names
        assert names[f"orders_{honest.digest}"] is honest
        assert names[f"orders_{impostor.digest}"] is impostor
        assert taker in names.values()


@given(st.lists(st.builds(Tool, st.sampled_from("abc"), st.sampled_from(["x", "x-", "x_", "X", "1", "for", "é"]))))
def test_every_tool_has_a_name_and_links_added_later_change_none(tools: list[Tool]) -> None:
    names = linked(tools)
    assert {tool.full_name for tool in names.values()} == {tool.full_name for tool in tools}
    for count in range(len(tools)):
        earlier = linked(tools[:count])
        assert {name: names[name].full_name for name in earlier} == {
            name: tool.full_name for name, tool in earlier.items()
        }
