"""Stubs of odd but honest schemas: ty and tsc both accept them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from paddock.model.tools import Tool
from paddock.tools.stubs import module
from tests.tools import python_types, typescript

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}


def taking(
    name: str, properties: dict[str, Any], required: list[str] | None = None, defs: dict[str, Any] | None = None
) -> Tool:
    needed = list(properties) if required is None else required
    schema = {"type": "object", "properties": properties, "required": needed, "$defs": defs or {}}
    return Tool("odd", name, "", schema)


TOOLS = [
    taking("class", {"from": TEXT, "class": WHOLE, "None": {"type": "null"}}),
    taking("delete", {"constructor": TEXT, "__proto__": WHOLE, "toString": TEXT}),
    taking("größe", {"größe": WHOLE, "名前": TEXT}),
    taking("🚀", {"a": WHOLE}),
    taking("get-order", {"a": WHOLE}),
    taking("get_order", {"b": WHOLE}),
    taking("get.order", {"c": WHOLE}),
    taking("keys", {"": TEXT, " ": TEXT, "a b": TEXT, "1st": TEXT, "self": TEXT, "str": WHOLE, "Any": WHOLE}),
    taking(
        "tree",
        {"root": {"$ref": "#/$defs/Node"}},
        defs={
            "Node": {
                "type": "object",
                "properties": {"name": TEXT, "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
                "required": ["name"],
            }
        },
    ),
    taking(
        "pair",
        {"left": {"$ref": "#/$defs/A"}},
        defs={
            "A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}, "n": WHOLE}, "required": ["n"]},
            "B": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}, "s": TEXT}, "required": ["s"]},
        },
    ),
    taking(
        "both",
        {"both": {"allOf": [{"properties": {"a": WHOLE}, "required": ["a"]}, {"properties": {"b": TEXT}}]}},
    ),
    taking(
        "shape",
        {
            "shape": {
                "oneOf": [
                    {
                        "type": "object",
                        "properties": {"kind": {"const": "round"}, "r": WHOLE},
                        "required": ["kind", "r"],
                    },
                    {"type": "object", "properties": {"kind": {"const": "flat"}, "w": TEXT}, "required": ["kind", "w"]},
                ]
            }
        },
    ),
    taking("nullable", {"a": {"type": ["string", "null"]}, "b": {"enum": ["x", None]}, "c": {"enum": [1, "i", True]}}),
    taking("defaults", {"a": {"type": "integer", "default": 5}, "b": {"enum": ["x", "y"], "default": "x"}}, []),
    taking("tuple", {"point": {"type": "array", "prefixItems": [WHOLE, TEXT], "items": False}}),
    taking("mapping", {"prices": {"type": "object", "additionalProperties": {"type": "number"}}}),
    taking("wide", {f"field_{number}": WHOLE for number in range(500)}, []),
    Tool("odd", "list", "", {"type": "object", "properties": {}}, {"type": "array", "items": {"enum": ["a", "b"]}}),
    Tool("odd", "nothing", "", {"type": "object", "properties": {}}, {"type": "null"}),
]
PYTHON = [
    (
        "await class_({'from': 'a', 'class': 1, 'None': None})",
        "await class_({'from': 'a', 'class': 'x', 'None': None})",
    ),
    ("await delete({'constructor': 'a', '__proto__': 1, 'toString': 'b'})", "await delete({'constructor': 'a'})"),
    ("await größe({'größe': 1, '名前': 'a'})", "await größe({'größe': 'a', '名前': 'a'})"),
    ("await tool({'a': 1})", "await tool({'b': 1})"),
    ("await get_order({'a': 1})", "await get_order({'b': 1})"),
    ("await call_tool('odd.get_order', {'b': 1})", "await call_tool('odd.get_order')['x']"),
    (
        "await keys({'': 'a', ' ': 'a', 'a b': 'a', '1st': 'a', 'self': 'a', 'str': 1, 'Any': 1})",
        "await keys({'': 1, ' ': 'a', 'a b': 'a', '1st': 'a', 'self': 'a', 'str': 1, 'Any': 1})",
    ),
    (
        "await tree({'root': {'name': 'a', 'children': [{'name': 'b', 'children': []}]}})",
        "await tree({'root': {'name': 'a', 'children': [{'nam': 'b'}]}})",
    ),
    ("await pair({'left': {'n': 1, 'b': {'s': 'a'}}})", "await pair({'left': {'n': 1, 'b': {'s': 1}}})"),
    ("await both({'both': {'a': 1, 'b': 'x'}})", "await both({'both': {'b': 'x'}})"),
    ("await shape({'shape': {'kind': 'round', 'r': 1}})", "await shape({'shape': {'kind': 'square', 'r': 1}})"),
    ("await nullable({'a': None, 'b': None, 'c': True})", "await nullable({'a': 1, 'b': 'x', 'c': 1})"),
    ("await nullable({'a': 'a', 'b': 'x', 'c': 'i'})", "await nullable({'a': 'a', 'b': 'z', 'c': 1})"),
    ("await defaults()", "await defaults({'b': 'z'})"),
    ("await tuple_({'point': [1, 'a']})", "await tuple_({'point': [1.5]})"),
    ("await mapping({'prices': {'a': 1.5}})", "await mapping({'prices': {'a': 'x'}})"),
    ("await wide({'field_1': 1})", "await wide([1])"),
    ("(await list_())['result'][0].upper()", "(await list_())['results']"),
    ("(await nothing())['result'] is None", "(await nothing())['result'].upper()"),
]
TYPESCRIPT = [
    (
        "await class_({from: 'a', class: 1, None: null})",
        "await class_({from: 'a', class: 'x', None: null})",
    ),
    ("await delete_({constructor: 'a', ['__proto__']: 1, toString: 'b'} as any)", "await delete_({constructor: 'a'})"),
    ("await größe({größe: 1, 名前: 'a'})", "await größe({größe: 'a', 名前: 'a'})"),
    ("await tool({a: 1})", "await tool({b: 1})"),
    ("await get_order({a: 1})", "await get_order({b: 1})"),
    ("await callTool('odd', 'get_order', {b: 1})", "callTool('odd').x"),
    (
        "await tree({root: {name: 'a', children: [{name: 'b', children: []}]}})",
        "await tree({root: {name: 'a', children: [{nam: 'b'}]}})",
    ),
    ("await pair({left: {n: 1, b: {s: 'a'}}})", "await pair({left: {n: 1, b: {s: 1}}})"),
    ("await both({both: {a: 1, b: 'x'}})", "await both({both: {b: 'x'}})"),
    ("await shape({shape: {kind: 'round', r: 1}})", "await shape({shape: {kind: 'square', r: 1}})"),
    ("await nullable({a: null, b: null, c: true})", "await nullable({a: 1, b: 'x', c: 1})"),
    ("await nullable({a: 'a', b: 'x', c: 'i'})", "await nullable({a: 'a', b: 'z', c: 1})"),
    ("await defaults()", "await defaults({b: 'z'})"),
    ("await tuple({point: [1, 'a']})", "await tuple({point: [true]})"),
    ("await mapping({prices: {a: 1.5}})", "await mapping({prices: {a: 'x'}})"),
    ("await wide({field_1: 1})", "await wide(1)"),
    ("(await list()).result[0].length", "(await list()).results"),
    ("(await nothing()).result === null", "(await nothing()).result.length"),
]


def test_ty_accepts_correct_lines_and_finds_each_wrong_one(tmp_path: Path) -> None:
    stub = module(TOOLS, is_ordered=True)
    assert python_types.complaints(tmp_path, stub) == ""
    assert python_types.findings(tmp_path, stub, "\n".join(right for right, _ in PYTHON)) == []
    found = python_types.findings(tmp_path, stub, "\n".join(wrong for _, wrong in PYTHON))
    assert sorted(set(found)) == list(range(1, len(PYTHON) + 1))


def test_tsc_accepts_correct_lines_and_finds_each_wrong_one(tmp_path: Path) -> None:
    (tmp_path / "api.d.ts").write_text(module(TOOLS, "typescript", is_ordered=True), encoding="utf-8")
    assert typescript.findings(tmp_path, "api.d.ts") == []
    assert found(tmp_path, [right for right, _ in TYPESCRIPT]) == []
    assert found(tmp_path, [wrong for _, wrong in TYPESCRIPT]) == list(range(1, len(TYPESCRIPT) + 1))


def found(folder: Path, lines: list[str]) -> list[int]:
    (folder / "script.ts").write_text("".join(f"{line};\n" for line in lines) + "export {};\n", encoding="utf-8")
    said = [line for line in typescript.findings(folder, "api.d.ts", "script.ts") if line.startswith("script.ts(")]
    return sorted({int(line[len("script.ts(") :].partition(",")[0]) for line in said})


@pytest.mark.parametrize("language", ["python", "typescript"])
def test_a_thousand_tools_of_one_name_have_distinct_names(tmp_path: Path, language: str) -> None:
    many = [taking(f"do{'-' * (number % 2)}it", {f"p{number}": TEXT}) for number in range(2)]
    many += [Tool(f"s{number}", "do-it", "", many[0].input_schema) for number in range(1000)]
    text = module(many, language)
    head = "async def " if language == "python" else "declare function "
    names = [line.removeprefix(head).partition("(")[0] for line in text.splitlines() if line.startswith(f"{head}do")]
    assert len(names) == len(set(names)) > 1000
