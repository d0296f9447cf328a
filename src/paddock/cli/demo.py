"""`paddock demo`: real examples, run here and now, with what each came to."""

from __future__ import annotations

import io
import sys
import time
from typing import IO, TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from rich.console import Console

    from paddock.cli.examples import Example
    from paddock.cli.interrupt import Interrupts
    from paddock.cli.show import Screen
    from paddock.model.result import RunResult
    from paddock.run import Paddock

WIDTH = 100

JAILED = {
    "cpython": "Full Python, with numpy and pandas imported",
    "quickjs": "JavaScript, light",
    "node": "Node",
}
"""Engines that need a jail, and an environment that is built when they are first used."""


def demo() -> int:
    """Show what Paddock does, on real examples.

    Each is shown with its code, result, engine and measured time. Exit status 1 where one did not
    end as it should.
    """
    from paddock.cli.interrupt import Interrupts

    interrupts = Interrupts()
    return interrupts.run(_demo(interrupts))


async def weather(city: str) -> dict[str, Any]:
    """A tool that takes a while, as one behind a network does."""
    from asyncio import sleep

    await sleep(0.1)
    return {"city": city, "celsius": {"Oslo": 4, "Rome": 19, "Cairo": 27}[city]}


async def _demo(interrupts: Interrupts) -> int:
    from paddock.cli.demo_server import TOOL_EXAMPLES
    from paddock.cli.examples import EXAMPLES, shop
    from paddock.config import Config
    from paddock.engines import registry
    from paddock.run import Paddock

    registry.load(registry.available()["monty"])  # what is measured is the worker, not an import
    console, failed, begun = _console(interrupts), 0, time.perf_counter()
    async with Paddock(Config(upstreams={"shop": shop()}), tools=[weather]) as paddock:
        await paddock.run("1 + 1")
        console.print(f"The light engine was ready in {_milliseconds(time.perf_counter() - begun)}.")
        started = [name for name in JAILED if await _start(console, paddock, name)]
        await _connect(console, paddock)
        examples = [example for example in EXAMPLES if example.runs_on in ("", *started)]
        for number, example in enumerate(examples, start=1):
            asked = time.perf_counter()
            result = await _run(paddock, example)
            seconds = time.perf_counter() - asked  # the caller's time: planning and a type check included
            problem = example.problem_with(result)
            _show(console, number, example, result, seconds)
            if problem is not None:
                _show_part(console, "BUT", problem, "red")
            failed += problem is not None
    failed += await _lint(console, len(examples) + 1)
    served, failed_there = await _serve(console, len(examples) + 2, started)
    failed += failed_there
    count, seconds = len(examples) + 1 + served, time.perf_counter() - begun
    verdict = "each ended as it should" if not failed else f"{failed} did not end as it should"
    console.print(f"\n{count} examples in {seconds:.1f} s: {verdict}.", style="red" if failed else "green")
    if len(started) < len(JAILED):
        left = len(EXAMPLES) - len(examples) + len(TOOL_EXAMPLES) - served
        console.print(f"Left out: {left} that need what does not run here.", style="yellow")
    return 1 if failed else 0


async def _start(console: Console, paddock: Paddock, engine: str) -> bool:
    """Start an engine, and show what must be built for that; whether it can be started on this machine."""
    from paddock.cli.build_progress import first_use
    from paddock.errors import HostError
    from paddock.planning.plan import ENGINE_LANGUAGE

    begun = time.perf_counter()
    try:
        with first_use():
            await paddock.run("1 + 1", engine=engine, language=ENGINE_LANGUAGE[engine])
    except HostError as problem:
        console.print(f"{JAILED[engine]} does not run here: {problem}", style="yellow")
        return False
    console.print(f"{JAILED[engine]}, in {_milliseconds(time.perf_counter() - begun)}.")
    return True


async def _connect(console: Console, paddock: Paddock) -> None:
    """Start the shop, so that no example is measured with it."""
    begun = time.perf_counter()
    result = await paddock.run('(await call_tool("shop.orders", {"limit": 1}))["matching"]')
    said = (
        f"in {_milliseconds(time.perf_counter() - begun)}" if result.error is None else f"not: {result.error.message}"
    )
    console.print(f"A shop, an MCP server with {result.output} orders, {said}.")


def _console(interrupts: Interrupts) -> Console:
    from rich.console import Console

    from paddock.cli.show import Screen

    class Page(Console):
        def on_broken_pipe(self) -> None:
            raise  # noqa: PLE0704  called where it is caught; Rich would exit, with status 1

    screen = Screen(sys.stdout)
    console = Page(
        file=cast("IO[str]", Paper(screen, interrupts)),
        color_system="auto" if screen.is_styled else None,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=True,
    )
    console.width = min(WIDTH, console.width) if screen.is_terminal else WIDTH
    return console


