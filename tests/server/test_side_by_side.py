"""Two principals' agents on one server, through three real clients each, at the same time: neither sees the other.

The clients are the official SDK's, MCP Inspector (which uses the SDK for TypeScript), and Paddock's own: the library
with `url`, and the command line with `--url`.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from mcp import Client, MCPError

from paddock import Paddock, PaddockError
from paddock.jail.environments import Built
from paddock.store.database import Store
from tests.cli.command import paddock
from tests.server.test_access import bearer, client_of
from tests.server.test_inspector import ended
from tests.server.test_processes import ACCEPT, HELLO, address_of, forked
from tests.tools.installed import InstalledClients, installed_clients
from tests.tools.upstreams import seeing

pytestmark = pytest.mark.thorough

__all__ = ["installed_clients"]  # the fixture

SETTINGS = """
[server]
require_token = true
[context.region]
argument = "region"
servers = ["it"]
"""
MARK = re.compile(r"mark-(ann|bob)-\w+")
REGION = '(await call_tool("it.items", {}))["arguments"].get("region")'
SLOW = "print('{mark}')\nawait report_progress(1)\nimport time\ntime.sleep(600)"


@dataclass
class Agent:
    """What a principal's agent uses, and what it has made so far."""

    name: str
    token: str
    url: str
    runs: list[str] = field(default_factory=list)
    running: list[str] = field(default_factory=list)
    artifacts: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)

    def mark(self, number: int) -> str:
        return f"mark-{self.name}-{number}"

    def note(self, answer: object) -> None:
        """Remember everything that a client was told."""
        self.seen.append(json.dumps(answer, default=str))


Call = Callable[[str, dict[str, Any]], Awaitable[Any]]
"""Calls a tool, and returns the result as MCP has it, without its metadata."""


@asynccontextmanager
async def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Agent, Agent]]:
    monkeypatch.setenv("PADDOCK_STORE__PATH", str(tmp_path / "paddock.db"))
    (tmp_path / "settings.toml").write_text(SETTINGS)
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"it": seeing()}}))
    async with Store(tmp_path / "paddock.db") as store:
        tokens = {name: (await store.tokens.add(name))[1] for name in ("ann", "bob")}
    options = ("--config", str(tmp_path / "settings.toml"), "--mcp-config", str(tmp_path / "mcp.json"))
    with forked("serve", "--port", "0", *options) as process:
        url = address_of(process).removesuffix("/mcp")
        ann, bob = (Agent(name, token, url) for name, token in tokens.items())
        yield ann, bob


@asynccontextmanager
async def official(agent: Agent) -> AsyncIterator[tuple[Client, Call]]:
    """The official SDK's client, in the era that has sessions."""
    async with client_of(f"{agent.url}/mcp", "legacy", headers=bearer(agent.token)) as client:

        async def call(tool: str, arguments: dict[str, Any]) -> Any:
            result = await client.call_tool(tool, arguments)
            return {"content": [each.model_dump() for each in result.content], "value": result.structured_content}

        yield client, call


def inspector(agent: Agent, clients: InstalledClients, folder: Path) -> Call:
    """MCP Inspector, a process for each call."""
    command = [clients.inspector, "--cli", "--protocol-era", "modern", "--format", "json", "--connect-timeout", "0"]
    target = [f"{agent.url}/mcp", "--header", f"Authorization: Bearer {agent.token}"]

    async def call(tool: str, arguments: dict[str, Any]) -> Any:
        given = ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments)]
        _, result = await ended([*command, *given, *target], folder)
        return {"content": result["content"], "value": result.get("structuredContent")}

    return call


async def command(agent: Agent, *arguments: str, stdin: str = "") -> tuple[int, str]:
    """`paddock` on the server: its status, and everything that it printed."""
    own = {"PADDOCK_URL": agent.url, "PADDOCK_TOKEN": agent.token}
    done = await asyncio.to_thread(lambda: paddock(*arguments, stdin=stdin, **own))  # type: ignore[arg-type]
    agent.note([done.out, done.err])
    return done.status, done.out + done.err


async def use_tools(agent: Agent, call: Call, number: int, *, has_session: bool) -> None:
    """Work through MCP: runs, artifacts, a saved definition, a detached run, and a session if there is one."""
    mark = agent.mark(number)

    async def value(tool: str, **arguments: Any) -> Any:
        answer = await call(tool, arguments)
        agent.note(answer)
        return answer["value"]

    run = await value("run_code", code=f"print('{mark}')\n'{mark}'", idempotency_key=f"key {number}")
    assert (run["output"], run["stdout"]) == (mark, f"{mark}\n")
    again = await value("run_code", code=f"print('{mark}')\n'{mark}'", idempotency_key=f"key {number}")
    assert again["run_id"] == run["run_id"]
    detached = await value("run_code", code=SLOW.format(mark=mark), detach=True, timeout=600)
    written = await value("write_artifact", filename="report.txt", content=mark)
    assert (await value("read_artifact", ref=written["id"]))["content"] == mark
    assert (await value("get_run", run_id=run["run_id"]))["output"] == mark
    assert (await value("whoami"))["output"] == agent.name
    await value("list_artifacts")
    if has_session:
        await value("set_region", region=agent.name)
        await value("attach_file", file_name="mine.txt", content=mark)
        assert (await value("run_code", code="open('/files/mine.txt').read()"))["output"] == mark
        for _ in range(5):  # while the other does the same
            assert (await value("run_code", code=REGION))["output"] == agent.name
    await value("get_session_state")
    agent.runs.append(run["run_id"])
    agent.running.append(detached["run_id"])
    agent.artifacts.append(written["id"])


