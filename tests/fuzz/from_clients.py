"""What a client of the MCP server sends: lines of JSON-RPC, to a server with every definition and a store."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, JSONRPCError, JSONRPCMessage, JSONRPCRequest, jsonrpc_message_adapter

from paddock.definitions.definition import SHIPPED
from paddock.jail.wire import Kind, pack
from paddock.run import Paddock
from paddock.server.mcp import make_server
from paddock.server.stdio import _answer_unreadable
from tests.fuzz.from_guests import DEFINITIONS, lookup
from tests.fuzz.guests import SayingEngine
from tests.fuzz.target import Run, target
from tests.server.shared_services import open_services

CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
OPENING = [
    {"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": CLIENT},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
]
PATIENCE_SECONDS = 0.5
LAST = {"jsonrpc": "2.0", "id": "last", "method": "ping"}


def request(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def called(name: str, **arguments: Any) -> dict[str, Any]:
    return request("tools/call", name=name, arguments=arguments)


@target(
    request("tools/list"),
    request("resources/read", uri="paddock://artifacts/a_1"),
    request("resources/list", cursor="x"),
    request("prompts/get", name="code_execution", arguments={"a": "b"}),
    called("run_code", code="1", inputs={"a": 1}, timeout=5, detach=True, idempotency_key="k"),
    called("run_code", code="1", language="javascript", files=[{"file_name": "a", "content": "b"}]),
    called("get_run", run_id="r_1", wait_seconds=0),
    called("cancel_run", run_id="r_1"),
    called("search", query="orders", detail="full", tags=["x"], limit=3),
    called("get_schema", tools=["lookup"], detail="brief", language="typescript"),
    called("attach_file", file_name="a.csv", content="x"),
    called("detach_file", element_id="a.csv"),
    called("get_session_state"),
    called("write_artifact", filename="a.txt", content="x"),
    called("read_artifact", ref="a.txt", offset=0.0, limit=2.0, unit="lines"),
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "reason": "x"}},
    {"jsonrpc": "2.0", "id": 7, "result": {}},
    [request("tools/list")],
    tokens=["tools/call", "resources/templates/list", "completion/complete", "logging/setLevel", "_meta", *SHIPPED],
    seconds=2.0,
    seconds_per_byte=60e-6,
)
@asynccontextmanager
async def mcp_messages() -> AsyncIterator[Run]:
    """Whatever a client sends, no request of it fails inside the server, and the next one is answered."""
    engine = SayingEngine()
    engine.control = pack(Kind.STARTED) + pack(Kind.RESULT, header={"status": "ok"}, body=b"[1]")
    engines: Any = dict.fromkeys(("cpython", "quickjs", "node"), lambda config: engine)
    async with open_services(tools=(lookup,)) as services:
        services.paddock = Paddock(services.config, engines=engines, tools=[lookup], journal=services.store.journal)
        server = make_server(services, DEFINITIONS)

        async def run(data: bytes) -> object:
            incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
            write, outgoing = anyio.create_memory_object_stream[SessionMessage](math.inf)
            passed, readable = anyio.create_memory_object_stream[SessionMessage | Exception](0)
            texts = [json.dumps(each) for each in OPENING]
            waiting: set[object] = set()
            for line in [*texts, *data.decode(errors="replace").split("\n"), json.dumps(LAST)]:
                message = _message(line)
                incoming.send_nowait(message)
                if isinstance(message, SessionMessage) and isinstance(message.message, JSONRPCRequest):
                    waiting.add(message.message.id)
            answers: list[JSONRPCMessage] = []
            async with incoming, read, write, outgoing, passed, readable, anyio.create_task_group() as tasks:
                tasks.start_soon(_answer_unreadable, server, read, passed, write)
                tasks.start_soon(server.run, readable, write, server.create_initialization_options())
                while waiting:
                    # Others may take their time, or be cancelled; the last request must be answered.
                    with anyio.move_on_after(math.inf if "last" in waiting else PATIENCE_SECONDS) as patience:
                        sent = await outgoing.receive()
                    if patience.cancelled_caught:
                        break
                    sent.message.model_dump_json(by_alias=True)
                    answers.append(sent.message)
                    waiting.discard(getattr(sent.message, "id", None))
                tasks.cancel_scope.cancel()
            failed = [each for each in answers if isinstance(each, JSONRPCError) and each.error.code == INTERNAL_ERROR]
            assert failed == []
            return tuple(str(each)[:80] for each in answers[1:-1][:3])

        yield run


def _message(line: str) -> SessionMessage | Exception:
    """A line as the SDK reads it."""
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as problem:
        return problem
