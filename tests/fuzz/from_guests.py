"""What a guest says, and what the processes that read a script report about it."""

from __future__ import annotations

import ctypes
import json
import os
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal

import msgspec

from paddock import linter
from paddock.cli import render
from paddock.config import Config, ToolsConfig
from paddock.definitions.definition import SHIPPED, shipped
from paddock.definitions.faces import FaceRequest, face_of, terminal
from paddock.engines import monty_warnings, type_checker
from paddock.engines.monty_source import instrument
from paddock.errors import LintUnavailable
from paddock.hints import hint_for
from paddock.jail import dns, doors, profile_chroot, profile_confined, sock_diag
from paddock.jail.frames import FrameDecoder, check
from paddock.jail.walls import quota, watcher
from paddock.jail.wire import PREFIX, Kind, WireError
from paddock.model import envelope
from paddock.model.events import Finished, Outline, ToolCall
from paddock.model.network import normalize_name, parse_policy
from paddock.model.request import make_request
from paddock.model.result import RunResult, Verdict
from paddock.planning.plan import make_plan
from paddock.record import RunRecord
from paddock.run import Paddock
from paddock.server.tool import to_result
from paddock.tools import secrets
from tests.fuzz.guests import SayingEngine
from tests.fuzz.target import Run, is_text, json_of, seed, target, text_of

ADDRESSES = [ip_address(f"{start}{number}") for start in ("93.184.216.", "2606:2800::") for number in range(20)]
POLICY = parse_policy("public")
CODE = "rows = await lookup({'name': 'x'})\nreturn rows\n"
ENVELOPE = envelope.invalid_arguments(
    "shop.orders", "wrong", details=[{"path": "a", "issue": "b", "received_type": None}]
)
DENIED = envelope.with_meta(
    envelope.policy_denied("t", "no", needs_approval=False),
    warnings=["w"],
    retry_after_seconds=1.5,
)
FRAMES: list[list[Any]] = [
    [Kind.STARTED, 0, "", ""],
    [Kind.CALL, 1, {"tool": "lookup"}, {"name": "x", "count": 3}],
    [Kind.PROGRESS, 0, {"done": 1, "total": 2, "message": "half"}, ""],
    [Kind.ARTIFACT, 2, {"do": "create", "filename": "a.csv", "mime_type": "csv"}, "a,b\n"],
    [Kind.ARTIFACT, 3, {"do": "read", "ref": "a.csv"}, ""],
    [
        Kind.DISPLAY,
        4,
        {"type": "table", "mime_type": "application/json", "text_bytes": 1, "data_bytes": 9},
        't[{"a":1}]',
    ],
    [Kind.DISPLAY, 5, {"type": "html", "mime_type": "text/html", "data_bytes": 3, "filename": "a.html"}, "<b>"],
    [Kind.LOG, 0, {"level": "warn"}, "careful"],
    [Kind.PRINTED, 0, {"stream": "stdout"}, "hello"],
    [Kind.RESULT, 0, {"status": "ok"}, {"rows": [1, 2.5, None, "x"]}],
]
RAISED = {"status": "raised", "type": "RuntimeError", "line": 3, "column": 5, "traceback": "Traceback\n  main.py"}
GUEST_TOKENS = ("ok", "raised", "rejected", "exited", "MemoryError", "RecursionError", "TypingError", "RuntimeError")


def packed(frame: object) -> bytes:
    """A frame out of [kind, id, header, body], as far as it is one."""
    kind, number, header, body = [*frame, 0, 0, "", ""][:4] if isinstance(frame, list) else (0, 0, "", "")
    head, tail = (seed(part) if isinstance(part, str | dict | list) else b"" for part in (header, body))
    return PREFIX.pack(_small(kind, 256), _small(number, 2**32), len(head), len(tail)) + head + tail


def _small(value: object, below: int) -> int:
    return int(value) % below if isinstance(value, int) else 0


