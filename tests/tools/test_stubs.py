"""Typed stubs: what they say, that checkers accept them, and that they find what is wrong in a script."""

from __future__ import annotations

import ast
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paddock.model.tools import Tool
from paddock.tools.stubs import module, stubs
from tests.examples import examples
from tests.tools import python_types, typescript
from tests.tools.samples import ANYTHING, CANCEL, ORDERS, PING, SHOP, real_tools

EVERY = [*real_tools(), *SHOP]
ORDERS_IN_PYTHON = '''\
OrdersArgumentsPerson = TypedDict(
    "OrdersArgumentsPerson",
    {
        "first name": str,
    },
)

class OrdersArguments(TypedDict):
    status: Literal["open", "paid", "sent"]  # Only orders in this state
    since: NotRequired[str]  # date
    limit: NotRequired[int]  # default 20; 1 to 100
    customer: NotRequired[int | OrdersArgumentsPerson | None]

class OrdersResultLine(TypedDict):
    item: str

class OrdersResultOrder(TypedDict):
    id: int
    state: NotRequired[Literal["open"]]
    replaces: NotRequired[OrdersResultOrder]
    lines: list[OrdersResultLine]

class OrdersResult(TypedDict):
    rows: list[OrdersResultOrder]
    totals: dict[str, float]
    next: NotRequired[str | None]

async def orders(arguments: OrdersArguments) -> OrdersResult:
    """Orders of the shop. Newest first.

    Or: await call_tool("shop.orders", {...}) (read-only)
    """
'''
ORDERS_IN_TYPESCRIPT = """\
interface OrdersArgsPerson {
  "first name": string;
}

interface OrdersArgs {
  /** Only orders in this state */
  status: "open" | "paid" | "sent";
  /** date */
  since?: string;
  /** default 20; 1 to 100 */
  limit?: number;
  customer?: number | OrdersArgsPerson | null;
}

interface OrdersResultLine {
  item: string;
}

interface OrdersResultOrder {
  id: number;
  state?: "open";
  replaces?: OrdersResultOrder;
  lines: OrdersResultLine[];
}

interface OrdersResult {
  rows: OrdersResultOrder[];
  totals: Record<string, number>;
  next?: string | null;
}

/**
 * Orders of the shop. Newest first.
 *
 * Or: await callTool("shop", "orders", {...}) (read-only)
 */
declare function orders(args: OrdersArgs): Promise<OrdersResult>;
"""


def of(schema: Any, output: Any = None) -> str:
    """The Python stub of a tool `t` that takes one thing, `x`, of this schema."""
    tool = Tool("s", "t", "", {"type": "object", "properties": {"x": schema}, "required": ["x"]}, output)
    return stubs([tool])["t"]


def type_of(schema: Any) -> str:
    found = re.search(r"^    x: (.*?)(  #.*)?$", of(schema), re.MULTILINE)
    assert found is not None
    return found[1]


def signature(tool: Tool, language: str = "python") -> str:
    start = "async def" if language == "python" else "declare function"
    return next(line for line in stubs([tool], language).popitem()[1].splitlines() if line.startswith(start))


def test_a_tool_is_a_function_of_one_dict_with_its_types_before_it() -> None:
    assert stubs([ORDERS]) == {"orders": ORDERS_IN_PYTHON}
    assert stubs([ORDERS], "typescript") == {"orders": ORDERS_IN_TYPESCRIPT}


def test_arguments_of_which_none_is_required_may_be_left_out() -> None:
    assert signature(PING) == "async def ping(arguments: PingArguments | None = None) -> dict[str, Any]:"
    assert signature(ANYTHING) == "async def orders(arguments: dict[str, Any] | None = None) -> dict[str, Any]:"
    assert signature(PING, "typescript") == (
        "declare function ping(args?: Record<string, never>): Promise<Record<string, any>>;"
    )


def test_a_result_that_is_no_object_is_the_field_result_of_one() -> None:
    assert "class CancelOrderResult(TypedDict):\n    result: bool\n" in stubs([CANCEL])["cancel_order"]


@pytest.mark.parametrize(
    ("output", "result"),
    [
        ({"type": "object"}, "dict[str, Any]"),
        ({}, "dict[str, Any]"),
        ({"type": ["object", "string"]}, "dict[str, Any]"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "dict[str, int]"),
        ({"type": "object", "properties": {"a": {}}}, "TResult"),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {"a": {}}}}}, "TResultA"),
        ({"type": "array", "items": {"type": "string"}}, "TResult"),
        (
            {"anyOf": [{"type": "object", "properties": {"a": {}}}, {"type": "object", "properties": {"b": {}}}]},
            "TResult | TResult2",
        ),
    ],
)
def test_the_type_of_a_result(output: dict[str, Any], result: str) -> None:
    assert signature(Tool("s", "t", "", output_schema=output)).endswith(f"-> {result}:")


