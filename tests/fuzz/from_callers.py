"""What a caller sends: requests, arguments, definitions, prompts, configuration."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

from paddock.cli import render
from paddock.cli.definitions import _read_toml
from paddock.cli.options import _pair
from paddock.config import Config
from paddock.definitions.definition import SHIPPED, Definition, shipped
from paddock.definitions.faces import HostInfo, face_of
from paddock.definitions.prompt import RENDER_SECONDS, render_prompt
from paddock.definitions.validation import parse_saved
from paddock.errors import BadDefinition, ConfigError, RequestError
from paddock.model.files import File
from paddock.model.network import parse_host
from paddock.model.request import RunOptions, make_request
from paddock.planning.plan import Plan, make_plan
from paddock.run import Paddock
from paddock.server.artifact_tools import list_artifact_tools
from paddock.server.sessions import Caller
from paddock.tools import mcp_config
from paddock.tools.schema import compile_schema
from tests.fuzz.from_guests import CONFIG, DEFINITIONS
from tests.fuzz.target import Run, is_text, json_of, seed, target, text_of
from tests.server.shared_services import open_services


@target(
    {"code": "1", "language": "python", "inputs": {"a": [1]}, "limits": {"wall_seconds": 5}},
    {"code": "new URL('x'); Intl", "language": "javascript", "globals": "closed", "type_check": False},
    {"code": "let a: number = 1", "language": "typescript", "engine": "node", "mode": "script", "argv": ["a"]},
    {"code": "# /// script\n# requires-python = '>=3.11'\n# dependencies = ['humanize>=4', 'six']\n# ///\n1"},
    {"code": "1", "language": "javascript", "packages": ["zod@4", "@scope/name"], "network": ["a.org:443"]},
    {
        "code": "1",
        "files": [["a.csv", "x", "text/csv", "id"], ["a.csv", "y"]],
        "refused_modules": ["os.path"],
        "tools": ["*"],
    },
    raises=(RequestError,),
    tokens=[
        "python",
        "javascript",
        "typescript",
        "monty",
        "quickjs",
        "script",
        "require(",
        "structuredClone",
        "memory_bytes",
        "calls",
        "# /// script\n",
        "# ///\n",
        "\n# dependencies = [",
        "\n# a." + "a." * 3000 + "a = 1",
    ],
)
def plan(data: bytes) -> object:
    values = json_of(data)
    if not isinstance(values, dict):
        return None
    given = values.get("files", [])
    if isinstance(given, list) and all(isinstance(each, list) and len(each) > 1 for each in given):
        values["files"] = [File(each[0], seed(each[1]) if is_text(each[1]) else each[1], *each[2:4]) for each in given]
    code = values.pop("code", "")
    made: Plan = make_plan(
        make_request(code, cast("RunOptions", values)), CONFIG, ["cpython", "quickjs", "node"], ["lookup"]
    )
    json.dumps(made.inputs_json)
    return made.engine, made.engine_reason, made.mode


HOST = HostInfo(CONFIG, ("cpython", "node"))


@target(
    b'name = "totals"\ncode = "1"\ndescription = "{up}."\ntools = ["shop.*"]\n[inputs]\na = 1\n[limits]\ncalls = 3\n',
    b'name = "x"\ndescription = "d"\nis_fixed = true\ncode = """1"""\ncompanions = []\nrefused_modules = ["os"]\n',
    raises=(BadDefinition,),
    tokens=[
        *(each.name for each in fields(Definition)),
        " = ",
        "[limits]",
        "{wall_seconds",
        "inf",
        "nan",
        "1979-05-27",
    ],
)
@asynccontextmanager
async def definition_file() -> AsyncIterator[Run]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "definition.toml")

        def run(data: bytes) -> object:
            path.write_bytes(data)
            return examine_definition(_read_toml(str(path)))

        yield run


def examine_definition(values: Mapping[str, Any]) -> object:
    """Offer a saved definition, and show it."""
    definition = parse_saved(values)
    face = face_of(definition)
    compile_schema(face.describe(definition, HOST).input_schema)
    with suppress(RequestError):
        face.parse(definition, {}, HOST)
    render.to_json({name.name: getattr(definition, name.name) for name in fields(definition)})
    return definition.is_fixed, bool(definition.tools)


@target(
    {
        "definition": "run_code",
        "arguments": {"code": "1", "language": "python", "timeout": 5, "files": [{"file_name": "a", "base64": "YQ=="}]},
    },
    {"definition": "execute", "arguments": {"code": "1"}},
    {"definition": "code_executor", "arguments": {"code": "1", "language": "node"}},
    {"definition": "code_execution", "arguments": {"code": "1", "inputs": {"a": 1}, "files": ["a.csv"]}},
    {"definition": "python", "arguments": {"code": "1", "timeout": 3, "lint": True}},
    {
        "definition": "code-execution_execute",
        "arguments": {"code": "1", "timeout": 1000, "connectionSelections": {"a": "b"}},
    },
    raises=(RequestError,),
    tokens=["detach", "idempotency_key", "inputs", "content", *SHIPPED],
)
def face_arguments(data: bytes) -> object:
    """The arguments of a code tool: what the schema accepts makes a request, or says why not."""
    values = json_of(data)
    if not isinstance(values, dict) or not isinstance(values.get("arguments"), dict):
        return None
    named = [each for each in DEFINITIONS if each.name == values.get("definition")]
    definition = named[0] if named else DEFINITIONS[0]
    face = face_of(definition)
    problem = _validator(definition.name).problems(values["arguments"], definition.name)
    if problem is not None:
        face.render_refusal(problem)
        return problem["error_code"], definition.name
    request = face.parse(definition, values["arguments"], HOST)
    made = make_plan(make_request(request.code, request.options), CONFIG, ["cpython", "quickjs", "node"], ["lookup"])
    return made.engine, made.mode, definition.name


VALIDATORS: dict[str, Any] = {}


def _validator(name: str) -> Any:
    if name not in VALIDATORS:
        definition = shipped(name)
        VALIDATORS[name] = compile_schema(face_of(definition).describe(definition, HOST).input_schema)
    return VALIDATORS[name]


@target(
    "{% for name, stub in code_execution_stubs.items() %}{{ name | quoted }}{{ stub | fenced }}{% endfor %}",
    "{% for file in input.files %}{{ file.file_name ~ 'x' * 3 }}{% else %}none{% endfor %}{{ 'a' | center(9) }}",
    "{% set x = range(9) | list %}{{ x | join(', ') | upper | replace('1', '2') | wordwrap(3) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1) }}",
    raises=(RequestError,),
    tokens=[
        "{{",
        "}}",
        "{%",
        "%}",
        "range(",
        " ** ",
        " * ",
        "| batch(",
        "| map(",
        "| tojson",
        "| urlize",
        "namespace(",
        "__class__",
        "lipsum()",
        "| sum",
        "cycler",
        "| slice(",
        "|xmlattr",
        "| indent(",
    ],
    seconds=RENDER_SECONDS + 2,
)
async def prompt(data: bytes) -> object:
    files = [{"element_id": "a", "file_name": "b.csv", "file_type": "text/csv"}]
    return len(await asyncio.to_thread(render_prompt, {"code_execution": "def f(): ..."}, files, text_of(data))) > 0


@target(
    {"tool": "read_artifact", "arguments": {"ref": "notes.txt", "offset": 3, "limit": 5, "unit": "lines"}},
    {
        "tool": "read_artifact",
        "arguments": {"ref": "notes.txt", "search": "o(n|k)+e", "is_regex": True, "context_lines": 1},
    },
    {"tool": "read_artifact", "arguments": {"ref": "image.png"}},
    {
        "tool": "write_artifact",
        "arguments": {"filename": "a.txt", "content": "x", "mode": "append", "file_type": "csv"},
    },
    {"tool": "write_artifact", "arguments": {"filename": "b.bin", "base64": "YWJj"}},
    {"tool": "list_artifacts", "arguments": {"filename": "*.t?t", "mime_type": "text/*", "limit": 2, "cursor": "abc"}},
    raises=(RequestError,),
    tokens=[
        "notes.txt",
        "paddock://artifacts/",
        "a_",
        "characters",
        "(?i)",
        "[[:alpha:]]",
        "\\pL{1000}",
        "(x{1000}){1000}",
        "smartGrepQuery",
    ],
    seconds=2.0,
)
@asynccontextmanager
async def artifacts() -> AsyncIterator[Run]:
    """The tools with which a client reads, writes and lists artifacts."""
    async with open_services() as services:
        caller = Caller("local", services.sessions.get("x"), _report)
        tools = {each.tool.name: each for each in list_artifact_tools(services)}
        scope = services.artifacts.of(caller.owner)
        await scope.create("notes.txt", "text/plain", b"one\ntwo\r\nthree \xff\xf0\n" * 300 + b"o" * 90_000)
        await scope.create("image.png", "image/png", b"\x89PNG\r\n\x1a\n\0")

        async def run(data: bytes) -> object:
            values = json_of(data)
            if not isinstance(values, dict) or not isinstance(values.get("arguments"), dict):
                return None
            tool = tools.get(str(values.get("tool"))) or tools["read_artifact"]
            arguments, _, problem = tool.check(values["arguments"])
            if problem is not None:
                return problem["error_code"], str(problem["details"])[:60]
            result = await tool.call(caller, arguments)
            result.model_dump_json(by_alias=True)
            return tool.tool.name, result.is_error, str(result.structured_content)[:40]

        yield run


async def _report(*_: object) -> None: ...


@target("a=1", 'a={"b": [1, 2]}', "=", "a", tokens=["=", "NaN", "Infinity"], raises=(RequestError,))
def command_line_input(data: bytes) -> object:
    """`--input KEY=JSON`."""
    return type(_pair(text_of(data))[1]).__name__


@target(
    b'engine = "auto"\n[limits]\nwall_seconds = 5\n[environments.x]\npackages = ["pandas>=2"]\npreload = ["pandas"]\n',
    b'[upstreams.shop]\ncommand = "x"\nargs = ["${A:-b}"]\n[[tools.policy]]\ntools = "shop.*"\naction = "deny"\n',
    b'[context.region]\nallowed = ["eu"]\n[connections.shop]\nheader = "X-A"\n[artifacts]\nurl = "s3://b/c"\n',
    raises=(ConfigError,),
    tokens=[
        *(each.name for each in fields(Config)),
        "wall_seconds",
        "memory_bytes",
        "inf",
        "nan",
        "1979-05-27",
        '"""',
        "[[",
        "]]",
    ],
    seconds_per_byte=30e-6,  # tomllib takes quadratic time for deeply dotted keys, and the file is the operator's
)
@asynccontextmanager
async def config_file() -> AsyncIterator[Run]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "paddock.toml")

        def run(data: bytes) -> object:
            path.write_bytes(data)
            Paddock(Config.load(path, {}))
            return None

        yield run


