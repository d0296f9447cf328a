"""What a script hands back, and what it finds."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from paddock.errors import BadInput
from paddock.model.files import File
from paddock.model.result import Verdict
from paddock.run import Paddock
from tests.contract.rigs import Rig, Script


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
async def test_the_value_is_the_last_expression_or_what_is_returned(python_rig: Rig, code: str, output: object) -> None:
    result = await python_rig.run(code)
    assert (result.verdict, result.output, result.error) == (Verdict.OK, output, None)


@pytest.mark.parametrize(
    ("code", "output"),
    [
        ("1 + 1", 2),
        ("let x = 2\nx * 3", 6),
        ("1; 2", 2),
        ("5 // five", 5),
        ("[1,\n 2]\n\n// end", [1, 2]),
        ("1, 2", 2),
        ("`a\nb`", "a\nb"),
        ("[0, 1, 2].map((x) => x + 1)", [1, 2, 3]),
        ("null", None),
        ("console.log('x')", None),
        ("'größe 😀'", "größe 😀"),
        ("return 5", 5),
        ("return", None),
        ("if (true) return 5\n7", 5),
        ("for (const x of [1, 2, 3]) {\n  if (x === 3) return x\n}\nreturn -1", 3),
        ("if (false) {\n  return 5\n}\n7", 7),
        ("if (false) return 5\nlet x = 7", None),
        ("return {\n  a: 1,\n}", {"a": 1}),
        ("({ a: 1 })", {"a": 1}),
        ("return (1) + (\n  2)\n\n", 3),
        ("try {\n  return 1\n} finally {\n  console.log('end')\n}", 1),
        ("function f() {\n  return 9\n}\nf()", 9),
        ("const f = async (x) => x + 1\nawait f(1)", 2),
        ("const f = async (x) => x + 1\nf(1)", 2),
        ("return Promise.all([1, Promise.resolve(2)])", [1, 2]),
        ("let a = 1\r\nlet b = 2\r\na + b\r\n", 3),
        ("let a = 1\rlet b = 2\ra + b", 3),
        ("let x = 1", None),
        ("let x\nx = 1", None),
        ("", None),
        ("// nothing", None),
        ("function f() { return 1 }", None),
        ("class A {}", None),
        ("if (true) { 1 }", None),
        ("'use strict'", "use strict"),
        ("'use strict'\nfunction f() { return this === undefined }\nf()", True),
        ("const a = 1\n;[a, 2].length", 2),
        ("const o = { a: 1 }\no\n  .a", 1),
        ("let i = 1\n++i", 2),
        ("true ? 1 : 2", 1),
        ("/a/.test('a')", True),
        ("typeof files", "object"),
        ("this === undefined || this === globalThis", True),
        ("let x = 5\n{\n  let x = 6\n}\nx", 5),
        ("label: for (;;) break label", None),
        ("#!/usr/bin/env node\n1 + 1", 2),
        ("(function* () { yield 1 })()", [1]),
        ("async function* f() { yield 1 }\nlet all = []\nfor await (const x of f()) all.push(x)\nall", [1]),
    ],
)
async def test_the_value_of_javascript_is_the_last_expression_or_what_is_returned(
    javascript_rig: Rig, code: str, output: object
) -> None:
    result = await javascript_rig.run(code)
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
        ("b'ab\\xff'", {"type": "bytes", "base64": "YWL/"}),
        ("[b'ab']", [{"type": "bytes", "base64": "YWI="}]),
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
async def test_what_json_lacks_comes_as_what_is_nearest(python_rig: Rig, code: str, output: object) -> None:
    result = await python_rig.run(code)
    assert (result.verdict, result.output) == (Verdict.OK, output)


async def test_a_lone_surrogate_does_not_break_a_run(rig: Rig) -> None:
    result = await rig.run(Script("print('a\\ud800b')\n'\\ud800'", "console.log('a\\ud800b')\n'\\ud800'"))
    assert (result.verdict, result.stdout) == (Verdict.OK, "a\ufffdb\n")
    assert isinstance(result.to_json(), str)


def nested(depth: int) -> Script:
    return Script(
        f"x = 1\nfor _ in range({depth}):\n    x = [x]\nx",
        f"let x = 1\nfor (let i = 0; i < {depth}; i++) x = [x]\nreturn x",
    )


@pytest.mark.parametrize("depth", [100, 400])
async def test_a_value_nested_deeply_comes_back_whole(rig: Rig, depth: int) -> None:
    result = await rig.run(nested(depth))
    assert result.output_json == "[" * depth + "1" + "]" * depth


@pytest.mark.parametrize("recursion", [1000, 10_000])
async def test_a_value_nested_beyond_any_use_breaks_nothing_here(rig: Rig, recursion: int) -> None:
    result = await rig.run(nested(3000), limits={"recursion": recursion, "wall_seconds": 5})
    assert result.verdict in (Verdict.OK, Verdict.RAISED)
    assert (result.output is None) == (result.verdict is Verdict.RAISED)


async def test_a_value_that_contains_itself_is_an_error(rig: Rig) -> None:
    result = await rig.run(Script("x = []\nx.append(x)\nx", "const x = []\nx.push(x)\nx"))
    assert result.error is not None
    kind, message = {
        "python": ("ValueError", "the result contains itself"),
        "javascript": ("TypeError", "result[0] contains itself"),
    }[rig.language]
    assert (result.verdict, result.error.type, result.error.message) == (Verdict.RAISED, kind, message)


@pytest.mark.parametrize("code", ["f()", "[f()]", "return f()"])
async def test_a_call_that_was_never_awaited_is_a_clear_error(python_rig: Rig, code: str) -> None:
    result = await python_rig.run(f"async def f():\n    return 1\n{code}")
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
    code = Script(
        "x = ['a']\nfor _ in range(60):\n    x = [x, x]\nx",
        "let x = ['a']\nfor (let i = 0; i < 60; i++) x = [x, x]\nreturn x",
    )
    result = await rig.run(code, limits={"wall_seconds": 0.5, "output_bytes": 16 << 20})
    beating.cancel()
    # Guests for JavaScript stop writing when it is too large.
    assert result.verdict in (Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY, Verdict.OUTPUT_LIMIT)
    assert result.output is None
    assert beats >= 10  # of a hundred; a host that encodes the value itself would not beat at all


@pytest.mark.parametrize("padding", [0, 100_000])
async def test_inputs_are_variables_whatever_their_size(rig: Rig, padding: int) -> None:
    value: dict[str, Any] = {"list": [1, 2.5, None, True, "ä\n"], "object": {"": {}}, "padding": "x" * padding}
    result = await rig.run("[number + 1, value]", inputs={"number": 41, "value": value})
    assert (result.verdict, result.output) == (Verdict.OK, [42, value])


async def test_an_input_may_be_changed_without_changing_the_callers(rig: Rig) -> None:
    mine = [1]
    code = Script("mine.append(2)\nmine", "mine.push(2)\nmine")
    assert (await rig.run(code, inputs={"mine": mine})).output == [1, 2]
    assert mine == [1]


async def test_an_input_may_hide_a_builtin_but_not_what_paddock_defines(rig: Rig) -> None:
    hiding = Script("[sum, len('a')]", "[parseInt, 'a'.length]")
    name = {"python": "sum", "javascript": "parseInt"}[rig.language]
    assert (await rig.run(hiding, inputs={name: 1})).output == [1, 1]
    used = ("callTool", "readFile", "codeExec", "console", "Map", "Object", "Set")
    for name in {"python": ("call_tool",), "javascript": used}[rig.language]:
        with pytest.raises(BadInput, match=rf"^input '{name}' would hide the function of that name; rename the input$"):
            await rig.run(name, inputs={name: 2})


@pytest.mark.parametrize("name", ["__builtins__", "__annotations__", "__name__", "__proto__"])
async def test_an_input_has_no_name_that_means_something_to_the_interpreter(rig: Rig, name: str) -> None:
    with pytest.raises(BadInput, match=rf"^input '{name}': names that begin with __paddock, or begin and end with __"):
        await rig.run("1", inputs={name: 2})


async def test_an_input_may_hide_a_global_that_cannot_be_assigned(javascript_rig: Rig) -> None:
    names = ["crypto", "navigator"]
    code = "[crypto, navigator]"
    assert (await javascript_rig.run(code, inputs=dict.fromkeys(names, 1))).output == [1, 1]


@pytest.mark.parametrize("name", ["class", "await", "let", "NaN", "Infinity", "a-b", "1a", "", "null", "this"])
async def test_an_input_has_a_name_that_the_language_has(javascript_rig: Rig, name: str) -> None:
    with pytest.raises(BadInput):
        await javascript_rig.run("1", inputs={name: 2})


async def test_an_input_may_be_assigned_and_declared_anew(javascript_rig: Rig) -> None:
    assert (await javascript_rig.run("x = x + 1\nreturn x", inputs={"x": 1})).output == 2
    assert (await javascript_rig.run("const x = 5\nx", inputs={"x": 1})).output == 5
    assert (await javascript_rig.run("globalThis.x", inputs={"x": 1})).output == 1


async def test_an_integer_that_a_number_cannot_hold_is_a_bigint(javascript_rig: Rig) -> None:
    given = {"id": 9007199254740993, "small": 2**53 - 1, "float": 1e300, "list": [-(2**64)]}
    code = "[given, typeof given.id, typeof given.small, typeof given.float, typeof given.list[0]]"
    result = await javascript_rig.run(code, inputs={"given": given})
    assert result.output == [given, "bigint", "number", "number", "bigint"]


async def test_files_are_listed_and_read_by_path(rig: Rig) -> None:
    files = [File("a.csv", b"1,2", "text/csv", "e1"), File("../a.csv", b"\xff\x00"), File("größe.txt", "ü".encode())]
    code = Script(
        """
