"""What a script hands back, and what it finds."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from paddock.model.errors import BadInput
from paddock.model.files import File
from paddock.model.result import Verdict
from tests.contract.conftest import Rig


@pytest.mark.parametrize(
    ("code", "output"),
    [
        ("1 + 1", 2),
        ("x = 2\nx * 3", 6),
        ("1; 2", 2),
        ("5  # five", 5),
        ("(1,\n 2)\n\n# end", [1, 2]),
        ("1, 2", [1, 2]),
        ("'''a\nb'''", "a\nb"),
        ("(y := 5)", 5),
        ("[x for x in range(3)]", [0, 1, 2]),
        ("None", None),
        ("print('x')", None),
        ("'größe 😀'", "größe 😀"),
        ("return 5", 5),
        ("return", None),
        ("if True:\n    return 5\n7", 5),
        ("for x in range(9):\n    if x == 3:\n        return x\nelse:\n    return -1", 3),
        ("if False:\n    return 5\n7", 7),
        ("if False:\n    return 5\nx = 7", None),
        ("return {\n    'a': 1,\n}", {"a": 1}),
        ("x = 3; return(x)", 3),
        ("a = [1]\nreturn *a, 2", [1, 2]),
        ("return \\\n  5  # five", 5),
        ("return (1) + (\n  2)\n\n", 3),
        ("try:\n    return 1\nfinally:\n    print('end')", 1),
        ("def f():\n    return 9\nf()", 9),
        ("a = 1\r\nb = 2\r\na + b\r\n", 3),
        ("a = 1\rb = 2\ra + b", 3),
        ("import asyncio\nasync def f(x):\n    return x + 1\nawait f(1)", 2),
        ("import asyncio\nasync def f(x):\n    return x\nreturn await asyncio.gather(f(1), f(2))", [1, 2]),
        ("x = 1", None),
        ("", None),
        ("# nothing", None),
        ("def f():\n    1", None),
        ("if True:\n    1", None),
        ("from __future__ import annotations\n1", 1),
    ],
)
async def test_the_value_is_the_last_expression_or_what_is_returned(rig: Rig, code: str, output: object) -> None:
    result = await rig.run(code)
    assert (result.verdict, result.output, result.error) == (Verdict.OK, output, None)


@pytest.mark.parametrize(
    ("code", "output"),
    [
        ("(1, (2, 3))", [1, [2, 3]]),
        ("{3}", [3]),
        ("frozenset([4])", [4]),
        ("range(3)", [0, 1, 2]),
        ("float('nan')", "NaN"),
        ("[float('inf'), {'a': -float('inf')}]", ["Infinity", {"a": "-Infinity"}]),
        ("import datetime\ndatetime.datetime(2026, 1, 2, 3, 4, 5)", "2026-01-02T03:04:05"),
        ("import datetime\n[datetime.date(2026, 1, 2), datetime.timedelta(minutes=1)]", ["2026-01-02", 60.0]),
        ("b'ab\\xff'", "ab\ufffd"),
        ("{1: 2, None: 3, (1, 2): 4, 1.5: 6}", {"1": 2, "null": 3, "(1, 2)": 4, "1.5": 6}),
        ("{True: 1}", {"true": 1}),
        ("2 ** 200", 2**200),
        ("-0.0", -0.0),
        ("1e300 * 1e10", "Infinity"),
        ("x = [1]\n[x, x]", [[1], [1]]),
        ("'\\u2028\\x00\"\\\\'", '\u2028\0"\\'),
        ("return (1, 2)", [1, 2]),
        ("return float('nan')", "NaN"),
    ],
)
async def test_what_json_lacks_comes_as_what_is_nearest(rig: Rig, code: str, output: object) -> None:
    result = await rig.run(code)
    assert (result.verdict, result.output) == (Verdict.OK, output)


async def test_a_lone_surrogate_does_not_break_a_run(rig: Rig) -> None:
    result = await rig.run("print('a\\ud800b')\n'\\ud800'")
    assert (result.verdict, result.stdout) == (Verdict.OK, "a\ufffdb\n")
    assert isinstance(result.to_json(), str)


@pytest.mark.parametrize("depth", [100, 400])
async def test_a_value_nested_deeply_comes_back_whole(rig: Rig, depth: int) -> None:
    result = await rig.run(f"x = 1\nfor _ in range({depth}):\n    x = [x]\nx")
    assert result.output_json == "[" * depth + "1" + "]" * depth


@pytest.mark.parametrize("recursion", [1000, 10_000])
async def test_a_value_nested_beyond_any_use_breaks_nothing_here(rig: Rig, recursion: int) -> None:
    result = await rig.run(
        "x = 1\nfor _ in range(3000):\n    x = [x]\nx", limits={"recursion": recursion, "wall_seconds": 5}
    )
    assert result.verdict in (Verdict.OK, Verdict.RAISED)
    assert (result.output is None) == (result.verdict is Verdict.RAISED)


async def test_a_value_that_contains_itself_is_an_error(rig: Rig) -> None:
    result = await rig.run("x = []\nx.append(x)\nx")
    assert result.error is not None
    assert (result.verdict, result.error.type, result.error.message) == (
        Verdict.RAISED,
        "ValueError",
        "the result contains itself",
    )


@pytest.mark.parametrize("code", ["f()", "[f()]", "return f()"])
async def test_a_call_that_was_never_awaited_is_a_clear_error(rig: Rig, code: str) -> None:
    result = await rig.run(f"async def f():\n    return 1\n{code}")
    assert result.error is not None
    assert (result.verdict, result.error.type, result.error.message) == (
        Verdict.RAISED,
        "TypeError",
        "the result is a coroutine that was never awaited: write `await` before the call",
    )


async def test_a_value_that_is_exponentially_larger_outside_costs_the_guest_alone(rig: Rig) -> None:
    beats = 0

    async def heart() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.005)
            beats += 1

    beating = asyncio.create_task(heart())
    result = await rig.run("x = ['a']\nfor _ in range(60):\n    x = [x, x]\nx", limits={"wall_seconds": 0.5})
    beating.cancel()
    assert result.verdict in (Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY)
    assert result.output is None
    assert beats >= 10  # of a hundred; a host that encodes the value itself would not beat at all


@pytest.mark.parametrize("padding", [0, 100_000])
async def test_inputs_are_variables_whatever_their_size(rig: Rig, padding: int) -> None:
    value: dict[str, Any] = {"list": [1, 2.5, None, True, "ä\n"], "object": {"": {}}, "padding": "x" * padding}
    result = await rig.run("[number + 1, value]", inputs={"number": 41, "value": value})
    assert (result.verdict, result.output) == (Verdict.OK, [42, value])


async def test_an_input_may_be_changed_without_changing_the_callers(rig: Rig) -> None:
    mine = [1]
    assert (await rig.run("mine.append(2)\nmine", inputs={"mine": mine})).output == [1, 2]
    assert mine == [1]


async def test_an_input_may_hide_a_builtin_but_not_what_paddock_defines(rig: Rig) -> None:
    assert (await rig.run("[sum, len('a')]", inputs={"sum": 1})).output == [1, 1]
    with pytest.raises(BadInput, match=r"^input 'call_tool' would hide the function of that name; rename it$"):
        await rig.run("call_tool", inputs={"call_tool": 2})


async def test_files_are_listed_and_read_by_path(rig: Rig) -> None:
    files = [File("a.csv", b"1,2", "text/csv", "e1"), File("../a.csv", b"\xff\x00"), File("größe.txt", "ü".encode())]
    code = """
