"""Who may use the HTTP server: tokens, Unix sockets, origins; whose runs and artifacts a caller sees."""

from __future__ import annotations

import socket
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from paddock import Config
from paddock.config import ServerConfig
from paddock.store.runs import EVERYONE
from tests.server.conftest import ERAS, served
from tests.server.shared_services import open_services
from tests.server.test_processes import ACCEPT, HELLO, address_of, forked, started

TOKEN = "correct-horse"  # noqa: S105
PAGE = "http://localhost:6274"


@asynccontextmanager
async def client_of(address: str, era: str = ERAS[0], **options: Any) -> AsyncIterator[Client]:
    """The official client, with options of its HTTP client."""
    async with (
        httpx.AsyncClient(timeout=60, **options) as http,
        Client(streamable_http_client(address, http_client=http), mode=era) as client,
    ):
        yield client


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def one_plus_one(client: Client) -> Any:
    return (await client.call_tool("run_code", {"code": "1 + 1"})).structured_content["output"]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("way", ["option", "variable"])
async def test_a_server_with_a_token_serves_only_who_sends_it(
    way: str, era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "variable":
        monkeypatch.setenv("PADDOCK_SERVER__TOKEN", TOKEN)
    option = ["--token", TOKEN] if way == "option" else []
    with forked("serve", "--port", "0", *option) as process:
        address = address_of(process)
        async with client_of(address, era, headers=bearer(TOKEN)) as client:
            assert await one_plus_one(client) == 2
        for headers in ({}, bearer("correct-hors"), {"authorization": f"Basic {TOKEN}"}):
            with pytest.raises((MCPError, ExceptionGroup)) as refused:
                async with client_of(address, era, headers=headers) as client:
                    await one_plus_one(client)
            assert " as `Authorization: Bearer TOKEN`" in str(innermost(refused.value))
        async with httpx.AsyncClient() as http:
            answers = {path: await http.get(address.replace("/mcp", path)) for path in ("/mcp", "/healthz", "/readyz")}
            twice = await http.get(address, headers=[*bearer(TOKEN).items(), *bearer("other").items()])
    assert {path: answer.status_code for path, answer in answers.items()} == {
        "/mcp": 401,
        "/healthz": 200,
        "/readyz": 401,
    }
    assert (answers["/mcp"].headers["www-authenticate"], twice.status_code) == ("Bearer", 401)


def innermost(problem: BaseException) -> BaseException:
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    return problem


@pytest.mark.parametrize("token", ["", "two words", "ключ"])
def test_a_token_that_no_client_could_send_is_refused_and_not_shown(token: str) -> None:
    with forked("serve", "--port", "0", "--token", token) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.startswith("Error: ")) == (2, "", True)
    assert not token or token not in err


async def test_a_unix_socket_is_for_its_owner_alone_and_is_removed_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "paddock.sock"
    with socket.socket(socket.AF_UNIX) as abandoned:
        abandoned.bind(str(path))
    with started("serve", "--socket", str(path)) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line == f"Paddock serves MCP at http://localhost/mcp on the socket {path}. Ctrl-C stops it.\n"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        async with client_of("http://localhost/mcp", transport=httpx.AsyncHTTPTransport(uds=str(path))) as client:
            assert await one_plus_one(client) == 2
        with forked("serve", "--socket", str(path)) as second:
            assert (
                second.communicate(timeout=60)[1]
                == f"Error: cannot listen on the socket {path}: Address already in use\n"
            )
        process.terminate()
        assert process.wait(30) == 0
    assert not path.exists()


def test_a_file_is_not_replaced_by_a_socket(tmp_path: Path) -> None:
    file = tmp_path / "precious"
    file.write_text("data")
    with forked("serve", "--socket", str(file)) as process:
        assert "Address already in use" in process.communicate(timeout=60)[1]
    assert file.read_text() == "data"


@pytest.mark.parametrize(
    ("allowed", "origin", "status"),
    [
        ((), "http://localhost:6274", 403),
        ((), "http://127.0.0.1", 403),
        (("http://localhost:*",), "http://localhost:6274", 200),
        (("http://localhost:*",), "http://LOCALHOST", 200),
        (("http://localhost:*",), "http://localhost:6274.evil.example", 403),
        (("http://localhost:*",), "http://localhost.evil.example", 403),
        (("http://localhost:*",), "http://127.0.0.1:6274", 403),
        (("http://localhost:*",), "https://localhost:6274", 403),
        (("http://localhost:6274",), "http://localhost:6274", 200),
        (("http://localhost:6274",), "http://localhost:6275", 403),
        (("http://localhost:6274",), "null", 403),
    ],
)
async def test_a_web_page_may_use_the_server_only_where_its_origin_is_configured(
    allowed: tuple[str, ...], origin: str, status: int
) -> None:
    config = replace(Config(), server=ServerConfig(origins=allowed))
    async with open_services(config) as services, served(services) as address, httpx.AsyncClient() as http:
        answer = await http.get(address.replace("/mcp", "/healthz"), headers={"origin": origin})
    assert answer.status_code == status