@pytest.mark.parametrize(
    ("schema", "python"),
    [
        ({"type": "string"}, "str"),
        ({"type": "integer"}, "int"),
        ({"type": "number"}, "float"),
        ({"type": ["integer", "number"]}, "float"),
        ({"type": "boolean"}, "bool"),
        ({"type": "null"}, "None"),
        ({"type": ["null", "string"]}, "str | None"),
        ({"type": "string", "nullable": True}, "str | None"),
        ({}, "Any"),
        (True, "Any"),
        ({"type": "bogus"}, "Any"),
        ({"type": 5}, "Any"),
        ({"const": "a"}, 'Literal["a"]'),
        ({"const": 1.5}, "float"),
        ({"enum": ["a", 1, True, None, -2]}, 'Literal["a", 1, True, -2] | None'),
        ({"enum": ["a", 1.5]}, "str | float"),
        ({"enum": [f"v{number}" for number in range(101)]}, "str"),
        ({"enum": ["x" * 101]}, "str"),
        ({"enum": [2**60]}, "int"),
        ({"enum": []}, "Any"),
        ({"anyOf": [{"const": 1}, {"const": True}, {"type": "null"}]}, "Literal[1, True] | None"),
        ({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}, "str | list[str]"),
        ({"anyOf": [{"type": "string"}, {}]}, "Any"),
        ({"type": "array"}, "list[Any]"),
        ({"items": {"type": "integer"}}, "list[int]"),
        ({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}, "list[str | int]"),
        ({"type": "object"}, "dict[str, Any]"),
        ({"type": "object", "properties": {}}, "dict[str, Any]"),
        ({"additionalProperties": {"type": "number"}}, "dict[str, float]"),
        ({"type": "object", "properties": {"a": {}}}, "TArgumentsX"),
        ({"properties": {"a": {}}}, "TArgumentsX"),
        ({"allOf": [{"type": "string"}, {"minLength": 1}]}, "str"),
        ({"$ref": "https://example.org/schema.json"}, "Any"),
        ({"$ref": "file:///etc/passwd"}, "Any"),
        ({"$ref": "#/nowhere"}, "Any"),
        ({"$ref": "#/properties/x"}, "Any"),
        ({"$ref": "#"}, "TArguments"),
    ],
)
def test_each_schema_becomes_the_matching_type(schema: Any, python: str) -> None:
    assert type_of(schema) == python


def test_the_parts_of_an_all_of_become_one_record() -> None:
    schema = {
        "allOf": [
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"$ref": "#/$defs/More"},
        ],
        "properties": {"c": {"type": "boolean"}},
    }
    more = {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]}
    tool = Tool("s", "t", "", {**schema, "$defs": {"More": more}})
    assert "class TArguments(TypedDict):\n    c: NotRequired[bool]\n    a: str\n    b: int\n" in stubs([tool])["t"]


def test_alternative_required_lists_do_not_change_the_record() -> None:
    schema = {"properties": {"a": {}, "b": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    assert (
        "class TArguments(TypedDict):\n    a: NotRequired[Any]\n    b: NotRequired[Any]\n"
        in stubs([Tool("s", "t", "", schema)])["t"]
    )


def test_a_record_with_further_fields_declares_them() -> None:
    more = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "integer"}}
    assert "class TArgumentsX(TypedDict, extra_items=Any):\n    a: NotRequired[str]\n" in of(more)


def test_equal_records_of_a_tool_are_declared_once() -> None:
    point = {"type": "object", "properties": {"x": {"type": "number"}, "y": {"type": "number"}}}
    tool = Tool("s", "line", "", {"properties": {"start": point, "end": point}})
    assert stubs([tool])["line"].count("(TypedDict)") == 2


def test_keys_that_are_not_identifiers_are_quoted() -> None:
    keys = ("from", "a-b", "", "list", "__x", "ß", 'q"\n\\', "TArguments")
    text = of({"type": "object", "properties": {key: {"type": "string"} for key in keys}})
    assert 'TArgumentsX = TypedDict(\n    "TArgumentsX",\n    {\n        "from": NotRequired[str],\n' in text
    (declared,) = [node for node in ast.parse(text).body if isinstance(node, ast.Assign)]
    assert isinstance(declared.value, ast.Call)
    fields = declared.value.args[1]
    assert isinstance(fields, ast.Dict)
    assert tuple(key.value for key in fields.keys if isinstance(key, ast.Constant)) == keys


