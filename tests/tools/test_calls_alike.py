"""What a script, its caller and the journal see of tool calls: the same on both Python engines."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from paddock import Config, Paddock, Progress, Verdict
from paddock.config import ToolsConfig
from paddock.model.envelope import envelope
from paddock.model.journal import Intent, Outcome
from tests import envelopes
from tests.journals import MemoryJournal
from tests.tools.samples import config
from tests.tools.upstreams import HostileHttp, hostile, plain

ENGINES = ["monty", "cpython"]
SECRET = "tok-4f9c1d77aa"  # noqa: S105
MIXED = """
import asyncio, json
async def attempt(call):
    try:
        return await call
    except RuntimeError as error:
        return json.loads(str(error))
[
    await add({'a': 1, 'b': 2}),
    await call_tool('plain.echo', {'text': '{"x": [1]}'}),
    await attempt(add({'a': 'one', 'c': 2})),
    await attempt(fail({'message': 'no'})),
    await attempt(call_tool('plain.ecko', {})),
    await attempt(call_tool('plain.picture', {})),
    await attempt(swallow({'password': 'hunter22', 'text': 'hunter22'})),
    *await asyncio.gather(attempt(echo({'text': 'a'})), attempt(echo({'text': 'b'}))),
    await attempt(add({'a': 1, 'b': 2})),
]
"""


def swallow(password: str, text: str) -> str:
    """Says the password."""
    raise ValueError(f"{password} is wrong")


async def test_both_engines_give_the_same_results_envelopes_and_journal() -> None:
    journal = MemoryJournal()
    seen = []
    policy = ({"match": "plain.picture", "action": "deny"},)
    async with Paddock(config(ToolsConfig(policy=policy), plain=plain()), tools=[swallow], journal=journal) as paddock:
        for engine in ENGINES:
            result = await paddock.run(MIXED, engine=engine, limits={"calls": 9})
            assert result.verdict is Verdict.OK, result.error
            calls = [(call.id, call.tool, call.arguments, call.status) for call in result.calls]
            written = [_lasting(*call) for call in await journal.calls(result.run_id)]
            seen.append((result.output, calls, written))
    assert seen[0] == seen[1]
    output, calls, written = seen[0]
    failures = [one for one in output if "error_code" in one]
    assert [one["error_code"] for one in failures] == [
        *("INPUT_VALIDATION_FAILED", "INTERNAL_ERROR", "TOOL_NOT_FOUND", "POLICY_DENIED", "INTERNAL_ERROR"),
        "CALL_LIMIT_EXCEEDED",
    ]
    assert [problem for one in failures for problem in envelopes.problems(one)] == []
    assert len(calls) == len(written) == 9
    assert "hunter22" not in json.dumps(next(row for row in written if row[1] == "swallow"))


def _lasting(intent: Intent, outcome: Outcome | None) -> tuple[Any, ...]:
    """What of a call does not change from run to run; its arguments first, its answer last."""
    assert outcome is not None
    assert intent.at > 0
    assert outcome.milliseconds >= 0
    return intent.number, intent.tool, intent.is_read_only, intent.arguments_json, outcome.status, outcome.answer_json


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_call_is_journalled_before_it_is_made(engine: str) -> None:
    class Watching(MemoryJournal):
        async def intend(self, intent: Intent) -> None:
            await super().intend(intent)
            order.append(f"intended {intent.tool}")

        async def conclude(self, outcome: Outcome) -> None:
            order.append(f"concluded {outcome.status}")
            await super().conclude(outcome)

    order: list[str] = []

    async def act() -> None:
        order.append("made")

    async with Paddock(config(), tools=[act], journal=Watching()) as paddock:
        await paddock.run("await act()", engine=engine)
    assert order == ["intended act", "made", "concluded ok"]


async def test_tools_of_one_name_are_told_apart() -> None:
    async with Paddock(config(one=plain(), two=plain(includeTools=["echo"])), tools=[]) as paddock:
        every = {tool.full_name: tool for tool in await paddock.tools()}
        second = f"echo_{every['two.echo'].id}"
        code = f"""