@pytest.mark.parametrize(
    ("site", "mode", "destination", "status"),
    [
        ("cross-site", "no-cors", "script", 403),
        ("cross-site", "no-cors", "image", 403),
        ("cross-site", "navigate", "iframe", 403),
        ("cross-site", "navigate", "object", 403),
        ("same-site", "no-cors", "style", 403),  # a page at another port
        ("cross-site", "navigate", "document", 200),  # a link that a person opens
        ("same-site", "navigate", "document", 200),
        ("none", "navigate", "document", 200),  # an address that a person types
        ("same-origin", "no-cors", "image", 200),
    ],
)
async def test_a_web_page_may_link_to_the_server_and_load_nothing_from_it(
    site: str, mode: str, destination: str, status: int
) -> None:
    sent = {"sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": destination}
    allowed = replace(Config(), server=ServerConfig(origins=(PAGE,)))
    async with open_services(allowed) as services, served(services) as address, httpx.AsyncClient() as http:
        url = address.removesuffix("/mcp")
        answers = [await http.get(f"{url}{path}", headers=sent) for path in ("/v1/runs", "/healthz", "/openapi.json")]
        listed = await http.get(f"{url}/v1/runs", headers={**sent, "origin": PAGE})
        link = await http.get(f"{url}/v1/artifacts/a_none?until=1&signature=s", headers=sent)
    assert [answer.status_code for answer in answers] == [status] * 3
    assert (listed.status_code, link.status_code) == (200, 404)  # the link is not one of this server's


@pytest.mark.parametrize("era", ERAS)
async def test_two_tokens_are_two_callers_with_their_own_runs_and_artifacts(era: str) -> None:
    async with (
        open_services() as services,
        served(services) as address,
        client_of(address, era, headers=bearer("ann")) as ann,
        client_of(address, era, headers=bearer("bob")) as bob,
        client_of(address, era) as local,
    ):
        run = (
            await ann.call_tool("run_code", {"code": "1", "detach": True, "idempotency_key": "k"})
        ).structured_content
        await ann.call_tool("write_artifact", {"filename": "a.txt", "content": "ann's"})
        assert (await ann.call_tool("get_run", {"run_id": run["run_id"]})).is_error is False
        assert (await ann.call_tool("read_artifact", {"ref": "a.txt"})).structured_content["content"] == "ann's"
        for other in (bob, local):
            assert (await other.call_tool("get_run", {"run_id": run["run_id"]})).is_error is True
            assert (await other.call_tool("cancel_run", {"run_id": run["run_id"]})).is_error is True
            assert (await other.call_tool("list_artifacts", {})).structured_content["artifacts"] == []
            assert (await other.call_tool("read_artifact", {"ref": "a.txt"})).is_error is True
            assert (await other.list_resources()).resources[1:] == []
            own = await other.call_tool("run_code", {"code": "2", "idempotency_key": "k"})
            assert own.structured_content["output"] == 2
        principals = {each.principal for each in await services.store.runs.list(EVERYONE)}
    assert len(principals) == 3
    assert "local" in principals
    assert not any("ann" in each or "bob" in each for each in principals)


ASKING = {
    "origin": PAGE,
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type,mcp-protocol-version,mcp-session-id",
}


def permissions(answer: httpx.Response) -> dict[str, str]:
    """The headers in which a browser looks for permission."""
    return {name: value for name, value in answer.headers.items() if name.startswith("access-control-")}


@pytest.mark.parametrize("allowed", [PAGE, "http://localhost:*"])
async def test_a_page_of_an_allowed_origin_may_send_requests_and_read_the_answers(allowed: str) -> None:
    config = replace(Config(), server=ServerConfig(origins=(allowed,), token=TOKEN))
    async with open_services(config) as services, served(services) as address, httpx.AsyncClient() as http:
        asked = await http.options(address, headers=ASKING)  # without the token: browsers send none
        answer = await http.post(address, json=HELLO, headers={**ACCEPT, **bearer(TOKEN), "origin": PAGE})
        refused = await http.post(address, json=HELLO, headers={**ACCEPT, "origin": PAGE})
        ended = await http.options(address, headers={**ASKING, "access-control-request-method": "DELETE"})
        patch = await http.options(address, headers={**ASKING, "access-control-request-method": "PATCH"})
        foreign = await http.options(address, headers={**ASKING, "origin": "http://localhost.evil.example"})
    assert [each.status_code for each in (asked, answer, refused, ended, patch)] == [200, 200, 401, 200, 400]
    assert permissions(asked)["access-control-allow-origin"] == PAGE
    assert permissions(asked)["access-control-allow-methods"] == "GET, POST, PUT, DELETE"
    assert permissions(asked)["access-control-allow-headers"] == ASKING["access-control-request-headers"]
    for each in (answer, refused):
        assert permissions(each) == {
            "access-control-allow-origin": PAGE,
            "access-control-expose-headers": "mcp-session-id, retry-after, www-authenticate",
        }
        assert each.headers["vary"] == "Origin"
    assert answer.headers["mcp-session-id"]
    assert foreign.status_code == 400
    assert "access-control-allow-origin" not in permissions(foreign)


async def test_without_configured_origins_no_page_gets_a_permission() -> None:
    async with open_services() as services, served(services) as address, httpx.AsyncClient() as http:
        asked = await http.options(address, headers=ASKING)
        answer = await http.post(address, json=HELLO, headers=ACCEPT)
    assert (asked.status_code, permissions(asked)) == (403, {})
    assert (answer.status_code, permissions(answer)) == (200, {})