def test_tools_that_share_a_name_show_their_own_names() -> None:
    declared = stubs([ORDERS, ANYTHING])
    assert list(declared) == [f"orders_{ORDERS.id}", f"orders_{ANYTHING.id}"]
    assert f"async def orders_{ANYTHING.id}(" in declared[f"orders_{ANYTHING.id}"]


@pytest.mark.parametrize("is_ordered", [True, False])
def test_a_shared_name_is_shown_only_where_the_order_of_the_tools_is_explicit(is_ordered: bool) -> None:
    declared = stubs([ORDERS, ANYTHING], is_ordered=is_ordered)
    assert ("async def orders(" in declared[f"orders_{ORDERS.id}"]) is is_ordered
    assert ("async def orders(" in module([ORDERS, ANYTHING], is_ordered=is_ordered)) is is_ordered


def test_a_tool_without_an_output_schema_says_how_its_answer_arrives() -> None:
    for language in ("python", "typescript"):
        assert "{result: text, list or artifact}" in "".join(stubs([PING], language).values())
        assert "{result:" not in "".join(stubs([ORDERS], language).values())


def test_a_tool_shown_alone_has_the_name_that_it_has_among_the_others() -> None:
    assert list(stubs([ANYTHING], among=[ORDERS, ANYTHING])) == [f"orders_{ANYTHING.id}"]


def test_types_of_different_tools_have_different_names() -> None:
    taking = {"type": "object", "properties": {"a": {}}}
    text = module([Tool("s", name, "", taking) for name in ("get-x", "getX", "GetXArguments")])
    classes = re.findall(r"^class (\w+)", text, re.MULTILINE)
    assert len(set(classes)) == len(classes)
    assert "GetXArguments" not in classes


@pytest.mark.parametrize("language", ["python", "typescript"])
def test_the_same_tools_give_the_same_bytes(language: str) -> None:
    assert module(EVERY, language) == module(EVERY, language)


def test_python_stubs_are_valid(tmp_path: Path) -> None:
    assert python_types.complaints(tmp_path, module(EVERY)) == ""
    only_declares(module(EVERY))


def test_typescript_stubs_are_valid(tmp_path: Path) -> None:
    (tmp_path / "api.d.ts").write_text(module(EVERY, "typescript"), encoding="utf-8")
    assert typescript.findings(tmp_path, "api.d.ts") == []


@pytest.mark.parametrize(
    ("line", "script"),
    [
        (2, "found = await orders({'status': 'open'})\nfound['rowz']"),
        (2, "found = await orders({'status': 'open'})\nfound['rows'][0]['lines'][0]['itm']"),
        (2, "found = await orders({'status': 'open'})\nfound['totals']['a'].upper()"),
        (3, "x = 1\nfound = orders({'status': 'open'})\nfound['rows']"),
        (1, "await orders({'status': 'opn'})"),
        (1, "await orders({'status': 'open', 'limit': 'ten'})"),
        (1, "await orders({'limit': 5})"),
        (1, "await orders({'status': 'open', 'limt': 5})"),
        (1, "await orders(status='open')"),
        (1, "await orders(**{'status': 'open'})"),
        (1, "await orders()"),
        (1, "await orders([1])"),
        (1, "await no_such_tool({})"),
        (2, "found = await call_tool('shop.orders', {'status': 'open'})\nfound['rowz']"),
        (1, "(await cancel_order({'id': 1}))['result'].upper()"),
        (1, "(await create_artifact('a', 'b'))['uri']"),
        (1, "await report_progress('half')"),
    ],
)
def test_ty_finds_errors_at_their_line(tmp_path: Path, line: int, script: str) -> None:
    assert set(python_types.findings(tmp_path, module([ORDERS, CANCEL]), script)) == {line}


RIGHT = """
found = await orders({"status": "open", "limit": 5, "customer": {"first name": "Ada"}})
for row in found["rows"]:
    print(row["id"] + 1, [line["item"].upper() for line in row["lines"]], row.get("replaces"))
await ping()
await ping({})
anything = await call_tool("legacy.orders", {"whatever": 1})
print(anything["what"]["ever"], (await call_tool("no.such", arguments={}))["x"])
made = await create_artifact("a.txt", b"x")
print(made["success"], files[0]["path"], (await cancel_order({"id": 1}))["result"] is True)
await report_progress(1, 2, "half")
graph = await read_graph()
print(graph["entities"][0]["observations"][0].upper())
"""