async def use_rest(agent: Agent, number: int) -> None:
    """The same through the library with `url`, the command line with `--url`, and REST itself."""
    mark = agent.mark(number)
    async with Paddock(url=agent.url, token=agent.token) as remote, rest(agent) as http:
        assert (await http.put("/context", json={"values": {"region": agent.name}})).status_code == 200
        made = await remote.run(f"print('{mark}')\nawait create_artifact('report.txt', '{mark}')\n{REGION}")
        agent.note(made.to_dict())
        assert (made.output, made.stdout) == (agent.name, f"{mark}\n")
        [artifact] = made.artifacts
        assert await remote.read_artifact(artifact.id) == mark.encode()
        slow = {"code": SLOW.format(mark=mark), "detach": True, "limits": {"wall_seconds": 600}}
        detached = await http.post("/runs", json=slow)
        for path in ("/runs", "/artifacts", "/definitions", "/context"):
            agent.note((await http.get(path)).json())
    for words in (("runs", "list", "--json"), ("runs", "show", made.run_id, "--json"), ("definitions", "list")):
        assert (await command(agent, *words))[0] == 0
    agent.runs.append(made.run_id)
    agent.running.append(detached.json()["run_id"])
    agent.artifacts.append(artifact.id)


def rest(agent: Agent) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=f"{agent.url}/v1", headers=bearer(agent.token), timeout=60)


def definition(agent: Agent, name: str) -> str:
    return f'name = "{name}"\ndescription = "Of {agent.mark(0)}."\ncode = "\'{agent.name}\'"\n'


async def test_two_principals_agents_see_nothing_of_each_other_through_three_clients(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed_clients: InstalledClients, default_environment: Built
) -> None:
    async with server(tmp_path, monkeypatch) as (ann, bob):
        for agent in (ann, bob):
            for name in ("whoami", f"only-{agent.name}"):
                assert (await command(agent, "definitions", "apply", "-", stdin=definition(agent, name)))[0] == 0
        inspectors = {agent.name: inspector(agent, installed_clients, tmp_path) for agent in (ann, bob)}
        async with official(ann) as of_ann, official(bob) as of_bob:
            officials = {"ann": of_ann, "bob": of_bob}
            await asyncio.gather(
                *(use_tools(agent, officials[agent.name][1], 1, has_session=True) for agent in (ann, bob)),
                *(use_tools(agent, inspectors[agent.name], 2, has_session=False) for agent in (ann, bob)),
                *(use_rest(agent, 3) for agent in (ann, bob)),
            )
            for agent, other in ((ann, bob), (bob, ann)):
                seen = "".join(agent.seen)
                assert set(MARK.findall(seen)) == {agent.name}
                assert [each for each in (*other.runs, *other.running, *other.artifacts) if each in seen] == []
                assert f"only-{other.name}" not in seen
            await asyncio.gather(
                *(
                    guess
                    for agent, other in ((ann, bob), (bob, ann))
                    for guess in (
                        guess_tools(other, officials[agent.name][1], is_quick=True),
                        guess_tools(other, inspectors[agent.name], is_quick=False),
                        guess_resources(other, officials[agent.name][0]),
                        guess_rest(agent, other),
                        guess_commands(agent, other),
                        guess_sessions(agent, other),
                    )
                )
            )
        for agent in (ann, bob):
            await still_there(agent)


def like(known: str) -> str:
    """An id that never existed, in the form of this one."""
    return known[:2] + secrets.token_urlsafe(60)[: len(known) - 2]


async def alike(ask: Callable[[str], Awaitable[Any]], known: str) -> None:
    """Check that the other's id is answered like one that never existed."""
    other, invented = await ask(known), like(known)
    never = await ask(invented)
    assert json.dumps(other, default=str).replace(known, "ID") == json.dumps(never, default=str).replace(invented, "ID")
    assert MARK.search(json.dumps(other, default=str)) is None


