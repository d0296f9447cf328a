"""Definitions over REST: save, validate, try, list, delete."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response

from paddock.definitions.definition import SHIPPED, shipped
from paddock.definitions.validation import DEFINITION_BYTES, parse_saved, validate
from paddock.errors import BadDefinition, NotFound
from paddock.server.code_tools import make_code_tool
from paddock.server.http import run_in_turn
from paddock.server.rest import problems
from paddock.server.rest.models import (
    AnswerModel,
    ArgumentsBody,
    DefinitionBody,
    DefinitionModel,
    SavedDefinitionModel,
    ValidatedModel,
    VersionModel,
)
from paddock.server.rest.routes import BodyRoute, get_caller
from paddock.server.rest.runs import json_response
from paddock.tools.size import is_larger

if TYPE_CHECKING:
    from paddock.server.services import Services
    from paddock.server.sessions import Caller
    from paddock.store.definitions import StoredDefinition

MAX_DEFINITIONS, TOTAL_BYTES = 200, 4 * 1024 * 1024
"""How many definitions a principal may have, and how large together. Lists are not paged."""


def make_router(services: Services) -> APIRouter:
    router = APIRouter(tags=["definitions"], route_class=BodyRoute)

    async def check(caller: Caller, values: dict[str, Any]) -> tuple[str, ...]:
        saved = await services.store.definitions.list(caller.principal)
        _check_room(values, saved)
        others = [each.name for each in saved]
        async with services.work(caller):
            checking = partial(validate, values, services.paddock, services.config, others)
            checked = await services.in_turn(caller, checking)
        return checked.warnings

    async def find(principal: str, name: str) -> StoredDefinition:
        saved = {each.name: each for each in await services.store.definitions.list(principal)}
        if name not in saved:
            raise NotFound(f"there is no definition {name[:100]!r}")
        return saved[name]

    @router.get("/definitions", response_model=list[DefinitionModel], responses=problems.responses())
    async def list_definitions(request: Request) -> Response:
        """List the definitions that come with Paddock, and those that you have saved."""
        caller = await get_caller(services, request)
        saved = await services.store.definitions.list(caller.principal)
        return await json_response([*map(_shipped, SHIPPED), *map(_saved, saved)])

    @router.get("/definitions/{name}", response_model=DefinitionModel, responses=problems.responses(404))
    async def get(request: Request, name: str) -> Response:
        """Get a definition, saved or shipped."""
        caller = await get_caller(services, request)
        return await json_response(_shipped(name) if name in SHIPPED else _saved(await find(caller.principal, name)))

    @router.get("/definitions/{name}/versions", response_model=list[VersionModel], responses=problems.responses(404))
    async def versions(request: Request, name: str) -> Response:
        """List every stored version of a definition that you have saved, newest first, even after its removal."""
        caller = await get_caller(services, request)
        found = await services.store.definitions.history(caller.principal, name)
        if not found:
            raise NotFound(f"there is no definition {name[:100]!r}")
        values = [{**_saved(each), "is_current": each.is_current, "removed_at": each.removed_at} for each in found]
        return await json_response(values)

    @router.put("/definitions/{name}", response_model=SavedDefinitionModel, responses=problems.responses(400, 404, 422))
    async def save(request: Request, name: str, body: DefinitionBody) -> Response:
        """Check a definition and save it. A bad one is refused, and the old one stays."""
        caller = await get_caller(services, request)
        values = _values(body, name)
        warnings = await check(caller, values)
        stored = await services.store.definitions.save(caller.principal, name, values)
        services.audit.record("definition.saved", principal=caller.principal, name=name, version=stored.version)
        return await json_response({**_saved(stored), "warnings": warnings})

    @router.delete("/definitions/{name}", status_code=204, responses=problems.responses(404))
    async def delete(request: Request, name: str) -> None:
        """Delete a definition."""
        caller = await get_caller(services, request)
        if not await services.store.definitions.remove(caller.principal, name):
            raise NotFound(f"there is no definition {name[:100]!r}")
        services.audit.record("definition.removed", principal=caller.principal, name=name)

    @router.post("/definitions/validate", response_model=ValidatedModel, responses=problems.responses(400, 422))
    async def validate_definition(request: Request, body: DefinitionBody) -> dict[str, Any]:
        """Check a definition without saving it."""
        caller = await get_caller(services, request)
        return {"warnings": await check(caller, _values(body, body.name))}

    @router.post("/definitions/{name}/try", response_model=AnswerModel, responses=problems.responses(400, 404, 422))
    async def try_definition(request: Request, name: str, body: ArgumentsBody) -> Response:
        """Call a code tool, saved or shipped, and return what an MCP client would get."""
        caller = await get_caller(services, request)
        definition = shipped(name) if name in SHIPPED else parse_saved((await find(caller.principal, name)).spec)
        tool = make_code_tool(services, definition)
        arguments, _, problem = await run_in_turn(request, body.arguments, tool.check, tool.normalize(body.arguments))
        result = tool.refuse(problem) if problem is not None else await tool.call(caller, arguments)
        text = await asyncio.to_thread(result.model_dump_json, by_alias=True, exclude_none=True)
        return Response(text, media_type="application/json")

    return router


def _check_room(values: dict[str, Any], saved: list[StoredDefinition]) -> None:
    others = [each for each in saved if each.name != values["name"]]
    if len(others) >= MAX_DEFINITIONS:
        raise BadDefinition(f"you have {len(others)} definitions, and cannot have more: delete one first")
    room = TOTAL_BYTES - sum(len(each.spec_json) for each in others)
    if room < DEFINITION_BYTES and is_larger(values, room):  # a larger one is refused anyway
        raise BadDefinition(f"your definitions would be larger than {TOTAL_BYTES >> 20} MB together: delete one first")


def _saved(stored: StoredDefinition) -> dict[str, Any]:
    import msgspec

    spec = msgspec.Raw(stored.spec_json.encode())  # not parsed: all versions together are many megabytes
    return {"name": stored.name, "version": stored.version, "created_at": stored.created_at, "spec": spec}


def _shipped(name: str) -> dict[str, Any]:
    return {"name": name, "version": None, "created_at": None, "spec": asdict(shipped(name))}


def _values(body: DefinitionBody, name: str | None) -> dict[str, Any]:
    if body.name not in (None, name):
        raise BadDefinition(f"the body names the definition {body.name!r}, the path {name!r}")
    # Not `model_dump`, which copies every value inside.
    given = {field: value for field in DefinitionBody.model_fields if (value := getattr(body, field)) is not None}
    return {**given, "name": name}