def test_ty_finds_no_error_in_correct_scripts(tmp_path: Path) -> None:
    assert python_types.findings(tmp_path, module(EVERY, is_ordered=True), RIGHT) == []


def test_tsc_finds_errors_at_their_line(tmp_path: Path) -> None:
    wrong = [
        ("(await orders({status: 'open'})).rowz;", 2339),
        ("(orders({status: 'open'})).rows;", 2339),
        ("await orders({status: 'opn'});", 2820),
        ("await orders({});", 2741),
        ("await orders({status: 'open', limt: 5});", 2561),
        ("await cancel_order({id: '1'});", 2322),
        ("await ping({x: 1});", 2322),
        ("(await callTool('shop', 'orders', {status: 'open'})).rowz;", 2339),
        ("await noSuchTool({});", 2304),
    ]
    (tmp_path / "api.d.ts").write_text(module(SHOP, "typescript", is_ordered=True), encoding="utf-8")
    scripts = [f"script{number}.ts" for number in range(len(wrong))]
    for script, (line, _) in zip(scripts, wrong, strict=True):
        (tmp_path / script).write_text(f"export {{}};\n{line}\n", encoding="utf-8")
    found = [finding for finding in typescript.findings(tmp_path, "api.d.ts", *scripts) if finding[0] != " "]
    places = [(finding.split(",")[0], finding.split("TS")[1].split(":")[0]) for finding in found]
    expected = [(f"{script}(2", str(number)) for script, (_, number) in zip(scripts, wrong, strict=True)]
    assert sorted(places) == expected, found


def test_tsc_finds_no_error_in_correct_scripts(tmp_path: Path) -> None:
    script = """
    export {};
    const found = await orders({status: "open", limit: 5, customer: {"first name": "Ada"}});
    const items: string[] = found.rows.flatMap((row) => row.lines.map((line) => line.item));
    await ping();
    const anything = await callTool("legacy", "orders", {whatever: items});
    const made = await codeExec.createArtifact("a.txt", anything.what.ever, "txt");
    await reportProgress(1, 2, made.url ?? files[0].path);
    const done: boolean = (await cancel_order({id: 1})).result;
    """
    (tmp_path / "api.d.ts").write_text(module(SHOP, "typescript", is_ordered=True), encoding="utf-8")
    (tmp_path / "script.ts").write_text(script, encoding="utf-8")
    assert typescript.findings(tmp_path, "api.d.ts", "script.ts") == []


NASTY = [
    '"""\nimport os\n"""',
    "\\",
    '"',
    "'",
    "*/ declare const stolen: string; /*",
    "/// <reference path='x' />",
    "@ts-ignore",
    "type: ignore",
    "# type: ignore # noqa",
    "a\r\nimport os\u2028import os\x0cimport os\x85",
    "\u202eesrever\u2066",
    "\x1b]0;title\x07\x1b[2J",
    "\ud800",
    "${x}`",
    "x" * 100_000,
]


def test_the_note_of_a_field_has_its_pattern_and_limits_also_where_it_may_be_null() -> None:
    fields = {
        "country": {"type": "string", "pattern": "^[A-Z]{2}$"},
        "zip": {"anyOf": [{"type": "string", "pattern": r"^\d{5}$"}, {"type": "null"}], "default": None},
        "page": {
            "anyOf": [{"type": "integer", "minimum": 1, "maximum": 50}, {"type": "null"}],
            "description": "A page",
        },
        "price": {"type": "number", "exclusiveMinimum": 0},
        "text": {"type": "string", "pattern": "x" * 100},
    }
    text = stubs([Tool("s", "t", "", {"type": "object", "properties": fields})])["t"]
    assert re.findall(r"(\w+): NotRequired\[[^]]*\](?:  # (.*))?", text) == [
        ("country", "matches ^[A-Z]{2}$"),
        ("zip", r"matches ^\d{5}$; default null"),
        ("page", "A page (1 to 50)"),
        ("price", "above 0"),
        ("text", ""),
    ]