[
    await echo({{'text': 'a'}}),
    await {second}({{'text': 'b'}}),
    await call_tool('two.echo', {{'text': 'c'}}),
    await call_tool({second!r}, {{'text': 'd'}}),
]
"""
        for engine in ENGINES:
            result = await paddock.run(code, engine=engine, tools=["one.echo", "two.echo"])
            assert result.output == [{"result": letter} for letter in "abcd"], engine
            called = [call.tool for call in result.calls]
            assert called == ["one.echo", "two.echo", "two.echo", "two.echo"], engine


async def test_progress_of_a_tool_and_of_the_script_reach_the_caller_in_order() -> None:
    code = "await report_progress(1, 4, 'begun')\nawait count({'upto': 2})\nawait report_progress(4, 4, 'done')"
    async with Paddock(config(plain=plain())) as paddock:
        for engine in ENGINES:
            heard = [event async for event in paddock.stream(code, engine=engine) if isinstance(event, Progress)]
            assert [(event.done, event.message) for event in heard if event.message in ("begun", "done")] == [
                (1, "begun"),
                (4, "done"),
            ], engine
            assert [event.done for event in heard] == [1, 1, 2, 4], engine


async def test_the_policy_uses_the_hints_of_a_real_server() -> None:
    rules = ({"match": "plain.*", "hint": "read_only", "action": "allow"}, {"match": "*", "action": "ask"})
    async with Paddock(config(ToolsConfig(policy=rules), plain=plain())) as paddock:
        for engine in ENGINES:
            result = await paddock.run("await echo({'text': 'x'})", engine=engine)
            assert result.output == {"result": "x"}, engine
            result = await paddock.run("await add({'a': 1, 'b': 2})", engine=engine)
            assert result.error is not None, engine
            assert result.error.envelope is not None, engine
            assert result.error.envelope["error_code"] == "APPROVAL_REQUIRED", engine
            assert result.error.envelope["hints"], engine


async def test_every_later_failure_of_a_call_lists_its_repairs() -> None:
    def total(amount: int, currency: str) -> int:
        raise ValueError("no")

    calls = ("total({'amout': 5, 'currency': 'EUR'})", "total({'amout': '5'})", "fail({'mesage': 'no'})")
    renamed = {"kind": "renamed", "from": "amout", "to": "amount"}
    coerced = {"kind": "coerced", "field": "amount", "from_type": "string", "to_type": "integer"}
    message = {"kind": "renamed", "from": "mesage", "to": "message"}
    async with Paddock(config(ToolsConfig(repair=True), plain=plain()), tools=[total]) as paddock:
        for engine in ENGINES:
            said, sent = [], []
            for call in calls:
                code = f"import json\ntry:\n    await {call}\nexcept RuntimeError as e:\n    x = str(e)\nx"
                result = await paddock.run(code, engine=engine)
                said.append(json.loads(result.output))
                sent += [one.arguments for one in result.calls]
            assert [one["_meta"]["normalized"] for one in said] == [[renamed], [renamed, coerced], [message]], engine
            codes = [one["error_code"] for one in said]
            assert codes == ["INTERNAL_ERROR", "SCHEMA_REQUIRED", "INTERNAL_ERROR"], engine
            assert sent == [{"amount": 5, "currency": "EUR"}, {"amount": 5}, {"message": "no"}], engine


async def test_an_envelope_of_the_server_is_unchanged_though_arguments_were_repaired() -> None:
    own = json.dumps(envelope("rate_limited", "inner", "slow", "RATE_LIMITED", retryable=True), indent=1)
    code = "try:\n    await fail({'mesage': own})\nexcept RuntimeError as e:\n    x = str(e)\nx"
    async with Paddock(config(ToolsConfig(repair=True), plain=plain())) as paddock:
        for engine in ENGINES:
            result = await paddock.run(code, engine=engine, inputs={"own": own})
            assert (result.output, result.calls[0].arguments) == (own, {"message": own}), engine


async def test_a_function_that_takes_too_long_fails_its_call_alone() -> None:
    async def slow() -> None:
        await asyncio.Event().wait()

    code = "import json\ntry:\n    await slow()\nexcept RuntimeError as e:\n    x = json.loads(str(e))\nx"
    async with Paddock(config(ToolsConfig(call_seconds=0.3)), tools=[slow]) as paddock:
        for engine in ENGINES:
            said = (await paddock.run(code, engine=engine)).output
            came = (engine, said["error_code"], said["retryable"], bool(said["hints"]))
            assert came == (engine, "UPSTREAM_TIMEOUT", True, True)


LOOK = {
    "monty": """
import os
await call_tool('it.ok', {})
await call_tool('web.ok', {})
[name for name, value in os.environ.items() if 'tok-' in value]
""",
    # Everything that the process can read of itself. The pattern does not match itself.
    "cpython": """