from pathlib import Path
one, two, three = [Path(file['path']) for file in files]
[files, one.read_text(), list(two.read_bytes()), three.read_text()]
"""
    result = await rig.run(code, files=files)
    listed = [
        {"path": "/files/a.csv", "file_name": "a.csv", "file_type": "text/csv", "element_id": "e1"},
        {"path": "/files/a-2.csv", "file_name": "../a.csv", "file_type": "", "element_id": ""},
        {"path": "/files/größe.txt", "file_name": "größe.txt", "file_type": "", "element_id": ""},
    ]
    assert (result.verdict, result.output) == (Verdict.OK, [listed, "1,2", [255, 0], "ü"])


async def test_files_may_be_opened_and_written(rig: Rig) -> None:
    code = """
with open(files[0]['path']) as f:
    text = f.read()
with open('/tmp/out.txt', 'w') as f:
    f.write(text * 2)
open('/tmp/out.txt').read()
"""
    assert (await rig.run(code, files=[File("a", b"xy")])).output == "xyxy"


async def test_without_files_the_list_is_empty(rig: Rig) -> None:
    assert (await rig.run("files")).output == []


@pytest.mark.parametrize("path", ["/etc/shadow", "/files/../etc/hostname", __file__, "/files/missing", "~/.profile"])
async def test_no_file_of_the_host_can_be_read(rig: Rig, path: str) -> None:
    result = await rig.run(f"open({path!r}).read()")
    assert result.error is not None
    assert (result.verdict, result.error.type) == (Verdict.RAISED, "FileNotFoundError")


async def test_the_hosts_environment_is_not_visible(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_HOST", "hunter2")
    assert (await rig.run("import os\nos.environ.get('SECRET_OF_THE_HOST')")).output is None
    code = "try:\n    text = open('/proc/self/environ').read()\nexcept FileNotFoundError:\n    text = ''\ntext"
    assert "hunter2" not in (await rig.run(code)).output
