"""The tools that scripts can call, over REST: list, search, read their stubs, call."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import PlainTextResponse
from pydantic_core import to_json

from paddock.errors import UnknownTool
from paddock.model.request import RunContext
from paddock.server.allowances import PrincipalCalls
from paddock.server.http import received
from paddock.server.rest import problems
from paddock.server.rest.models import ArgumentsBody, ToolAnswerModel, ToolModel, UpstreamModel
from paddock.server.rest.routes import BodyRoute, get_caller
from paddock.store.principals import new_call_id
from paddock.tools.policy import parse

if TYPE_CHECKING:
    from paddock.model.tools import Tool
    from paddock.server.services import Services
    from paddock.tools.policy import Rule

MAX_TOOLS = 10_000


def make_router(services: Services) -> APIRouter:
    router = APIRouter(tags=["tools"], route_class=BodyRoute)

    async def names_of(ids: list[str]) -> list[str]:
        known: dict[str, list[str]] = {}
        for tool in await services.paddock.tools():
            known.setdefault(tool.id, []).append(tool.full_name)
        for each in ids:
            if each not in known:
                raise UnknownTool(f"there is no tool with the id {each!r}")
        return [name for each in ids for name in known[each]]

    @router.get("/tools", response_model=list[ToolModel], responses=problems.responses(422))
    async def list_tools(
        request: Request,
        query: Annotated[str | None, Query(max_length=1000, description="Words to search for.")] = None,
        server: Annotated[list[str], Query(max_length=100)] = [],  # noqa: B006  never changed
        tag: Annotated[list[str], Query(max_length=100)] = [],  # noqa: B006
        limit: Annotated[int, Query(ge=1, le=MAX_TOOLS)] = 100,
    ) -> Response:
        """List the tools that scripts can call. With `query` or `tag`, search them: the best match is first."""

        async def list_json() -> bytes:
            if query is None and not tag:
                found = (await services.paddock.tools(servers=server))[:limit]
            else:
                found = await services.paddock.search_tools(query or "", servers=server, tags=tag, limit=limit)
            rules = parse(services.config.tools.policy)  # now, because a reload may change it
            # Thousands of tools have megabytes of schemas.
            return await asyncio.to_thread(lambda: to_json([_values(each, rules.decide(each)) for each in found]))

        listed = await services.in_turn(await get_caller(services, request), list_json)
        return Response(listed, media_type="application/json")

    @router.get("/tools/stubs", response_class=PlainTextResponse, responses=problems.responses(422))
    async def stubs(
        request: Request,
        name: Annotated[list[str] | None, Query(max_length=100, description="A tool. Default: all tools.")] = None,
        id: Annotated[list[str] | None, Query(max_length=100, description="A tool's id.")] = None,  # noqa: A002
        language: Literal["python", "typescript"] = "python",
        whole: Annotated[bool, Query(description="Also declare what every script has, such as `call_tool`.")] = True,
    ) -> str:
        """Get typed declarations of the tools, as a `.pyi` or `.d.ts` file."""
        names = None if name is None and id is None else [*(name or ()), *(await names_of(id) if id else ())]
        work = partial(services.paddock.tool_stubs, names, language=language, whole=whole)
        return await services.in_turn(await get_caller(services, request), work)

    @router.post("/tools/{name:path}/call", response_model=ToolAnswerModel, responses=problems.responses(400, 404, 422))
    async def call(request: Request, name: str, body: ArgumentsBody) -> Response:
        """Call a tool as a script would. A failed call has `failed: true` and an error envelope as its value."""
        caller = await get_caller(services, request)
        services.allowances.check_call(caller.key)
        call_id = new_call_id(caller.principal)
        context = RunContext(
            call_id,
            services.artifacts.of(caller.owner, call_id),
            context=caller.context.for_run({}),
            principal=caller.principal,
            call_watch=PrincipalCalls(services, caller, call_id, is_counted=True),
        )
        async with services.work(caller, is_run=False):  # counted as a call
            answer = await services.paddock.call_tool(name, body.arguments, context=context)
        failed = "true" if answer.failed else "false"
        text = f'{{"value":{answer.json},"failed":{failed}}}'
        return Response(text.encode(errors="replace"), media_type="application/json")  # it may have a lone surrogate

    @router.get("/servers", response_model=list[UpstreamModel], responses=problems.responses())
    async def servers(request: Request) -> list[dict[str, Any]]:
        """List the MCP servers behind the tools, with their health. Only operators see how each is reached."""
        known = received(request)
        is_operator = known is not None and known.identity.role == "operator"
        listed = []
        for name, health in (await services.paddock.upstreams()).items():
            values = {"name": name, **asdict(health)}
            if not is_operator:  # a command has paths of this host, and an error may quote what its process printed
                values |= {"endpoint": "", "error": services.without_host_paths(health.error)}
            listed.append(values)
        return listed

    return router


def _values(tool: Tool, rule: Rule | None) -> dict[str, Any]:
    return tool.to_dict() | {
        "input_schema": dict(tool.input_schema),
        "output_schema": None if tool.output_schema is None else dict(tool.output_schema),
        "policy": {"action": "allow", "rule": None} if rule is None else {"action": rule.action, "rule": str(rule)},
    }