import gc, os, re
await call_tool('it.ok', {})
await call_tool('web.ok', {})
wanted = re.compile(rb'tok-4f9c[1]d77aa|marker-of-this-[s]cript')
marker = 'marker-of-this-' + 'script'.lower()
found = set()
for path in ('/proc/self/environ', '/proc/1/environ', '/proc/self/cmdline', '/proc/1/cmdline'):
    try:
        found.update(wanted.findall(open(path, 'rb').read()))
    except OSError:
        pass
for thing in gc.get_objects():
    for value in (*thing.keys(), *thing.values()) if type(thing) is dict else (thing,):
        if type(value) in (str, bytes):
            found.update(wanted.findall(value.encode(errors='replace') if type(value) is str else value))
memory = os.open('/proc/self/mem', os.O_RDONLY)
for line in open('/proc/self/maps'):
    span, mode = line.split()[:2]
    start, end = (int(part, 16) for part in span.split('-'))
    if mode.startswith('rw') and end - start < 1 << 28:
        try:
            found.update(wanted.findall(os.pread(memory, end - start, start)))
        except OSError:
            continue
found.remove(marker.encode())  # which shows that this finds what is there
[value.decode() for value in found]
""",
    "quickjs": """
await callTool('it', 'ok', {}), await callTool('web', 'ok', {})
const wanted = 'tok-4f9c' + '1d77aa', found = [], seen = new Set(), waiting = [[globalThis, 'globalThis']]
globalThis.marker = {inner: [`x${wanted}`]}
while (waiting.length > 0) {
  const [value, path] = waiting.pop()
  if (typeof value === 'string' && value.includes(wanted)) found.push(path)
  if (value === null || !['object', 'function'].includes(typeof value) || seen.has(value)) continue
  seen.add(value)
  if (value instanceof Map || value instanceof Set) waiting.push([[...value], `${path}()`])
  for (const key of Reflect.ownKeys(value)) {
    const {value: inner, get, set} = Reflect.getOwnPropertyDescriptor(value, key) ?? {}
    waiting.push([String(key), path], [inner, `${path}.${String(key)}`], [get, path], [set, path])
  }
  waiting.push([Object.getPrototypeOf(value), `${path}.prototype`])
  if (typeof value === 'function') waiting.push([Function.prototype.toString.call(value), `${path}()`])
}
return found.filter((path) => path !== 'globalThis.marker.inner.0')
""",
}
LOOK["node"] = f"""
const fs = require('fs'), secret = 'tok-4f9c' + '1d77aa', inside = []
const inProcess = (name, text) => {{ if (String(text).includes(secret)) inside.push(name) }}
for (const path of ['/proc/self/environ', '/proc/1/environ', '/proc/self/cmdline', '/proc/1/cmdline']) {{
  try {{ inProcess(path, fs.readFileSync(path, 'latin1')) }} catch {{}}
}}
inProcess('environment', JSON.stringify(process.env))
inProcess('arguments', JSON.stringify([process.argv, process.execArgv]))
try {{ inProcess('report', JSON.stringify(process.report.getReport())) }} catch {{}}
const walked = await (async () => {{{LOOK["quickjs"]}}})()
return [...inside, ...walked]
"""


@pytest.mark.parametrize("engine", [*ENGINES, "quickjs", "node"])
async def test_a_credential_of_an_upstream_is_nowhere_in_the_guest(
    engine: str, hostile_http: HostileHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither that of a child's environment nor that of a header, though calls are made with both."""
    monkeypatch.setenv("PADDOCK_TEST_CREDENTIAL", SECRET)
    child = hostile(env={"API_TOKEN": "${PADDOCK_TEST_CREDENTIAL}"})
    language = "python" if engine in ENGINES else "javascript"
    async with Paddock(config(it=child, web=hostile_http.at())) as paddock:
        result = await paddock.run(LOOK[engine], language=language, engine=engine)
    assert (result.verdict, result.output) == (Verdict.OK, []), result.error
    assert [(call.tool, call.status) for call in result.calls] == [("it.ok", "ok"), ("web.ok", "ok")]
    assert SECRET not in result.to_json()
    assert os.environ["PADDOCK_TEST_CREDENTIAL"] == SECRET


def test_servers_can_be_configured_in_the_settings_of_paddock(tmp_path: Path) -> None:
    file = tmp_path / "paddock.toml"
    server = plain()
    file.write_text(
        f"[upstreams.plain]\ncommand = {json.dumps(server['command'])}\nargs = {json.dumps(server['args'])}\n"
    )
    with Paddock(Config.load(file)) as paddock:
        assert paddock.run_sync("await add({'a': 20, 'b': 22})").output == {"sum": 42}
