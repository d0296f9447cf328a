"""What others send: upstreams, their authorization servers, a Paddock on another machine, an index of packages."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx2
import msgspec
from mcp_types import ListToolsResult
from pydantic_core import from_json

from paddock import remote
from paddock.cli import render
from paddock.errors import PaddockError
from paddock.jail import installer, package_errors, wheels
from paddock.model.result import Call, RunResult, Usage, Verdict
from paddock.model.tools import Tool
from paddock.tools import (
    answers,
    describe,
    http_client,
    mcp_config,
    message_parser,
    oauth_login,
    sanitize,
    secrets,
    stubs,
)
from paddock.tools.catalogue import Catalogue
from paddock.tools.logins import Login, LoginFile, OAuthFailed
from paddock.tools.message_filter import clean
from paddock.tools.oauth import renewed
from paddock.tools.oauth_login import parse_callback
from paddock.tools.repair import repair
from paddock.tools.schema import compile_schema
from paddock.tools.sse import _endpoint
from paddock.tools.stdio import EndlessLine, Line, Lines, line_message
from paddock.tools.tool_list import _Listing
from paddock.tools.upstream_errors import CallFailed
from tests.fuzz.from_guests import DENIED, ENVELOPE, no_artifacts
from tests.fuzz.target import Run, json_of, target, text_of

CALLED = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "s3cret-key"}]}}


@target(
    CALLED,
    {"jsonrpc": "2.0", "id": "a", "error": {"code": -32602, "message": "no s3cret-key", "data": {"a": ["s3cret-key"]}}},
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 0.5}},
    b'{"jsonrpc":"2.0","id":7,"result":' + b"x" * 70_000 + b'\n{"jsonrpc":"2.0","id":8}\n',
    raises=(EndlessLine,),
    tokens=['"id"', '"method"', '"jsonrpc":"2.0"', "s3cret-key", "_meta", "\r\n"],
)
def upstream_line(data: bytes) -> object:
    """Lines of a stdio server."""
    lines, kinds = Lines(60_000), []
    for start in range(0, len(data) + 1, 7000):
        piece = data[start : start + 7000] + (b"\n" if start + 7000 > len(data) else b"")
        for line in lines.feed(piece):
            message = line_message(line, 60_000)
            if message is not None:
                clean(message.message, ("s3cret-key",))
                message.message.model_dump_json(by_alias=True)
                kinds.append(type(message.message).__name__)
    return tuple(kinds[:5])


@target(
    b"120\n" + json.dumps(CALLED).encode(),
    b"Wed, 21 Oct 2026 07:28:00 GMT\n" + json.dumps({**CALLED, "id": "1"}).encode(),
    b'\n{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}',
    tokens=["\\ud800", '"id":"1"', '"error":', "٣", "1e400", "9" * 400],
)
def http_answer(data: bytes) -> object:
    """A header and a body of an HTTP server."""
    header, _, body = data.partition(b"\n")
    wait = http_client._retry_after(header.decode("latin-1"))
    assert wait is None or 0 <= wait <= http_client.MAX_RETRY_SECONDS
    http_client._error_text(body)
    answer = http_client._answer(body, 1)
    token = http_client.EXCHANGE.set(http_client.Exchange(number=1))
    try:
        for sent in (body, body.decode(errors="replace")):  # as a body, and as an event
            with suppress(ValueError):
                clean(message_parser._Parser().validate_json(sent, by_name=False), ("s3cret-key",))
    finally:
        http_client.EXCHANGE.reset(token)
    return wait is None, answer is None, answer == body


@target(
    b"event: endpoint\ndata: /messages?id=1\n\nevent: message\ndata: " + json.dumps(CALLED).encode() + b"\n\n",
    b": comment\nid: 7\nretry: 100\ndata: {}\ndata: x\r\n\r\nevent: endpoint\ndata: http://other/\n\n",
    raises=(CallFailed, httpx2.SSEError, httpx2.StreamError),
    tokens=["data: ", "event: ", "endpoint", "id: ", "retry: ", "\r", "//[", "http://"],
)
async def sse(data: bytes) -> object:
    """The older HTTP transport: the address to post to, then messages."""
    [server] = mcp_config.parse({"mcpServers": {"x": {"type": "sse", "url": "http://127.0.0.1/sse"}}}, {})
    request, headers = httpx2.Request("GET", server.url), {"content-type": "text/event-stream"}
    response = httpx2.Response(200, headers=headers, stream=_Stream(data), request=request)
    events = aiter(httpx2.EventSource(response, max_event_size=60_000))
    endpoint = await _endpoint(server, events)
    assert endpoint.startswith("http://127.0.0.1/"), endpoint
    return tuple([type(line_message(Line(event.data.encode()), 60_000)).__name__ async for event in events][:5])


class _Stream(httpx2.AsyncByteStream):
    def __init__(self, data: bytes) -> None:
        self._data = data

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self._data), 7000):
            yield self._data[start : start + 7000]


SCHEMA = {
    "type": "object",
    "properties": {
        "status": {"enum": ["open", "paid"], "description": "Which."},
        "limit": {"type": "integer", "default": 20, "minimum": 1, "maximum": 100},
        "customer": {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/Person"}, {"type": "null"}]},
        "lines": {"type": "array", "items": {"type": "object", "properties": {"sku": {"pattern": "^[A-Z]{3}$"}}}},
        "since": {"type": "string", "format": "date-time", "minLength": 3},
    },
    "required": ["status"],
    "additionalProperties": False,
    "$defs": {
        "Person": {
            "type": "object",
            "properties": {"first name": {"type": "string"}, "boss": {"$ref": "#/$defs/Person"}},
        }
    },
}
KEYWORDS = [
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "$ref",
    "#",
    "#/$defs/Person",
    "patternProperties",
    "prefixItems",
    "const",
]
KEYWORDS += [
    "uniqueItems",
    "dependentSchemas",
    "propertyNames",
    "contains",
    "unevaluatedProperties",
    "(a+)+$",
    "x{1000}{1000}",
    "$schema",
    "multipleOf",
]


@target(
    {
        "tools": [
            {"name": "orders", "description": "Orders. Newest first.", "inputSchema": SCHEMA, "outputSchema": SCHEMA}
        ]
    },
    {
        "tools": [
            {
                "name": "a b",
                "title": "T",
                "inputSchema": {"type": "object"},
                "annotations": {"readOnlyHint": True},
                "_meta": {"fastmcp": {"tags": ["x"]}},
            }
        ]
    },
    tokens=[*KEYWORDS, "class", "import", "call_tool", "*/", '"""'],
    seconds=2.0,
    seconds_per_byte=60e-6,
)
def tool_list(data: bytes) -> object:
    """The list of a server's tools, and everything that is written about them."""
    try:
        page = ListToolsResult.model_validate_json(data)
    except ValueError:  # the SDK's client refuses it
        return None
    [server] = mcp_config.parse({"mcpServers": {"shop": {"command": "x"}}}, {})
    listing = _Listing(server, [])
    listing.add(page.tools)
    tools = [*listing.tools.values()]
    for language in ("python", "typescript"):
        for text in (stubs.module(tools, language), describe.full(tools, language), describe.detailed(tools, language)):
            text.encode()
    catalogue = Catalogue(tools, servers=["shop"])
    for text in (
        describe.brief(tools),
        describe.overview(tools, with_names=True),
        *catalogue.hints("ordes"),
        *listing.warnings,
    ):
        text.encode()
    catalogue.search("orders newest", limit=5)
    catalogue.linked("await orders({})")
    return tuple((bool(tool.output_schema), len(compile_schema(tool.input_schema).warnings)) for tool in tools[:3])


