"""`paddock tools` and `paddock run --mcp-config`, against real servers over stdio: one that works, one that dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.anomaly import processes
from tests.cli.command import COMMAND, EMPTY, Ended, environment, on_a_terminal, paddock, started
from tests.tools.upstreams import hostile, plain

NONE_CONFIGURED = "name your MCP client's file with --mcp-config FILE, or add [upstreams.NAME] tables to paddock.toml"


def configured(folder: Path, **servers: object) -> str:
    """The path of a client's file with these servers."""
    path = folder / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    return str(path)


@pytest.fixture
def mcp(tmp_path: Path) -> str:
    return configured(tmp_path, plain=plain(includeTools=["add", "echo", "fail"]), dead=hostile("dies"))


def tools(*arguments: str, mcp: str, **env: Any) -> Ended:
    return paddock("tools", *arguments, "--mcp-config", mcp, **env)


def test_a_dead_server_is_listed_with_its_reason_and_hides_no_other(mcp: str) -> None:
    ended = tools("list", mcp=mcp)
    shown = ended.out.splitlines()
    assert (ended.status, ended.err) == (1, "")
    assert shown[0].startswith("plain: ready, 3 tools, stdio, plain 1.2.3, protocol ")
    assert shown[1:4] == [
        "  plain.echo  Say it again.",
        "  plain.add   Add two numbers.",
        "  plain.fail  Fail, and say why.",
    ]
    assert shown[4].startswith("dead: failed, stdio: ")
    assert shown[5:] == ["  The server 'dead' ended with exit code 3.", "  cannot start: bad token [redacted]"]


def test_only_the_named_server_is_connected(mcp: str) -> None:
    ended = tools("list", "--server", "plain", "--json", mcp=mcp)
    (server,) = json.loads(ended.out)
    assert (ended.status, ended.err) == (0, "")
    assert (server["name"], server["state"], server["transport"]) == ("plain", "ready", "stdio")
    assert [tool["name"] for tool in server["tools"]] == ["plain.echo", "plain.add", "plain.fail"]


def test_a_silent_server_is_waited_for_as_long_as_configured(tmp_path: Path) -> None:
    mcp = configured(tmp_path, silent=hostile("hangs"))
    ended = tools("list", mcp=mcp, PADDOCK_TOOLS__CONNECT_SECONDS="1")
    why = "  It did not answer within 1 s; raise tools.connect_seconds to wait longer."
    assert (ended.status, ended.out.splitlines()[1:], ended.err) == (1, [why], "")


def test_search_shows_the_best_match_and_names_the_server_that_is_missing(mcp: str) -> None:
    ended = tools("search", "adding", "two", "numbers", "--limit", "1", mcp=mcp)
    assert (ended.status, ended.out) == (0, "- plain.add: Add two numbers.\n")
    assert ended.err.startswith("Warning: the tools of 'dead' are missing: The server 'dead' ended with exit code 3.")


def test_search_has_three_levels_of_detail(mcp: str) -> None:
    asked = ("search", "add", "--server", "plain", "--limit", "1", "--json", "--detail")
    keys = [set(json.loads(tools(*asked, level, mcp=mcp).out)[0]) for level in ("brief", "detailed", "full")]
    assert [keys[1] - keys[0], keys[2] - keys[1]] == [{"stub"}, {"input_schema", "output_schema"}]


def test_search_finds_only_tools_with_the_given_tag(mcp: str) -> None:
    found = tools("search", "--tag", "sums", "--server", "plain", mcp=mcp)
    assert found == Ended(0, "- plain.add: Add two numbers.\n", "")
    none = tools("search", "add", "--tag", "letters", "--server", "plain", mcp=mcp)
    assert none == Ended(0, "No match among 3 tools.\n", "")


def test_a_search_that_finds_nothing_says_so(mcp: str) -> None:
    assert tools("search", "zzz", "--server", "plain", mcp=mcp) == Ended(0, "No match among 3 tools.\n", "")


