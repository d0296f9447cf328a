"""The tools that scripts can call, over REST: list, search, read their stubs, call."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import PlainTextResponse

from paddock.model.request import RunContext
from paddock.server.call_watch import PrincipalCalls
from paddock.server.rest import problems
from paddock.server.rest.callers import get_caller
from paddock.server.rest.models import ArgumentsBody, ToolAnswerModel, ToolModel, UpstreamModel
from paddock.store.principals import new_call_id

if TYPE_CHECKING:
    from paddock.model.tools import Tool
    from paddock.server.services import Services


def make_router(services: Services) -> APIRouter:
    router = APIRouter(tags=["tools"])

    @router.get("/tools", response_model=list[ToolModel], responses=problems.responses(422))
    async def list_tools(
        request: Request,
        query: Annotated[str, Query(max_length=1000, description="Words to search for; default: all tools.")] = "",
        server: Annotated[list[str], Query(max_length=100)] = [],  # noqa: B006  never changed
        tag: Annotated[list[str], Query(max_length=100)] = [],  # noqa: B006
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> list[dict[str, Any]]:
        """List or search the tools that scripts can call, best first."""
        found = await services.paddock.search_tools(query, servers=server, tags=tag, limit=limit)
        return [_values(each) for each in found]

    @router.get("/tools/stubs", response_class=PlainTextResponse, responses=problems.responses(422))
    async def stubs(
        request: Request,
        name: Annotated[list[str] | None, Query(max_length=100)] = None,
        language: Literal["python", "typescript"] = "python",
    ) -> str:
        """Get typed declarations of the tools, as a `.pyi` or `.d.ts` file."""
        return await services.paddock.tool_stubs(name, language=language)

    @router.post("/tools/{name}/call", response_model=ToolAnswerModel, responses=problems.responses(400, 422))
    async def call(request: Request, name: str, body: ArgumentsBody) -> dict[str, Any]:
        """Call a tool as a script would. A failed call has `failed: true` and an error envelope as its value."""
        caller = await get_caller(services, request)
        call_id = new_call_id(caller.principal)
        services.allowances.check_call(caller.key)
        context = RunContext(
            call_id,
            services.artifacts.of(caller.owner),
            context=caller.context,
            call_watch=PrincipalCalls(services, caller, call_id, is_counted=True),
        )
        answer = await services.paddock.call_tool(name, body.arguments, context=context)
        return {"value": answer.value, "failed": answer.failed}

    @router.get("/servers", response_model=list[UpstreamModel], responses=problems.responses())
    async def servers(request: Request) -> list[dict[str, Any]]:
        """List the MCP servers behind the tools, with their health."""
        return [{"name": name, **asdict(health)} for name, health in services.paddock.upstreams().items()]

    return router


def _values(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.full_name,
        "server": tool.server,
        "title": tool.title,
        "description": tool.description,
        "tags": list(tool.tags),
        "input_schema": dict(tool.input_schema),
        "output_schema": None if tool.output_schema is None else dict(tool.output_schema),
        "hints": asdict(tool.hints),
    }
