"""`python -m bench.load [--clients 200] [--runs 10] [--rounds 3]`: many clients of several principals at one server.

The clients use one `paddock serve` at the same time, over MCP with and without sessions and over REST, with scripts for
all engines and values of all sizes. Each run has a token of its own, which must come back in its value, its output and
its artifact, in its record and in no other. Prints what the server used, and exits with 1 if a run was lost or mixed
up, if a callback of the server's event loop used too much processor time, or if the server grew from round to round.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.http_servers import MODERN, WITH_SESSIONS, Served, connect, mcp_client, serve_paddock
from bench.loop_watch import longest
from bench.sizing import memory_mb
from bench.soak import control_groups, descendants

PRINCIPALS = ("ann", "bob", "cyd", "dan")
FACES = ("MCP", "MCP with sessions", "REST")
CALLBACK_MS = 100
MORE = {"descriptors": 12, "mounts": 0, "processes": 4, "MB of the server": 24, "MB of all processes": 64}
"""How much more there may be after the last round than after the first: allocators keep what was in use, and some
workers and connections start only when several are needed at once. What each run leaks would be thousands."""
WARM_UP_CLIENTS = 12
SETTLE_SECONDS = 60.0
PAGE = 1000
CHECKED_CLOSELY = 20
"""Of so many runs, one is read by its own principal and by another."""
SIZES = (10, 10, 10, 1000, 1000, 30_000, 300_000)
"""Characters of the text that a script gets and returns. Over MCP, an artifact has the two largest."""
FIXED_POOLS = {f"{engine}__{bound}_WAITING": 4 for engine in ("CPYTHON", "QUICKJS", "NODE") for bound in ("MIN", "MAX")}
"""Otherwise the number of waiting guests, and with it the memory, follows demand."""
PYTHON = "# {token}\nprint(token)\n[token, text, sum(range(n))]"
JAVASCRIPT = "// {token}\nconsole.log(token);\n[token, text, n * (n - 1) / 2]"
SCRIPTS = {
    "cpython": ("python", PYTHON),
    "cpython, pandas": ("python", PYTHON.replace("sum(range(n))", "int(__import__('pandas').Series(range(n)).sum())")),
    "cpython, artifact": (
        "python",
        PYTHON.replace("print(token)", "print(token)\nawait create_artifact(token, token)"),
    ),
    "quickjs": ("javascript", JAVASCRIPT),
    "node": ("javascript", JAVASCRIPT),
    "monty": ("python", PYTHON),
}
"""By engine, with what sets it apart. Monty is used over REST only: `run_code` does not offer it."""


@dataclass(frozen=True, slots=True)
class Work:
    """A run to make. Its token is nowhere else."""

    token: str
    principal: str
    kind: str
    text: str
    n: int

    @property
    def engine(self) -> str:
        return self.kind.partition(",")[0]

    @property
    def value(self) -> list[Any]:
        return [self.token, self.text, self.n * (self.n - 1) // 2]

    def request(self) -> dict[str, Any]:
        language, code = SCRIPTS[self.kind]
        inputs = {"token": self.token, "text": self.text, "n": self.n}
        return {"code": code.format(token=self.token), "language": language, "inputs": inputs}


Send = Callable[[Work], Awaitable[dict[str, Any]]]
"""Makes a run over MCP or REST, and returns the answer."""
Client = tuple[str, str, Send]
"""A principal, one of FACES, and how it sends."""


def over_rest(http: Any) -> Send:
    async def send(work: Work) -> dict[str, Any]:
        answer = await http.post("/v1/runs", json={**work.request(), "engine": work.engine})
        return dict(answer.json())

    return send


def over_mcp(client: Any) -> Send:
    async def send(work: Work) -> dict[str, Any]:
        engine = {"engine": "node"} if work.engine == "node" else {}
        answer = await client.call_tool("run_code", work.request() | engine)
        return dict(answer.structured_content or {"error": answer.content})

    return send


def problem(work: Work, answer: dict[str, Any]) -> str | None:
    """What is wrong with the answer to a run."""
    if answer.get("verdict") != "ok":
        return f"lost: {str(answer)[:500]}"
    output = answer["output"]
    if isinstance(output, dict):  # an artifact has the value
        output = work.value if output["preview"].startswith(f'[\n"{work.token}"') else output
    seen = (answer["engine"], answer["stdout"], output, [each["filename"] for each in answer.get("artifacts", ())])
    created = [work.token] if work.kind == "cpython, artifact" else []
    if seen != (work.engine, f"{work.token}\n", work.value, created):
        return f"mixed up: {str(seen)[:500]}"
    return None


@dataclass
class Load:
    """What became of the runs."""

    chance: random.Random
    made: dict[str, Work] = field(default_factory=dict)
    """By the id of the run."""
    artifacts: dict[str, str] = field(default_factory=dict)
    """The run of each artifact, as the answers say."""
    faults: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    async def round(self, clients: list[Client], runs: int) -> None:
        """Let every client make its runs, one after another."""
        await asyncio.gather(*(self._use(*client, runs) for client in clients))

    async def _use(self, principal: str, face: str, send: Send, runs: int) -> None:
        for _ in range(runs):
            work, began = self._new_work(principal, face), time.perf_counter()
            try:
                answer = await send(work)
            except Exception as fault:  # noqa: BLE001  whatever a client raises, its run is lost
                self.faults.append(f"{work.token}: lost: {type(fault).__name__}: {fault}")
                continue
            self.seconds.append(time.perf_counter() - began)
            self._note(work, face, answer)

    def _new_work(self, principal: str, face: str) -> Work:
        kinds = [kind for kind in SCRIPTS if kind != "monty" or face == "REST"]
        kind, n = self.chance.choice(kinds), self.chance.randrange(1000)
        token = f"{principal}-{self.chance.getrandbits(64):016x}"
        text = token * (self.chance.choice(SIZES) // len(token) + 1)
        return Work(token, principal, kind, text, n)

    def _note(self, work: Work, face: str, answer: dict[str, Any]) -> None:
        self.counts[face] += 1
        self.counts[work.kind] += 1
        if (found := problem(work, answer)) is not None:
            self.faults.append(f"{work.token}: {found}")
        run_id = answer.get("run_id", "")
        if run_id in self.made:
            self.faults.append(f"{work.token}: mixed up: another run has the id {run_id}")
        self.made[run_id] = work
        created = [*answer.get("artifacts", ()), *_replaced(answer.get("output"))]
        self.artifacts |= {each["id"]: run_id for each in created}


def _replaced(output: Any) -> list[dict[str, Any]]:
    return [output["artifact"]] if isinstance(output, dict) and "artifact" in output else []


async def check_records(load: Load, served: Served) -> None:
    """Compare what is stored of each principal with what its clients were told. Adds what is wrong to the faults."""
    async with AsyncExitStack() as stack:
        https = {each: await stack.enter_async_context(connect(served, each)) for each in PRINCIPALS}
        for principal, http in https.items():
            own = {run_id: work for run_id, work in load.made.items() if work.principal == principal}
            records = await _listed(http, "runs", "before")
            shown = {each["run_id"]: each["beginning"].split()[1] for each in records}  # the token in the first line
            wanted = {run_id: work.token for run_id, work in own.items()}
            load.faults += _differences(f"records of {principal}", shown, wanted)
            load.faults += [f"{each['run_id']} is {each['verdict']}" for each in records if each["verdict"] != "ok"]
            stored = {each["id"]: each["run_id"] for each in await _listed(http, "artifacts", "cursor")}
            expected = {each: run_id for each, run_id in load.artifacts.items() if run_id in own}
            load.faults += _differences(f"artifacts of {principal}", stored, expected)
        for run_id in list(load.made)[::CHECKED_CLOSELY]:
            await _check_closely(load, run_id, https)


async def _listed(http: Any, what: str, cursor: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    after: dict[str, str] = {}
    while True:
        page = (await http.get(f"/v1/{what}", params={"limit": PAGE, **after})).json()
        found += page[what]
        if page["next"] is None:
            return found
        after = {cursor: page["next"]}


async def _check_closely(load: Load, run_id: str, https: dict[str, Any]) -> None:
    work = load.made[run_id]
    own, other = https[work.principal], https[next(each for each in PRINCIPALS if each != work.principal)]
    paths = [
        f"/v1/runs/{run_id}",
        *(f"/v1/artifacts/{each}/content" for each, of in load.artifacts.items() if of == run_id),
    ]
    for path in paths:
        mine, foreign = await own.get(path), await other.get(path)
        if mine.status_code != 200 or work.token not in mine.text:
            load.faults.append(f"{path} of {work.principal}: {mine.status_code}, without its token")
        if foreign.status_code != 404:
            load.faults.append(f"{path} of {work.principal} is shown to another: {foreign.status_code}")


def _differences(what: str, found: dict[str, str], wanted: dict[str, str]) -> list[str]:
    wrong = [each for each in found.keys() | wanted.keys() if found.get(each) != wanted.get(each)]
    return [f"{what}: {each} is {found.get(each)}, not {wanted.get(each)}" for each in sorted(wrong)[:5]]


def _is_of_a_control_group(fd: Path) -> bool:
    """Control groups are created as needed, up to a fixed number, and keep some files open."""
    with suppress(FileNotFoundError):
        return "cgroup" in str(fd.readlink()) or "eventfd" in str(fd.readlink())
    return True


def resources(pid: int) -> dict[str, int]:
    """What a server amounts to, and the processes below it."""
    process, below = Path(f"/proc/{pid}"), list(descendants(pid))
    opened = [each for each in (process / "fd").iterdir() if not _is_of_a_control_group(each)]
    return {
        "descriptors": len(opened),
        "mounts": len((process / "mountinfo").read_text().splitlines()),
        "processes": len(below),
        "MB of the server": round(memory_mb([pid])),
        "MB of all processes": round(memory_mb([pid, *below])),
    }


async def settled(pid: int, most: dict[str, int] | None = None) -> dict[str, int]:
    """The resources, once they are the same twice and none exceeds `most`; otherwise after a while."""
    end, before = time.monotonic() + SETTLE_SECONDS, None
    while True:
        now = resources(pid)
        is_settled = now == before and (most is None or all(now[name] <= most[name] for name in most))
        if is_settled or time.monotonic() > end:
            return now
        before = now
        await asyncio.sleep(1)


@asynccontextmanager
async def connected(served: Served, count: int) -> AsyncIterator[list[Client]]:
    """Yield clients: each principal has as many of each face."""
    async with AsyncExitStack() as stack:
        https = {each: await stack.enter_async_context(connect(served, each)) for each in PRINCIPALS}
        clients: list[Client] = []
        for number in range(count):
            principal, face = PRINCIPALS[number % len(PRINCIPALS)], FACES[number // len(PRINCIPALS) % len(FACES)]
            http, send = https[principal], over_rest(https[principal])
            if face != "REST":
                mode = MODERN if face == "MCP" else WITH_SESSIONS
                send = over_mcp(await stack.enter_async_context(mcp_client(served, http, mode)))
            clients.append((principal, face, send))
        yield clients


async def load(clients: int, runs: int, rounds: int, seed: str) -> list[str]:
    """Use a server, and return everything that is wrong."""
    made = Load(random.Random(seed))  # noqa: S311  it should be repeatable
    levels: list[dict[str, int]] = []
    with TemporaryDirectory() as folder:
        callbacks = Path(folder, "callbacks")
        command = (sys.executable, "-m", "bench.loop_watch", str(callbacks))
        async with serve_paddock(PRINCIPALS, FIXED_POOLS, command) as served:
            async with connected(served, WARM_UP_CLIENTS) as first:
                await made.round(first, 1)
            callbacks.touch()  # now everything is imported
            for number in range(1, rounds + 1):
                async with connected(served, clients) as all_clients:
                    began = time.monotonic()
                    await made.round(all_clients, runs)
                    rate = clients * runs / (time.monotonic() - began)
                levels.append(await settled(served.pid, _most(levels[0]) if levels else None))
                level = ", ".join(f"{amount} {name}" for name, amount in levels[-1].items())
                print(f"round {number}: {rate:.0f} runs a second; then {level}", flush=True)
            await check_records(made, served)
            below = list(descendants(served.pid))
        milliseconds, what = longest(callbacks)
    made.seconds.sort()
    p50, p99 = (made.seconds[int(len(made.seconds) * share)] * 1000 for share in (0.5, 0.99))
    print(f"{len(made.made):,} runs, p50 {p50:.0f} ms, p99 {p99:.0f} ms: {_listing(made.counts)}")
    print(f"{len(made.artifacts):,} artifacts; the longest callback used {milliseconds:.1f} ms: {what}")
    return made.faults + await _left_behind(served, below, levels) + _too_long(milliseconds, what)


def _most(level: dict[str, int]) -> dict[str, int]:
    return {name: amount + MORE[name] for name, amount in level.items()}


async def _left_behind(served: Served, below: list[int], levels: list[dict[str, int]]) -> list[str]:
    most = _most(levels[0])
    faults = [f"{name}: {levels[0][name]}, later {last}" for name, last in levels[-1].items() if last > most[name]]
    if served.exit_code != 0 or served.said:
        faults.append(f"the server ended with {served.exit_code} and said: {served.said[:2000]}")
    end = time.monotonic() + SETTLE_SECONDS
    while (left := _left(served.pid, below)) and time.monotonic() < end:
        await asyncio.sleep(1)
    return faults + [f"{each} is still there" for each in left]


def _left(pid: int, below: list[int]) -> list[Path]:
    """The processes that still exist, and the control groups."""
    processes = [path for path in (Path(f"/proc/{each}") for each in below) if path.exists()]
    return processes + control_groups(pid)


def _too_long(milliseconds: float, what: str) -> list[str]:
    is_too_long = milliseconds > CALLBACK_MS
    return [f"a callback of the event loop used {milliseconds:.0f} ms: {what}"] if is_too_long else []


def _listing(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.most_common())


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.load", description=__doc__)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--runs", type=int, default=10, help="of each client in each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", default=str(time.time_ns()), help="repeats the choice of engines and sizes")
    options = parser.parse_args(arguments)
    print(f"seed {options.seed}", flush=True)
    faults = asyncio.run(load(options.clients, options.runs, options.rounds, options.seed))
    for fault in faults[:20]:
        print(f"FAULT {fault}")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