@target(
    [SCHEMA, {"status": "opne", "limit": "5", "customer": {"first name": 3}, "lines": [{"sku": "abc"}], "since": "x"}],
    [
        {
            "type": "object",
            "properties": {"a": {"type": "array", "items": {"type": ["integer", "null"]}}},
            "required": ["a"],
        },
        {"A": "[1, 2]"},
    ],
    [
        {"allOf": [{"properties": {"a": {"const": 1}}}], "patternProperties": {"^x": {"type": "number"}}},
        {"a": 2, "x": "y"},
    ],
    tokens=KEYWORDS,
    seconds=2.0,
    seconds_per_byte=60e-6,
)
def schema(data: bytes) -> object:
    """A tool's schema and a call's arguments: checked, explained, repaired."""
    values = json_of(data)
    if not isinstance(values, list) or len(values) != 2 or not all(isinstance(value, dict) for value in values):
        return None
    schema, arguments = values
    validator = compile_schema(schema)
    problem = validator.problems(arguments, "shop.orders")
    json.dumps([problem, validator.examples(), *validator.warnings], allow_nan=False)
    repaired, notes = repair(arguments, schema)
    json.dumps([repaired, notes])
    return problem and problem["error_code"], len(validator.warnings), tuple(note["kind"] for note in notes[:3])