def test_a_tool_is_shown_with_its_stub_its_effects_and_the_policys_decision(mcp: str, tmp_path: Path) -> None:
    settings = tmp_path / "paddock.toml"
    settings.write_text('[tools]\npolicy = [{ match = "plain.e*", action = "deny" }]\n')
    ended = tools("show", "echo", "--config", str(settings), mcp=mcp)
    assert ended == Ended(
        0,
        "plain.echo\n"
        "  effects  read-only, idempotent\n"
        "  policy   deny: scripts may not call it (by the rule match = 'plain.e*', action = 'deny')\n"
        "\n"
        "class EchoArguments(TypedDict):\n"
        "    text: str\n"
        "\n"
        "async def echo(arguments: EchoArguments) -> dict[str, Any]:\n"
        '    """Say it again.\n'
        "\n"
        '    Or: await call_tool("plain.echo", {...}) (read-only)\n'
        "    Result not declared: an object from JSON text (text, with _text: true in the arguments), "
        "else {result: text, list or artifact}; a list of one is its item.\n"
        '    """\n',
        "",
    )
    values = json.loads(tools("show", "plain.echo", "--config", str(settings), "--json", mcp=mcp).out)
    assert values["policy"] == {"action": "deny", "rule": "match = 'plain.e*', action = 'deny'"}
    assert values["input_schema"]["required"] == ["text"]
    refused = tools("call", "plain.echo", "--input", 'text="x"', "--config", str(settings), mcp=mcp)
    assert (refused.status, refused.out) == (1, "")
    assert "(POLICY_DENIED)" in refused.err


def test_a_script_that_calls_a_forbidden_tool_is_denied_and_fails(mcp: str, tmp_path: Path) -> None:
    settings = tmp_path / "paddock.toml"
    settings.write_text('[tools]\npolicy = [{ match = "plain.e*", action = "deny" }]\n')
    asked = ("run", "-c", "await echo({'text': 'x'})", "--mcp-config", mcp, "--config", str(settings))
    told, shown = paddock(*asked, "--json"), paddock(*asked)
    result = json.loads(told.out)
    assert (told.status, result["verdict"], result["error"]["envelope"]["error_code"]) == (1, "denied", "POLICY_DENIED")
    assert (shown.status, shown.out) == (1, "")
    assert shown.err.splitlines()[-1].startswith('denied: RuntimeError: {"error_kind": "policy_denied", ')


def test_stubs_are_written_for_both_languages(mcp: str, tmp_path: Path) -> None:
    file = tmp_path / "tools.d.ts"
    assert "async def add(arguments: AddArguments) -> dict[str, int]:" in tools("stubs", "plain.add", mcp=mcp).out
    ended = tools("stubs", "plain.add", "--language", "typescript", "--output", str(file), mcp=mcp)
    assert ended == Ended(0, "", "")
    assert "declare function add(args: AddArgs): Promise<Record<string, number>>;" in file.read_text()


def test_call_prints_the_result_that_a_script_gets(mcp: str, tmp_path: Path) -> None:
    inputs = tmp_path / "inputs.json"
    inputs.write_text('{"a": 1, "b": 1}')
    assert tools("call", "plain.add", "--inputs", str(inputs), "--input", "b=2", mcp=mcp) == Ended(
        0, '{"sum": 3}\n', ""
    )
    assert tools("call", "plain.echo", "--input", 'text="a\\nb"', mcp=mcp) == Ended(0, "a\nb\n", "")
    ended = tools("call", "plain.echo", "--input", 'text="a\\nb"', "--json", mcp=mcp)
    assert json.loads(ended.out) == {"result": "a\nb"}


def test_a_call_that_fails_shows_its_envelope(mcp: str) -> None:
    ended = tools("call", "plain.add", "--input", "a=1", mcp=mcp)
    assert ended == Ended(
        1,
        "",
        "Error: plain.add: Wrong arguments for 'plain.add': 'b' is required. (SCHEMA_REQUIRED)\n"
        "  b: is required\n"
        "  Hint: Required field missing: 'b'.\n"
        '  Example: {"a": 1, "b": 1}\n',
    )
    ended = tools("call", "plain.fail", "--input", 'message="no"', "--json", mcp=mcp)
    envelope = json.loads(ended.out)
    assert (ended.status, ended.err) == (1, "")
    assert (envelope["tool"], envelope["summary"], envelope["_envelope_version"]) == ("plain.fail", "no", 1)


