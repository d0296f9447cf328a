"""Logins to a real protected server, with a real authorization server and a browser that follows redirects."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import stat
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import msgspec
import pytest

from paddock import Config, Paddock
from paddock.errors import ConfigError
from paddock.model.request import LOCAL
from paddock.tools.logins import Login, LoginFile, OAuthFailed
from paddock.tools.mcp_config import Server, parse
from paddock.tools.oauth import REMEMBERED_SECRETS, Credentials
from paddock.tools.upstream import Upstream
from paddock.tools.upstream_errors import CallFailed
from tests.journals import MemoryJournal
from tests.tools.protected import Protected, browse, login, protected, text, upstream
from tests.tools.upstreams import Serve

WANTED = ("auth_error", "AUTH_AUTHENTICATION", False)
HINT = "Somebody must run `paddock tools login it` on the machine of Paddock; then call again."


@pytest.fixture(scope="module")
def servers() -> Iterator[Protected]:
    with protected() as running:
        yield running


@pytest.fixture(scope="module")
def short() -> Iterator[Protected]:
    """Access tokens expire at once."""
    with protected("short") as running:
        yield running


@asynccontextmanager
async def opened(server: Server, folder: Path) -> AsyncIterator[Upstream]:
    made = upstream(server, folder)
    try:
        yield made
    finally:
        await made.close()


def stored(file: LoginFile) -> Login:
    login = file.load()
    assert login is not None
    return login


async def failure(upstream: Upstream, tool: str = "whoami") -> CallFailed:
    with pytest.raises(CallFailed) as caught:
        await upstream.call(tool, {})
    return caught.value


def kind(failed: CallFailed) -> tuple[str, str, bool]:
    return failed.kind, failed.code, failed.retryable


async def test_without_a_login_a_call_and_the_health_say_how_to_log_in(servers: Protected, tmp_path: Path) -> None:
    async with opened(servers.server(), tmp_path) as it:
        failed = await failure(it)
        assert (kind(failed), failed.hints) == (WANTED, (HINT,))
        assert (it.health.state, it.health.needs_login) == ("failed", True)
        assert "It wants a login, or the login has ended. Log in with `paddock tools login it`." in it.health.error
    assert not list(tmp_path.iterdir())


async def test_after_a_login_calls_are_made_as_the_user_who_logged_in(servers: Protected, tmp_path: Path) -> None:
    async with opened(servers.server(), tmp_path) as it:
        assert kind(await failure(it)) == WANTED
        await login(servers.server(), tmp_path)
        assert await text(it, "whoami") == "ada"  # at once: the failed attempt does not delay it
        assert (it.health.state, it.health.needs_login, it.health.error) == ("ready", False, "")


async def test_after_another_login_nothing_of_the_first_users_connection_is_used(
    servers: Protected, tmp_path: Path
) -> None:
    """A name can be given to somebody else, who logs in while the connection of the first user is open."""
    async with opened(servers.server(), tmp_path) as it:
        await login(servers.server(), tmp_path)
        assert [await text(it, "whoami"), await text(it, "remembered")] == ["ada", "ada"]
        servers.control("become?user=bob")
        try:
            await login(servers.server(), tmp_path)
            assert [await text(it, "whoami"), await text(it, "remembered")] == ["bob", "bob"]
        finally:
            servers.control("become?user=ada")


async def test_calls_with_a_login_overlap(servers: Protected, tmp_path: Path) -> None:
    await login(servers.server(), tmp_path)
    async with opened(servers.server(), tmp_path) as it:
        assert await asyncio.gather(*(text(it, "meet", others=3) for _ in range(3))) == ["met"] * 3


async def test_the_login_is_readable_by_its_owner_only_whatever_the_umask(servers: Protected, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        file = await login(servers.server(), tmp_path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700
    assert [stat.S_IMODE(each.stat().st_mode) for each in file.path.parent.iterdir()] == [0o600, 0o600]
    assert not any(secret in repr(stored(file)) for secret in stored(file).secrets)


@pytest.mark.parametrize("mode", [0o644, 0o640])
async def test_a_login_that_others_can_read_is_not_used(servers: Protected, tmp_path: Path, mode: int) -> None:
    file = await login(servers.server(), tmp_path)
    file.path.chmod(mode)
    async with opened(servers.server(), tmp_path) as it:
        failed = await failure(it)
        assert kind(failed) == WANTED
        assert "can be read by others, so it is not used" in failed.summary


async def test_a_login_behind_a_symbolic_link_is_not_used(servers: Protected, tmp_path: Path) -> None:
    file = await login(servers.server(), tmp_path)
    file.path.symlink_to(file.path.rename(tmp_path / "elsewhere"))
    async with opened(servers.server(), tmp_path) as it:
        assert "the file of its login cannot be read" in (await failure(it)).summary


async def test_an_expired_token_is_refreshed_once_for_calls_at_once(servers: Protected, tmp_path: Path) -> None:
    file = await login(servers.server(), tmp_path)
    before, refreshed = stored(file), servers.log().count("refreshed")
    file.save(msgspec.structs.replace(before, expires_at=0.0))
    async with opened(servers.server(), tmp_path) as it:
        assert await asyncio.gather(*(text(it, "whoami") for _ in range(5))) == ["ada"] * 5
        assert servers.log().count("refreshed") == refreshed + 1
    after = stored(file)
    assert not {after.access_token, after.refresh_token} & {before.access_token, before.refresh_token}
    assert not after.is_expired
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


async def test_tokens_that_expire_at_once_are_refreshed_again_and_again(short: Protected, tmp_path: Path) -> None:
    await login(short.server(), tmp_path)
    async with opened(short.server(), tmp_path) as it:
        assert [await text(it, "whoami") for _ in range(3)] == ["ada"] * 3


async def test_a_refused_token_is_replaced_and_the_call_made_again(servers: Protected, tmp_path: Path) -> None:
    file = await login(servers.server(), tmp_path)
    async with opened(servers.server(), tmp_path) as it:
        assert await text(it, "whoami") == "ada"
        before, refreshed = stored(file), servers.log().count("refreshed")
        servers.control("revoke?what=access")
        assert await asyncio.gather(*(text(it, "whoami") for _ in range(5))) == ["ada"] * 5
        assert servers.log().count("refreshed") == refreshed + 1
    assert stored(file).access_token != before.access_token


async def test_a_token_that_stays_in_use_is_redacted_however_often_another_is_replaced(tmp_path: Path) -> None:
    file = LoginFile(tmp_path, "it")
    url, token = "https://it.example", "the-access-token"
    login = Login(
        server="it", principal=LOCAL, url=url, client_id="client", token_endpoint=f"{url}/token", access_token=token
    )
    credentials = Credentials(url, file)
    for number in range(3 * REMEMBERED_SECRETS):
        file.save(msgspec.structs.replace(login, refresh_token=f"refresh-{number}"))
        assert await credentials.token() == token
        assert {token, f"refresh-{number}"} <= {*credentials.secrets}
    assert "refresh-0" not in credentials.secrets


@pytest.mark.parametrize(
    ("token", "shown"), [("import", "import"), ("3f2504e0-4f89-11d3-9a0c-0305e82c3301", "[redacted]")]
)
async def test_a_word_that_a_server_calls_a_token_is_redacted_in_its_own_answers_only(
    serve: Serve, tmp_path: Path, token: str, shown: str
) -> None:
    url = serve("http")
    login = Login(
        server="it",
        principal=LOCAL,
        url=url,
        client_id="c",
        token_endpoint=f"{url}/token",
        access_token=token,
    )
    LoginFile(tmp_path, "it").save(login)
    async with Paddock(Config(upstreams={"it": {"url": url}}, data_directory=str(tmp_path))) as paddock:
        answer = await paddock.call_tool("it.echo", {"text": token})
        assert json.loads(answer.json) == {"result": "[redacted]"}
        assert paddock.redact(f"{token} json") == f"{shown} json"


async def test_two_processes_refresh_once(servers: Protected, tmp_path: Path) -> None:
    await login(servers.server(), tmp_path)
    async with opened(servers.server(), tmp_path) as one, opened(servers.server(), tmp_path) as other:
        assert {await text(one, "whoami"), await text(other, "whoami")} == {"ada"}
        servers.control("revoke?what=access")
        refreshed = servers.log().count("refreshed")
        assert {*await asyncio.gather(text(one, "whoami"), text(other, "whoami"))} == {"ada"}
        assert servers.log().count("refreshed") == refreshed + 1


async def test_a_revoked_login_says_so_until_somebody_logs_in_again(servers: Protected, tmp_path: Path) -> None:
    file = await login(servers.server(), tmp_path)
    async with opened(servers.server(), tmp_path) as it:
        assert await text(it, "whoami") == "ada"
        servers.control("revoke?what=all")
        failed = await failure(it)
        assert (kind(failed), failed.hints, it.health.needs_login) == (WANTED, (HINT,), True)
        assert stored(file).refresh_token == ""
        await login(servers.server(), tmp_path)
        assert await text(it, "whoami") == "ada"
        assert not it.health.needs_login


async def test_an_authorization_server_that_is_down_is_a_network_failure_and_costs_no_login(
    servers: Protected, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddock.tools.oauth.RETRY_SECONDS", 0.0)
    file = await login(servers.server(), tmp_path)
    file.save(msgspec.structs.replace(stored(file), expires_at=0.0))
    async with opened(servers.server(), tmp_path) as it:
        servers.control("down")
        try:
            failed = await failure(it)
        finally:
            servers.control("up")
        assert kind(failed) == ("upstream_http", "UPSTREAM_NETWORK", True)
        assert "its login cannot be refreshed: its authorization server answered HTTP 503" in failed.summary
        assert await text(it, "whoami") == "ada"


async def test_a_cancelled_call_does_not_lose_the_new_tokens(servers: Protected, tmp_path: Path) -> None:
    file = await login(servers.server(), tmp_path)
    async with opened(servers.server(), tmp_path) as it:
        assert await text(it, "whoami") == "ada"
        servers.control("revoke?what=access")
        async with file.locked():  # the refresh waits for this
            call = asyncio.create_task(it.call("whoami", {}))
            await asyncio.sleep(0)
            while it._login is None or it._login._refreshing is None:
                await asyncio.sleep(0.01)
            call.cancel()
            await asyncio.wait([call])
        assert await text(it, "whoami") == "ada"


async def test_a_login_for_another_address_is_not_sent(servers: Protected, short: Protected, tmp_path: Path) -> None:
    await login(servers.server(), tmp_path)
    async with opened(short.server(), tmp_path) as it:  # a server of the same name
        failed = await failure(it)
        assert kind(failed) == WANTED
        assert "its address has changed since somebody logged in" in failed.summary


async def test_a_client_that_is_configured_is_not_registered(tmp_path: Path, unused_tcp_port: int) -> None:
    settings = {"clientId": "known-client", "clientSecret": "known-secret-8d1f", "callbackPort": unused_tcp_port}
    with protected("static", str(unused_tcp_port)) as servers:
        with pytest.raises(OAuthFailed, match=r"register a client there and set oauth\.client_id"):
            await login(servers.server(), tmp_path)
        await login(servers.server(**settings), tmp_path)
        async with opened(servers.server(**settings), tmp_path) as it:
            assert await text(it, "whoami") == "ada"
            servers.control("revoke?what=access")
            assert await text(it, "whoami") == "ada"
        assert servers.log() == ["exchanged", "refreshed"]


async def test_a_client_is_only_used_at_the_authorization_server_that_it_was_registered_at(
    tmp_path: Path, unused_tcp_port: int
) -> None:
    settings = {"client_id": "known-client", "client_secret": "known-secret-8d1f", "callback_port": unused_tcp_port}
    with protected("static", str(unused_tcp_port)) as servers:
        with pytest.raises(OAuthFailed, match=r"it names another authorization server than oauth\.issuer"):
            await login(servers.server(**settings, issuer="https://honest.example"), tmp_path)
        assert servers.log() == []
        await login(servers.server(**settings, issuer=servers.issuer), tmp_path)
        assert servers.log() == ["exchanged"]


async def test_a_server_with_the_older_transport_can_be_used(tmp_path: Path) -> None:
    with protected("sse") as servers:
        (guessed,) = parse({"mcpServers": {"it": {"url": servers.url}}})
        for server in (servers.server(), guessed):
            await login(server, tmp_path)
            async with opened(server, tmp_path) as it:
                assert await text(it, "whoami") == "ada"
                assert it.health.transport == "sse"


async def test_only_the_request_with_the_right_state_ends_the_wait(servers: Protected, tmp_path: Path) -> None:
    refused: list[int] = []

    def show(address: str) -> None:
        (callback,) = parse_qs(urlsplit(address).query)["redirect_uri"]

        def attack() -> None:
            queries = ("code=evil&state=wrong", "code=evil", "error=access_denied&state=", "")
            refused.extend(httpx2.get(f"{callback}?{query}").status_code for query in queries)
            refused.append(httpx2.get(callback.replace("/callback", "/other")).status_code)
            refused.append(httpx2.post(callback, content=b"x").status_code)
            browse(address)

        asyncio.get_running_loop().run_in_executor(None, attack)

    await login(servers.server(), tmp_path, show)
    assert refused == [400] * 6


async def test_a_login_that_the_person_refuses_fails(servers: Protected, tmp_path: Path) -> None:
    def refuse(address: str) -> None:
        query = parse_qs(urlsplit(address).query)
        browse(f"{query['redirect_uri'][0]}?error=access_denied&state={query['state'][0]}")

    with pytest.raises(OAuthFailed, match=r"^the login was refused: access_denied$"):
        await login(servers.server(), tmp_path, refuse)
    assert not (tmp_path / "logins").exists()


async def test_a_server_that_needs_no_login_says_so(serve: object, tmp_path: Path) -> None:
    assert callable(serve)
    (server,) = parse({"mcpServers": {"it": {"url": serve("http")}}})
    with pytest.raises(OAuthFailed, match=r"^it does not ask for a login: it answered HTTP 200 without one$"):
        await login(server, tmp_path)


async def test_no_secret_is_in_a_log_an_envelope_a_result_or_the_journal(
    servers: Protected, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    file = await login(servers.server(), tmp_path)
    before = stored(file)
    journal = MemoryJournal()
    config = Config(upstreams={"it": servers.settings()}, data_directory=str(tmp_path))
    async with Paddock(config, journal=journal) as paddock:
        answers = [await paddock.call_tool("it.leak")]
        servers.control("revoke?what=access")
        answers.append(await paddock.call_tool("it.leak"))
        result = await paddock.run('await call_tool("it.leak", {})', engine="monty")
        servers.control("revoke?what=all")
        answers.append(await paddock.call_tool("it.whoami"))
        health = await paddock.upstreams()
        secrets = {*before.secrets, *stored(file).secrets}
        assert paddock.redact(f"x {stored(file).access_token} x") == "x [redacted] x"
    assert [json.loads(each.json) for each in answers[:2]] == [{"result": "your token is [redacted]"}] * 2
    assert result.output == {"result": "your token is [redacted]"}
    assert answers[2].failed
    written = f"{answers} {result} {health} {vars(journal)} {caplog.text} {capfd.readouterr()}"
    assert len(secrets) >= 4
    assert not [secret for secret in secrets if secret in written]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"command": "x", "oauth": {}}, "'oauth' has no effect because it has no url"),
        ({"url": "http://x", "headers": {"authorization": "x"}, "oauth": {}}, "it also has an Authorization header"),
        ({"url": "http://me:secret@x", "oauth": {}}, "'oauth' has no effect because its url has a user name"),
        ({"url": "http://x", "oauth": {"client": "x"}}, "oauth: unknown setting 'client'; did you mean 'client_id'?"),
        ({"url": "http://x", "oauth": {"client_secret": "x"}}, "oauth.client_secret needs oauth.client_id"),
        ({"url": "http://x", "oauth": {"issuer": "https://x"}}, "oauth.issuer needs oauth.client_id"),
        ({"url": "http://x", "oauth": {"callback_port": 0}}, "oauth: Expected `int` >= 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse({"mcpServers": {"it": settings}})
    assert said in str(refused.value)


def test_the_clients_secret_is_a_credential_of_the_server() -> None:
    oauth = {"client_id": "x", "client_secret": "${OAUTH_SECRET}"}
    (server,) = parse({"mcpServers": {"it": {"url": "http://x", "oauth": oauth}}}, {"OAUTH_SECRET": "se-cr-et-7"})
    assert server.secrets == ("se-cr-et-7",)
    assert "se-cr-et-7" not in repr(server)
