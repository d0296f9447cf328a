"""`paddock tools login` and `logout`, with a real protected server and a browser that is a program."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paddock.cli.principals import purge
from paddock.store.principals import PrincipalData
from paddock.tools.logins import Login, LoginFile, logins_of
from tests.cli.command import Ended, paddock, started
from tests.tools.protected import Protected, browse, browser_command, protected


@pytest.fixture(scope="module")
def servers() -> Iterator[Protected]:
    with protected() as running:
        yield running


class Command:
    """`paddock tools` with one configured server and its own data directory."""

    def __init__(self, servers: Protected, folder: Path) -> None:
        self.folder = folder
        self.mcp = str(folder / "mcp.json")
        Path(self.mcp).write_text(json.dumps({"mcpServers": {"it": servers.settings()}}))
        self.env: dict[str, Any] = {
            "PADDOCK_DATA_DIRECTORY": str(folder / "data"),
            "BROWSER": browser_command(),
            "DISPLAY": "",
        }

    def __call__(self, *arguments: str) -> Ended:
        mcp = () if arguments[0] == "logout" else ("--mcp-config", self.mcp)
        return paddock("tools", *arguments, *mcp, **self.env)

    def files(self) -> list[Path]:
        return sorted((self.folder / "data" / "logins").glob("*.json"))


@pytest.fixture
def tools(servers: Protected, tmp_path: Path) -> Command:
    return Command(servers, tmp_path)


def test_login_opens_the_browser_and_the_tools_can_then_be_used(tools: Command, servers: Protected) -> None:
    before = tools("list")
    assert before.status == 1
    assert before.out.splitlines()[0].startswith("it: failed, http: ")
    assert before.out.splitlines()[-1].endswith("Log in with `paddock tools login it`.")
    ended = tools("login", "it")
    assert (ended.status, ended.out) == (0, "Logged in to 'it'.\n")
    assert ended.err.splitlines()[0] == "Log in with your browser. If it does not open:"
    assert ended.err.splitlines()[1].startswith(f"{servers.issuer}/authorize?response_type=code&")
    (file,) = tools.files()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    called = tools("call", "it.whoami")
    assert (called.status, called.out, called.err) == (0, "ada\n", "")
    leaked = tools("call", "it.leak")
    assert leaked.out == "your token is [redacted]\n"
    login = json.loads(file.read_text())
    shown = f"{before} {ended} {called} {leaked} {tools('list', '--json')}"
    assert not [name for name in ("access_token", "refresh_token", "client_secret") if login[name] in shown]


def test_without_a_browser_the_address_is_printed(tools: Command) -> None:
    command = started("tools", "login", "it", "--mcp-config", tools.mcp, **{**tools.env, "BROWSER": ""})
    assert command.stderr is not None
    assert command.stderr.readline() == "Open this address in a browser:\n"
    browse(command.stderr.readline().strip())
    out, err = command.communicate(timeout=60)
    assert (command.returncode, out, err) == (0, "Logged in to 'it'.\n", "")


def test_logout_removes_the_login_and_revokes_its_tokens(tools: Command, servers: Protected) -> None:
    assert tools("login", "it").status == 0
    assert tools("logout", "it") == Ended(0, "Removed the login to 'it' and revoked its tokens.\n", "")
    assert (tools.files(), servers.log()[-1]) == ([], "revoked")
    assert tools("call", "it.whoami").status == 1
    again = tools("logout", "it")
    assert (again.status, again.err) == (2, "Error: there is no login to 'it'\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("login", "its"), "Error: unknown server 'its'; did you mean 'it'?\n"),
        (("login", "it", "--principal", "ann"), "everybody uses the same login to 'it'; set oauth.per_principal"),
        (("login", ""), "Error: SERVER is empty"),
    ],
)
def test_a_login_that_makes_no_sense_is_refused(tools: Command, arguments: tuple[str, ...], said: str) -> None:
    ended = tools(*arguments)
    assert (ended.status, said in ended.err, ended.out) == (2, True, "")


def test_a_login_that_fails_ends_with_status_1_and_one_line(tools: Command) -> None:
    Path(tools.mcp).write_text(json.dumps({"mcpServers": {"it": {"command": "x"}}}))
    ended = tools("login", "it")
    reason = "it is started by a command, or an Authorization header is configured for it"
    assert (ended.status, ended.err) == (1, f"Error: cannot log in to 'it': {reason}\n")


def test_ctrl_c_ends_a_login_that_waits(tools: Command) -> None:
    command = started("tools", "login", "it", "--mcp-config", tools.mcp, **{**tools.env, "BROWSER": ""})
    assert command.stderr is not None
    command.stderr.readline()
    os.kill(command.pid, 2)
    command.communicate(timeout=60)
    assert command.returncode == 130
    assert tools.files() == []


def test_a_purge_removes_the_logins_of_that_principal_alone(tmp_path: Path) -> None:
    values: dict[str, Any] = {
        "url": "https://it.example",
        "client_id": "c",
        "token_endpoint": "https://it.example/t",
        "access_token": "t",
    }
    for principal in ("ann", "bob"):
        LoginFile(tmp_path, "it", principal).save(Login(server="it", principal=principal, **values))
    env: dict[str, Any] = {"PADDOCK_DATA_DIRECTORY": str(tmp_path)}
    shown = paddock("principals", "purge", "ann", **env)
    assert shown.out == "This would remove 1 logins of ann. Add --yes to do it.\n"
    assert paddock("principals", "purge", "ann", "--yes", **env).out == "Removed 1 logins of ann.\n"
    assert [file.principal for name in ("ann", "bob") for file in logins_of(tmp_path, name)] == ["bob"]


def test_a_purge_removes_a_login_that_is_stored_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDOCK_DATA_DIRECTORY", str(tmp_path))
    monkeypatch.setattr("paddock.store.principals.REMEMBERED_SECONDS", 0.0)
    login = Login(server="it", principal="ann", url="u", client_id="c", token_endpoint="t", access_token="t")  # noqa: S106
    assert paddock("tokens", "add", "ann", PADDOCK_DATA_DIRECTORY=str(tmp_path)).status == 0
    whole = PrincipalData.purge

    async def store_and_purge(data: PrincipalData) -> dict[str, int]:
        LoginFile(tmp_path, "it", "ann").save(login)
        return await whole(data)

    monkeypatch.setattr(PrincipalData, "purge", store_and_purge)
    assert purge("ann", yes=True) == 0
    assert logins_of(tmp_path, "ann") == []


def test_a_principal_logs_in_on_a_server_from_its_own_machine(tools: Command, servers: Protected) -> None:
    Path(tools.mcp).write_text(json.dumps({"mcpServers": {"it": servers.settings(per_principal=True)}}))
    assert tools("login", "it").status == 0  # the operator's, with which the tools are listed
    token = paddock("tokens", "add", "ann", **tools.env).out.strip()
    with started("serve", "--port", "0", "--mcp-config", tools.mcp, **tools.env) as server:
        assert server.stdout is not None
        url = server.stdout.readline().split(" at ")[1].split("/mcp")[0]
        own: dict[str, Any] = {**tools.env, "PADDOCK_DATA_DIRECTORY": str(tools.folder / "own")}
        own |= {"PADDOCK_URL": url, "PADDOCK_TOKEN": token}
        before = paddock("tools", "call", "it.whoami", **own)
        assert (before.status, "Hint: " in before.err) == (1, True)
        ended = paddock("tools", "login", "it", **own)
        assert (ended.status, ended.out) == (0, "Logged in to 'it'.\n"), ended.err
        assert paddock("tools", "call", "it.whoami", **own).out == "ada\n"
        assert [file.principal for file in logins_of(tools.folder / "data", "ann")] == ["ann"]
        assert not (tools.folder / "own").exists()
        assert paddock("tools", "logout", "it", **own).out == "Removed your login to 'it'.\n"
        again = paddock("tools", "logout", "it", **own)
        assert (again.status, again.err) == (2, "Error: there is no login to 'it'\n")
        other = paddock("tools", "login", "it", "--principal", "bob", **own)
        assert (other.status, "--principal cannot be used with --url" in other.err) == (2, True)
        server.terminate()