@target(
    {"PADDOCK_ENGINE": "auto", "PADDOCK_LIMITS__WALL_SECONDS": "5", "PADDOCK_JAIL__ACCEPT_CONFINED": "true"},
    {
        "PADDOCK_ENVIRONMENTS__X__PACKAGES": '["a"]',
        "PADDOCK_UPSTREAMS": '{"a": {"url": "http://x"}}',
        "PADDOCK_TOOLS__POLICY": "[]",
    },
    raises=(ConfigError,),
    tokens=["PADDOCK_", "__", "PADDOCK_CAPS__CALLS", "1e400", "nan", "inf", "0x10", "1_0", "PADDOCK_SERVICE_HOST"],
)
def config_variables(data: bytes) -> object:
    values = json_of(data)
    if isinstance(values, dict):
        environ = {name: text for name, text in values.items() if isinstance(text, str) and name != "PADDOCK_CONFIG"}
        Paddock(Config.load(None, environ))
    return None


@target(
    {
        "mcpServers": {
            "shop": {"command": "npx", "args": ["-y", 1, True], "env": {"TOKEN": "${TOKEN}"}, "timeout": 5000}
        }
    },
    {
        "servers": {"a": {"type": "http", "url": "https://u:p@h/p?token=x", "headers": {"A": "${input:key}"}}},
        "inputs": [{"id": "key", "default": "v"}],
    },
    '{"mcp": {"servers": {"b": {"url": "http://x", /* c */ "disabled": false,},}}} // end\n',
    raises=(ConfigError,),
    tokens=[
        "mcpServers",
        "${",
        "${A:-b}",
        "${env:A}",
        "${workspaceFolder}",
        "/*",
        "*/",
        "//",
        "httpUrl",
        "http://[",
        "sse",
        '"\\',
    ],
)
@asynccontextmanager
async def mcp_config_file() -> AsyncIterator[Run]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "mcp.json")

        def run(data: bytes) -> object:
            path.write_bytes(data.replace(b"envFile", b"envfile"))  # it would read any file of this machine
            servers = mcp_config.read(path, {"TOKEN": "s3cret-key-1", "A": "b"})
            mcp_config._check_prefixes([server.name for server in servers])
            return tuple(repr(server)[:40] for server in servers[:3]) and tuple(
                server.transport for server in servers[:3]
            )

        yield run


@target(
    "api.example.org",
    "*.exämple.com:443",
    "[2606:2800::1]:80",
    "127.0.0.1:8000",
    raises=(RequestError,),
    tokens=["*.", ":", "[", "]", "%", "0x7f", "xn--", "ß", ".", "@", "localhost", "::ffff:"],
)
def network_host(data: bytes) -> object:
    host = parse_host(text_of(data))
    assert parse_host(str(host)) == host  # what was parsed is parsed the same way again
    return host.address is None, host.port is None, host.name.startswith("*.")
