"""Attacks on a login by an MCP server and its authorization server: it fails with a reason, and stores nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.tools.logins import Login, LoginFile, OAuthFailed
from paddock.tools.mcp_config import Server, parse
from paddock.tools.oauth import refresh
from paddock.tools.upstream import Upstream
from paddock.tools.upstream_errors import CallFailed
from tests.escape.traces import forget_peak, peak_bytes
from tests.tools.protected import browse, login, protected
from tests.tools.upstreams import SERVERS


class Hostile:
    """The running server."""

    def __init__(self, address: str, record: Path) -> None:
        self.address, self._record = address, record

    def server(self, kind: str, **oauth: str) -> Server:
        more = {"oauth": oauth} if oauth else {}
        return parse({"mcpServers": {"it": {"type": "http", "url": f"{self.address}/{kind}/mcp", **more}}})[0]

    def login(self, kind: str, url: str = "") -> Login:
        """A login whose tokens have expired, with the token endpoint of this kind."""
        return Login(
            server="it",
            principal="local",
            url=url or f"{self.address}/{kind}/mcp",
            client_id="c",
            token_endpoint=f"{self.address}/{kind}/token",
            access_token="old-access-1234567890",  # noqa: S106
            refresh_token="old-refresh-1234567890",  # noqa: S106
            expires_at=0.0,
        )

    def seen_elsewhere(self) -> str:
        return self._record.read_text() if self._record.exists() else ""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hostile]:
    record = tmp_path_factory.mktemp("hostile") / "record"
    program = [sys.executable, str(SERVERS / "hostile_oauth.py"), str(record)]
    server = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    yield Hostile(server.stdout.readline().strip(), record)
    server.kill()
    server.communicate()


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddock.tools.oauth.FETCH_SECONDS", 2.0)
    monkeypatch.setattr("paddock.tools.oauth_login.LOGIN_SECONDS", 20.0)


async def refused(hostile: Hostile, kind: str, folder: Path, **oauth: str) -> str:
    """Why the login fails. Nothing is stored, little memory is used, and the text is safe to show."""
    forget_peak()
    before = peak_bytes()
    with pytest.raises(OAuthFailed) as failed:
        await login(hostile.server(kind, **oauth), folder)
    assert peak_bytes() - before < 40 * 1024 * 1024
    assert not (folder / "logins").exists()
    said = str(failed.value)
    assert said.isprintable()
    assert len(said) < 500
    assert not re.search("code-1234567890|s{20}|code_verifier", said)
    return said


async def test_the_server_lets_in_who_is_not_attacked(hostile: Hostile, tmp_path: Path) -> None:
    file = await login(hostile.server("fine"), tmp_path)
    stored = file.load()
    assert stored is not None
    assert stored.token_endpoint == f"{hostile.address}/fine/token"


@pytest.mark.parametrize("kind", ["huge_challenge", "endless_challenge"])
async def test_the_body_of_a_refusal_is_not_read(hostile: Hostile, tmp_path: Path, kind: str) -> None:
    forget_peak()
    before = peak_bytes()
    await login(hostile.server(kind), tmp_path)
    assert peak_bytes() - before < 40 * 1024 * 1024


async def test_a_client_of_another_authorization_server_is_not_used_at_the_mcp_server_itself(
    hostile: Hostile, tmp_path: Path
) -> None:
    issuer = f"{hostile.address}/missing_metadata"
    said = await refused(hostile, "missing_metadata", tmp_path, client_id="c", client_secret="s" * 20, issuer=issuer)
    assert "the metadata of oauth.issuer cannot be read" in said


@pytest.mark.parametrize("step", ["resource", "metadata", "registration", "token"])
@pytest.mark.parametrize(
    ("way", "said"),
    [
        ("huge", "is larger than 64 KB"),
        ("endless", "did not answer within 2 s"),
        ("compressed", "is compressed, although the request asked for no compression"),
    ],
)
async def test_an_unbounded_answer_ends_the_login(
    hostile: Hostile, tmp_path: Path, way: str, step: str, said: str
) -> None:
    assert said in await refused(hostile, f"{way}_{step}", tmp_path)


@pytest.mark.parametrize("step", ["resource", "metadata", "registration", "token"])
@pytest.mark.parametrize("way", ["deep", "binary", "redirected", "circular"])
async def test_a_broken_answer_or_a_redirect_ends_the_login(
    hostile: Hostile, tmp_path: Path, way: str, step: str
) -> None:
    await refused(hostile, f"{way}_{step}", tmp_path)
    assert hostile.seen_elsewhere() == ""


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("foreign_resource", "Protected resource https://bank.example/mcp does not match"),
        ("foreign_issuer", "https://bank.example"),
        ("foreign_iss", "iss mismatch: https://bank.example"),
        ("missing_iss", "missing iss"),
        ("elsewhere_resource", "would use http://192.0.2.1, which is not encrypted"),
        ("unencrypted_issuer", "would use http://192.0.2.1, which is not encrypted"),
        ("unencrypted_address", "would use http://192.0.2.1, which is not encrypted"),
        ("unencrypted_token", "would use http://192.0.2.1, which is not encrypted"),
        ("file_address", "does not let Paddock register itself (HTTP 404)"),
        ("refused_registration", "does not let Paddock register itself (HTTP 403 access_denied)"),
        ("echoing_token", "refused to issue a token (HTTP 400 invalid_request)"),
        ("split_token", "sent a token that cannot be used"),
        ("blank_token", "sent a token that cannot be used"),
        ("long_token", "sent a token that cannot be used"),
        ("refused", "it refused the new token with HTTP 401"),
    ],
)
async def test_a_lie_ends_the_login(hostile: Hostile, tmp_path: Path, kind: str, said: str) -> None:
    assert said in await refused(hostile, kind, tmp_path)


async def test_a_browser_that_comes_back_with_another_state_does_not_end_the_wait(
    hostile: Hostile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddock.tools.oauth_login.LOGIN_SECONDS", 2.0)
    assert await refused(hostile, "wrong_state", tmp_path) == "nobody has logged in within 2 s"


@pytest.mark.parametrize("kind", ["file_address", "unencrypted_address"])
async def test_an_unsafe_address_is_not_opened(hostile: Hostile, tmp_path: Path, kind: str) -> None:
    shown: list[str] = []
    with pytest.raises(OAuthFailed):
        await login(hostile.server(kind), tmp_path, shown.append)
    assert shown == []


@pytest.mark.parametrize("kind", ["eternal", "negative"])
async def test_a_lifetime_of_any_length_is_accepted(hostile: Hostile, tmp_path: Path, kind: str) -> None:
    stored = (await login(hostile.server(kind), tmp_path, browse)).load()
    assert stored is not None
    assert stored.is_expired == (kind == "negative")


@pytest.mark.parametrize(
    "kind",
    [
        *("huge_token", "endless_token", "compressed_token", "deep_token", "binary_token", "redirected_token"),
        *("circular_token", "split_token", "blank_token", "long_token", "echoing_token"),
    ],
)
async def test_a_refresh_by_a_hostile_server_fails_and_shows_no_secret(hostile: Hostile, kind: str) -> None:
    forget_peak()
    before = peak_bytes()
    with pytest.raises(OAuthFailed) as failed:
        await refresh(hostile.login(kind))
    assert peak_bytes() - before < 40 * 1024 * 1024
    assert "1234567890" not in str(failed.value)
    assert hostile.seen_elsewhere() == ""


async def test_a_hostile_refresh_fails_the_call_and_keeps_the_login(hostile: Hostile, tmp_path: Path) -> None:
    with protected() as servers:
        file = LoginFile(tmp_path, "it")
        before = hostile.login("huge_token", servers.url)
        file.save(before)
        upstream = Upstream(servers.server(), login=file)
        try:
            with pytest.raises(CallFailed) as failed:
                await upstream.call("whoami", {})
            assert (failed.value.code, failed.value.retryable) == ("UPSTREAM_NETWORK", True)
            assert "its login cannot be refreshed: the answer of 127.0.0.1" in failed.value.summary
        finally:
            await upstream.close()
    assert file.load() == before
