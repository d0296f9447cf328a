"""Context and connections are added to upstream calls as headers, arguments or `_meta`, over every transport."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from paddock import Config, Paddock
from paddock.errors import ConfigError
from paddock.model.request import Context, RunContext
from paddock.model.tools import Tool
from paddock.tools.context import Field, Injected, Injection, forbidden_arguments
from paddock.tools.upstream_errors import CallFailed
from tests.tools.upstreams import SEEING, Connect, Serve, bare_config, seeing

STDIO = seeing()
IDENTITY = {"parameter": "identity_id", "argument": "identity_id", "servers": ["it"]}
REGION = {"argument": "region", "meta": "example/region", "servers": ["*"]}
PROFILE = {"header": "X-Profile", "meta": "example/profile", "required_by": ["it.plain"], "servers": ["it"]}
FIELDS = {"active_identity": IDENTITY, "region": REGION, "active_profile": PROFILE}
ACCOUNTS = [
    {"id": "us", "arguments": {"PCID": "conn_us"}},
    {"id": "eu", "arguments": {"PCID": "conn_eu"}, "headers": {"Authorization": "Bearer ${EU_TOKEN}"}},
]
EVERYTHING = Context({"active_identity": "id_7", "region": "eu", "active_profile": "p_1"}, {"it": "eu"})
ENGINES = ("monty", "cpython", "quickjs", "node")


def config(settings: Mapping[str, Any], **more: Any) -> Config:
    return bare_config({"it": settings}, **{"context": FIELDS, **more})


async def gives(paddock: Paddock, code: str, context: Context | None = None, **options: Any) -> Any:
    within = RunContext("r_test", context=context)
    result = await paddock.follow(code, lambda event: None, context=within, **options)
    assert result.error is None, result.error
    return result.output


async def refused(paddock: Paddock, call: str, context: Context | None = None) -> dict[str, Any]:
    result = await paddock.follow(f"await {call}", lambda event: None, context=RunContext("r_test", context=context))
    assert result.error is not None
    assert result.error.envelope is not None, result.error
    return dict(result.error.envelope)


def address(serve: Serve, kind: str) -> dict[str, Any]:
    return STDIO if kind == "stdio" else {"type": kind, "url": serve(kind, program=SEEING)}


@pytest.mark.parametrize("kind", ["stdio", "http", "sse"])
async def test_each_place_of_a_call_is_reached_over_every_transport(
    serve: Serve, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EU_TOKEN", "tok-of-the-eu-account")
    accounts = [
        {name: value for name, value in each.items() if name != "headers" or kind != "stdio"} for each in ACCOUNTS
    ]
    async with Paddock(config(address(serve, kind), connections={"it": accounts})) as paddock:
        orders, items, plain = await gives(
            paddock,
            "return [await call_tool('it.orders', {'limit': 3}), await call_tool('it.items', {}), "
            "await call_tool('it.plain', {})]",
            EVERYTHING,
        )
    headers = {} if kind == "stdio" else {"x-profile": "p_1"}
    meta = {"example/region": "eu", "example/profile": "p_1"}
    same = {"headers": headers, "has_token": kind != "stdio", "meta": meta}
    assert orders == {"arguments": {"limit": 3, "identity_id": "id_7"}, **same}
    assert items == {"arguments": {"region": "eu", "PCID": "conn_eu"}, **same}
    assert plain == {"arguments": {}, **same}  # an argument that a tool does not declare is not added


async def test_the_first_connection_is_used_unless_the_session_or_the_run_chose_another() -> None:
    accounts = [{"id": name, "arguments": {"PCID": f"conn_{name}"}} for name in ("us", "eu", "jp")]
    async with Paddock(config(STDIO, context={}, connections={"it": accounts})) as paddock:

        async def used(context: Context) -> str:
            return str((await gives(paddock, "return await call_tool('it.items', {})", context))["arguments"]["PCID"])

        assert await used(Context()) == "conn_us"
        assert await used(Context(connections={"it": "eu"})) == "conn_eu"
        assert await used(Context(connections={"it": "eu"}, chosen={"it": "jp"})) == "conn_jp"


async def test_a_tool_that_needs_what_is_not_set_is_not_called() -> None:
    async with Paddock(config(STDIO)) as paddock:
        first = await refused(paddock, "call_tool('it.orders', {'limit': 3})")
        second = await refused(paddock, "call_tool('it.plain', {})")
        assert (await gives(paddock, "await call_tool('it.items', {})"))["arguments"] == {}
    assert (first["error_kind"], first["error_code"]) == ("precondition_failed", "ACTIVE_IDENTITY_REQUIRED")
    assert first["hints"] == ["Call set_active_identity({'identity_id': …}) first, then call again."]
    assert (second["error_code"], second["retryable"]) == ("ACTIVE_PROFILE_REQUIRED", False)


async def test_a_default_applies_until_a_value_is_set() -> None:
    fields = {"region": {**REGION, "default": "us"}}
    async with Paddock(config(STDIO, context=fields)) as paddock:
        code = "return (await call_tool('it.items', {}))['arguments']"
        assert await gives(paddock, code) == {"region": "us"}
        assert await gives(paddock, code, Context({"region": "jp"})) == {"region": "jp"}


async def test_an_injected_value_cannot_be_passed_by_a_script() -> None:
    accounts = [{"id": "us", "arguments": {"PCID": "conn_us"}}]
    async with Paddock(config(STDIO, connections={"it": accounts})) as paddock:
        for name in ("identity_id", "region", "X-Profile", "x_profile", "PCID", "identityId"):
            said = await refused(paddock, f"call_tool('it.orders', {{'limit': 1, '{name}': 'mine'}})", EVERYTHING)
            assert (said["error_kind"], said["error_code"]) == ("mcp_input_validation", "CONTEXT_NOT_ALLOWED"), name
            assert said["hints"] == [f"Call again without '{name}'."]


async def test_injected_arguments_are_hidden_from_the_schema() -> None:
    async with Paddock(config(STDIO)) as paddock:
        tools = {tool.name: tool for tool in await paddock.tools()}
        stubs = await paddock.tool_stubs(["it.orders"])
    assert list(tools["orders"].input_schema["properties"]) == ["limit"]
    assert tools["orders"].input_schema["required"] == ["limit"]
    assert "limit" in stubs
    assert "identity_id" not in stubs


_ID: dict[str, Any] = {"properties": {"identity_id": {}, "limit": {}}, "required": ["identity_id", "limit"]}
_LEFT: dict[str, Any] = {"properties": {"limit": {}}, "required": ["limit"]}


@pytest.mark.parametrize(
    ("schema", "shown", "is_needed"),
    [
        (_ID, _LEFT, True),
        ({**_ID, "minProperties": 2}, {**_LEFT, "minProperties": 1}, True),
        ({"allOf": [{}, _ID]}, {"allOf": [{}, _LEFT]}, True),
        ({"anyOf": [_ID, {"type": "object"}]}, {"anyOf": [_LEFT, {"type": "object"}]}, False),
        ({"if": {"required": ["limit"]}, "then": _ID}, {"if": {"required": ["limit"]}, "then": _LEFT}, False),
        ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": _ID}}, {"allOf": [_LEFT], "$defs": {"a/b": _ID}}, True),
        (
            {**_LEFT, "required": ["identity_id"], "dependentRequired": {"limit": ["identity_id"]}},
            {**_LEFT, "required": [], "dependentRequired": {"limit": []}},
            True,
        ),
    ],
)
def test_an_argument_that_is_added_is_hidden_wherever_it_is_declared(
    schema: dict[str, Any], shown: dict[str, Any], is_needed: bool
) -> None:
    injection = Injection([Field("active_identity", "identity_id", ("it",), argument="identity_id")])
    tool = injection.hide_arguments(Tool("it", "orders", input_schema=schema))
    assert (tool.input_schema, tool.injected) == (shown, {"identity_id": is_needed})


def test_no_schema_makes_hiding_arguments_raise() -> None:
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"allOf": [deep]}
    wide = {"$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}] * 100}}, "$ref": "#/$defs/a"}
    odd = {"properties": [], "required": [{}, None], "allOf": {}, "then": 1, "$ref": 5, "dependentRequired": {"a": 1}}
    injection = Injection([Field("active_identity", "identity_id", ("it",), argument="identity_id")])
    for schema in (deep, wide, odd, {"$ref": "#/$ref"}, {"$ref": "#/a/b"}):
        tool = Tool("it", "orders", input_schema=schema)
        assert injection.hide_arguments(tool) is tool


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_a_server_that_requires_credentials_is_opened_with_the_first_connection(
    serve: Serve, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the first one has and the chosen one has not does not come with a call; no cookie of another one does."""
    monkeypatch.setenv("EU_TOKEN", "tok-of-the-eu-account")
    accounts = [
        {"id": "eu", "headers": {"Authorization": "Bearer ${EU_TOKEN}", "X-Profile": "first"}},
        {"id": "us", "headers": {"Authorization": "Bearer tok-of-another"}},
    ]
    upstream = {"type": kind, "url": serve(kind, "guarded", program=SEEING)}
    code = "return [await call_tool('it.plain', {}), await call_tool('it.cookie', {})]"
    async with Paddock(config(upstream, context={}, connections={"it": accounts})) as paddock:
        first, _ = await gives(paddock, code)
        other, cookie = await gives(paddock, code, Context(connections={"it": "us"}))
    assert first == {"arguments": {}, "headers": {"x-profile": "first"}, "has_token": True, "meta": {}}
    assert other == {"arguments": {}, "headers": {}, "has_token": False, "meta": {}}
    assert cookie == {"result": ""}
    headers = {"Authorization": "Bearer tok-of-the-eu-account"}
    async with Paddock(config({**upstream, "headers": headers}, context={})) as paddock:
        kept = [(await gives(paddock, code))[1]["result"] for _ in range(2)]
    assert kept[0].startswith("answer=")  # from opening the connection
    assert kept[0] == kept[1]  # not from a call, which may have been another user's