from pathlib import Path
one, two, three = [Path(file['path']) for file in files]
[files, one.read_text(), list(two.read_bytes()), three.read_text()]
""",
        """
const [one, two, three] = files.map((file) => file.path);
[files, await readFile(one), [...readFile(two, null)], readFile(three, 'utf8')]
""",
    )
    result = await rig.run(code, files=files)
    listed = [
        {"path": "/files/a.csv", "file_name": "a.csv", "file_type": "text/csv", "element_id": "e1"},
        {"path": "/files/a-2.csv", "file_name": "../a.csv", "file_type": "", "element_id": ""},
        {"path": "/files/größe.txt", "file_name": "größe.txt", "file_type": "", "element_id": ""},
    ]
    assert (result.verdict, result.output) == (Verdict.OK, [listed, "1,2", [255, 0], "ü"])


async def test_a_file_is_also_read_by_its_name_and_with_an_encoding(javascript_rig: Rig) -> None:
    files = [File("a.txt", "\ufeffü".encode()), File("b.txt", "ü".encode("utf-16-le")), File("c.txt", b"\xfc\xff")]
    code = """
[readFile('a.txt'), readFile('/files/b.txt', 'utf-16le'), readFile('c.txt', { encoding: 'latin1' }), readFile('c.txt')]
"""
    assert (await javascript_rig.run(code, files=files)).output == ["ü", "ü", "üÿ", "\ufffd\ufffd"]


async def test_node_reads_and_writes_files_with_its_own_modules(javascript_rig: Rig) -> None:
    code = """
