"""Lines over stdio that cannot be read as a request: each is answered, and the next one is served."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from paddock.server.http import BODY_BYTES
from paddock.server.mcp import MAX_SUBSCRIPTIONS
from paddock.server.stdio import MAX_UNANSWERED
from tests.forks import fork

DEEP = "[" * 500 + "]" * 500


def ask(*lines: str, answers: int = 1) -> tuple[list[dict[str, Any]], str]:
    """What a server answers to these lines, and what it says on stderr."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(fork.command("-m", "paddock", "mcp"), text=True, **pipes) as process:  # type: ignore[call-overload]
        process.stdin.write("\n".join(lines) + "\n")
        process.stdin.flush()
        first = [process.stdout.readline() for _ in range(answers)]
        rest, said = process.communicate(timeout=60)
    return [json.loads(line) for line in [*first, *rest.splitlines()]], said


def request(params: str) -> str:
    return f'{{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {params}}}'


@pytest.mark.parametrize(
    ("line", "request_id", "code", "reason"),
    [
        (request('{"name": "\\ud800"}'), 7, -32700, "hex escape"),
        (request(f'{{"name": {DEEP}}}'), 7, -32700, "recursion limit exceeded"),
        (request(f'{{"name": {"9" * 5000}}}'), 7, -32700, "number out of range"),
        ('[{"jsonrpc": "2.0", "id": 7, "method": "ping"}]', None, -32600, "send each request on its own line"),
        ('{"jsonrpc": "2.0", "id": 7, "meth', None, -32700, "Invalid JSON"),
        ('{"id": "seven", "method": "ping"}', "seven", -32600, "Field required"),
        ('{"id": "\\udfff", "method": "ping"}', None, -32700, "hex escape"),
        ("[" * 100_000, None, -32700, "recursion limit exceeded"),
        ("5", None, -32600, "object"),
        (request("[5]"), 7, -32600, "object"),
        ('{"jsonrpc": "1.0", "id": 7, "method": "ping"}', 7, -32600, "2.0"),
        ('{"jsonrpc": "2.0", "id": 7, "method": 5}', 7, -32600, "string"),
        ('{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', None, -32600, "its id must be"),
        ('{"jsonrpc": "2.0", "id": null, "method": "tools/call"}', None, -32600, "its id must be"),
        ('{"jsonrpc": "2.0", "id": {}, "method": "initialize"}', None, -32600, "its id must be"),
    ],
)
def test_a_request_that_cannot_be_read_gets_an_error_with_its_id_and_a_line_on_stderr(
    line: str, request_id: str | int | None, code: int, reason: str
) -> None:
    answers, said = ask(line)
    assert [(each["id"], each["error"]["code"]) for each in answers] == [(request_id, code)]
    assert reason in answers[0]["error"]["message"]
    assert said == f"{answers[0]['error']['message']}\n"


def test_notifications_and_responses_that_cannot_be_read_get_no_answer_and_empty_lines_are_ignored() -> None:
    notification = '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"reason": "\\ud800"}}'
    response = '{"jsonrpc": "2.0", "id": 3, "result": 7}'
    answers, said = ask("", notification, response, '{"jsonrpc": "2.0", "id": 1, "method": "ping"}')
    assert ([each["id"] for each in answers], said.count("a message that cannot be read was dropped")) == ([1], 2)


@pytest.mark.parametrize("closes_stdin", [True, False])
def test_a_client_that_leaves_before_its_answer_is_no_fault(closes_stdin: bool) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(fork.command("-m", "paddock", "mcp"), text=True, **pipes) as process:  # type: ignore[call-overload]
        process.stdin.write("5\n")
        process.stdin.flush()
        assert process.stdout.readline()  # it runs
        process.stderr.readline()
        process.stdout.close()
        process.stdin.write("5\n")
        process.stdin.close() if closes_stdin else process.stdin.flush()
        assert process.stderr.read() == "The request cannot be read: Input should be an object\n"
        assert process.wait(60) == 0