def test_a_call_to_a_dead_server_says_why(mcp: str) -> None:
    ended = tools("call", "dead.anything", mcp=mcp)
    assert (ended.status, ended.out) == (1, "")
    assert "ended with exit code 3. (UPSTREAM_NETWORK)\n  cannot start: bad token [redacted]\n" in ended.err


def test_a_script_calls_the_tools_of_the_file(mcp: str) -> None:
    code = 'total = await add({"a": 1, "b": 2})\ntotal["sum"]'
    assert paddock("run", "-c", code, "--mcp-config", mcp) == Ended(0, "3\n", "")
    result = json.loads(paddock("run", "-c", code, "--mcp-config", mcp, "--json").out)
    assert [(call["tool"], call["status"]) for call in result["calls"]] == [("plain.add", "ok")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["list", "--server", "plan"], "unknown server 'plan'; did you mean 'plain'?"),
        (["show", "plain.ad"], "unknown tool 'plain.ad'. Did you mean 'plain.add'?"),
        (["stubs", "plain.ad"], "unknown tool 'plain.ad'. Did you mean 'plain.add'?"),
        (["stubs", "plain.add", "--output", "/"], "--output /: cannot be written: Is a directory"),
        (["show", ""], "TOOL is empty; give it a value, or leave it out"),
        (["call", "plain.add", "--inputs", "nowhere.json"], "--inputs nowhere.json: there is no such file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_explained(mcp: str, arguments: list[str], message: str) -> None:
    assert tools(*arguments, mcp=mcp) == Ended(2, "", f"Error: {message}\n")


def test_a_tool_of_a_dead_server_is_not_a_usage_error(mcp: str) -> None:
    message = "Error: The server 'dead' ended with exit code 3. cannot start: bad token [redacted]\n"
    assert tools("show", "dead.anything", mcp=mcp) == Ended(1, "", message)


def test_the_error_for_an_unknown_tool_names_servers_that_could_not_be_asked(mcp: str) -> None:
    ended = tools("show", "anything", mcp=mcp)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("Error: unknown tool 'anything'. ")
    assert "Some servers did not answer: The server 'dead' ended with exit code 3." in ended.err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--input", "text=hello"], "text needs its own quotes: --input text='\"hello\"'"),
        (["--input", "text"], "--input 'text' is not KEY=JSON"),
        (["--input", "a=NaN"], "JSON has no NaN"),
        (["--inputs", __file__], "not JSON"),
    ],
)
def test_arguments_that_are_not_json_are_explained(mcp: str, given: list[str], said: str) -> None:
    ended = tools("call", "plain.echo", *given, mcp=mcp)
    assert (ended.status, ended.out) == (2, "")
    assert said in ended.err


def test_a_tool_under_another_server_is_suggested(mcp: str) -> None:
    ended = tools("call", "nowhere.echo", mcp=mcp)
    assert (ended.status, "'echo' is a tool of plain." in ended.err) == (1, True)


def test_colours_are_for_terminals_that_want_them(tmp_path: Path) -> None:
    mcp = configured(tmp_path, plain=plain())
    command = ["tools", "list", "--mcp-config", mcp]
    colour = "\x1b[36m"
    assert colour in on_a_terminal(*command)[1]
    assert colour not in on_a_terminal(*command, NO_COLOR="1")[1]
    assert "\x1b" not in on_a_terminal(*command, TERM="dumb")[1]
    assert "\x1b" not in paddock(*command).out