const fs = require('node:fs')
fs.writeFileSync('/tmp/out.txt', fs.readFileSync(files[0].path, 'utf8').repeat(2))
return readFile('/tmp/out.txt')
"""
    result = await javascript_rig.run(code, files=[File("a", b"xy")])
    if javascript_rig.engine == "node":
        assert result.output == "xyxy"
    else:
        assert result.error is not None
        assert (result.error.type, result.error.message) == ("ReferenceError", "require is not defined")


async def test_files_may_be_opened_and_written(python_rig: Rig) -> None:
    code = """
with open(files[0]['path']) as f:
    text = f.read()
with open('/tmp/out.txt', 'w') as f:
    f.write(text * 2)
open('/tmp/out.txt').read()
"""
    assert (await python_rig.run(code, files=[File("a", b"xy")])).output == "xyxy"


async def test_without_files_the_list_is_empty(rig: Rig) -> None:
    assert (await rig.run("files")).output == []


@pytest.mark.parametrize("path", ["/etc/shadow", "/files/../etc/hostname", __file__, "/files/missing", "~/.profile"])
async def test_no_file_of_the_host_can_be_read(rig: Rig, path: str) -> None:
    result = await rig.run(Script(f"open({path!r}).read()", f"await readFile({path!r})"))
    assert result.error is not None
    kind = {"python": "FileNotFoundError", "javascript": "Error"}[rig.language]
    assert (result.verdict, result.error.type) == (Verdict.RAISED, kind)
    # The light engine opens nothing but what is the script's.
    assert rig.language == "python" or result.error.message[:7] in ("ENOENT:", "EACCES:")


async def test_the_hosts_environment_is_not_visible(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_HOST", "hunter2")
    code = Script("import os\nos.environ.get('SECRET_OF_THE_HOST')", "globalThis.process?.env.SECRET_OF_THE_HOST")
    assert (await rig.run(code)).output is None
    code = Script(
        "try:\n    text = open('/proc/self/environ').read()\nexcept FileNotFoundError:\n    text = ''\ntext",
        "let text = ''\ntry {\n  text = readFile('/proc/self/environ')\n} catch {}\nreturn `x${text}`",
    )
    assert "hunter2" not in (await rig.run(code)).output


async def test_files_that_are_not_kept_are_a_warning(paddock: Paddock) -> None:
    code = "for name in ('report.csv', '/files/new.csv'):\n    open(name, 'w').close()"
    attached = [File("data.csv", b"a,b")]
    result = await Rig("cpython", paddock).run(code, files=attached, keep_files=False)
    keep = "keep one with `await create_artifact(name, open(name, 'rb').read())`"
    assert result.warnings == (f"/files/new.csv, report.csv were written and not kept: {keep}.",)
    assert (await Rig("cpython", paddock).run("open('/files/data.csv').read()", files=attached)).warnings == ()
