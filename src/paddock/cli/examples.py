"""The examples of `paddock demo`: scripts of `examples/`, what they are given and how they must end."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from paddock.cli.source import language_of
from paddock.errors import HostError
from paddock.model.files import File
from paddock.model.limits import MB
from paddock.model.result import RunResult, Verdict


@lru_cache(maxsize=1)
def folder() -> Path:
    """Where the scripts are: inside an installed package, or beside the sources."""
    package = Path(__file__).resolve().parents[1]
    for candidate in (package / "examples", package.parents[1] / "examples"):
        if (candidate / "orders.py").is_file():
            return candidate
    raise HostError("the example scripts were not installed; run the demo from a checkout: make demo")


def read(name: str) -> str:
    """The text of one of the example files."""
    return (folder() / name).read_text(encoding="utf-8")


def shop() -> dict[str, Any]:
    """The settings of the MCP server whose tools some of the examples call."""
    return {"command": sys.executable, "args": [str(folder() / "shop_server.py")]}


@dataclass(frozen=True, slots=True)
class Example:
    """One script, what it is given, and how it must end."""

    title: str
    script: str
    verdict: Verdict = Verdict.OK
    output: Any = None
    error_type: str | None = None
    line: int | None = None  # None: wherever it is
    stdout: str = ""
    note: str = ""
    engine: str = "auto"
    inputs: dict[str, Any] = field(default_factory=dict)
    attached: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    limits: dict[str, float] = field(default_factory=dict)
    type_check: bool = False
    stderr: str | None = None  # None: whatever it is
    runs_on: str = ""  # an engine in a jail, which this machine may not have
    chosen: str = ""  # one that every machine has, and that `auto` must take

    @property
    def code(self) -> str:
        return read(self.script)

    @property
    def language(self) -> str:
        return language_of(self.script)

    @property
    def files(self) -> list[File]:
        return [File(name, read(name).encode(), "text/plain") for name in self.attached]

    def problem_with(self, result: RunResult) -> str | None:
        """How `result` differs from what was expected; None where it does not."""
        error = (result.error.type, result.error.line if self.line else None) if result.error else (None, None)
        engine = self.runs_on or self.chosen or result.engine
        wanted = (
            self.verdict,
            engine,
            self.output,
            *(self.error_type, self.line),
            self.stdout,
            self.stderr or result.stderr,
        )
        got = (result.verdict, result.engine, result.output, *error, result.stdout, result.stderr)
        return None if got == wanted else f"expected {wanted}, got {got}"


ORDERS = [
    {"city": "Oslo", "item": "lamp", "price": 40.0, "quantity": 2},
    {"city": "Rome", "item": "desk", "price": 210.0, "quantity": 1},
    {"city": "Oslo", "item": "chair", "price": 65.5, "quantity": 4},
    {"city": "Rome", "item": "lamp", "price": 40.0, "quantity": 1},
]
EXAMPLES = (
    Example(
        "Group and aggregate JSON that the caller passes in",
        "orders.py",
        output={"Oslo": {"orders": 2, "total": 342.0}, "Rome": {"orders": 2, "total": 250.0}},
        note="orders = 4 orders from Oslo and Rome",
        inputs={"orders": ORDERS},
    ),
    Example(
        "Read an attached file, with a regular expression",
        "log.py",
        output={"requests": 6, "failed": ["/pay", "/report"], "slowest": "/report"},
        stdout="reading access.log\n",
        note="access.log, attached",
        attached=("access.log",),
    ),
    Example(
        "Call tools, all at once",
        "tools.py",
        output={"warmest": "Cairo", "mean": 16.7},
        note="weather: a Python function of the caller that takes 100 ms",
        tools=("weather",),
    ),
    Example(
        "Call the tools of an MCP server, catch a failure, join what they answer",
        "shop.py",
        output={
            "ready": [
                {"order": 104, "to": "Carla Diaz", "shipping": 13.1},
                {"order": 103, "to": "Ada Berg", "shipping": 32.8},
            ],
            "waiting": {"Dirk Evers": ["DESK-1, due 2026-03-09"]},
        },
        stdout="The carrier answered 503. Ask again: the same call usually succeeds.\n" * 2,
        note="shop: examples/shop_server.py, connected over stdio; its carrier fails every other time",
        tools=("shop.orders", "shop.customer", "shop.inventory", "shop.shipping_quote"),
        chosen="monty",
    ),
    Example(
        "An error names its line",
        "error.py",
        Verdict.RAISED,
        error_type="ZeroDivisionError",
        line=2,
        note="baskets = [[12, 30], []]",
        inputs={"baskets": [[12, 30], []]},
    ),
    Example(
        "A script that never ends is stopped, and its output kept",
        "forever.py",
        Verdict.TIMEOUT,
        error_type="TimeoutError",
        stdout="started\n",
        note="wall_seconds = 0.2",
        limits={"wall_seconds": 0.2},
    ),
    Example(
        "One that takes all the memory, too",
        "memory.py",
        Verdict.OUT_OF_MEMORY,
        error_type="MemoryError",
        line=3,
        note="memory_bytes = 64 MB",
        limits={"memory_bytes": 64 * MB},
    ),
    Example(
        "A type check refuses a script before its first line runs",
        "type_error.py",
        Verdict.REJECTED,
        error_type="TypingError",
        line=2,
        note="name = 'Ada', type_check = True",
        inputs={"name": "Ada"},
        type_check=True,
    ),
    Example(
        "What the light engine does not have runs on full Python: pandas, with an attached table",
        "sales.py",
        output={"best": ["Oslo", "February"], "by_city": {"Oslo": 552.0, "Rome": 330.0}},
        stdout="day   February  January\ncity                   \nOslo     472.0     80.0\nRome     120.0    210.0\n",
        note="sales.csv, attached",
        attached=("sales.csv",),
        runs_on="cpython",
    ),
    Example(
        "It calls the same tools, for tables and with an effect",
        "shop_tables.py",
        output={
            "by_tier": {"basic": 937.8, "gold": 382.0, "plus": 185.5},
            "refunds": [210.0, "NOTHING_TO_REFUND"],
        },
        stdout="address.country\nBE    398.0\nES    185.5\nIT    539.8\nNO    382.0\n",
        note="shop, as before; a refund lasts as long as the server runs",
        tools=("shop.orders", "shop.customer", "shop.refund"),
        runs_on="cpython",
    ),
    Example(
        "It may start threads and processes",
        "processes.py",
        output={"threads": [0, 1, 4, 9, 16, 25], "child": 42},
        runs_on="cpython",
    ),
    Example(
        "One that takes all the memory is stopped there too",
        "hog.py",
        Verdict.OUT_OF_MEMORY,
        error_type="MemoryError",
        note="memory_bytes = 64 MB",
        limits={"memory_bytes": 64 * MB},
        runs_on="cpython",
    ),
    Example(
        "There is no network",
        "network.py",
        Verdict.RAISED,
        error_type="PermissionError",
        line=3,
        runs_on="cpython",
    ),
    Example(
        "A fork bomb meets its limit, and all of its processes end with the run",
        "fork_bomb.py",
        Verdict.RAISED,
        error_type="BlockingIOError",
        line=4,
        runs_on="cpython",
    ),
    Example(
        "JavaScript, with the same tools",
        "stock.js",
        output={"CHAIR-1": 4, "DESK-1": 1, "LAMP-1": 8},
        stdout="looked at 3 products\n",
        stderr="SCHEMA_REQUIRED [ \"Required field missing: 'sku'.\" ]\n",
        note="shop: examples/shop_server.py",
        tools=("shop.orders", "shop.inventory"),
        runs_on="quickjs",
    ),
    Example(
        "TypeScript, whose types are taken off",
        "totals.ts",
        output=[["small", ["Oslo", "Rome"]], ["large", ["Rome", "Oslo"]]],
        note="orders = 4 orders from Oslo and Rome",
        inputs={"orders": ORDERS},
        runs_on="quickjs",
    ),
    Example(
        "A module of Node",
        "digest.mjs",
        output={"lines": 6, "sha256": "720820f8741ac681"},
        note="sales.csv, attached",
        attached=("sales.csv",),
        runs_on="node",
    ),
)
