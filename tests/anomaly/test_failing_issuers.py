"""An issuer of tokens that is down, slow or lies, and tokens that end in the middle of runs."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sqlite3
import threading
import time
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx2 as httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from paddock.server import jwt_issuer
from paddock.server.authentication import Authenticator, Unauthorized
from paddock.store.database import Store
from tests.anomaly.crowd import KINDS, crowd
from tests.anomaly.serving import PATIENCE_SECONDS, Serving, serving
from tests.server.test_access import bearer
from tests.server.test_authentication import AUDIENCE, EC, Issuer, _jwk, authenticator_of, issuing

RUNS = 100
AUTH = '\n[auth]\nissuer = "{address}"\naudience = "{audience}"\n'
OTHER_RSA, OTHER_EC = rsa.generate_private_key(65537, 2048), ec.generate_private_key(ec.SECP256R1())
PRINCIPALS = {"ann": "ann", "bob": "bob", "cem": "jwt:cem"}


async def status(server: Serving, token: str) -> tuple[int, str]:
    """How a request with this token is answered, and what it is told."""
    async with httpx.AsyncClient(timeout=PATIENCE_SECONDS) as http:
        answer = await http.get(f"{server.url}/v1/runs", headers=bearer(token))
    return answer.status_code, answer.json().get("detail", "")


async def until_status(server: Serving, token: str, expected: int) -> str:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (found := await status(server, token))[0] != expected:
            await asyncio.sleep(0.05)
    return found[1]


def free_port() -> int:
    """A port below those that the kernel gives to others meanwhile."""
    for port in range(20_000 + os.getpid() % 10_000, 32_000):
        with suppress(OSError), socket.socket() as found:
            found.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


@pytest.mark.usefixtures("default_environment")
@pytest.mark.thorough
async def test_an_issuer_that_is_down_keeps_its_callers_out_at_first_and_costs_none_later(tmp_path: Path) -> None:
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    async with serving(tmp_path, AUTH.format(address=address, audience=AUDIENCE)) as server:
        token = Issuer(address).token(sub="cem")
        refused = await asyncio.gather(*(status(server, token) for _ in range(20)))
        assert set(refused) == {(503, "Unavailable: the keys of the token's issuer cannot be fetched now")}
        assert (await status(server, server.tokens["ann"]))[0] == 200
        with issuing(port) as issuer:
            await until_status(server, token, 200)
            tokens = server.tokens | {"cem": issuer.token(sub="cem", exp=time.time() + 600)}
            forged = issuer.token(sub="cem", key=OTHER_RSA)
            async with crowd(server, tokens, principals=PRINCIPALS) as callers:
                callers.ask(RUNS // 2)
                await server.arrived(RUNS // 2)
                issuer.keys = {"rsa": OTHER_RSA}
                assert (await status(server, forged))[0] == 401
                callers.ask(RUNS // 4)
                await server.arrived(RUNS * 3 // 4)
                issuer.answers["/keys"] = None
                callers.ask(RUNS // 4)
                await server.arrived(RUNS)
                server.open_gate()
                await callers.ended()
                assert callers.check() == {"ok": RUNS}
                await callers.check_artifacts()
        assert await status(server, token) == (200, "")
        said = [entry["message"] for entry in server.logged() if entry["logger"] == "paddock.server.jwt_issuer"]
        assert said
        assert all(each.startswith(f"the keys of {address} cannot be fetched: ") for each in said)


@pytest.mark.usefixtures("default_environment")
@pytest.mark.thorough
async def test_a_token_that_is_revoked_or_expires_lets_its_runs_end_and_nobody_else_in(tmp_path: Path) -> None:
    with issuing() as issuer:
        async with serving(tmp_path, AUTH.format(address=issuer.address, audience=AUDIENCE)) as server:
            # It has expired, and is accepted for as long as clocks may differ: a few seconds more.
            ending = issuer.token(sub="cem", exp=time.time() - jwt_issuer.LEEWAY_SECONDS + 10)
            tokens = server.tokens | {"cem": ending}
            async with crowd(server, tokens, principals=PRINCIPALS) as callers:
                callers.ask(2 * len(KINDS), "cem")
                await server.arrived(2 * len(KINDS))
                callers.ask(RUNS - 2 * len(KINDS), "ann", "bob")
                await server.arrived(RUNS)
                async with Store(server.store) as store:  # as `paddock tokens revoke` does
                    await store.tokens.revoke("ann")
                    _, new = await store.tokens.add("ann")
                with closing(sqlite3.connect(server.store)) as connection, connection:
                    connection.execute("UPDATE tokens SET expires_at = ? WHERE principal = 'bob'", [time.time()])
                reasons = await asyncio.gather(*(until_status(server, token, 401) for token in tokens.values()))
                assert reasons[0] == "Unauthorized: the token was revoked"
                assert reasons[1] == "Unauthorized: the token has expired"
                assert reasons[2] == "Unauthorized: the token is not valid: Signature has expired"
                server.open_gate()
                await callers.ended()
                assert callers.check() == {"ok": RUNS}
                assert all(run.answer is not None for run in callers.asked if not run.detached)
                for run in [run for run in callers.asked if run.detached and run.principal != "cem"]:
                    async with httpx.AsyncClient(timeout=PATIENCE_SECONDS) as http:
                        found = await http.get(f"{server.url}/v1/runs/{run.run_id}", headers=bearer(new))
                    assert found.status_code == (200 if run.principal == "ann" else 404)


class Elsewhere:
    """Another host, which publishes other keys to whoever is sent there."""

    def __init__(self, issuer: Issuer) -> None:
        self._issuer = issuer

    def __call__(self, handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", f"{self._issuer.address}/keys")
        handler.end_headers()


def html(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html")
    handler.end_headers()
    handler.wfile.write(b"<!doctype html><title>Sign in</title>" * 100)


def endless(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b" " * 65536)
    except OSError:  # the server has heard enough
        return


def published(**keys: Any) -> dict[str, Any]:
    return {"keys": [value | {"kid": name} for name, value in keys.items()]}


SECRET = {"kty": "oct", "k": "c2VjcmV0LXRoYXQtZXZlcnlib2R5LWtub3dzLWFueXdheQ", "alg": "HS256"}
LIES = {
    "html": html,
    "endless": endless,
    "other keys": published(rsa=_jwk(OTHER_RSA)),
    "another kind of key": published(rsa=_jwk(EC)),
    "a key of another algorithm": published(rsa=_jwk(OTHER_RSA) | {"alg": "ES256"}),
    "a secret as a key": published(rsa=SECRET),
    "no usable number": published(rsa={"kty": "RSA", "n": "AQAB", "e": "AA"}),
    "a private key": published(rsa=jwt.algorithms.RSAAlgorithm.to_jwk(OTHER_RSA, as_dict=True)),
    "a huge number": published(rsa={"kty": "RSA", "n": "_" * 500_000, "e": "AQAB"}),
    "odd ids": {"keys": [_jwk(OTHER_RSA) | {"kid": ["rsa"]}, _jwk(EC) | {"kid": {"a": 1}}]},
    "deep": b'{"keys":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
}


@pytest.mark.parametrize("lie", [*LIES, "elsewhere"])
async def test_whatever_an_issuer_publishes_nobody_gets_in_with_it_but_whom_it_names(lie: str) -> None:
    with issuing() as issuer, issuing() as other:
        other.keys = {"rsa": OTHER_RSA}
        issuer.answers["/keys"] = Elsewhere(other) if lie == "elsewhere" else LIES[lie]
        tokens = [issuer.token(), issuer.token(key="s" * 64, algorithm="HS256"), issuer.token("ec", key=OTHER_EC)]
        async with authenticator_of(issuer) as made:
            answers = await asyncio.gather(*(refusal(made, token) for token in tokens * 30))
            assert set(answers) <= {401, 503}
            if lie == "other keys":  # then it is the issuer's, and its old one is no longer valid
                assert (await made.identify([f"Bearer {issuer.token(key=OTHER_RSA)}"])).principal == "jwt:ann"
            else:
                assert await refusal(made, issuer.token(key=OTHER_RSA)) in (401, 503)
        assert other.fetches == 0


async def refusal(made: Authenticator, token: str) -> int:
    with pytest.raises(Unauthorized) as refused:
        await made.identify([f"Bearer {token}"])
    assert str(refused.value)
    return refused.value.status


async def test_a_slow_issuer_delays_nobody_whose_key_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    answers, asked = threading.Event(), threading.Event()

    def slow(handler: BaseHTTPRequestHandler) -> None:
        asked.set()
        answers.wait(PATIENCE_SECONDS)
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(json.dumps(published(rsa=_jwk(OTHER_RSA))).encode())

    with issuing() as issuer:
        async with authenticator_of(issuer, jwks_url=f"{issuer.address}/keys") as made:
            assert (await made.identify([f"Bearer {issuer.token()}"])).principal == "jwt:ann"
            issuer.answers["/keys"] = slow
            for name in ("FRESH_SECONDS", "RETRY_SECONDS"):
                monkeypatch.setattr(jwt_issuer, name, 0.0)
            monkeypatch.setattr(jwt_issuer, "FETCH_SECONDS", float(PATIENCE_SECONDS))
            identities = await asyncio.gather(*(made.identify([f"Bearer {issuer.token()}"]) for _ in range(100)))
            assert {identity.principal for identity in identities} == {"jwt:ann"}
            assert asked.is_set()  # and it has not answered
            answers.set()
            monkeypatch.setattr(jwt_issuer, "REFRESH_SECONDS", float(PATIENCE_SECONDS))
            assert await refusal(made, issuer.token()) == 401  # what it said then counts


async def test_an_issuer_that_never_answers_delays_nobody_with_another_token_and_is_asked_once() -> None:
    ends, asked = threading.Event(), []

    def hang(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.path)
        ends.wait(PATIENCE_SECONDS)

    with issuing() as issuer:
        issuer.answers["/keys"] = hang
        async with authenticator_of(issuer, jwks_url=f"{issuer.address}/keys") as made:
            _, token = await made._tokens.add("bob")
            waiting = [asyncio.create_task(refusal(made, issuer.token(kid))) for kid in ("rsa", "ec") * 20]
            while not asked:
                await asyncio.sleep(0.01)
            assert (await made.identify([f"Bearer {token}"])).principal == "bob"
            assert not any(task.done() for task in waiting)
            assert set(await asyncio.gather(*waiting)) == {503}
            assert asked == ["/keys"]
            ends.set()


async def test_an_issuer_that_sends_a_byte_at_a_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jwt_issuer, "FETCH_SECONDS", 0.5)
    ends = threading.Event()

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        try:
            while not ends.wait(0.05):
                handler.wfile.write(b" ")
        except OSError:  # the server has waited enough
            return

    with issuing() as issuer:
        issuer.answers["/keys"] = drip
        async with authenticator_of(issuer, jwks_url=f"{issuer.address}/keys") as made:
            assert await refusal(made, issuer.token()) == 503
            ends.set()