def wait_status(number: int) -> int:
    """What the kernel tells a parent: a signal, or an exit code."""
    return -number % 64 if number < 0 else number % 256 << 8


@target(b"".join(map(packed, FRAMES)), *map(packed, FRAMES), raises=(WireError,), tokens=GUEST_TOKENS)
def frames(data: bytes) -> object:
    decoder, found = FrameDecoder(1024 * 1024, outline_of="", displays=True), []
    for start in range(0, len(data), 5000):
        decoder.add(data[start : start + 5000])
        for message in decoder.messages():
            found.append(type(message).__name__)
            deque(check(message), maxlen=0)
    return tuple(found[:20])


def lookup(
    name: str, count: int = 1, options: dict[str, list[int]] | None = None, mode: Literal["a", "b"] = "a"
) -> Any:
    """Look something up."""
    return [name[:100]] * min(count, 10)


CONFIG = Config(tools=ToolsConfig(repair=True))
DEFINITIONS = [shipped(name) for name in SHIPPED]


def examine(result: RunResult, code: str) -> str:
    """Show a result in every way in which somebody may see it."""
    assert json.loads(result.to_json())["verdict"] == str(result.verdict)
    json.dumps(result.to_dict())
    secrets.redact_secrets_in_json(result.to_json(), ["s3cret-key"])
    for definition in DEFINITIONS:
        if definition.face == "markdown" and result.engine == "quickjs":
            continue  # it has no such language
        options = definition.run_options(CONFIG)
        response = face_of(definition).render(definition, FaceRequest(code, options), result, {})
        shown = to_result(response, result.artifacts)
        shown.model_dump_json(by_alias=True)  # what the SDK sends
    for line in (*render.error_lines(result, code), render.value_text(result.output)):
        assert "\x1b" not in render.safe(line)
        render.safe(line).encode()
    return f"{result.verdict} {result.error.type[:20] if result.error else ''}"


@target(
    {"engine": "cpython", "frames": FRAMES, "stdout": "out", "stderr": "err", "status": 0},
    {"engine": "node", "frames": FRAMES[:1], "stderr": "x\n<--- Last few GCs --->\nheap out of memory", "status": -6},
    {"engine": "node", "frames": FRAMES[:1], "stderr": "<--- Last few GCs --->" * 30, "stdout": "é" * 9, "status": -9},
    {"engine": "cpython", "frames": [[Kind.STARTED], [Kind.RESULT, 0, RAISED, {"message": json.dumps(DENIED)}]]},
    {"engine": "quickjs", "frames": [[Kind.STARTED], [Kind.RESULT, 0, {**RAISED, "message": json.dumps(ENVELOPE)}]]},
    {
        "engine": "node",
        "frames": [[Kind.RESULT, 0, {"status": "rejected", "type": "SyntaxError", "line": 1, "column": 9}]],
    },
    tokens=GUEST_TOKENS,
)
@asynccontextmanager
async def guest() -> AsyncIterator[Run]:
    """A whole run, whose guest is hostile: whatever it says, there is a result."""
    engine = SayingEngine()
    engines: Any = dict.fromkeys(("cpython", "quickjs", "node"), lambda config: engine)
    async with Paddock(CONFIG, engines=engines, tools=[lookup]) as paddock:

        async def run(data: bytes) -> object:
            said = json_of(data)
            if not isinstance(said, dict):
                return None
            given = said.get("frames")
            engine.control = b"".join(map(packed, given if isinstance(given, list) else []))
            texts = {name: said.get(name) for name in ("stdout", "stderr")}
            engine.streams = {name: str(text).encode() if is_text(text) else b"" for name, text in texts.items()}
            status = said.get("status", 0)
            engine.status = wait_status(status) if isinstance(status, int) else None
            name = str(said.get("engine")) if str(said.get("engine")) in engines else "cpython"
            language = "python" if name == "cpython" else "javascript"
            result = await paddock.run(CODE, engine=name, language=language, limits={"output_bytes": 100_000})
            return examine(result, CODE)

        yield run


