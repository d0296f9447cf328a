"""A run that ends has its calls cancelled at their servers, with every protocol version and transport."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from paddock import Paddock, Verdict
from tests.tools.upstreams import HostileHttp, Serve, bare_config, hostile, plain, until

KINDS = ["stdio", "http", "sse", "old stdio", "old http", "old http events"]
OLDER, NEWER = "2025-11-25", "2026-07-28"


@dataclass
class Slow:
    """A server with a tool that never answers, and what it saw of each call."""

    settings: dict[str, Any]
    protocol_version: str
    call: Callable[[int], tuple[str, dict[str, str]]]
    has_begun: Callable[[int], bool]
    was_told: Callable[[int], bool]


def by_files(settings: dict[str, Any], protocol_version: str, folder: Path) -> Slow:
    def call(number: int) -> tuple[str, dict[str, str]]:
        return "it.wait", {"started": str(folder / f"started{number}"), "cancelled": str(folder / f"told{number}")}

    return Slow(
        settings,
        protocol_version,
        call,
        lambda number: (folder / f"started{number}").exists(),
        lambda number: (folder / f"told{number}").exists(),
    )


def by_record(settings: dict[str, Any], tool: str, saw: Callable[[], list[str]], *marks: str) -> Slow:
    """Older protocol: its servers write down what they hear. Each of `marks` must be said of each call."""

    def ids(mark: str) -> set[str]:
        return {line.removeprefix(f"{mark} ") for line in saw() if line.startswith(f"{mark} ")}

    def was_told(number: int) -> bool:
        return len(ids("called")) >= number and all(ids("called") == ids(mark) for mark in marks)

    return Slow(settings, OLDER, lambda _: (tool, {}), lambda number: len(ids("called")) >= number, was_told)


def slow(kind: str, serve: Serve, hostile_http: HostileHttp, tmp_path: Path) -> Slow:
    match kind:
        case "stdio":
            return by_files(plain(), NEWER, tmp_path)
        case "http":
            return by_files({"type": "http", "url": serve("http")}, NEWER, tmp_path)
        case "sse":
            return by_files({"type": "sse", "url": serve("sse")}, NEWER, tmp_path)
        case "old stdio":
            record = tmp_path / "stdio"
            settings = hostile(env={"RECORD": str(record)})
            saw = lambda: record.read_text().splitlines() if record.exists() else []  # noqa: E731
            return by_record(settings, "it.hang", saw, "cancelled")
        case "old http":
            return by_record(hostile_http.at(), "it.hang", hostile_http.saw, "cancelled", "left")
    return by_record(hostile_http.at(), "it.silent_events", hostile_http.saw, "cancelled", "left")


@pytest.mark.parametrize(
    ("engine", "kind"),
    [*(("monty", kind) for kind in KINDS), ("cpython", "stdio"), ("cpython", "old http")],
)
async def test_the_server_is_told_of_the_cancellation_however_the_run_ended(
    engine: str, kind: str, serve: Serve, hostile_http: HostileHttp, tmp_path: Path
) -> None:
    at = slow(kind, serve, hostile_http, tmp_path)

    async def begun(number: int) -> None:
        await until(lambda: at.has_begun(number))
        raise ValueError("enough")

    async with Paddock(bare_config({"it": at.settings}), tools=[begun]) as paddock:
        await paddock.tools()
        assert (await paddock.upstreams())["it"].protocol_version == at.protocol_version

        result = await paddock.run("await call_tool(*call)", inputs=asked(at, 1), engine=engine, limits=SHORT)
        assert result.verdict is Verdict.TIMEOUT
        await until(lambda: at.was_told(1))

        code = "import asyncio\nawait asyncio.gather(call_tool(*call), call_tool('begun', {'number': 2}))"
        result = await paddock.run(code, inputs=asked(at, 2), engine=engine)
        assert result.verdict is Verdict.RAISED
        await until(lambda: at.was_told(2))

        run = asyncio.create_task(paddock.run("await call_tool(*call)", inputs=asked(at, 3), engine=engine))
        await until(lambda: at.has_begun(3))
        run.cancel()
        await asyncio.wait([run])
        await until(lambda: at.was_told(3))
        assert (await paddock.upstreams())["it"].state == "ready"


SHORT = {"wall_seconds": 2.0}


def asked(slow: Slow, number: int) -> dict[str, Any]:
    return {"call": list(slow.call(number))}