@pytest.mark.parametrize(
    ("redirect", "reason"), [(">&-", "it is closed"), (">/dev/full", "No space left on device"), ("<&1", "Bad file")]
)
def test_streams_that_cannot_be_used_are_named(redirect: str, reason: str) -> None:
    command = ["sh", "-c", f'"$0" -m paddock mcp {redirect}', sys.executable]
    with Path(os.devnull).open("w") as nothing:
        ended = subprocess.run(command, input=b"5\n", stdout=nothing, stderr=subprocess.PIPE, check=False)
    said = ended.stderr.decode().splitlines()[-1]
    assert ended.returncode == 3
    assert said.startswith("Error: stdin or stdout cannot be used")
    assert reason in said


def test_a_line_without_an_end_is_not_kept_and_the_next_one_is_served() -> None:
    line = '{"jsonrpc": "2.0", "id": 1, "method": "' + "x" * (BODY_BYTES + 1)
    answers, said = ask(line, '{"jsonrpc": "2.0", "id": 2, "method": "ping"}', answers=2)
    assert [each["id"] for each in answers] == [None, 2]
    assert "larger than 32 MB" in answers[0]["error"]["message"]
    assert "larger than 32 MB" in said


def test_a_last_line_that_is_not_json_and_has_no_end_is_not_called_too_long() -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(fork.command("-m", "paddock", "mcp"), text=True, **pipes) as process:  # type: ignore[call-overload]
        _, said = process.communicate("\0", timeout=60)
    assert said == "The request cannot be read: Invalid JSON: expected value at line 1 column 1\n"


PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
LISTEN = b'{"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen"}\n'  # refused: `ping` began an older session


def test_a_client_with_as_many_subscriptions_as_it_may_have_is_served_until_it_closes_stdin() -> None:
    version = {"protocolVersion": "2026-07-28", "clientCapabilities": {}}
    meta = {f"io.modelcontextprotocol/{name}": value for name, value in version.items()}
    wanted = {"notifications": {"toolsListChanged": True}, "_meta": meta}

    def line(number: int, method: str, parameters: object) -> bytes:
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
        return json.dumps(message).encode() + b"\n"

    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(fork.command("-m", "paddock", "mcp"), **pipes) as process:  # type: ignore[call-overload]
        process.stdin.write(b"".join(line(each, "subscriptions/listen", wanted) for each in range(MAX_UNANSWERED)))
        process.stdin.flush()
        first = [process.stdout.readline() for _ in range(MAX_UNANSWERED)]
        rest, _ = process.communicate(line(-1, "tools/list", {"_meta": meta}), timeout=60)
    assert sum(b"Subscription limit" in each for each in first) == MAX_UNANSWERED - MAX_SUBSCRIPTIONS
    assert [each["id"] for each in map(json.loads, rest.splitlines()) if "result" in each] == [-1]
    assert process.returncode == 0


def test_requests_in_progress_are_answered_after_stdin_is_closed() -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    client = '{"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}'
    lines = [
        f'{{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {client}}}',
        '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        request('{"name": "list_artifacts", "arguments": {}}'),
    ]
    with subprocess.Popen(fork.command("-m", "paddock", "mcp"), text=True, **pipes) as process:  # type: ignore[call-overload]
        answers, said = process.communicate("\n".join(lines), timeout=60)
    assert [(each["id"], "result" in each) for each in map(json.loads, answers.splitlines())] == [(1, True), (7, True)]
    assert said == ""


@pytest.mark.parametrize(("line", "reads_them"), [(PING, True), (PING, False), (LISTEN, True)])
def test_no_more_requests_are_read_while_many_answers_wait_for_the_client(line: bytes, reads_them: bool) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(fork.command("-m", "paddock", "mcp"), **pipes) as process:  # type: ignore[call-overload]
        os.write(process.stdin.fileno(), PING)
        assert process.stdout.readline()
        sent = 0
        os.set_blocking(process.stdin.fileno(), False)
        while select.select([], [process.stdin], [], 2)[1] and sent < 20 * MAX_UNANSWERED * len(line):
            sent += os.write(process.stdin.fileno(), line * 50)  # at most PIPE_BUF, so all or nothing
        assert sent < 10 * MAX_UNANSWERED * len(line)
        if reads_them:
            answers, said = process.communicate(timeout=60)
            assert answers.count(b"\n") == sent / len(line)
        else:  # the client dies
            process.stdout.close()
            said = process.stderr.read()
        assert (said, process.wait(60)) == (b"", 0)
