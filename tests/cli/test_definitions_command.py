"""`paddock definitions`: how a user saves and lists code tools."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from paddock.definitions.definition import SHIPPED
from tests.cli.command import Ended, paddock
from tests.tools.upstreams import shop

TOTALS = """
name = "order_totals"
description = "What the orders of a state are worth."
code = '''
page = await orders({"status": status})
sum(line["quantity"] * line["unit_price"] for order in page["orders"] for line in order["lines"])
'''
tools = ["shop.orders"]
inputs.status = "open"
"""
DOUBLE = 'name = "double"\ndescription = "Twice."\ncode = "n * 2"\ninputs.n = 2\n'


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def definitions(data: Path, *arguments: str, stdin: str = "") -> Ended:
    return paddock("definitions", *arguments, stdin=stdin, PADDOCK_STORE__PATH=str(data / "paddock.db"))


@pytest.fixture
def servers(tmp_path: Path) -> str:
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"shop": shop()}}))
    return str(file)


def test_the_list_shows_shipped_definitions_and_creates_no_store(data: Path) -> None:
    ended = definitions(data, "list")
    assert [line.split()[:2] for line in ended.out.splitlines()] == [[name, "shipped"] for name in SHIPPED]
    assert (ended.status, ended.err, data.exists()) == (0, "", False)
    listed = json.loads(definitions(data, "list", "--json").out)
    assert [(each["name"], each["version"]) for each in listed] == [(name, None) for name in SHIPPED]


def test_a_definition_is_checked_saved_listed_shown_changed_and_removed(
    data: Path, servers: str, tmp_path: Path
) -> None:
    file = tmp_path / "totals.toml"
    file.write_text(TOTALS)
    applied = definitions(data, "apply", str(file), "--mcp-config", servers)
    assert applied == Ended(0, "order_totals is saved, version 1.\n", "")
    assert definitions(data, "apply", str(file), "--mcp-config", servers).out.endswith("version 1.\n")  # the same
    changed = TOTALS.replace('"open"', '"paid"')
    second = definitions(data, "apply", "-", "--mcp-config", servers, "--json", stdin=changed)
    assert (json.loads(second.out)["version"], json.loads(second.out)["definition"]["inputs"]) == (
        2,
        {"status": "paid"},
    )
    assert "order_totals            version 2  What the orders" in definitions(data, "list").out
    shown = definitions(data, "show", "order_totals").out
    assert shown.startswith("order_totals: version 2\n")
    assert '    page = await orders({"status": status})\n' in shown
    assert re.search(r"versions\n    2  [-0-9: ]{19}  current\n    1  [-0-9: ]{19}\n$", shown)
    first = json.loads(definitions(data, "show", "order_totals", "--version", "1", "--json").out)
    assert first["definition"]["inputs"] == {"status": "open"}
    assert definitions(data, "remove", "order_totals").out == "order_totals is removed.\n"
    gone = definitions(data, "show", "order_totals")
    assert (gone.status, gone.err) == (2, "Error: 'order_totals' was removed; --version 2 shows its last version\n")
    again = definitions(data, "apply", str(file), "--mcp-config", servers)
    assert again.out == "order_totals is saved, version 3.\n"


def test_an_invalid_definition_is_refused_with_the_reason_and_the_old_version_stays(data: Path, servers: str) -> None:
    assert definitions(data, "apply", "-", "--mcp-config", servers, stdin=TOTALS).status == 0
    before = definitions(data, "show", "order_totals", "--json").out
    for bad, said in {
        TOTALS.replace("code =", "cod ="): "a definition has no 'cod'; did you mean 'code'?",
        TOTALS.replace("sum(", "sum(("): "code: SyntaxError, line ",
        TOTALS.replace('"quantity"', '"quantty"'): 'Unknown key "quantty"',
        TOTALS.replace("shop.orders", "shop.ordrs"): "unknown tool 'shop.ordrs'; Did you mean 'shop.orders'?",
        TOTALS.replace("shop.orders", "code_execution"): "a code tool can't link another",
        TOTALS.replace("name =", "name"): "is not TOML",
    }.items():
        ended = definitions(data, "apply", "-", "--mcp-config", servers, stdin=bad)
        assert (ended.status, ended.out, said in ended.err, ended.err.count("\n")) == (2, "", True, 1), ended.err
    assert definitions(data, "show", "order_totals", "--json").out == before


def test_an_unreachable_server_is_a_warning(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"shop": {"command": "/no/such/command"}}}))
    ended = definitions(data, "apply", "-", "--mcp-config", str(file), stdin=TOTALS)
    assert (ended.status, ended.out) == (0, "order_totals is saved, version 1.\n")
    assert ended.err.startswith(
        "Warning: the code was not checked against its tools: the tool 'shop.orders' cannot be linked"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", "run_cod"], "there is no definition 'run_cod'; did you mean 'run_code'?"),
        (["show", "double", "--version", "7"], "'double' has no version 7; known versions: 1"),
        (["remove", "doubl"], "there is no definition 'doubl'; did you mean 'double'?"),
        (["remove", "run_code"], "'run_code' comes with Paddock; leave it out of --definitions instead"),
        (["apply", "no.toml"], "cannot read 'no.toml': there is no such file"),
    ],
)
def test_an_unknown_name_version_or_file_is_an_error_with_a_suggestion(
    data: Path, arguments: list[str], said: str
) -> None:
    assert definitions(data, "apply", "-", stdin=DOUBLE).status == 0
    ended = definitions(data, *arguments)
    assert (ended.status, ended.out) == (2, "")
    assert said in ended.err


def test_a_shipped_definition_can_be_shown(data: Path) -> None:
    shown = definitions(data, "show", "code_execution").out
    assert shown.startswith("code_execution: shipped\n")
    assert "limits           wall_seconds = 5 s, memory_bytes = 128 MB" in shown