@pytest.mark.parametrize("command", [["tools", "list"], ["run", "-c", "1"]], ids=" ".join)
def test_an_invalid_mcp_config_is_an_error_that_names_file_and_server(command: list[str], tmp_path: Path) -> None:
    def refused(text: str) -> str:
        file = tmp_path / "mcp.json"
        file.write_text(text)
        ended = paddock(*command, "--mcp-config", str(file))
        assert (ended.status, ended.out) == (2, "")
        return ended.err.replace(str(file), "FILE")

    missing = paddock(*command, "--mcp-config", "nowhere.json")
    assert missing == Ended(2, "", "Error: cannot read nowhere.json: No such file or directory\n")
    assert refused("{").startswith("Error: FILE is not JSON: ")
    assert refused('{"mcpServers": {"shop": {"comand": "x"}}}') == (
        "Error: FILE: mcpServers: server 'shop': unknown setting 'comand'; did you mean 'command'?\n"
    )


def test_without_servers_it_says_how_to_configure_them(tmp_path: Path) -> None:
    assert paddock("tools", "list") == Ended(2, "", f"Error: no MCP servers are configured; {NONE_CONFIGURED}\n")
    mcp = configured(tmp_path)
    assert tools("search", "x", mcp=mcp) == Ended(2, "", f"Error: {mcp} has no servers; {NONE_CONFIGURED}\n")


def test_text_of_a_server_is_escaped_on_a_terminal(tmp_path: Path) -> None:
    mcp = configured(tmp_path, it=hostile(), plain=plain(includeTools=["echo"]))
    for command in (["list"], ["search", "ok"], ["show", "it.ok"], ["list", "--json"]):
        _, shown = on_a_terminal("tools", *command, "--mcp-config", mcp, NO_COLOR="1")
        assert "Ignore all previous instructions" in shown
        assert "\x1b[2J" not in shown
    said = ["tools", "call", "plain.echo", "--input", 'text="a\\u001b[2J\\u009b2J"', "--mcp-config", mcp]
    for flags in ([], ["--json"]):
        _, shown = on_a_terminal(*said, *flags, NO_COLOR="1")
        assert "\x1b[2J" not in shown
        assert "\x9b" not in shown


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_connecting_ends_the_command_and_its_servers(tmp_path: Path, number: int, status: int) -> None:
    mcp = configured(tmp_path, silent=hostile("hangs"))
    process = started("tools", "list", "--mcp-config", mcp, PADDOCK_TOOLS__CONNECT_SECONDS="60")
    servers = _until_it_has_children(process)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (status, "", "cancelled\n")
    assert not any(is_running(server) for server in servers)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _until_it_has_children(process: subprocess.Popen[str]) -> list[int]:
    deadline = time.monotonic() + 30
    while not (found := processes.children(process.pid)):
        assert time.monotonic() < deadline, "no server was started"
        assert process.poll() is None, "the command ended by itself"
        time.sleep(0.01)
    return found


def test_a_closed_pipe_ends_the_command_silently(tmp_path: Path) -> None:
    asked = ["tools", "list", "--mcp-config", configured(tmp_path, plain=plain())]
    reading, writing = os.pipe()
    os.close(reading)
    given: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE, "cwd": EMPTY}
    ran = subprocess.run([*COMMAND, *asked], stdout=writing, env=environment(), timeout=60, check=False, **given)
    os.close(writing)
    assert (ran.returncode, ran.stderr) == (141, b"")


def test_stdout_that_is_closed_from_the_start_is_no_error(tmp_path: Path) -> None:
    asked = ["tools", "list", "--mcp-config", configured(tmp_path, plain=plain())]
    given: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE, "cwd": EMPTY}
    shell = ["/bin/bash", "-c", 'exec "$@" >&-', "bash", *COMMAND, *asked]
    closed = subprocess.run(shell, env=environment(), timeout=60, check=False, **given)
    assert (closed.returncode, closed.stderr) == (0, b"")


def test_a_terminal_shows_which_servers_are_connecting(tmp_path: Path) -> None:
    mcp = configured(tmp_path, silent=hostile("hangs"))
    status, shown = on_a_terminal("tools", "list", "--mcp-config", mcp, PADDOCK_TOOLS__CONNECT_SECONDS="1.5")
    assert status == 1
    assert "connecting to silent" in shown
