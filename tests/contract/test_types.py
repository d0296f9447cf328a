"""The static type check, on request: before anything runs, against declared inputs and tools. Python alone has it."""

from __future__ import annotations

from typing import Any

import pytest

from paddock.errors import RequestError
from paddock.model.result import Verdict
from tests.contract.rigs import Rig


def orders(**filters: Any) -> dict[str, Any]:
    return filters


@pytest.mark.parametrize(
    ("code", "line", "column", "rule"),
    [
        ("print('x')\n1 + 'a'", 2, 1, "unsupported-operator"),
        ("x = 1\n\nx.missing()", 3, 1, "unresolved-attribute"),
        ("names.append('b')\nnames.push('c')", 2, 1, "unresolved-attribute"),
        ("count + 'a'", 1, 1, "unsupported-operator"),
        ("unknown", 1, 1, "unresolved-reference"),
        ("s = 'äöü'; s + 1", 1, 12, "unsupported-operator"),
        ("return count + 'a'", 1, 8, "unsupported-operator"),
        ("await call_tool(5)", 1, 7, "no-matching-overload"),
        ("await orders(5)", 1, 14, "invalid-argument-type"),
        ("def f(x: int) -> int:\n    return x\nf('a')", 3, 3, "invalid-argument-type"),
    ],
)
async def test_what_is_wrong_by_its_types_is_refused_with_its_place(
    python_rig: Rig, code: str, line: int, column: int, rule: str
) -> None:
    result = await python_rig.run(code, orders, type_check=True, inputs={"names": ["a"], "count": 1})
    assert result.error is not None, rule
    assert (result.verdict, result.stdout, result.error.type) == (Verdict.REJECTED, "", "TypingError")
    assert (result.error.line, result.error.column) == (line, column)


async def test_several_findings_are_listed_with_their_places(python_rig: Rig) -> None:
    result = await python_rig.run("1 + 'a'\n2 + 'b'", type_check=True)
    assert result.error is not None
    assert [line.split(":")[0] for line in result.error.message.splitlines()] == [
        "line 1, column 1",
        "line 2, column 1",
    ]


@pytest.mark.parametrize(
    ("code", "output"),
    [
        ("count + 1", 2),
        ("return count", 1),
        ("if count:\n    return\nreturn 5", None),
        ("for n in [1, 2]:\n    if n == 2:\n        return n", 2),
        ("(await orders({'a': 1}))['a']", 1),
        ("(await call_tool('orders', {'a': 2}))['a']", 2),
        ("await report_progress(1, 2, 'x')", None),
        ("files", []),
        ("[n.upper() for n in names]", ["A"]),
        ("count = 'text'\ncount.upper()", "TEXT"),
        ("from __future__ import annotations\ncount", 1),
        ("try:\n    import no_such_module\nexcept ImportError:\n    x = 1\nx", 1),
        ("list(map(str, filter(None, [0, 1])))", ["1"]),
        ("hasattr(count, 'x') or getattr(count, 'x', 5)", 5),
        ("try:\n    open('/missing')\nexcept FileNotFoundError:\n    x = 2\nx", 2),
        ("mixed[0]", 1),
        ("nothing is None", True),
        ("x = 1  # größe\r\nx + 1\r\n", 2),
    ],
)
async def test_what_is_right_runs_as_without_the_check(python_rig: Rig, code: str, output: object) -> None:
    inputs = {"names": ["a"], "count": 1, "mixed": [1, "a"], "nothing": None}
    result = await python_rig.run(code, orders, type_check=True, inputs=inputs)
    assert (result.verdict, result.output) == (Verdict.OK, output), result.error


async def test_without_the_check_the_same_script_runs_up_to_its_error(python_rig: Rig) -> None:
    result = await python_rig.run("print('x')\n1 + 'a'")
    assert (result.verdict, result.stdout) == (Verdict.RAISED, "x\n")


@pytest.mark.parametrize("code", ["def f():\n    yield 1\nlist(f())", "class A(int):\n    pass\nA(1)"])
async def test_what_the_engine_cannot_parse_is_reported_as_without_the_check(python_rig: Rig, code: str) -> None:
    checked, unchecked = await python_rig.run(code, type_check=True), await python_rig.run(code)
    assert (checked.verdict, checked.error) == (unchecked.verdict, unchecked.error)


async def test_javascript_has_no_type_check(javascript_rig: Rig) -> None:
    with pytest.raises(RequestError):
        await javascript_rig.run("1 + 1", type_check=True)
