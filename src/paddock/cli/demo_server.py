"""The second half of `paddock demo`: a client of MCP connects to `paddock mcp` and calls its five code tools."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from paddock.cli.examples import read, shop
from paddock.cli.source import language_of

SHOWN_CHARACTERS = 320


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a tool, and what must come back: this object, or a text of this pattern."""

    tool: str
    arguments: dict[str, Any]
    wanted: dict[str, Any] | str


@dataclass(frozen=True, slots=True)
class ToolExample:
    """A script as the argument `code` of a tool, with the calls before it and after it."""

    title: str
    script: str
    main: Step
    note: str = ""
    before: tuple[Step, ...] = ()
    after: tuple[Step, ...] = ()

    @property
    def code(self) -> str:
        return read(self.script)

    @property
    def language(self) -> str:
        return language_of(self.script)


TOOL_EXAMPLES = (
    ToolExample(
        "execute: Python that calls tools, and catches one that fails",
        "mcp_execute.py",
        Step("execute", {}, {"Dirk Evers": 398.0, "Carla Diaz": 120.0, "Ada Berg": 302.0}),
    ),
    ToolExample(
        "code_executor: a program of Node, told as markdown",
        "mcp_program.js",
        Step(
            "code_executor",
            {"language": "node"},
            r"## Code Execution Result\n\*\*Language:\*\* node  \|  \*\*Exit Code:\*\* 3  \|  \*\*Time:\*\* \d+ms\n"
            r"\n### stdout\n```\n\[ \[ 'the', 3 \], \[ 'quick', 1 \] \]\n```\n"
            r"\n### stderr\n```\ndone, and nothing to add\n```",
        ),
    ),
    ToolExample(
        "code_execution: inputs, linked functions, an attached file",
        "mcp_inputs.py",
        Step(
            "code_execution",
            {"inputs": {"limit": 2}},
            {"success": True, "output": {"file": "sales.csv", "rows": 5, "orders": [107, 106]}},
        ),
        note="inputs = {limit: 2}; sales.csv was attached with attach_file",
        before=(Step("attach_file", {"file_name": "sales.csv", "file_type": "text/csv"}, {"attached": True}),),
    ),
    ToolExample(
        "python: packages, and what a terminal would show",
        "mcp_python.py",
        Step("python", {}, r"      amount\ncity        \nOslo   150\.0\nRome    80\.0\n\nErrors:\n3 rows read\n"),
    ),
    ToolExample(
        "code-execution_execute: JavaScript that keeps files; what is large becomes one",
        "mcp_artifact.js",
        Step("code-execution_execute", {}, {"logs": ["kept 7 orders as orders.csv"]}),
        after=(
            Step(
                "read_artifact",
                {"ref": "orders.csv", "search": "refunded", "context_lines": 0},
                {"matches": [{"line": 1, "offset": 8, "text": "107,C-3,refunded,2026-02-23"}]},
            ),
        ),
    ),
)
"""One for each tool that is shipped beside `run_code`."""
NEEDS = {"code_executor": "node", "python": "cpython", "code-execution_execute": "quickjs"}
"""The engine in a jail that a tool is on; the others are on whichever fits."""


@asynccontextmanager
async def connected() -> AsyncIterator[Any]:
    """A client of a server that is a process of its own, with the shop as its upstream; it leaves nothing behind."""
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    with tempfile.TemporaryDirectory(prefix="paddock-demo-") as folder:
        stored = {"PADDOCK_STORE__PATH": f"{folder}/paddock.db", "PADDOCK_ARTIFACTS__URL": f"file://{folder}/artifacts"}
        command = StdioServerParameters(
            command=sys.executable,
            args=["-m", "paddock", "mcp", "--definitions", "all"],
            env={**os.environ, **stored, "PADDOCK_UPSTREAMS": json.dumps({"shop": shop()})},
        )
        async with Client(stdio_client(command)) as client:
            yield client


async def warm_up(client: Any, examples: Sequence[ToolExample]) -> None:
    """Let every tool run something, and the shop be connected, so that no example is measured with that."""
    await client.call_tool("execute", {"code": "await call_tool('shop.orders', {'limit': 1})"})
    for example in examples:
        code = "true" if example.language == "javascript" else "True"
        await client.call_tool(example.main.tool, {"code": code, **example.main.arguments})


async def call(client: Any, example: ToolExample, show: Callable[[str, str, str], None]) -> str | None:
    """Make the calls of one example and show what comes back; what is wrong with it, if anything."""
    problems = [await _made(client, step) for step in example.before]
    begun = time.perf_counter()
    answer = await client.call_tool(example.main.tool, {"code": example.code, **example.main.arguments})
    seconds = time.perf_counter() - begun
    text = answer.content[0].text if answer.content else ""
    show("answers", text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…", "green")
    printed = (answer.meta or {}).get("stdout")
    if printed:
        show("_meta", f"stdout: {printed}", "dim")
    problems.append(_problem(answer, example.main))
    for step in example.after:
        answer = await client.call_tool(step.tool, step.arguments)
        asked = ", ".join(f"{name}={value!r}" for name, value in step.arguments.items())
        show("then", f"{step.tool}({asked})", "dim")
        show("answers", json.dumps((answer.structured_content or {}).get("matches")), "green")
        problems.append(_problem(answer, step))
    show("ended", f"{example.main.tool}, {seconds * 1000:.1f} ms through the server", "bold")
    return next((problem for problem in problems if problem is not None), None)


async def _made(client: Any, step: Step) -> str | None:
    content = {"content": read(step.arguments["file_name"])} if "file_name" in step.arguments else {}
    return _problem(await client.call_tool(step.tool, {**step.arguments, **content}), step)


def _problem(answer: Any, step: Step) -> str | None:
    """How an answer differs from what was expected; None where it does not."""
    if isinstance(step.wanted, str):
        text = answer.content[0].text if answer.content else ""
        return None if re.fullmatch(step.wanted, text) else f"{step.tool}: expected {step.wanted!r}, got {text!r}"
    got = answer.structured_content or {}
    told = {name: got.get(name) for name in step.wanted}
    return None if told == step.wanted else f"{step.tool}: expected {step.wanted}, got {got or answer.content}"
