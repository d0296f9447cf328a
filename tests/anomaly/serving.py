"""A real `paddock serve` with a store, tokens of three principals, and an upstream at which scripts wait."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any

import httpx2 as httpx

from bench.soak import descendants, kind_of
from paddock.jail.walls.watcher import those_of
from paddock.store.database import Store
from tests.anomaly.processes import wait_until_gone
from tests.server.test_access import bearer
from tests.store import empty
from tests.uids import OWN

PATIENCE_SECONDS = 60
GATE = Path(__file__).with_name("gate.py")
NAMES = ("ann", "bob", "cem")
SETTINGS = f"""
[jail]
uid_base = {OWN}
[limits]
wall_seconds = 100
cpu_seconds = 20
[cpython]
max_guests = 64
[monty]
max_workers = 24
[server]
url = "https://paddock.example.org"
require_token = true
log_format = "json"
max_runs = 100
principal_runs = 100
[tools]
call_seconds = 100
"""
MARKER = re.compile(r"mark-[a-z]+-\d+-[0-9a-f]{8}")


class Serving:
    """A server that runs, with what it needs to be started again on the same store."""

    def __init__(self, folder: Path, settings: str = "", *before: str) -> None:
        """`before` is a command that starts it."""
        self.folder, self.gate, self._before = folder, folder / "gate", before
        self.store, self.objects = folder / "kept" / "paddock.db", folder / "objects"
        self.gate.mkdir()
        self.store.parent.mkdir(exist_ok=True)
        servers = {"gate": {"command": sys.executable, "args": [str(GATE), str(self.gate)], "concurrency": 100}}
        (folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
        (folder / "settings.toml").write_text(SETTINGS + settings)
        self.tokens: dict[str, str] = {}
        self.process: subprocess.Popen[bytes] | None = None
        self.address = ""
        self.seen: dict[int, int] = {}  # when each process below it was started, by its pid

    async def prepare(self) -> None:
        empty.put(self.store)
        async with Store(self.store) as store:
            for name in NAMES:
                self.tokens[name] = (await store.tokens.add(name))[1]

    async def start(self) -> None:
        """Start it, and return when it listens."""
        environment = os.environ | {
            "PADDOCK_STORE__PATH": str(self.store),
            "PADDOCK_ARTIFACTS__URL": f"file://{self.objects}",
        }
        paddock = [sys.executable, "-m", "paddock", "serve", "--port", "0"]
        options = ["--config", str(self.folder / "settings.toml"), "--mcp-config", str(self.folder / "mcp.json")]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*self._before, *paddock, *options],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        assert self.process.stdout is not None
        said = (await asyncio.to_thread(self.process.stdout.readline)).decode()
        assert " at " in said, self.log()
        self.address = said.split(" at ")[1].split(". ")[0]

    @property
    def url(self) -> str:
        return self.address.removesuffix("/mcp")

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def below(self) -> dict[str, list[int]]:
        """The processes under it, by their part."""
        found: dict[str, list[int]] = {}
        for pid in descendants(self.pid):
            found.setdefault(part_of(pid), []).append(pid)
        self.seen |= {pid: each.start for pid, each in those_of(descendants(self.pid)).items()}
        return found

    def kill(self) -> None:
        """Kill the server alone, and wait until nothing of it is left."""
        self.below()
        os.kill(self.pid, signal.SIGKILL)
        self.wait()
        assert left_of(self.pid) == []

    def end(self) -> None:
        """End it with SIGTERM, and check that nothing of it is left."""
        self.below()
        self.process.terminate()  # type: ignore[union-attr]
        self.wait()
        assert left_of(self.pid) == []

    def wait(self) -> None:
        """Wait until it and everything that was seen below it has ended."""
        assert self.process is not None
        self.process.wait(PATIENCE_SECONDS)
        self.process.stdout.close()  # type: ignore[union-attr]
        alive = those_of(self.seen)  # a pid may be another's by now
        wait_until_gone([pid for pid, each in alive.items() if each.start == self.seen[pid]])

    def log(self) -> str:
        return (self.folder / "log").read_text()

    def logged(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log().splitlines() if line.startswith("{")]

    def open_gate(self) -> None:
        (self.gate / "open").touch()

    def close_gate(self) -> None:
        for each in self.gate.iterdir():
            each.unlink()

    async def arrived(self, count: int) -> None:
        """Return when so many scripts wait at the gate."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(list(self.gate.iterdir())) < count:
                await asyncio.sleep(0.02)

    def rows(self) -> dict[str, dict[str, Any]]:
        """Every stored run by its marker, as the file has it. A marker that is there twice is a failure."""
        with closing(sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            found = [dict(row) for row in connection.execute("SELECT * FROM runs")]
        marked = [(match[0], row) for row in found if (match := MARKER.search(row["code"]))]
        assert max(Counter(marker for marker, _ in marked).values(), default=1) == 1
        return dict(marked)

    async def get(self, path: str, name: str = "ann") -> httpx.Response:
        async with httpx.AsyncClient(timeout=PATIENCE_SECONDS) as http:
            return await http.get(f"{self.url}{path}", headers=bearer(self.tokens[name]))

    async def until_ready(self) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while (await self.get("/readyz")).status_code != 200:
                await asyncio.sleep(0.1)


def part_of(pid: int) -> str:
    """Which part a process has: that of `bench.soak`, with the two templates and the children of upstreams apart."""
    kind = kind_of(pid)
    with suppress(OSError):
        if str(GATE).encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
            return "upstream"
        if kind == "zygote" and "numpy" in Path(f"/proc/{pid}/maps").read_text():
            return "warm zygote"
    return kind


def left_of(pid: int) -> list[str]:
    """What is left of a server that has ended, besides processes: control groups, and mounts of this machine."""
    name = f"paddock-{pid}-"  # `walk` overlooks groups that end meanwhile
    groups = [f"{path}/{each}" for path, inside, _ in os.walk("/sys/fs/cgroup") for each in inside if name in each]
    return groups + [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if name in line]


@asynccontextmanager
async def serving(folder: Path, settings: str = "", *before: str) -> AsyncIterator[Serving]:
    made = Serving(folder, settings, *before)
    await made.prepare()
    await made.start()
    try:
        yield made
        assert "Traceback" not in made.log()
    finally:
        if made.process is not None and made.process.poll() is None:
            made.end()