async def test_injected_values_cannot_break_a_connection_and_appear_in_no_repr(connect: Connect) -> None:
    upstream = connect(**STDIO)
    with pytest.raises(CallFailed):
        await upstream.call("plain", {}, injected=Injected({"region": "\ud800"}))
    assert upstream.health.state == "ready"
    assert "secret-of-it" not in repr(Injected({"key": "secret-of-it"}, {"a": "secret-of-it"}))


@pytest.mark.parametrize("engine", ENGINES)
async def test_context_and_credentials_never_enter_the_guest(
    engine: str, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script calls with them and is told that they arrived; nothing that it can read holds them."""
    monkeypatch.setenv("EU_TOKEN", "tok-of-the-eu-account")
    context = Context({"active_profile": "profile-that-nobody-sees"}, {"it": "eu"})
    fields = {"active_profile": {"header": "X-Profile", "servers": ["it"]}}
    settings = config(address(serve, "http"), context=fields, connections={"it": ACCOUNTS})
    async with Paddock(settings) as paddock:
        if engine in ("monty", "cpython"):
            found = await gives(paddock, SEEKING[engine], context, engine=engine)
        else:
            found = await gives(paddock, SEEKING_IN_JAVASCRIPT, context, engine=engine, language="javascript")
    assert found["came"] == {"token": True, "profile": True}
    assert found["said"] == {"result": "[redacted]"}
    assert found["inside"] == []
    assert not any(value in found["seen"] for value in ("nobody-sees", "of-the-eu-account"))


_CALLS = """
came = await call_tool('it.knows', {'profile_end': 'sees'})
said = await call_tool('it.repeat', {})
"""
SEEKING = {
    "monty": f"{_CALLS}\nreturn {{'came': came, 'said': said, 'seen': str(said), 'inside': []}}",
    # Everything that the process can read of itself. The patterns do not match themselves.
    "cpython": f"""
import os, re
{_CALLS}
wanted = re.compile(rb'profile-that-[n]obody-sees|tok-of-the-[e]u-account|marker-of-this-[s]cript')
marker = 'marker-of-this-' + 'script'.lower()
memory, inside = os.open('/proc/self/mem', os.O_RDONLY), set()
for line in open('/proc/self/maps'):
    span, mode = line.split()[:2]
    start, end = (int(part, 16) for part in span.split('-'))
    if mode.startswith('rw') and end - start < 1 << 28:
        try:
            inside.update(found.decode() for found in wanted.findall(os.pread(memory, end - start, start)))
        except OSError:
            continue
inside.remove(marker)  # which shows that this finds what is there
return {{'came': came, 'said': said, 'seen': str(dict(os.environ)), 'inside': list(inside)}}
""",
}
SEEKING_IN_JAVASCRIPT = """
const came = await callTool('it', 'knows', {profile_end: 'sees'})
const said = await callTool('it', 'repeat', {})
const shown = (name) => { try { return String(globalThis[name]) } catch { return '' } }
const seen = Object.getOwnPropertyNames(globalThis).map(shown).join()
return {came, said, seen, inside: []}
"""


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"context": {"region": {"argument": "region"}}}, "context.region.servers must list the upstreams that get it"),
        ({"context": {"region": {"servers": ["it"]}}}, "context.region has no destination"),
        ({"context": {"region": {"servers": ["its"], "argument": "r"}}}, "did you mean 'it'?"),
        ({"context": {"region": {"servers": ["it"], "header": "X-R"}}}, "which has no headers"),
        (
            {"context": {"region": {"servers": ["it"], "argument": "r", "header": "Host"}}},
            "cannot be added as a header",
        ),
        (
            {"context": {"region": {"servers": ["it"], "argument": "r", "header": "a\r\nb"}}},
            "cannot be added as a header",
        ),
        ({"context": {"region": {"servers": ["it"], "meta": "progressToken"}}}, "is reserved by the protocol"),
        (
            {"context": {"region": {"servers": ["it"], "argument": "r", "header": "Upgrade"}}},
            "cannot be added as a header",
        ),
        ({"context": {"region": {**REGION, "header": "X-R", "default": "eu "}}}, "without leading or trailing spaces"),
        ({"context": {"region": {**REGION, "required_by": ["its.*"]}}}, "'its.*' matches no tool of the servers"),
        ({"context": {"region": {"servers": ["it"], "argumnet": "r"}}}, "did you mean 'argument'?"),
        ({"context": {"Region": {"servers": ["it"], "argument": "r"}}}, "a field needs a name such as"),
        ({"context": {"region": "eu"}}, "must be a table of settings"),
        ({"context": {"region": {**REGION, "values": ["eu"], "default": "us"}}}, "which is not one of its values"),
        (
            {"context": {"region": REGION, "zone": {**REGION, "meta": "example/zone"}}},
            "context.zone.argument is also used by context.region",
        ),
        ({"connections": {"it": []}}, "must be a list of connections"),
        ({"connections": {"its": ACCOUNTS}}, "did you mean 'it'?"),
        ({"connections": {"it": [{"arguments": {}}]}}, "must have an id"),
        ({"connections": {"it": [{"id": "a"}, {"id": "a"}]}}, "must have an id that is unique"),
        ({"connections": {"it": [{"id": "a", "headers": {"X-A": "b"}}]}}, "cannot reach 'it'"),
        ({"connections": {"it": [{"id": "a", "arguments": {"x": "${NOT_THERE}"}}]}}, "NOT_THERE is not set"),
        (
            {"context": {"region": REGION}, "connections": {"it": [{"id": "a", "arguments": {"region": "eu"}}]}},
            "connections.it and context.region set the same",
        ),
    ],
)
def test_a_configuration_that_cannot_work_is_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as problem:
        Paddock(Config(upstreams={"it": STDIO}, **settings))
    assert words in str(problem.value)


@pytest.mark.parametrize(
    "name",
    ["token", "accessToken", "API-Key", "authorization", "password", "Cookie", "connectionId", "session_id", "_meta"],
)
def test_arguments_named_like_credentials_or_connections_are_refused(name: str) -> None:
    schemas: list[dict[str, Any]] = [{}, {"type": "object"}, {"properties": {"a": {}}}, {"properties": None}]
    for schema in schemas:
        assert forbidden_arguments({"a": 1, name: "x"}, schema) == [name]


@pytest.mark.parametrize("schema", [{}, {"properties": {"api_key": {}}}])
def test_only_the_first_arguments_that_are_refused_are_named(schema: dict[str, Any]) -> None:
    arguments = {f"re{'-' * number}gion": 1 for number in range(1000)}
    assert forbidden_arguments(arguments, schema, ["region"]) == list(arguments)[:20]
    assert len(forbidden_arguments({f"{number}token": 1 for number in range(1000)}, {})) == 20


@pytest.mark.parametrize("name", ["text", "page_token", "nextToken", "keyword", "region", "session", "tokens", ""])
def test_other_arguments_may_be_passed_by_a_script(name: str) -> None:
    assert forbidden_arguments({name: 1}, {}) == []


@pytest.mark.parametrize("name", ["token", "api_key", "_meta"])
def test_a_tool_that_declares_such_an_argument_accepts_it_and_no_other(name: str) -> None:
    schema: dict[str, Any] = {"properties": {name: {}}}
    assert forbidden_arguments({name: "x"}, schema) == []
    assert forbidden_arguments({name: "x", "connection_id": "y", "Authorization": "z"}, schema) == [
        "connection_id",
        "Authorization",
    ]
