"""`paddock demo`: runs the examples of `examples/demo.toml` and checks how each ends."""

from __future__ import annotations

import json
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddock.cli.options import language_of
from paddock.cli.render import WIDTH, build_progress, error_lines, stdout, value_text
from paddock.cli.signals import Interrupts
from paddock.errors import HostError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from paddock.model.result import RunResult
    from paddock.run import Paddock

    Example = Mapping[str, Any]

ENGINES = {"cpython": "Full Python", "quickjs": "QuickJS", "node": "Node"}
"""The engines that need a jail, and an environment that is built on first use."""
ANSWER_CHARACTERS = 320
LINT_CODES = ["B006", "F821", "F632"]
"""What lint must find in `mistakes.py`."""


def demo() -> int:
    """Show what Paddock does, on real examples.

    Each example is shown with its code, result, engine and measured time. Exit status 1 if an
    example does not end as expected.
    """
    interrupts = Interrupts()
    return interrupts.run(_demo(_Page(interrupts)))


def folder() -> Path:
    """Return the folder of the examples: inside an installed package, or next to the sources."""
    package = Path(__file__).resolve().parents[1]
    for candidate in (package / "examples", package.parents[1] / "examples"):
        if (candidate / "demo.toml").is_file():
            return candidate
    raise HostError("the example scripts were not installed; run the demo from a checkout: make demo")


def shop() -> dict[str, Any]:
    """Return the settings of the MCP server whose tools some of the examples call."""
    return {"command": sys.executable, "args": [str(folder() / "shop_server.py")]}


def load() -> dict[str, list[Example]]:
    """Return the examples: those under `script` run through the library, those under `tool` through a server."""
    import tomllib

    loaded: dict[str, list[Example]] = tomllib.loads((folder() / "demo.toml").read_text(encoding="utf-8"))
    return loaded


def read(name: str) -> str:
    """Return the text of one of the example files."""
    return (folder() / name).read_text(encoding="utf-8")


def mismatch(expected: Mapping[str, Any], result: RunResult) -> str | None:
    """Return how `result` differs from what an example expects, or None if it does not."""
    error = result.error
    actual = {
        "verdict": str(result.verdict),
        "output": result.output,
        "error": error.type if error else None,
        "line": error.line if error else None,
        "stdout": result.stdout,
        "stderr": result.stderr,
    }
    full_expectation = {"verdict": "ok", "output": None, "error": None, "stdout": "", **expected}
    compared = {name: actual[name] for name in full_expectation}
    return None if compared == full_expectation else f"expected {full_expectation}, got {compared}"


async def weather(city: str) -> dict[str, Any]:
    """Return the weather after 0.1 s, like a tool that uses a network."""
    from asyncio import sleep

    await sleep(0.1)
    return {"city": city, "celsius": {"Oslo": 4, "Rome": 19, "Cairo": 27}[city]}


async def _demo(page: _Page) -> int:
    from paddock.config import Config
    from paddock.run import Paddock

    started, examples = time.perf_counter(), load()
    async with Paddock(Config(upstreams={"shop": shop()}), tools=[weather]) as paddock:
        ready = {name for name in ENGINES if await _start(page, paddock, name)}
        scripts, tools = ([each for each in kind if each.get("needs") in {None, *ready}] for kind in examples.values())
        await paddock.tools()  # starts the shop server, whose start is not part of any example's time
        for example in scripts:
            await _run(page, paddock, example)
    await _lint(page)
    await _serve(page, tools)
    seconds, skipped = time.perf_counter() - started, sum(map(len, examples.values())) - len(scripts) - len(tools)
    verdict = "all ended as expected" if not page.failed else f"{page.failed} did not end as expected"
    page.line("")
    page.line(f"{page.count} examples in {seconds:.1f} s: {verdict}.", "red" if page.failed else "green")
    if skipped:
        page.line(f"Skipped {skipped} examples whose engine does not run here.", "yellow")
    return 1 if page.failed else 0


async def _start(page: _Page, paddock: Paddock, engine: str) -> bool:
    """Start an engine and show the progress of builds. Returns whether the engine runs on this machine."""
    from paddock.planning.plan import ENGINE_LANGUAGE

    started = time.perf_counter()
    try:
        with build_progress():
            await paddock.run("1 + 1", engine=engine, language=ENGINE_LANGUAGE[engine])
    except HostError as problem:
        page.line(f"{ENGINES[engine]} does not run here: {problem}", "yellow")
        return False
    page.line(f"{ENGINES[engine]} was ready in {_since(started)}.")
    return True


async def _run(page: _Page, paddock: Paddock, example: Example) -> None:
    """Run an example through the library."""
    from paddock.model.files import File

    code, expected = read(example["file"]), example["expect"]
    started = time.perf_counter()
    result = await paddock.run(
        code,
        language=language_of(example["file"]),
        inputs=example.get("inputs", {}),
        files=[File(name, read(name).encode(), "text/plain") for name in example.get("attach", ())],
        tools=tuple(example.get("tools", ())),
        limits=example.get("limits", {}),
        type_check=example.get("type_check", False),
    )
    took = _since(started)
    page.begin(example["title"], code, example.get("note", ""))
    page.part("prints", result.stdout + expected.get("stderr", ""))
    if result.error is None:
        page.part("result", value_text(result.output), "green")
    else:
        page.part("error", "\n".join(error_lines(result, code)), "yellow")
    engine = f"on {result.engine}" if result.engine else "nothing ran"
    calls = f", {len(result.calls)} calls" if result.calls else ""
    page.end(f"{result.verdict}, {engine}, {took}{calls}", mismatch(expected, result))


