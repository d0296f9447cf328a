"""Routes of the REST API: a large body is parsed in a thread, so that other callers are served meanwhile."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute
from python_multipart.multipart import parse_options_header

from paddock.server.http import run_in_turn


class BodyRoute(APIRoute):
    """A route whose handler gets a request that parses its body this way."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_request(request: Request) -> Response:
            return await handle(_Request(request.scope, request.receive))

        return handle_request


class _Request(Request):
    async def json(self) -> Any:
        body = await self.body()
        return await run_in_turn(self, body, json.loads, body)

    def form(self, **limits: Any) -> Any:
        # Starlette decodes with any codec that the caller names: punycode takes hours for a few megabytes.
        kind, options = parse_options_header(self.headers.get("content-type"))
        if kind != b"multipart/form-data" or options.get(b"charset", b"utf-8").lower() != b"utf-8":
            raise HTTPException(400, "the body must be multipart/form-data in UTF-8")
        return super().form(**limits)