async def guess_tools(other: Agent, call: Call, *, is_quick: bool) -> None:
    """Guess with tools. Each call of Inspector takes its time, so with that one some are left out."""

    async def ask(tool: str, argument: str, known: str, **more: Any) -> None:
        async def answer(guess: str) -> Any:
            return await call(tool, {argument: guess, **more})

        await alike(answer, known)

    await ask("get_run", "run_id", other.runs[0])
    await ask("cancel_run", "run_id", other.running[0])
    await ask("read_artifact", "ref", other.artifacts[0])
    if not is_quick:
        return
    await ask("get_run", "run_id", other.running[0])
    await ask("read_artifact", "ref", other.runs[0])
    await ask("write_artifact", "filename", other.artifacts[0], content="x", mode="replace")
    await ask("write_artifact", "filename", other.artifacts[0], content="x", mode="append")

    async def from_script(guess: str) -> Any:
        return (await call("run_code", {"code": f"await read_artifact('{guess}')"}))["value"]["output"]

    await alike(from_script, other.artifacts[0])
    named, never = await call(f"only-{other.name}", {}), await call("only-eve", {})
    assert json.dumps(named).replace(f"only-{other.name}", "only-eve") == json.dumps(never)


async def guess_resources(other: Agent, client: Client) -> None:
    async def read(guess: str) -> Any:
        with pytest.raises(MCPError) as refused:
            await client.read_resource(f"artifact://{guess}")
        return [refused.value.error.code, refused.value.error.message, refused.value.error.data]

    await alike(read, other.artifacts[0])


async def guess_rest(agent: Agent, other: Agent) -> None:
    async with rest(agent) as http, Paddock(url=agent.url, token=agent.token) as remote:

        async def ask(method: str, path: str, known: str, status: int, **body: Any) -> None:
            async def answer(guess: str) -> Any:
                given = json.loads(json.dumps(body).replace("GUESS", guess))
                response = await http.request(method, path.replace("GUESS", guess), **given)
                assert response.status_code == status, response.text
                return response.json()

            await alike(answer, known)

        for run in (other.runs[2], other.running[2]):
            await ask("GET", "/runs/GUESS", run, 404)
            await ask("GET", "/runs/GUESS?wait_seconds=60", run, 404)
            await ask("POST", "/runs/GUESS/cancel", run, 404)
            await ask("GET", "/runs?before=GUESS", run, 422)
        for method, path in (("GET", ""), ("GET", "/content"), ("DELETE", "")):
            await ask(method, f"/artifacts/GUESS{path}", other.artifacts[2], 404)
        attached = {"code": "1", "files": [{"artifact": "GUESS"}]}
        await ask("POST", "/runs", other.artifacts[2], 422, json=attached)
        await ask("POST", "/runs", other.artifacts[2], 422, json={**attached, "detach": True})
        for method, path in (("GET", ""), ("GET", "/versions"), ("DELETE", ""), ("POST", "/try")):
            body: Any = {"json": {"arguments": {}}} if method == "POST" else {}
            answers = []
            for name in (f"only-{other.name}", "only-eve"):
                response = await http.request(method, f"/definitions/{name}{path}", **body)
                assert response.status_code == 404
                answers.append(response.text.replace(name, "NAME"))
            assert answers[0] == answers[1]

        async def read(guess: str) -> Any:
            with pytest.raises(PaddockError) as refused:
                await remote.read_artifact(guess)
            return [type(refused.value).__name__, str(refused.value)]

        await alike(read, other.artifacts[2])


async def guess_commands(agent: Agent, other: Agent) -> None:
    async def show(guess: str) -> Any:
        return await command(agent, "runs", "show", guess)

    await alike(show, other.runs[1])
    shown = [await command(agent, "definitions", "show", name) for name in (f"only-{other.name}", "only-eve")]
    assert str(shown[0]).replace(f"only-{other.name}", "only-eve") == str(shown[1])


async def guess_sessions(agent: Agent, other: Agent) -> None:
    """A session of the other is not found, and goes on."""
    async with httpx.AsyncClient(timeout=60) as http:
        mcp, listing = f"{other.url}/mcp", {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        begun = await http.post(mcp, json=HELLO, headers=ACCEPT | bearer(other.token))
        session = begun.headers["mcp-session-id"]

        async def ask(guess: str, method: str = "POST", who: Agent = agent) -> Any:
            headers = ACCEPT | bearer(who.token) | {"mcp-session-id": guess, "mcp-protocol-version": "2025-06-18"}
            body: Any = {"json": listing} if method == "POST" else {}
            answer = await http.request(method, mcp, headers=headers, **body)
            return [answer.status_code, answer.text]

        invented = secrets.token_hex(len(session) // 2)
        for method in ("POST", "DELETE"):
            taken, never = await ask(session, method), await ask(invented, method)
            assert taken[0] == 404
            assert str(taken).replace(session, "ID") == str(never).replace(invented, "ID")
        assert (await ask(session, who=other))[0] == 200


async def still_there(agent: Agent) -> None:
    """What the other guessed at is as it was."""
    async with rest(agent) as http:
        for run in agent.running:
            assert (await http.get(f"/runs/{run}")).json()["verdict"] == "running"
            assert (await http.post(f"/runs/{run}/cancel")).json()["verdict"] == "cancelled"
        for number, artifact in enumerate(agent.artifacts):
            assert MARK.fullmatch((await http.get(f"/artifacts/{artifact}/content")).text), number
        assert (await http.get(f"/definitions/only-{agent.name}")).status_code == 200