@target(
    {"content": [{"type": "text", "text": '{"a": [1]}'}, {"type": "image", "data": "YQ==", "mimeType": "image/png"}]},
    {
        "content": [{"type": "resource", "resource": {"uri": "file:///a%20b.txt", "text": "x"}}],
        "structuredContent": {"a": 1},
    },
    {"content": [{"type": "resource_link", "uri": "http://x/y", "name": "z"}, {"type": "text", "text": "plain"}]},
    {"content": [{"type": "text", "text": json.dumps(ENVELOPE)}], "isError": True},
    {
        "content": [{"type": "text", "text": "MCP error -32602: unknown tool"}],
        "isError": True,
        "structuredContent": DENIED,
    },
    raises=(CallFailed,),
    tokens=["blob", "isError", "MCP error -32602: ", "Input validation error", "data:", "http://[", "%00", "../.."],
)
@asynccontextmanager
async def answer() -> AsyncIterator[Run]:
    """The answer of an upstream's tool, as a script gets it."""
    store = no_artifacts()
    tools = [Tool("shop", "a"), Tool("shop", "b", output_schema=SCHEMA)]

    async def run(data: bytes) -> object:
        raw = None
        with suppress(ValueError):
            raw = from_json(data)  # as messages are read: of few levels
        if not isinstance(raw, dict):
            return None
        for tool in tools:
            made = await answers.answer(answers.Result.parse(raw), tool, store.create)
            json.loads(made.json, parse_constant=_refuse)
            made.json.encode()
            secrets.redact_secrets_in_json(made.json, ("s3cret-key",))
        return made.failed, made.json[:12]

    yield run


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


@target(
    "Bearer abcdefgh12345678 and password=hunter22, https://user:pass@host/x",
    {"password": "x", "nested": [{"api_key": "s3cret-key"}, "token: abcdefgh"], "next_page_token": "p"},
    tokens=["password=", "Bearer ", "://", "@", "token:", "s3cret-key", "c3NjcmV0"],
)
def redaction(data: bytes) -> object:
    text = text_of(data)
    known = ("s3cret-key", "other\nsecret")
    assert "s3cret-key" not in secrets.redact(text, known)
    value = json_of(data)
    secrets.named_secrets(value)
    json.dumps(secrets.redact_secrets(value, known))
    return secrets.redact_secrets_in_json(text, known)[:8], secrets.redact_secrets(text)[:8]


@target(
    "First sentence. Second one!\n\n```code```\x1b[31mred\x1b[0m <b>[x](y)</b>",
    tokens=["\x1b[", "\x1b]0;", "\x07", "```", "](", "<script", ". A", "。"],
)
def shown_text(data: bytes) -> object:
    """Text of a guest or a server, on a terminal and in Markdown."""
    text = text_of(data)
    assert sanitize.one_line(text).isprintable()
    fenced = sanitize.fenced(text)
    shown = [sanitize.first_sentence(text), sanitize.inline(text), *sanitize.lines(text), fenced]
    safe = render.safe(text)
    assert "\x1b" not in safe
    safe.encode()
    render.to_json([text, *shown])
    return len(shown) > 4


@target(
    b"GET /callback?code=a&state=b&iss=https%3A%2F%2Fissuer HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
    b"GET /callback?error=access_denied&state=b HTTP/1.1\r\n\r\n",
    raises=(ValueError,),
    tokens=["code=", "state=", "&", "%", ";", "//", "[", "]", " "],
)
def oauth_callback(data: bytes) -> object:
    """The request with which a browser ends a login. Any web page can send one."""
    return tuple(sorted(parse_callback(data)))[:5]


