"""What a client sends to a server with every definition and a store: lines of JSON-RPC, HTTP requests, tokens."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, JSONRPCError, JSONRPCMessage, JSONRPCRequest, jsonrpc_message_adapter

from paddock.config import AuthConfig
from paddock.definitions.definition import SHIPPED
from paddock.jail.wire import Kind, pack
from paddock.model.artifacts import Owner
from paddock.run import Paddock
from paddock.server import jwt_issuer
from paddock.server.authentication import Unauthorized
from paddock.server.http import _split_call, make_app
from paddock.server.mcp import make_server
from paddock.server.services import Services
from paddock.server.stdio import serve_messages
from tests.fuzz.from_guests import DEFINITIONS, lookup
from tests.fuzz.guests import SayingEngine
from tests.fuzz.target import Run, json_of, seed, target
from tests.server.shared_services import open_services

CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
OPENING = [
    {"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": CLIENT},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
]
PATIENCE_SECONDS = 0.5
LAST = {"jsonrpc": "2.0", "id": "last", "method": "ping"}


@asynccontextmanager
async def _services() -> AsyncIterator[Services]:
    """Services whose engines need no guests: every run returns [1]."""
    engine = SayingEngine()
    engine.control = pack(Kind.STARTED) + pack(Kind.RESULT, header={"status": "ok"}, body=b"[1]")
    engines: Any = dict.fromkeys(("cpython", "quickjs", "node"), lambda config: engine)
    async with open_services(tools=(lookup,)) as services:
        services.paddock = Paddock(services.config, engines=engines, tools=[lookup], journal=services.store.journal)
        yield services


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
    async with _services() as services:
        server = make_server(services, DEFINITIONS)

        async def run(data: bytes) -> object:
            incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
            write, outgoing = anyio.create_memory_object_stream[SessionMessage](math.inf)
            texts = [json.dumps(each) for each in OPENING]
            waiting: set[object] = set()
            for line in [*texts, *data.decode(errors="replace").split("\n"), json.dumps(LAST)]:
                message = _message(line)
                incoming.send_nowait(message)
                if isinstance(message, SessionMessage) and isinstance(message.message, JSONRPCRequest):
                    waiting.add(message.message.id)
            answers: list[JSONRPCMessage] = []
            async with incoming, read, write, outgoing, anyio.create_task_group() as tasks:
                tasks.start_soon(serve_messages, server, read, write)
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


FORM = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na,b\r\n--b--\r\n'
JSON = ["content-type", "application/json"]


@target(
    {"method": "POST", "path": "/v1/runs", "headers": [JSON, ["idempotency-key", "k"]], "body": {"code": "1"}},
    {"method": "POST", "path": "/v1/runs", "headers": [["accept", "text/event-stream"]], "body": {"code": "1"}},
    {
        "method": "POST",
        "path": "/v1/runs",
        "headers": [["content-type", "multipart/form-data; boundary=b"]],
        "body": FORM,
    },
    {"method": "GET", "path": "/v1/runs", "query": "limit=3&before=x&verdict=ok&since=1"},
    {"method": "GET", "path": "/v1/runs/r_1", "query": "wait_seconds=0.1"},
    {
        "method": "POST",
        "path": "/v1/artifacts",
        "headers": [["content-type", "multipart/form-data; boundary=b"]],
        "body": FORM,
    },
    {"method": "GET", "path": "/v1/artifacts", "query": "filename=*.csv&type=text/*&limit=2"},
    {"method": "GET", "path": "/v1/artifacts/notes", "query": "until=20000&signature=abc"},
    {"method": "GET", "path": "/v1/artifacts/notes/content", "headers": [["range", "bytes=1-2"]]},
    {"method": "GET", "path": "/v1/tools", "query": "query=lookup&tag=x&limit=3"},
    {"method": "POST", "path": "/v1/tools/lookup/call", "headers": [JSON], "body": {"arguments": {"name": "x"}}},
    {"method": "PUT", "path": "/v1/definitions/t", "headers": [JSON], "body": {"description": "d", "code": "1"}},
    {"method": "POST", "path": "/v1/definitions/run_code/try", "headers": [JSON], "body": {"arguments": {"code": "1"}}},
    {"method": "PUT", "path": "/v1/context", "headers": [JSON], "body": {"values": {"a": "b"}}},
    {
        "method": "POST",
        "path": "/mcp",
        "headers": [JSON, ["accept", "application/json, text/event-stream"]],
        "body": OPENING[0],
    },
    {"method": "POST", "path": "/mcp", "headers": [["mcp-session-id", "x"]], "body": called("run_code", code="1")},
    {"method": "GET", "path": "/metrics", "headers": [["accept", "application/openmetrics-text; version=1.0.0"]]},
    {"method": "GET", "path": "/readyz", "headers": [["authorization", "Bearer pdk_x"], ["origin", "http://x"]]},
    tokens=[
        *("host", "transfer-encoding", "content-length", "traceparent", "last-event-id", "Bearer pdk_", "mcp-method"),
        *("bytes=-1", "bytes=0-0,2-3", "%00", "%2e%2e/", "signature=", "multipart/form-data; boundary=", "gzip"),
    ],
    seconds=2.0,
    seconds_per_byte=60e-6,
)
@asynccontextmanager
async def http_request() -> AsyncIterator[Run]:
    """A request as uvicorn passes it on: it has an answer, which is no failure of the server."""
    async with _services() as services:
        app = make_app(make_server(services, DEFINITIONS), services)
        made = await services.artifacts.of(Owner("local")).create("notes.txt", "text/plain", b"one\ntwo\n")
        async with app.router.lifespan_context(app):

            async def run(data: bytes) -> object:
                values = json_of(data)
                if not isinstance(values, dict):
                    return None
                sent = {name: seed(value) for name, value in values.items() if isinstance(value, str | dict | list)}
                with suppress(ValueError, RecursionError):
                    _split_call(sent.get("body", b""))
                path = sent.get("path", b"/").decode(errors="replace").replace("/notes", f"/{made.id}")
                scope = {
                    "type": "http",
                    "http_version": "1.1",
                    "method": "".join(filter(str.isalpha, sent.get("method", b"").decode("ascii", "ignore"))).upper()
                    or "GET",
                    "path": path.replace("doctor", "health").replace("lint", "check"),  # they start processes
                    "query_string": bytes(each for each in sent.get("query", b"") if 32 < each < 127),
                    "headers": [(b"host", b"localhost"), *_headers(values.get("headers"))],
                    "client": ("127.0.0.1", 1),
                    "state": {},
                }
                return await _send(app, scope, sent.get("body", b""))

            yield run


def _headers(values: object) -> list[tuple[bytes, bytes]]:
    """Headers as they come out of a parser of HTTP."""
    pairs = [each for each in values if isinstance(each, list) and len(each) == 2] if isinstance(values, list) else []
    texts = [[str(each).encode(errors="replace") for each in pair] for pair in pairs]
    clean = [[bytes(each for each in text if 32 <= each != 127) for text in pair] for pair in texts]
    return [(name.lower(), value) for name, value in clean if name and (name != b"content-length" or value.isdigit())]


async def _send(app: Any, scope: dict[str, Any], body: bytes) -> object:
    """Send a request, wait a moment for its answer, then disconnect. Returns what distinguishes the answer."""
    given, answered, statuses, start = [body], asyncio.Event(), [], b""

    async def receive() -> dict[str, Any]:
        if given:
            return {"type": "http.request", "body": given.pop(), "more_body": False}
        with suppress(TimeoutError):
            await asyncio.wait_for(answered.wait(), PATIENCE_SECONDS)
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        nonlocal start
        if message["type"] == "http.response.start":
            statuses.append(message["status"])
        elif not message.get("more_body"):
            answered.set()
        start = start or message.get("body", b"")[:300]

    await app(scope, receive, send)
    assert len(statuses) <= 1
    assert statuses in ([], [503]) or statuses[0] < 500, (statuses, start)
    why = start.decode("latin-1").partition('"detail":')[2] or start.decode("latin-1")
    return scope["path"][:12], *statuses, "".join(filter(str.isalpha, why))[:40] if statuses > [399] else ""


KEY = Ed25519PrivateKey.from_private_bytes(b"a fixed key, so that seeds stay.")
CLAIMS = {"iss": "https://issuer", "aud": "paddock", "sub": "ann", "exp": 4_102_444_800, "scope": "run"}
TOKEN = jwt.encode(CLAIMS, KEY, "EdDSA", {"kid": "k"})
PUBLISHED = {**jwt.algorithms.OKPAlgorithm.to_jwk(KEY.public_key(), as_dict=True), "kid": "k"}
RSA_KEY = {"kty": "RSA", "kid": "r", "use": "sig", "alg": "RS256", "n": "u" * 342, "e": "AQAB"}
METADATA = {"issuer": "https://issuer", "jwks_uri": "https://issuer/keys"}


@target(
    TOKEN,
    jwt.encode({**CLAIMS, "exp": 1}, KEY, "EdDSA", {"kid": "k"}),
    jwt.encode(CLAIMS, "", "none"),
    jwt.encode(CLAIMS, "x" * 40, "HS256", {"kid": "k"}),
    raises=(Unauthorized,),
    tokens=[".", "..", "=", "eyJ", *TOKEN.split("."), jwt.encode({"sub": "bob"}, "", "none").split(".")[0]],
    seconds_per_byte=30e-6,
)
@asynccontextmanager
async def json_web_token() -> AsyncIterator[Run]:
    """A token of a caller: only one that the issuer has signed says who that is."""
    issuer = SayingIssuer([METADATA, {"keys": [PUBLISHED]}])
    await issuer._fetch()

    async def run(data: bytes) -> object:
        found = await issuer.identify(data.decode("ascii", errors="ignore"))
        assert found.principal == "jwt:ann"
        return found.role

    yield run
    await issuer.close()


@target(
    [METADATA, {"keys": [PUBLISHED, RSA_KEY]}],
    [METADATA, {"keys": [{"kty": "EC", "crv": "P-256", "x": "a" * 43, "y": "b" * 43, "kid": "e"}]}],
    [{"issuer": "https://other", "jwks_uri": "http://["}, {"keys": []}],
    raises=(Unauthorized,),
    tokens=["kty", "OKP", "EC", "oct", "crv", "P-521", "secp256k1", "Ed25519", "alg", "none", "HS256", "use", "enc"],
    seconds=2.0,
)
@asynccontextmanager
async def issuer() -> AsyncIterator[Run]:
    """What an issuer publishes: its metadata, then its keys."""
    issuer = SayingIssuer([])

    async def run(data: bytes) -> object:
        issuer.say(json_of(data))
        await issuer._fetch()
        return issuer._failure[:20], (await issuer.identify(TOKEN)).principal

    yield run
    await issuer.close()


class SayingIssuer(jwt_issuer.JwtIssuer):
    """An issuer that answers each request with the next of these values, and then with the last."""

    def __init__(self, answers: Any) -> None:
        super().__init__(AuthConfig(issuer="https://issuer", audience="paddock"))
        self.say(answers)

    def say(self, answers: Any) -> None:
        self._keys.clear()
        self._answers = list(answers) if isinstance(answers, list) and answers else [None]

    async def _get(self, url: str) -> Any:
        value = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if not isinstance(value, dict):
            raise ValueError("not a JSON object")  # noqa: TRY004  as the issuer's own
        return value
