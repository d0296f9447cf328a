"""Errors of the REST API: one shape for all of them, `application/problem+json` (RFC 9457)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException

from paddock.errors import HostError, Overloaded, PaddockError
from paddock.model import envelope
from paddock.server.rest.models import Problem

if TYPE_CHECKING:
    from fastapi import FastAPI, Request

    from paddock.server.services import Services

MEDIA_TYPE = "application/problem+json"
UNKNOWN_PATH = "UnknownPath"
"""The `error` of a request for a path that this version does not have."""
SCHEMA = {"content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
_MEANINGS = {
    400: "The request is not JSON.",
    401: "A token is missing or not valid.",
    403: "The token does not allow this.",
    404: "There is no such thing, or it belongs to somebody else.",
    408: "The request did not arrive in time.",
    413: "The request is too large.",
    416: "The range is outside of the artifact.",
    421: "The Host header does not name this server.",
    422: "The request cannot be carried out as it is. `detail` says what to change.",
    429: "Too many requests. `Retry-After` says when to try again.",
    503: "The server cannot do this now.",
}


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe the errors of an operation: these, and those of requests that are refused before they are read."""
    return {each: {"description": _MEANINGS[each], **SCHEMA} for each in (401, 403, 408, 413, 421, 429, 503, *statuses)}


def problem(
    status: int,
    detail: str,
    error: str,
    *,
    failure: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Return an error as a response."""
    body = _problem(status, detail, error, failure)
    return JSONResponse(body.model_dump(), status, headers, MEDIA_TYPE)


def describe(services: Services, error: PaddockError) -> Problem:
    """Return an error of the library as a problem, and log it if it is the host's fault."""
    text, failure = services.without_host_paths(str(error)), None
    if isinstance(error, Overloaded):
        hints = ["Nothing was run or called. Wait for retry_after_seconds, then try again."]
        failure = envelope.rate_limited("run", text, error.retry_after_seconds, hints=hints)
    elif isinstance(error, HostError):
        services.log_fault(type(error).__name__, error)
    return _problem(error.http_status, text, type(error).__name__, failure)


def _problem(status: int, detail: str, error: str, failure: Mapping[str, Any] | None) -> Problem:
    title = HTTPStatus(status).phrase
    return Problem(
        title=title, status=status, detail=detail, error=error, envelope=None if failure is None else dict(failure)
    )


def install(app: FastAPI, services: Services) -> None:
    """Make `app` answer every error with a problem."""

    async def on_paddock_error(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, PaddockError)  # noqa: S101  registered for it
        body = describe(services, error)
        seconds = error.retry_after_seconds if isinstance(error, Overloaded) else 0
        headers = {"Retry-After": str(math.ceil(seconds))} if seconds else None
        return JSONResponse(body.model_dump(), body.status, headers, MEDIA_TYPE)

    async def on_invalid(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)  # noqa: S101  registered for it
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        detail = f"{where}: {first['msg']}" if where else str(first["msg"])
        if first["type"] in ("model_attributes_type", "model_type") and not where:
            detail = "the body must be a JSON object, sent with `Content-Type: application/json`"
        elif "Expected UploadFile" in detail:
            detail = f"{where}: this part of the form must be a file, with a file name"
        status = 400 if first["type"] == "json_invalid" else 422
        return problem(status, detail[:2000], "InvalidRequest")

    async def on_http_error(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)  # noqa: S101  registered for it
        headers, name, detail = dict(error.headers or {}), "Refused", str(error.detail)
        if error.status_code == HTTPStatus.NOT_FOUND:
            name, detail = UNKNOWN_PATH, f"there is no {request.url.path[:200]}; /openapi.json describes every path"
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            # Several routes may share a path, and the error knows only the methods of the first.
            routes = list(iter_route_contexts(app.routes))
            matched = [each.path or "" for each in routes if each.path_regex.match(request.scope["path"])]
            path = min(matched, key=lambda path: path.count("{"))
            methods = {method for each in routes if each.path == path for method in each.methods or ()}
            headers["Allow"] = ", ".join(sorted(methods))
            detail = f"{path} has no {request.method}; it has {headers['Allow']}"
        return problem(error.status_code, detail, name, headers=headers)

    async def on_fault(request: Request, error: Exception) -> JSONResponse:
        return problem(500, "The server failed. Its log says why.", "InternalError")

    app.add_exception_handler(Exception, on_fault)  # Starlette logs it too
    app.add_exception_handler(PaddockError, on_paddock_error)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(HTTPException, on_http_error)
