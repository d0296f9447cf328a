"""Sessions on Node: declarations stay and may be repeated, as in its own prompt."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from paddock.errors import RequestError
from paddock.model.files import File
from paddock.model.result import RunResult, Verdict
from paddock.run import Paddock


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def paddock() -> AsyncIterator[Paddock]:
    def echo(value: int) -> dict[str, int]:
        return {"value": value}

    async with Paddock(tools=[echo]) as made:
        yield made


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return str(abs(hash(request.node.name)))


async def ran(paddock: Paddock, name: str, *cells: str, **options: Any) -> RunResult:
    """The result of the last of these cells."""
    for code in cells:
        result = await paddock.run(code, session=name, **{"language": "javascript", **options})
    return result


@pytest.mark.parametrize(
    ("cells", "value"),
    [
        (["let x = 1; const y = { a: 2 }; function f(n) { return n + x; }", "f(y.a)"], 3),
        (["let x = 1; const y = 1;", "let x = 2; const y = 3;", "x + y"], 5),
        (["class A { m() { return 7; } }", "new A().m()"], 7),
        (["await new Promise((ok) => setTimeout(() => ok(4), 1))"], 4),
        (["const p = Promise.resolve(5);", "p"], 5),
        (["20 + 1", "let x = 5;", "_ * 2"], 42),
        (["import os, { EOL } from 'node:os';", "[typeof os.cpus, EOL]"], ["function", "\n"]),
        (["(await import('node:path')).join('a', 'b') + \"import('x')\""], "a/bimport('x')"),
        (["require('fs').writeFileSync('k.txt', 'kept')", "require('fs').readFileSync('k.txt', 'utf8')"], "kept"),
        (["callTool = 5", "callTool"], 5),
        (["{ a: 1 }"], 1),
        (["({ a: 1 })"], {"a": 1}),
        (["let r; let p = new Promise((ok) => { r = ok; });", "r(3)", "await p"], 3),
    ],
)
async def test_a_later_cell_finds_what_earlier_ones_left(
    paddock: Paddock, name: str, cells: list[str], value: Any
) -> None:
    result = await ran(paddock, name, *cells)
    assert (result.output, result.error, result.engine) == (value, None, "node")


async def test_typescript_and_javascript_share_a_session(paddock: Paddock, name: str) -> None:
    await ran(paddock, name, "enum Color { Red, Green }\nconst n: number = 4;", language="typescript")
    assert (await ran(paddock, name, "n + Color.Green")).output == 5


async def test_inputs_files_and_tools_are_those_of_each_run(paddock: Paddock, name: str) -> None:
    code = "[x, readFile(files[0].path)]"
    assert (await ran(paddock, name, "let x = 0; 1")).output == 1
    assert (await ran(paddock, name, code, inputs={"x": 1}, files=[File("a", b"one")])).output == [1, "one"]
    assert (await ran(paddock, name, code, inputs={"x": 2}, files=[File("a", b"two")])).output == [2, "two"]
    assert (await ran(paddock, name, "[x, files, await echo({ value: 3 })]")).output == [2, [], {"value": 3}]
    assert (await ran(paddock, name, "typeof echo", tools=[])).output == "undefined"


async def test_errors_name_the_cell_and_the_line(paddock: Paddock, name: str) -> None:
    await ran(paddock, name, "function f(n) {\n  return n.a.b;\n}")
    error = (await ran(paddock, name, "\n  f({})")).error
    assert error is not None
    assert (error.line, error.column) == (2, 3)
    assert error.traceback.splitlines()[1:] == ["    at f (cell 1:2:14)", "    at cell 2:2:3"]


@pytest.mark.parametrize(("code", "line", "column"), [("let z = ;", 1, 9), ("\n\nlet z = )", 3, 9), ("return 5", 1, 1)])
async def test_a_syntax_error_runs_nothing(paddock: Paddock, name: str, code: str, line: int, column: int) -> None:
    result = await ran(paddock, name, "let ran = false;", f"{code}\nran = true;")
    assert result.error is not None
    assert (result.verdict, result.error.line, result.error.column) == (Verdict.REJECTED, line, column)
    assert (await ran(paddock, name, "ran")).output is False


@pytest.mark.parametrize("language", ["javascript", "typescript"])
async def test_a_return_is_refused_with_what_to_write_instead(paddock: Paddock, name: str, language: str) -> None:
    error = (await ran(paddock, name, "const x = 5\nreturn x", language=language)).error
    assert error is not None
    assert (error.line, error.hints) == (2, ("Write `x` as the last line instead of `return x`.",))


@pytest.mark.parametrize(
    "code",
    [
        *(
            "throw new Error('x')",
            "Promise.reject(new Error('x')); 1",
            "await new Promise(() => {})",
            "'a'.repeat(3e6)",
        ),
        "for (const i of [1, 2, 3]) setTimeout(() => Array.from({ length: 2e5 }, (_, n) => ({ n })), i)\n"
        "await new Promise(() => {})",  # the promise could be collected
    ],
)
async def test_a_failure_keeps_the_session(paddock: Paddock, name: str, code: str) -> None:
    result = await ran(paddock, name, "let x = 1;", code)
    assert (result.verdict is Verdict.OK, result.session and result.session.kept) == (False, True)
    assert (await ran(paddock, name, "x")).output == 1


async def test_what_a_stuck_cell_awaited_is_not_the_value_of_a_later_one(paddock: Paddock, name: str) -> None:
    await ran(paddock, name, "let r; await new Promise((ok) => { r = ok; })")
    assert (
        await ran(paddock, name, "r('late'); await new Promise((ok) => setTimeout(ok, 20)); 'mine'")
    ).output == "mine"


async def test_a_timeout_or_an_exit_ends_the_session(paddock: Paddock, name: str) -> None:
    for code in ("while (true) {}", "process.exit(3)"):
        result = await ran(paddock, name, "let x = 1;", code, limits={"wall_seconds": 2})
        assert (result.session and result.session.kept) is False
        assert (await ran(paddock, name, "x")).error.type == "SessionEnded"  # type: ignore[union-attr]
        assert (await ran(paddock, name, "x")).error.type == "ReferenceError"  # type: ignore[union-attr]


async def test_a_session_has_one_language(paddock: Paddock, name: str) -> None:
    await ran(paddock, name, "1")
    with pytest.raises(RequestError, match="runs javascript on node"):
        await paddock.run("1", session=name)


async def test_limits_that_only_the_host_can_set_stay_those_of_the_first_run(paddock: Paddock, name: str) -> None:
    write = "try { require('fs').writeFileSync('x', Buffer.alloc(2000)); 'written' } catch (error) { error.code }"
    small = {"file_bytes": 1000}
    assert (await ran(paddock, name, write, write, limits=small)).output == "EFBIG"
    for limits in ({}, {"file_bytes": 999}, {"file_bytes": 1000, "processes": 3}):
        with pytest.raises(RequestError, match="`file_bytes` and `processes` of a session on Node"):
            await ran(paddock, name, "1", limits=limits)
    assert (await ran(paddock, name, write, limits={"wall_seconds": 9, **small})).output == "EFBIG"