def nasty_tools() -> list[Tool]:
    """Each of the nasty texts wherever a tool has text."""
    tools = []
    for text in NASTY:
        field = {"type": "string", "description": text, "format": text, "pattern": text, "default": text}
        choice = {"enum": [text, "b"], "description": text, "default": text}
        known = {text: field, "x": choice, "y": {"const": text}, "z": {"$ref": f"#/$defs/{text}"}}
        schema = {"type": "object", "properties": known, "required": [text], "$defs": {text: {"properties": known}}}
        tools.append(Tool(text[:500], text, text, schema, schema, title=text, tags=(text,)))
    return tools


def test_no_text_of_a_server_becomes_code(tmp_path: Path) -> None:
    text = module(nasty_tools())
    only_declares(text)
    assert python_types.complaints(tmp_path, text) == ""
    in_typescript = module(nasty_tools(), "typescript")
    only_declares_in_typescript(in_typescript)
    (tmp_path / "api.d.ts").write_text(in_typescript, encoding="utf-8")
    assert typescript.findings(tmp_path, "api.d.ts") == []


@pytest.mark.parametrize("order", ["@ts-ignore", "@ts-expect-error", "x @ts-ignore", "/ @ts-nocheck"])
def test_a_description_cannot_disable_tsc(tmp_path: Path, order: str) -> None:
    tool = Tool("s", "t", order, {"type": "object", "properties": {"a": {"type": "string", "description": order}}})
    broken = stubs([tool], "typescript")["t"].replace("a?: string;", "a?: NoSuchType;")
    (tmp_path / "api.d.ts").write_text(broken, encoding="utf-8")
    assert len(typescript.findings(tmp_path, "api.d.ts")) == 1


@pytest.mark.parametrize("order", ["type: ignore", "ty: ignore", "x # type: ignore", "##  type:ignore[x]", "noqa"])
def test_a_description_cannot_disable_ty(tmp_path: Path, order: str) -> None:
    tool = Tool("s", "t", order, {"type": "object", "properties": {"a": {"type": "string", "description": order}}})
    broken = module([tool]).replace("a: NotRequired[str]", "a: NotRequired[NoSuchType]")
    assert "unresolved-reference" in python_types.complaints(tmp_path, broken)


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": {"anyOf": [{"allOf": [schema]}, {"type": "null"}]}}}
    return schema


WIDE = {"type": "object", "properties": {f"p{number}": {"type": "string"} for number in range(10_000)}}
BRANCHING = {
    "$defs": {f"d{n}": {"anyOf": [{"items": {"$ref": f"#/$defs/d{n + 1}"}}] * 3, "x": n} for n in range(100)},
    "properties": {"a": {"$ref": "#/$defs/d0"}},
}
LOOPING = {
    "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#"}]}},
    "properties": {"a": {"$ref": "#/$defs/a"}, "b": {"type": "object", "$ref": "#", "properties": {"c": {}}}},
}


@pytest.mark.parametrize(
    "schema",
    [deep(1000), WIDE, {"allOf": [WIDE] * 1000}, BRANCHING, LOOPING],
    ids=["deep", "wide", "all", "many", "loop"],
)
def test_a_huge_or_endless_schema_gives_a_stub_of_bounded_size(tmp_path: Path, schema: dict[str, Any]) -> None:
    tools = [Tool("s", "t", "", schema, schema)]
    assert len(module(tools)) < 100_000
    assert python_types.complaints(tmp_path, module(tools)) == ""
    (tmp_path / "api.d.ts").write_text(module(tools, "typescript"), encoding="utf-8")
    assert typescript.findings(tmp_path, "api.d.ts") == []


def test_a_reference_of_many_characters_is_not_decoded_again_and_again() -> None:
    properties = {f"p{number}": {"$ref": "#/$defs/d"} for number in range(300)}
    schema = {"type": "object", "properties": properties, "$defs": {"d": {"$ref": "#" + "/%61" * 60_000}}}
    started = time.process_time()
    module([Tool("s", "t", "", schema)])
    assert time.process_time() - started < 5  # half a minute, if each is decoded


def test_names_that_are_too_long_to_be_read_are_left_out(tmp_path: Path) -> None:
    key = "k" * 1_000_000
    schema = {"type": "object", "properties": {key: {}, "a": {"type": "string"}}, "required": [key, "a"]}
    text = module([Tool("s", "t" * 1_000_000, "", schema)])
    assert len(text) < 5000
    assert "Arguments(TypedDict, extra_items=Any):\n    a: str\n" in text
    assert python_types.complaints(tmp_path, text) == ""


