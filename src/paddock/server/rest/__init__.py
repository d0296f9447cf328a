"""The REST API under `/v1`: runs, sessions, artifacts, definitions, tools, and what this server can do.

A caller sees only what belongs to its principal. Anything else does not exist for it (404).
"""

from __future__ import annotations

import asyncio
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.responses import JSONResponse
from fastapi.telemetry import TelemetryConfig

from paddock import __version__
from paddock.server.rest import artifacts, definitions, examples, host, logins, problems, runs, sessions, tools
from paddock.server.rest.models import Problem

if TYPE_CHECKING:
    from starlette.requests import Request

    from paddock.server.readiness import Readiness
    from paddock.server.services import Services

PREFIX = "/v1"
_NO_TELEMETRY: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False}
"""FastAPI's own spans have the words that a caller searches for, and send a caller's baggage on to upstreams."""
DESCRIPTION = "Run code in a sandbox: Python, JavaScript, TypeScript. Errors are `application/problem+json`."


def make_rest(services: Services, readiness: Readiness) -> FastAPI:
    """Return the application. Its OpenAPI document is at `/openapi.json`; there are no HTML pages."""
    app = FastAPI(
        title="Paddock",
        version=__version__,
        description=DESCRIPTION,
        openapi_url=None,
        telemetry=_NO_TELEMETRY,
        redirect_slashes=False,  # behind a TLS proxy, a redirect would send the token unencrypted
    )
    for module in (runs, sessions, artifacts, definitions, tools, logins):
        app.include_router(module.make_router(services), prefix=PREFIX)
    app.include_router(host.make_router(services, readiness), prefix=PREFIX)
    problems.install(app, services)
    _complete_document(app)

    async def show_document(request: Request) -> JSONResponse:
        return JSONResponse(await asyncio.to_thread(app.openapi))  # building it takes a third of a second, once

    app.add_route("/openapi.json", show_document)
    return app


def _complete_document(app: FastAPI) -> None:
    """Add examples to the OpenAPI document, and replace FastAPI's validation errors by the problems that are sent."""
    make_openapi = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = make_openapi()
            schemas = document["components"]["schemas"]
            schemas.pop("HTTPValidationError", None)
            schemas.pop("ValidationError", None)
            schemas["Problem"] = Problem.model_json_schema()
            document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            document["security"] = [{}, {"token": []}]
            for path in document["paths"].values():
                for operation in path.values():
                    operation["responses"] |= _problems(operation["responses"])
            examples.add(document)
        return app.openapi_schema or {}

    app.openapi = openapi  # type: ignore[method-assign]


def _problems(responses: dict[str, Any]) -> dict[str, Any]:
    return {
        status: {**deepcopy(problems.SCHEMA), "description": described["description"]}
        for status, described in responses.items()
        if int(status) >= 400
    }
