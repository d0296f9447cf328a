"""TypeScript, which runs on Node: types are gone, lines stay."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from paddock import Verdict
from paddock.errors import UnknownEngine
from tests.node.conftest import Run

VALUES: list[tuple[str, Any]] = [
    ("const a: number = 1; a", 1),
    ("interface A { b: string }\nconst a = { b: 'x' } as A\na.b!", "x"),
    ("type T = { process: string }; const f = <T,>(x: T): T => x; f(3)", 3),
    ("let x: number = 1\nreturn x + 1", 2),
    ("enum Colour { Red = 1, Green }\nColour.Green", 2),
    ("const enum E { A = 'a' }\nreturn E.A", "a"),
    ("namespace N { export const a = 4 }\nN.a", 4),
    ("class P { constructor(public x: number, private y = 2) {} }\nnew P(1)", {"x": 1, "y": 2}),
    ("abstract class A { abstract f(): void }\nclass B extends A { f() {} }\nnew B() instanceof A", True),
    ("function f(this: any, a?: string, ...b: number[]): asserts a is string {}\nf.length", 1),
    ("const x = <const T extends string>(a: T) => a; x('q') satisfies string", "q"),
    ("let x: string = 5 as any; x", 5),
    ("await Promise.resolve<number>(2)", 2),
    ("declare const nothing: number\n7", 7),
]


@pytest.mark.parametrize(("code", "value"), VALUES)
async def test_types_leave_the_value_alone(run: Run, code: str, value: Any) -> None:
    result = await run(code, language="typescript")
    assert (result.error, result.output) == (None, value)


@pytest.mark.parametrize(
    ("code", "line", "column"),
    [
        ("interface A { b: string }\n\nthrow new Error('x')", 3, 7),
        ("const a: number = 1\n\nfunction f(n: number): never { throw new Error('x') }\nf(a)", 3, 38),
        ("const a: number = 1; const b = a as unknown as string; throw new Error(b)", 1, 62),
        ("enum A { B, C }\n\n\nconst f = (a: A): void => { throw new Error('x') }\nf(A.B)", 4, 35),
        ("namespace N {\n  export const a = 1\n}\n\nreturn (() => { throw new Error('x') })()", 5, 23),
        ("enum A { B }\nconst a: A = A.B; const größe: string = '😀'; throw new Error(größe)", 2, 53),
    ],
)
async def test_an_error_names_the_authors_line(run: Run, code: str, line: int, column: int) -> None:
    error = (result := await run(code, language="typescript")).error
    assert error is not None
    assert (result.verdict, error.type, error.line) == (Verdict.RAISED, "Error", line)
    assert error.column == column
    assert f"main.js:{line}:{column}" in error.traceback


@pytest.mark.parametrize(
    ("code", "line", "column"),
    [
        ("const x: = 1", 1, 10),
        ("const x: number = 1\n\nlet y = ;", 3, 9),
        ("enum A { B }\nreturn )", 2, 8),
        ("type = ", 1, None),
    ],
)
async def test_what_is_no_typescript_is_rejected_at_its_line(
    run: Run, code: str, line: int, column: int | None
) -> None:
    error = (result := await run(code, language="typescript")).error
    assert error is not None
    assert (result.verdict, error.type, error.line) == (Verdict.REJECTED, "SyntaxError", line)
    assert column is None or error.column == column


async def test_a_text_that_the_parser_cannot_bear_is_rejected_and_the_next_one_runs(run: Run) -> None:
    deep = await run("(" * 100_000, language="typescript")
    assert deep.verdict is Verdict.REJECTED
    assert (await run("const x: number = 1; x", language="typescript")).output == 1


HOSTILE = "<T>(" * 60
"""Each `<T>(` doubles the work of the parser."""


async def test_the_time_that_it_takes_to_read_a_text_is_that_of_its_run(run: Run) -> None:
    assert (await run(HOSTILE, language="typescript", limits={"wall_seconds": 1})).verdict is Verdict.TIMEOUT


async def test_a_text_that_takes_long_to_read_delays_no_other_run(run: Run) -> None:
    hostile = asyncio.ensure_future(run(HOSTILE, language="typescript", limits={"wall_seconds": 100}))
    others = [await run(f"const x: number = {n}; x", language="typescript") for n in range(2)]
    assert not hostile.done()
    assert [result.output for result in others] == [0, 1]
    hostile.cancel()
    await asyncio.wait([hostile])


async def test_quickjs_does_not_run_typescript(run: Run) -> None:
    with pytest.raises(UnknownEngine):
        await run("1", language="typescript", engine="quickjs")
    assert (await run("1", language="typescript", engine="auto")).engine_reason == "TypeScript runs on Node"


async def test_places_that_node_prints_are_the_authors_too(run: Run) -> None:
    code = "enum A { B }\n\n\nconsole.error(new Error('x').stack)\nthrow new TypeError('y')"
    printed = await run(code, language="typescript")
    program = await run(code, language="typescript", mode="script")
    assert printed.stderr == "Error: x\n    at main.js:4:15\n"
    assert program.stderr == (
        "Error: x\n    at Object.<anonymous> (main.js:4:15)\nTypeError: y\n    at Object.<anonymous> (main.js:5:7)\n"
    )


async def test_a_program_in_typescript_runs_on_node(run: Run) -> None:
    code = "enum A { B = 6 }\nconst x: number = A.B\nconsole.log(x); process.exit(2)"
    result = await run(code, language="typescript", mode="script")
    assert (result.stdout, result.exit_code, result.engine) == ("6\n", 2, "node")