class Paper(io.TextIOBase):
    """What Rich writes on: the command's screen, which also knows a reader that is slow, gone or never was there."""

    def __init__(self, screen: Screen, interrupts: Interrupts) -> None:
        self._screen, self._interrupts = screen, interrupts

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._screen.encoding

    def isatty(self) -> bool:
        return self._screen.is_terminal

    def write(self, text: str) -> int:
        with self._interrupts.writing():
            self._screen.draw(text)
        return len(text)


async def _run(paddock: Paddock, example: Example) -> RunResult:
    return await paddock.run(
        example.code,
        language=example.language,
        engine=example.engine,
        inputs=example.inputs,
        files=example.files,
        tools=example.tools,
        limits=example.limits,
        type_check=example.type_check,
    )


def _show(console: Console, number: int, example: Example, result: RunResult, seconds: float) -> None:
    from paddock.cli.show import error_lines, last_line, value_text

    _show_code(console, number, example.title, example.code, example.language)
    if example.note:
        _show_part(console, "with", example.note, "dim")
    if result.stdout or example.stderr:
        _show_part(console, "prints", result.stdout + (example.stderr or ""), "")
    if result.error is None:
        _show_part(console, "result", value_text(result), "green")
    else:
        _show_part(console, "error", "\n".join([*error_lines(result, example.code), last_line(result)]), "yellow")
    ran = f"on {result.engine}" if result.engine else "nothing ran"
    calls = f", {len(result.calls)} calls" if result.calls else ""
    waited = sum(call.milliseconds for call in result.calls) / 1000
    overlap = f" that took {_milliseconds(waited)} together" if len(result.calls) > 1 else ""
    _show_part(console, "ended", f"{result.verdict}, {ran}, {_milliseconds(seconds)}{calls}{overlap}", "bold")


async def _serve(console: Console, number: int, started: list[str]) -> tuple[int, int]:
    """Call the code tools as a client of the server does; how many, and how many of them did not end as they should."""
    from functools import partial

    from paddock.cli.demo_server import NEEDS, TOOL_EXAMPLES, call, connected, warm_up

    begun, failed = time.perf_counter(), 0
    examples = [example for example in TOOL_EXAMPLES if NEEDS.get(example.main.tool, "monty") in ("monty", *started)]
    async with connected() as client:
        tools = len((await client.list_tools()).tools)
        took = _milliseconds(time.perf_counter() - begun)
        await warm_up(client, examples)
        ready = _milliseconds(time.perf_counter() - begun)
        console.print(f"\n`paddock mcp --definitions all` answered a client with {tools} tools in {took}.")
        console.print(f"Every engine that they need, and the shop, were ready in {ready}.")
        for place, example in enumerate(examples, start=number):
            _show_code(console, place, example.title, example.code, example.language)
            if example.note:
                _show_part(console, "with", example.note, "dim")
            problem = await call(client, example, partial(_show_part, console))
            if problem is not None:
                _show_part(console, "BUT", problem, "red")
            failed += problem is not None
    return len(examples), failed


async def _lint(console: Console, number: int) -> int:
    from paddock.cli.examples import read
    from paddock.linting import alint

    code = read("mistakes.py")
    begun = time.perf_counter()
    findings = await alint(code)
    seconds = time.perf_counter() - begun
    _show_code(console, number, "Lint: likely mistakes, found without running the script", code)
    lines = [f"{finding.line}:{finding.column} {finding.code} {finding.message}" for finding in findings]
    _show_part(console, "finds", "\n".join(lines), "yellow")
    _show_part(console, "ended", f"{len(findings)} findings, {_milliseconds(seconds)}", "bold")
    expected = [finding.code for finding in findings] == ["B006", "F821", "F632"]
    if not expected:
        _show_part(console, "BUT", "other findings were expected", "red")
    return 0 if expected else 1


def _show_code(console: Console, number: int, title: str, code: str, language: str = "python") -> None:
    from rich.rule import Rule
    from rich.syntax import Syntax
    from rich.text import Text

    console.print()
    console.print(Rule(f"{number}. {title}", align="left", style="cyan"))
    shown = Syntax("", language, theme="ansi_dark", background_color="default").highlight(code.rstrip("\n"))
    for line in shown.split("\n"):
        text = Text.assemble("    ", line)
        text.rstrip()
        console.print(text)


def _show_part(console: Console, name: str, text: str, style: str) -> None:
    from textwrap import wrap

    from rich.text import Text

    from paddock.cli.show import safe

    lines = [
        part
        for line in safe(text).rstrip("\n").split("\n")
        for part in wrap(line, console.width - 10, replace_whitespace=False) or [""]
    ]
    for number, line in enumerate(lines):
        console.print(Text.assemble((f"{name if number == 0 else '':>8}  ", "cyan"), (line, style)))


def _milliseconds(seconds: float) -> str:
    if seconds >= 9.95:
        return f"{seconds:.0f} s"
    return f"{seconds * 1000:.1f} ms" if seconds < 0.0995 else f"{seconds * 1000:.0f} ms"
