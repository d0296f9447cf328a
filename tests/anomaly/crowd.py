"""Several principals, and a hundred runs of theirs at once on one server, each with a marker of its own.

Every script prints its marker, meets the others at the gate, creates an artifact and returns what the gate said. So a
test can do something to the server while all of them are under way, open the gate, and look at what became of each.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2 as httpx
from mcp import Client, MCPError

from tests.anomaly.serving import MARKER, NAMES, PATIENCE_SECONDS, Serving
from tests.server.test_access import bearer, client_of, innermost

PYTHON = """
print("{marker}")
met = await call_tool("gate.meet", {{"marker": "{marker}"}})
made = await create_artifact("{marker}.txt", "{marker} " * {repeats})
[met["marker"], made["success"], made.get("error")]
"""
JAVASCRIPT = """
console.log("{marker}");
const met = await callTool("gate", "meet", {{ marker: "{marker}" }});
const made = await codeExec.createArtifact("{marker}.txt", "{marker} ".repeat({repeats}));
[met.marker, made.success, made.error ?? null]
"""
UNSTORED = "the artifact could not be stored because of a fault on the host; the host's log has the details"
KINDS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "cpython": (PYTHON, {"language": "python"}),
    "warm": (f"import numpy\n{PYTHON}", {"language": "python"}),
    "quickjs": (JAVASCRIPT, {"language": "javascript"}),
    "node": (JAVASCRIPT.replace("const met", "const met: any"), {"language": "typescript"}),
    "monty": (PYTHON, {"engine": "monty"}),
    "checked": (PYTHON, {"type_check": "tools"}),
}
"""Scripts, with the options that choose where they run. The last two kinds can be asked for over REST alone."""


@dataclass
class Asked:
    """A run that was asked for, and what its caller was told."""

    principal: str
    marker: str
    kind: str
    face: str  # "mcp" or "rest"
    detached: bool
    run_id: str | None = None
    answer: dict[str, Any] | None = None
    problem: str | None = None

    @property
    def verdict(self) -> str | None:
        return None if self.answer is None else self.answer["verdict"]


@dataclass
class Crowd:
    """Runs of several principals through their clients, all at once."""

    serving: Serving
    asked: list[Asked] = field(default_factory=list)
    tasks: list[asyncio.Task[None]] = field(default_factory=list)
    tag: str = field(default_factory=lambda: secrets.token_hex(4))
    principals: Mapping[str, str] = field(default_factory=lambda: {name: name for name in NAMES})
    """What the server calls the callers."""
    clients: dict[str, Client] = field(default_factory=dict)
    http: dict[str, httpx.AsyncClient] = field(default_factory=dict)
    repeats: int = 1

    def ask(self, count: int, *names: str) -> None:
        """Ask for so many runs of these callers, of every kind, over both faces, some detached."""
        names = names or NAMES
        first = len(self.asked)
        for number in range(first, first + count):
            kind, (code, options) = list(KINDS.items())[number % len(KINDS)]
            name = names[number % len(names)]
            face = "rest" if kind in ("monty", "checked") or number % 4 >= 2 else "mcp"
            marker = f"mark-{name}-{number}-{self.tag}"
            run = Asked(name, marker, kind, face, detached=number % 5 in (0, 3))
            self.asked.append(run)
            code = code.format(marker=marker, repeats=self.repeats)
            self.tasks.append(asyncio.create_task(self._send(run, {"code": code, **options})))

    async def _send(self, run: Asked, request: dict[str, Any]) -> None:
        try:
            if run.face == "mcp":
                await self._send_mcp(run, request)
            else:
                await self._send_rest(run, request)
        except (MCPError, ExceptionGroup, httpx.HTTPError, OSError) as problem:
            fault = innermost(problem)
            run.problem = f"{type(fault).__name__}: {fault}"

    async def _send_mcp(self, run: Asked, request: dict[str, Any]) -> None:
        result = await self.clients[run.principal].call_tool("run_code", {**request, "detach": run.detached})
        values = result.structured_content
        if values is None:
            run.problem = result.content[0].text  # type: ignore[union-attr]
            return
        run.run_id, run.answer = values["run_id"], None if run.detached else values

    async def _send_rest(self, run: Asked, request: dict[str, Any]) -> None:
        answer = await self.http[run.principal].post("/runs", json={**request, "detach": run.detached})
        values = answer.json()
        if answer.status_code not in (200, 202):
            run.problem = f"{answer.status_code} {values['error']}: {values['detail']}"
            return
        run.run_id, run.answer = values["run_id"], None if run.detached else values

    async def answered(self) -> None:
        """Return when every caller has an answer or an error."""
        async with asyncio.timeout(2 * PATIENCE_SECONDS):
            await asyncio.gather(*self.tasks)

    async def ended(self) -> None:
        """Return when every caller has an answer, and every run a verdict in the store."""
        await self.answered()
        async with asyncio.timeout(PATIENCE_SECONDS):
            while any(row["verdict"] is None for row in self.rows().values()):
                await asyncio.sleep(0.05)

    def rows(self) -> dict[str, dict[str, Any]]:
        """The stored runs of this crowd, by their markers."""
        return {marker: row for marker, row in self.serving.rows().items() if marker.endswith(self.tag)}

    def verdicts(self) -> dict[str, set[str]]:
        """The verdicts in the store, by the kind of script."""
        rows, found = self.rows(), {kind: set[str]() for kind in KINDS}
        for run in self.asked:
            if run.marker in rows:
                found[run.kind].add(rows[run.marker]["verdict"])
        return found

    def check(self) -> Counter[str]:
        """Check that each run ended once, and that each caller got its own. Returns how many got which verdict."""
        rows, verdicts = self.rows(), Counter[str]()
        ends = Counter(
            entry["run_id"]
            for entry in self.serving.logged()
            if entry["logger"] == "paddock.server.runs" and "verdict" in entry
        )
        for run in self.asked:
            row = rows.get(run.marker)
            if row is None:  # it was refused, and its caller was told why
                assert run.run_id is None, run
                assert run.problem, run
                verdicts["refused"] += 1
                continue
            assert row["principal"] == self.principals[run.principal]
            assert row["verdict"] is not None, run
            assert ends[row["id"]] == 1 or (ends[row["id"]] == 0 and row["verdict"] == "lost"), (run, ends[row["id"]])
            assert run.run_id in (None, row["id"])
            verdicts[row["verdict"]] += 1
            result = json.loads(row["result_json"])
            for told in (result, run.answer or {}, run.problem or ""):
                assert set(MARKER.findall(json.dumps(told))) <= {run.marker}, (run, told)
            assert set(MARKER.findall(row["code"])) == {run.marker}
            if row["verdict"] == "ok":
                assert result["stdout"].strip() == run.marker
                assert result["output"] in ([run.marker, True, None], [run.marker, False, UNSTORED])
            else:
                assert result["error"]["message"], run
            if run.answer is not None:
                assert (run.answer["verdict"], run.answer["run_id"]) == (row["verdict"], row["id"])
                assert run.answer.get("output") == result["output"]
            elif not run.detached:
                assert run.problem, run
        return verdicts

    def stored(self) -> int:
        """How many scripts were told that their artifact is stored."""
        outputs = [json.loads(row["result_json"])["output"] for row in self.rows().values()]
        return sum(output is not None and output[1] for output in outputs)

    async def check_artifacts(self) -> None:
        """Check that each principal has the artifacts of its own runs, with all bytes that the script wrote."""
        outputs = {marker: json.loads(row["result_json"])["output"] for marker, row in self.rows().items()}
        for name, http in self.http.items():
            own = {f"{run.marker}.txt": run for run in self.asked if run.principal == name}
            found = await http.get("/artifacts", params={"limit": 200, "filename": f"*{self.tag}*"})
            listed = found.json()["artifacts"]
            assert {each["filename"] for each in listed} <= set(own)
            for each in listed:
                content = await http.get(f"/artifacts/{each['id']}/content")
                assert content.text == f"{each['filename'].removesuffix('.txt')} " * self.repeats
            promised = {name for name, run in own.items() if (outputs.get(run.marker) or ("", False))[1]}
            assert promised <= {each["filename"] for each in listed}


@asynccontextmanager
async def crowd(server: Serving, tokens: Mapping[str, str] | None = None, **options: Any) -> AsyncIterator[Crowd]:
    """A crowd whose clients send these tokens, else those of the server's store."""
    made, over, holding = Crowd(server, **options), asyncio.Event(), list[asyncio.Task[None]]()
    async with AsyncExitStack() as stack:
        for name, token in (tokens or server.tokens).items():
            timeout, limits = httpx.Timeout(2 * PATIENCE_SECONDS), httpx.Limits(max_connections=100)
            http = httpx.AsyncClient(base_url=f"{server.url}/v1", headers=bearer(token), timeout=timeout, limits=limits)
            made.http[name] = await stack.enter_async_context(http)
            connected: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
            holding.append(asyncio.create_task(_hold_client(server.address, token, connected, over)))
            made.clients[name] = await connected
        try:
            yield made
        finally:
            over.set()
            for task in made.tasks:
                task.cancel()
            await asyncio.gather(*made.tasks, *holding, return_exceptions=True)


async def _hold_client(address: str, token: str, connected: asyncio.Future[Client], over: asyncio.Event) -> None:
    """Keep a client open. A lost connection ends the task that opened it, so that is not the test's."""
    async with client_of(address, headers=bearer(token)) as client:
        connected.set_result(client)
        await over.wait()