@target(
    b"\xc8" + json.dumps({"access_token": "a" * 20, "token_type": "Bearer", "expires_in": 60, "scope": "x"}).encode(),
    b"\xc8" + json.dumps({"access_token": "a" * 20, "token_type": "bearer", "refresh_token": "r" * 20}).encode(),
    b"\x90" + json.dumps({"error": "invalid_grant"}).encode(),
    raises=(OAuthFailed,),
    tokens=['"access_token"', '"expires_in"', '"error"', "invalid_grant", "1e400", "null"],
)
def oauth_refresh(data: bytes) -> object:
    """The answer of an authorization server to a refresh; its first byte is the status."""
    status = 200 if data[:1] == b"\xc8" else 400
    values: dict[str, Any] = dict.fromkeys(
        ("server", "principal", "url", "client_id", "token_endpoint", "access_token"), "x"
    )
    login = renewed(Login(**values), httpx2.Response(status, content=data[1:]))
    return bool(login.refresh_token), login.is_expired


RESOURCE = {"resource": "https://shop/mcp", "authorization_servers": ["https://login"], "scopes_supported": ["a"]}
SERVER = {
    "issuer": "https://login",
    "authorization_endpoint": "https://login/authorize",
    "token_endpoint": "https://login/token",
    "registration_endpoint": "https://login/register",
    "response_types_supported": ["code"],
    "code_challenge_methods_supported": ["S256"],
}
CLIENT = {"client_id": "c", "client_secret": "s", "redirect_uris": ["http://127.0.0.1:1/callback"]}
TOKENS = {"access_token": "a" * 20, "token_type": "Bearer", "expires_in": 60, "refresh_token": "r" * 20}
ASKED = [401, {"www-authenticate": 'Bearer resource_metadata="https://shop/.well-known/x", scope="a"'}, ""]


@target(
    [ASKED, [200, {}, RESOURCE], [200, {}, SERVER], [201, {}, CLIENT], [200, {}, TOKENS], [200, {}, ""]],
    [ASKED, [404, {}, ""], [404, {}, ""], [200, {}, SERVER], [400, {}, {"error": "invalid_client_metadata"}]],
    [[403, {"www-authenticate": 'Bearer error="insufficient_scope"'}, ""], [302, {"location": "http://x"}, ""]],
    raises=(OAuthFailed,),
    tokens=[
        "https://",
        "http://[",
        "resource_metadata=",
        "scope=",
        "error=",
        "S256",
        "plain",
        "none",
        *SERVER,
        *CLIENT,
    ],
)
@asynccontextmanager
async def oauth_login_answers() -> AsyncIterator[Run]:
    """A whole login: what an MCP server and its authorization server answer, one after the other."""
    [server] = mcp_config.parse({"mcpServers": {"x": {"type": "http", "url": "https://shop/mcp"}}}, {})
    oauth, said = server.oauth or mcp_config.OAuth(), list[Any]()

    async def fetch(client: object, request: httpx2.Request, *_: object, **__: object) -> httpx2.Response:
        if not said:
            raise OAuthFailed("it does not answer")
        status, headers, body = said.pop(0)
        content = body if isinstance(body, str) else json.dumps(body)
        return httpx2.Response(status, headers=headers, content=content.encode(errors="replace"), request=request)

    kept, oauth_login.fetch = oauth_login.fetch, fetch  # type: ignore[attr-defined]

    async def run(data: bytes) -> object:
        answers = json_of(data)
        said[:] = [each for each in answers if _is_answer(each)] if isinstance(answers, list) else []
        browser = oauth_login.BrowserAnswer(1)

        def show(address: str) -> None:
            state = httpx2.URL(address).params.get("state", "")
            browser.accept({"state": state, "code": "c"})

        async with asyncio.timeout(5):
            login = await oauth_login._Flow(server, oauth, browser, show).run(LoginFile("/none", "x", "local"))
        msgspec.json.encode(login)
        return login.client_auth, bool(login.resource)

    yield run
    oauth_login.fetch = kept  # type: ignore[attr-defined]


