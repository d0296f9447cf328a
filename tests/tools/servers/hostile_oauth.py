"""A protected MCP server and an authorization server that misbehave: `python hostile_oauth.py RECORD`.

Prints its address. How it misbehaves is the first part of the path: the MCP server of `/huge_token` is
`/huge_token/mcp`. Another listener, which plays another host, writes what it receives to the file RECORD.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

RECORD = Path(sys.argv[1])
MEGABYTE = b"x" * 2**20
COMPRESSED = gzip.compress(MEGABYTE * 100, 1)  # before anybody waits for it
TOKEN = "access-" + "a" * 32
base = other = ""


async def huge() -> AsyncIterator[bytes]:
    for _ in range(100):
        yield MEGABYTE


async def endless() -> AsyncIterator[bytes]:
    while True:
        yield b" "
        await asyncio.sleep(0.01)


def spoilt(kind: str, step: str, good: Response) -> Response:
    """The answer of one step of the login, spoilt if that is what `kind` says."""
    way, _, spoils = kind.partition("_")
    if spoils != step:
        return good
    ways: dict[str, Callable[[], Response]] = {
        "huge": lambda: StreamingResponse(huge(), good.status_code, media_type="application/json"),
        "endless": lambda: StreamingResponse(endless(), good.status_code, media_type="application/json"),
        "compressed": lambda: Response(COMPRESSED, headers={"content-encoding": "gzip"}),
        "deep": lambda: Response(b"[" * 50_000, media_type="application/json"),
        "missing": lambda: PlainTextResponse("no", 404),
        "binary": lambda: Response(b"\xff\xfe\x00", 500),
        "redirected": lambda: RedirectResponse(f"{other}/{step}", 307),
        "circular": lambda: RedirectResponse(f"{base}/{kind}/{step}", 307),
    }
    return ways[way]() if way in ways else good


def challenge(request: Request) -> Response:
    kind = request.path_params["kind"]
    headers = {"www-authenticate": f'Bearer resource_metadata="{base}/{kind}/resource"'}
    if kind == "elsewhere_resource":
        headers = {"www-authenticate": 'Bearer resource_metadata="http://192.0.2.1/resource"'}
    refusal = spoilt(kind, "challenge", PlainTextResponse("no", 401))
    refusal.headers.update(headers)
    is_logged_in = request.headers.get("authorization") == f"Bearer {TOKEN}" and kind != "refused"
    return PlainTextResponse("yes") if is_logged_in else refusal


def resource(request: Request) -> Response:
    kind = request.path_params["kind"]
    issuer = "http://192.0.2.1/issuer" if kind == "unencrypted_issuer" else f"{base}/{kind}"
    url = "https://bank.example/mcp" if kind == "foreign_resource" else f"{base}/{kind}/mcp"
    return spoilt(kind, "resource", JSONResponse({"resource": url, "authorization_servers": [issuer]}))


def metadata(request: Request) -> Response:
    kind = request.path_params["kind"]
    values: dict[str, Any] = {
        "issuer": "https://bank.example" if kind == "foreign_issuer" else f"{base}/{kind}",
        "authorization_endpoint": f"{base}/{kind}/authorize",
        "token_endpoint": f"{base}/{kind}/token",
        "registration_endpoint": f"{base}/{kind}/register",
        "code_challenge_methods_supported": ["S256"],
    }
    lies: dict[str, dict[str, Any]] = {
        "file_address": {"authorization_endpoint": "file:///etc/passwd"},
        "unencrypted_address": {"authorization_endpoint": "http://192.0.2.1/authorize"},
        "unencrypted_token": {"token_endpoint": "http://192.0.2.1/token"},
        "missing_iss": {"authorization_response_iss_parameter_supported": True},
    }
    return spoilt(kind, "metadata", JSONResponse({**values, **lies.get(kind, {})}))


async def register(request: Request) -> Response:
    kind = request.path_params["kind"]
    given = await request.json()
    if kind == "refused_registration":
        return JSONResponse({"error": "access_denied", "error_description": "\x1b[31mno"}, 403)
    return spoilt(kind, "registration", JSONResponse({**given, "client_id": "c", "client_secret": "s" * 20}, 201))


def authorize(request: Request) -> Response:
    kind, given = request.path_params["kind"], request.query_params
    iss = {"foreign_iss": "&iss=https://bank.example"}.get(kind, "")
    state = "wrong" if kind == "wrong_state" else given["state"]
    return RedirectResponse(f"{given['redirect_uri']}?code=code-1234567890&state={state}{iss}")


async def token(request: Request) -> Response:
    kind = request.path_params["kind"]
    given = (await request.body()).decode()
    if kind == "echoing_token":
        return JSONResponse({"error": "invalid_request", "error_description": given}, 400)
    text = {"split_token": f"{TOKEN}\r\nx-evil: 1", "blank_token": "", "long_token": "x" * 20_000}.get(kind, TOKEN)
    lifetime: Any = {"eternal": 10**300, "negative": -(10**300)}.get(kind, 3600)
    good = {"access_token": text, "token_type": "Bearer", "expires_in": lifetime}
    return spoilt(kind, "token", Response(json.dumps(good), media_type="application/json"))


async def elsewhere(request: Request) -> Response:
    with RECORD.open("a") as file:
        file.write(f"{request.url.path} {(await request.body()).decode()}\n")
    return JSONResponse({"access_token": TOKEN, "token_type": "Bearer"})


async def main() -> None:
    global base, other
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    base, other = (f"http://127.0.0.1:{listener.getsockname()[1]}" for listener in listeners)
    hostile = Starlette(
        routes=[
            Route("/{kind}/mcp", challenge, methods=["GET", "POST"]),
            Route("/{kind}/resource", resource),
            Route("/.well-known/oauth-authorization-server/{kind}", metadata),
            Route("/{kind}/metadata", metadata),
            Route("/{kind}/register", register, methods=["POST"]),
            Route("/{kind}/authorize", authorize),
            Route("/{kind}/token", token, methods=["POST"]),
        ]
    )
    another = Starlette(routes=[Route("/{path:path}", elsewhere, methods=["GET", "POST"])])
    print(base, flush=True)
    running = [uvicorn.Server(uvicorn.Config(app, log_level="critical")) for app in (hostile, another)]
    await asyncio.gather(*(each.serve([listener]) for each, listener in zip(running, listeners, strict=True)))


if __name__ == "__main__":
    asyncio.run(main())
