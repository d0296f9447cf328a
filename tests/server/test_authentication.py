"""Callers with accounts: tokens of `paddock tokens`, and JSON Web Tokens of an issuer."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx2 as httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from mcp import MCPError

from paddock import Config
from paddock.config import AuthConfig, ServerConfig
from paddock.server import authentication, jwt_issuer
from paddock.server import http as http_server
from paddock.server.authentication import Authenticator, Identity, Unauthorized
from paddock.server.http import make_app
from paddock.server.mcp import make_server
from paddock.store.database import Store
from paddock.store.runs import EVERYONE
from tests.server.conftest import ERAS, at_a_port
from tests.server.shared_services import open_services
from tests.server.test_access import bearer, client_of, innermost, one_plus_one
from tests.server.test_http import META, NEWEST
from tests.server.test_processes import ACCEPT, HELLO, address_of, forked
from tests.tools.upstreams import plain

OLDER = "2025-06-18"
REQUIRED = replace(Config(), server=ServerConfig(require_token=True))


@asynccontextmanager
async def tokens_of(*names: str, config: Config = REQUIRED) -> AsyncIterator[tuple[Any, str, list[str]]]:
    """Services, the address of their server, and a token for each name."""
    async with open_services(config) as services:
        tokens = [(await services.store.tokens.add(name))[1] for name in names]
        async with at_a_port(make_app(make_server(services), services)) as address:
            yield services, address, tokens


@pytest.mark.parametrize("era", ERAS)
async def test_two_principals_work_side_by_side_and_see_nothing_of_each_other(era: str) -> None:
    async with (
        tokens_of("ann", "bob", "ann") as (services, address, tokens),
        client_of(address, era, headers=bearer(tokens[0])) as ann,
        client_of(address, era, headers=bearer(tokens[1])) as bob,
        client_of(address, era, headers=bearer(tokens[2])) as ann_again,
    ):
        run = (await ann.call_tool("run_code", {"code": "1", "detach": True})).structured_content["run_id"]
        assert (await bob.call_tool("get_run", {"run_id": run})).is_error is True
        assert (await ann_again.call_tool("get_run", {"run_id": run})).is_error is False
        assert await asyncio.gather(*map(one_plus_one, (ann, bob, ann_again))) == [2, 2, 2]
        principals = {each.principal for each in await services.store.runs.list(EVERYONE)}
    assert principals == {"ann", "bob"}


async def test_a_session_of_another_principal_does_not_exist() -> None:
    async with tokens_of("ann", "bob", "ann") as (_, address, tokens), httpx.AsyncClient() as http:
        ann, bob, ann_again = map(bearer, tokens)
        begun = await http.post(address, json=HELLO, headers=ACCEPT | ann)
        session = {"mcp-session-id": begun.headers["mcp-session-id"], "mcp-protocol-version": OLDER}
        asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        statuses = [
            (await http.post(address, json=asked, headers=ACCEPT | session | who)).status_code
            for who in (bob, ann, ann_again)
        ]
        assert statuses == [404, 200, 200]
        assert (await http.delete(address, headers=session | bob)).status_code == 404


async def test_another_token_of_its_principal_clears_the_context_of_a_session_and_keeps_its_files() -> None:
    fields = {"region": {"argument": "region", "servers": ["it"]}}
    config = replace(REQUIRED, upstreams={"it": plain()}, context=fields)
    async with (
        tokens_of("ann", "ann", config=config) as (services, address, tokens),
        httpx.AsyncClient(timeout=60) as http,
    ):
        ann, ann_again = map(bearer, tokens)
        begun = await http.post(address, json=HELLO, headers=ACCEPT | ann)
        session = {"mcp-session-id": begun.headers["mcp-session-id"], "mcp-protocol-version": OLDER}

        async def call(who: dict[str, str], name: str, **arguments: Any) -> Any:
            params = {"name": name, "arguments": arguments}
            asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
            answer = await http.post(address, json=asked, headers=ACCEPT | session | who)
            return json.loads(answer.text.split("data: ")[-1])["result"]["structuredContent"]

        async def state(who: dict[str, str]) -> tuple[str | None, dict[str, str]]:
            reason = (await call(who, "get_session_state"))["state_reason"]
            kept = services.sessions.get(session["mcp-session-id"], "ann", who["authorization"])
            return reason, kept.context.values

        await call(ann, "write_artifact", filename="a.txt", content="kept")
        await call(ann, "set_region", region="eu")
        assert await state(ann) == (None, {"region": "eu"})
        assert [await state(ann_again) for _ in range(2)] == [("token_swapped", {})] * 2
        await call(ann_again, "set_region", region="us")
        assert await state(ann_again) == (None, {"region": "us"})
        assert await state(ann) == ("token_swapped", {})
        listed = await call(ann, "list_artifacts", session_only=True)
    assert [each["filename"] for each in listed["artifacts"]] == ["a.txt"]


async def test_a_token_that_is_revoked_while_a_body_arrives_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authentication, "REMEMBERED_SECONDS", 0.0)
    async with tokens_of("ann") as (services, address, [token]), httpx.AsyncClient(headers=bearer(token)) as http:

        async def body() -> AsyncIterator[bytes]:
            yield b'{"code": '
            await services.store.tokens.revoke("ann")
            yield b'"1"}'

        headers = {"content-type": "application/json", "content-length": "13"}
        runs = f"{address.removesuffix('/mcp')}/v1/runs"
        assert (await http.post(runs, content=body(), headers=headers)).status_code == 401
        assert await services.store.runs.list("ann") == []


async def test_a_token_that_is_revoked_while_a_large_request_waits_for_its_turn_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(authentication, "REMEMBERED_SECONDS", 0.0)
    take = http_server._take_arguments
    async with tokens_of("ann") as (services, address, [token]), httpx.AsyncClient(headers=bearer(token)) as http:

        async def wait(message: Any) -> Any:
            await services.store.tokens.revoke("ann")
            return await take(message)

        monkeypatch.setattr(http_server, "_take_arguments", wait)
        arguments = {"code": "1", "inputs": {"text": "x" * 1_000_000}}
        params = {"name": "run_code", "arguments": arguments, "_meta": META}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = ACCEPT | {"mcp-protocol-version": NEWEST, "mcp-method": "tools/call", "mcp-name": "run_code"}
        assert (await http.post(address, json=call, headers=headers)).status_code == 401
        assert await services.store.runs.list("ann") == []


@asynccontextmanager
async def notified(http: httpx.AsyncClient, address: str, era: str, who: dict[str, str]) -> AsyncIterator[Any]:
    """The lines of a stream that tells this caller when the tools change."""
    headers = ACCEPT | who
    asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    if era == ERAS[0]:
        method = "subscriptions/listen"
        params = {"notifications": {"toolsListChanged": True}, "_meta": META}
        headers |= {"mcp-protocol-version": NEWEST, "mcp-method": method}
        opening = http.stream("POST", address, json=asked | {"method": method, "params": params}, headers=headers)
    else:
        begun = await http.post(address, json=HELLO, headers=headers)
        headers |= {"mcp-session-id": begun.headers["mcp-session-id"]}
        await http.post(address, json=asked, headers=headers)
        opening = http.stream("GET", address, headers=headers)
    async with opening as stream:
        assert stream.status_code == 200
        yield stream.aiter_lines()


async def is_told(lines: AsyncIterator[str]) -> bool:
    """Whether the tools change once more before the stream ends."""
    async for line in lines:
        if "tools/list_changed" in line:
            return True
    return False


@pytest.mark.parametrize("era", ERAS)
async def test_an_open_stream_of_a_revoked_token_tells_nothing_and_ends(
    era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authentication, "REMEMBERED_SECONDS", 0.0)
    definition = {"name": "a", "description": "A.", "code": "1"}
    async with (
        open_services(REQUIRED) as services,
        at_a_port(make_app(make_server(services, saved="all"), services)) as address,
        httpx.AsyncClient(timeout=60) as http,
    ):
        tokens = [await services.store.tokens.add("ann") for _ in range(2)]
        first, second = (bearer(text) for _, text in tokens)
        async with (
            notified(http, address, era, first) as revoked,
            notified(http, address, era, second) as valid,
            asyncio.timeout(30),
        ):
            await services.store.definitions.save("ann", "a", definition)
            assert [await is_told(each) for each in (revoked, valid)] == [True, True]
            await services.store.tokens.revoke(tokens[0][0])
            await services.store.definitions.remove("ann", "a")
            assert [await is_told(each) for each in (revoked, valid)] == [False, True]


async def test_a_revoked_token_is_refused_and_its_runs_end_with_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authentication, "REMEMBERED_SECONDS", 0.0)
    async with tokens_of("ann") as (services, address, [token]), client_of(address, headers=bearer(token)) as client:
        code = {"code": "import time\ntime.sleep(0.5)\n7", "detach": True}
        run = (await client.call_tool("run_code", code)).structured_content["run_id"]
        await services.store.tokens.revoke("ann")
        with pytest.raises((MCPError, ExceptionGroup)) as refused:
            await one_plus_one(client)
        assert "the token was revoked" in str(innermost(refused.value))
        while (stored := await services.store.runs.get("ann", run)).verdict is None:
            await asyncio.sleep(0.05)
        assert (stored.verdict, stored.to_dict()["result"]["output"]) == ("ok", 7)


async def test_on_loopback_a_token_is_optional_but_not_a_wrong_one() -> None:
    async with tokens_of("ann", config=Config()) as (services, address, [token]), httpx.AsyncClient() as http:
        async with client_of(address) as local, client_of(address, headers=bearer(token)) as ann:
            assert [await one_plus_one(local), await one_plus_one(ann)] == [2, 2]
        wrong = await http.post(address, json=HELLO, headers=ACCEPT | bearer(f"{token[:-5]}AAAAA"))
        assert {each.principal for each in await services.store.runs.list(EVERYONE)} == {"local", "ann"}
    assert (wrong.status_code, wrong.headers["www-authenticate"]) == (401, 'Bearer error="invalid_token"')


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("192.0.2.7:8080", 200),
        ("[2001:db8::1]", 200),
        ("Paddock.example.org", 200),
        ("evil.example.org", 421),
        ("paddock.example.org.evil", 421),
        ("", 421),
        ("a b", 421),
    ],
)
async def test_the_host_is_an_address_or_the_name_in_server_url(host: str, status: int) -> None:
    config = replace(Config(), server=ServerConfig(require_token=True, url="https://paddock.example.org"))
    async with tokens_of(config=config) as (_, address, _), httpx.AsyncClient() as http:
        answer = await http.get(address.replace("/mcp", "/healthz"), headers={"host": host})
    assert answer.status_code == status


async def test_a_store_that_cannot_be_read_lets_nobody_in(tmp_path: Any) -> None:
    async with open_services(REQUIRED) as services:
        _, token = await services.store.tokens.add("ann")
        await services.store.close()
        services.store.path.write_bytes(b"not a database" * 100)
        with pytest.raises(Unauthorized, match="cannot be checked now") as refused:
            await Authenticator(REQUIRED, services.store).identify([f"Bearer {token}"])
    assert refused.value.status == 503


AUDIENCE = "https://paddock.example.org/mcp"
RSA, EC = rsa.generate_private_key(65537, 2048), ec.generate_private_key(ec.SECP256R1())


class Issuer:
    """An authorization server that publishes keys, over HTTP on this machine."""

    def __init__(self, address: str) -> None:
        self.address, self.fetches = address, 0
        self.keys: dict[str, rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey] = {"rsa": RSA, "ec": EC}
        self.answers: dict[str, Any] = {}

    def published(self, path: str) -> Any:
        if path in self.answers:
            return self.answers[path]
        if path == "/.well-known/openid-configuration":
            return {"issuer": self.address, "jwks_uri": f"{self.address}/keys"}
        if path != "/keys":
            return None
        self.fetches += 1
        jwks = [_jwk(key) | {"kid": name} for name, key in self.keys.items()]
        return {"keys": jwks}

    def token(self, kid: str = "rsa", key: Any = None, algorithm: str = "", **claims: Any) -> str:
        given = {"iss": self.address, "aud": AUDIENCE, "sub": "ann", "exp": time.time() + 60, "scope": "run"} | claims
        algorithm = algorithm or ("ES256" if kid == "ec" else "RS256")
        kept = {name: value for name, value in given.items() if value is not None}
        return jwt.encode(kept, self.keys[kid] if key is None else key, algorithm=algorithm, headers={"kid": kid})


def _jwk(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> dict[str, Any]:
    if isinstance(key, rsa.RSAPrivateKey):
        return jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    return jwt.algorithms.ECAlgorithm.to_jwk(key.public_key(), as_dict=True)


@contextmanager
def issuing(port: int = 0) -> Iterator[Issuer]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = issuer.published(self.path)
            if callable(answer):
                answer(self)
                return
            body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(404 if answer is None else 200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None: ...  # noqa: A002

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as web:
        issuer = Issuer(f"http://127.0.0.1:{web.server_address[1]}")
        Thread(target=web.serve_forever, daemon=True).start()
        try:
            yield issuer
        finally:
            web.shutdown()


def trusting(issuer: Issuer, **auth: Any) -> Config:
    settings = AuthConfig(issuer.address, AUDIENCE, **{"scopes": ("run",), "operator_scope": "admin", **auth})
    return replace(Config(), auth=settings, server=ServerConfig(url="https://paddock.example.org"))


@asynccontextmanager
async def authenticator_of(issuer: Issuer, **auth: Any) -> AsyncIterator[Authenticator]:
    config = trusting(issuer, **auth)
    async with open_services(config) as services:
        made = Authenticator(config, services.store)
        try:
            yield made
        finally:
            await made.close()


async def test_a_subject_is_a_principal_and_its_scopes_give_its_role() -> None:
    with issuing() as issuer:
        async with authenticator_of(issuer) as made:
            assert await made.identify([f"Bearer {issuer.token()}"]) == Identity("jwt:ann", "user")
            token = issuer.token("ec", sub="bob", scope=None, scp=["run", "admin"])
            assert await made.identify([f"bearer {token}"]) == Identity("jwt:bob", "operator")
        assert issuer.fetches == 1


@pytest.mark.parametrize(
    ("claims", "problem"),
    [
        ({"exp": 1}, "Signature has expired"),
        ({"exp": None}, 'missing the "exp" claim'),
        ({"exp": math.inf}, "the token is not valid"),
        ({"exp": math.nan}, "the token is not valid"),
        ({"nbf": time.time() + 600}, "not yet valid"),
        ({"aud": "https://other.example"}, "Audience doesn't match"),
        ({"iss": "https://other.example"}, "Invalid issuer"),
        ({"sub": None}, 'missing the "sub" claim'),
        ({"sub": "a\nb"}, "subject is not usable"),
        ({"sub": "a" * 201}, "subject is not usable"),
        ({"scope": "read"}, "lacks the scope run"),
        ({"scope": 5}, "lacks the scope run"),
        ({"scope": "run\u00a0admin"}, "lacks the scope run"),
        ({"kid": "new", "key": RSA}, "does not publish the key"),
        ({"kid": "ec", "key": ec.generate_private_key(ec.SECP256R1())}, "Signature verification failed"),
        ({"key": "s" * 64, "algorithm": "HS256"}, "not signed with a private key"),
        ({"key": "", "algorithm": "none"}, "not signed with a private key"),
    ],
)
async def test_a_token_that_is_not_for_this_server_is_refused(claims: dict[str, Any], problem: str) -> None:
    with issuing() as issuer:
        async with authenticator_of(issuer) as made:
            with pytest.raises(Unauthorized, match=problem) as refused:
                await made.identify([f"Bearer {issuer.token(**claims)}"])
    assert refused.value.status == (403 if "scope" in claims else 401)


@pytest.mark.parametrize("algorithm", ["RS256", "RS512", "PS384"])
async def test_a_key_that_names_no_algorithm_is_for_all_of_its_kind(algorithm: str) -> None:
    with issuing() as issuer:
        async with authenticator_of(issuer) as made:
            assert (await made.identify([f"Bearer {issuer.token(algorithm=algorithm)}"])).principal == "jwt:ann"
    with issuing() as issuer:
        issuer.answers["/keys"] = {"keys": [_jwk(RSA) | {"kid": "rsa", "alg": "RS256"}]}
        async with authenticator_of(issuer) as made:
            if algorithm != "RS256":
                with pytest.raises(Unauthorized, match="does not match the key's algorithm"):
                    await made.identify([f"Bearer {issuer.token(algorithm=algorithm)}"])


@pytest.mark.parametrize("token", ["x", "a.b.c", "ä.b.c", "e30.e30.", "." * 20_000, '{"a"'])
async def test_a_text_that_is_no_token_is_refused(token: str) -> None:
    with issuing() as issuer:
        async with authenticator_of(issuer) as made:
            for headers in ([f"Bearer {token}"], [token], [f"Bearer {issuer.token()}"] * 2):
                with pytest.raises(Unauthorized):
                    await made.identify(headers)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        b"",
        b"[]",
        b"{",
        {"keys": 5},
        {"keys": []},
        {"keys": [5, {"kty": "oct", "k": "c2VjcmV0", "kid": "rsa"}]},
        {"keys": [{"kty": "RSA", "n": "!", "e": "AQAB", "kid": "rsa"}]},
        b" " * (jwt_issuer.FETCH_BYTES + 1),
        b"[" * 100_000,
    ],
    ids=lambda answer: str(answer)[:20],
)
async def test_an_issuer_that_is_down_or_lies_lets_nobody_in(answer: Any) -> None:
    with issuing() as issuer:
        issuer.answers["/keys"] = answer
        async with authenticator_of(issuer) as made:
            with pytest.raises(Unauthorized, match="cannot be fetched now") as refused:
                await made.identify([f"Bearer {issuer.token()}"])
    assert refused.value.status == 503


async def test_metadata_that_names_another_issuer_is_not_used() -> None:
    with issuing() as issuer:
        issuer.answers["/.well-known/openid-configuration"] = {"issuer": "https://evil.example", "jwks_uri": "/keys"}
        async with authenticator_of(issuer) as made:
            with pytest.raises(Unauthorized, match="cannot be fetched now"):
                await made.identify([f"Bearer {issuer.token()}"])
        async with authenticator_of(issuer, jwks_url=f"{issuer.address}/keys") as made:
            assert (await made.identify([f"Bearer {issuer.token()}"])).principal == "jwt:ann"


async def test_keys_that_anybody_on_the_network_path_could_replace_are_not_fetched() -> None:
    with issuing() as issuer:
        elsewhere = issuer.address.replace("127.0.0.1", "127.1")  # the same server, under a name that is not known
        assert elsewhere != issuer.address
        metadata = {"issuer": issuer.address, "jwks_uri": f"{elsewhere}/keys"}
        issuer.answers["/.well-known/openid-configuration"] = metadata
        async with authenticator_of(issuer) as made:
            with pytest.raises(Unauthorized, match="cannot be fetched now"):
                await made.identify([f"Bearer {issuer.token()}"])
        assert issuer.fetches == 0


async def test_a_new_key_is_fetched_and_known_ones_survive_an_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    with issuing() as issuer:
        async with authenticator_of(issuer) as made:
            await made.identify([f"Bearer {issuer.token()}"])
            issuer.keys["rsa2"] = rsa.generate_private_key(65537, 2048)
            for _ in range(5):  # an unknown key must not make the server ask again and again
                with pytest.raises(Unauthorized, match="does not publish the key"):
                    await made.identify([f"Bearer {issuer.token('rsa2')}"])
            assert issuer.fetches == 1
            monkeypatch.setattr(jwt_issuer, "RETRY_SECONDS", 0.0)
            assert (await made.identify([f"Bearer {issuer.token('rsa2')}"])).principal == "jwt:ann"
            issuer.answers["/keys"] = None
            monkeypatch.setattr(jwt_issuer, "FRESH_SECONDS", 0.0)
            assert (await made.identify([f"Bearer {issuer.token()}"])).principal == "jwt:ann"
            monkeypatch.setattr(jwt_issuer, "STALE_SECONDS", 0.0)
            with pytest.raises(Unauthorized, match="cannot be fetched now"):
                await made.identify([f"Bearer {issuer.token()}"])


async def test_the_readiness_check_names_an_issuer_that_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jwt_issuer, "RETRY_SECONDS", 0.0)
    with issuing() as issuer:
        issuer.answers["/keys"] = None
        async with tokens_of("bob", config=trusting(issuer)) as (_, address, [stored]), httpx.AsyncClient() as http:

            async def ready() -> tuple[int, str]:
                answer = await http.get(address.replace("/mcp", "/readyz"), headers=bearer(stored))
                return answer.status_code, answer.text.replace(issuer.address, "ISSUER")

            reason = "ISSUER/keys answered 404"
            assert await ready() == (
                200,
                f"ok\nthe keys of ISSUER cannot be fetched, its tokens are refused: {reason}\n",
            )
            health = await http.get(address.replace("/mcp", "/v1/health"), headers=bearer(stored))
            assert (health.json()["ready"], len(health.json()["problems"])) == (True, 1)
            del issuer.answers["/keys"]
            assert await ready() == (200, "ok\n")
            issuer.answers["/keys"] = None
            monkeypatch.setattr(jwt_issuer, "FRESH_SECONDS", 0.0)
            assert "its tokens are accepted for 4.0 h more" in (await ready())[1]


async def test_a_client_is_told_where_it_gets_a_token() -> None:
    with issuing() as issuer:
        async with tokens_of("bob", config=trusting(issuer)) as (_, address, [stored]), httpx.AsyncClient() as http:
            refused = await http.post(address, json=HELLO, headers=ACCEPT)
            found = await http.get(address.replace("/mcp", "/.well-known/oauth-protected-resource/mcp"))
            poor = await http.post(address, json=HELLO, headers=ACCEPT | bearer(issuer.token(scope="")))
            async with client_of(address, headers=bearer(issuer.token())) as ann:
                assert await one_plus_one(ann) == 2
            async with client_of(address, headers=bearer(stored)) as bob:
                assert await one_plus_one(bob) == 2
    metadata = "https://paddock.example.org/.well-known/oauth-protected-resource/mcp"
    assert refused.headers["www-authenticate"] == f'Bearer resource_metadata="{metadata}"'
    assert found.json()["resource"] == AUDIENCE
    assert found.json()["authorization_servers"] == [issuer.address]
    assert found.json()["scopes_supported"] == ["run"]
    assert (poor.status_code, 'error="insufficient_scope"' in poor.headers["www-authenticate"]) == (403, True)


async def test_the_metadata_of_a_server_below_a_path_are_where_the_answer_401_says() -> None:
    with issuing() as issuer:
        config = replace(trusting(issuer), server=ServerConfig(url="https://example.org/paddock/"))
        async with tokens_of(config=config) as (_, address, _), httpx.AsyncClient() as http:
            refused = await http.post(address, json=HELLO, headers=ACCEPT)
            path = "/.well-known/oauth-protected-resource/paddock/mcp"
            assert refused.headers["www-authenticate"] == f'Bearer resource_metadata="https://example.org{path}"'
            found = (await http.get(address.replace("/mcp", path))).json()
    assert (found["resource"], found["authorization_servers"]) == ("https://example.org/paddock/mcp", [issuer.address])


async def test_beyond_loopback_a_server_starts_once_there_is_a_token_and_requires_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PADDOCK_STORE__PATH", str(tmp_path / "paddock.db"))
    async with Store(tmp_path / "paddock.db") as store:
        _, token = await store.tokens.add("ann")
    with forked("serve", "--host", "0.0.0.0", "--port", "0") as process:  # noqa: S104
        address = address_of(process).replace("0.0.0.0", "127.0.0.1")  # noqa: S104
        async with client_of(address, headers=bearer(token)) as client, httpx.AsyncClient() as http:
            assert await one_plus_one(client) == 2
            assert (await http.post(address, json=HELLO, headers=ACCEPT)).status_code == 401
            assert (await http.post(address, json=HELLO, headers=ACCEPT | {"host": "evil.example"})).status_code == 421


async def test_senders_who_wait_for_a_slow_issuer_leave_connections_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddock.descriptors.max_connections", lambda: 8)
    may_answer = Event()
    with issuing() as issuer:
        issuer.answers["/slow"] = lambda _: may_answer.wait()
        headers = {"Authorization": f"Bearer {issuer.token()}"}
        config = trusting(issuer, jwks_url=f"{issuer.address}/slow")
        async with (
            open_services(config) as services,
            at_a_port(make_app(make_server(services), services)) as url,
            httpx.AsyncClient(headers=headers, timeout=60) as http,
        ):
            sent = [asyncio.create_task(http.get(url)) for _ in range(7)]
            done, waiting = await asyncio.wait(sent, return_when=asyncio.FIRST_COMPLETED)
            assert [each.result().status_code for each in done] == [429]
            may_answer.set()
            assert {each.status_code for each in await asyncio.gather(*waiting)} == {503}