def _is_answer(value: Any) -> bool:
    """Whether this is the status, the headers and the body of an answer that a client of HTTP passes on."""
    if not isinstance(value, list) or len(value) != 3 or not isinstance(value[1], dict):
        return False
    headers = [text for pair in value[1].items() for text in pair]
    is_sent = all(isinstance(text, str) and text.isascii() and text.isprintable() for text in headers)
    return isinstance(value[0], int) and 200 <= value[0] < 600 and is_sent


RESULT = RunResult(
    "r", Verdict.OK, "python", "cpython", None, Usage(1.0), "[1]", calls=(Call(1, "t", {"a": 1}, "ok", 1.0),)
)
TOOL: dict[str, Any] = {
    "server": "s",
    "name": "s.t",
    "description": "d",
    "input_schema": {},
    "output_schema": None,
    "title": None,
}


@target(
    {"event": "done", "data": RESULT.to_json()},
    {"event": "output", "data": '{"stream": "stdout", "text": "x"}'},
    {"event": "tool_call", "data": '{"id": 1, "tool": "t", "arguments_json": "{}"}'},
    {"event": "error", "data": '{"error": "Overloaded", "envelope": {"_meta": {"retry_after_seconds": 1}}}'},
    {
        "event": "error",
        "data": json.dumps({"error": "Overloaded", "envelope": {"_meta": {"retry_after_seconds": 10**400}}}),
    },
    {"status": 429, "data": '{"error": "BadInput", "detail": "x", "status": 400}'},
    {"data": "{}", "tool": {**TOOL, "hints": {"read_only": True}, "tags": ["a"]}},
    raises=(PaddockError,),
    tokens=["done", "display", "artifact", "progress", "verdict", "error", "Overloaded", "PaddockError", "_meta"],
)
def remote_answer(data: bytes) -> object:
    """What a Paddock on another machine answers, or whoever has its address."""
    said = json_of(data)
    if not isinstance(said, dict):
        return None
    there = remote.RemotePaddock(url="http://127.0.0.1:1")
    text, status = str(said.get("data")), said.get("status", 0)
    there._raise_for(status if isinstance(status, int) else 0, text.encode(errors="replace"))
    with there._unreadable_answers():
        event = remote._event(str(said.get("event")), text)
        if "tool" in said:
            remote._tool(said["tool"])
    return type(event).__name__


@target(
    {"installing": 3},
    {"fetched_bytes": 1, "download_bytes": 2_000_000},
    {"done": {"lock": "a==1", "shadows": False, "packages": {"a": "1"}, "uses": []}},
    {"failed": "error: No solution found\n  cause: Because all versions of a have no usable wheels and you require a"},
    {"failed": "npm error code E404\nnpm error 404 Not Found - GET https://u:p@x/a '@b/a@1' is not in this registry."},
    raises=(msgspec.MsgspecError, UnicodeDecodeError, RecursionError),
    tokens=["cause: Because ", "==1 ", "<=2 ", "404 Not Found ", "error: ", "npm error ", "//u:p@", "all of: ", "a<1 "],
)
def installer_report(data: bytes) -> object:
    """A line of what an installer reports: it has read what an index sent."""
    report, shown = msgspec.json.decode(data, type=installer._Report), list[str]()
    installation = installer.Installation()
    with installation.watched_by(shown.append):
        installation.note(report)
    said = package_errors.explain(report.failed or "", "Python 3.11")
    assert "\n" not in said
    assert "//u:p@" not in said
    return said[:30], tuple(each[:12] for each in shown)


def _archive(*names: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name in names:
            archive.writestr(name, "")
    return made.getvalue()


@target(_archive("a.py", "a-1.data/purelib/b/c.py", "a-1.dist-info/RECORD"), _archive("./", "../x.py", "/x", "a.pth"))
def wheel_files(data: bytes) -> object:
    """The list of files in a wheel, which a program reads that may fail, but not take long."""
    with suppress(Exception), zipfile.ZipFile(io.BytesIO(data)) as archive:
        return tuple(sorted(wheels._top_level(archive.namelist()))[:3])
    return None