PLAN = make_plan(make_request(CODE, {}), CONFIG, ["cpython"], ["lookup", "orders"])


@target(ENVELOPE, DENIED, json.dumps(ENVELOPE, indent=1), tokens=[*envelope.KINDS, "_meta", "normalized"])
def error_envelope(data: bytes) -> object:
    """The text of an uncaught error, which may be an envelope."""
    message = data.decode(errors="replace")
    record = RunRecord(PLAN)
    record.is_denial = lambda text: True
    record.add(Finished(Verdict.RAISED, None, "RuntimeError", message, 1, 1))
    own = envelope.parse(message)
    if own is not None:
        json.dumps(envelope.with_meta(own, normalized=[{}], warnings=["w"]))
    return examine(record.result(), CODE), own is None


@target(
    {"type": "NameError", "message": "name 'rwos' is not defined", "near": ["rows"], "code": "x = 1\nreturn rwos"},
    {"type": "KeyError", "message": "'nmae'", "keys": ["name", "count"], "code": "\nlookup.x('a')"},
    {"type": "SyntaxError", "message": "f-string: unmatched", "code": "\nf'{d['a']}'", "verdict": "rejected"},
    {"type": "FileNotFoundError", "message": "No such file or directory: 'a.csv'", "code": "", "javascript": True},
    {
        "type": "TypeError",
        "message": "x.foo is not a function",
        "code": "\nx.foo()//",
        "rest": "x = ",
        "javascript": True,
    },
    {
        "type": "TypeError",
        "message": "unsupported operand type(s) for +: 'NoneType' and 'NoneType'",
        "code": "a = b = None\na + b\n#",
        "rest": "a.",
        "values": ["a = None", "b = None"],
    },
    {
        "type": "ValueError",
        "message": "could not convert string to float: '1.204,5'",
        "code": "\nfloat(x)",
        "values": ["x = '1.204,5'"],
    },
    tokens=[
        "ReferenceError",
        "ModuleNotFoundError",
        "No module named '",
        " is not defined",
        "const x: ",
        "pip install",
        *("invalid syntax", "for ", "in ", "if "),
    ],
    seconds=0.1,
)
def hint(data: bytes) -> object:
    """An error of a script, for which the table of hints is searched: its type, message and line are the script's.

    `rest` is repeated after the code, up to the size that a script may have.
    """
    said = json_of(data)
    if not isinstance(said, dict) or not all(isinstance(said.get(name), str) for name in ("type", "message", "code")):
        return None
    names = [
        tuple(filter(is_text, said.get(name) or ())) if isinstance(said.get(name), list) else ()
        for name in ("near", "keys", "values")
    ]
    verdict = Verdict.REJECTED if said.get("verdict") == "rejected" else Verdict.RAISED
    language = "javascript" if said.get("javascript") else "python"
    finished = Finished(
        verdict,
        None,
        said["type"],
        said["message"],
        2,
        1,
        near=names[0],
        keys=names[1],
        values=names[2],
    )
    rest = said.get("rest")
    repeated = rest * (Config().code_bytes // len(rest)) if rest and is_text(rest) else ""
    plan = replace(PLAN, code=f"{said['code']}{repeated}"[: Config().code_bytes], language=language)
    found = hint_for(finished, plan, ("pandas",), 1, "a.csv")
    assert "\n" not in found or "\n" in said["message"], found
    return found[:20]


@target(
    'lookup\n{"name": "x", "count": 3, "options": {"a": [1]}}',
    'lookup\n{"nmae": "x", "cuont": "3", "password": "hunter22", "mode": "b"}',
    "orders\n{}",
    "lookup\n5",
    tokens=["name", "count", "options", "mode", "lookup", "token", "Authorization"],
)
@asynccontextmanager
async def call() -> AsyncIterator[Run]:
    """A script's call of a tool: its name, then its arguments."""
    async with Paddock(CONFIG, tools=[lookup]) as paddock:

        async def run(data: bytes) -> object:
            name, _, arguments = text_of(data).partition("\n")
            scope = await paddock._toolbox.scope(make_request(CODE, {}))
            broker = paddock._broker(scope, 10, "r_1", no_artifacts(), lambda progress: None)
            answer = await broker.answer(ToolCall(1, name, arguments))
            await broker.conclude(1)
            assert len(broker.calls()) == 1
            json.dumps(broker.calls()[0].arguments)
            value = json.loads(answer.json)
            assert not answer.failed or envelope.validate_envelope(value) is not None
            return value.get("error_code"), str(value.get("details"))[:60]

        yield run


def no_artifacts() -> Any:
    from paddock.calls import RunArtifacts
    from paddock.store.memory import MemoryArtifacts

    return RunArtifacts(MemoryArtifacts())


@target(
    [{"call_tool('a')": 2, "f()": 0}, ["create_artifact('x') created no artifact: no."]],
    raises=(msgspec.MsgspecError, UnicodeError),
)
def monty_notes(data: bytes) -> object:
    """What a script on Monty says about its calls."""
    return len(monty_warnings.from_notes(data.decode(errors="replace")))


@target(
    "a = await orders({})\nlen(a)\nfor x in a:\n    print(x)\n",
    "rows = await call_tool('x')\nrows = rows\n[r for r in rows]",
    tokens=["a = await f(", "len(a)", "for x in a", "in a", "\n", "  "],
)
def misread_answers(data: bytes) -> object:
    """The source of a script, which the host searches for uses of an answer."""
    return len(monty_warnings.misread_answers(text_of(data)))


DECLARATIONS = "class Order(TypedDict, extra_items=Any):\n    a: int\nRow = TypedDict('Row', {'a b': int})\n"


@target(
    {"returns": [[2, 0, True]], "bound": ["rows"], "unbound": ["lookup"], "unawaited": [[1, 8, "lookup"]]},
    {"stored_keys": ["a", "b"], "spread_lines": [1, 4, 2, 3], "unbound": None},
    raises=(msgspec.ValidationError, msgspec.DecodeError),
    tokens=["lookup", "orders", "rows"],
)
def outline(data: bytes) -> object:
    """What a guest says about the source that it compiled, and what the type check makes of it."""
    try:
        told = msgspec.json.decode(data, type=Outline)
    except (UnicodeDecodeError, ValueError, RecursionError):
        return None  # `frames` sees to it
    assert len(type_checker._checkable(CODE, told)) == len(CODE)
    findings = type_checker._unawaited(told, PLAN)
    record = RunRecord(PLAN)
    record.add(type_checker._reject(findings, type_checker._TypedDicts.of("")) if findings else Finished(Verdict.OK))
    return examine(record.result(), CODE)


@target(
    "main.py:2:9: error[invalid-argument-type] Argument to function `lookup` is wrong: Expected `str`, found `int`\n"
    'main.py:3:1: error[invalid-key] Unknown key "b" for TypedDict `Order`\n'
    "main.py:4:1: warning[unused-awaitable] Object of type `CoroutineType[Any, Any, Row]` is not awaited\n",
    tokens=[
        "main.py:",
        "error[",
        "Expected `",
        "`, found `",
        "Object of type `",
        "` is not assignable to `",
        " | None`",
    ],
)
def type_report(data: bytes) -> object:
    """The report of the type checker, which runs in a process that read the script."""
    findings = type_checker._findings(data.decode(errors="replace"))
    known = type_checker._TypedDicts.of(DECLARATIONS)
    kept = [each for each in findings if type_checker._is_certain(each, known, frozenset("b"), frozenset([1, 2]))]
    kept = [each for each in kept if type_checker._is_about_tools(each, frozenset(PLAN.tools), known)]
    record = RunRecord(PLAN)
    record.add(type_checker._reject(kept, known) if kept else Finished(Verdict.OK))
    return examine(record.result(), CODE), len(findings) - len(kept)


MISTAKE = {
    "code": "B018",
    "message": "Found useless expression",
    "location": {"row": 2, "column": 1},
    "end_location": {"row": 2, "column": 5},
}


@target(
    MISTAKE,
    {"message": "invalid syntax", "line": 1, "column": None},
    raises=(LintUnavailable,),
    tokens=["F821", "invalid-syntax"],
)
def lint_report(data: bytes) -> object:
    """What Ruff and the compiler report about a script, from processes that have read it."""
    error = linter._decode(data, linter._CompilerReport)
    report = linter._decode(data, linter._Report)
    report.is_value(linter._last_line(CODE))
    str(terminal.render_findings([report.finding()]).text).encode()
    return report.code, error.line


@target(
    CODE,
    "x = '''a'''\nif x:\n    return f\"{x}\"\n# end\n{'a': [1,\n2]}",
    "def f():\n\treturn 1\nf(); f()\n",
    tokens=["return ", "'''", "def f():", "\\\n", "f'{", "async def", "\f"],
)
def monty_source(data: bytes) -> object:
    """A script for Monty, which is changed as text."""
    code = text_of(data)
    variants = list(instrument(code))
    for line in (1, 2, 10**9):
        variants[0].column(line, 5)
    return len(variants), len(variants[0].inserts)


@target(
    b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x04good\x03com\x00\x00\x01\x00\x01",
    b"\x00\x01\x01\x20\x00\x01\x00\x00\x00\x00\x00\x01\x01a\x00\x00\x1c\x00\x01\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x00",
)
def dns_query(data: bytes) -> object:
    query = dns.parse_query(data)
    if query is None:
        return None
    answer = dns.make_answer(query, dns.NO_ERROR, ADDRESSES)
    assert len(answer) <= dns.MESSAGE_BYTES
    return query.type, normalize_name(query.name) is None, len(answer)


@target(b"\x02\x00\x00\x50\x5d\xb8\xd8\x22" + bytes(8), b"\x0a\x00\x00\x50" + bytes(24), raises=(doors.Refusal,))
def socket_address(data: bytes) -> object:
    address, port = doors.parse_sockaddr(data[:128], 10 if data[:1] == b"\x0a" else 2)
    return POLICY.allows(address, port), port == 0


TCP_INFO = b"\xec\0\2\0" + bytes(120) + b"\5\0\0\0\0\0\0\0\7" + bytes(103)


@target(
    b"\x4c\1\0\0\x14\0\0\0" + bytes(8) + bytes(44) + b"a cookie" + bytes(20) + TCP_INFO,
    b"\x10\0\0\0\x14\0\0\0" + bytes(8),
)
def socket_counts(data: bytes) -> object:
    """What the kernel says of a guest's connections."""
    return tuple(count > 0 for _, count in sock_diag._parse(data[:8192]))[:5]


@target(
    b"python", b") Z 1 1", b"a\nUid:\t0", b"\nState:\tZ", tokens=[") Z 1", "\nThreads:\t1\n", "\nVmRSS:\t0 kB", ")("]
)
@asynccontextmanager
async def process_name() -> AsyncIterator[Run]:
    """What the host reads about a process in /proc, where its name stands among the rest."""
    library, proc = ctypes.CDLL(None), os.open("/proc", os.O_RDONLY)
    pid, own = os.getpid(), Path("/proc/self/comm").read_bytes()

    def facts() -> object:
        process, tasks = watcher._process(pid)
        stat = profile_confined._stat(pid)
        is_found = pid in profile_chroot.pids_of_uid(os.getuid(), proc)
        return (
            process.memory_bytes > 0,
            process.start,
            pid in tasks,
            stat[1],
            is_found,
            quota._has_ended(str(pid), proc),
        )

    before = facts()

    def run(data: bytes) -> object:
        library.prctl(15, data[:15] + b"\0", 0, 0, 0)  # PR_SET_NAME
        assert facts() == before
        return None

    try:
        yield run
    finally:
        library.prctl(15, own.strip() + b"\0", 0, 0, 0)
        os.close(proc)