async def _lint(page: _Page) -> None:
    from paddock.linter import alint

    code, started = read("mistakes.py"), time.perf_counter()
    findings = await alint(code)
    took, codes = _since(started), [each.code for each in findings]
    page.begin("Lint: likely mistakes, found without running the script", code)
    lines = [f"{each.line}:{each.column} {each.code} {each.message}" for each in findings]
    page.part("finds", "\n".join(lines), "yellow")
    problem = None if codes == LINT_CODES else f"expected {LINT_CODES}, got {codes}"
    page.end(f"{len(findings)} findings, {took}", problem)


async def _serve(page: _Page, examples: list[Example]) -> None:
    """Call the code tools through a separate server, as a client does."""
    started = time.perf_counter()
    async with _start_server() as client:
        tools = len((await client.list_tools()).tools)
        page.line("")
        page.line(f"`paddock mcp --definitions all` started and listed {tools} tools in {_since(started)}.")
        for example in examples:  # so that the start of an engine is not part of any example's time
            code = "true" if example["file"].endswith(".js") else "True"
            await client.call_tool(example["name"], {"code": code, **example.get("arguments", {})})
        page.line(f"Every engine that the examples need was ready in {_since(started)}.")
        for example in examples:
            await _call(page, client, example)


@asynccontextmanager
async def _start_server() -> AsyncIterator[Any]:
    """Yield a client of a server that runs in a separate process and leaves no files behind."""
    import os
    import tempfile

    from mcp import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    with tempfile.TemporaryDirectory(prefix="paddock-demo-") as temporary:
        stored = {"PADDOCK_STORE__PATH": f"{temporary}/db", "PADDOCK_ARTIFACTS__URL": f"file://{temporary}/files"}
        command = StdioServerParameters(
            command=sys.executable,
            args=["-m", "paddock", "mcp", "--definitions", "all"],
            env={**os.environ, **stored, "PADDOCK_UPSTREAMS": json.dumps({"shop": shop()})},
        )
        async with Client(stdio_client(command)) as client:
            yield client


async def _call(page: _Page, client: Any, example: Example) -> None:
    """Call a tool of the server, with the calls before and after it that the example lists."""
    problems: list[str | None] = []

    async def call(step: Example, **arguments: str) -> Any:
        answer = await client.call_tool(step["name"], {**arguments, **step.get("arguments", {})})
        problems.append(_difference(step, answer))
        return answer

    if step := example.get("before"):
        await call(step, content=read(step["arguments"]["file_name"]))
    code, started = read(example["file"]), time.perf_counter()
    answer = await call(example, code=code)
    took = _since(started)
    page.begin(example["title"], code, example.get("note", ""))
    text = answer.content[0].text if answer.content else ""
    page.part("answers", text if len(text) <= ANSWER_CHARACTERS else f"{text[:ANSWER_CHARACTERS]}…", "green")
    if step := example.get("after"):
        answer = await call(step)
        arguments = ", ".join(f"{name}={value!r}" for name, value in step["arguments"].items())
        page.part("then", f"{step['name']}({arguments})")
        page.part("answers", json.dumps((answer.structured_content or {}).get("matches")), "green")
    problem = next((each for each in problems if each is not None), None)
    page.end(f"{example['name']}, {took} through the server", problem)


def _difference(step: Example, answer: Any) -> str | None:
    """Return how an answer differs from the pattern or the values that a step expects, or None if it does not."""
    import re

    if pattern := step.get("pattern"):
        text = answer.content[0].text if answer.content else ""
        return None if re.fullmatch(pattern, text) else f"{step['name']}: expected {pattern!r}, got {text!r}"
    got = answer.structured_content or {}
    is_same = {name: got.get(name) for name in step["expect"]} == step["expect"]
    return None if is_same else f"{step['name']}: expected {step['expect']}, got {got or answer.content}"


class _Page:
    """Writes the demo: numbered examples, each with its code and the parts of its outcome."""

    def __init__(self, interrupts: Interrupts) -> None:
        self._out, self._interrupts = stdout(), interrupts
        self.count = self.failed = 0

    def line(self, text: str, colour: str = "") -> None:
        self._spans((text, colour))

    def begin(self, title: str, code: str, note: str = "") -> None:
        """Start the next example."""
        self.count += 1
        self.line("")
        self.line(f"{self.count}. {title}", "bold")
        for line in code.rstrip("\n").split("\n"):
            self.line(f"    {line}".rstrip())
        self.part("with", note, "dim")

    def part(self, name: str, text: str, colour: str = "") -> None:
        """Show one part of the outcome, wrapped. An empty part is not shown."""
        from textwrap import wrap

        for line in text.rstrip("\n").split("\n") if text else ():
            for part in wrap(line, WIDTH - 10, replace_whitespace=False, drop_whitespace=False) or [""]:
                self._spans((f"{name:>8}  ", "cyan"), (part.rstrip(), colour))
                name = ""

    def end(self, summary: str, problem: str | None) -> None:
        """Finish the example; a problem counts as a failure."""
        self.part("ended", summary, "bold")
        self.part("problem", problem or "", "red")
        self.failed += problem is not None

    def _spans(self, *parts: tuple[str, str]) -> None:
        with self._interrupts.writing():
            self._out.spans(*parts)


def _since(started: float) -> str:
    """The time since `started`, with its unit."""
    seconds = time.perf_counter() - started
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"