def test_with_very_many_tools_calls_by_name_are_not_typed() -> None:
    many = [Tool("s", f"t{number}") for number in range(201)]
    assert module(many).count("def call_tool(") == module(many, "typescript").count("function callTool(") == 1
    assert (
        module(many[:200]).count("def call_tool(")
        == module(many[:200], "typescript").count("function callTool(")
        == 201
    )


texts = st.text(max_size=12) | st.sampled_from(["a", "b", "items", "class", *(text[:50] for text in NASTY)])
values = st.none() | st.booleans() | st.integers() | st.floats() | texts
types = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])


def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, max_size=3)
    named = st.dictionaries(texts, inner, max_size=4)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": types | st.lists(types, max_size=3) | values,
            "properties": named | values,
            "required": st.lists(texts, max_size=3) | values,
            "additionalProperties": inner | st.booleans(),
            "items": inner | several,
            "prefixItems": several,
            "anyOf": several | values,
            "oneOf": several,
            "allOf": several,
            "enum": st.lists(values, max_size=4),
            "const": values,
            "$ref": st.sampled_from(["#", "#/$defs/a", "#/$defs/b", "#/properties/a", "x"]) | texts,
            "$defs": named,
            "description": values,
            "format": values,
            "default": values,
            "minimum": values,
            "nullable": st.booleans(),
        },
    )


schemas = deeper(st.recursive(values, deeper, max_leaves=6))
BIG = (HealthCheck.data_too_large, HealthCheck.too_slow)
tools_of_any_kind = st.builds(Tool, texts, texts, texts, schemas, st.none() | schemas, title=texts)


@given(st.lists(tools_of_any_kind, max_size=4))
@settings(max_examples=examples(50), deadline=None, suppress_health_check=BIG)
def test_any_schema_gives_stubs_that_only_declare(tools: list[Tool]) -> None:
    only_declares(module(tools))
    only_declares_in_typescript(module(tools, "typescript"))


@given(st.lists(tools_of_any_kind, min_size=2, max_size=8))
@settings(max_examples=examples(4), deadline=None, suppress_health_check=BIG)
def test_any_schema_gives_stubs_that_checkers_accept(
    tmp_path_factory: pytest.TempPathFactory, tools: list[Tool]
) -> None:
    folder = tmp_path_factory.mktemp("stubs")
    assert python_types.complaints(folder, module(tools)) == ""
    (folder / "api.d.ts").write_text(module(tools, "typescript"), encoding="utf-8")
    assert typescript.findings(folder, "api.d.ts") == []


def only_declares(text: str) -> None:
    """Whether a Python stub, as the parser reads it, has nothing but imports from typing, types and functions."""
    allowed = ast.Name | ast.Subscript | ast.BinOp | ast.BitOr | ast.Constant | ast.Tuple | ast.Load | ast.UnaryOp
    for node in ast.parse(text).body:
        match node:
            case (
                ast.Expr(ast.Constant(str())) | ast.ImportFrom("typing") | ast.Assign([ast.Name("__all__")], ast.List())
            ):
                continue
            case ast.AnnAssign(ast.Name(), annotation, None):
                types = [annotation]
            case ast.Assign([ast.Name()], ast.Call(ast.Name("TypedDict"), [_, ast.Dict() as fields])):
                types = list(fields.values)
            case ast.ClassDef(_, [ast.Name("TypedDict")]):
                assert all(isinstance(line, ast.AnnAssign | ast.Pass) for line in node.body)
                types = [line.annotation for line in node.body if isinstance(line, ast.AnnAssign)]
            case ast.AsyncFunctionDef(_, arguments, [ast.Expr(ast.Constant())]):
                types = [one.annotation for one in arguments.args if one.annotation] + [node.returns or ast.Constant(0)]
            case _:
                pytest.fail(f"more than a declaration: {ast.unparse(node)}")
        assert all(isinstance(part, allowed | ast.USub) for one in types for part in ast.walk(one))


COMMENTS_AND_STRINGS = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.DOTALL)


def only_declares_in_typescript(text: str) -> None:
    """Whether every line of a TypeScript stub begins, goes on with or ends a declaration."""
    bare = COMMENTS_AND_STRINGS.sub("0", text)
    lines = [line for line in bare.splitlines() if line.strip("0 ")]
    begins = re.compile(r"interface \w+ \{$|declare (function|const) |  |\}")
    assert [line for line in lines if not begins.match(line)] == []
    assert [letter for letter in bare if letter not in "$ \n{}()[]<>|:;,?.-" and not f"a{letter}".isidentifier()] == []
