"""Turns definitions into MCP tools. A call of such a tool is a run.

arguments -> Face.parse -> FaceRequest -> create_run -> RunResult -> Face.render -> result
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from mcp_types import CallToolResult, Tool, ToolAnnotations

from paddock.definitions.definition import Definition
from paddock.definitions.faces import FaceRequest, FaceResponse, HostInfo, face_of
from paddock.definitions.validation import parse_saved
from paddock.engines import registry
from paddock.errors import BadDefinition, HostError, NotFound, Overloaded, PaddockError, StoreError
from paddock.model import envelope
from paddock.model.request import LOCAL
from paddock.server.images import scaled_images, with_copies
from paddock.server.runs import NOTHING_RUN, Run, create_run, get_run, is_failure, store_overflows
from paddock.server.sessions import Caller
from paddock.server.tool import ServerTool, json_result, to_result
from paddock.store.runs import StoredRun
from paddock.tools.size import run_by_size
from paddock.tools.upstream import CODE_TOOL

if TYPE_CHECKING:
    from paddock.server.services import Services
    from paddock.store.definitions import StoredDefinition, Version

    Versions = dict[tuple[str, str], Version]

WATCH_SECONDS = 1.0
"""How often the store is checked for definitions that another process saved."""
MAX_PRINCIPALS = 1000
"""How many principals' saved tools are kept ready. Those of others are made again when they are listed."""
log = logging.getLogger(__name__)
SavedNames = Collection[str] | Literal["all"]


def make_code_tool(services: Services, definition: Definition) -> ServerTool:
    """The tool that `definition` describes."""
    code_tool = _CodeTool(services, definition)
    spec = code_tool.face.describe(definition, code_tool.host)
    tool = Tool(
        name=definition.name,
        title=definition.title,
        description=spec.description,
        input_schema=spec.input_schema,
        output_schema=spec.output_schema,
        # A script can change and reach whatever its tools can.
        annotations=ToolAnnotations(
            read_only_hint=spec.is_read_only or None, destructive_hint=not spec.is_read_only, open_world_hint=True
        ),
        _meta={CODE_TOOL: True},
    )
    return ServerTool(tool, code_tool.call, code_tool.refuse, code_tool.face.normalize, spec.is_compact)


class _CodeTool:
    def __init__(self, services: Services, definition: Definition) -> None:
        self._services, self._definition = services, definition
        self.face = face_of(definition)
        self.host = HostInfo(services.config, registry.available(), services.has_tools, services.is_loopback)

    async def call(self, caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
        request = self.face.parse(self._definition, arguments, self.host)
        try:
            if request.lint:
                return await self._lint(caller, request)
            run = await create_run(self._services, caller, self._definition, request)
            if isinstance(run, StoredRun):
                run_id = run.id
                del run  # it may have megabytes, and waits for its turn
                if (summary := await get_run(self._services, caller, run_id)) is None:
                    raise NotFound(f"the run {run_id!r} was removed")
                return json_result(summary, is_error=is_failure(summary))
            if request.detach:
                run.detach()
                return json_result(run.state())
            return await self._wait(caller, request, run)
        except Overloaded as refusal:
            name, seconds = self._definition.name, refusal.retry_after_seconds
            return self.refuse(envelope.rate_limited(name, str(refusal), seconds, hints=[NOTHING_RUN]))

    async def _wait(self, caller: Caller, request: FaceRequest, run: Run) -> CallToolResult:
        """Return the result of the run as the face shows it."""
        try:
            result = await run.execute()
        except Overloaded:
            raise
        except PaddockError as fault:
            response = self.face.render_fault(request, fault)
            if isinstance(fault, HostError):
                self._services.log_fault(type(fault).__name__, fault)
            return to_result(self._without_host_paths(response))
        parts = {"output": result.output_json or "", "stdout": result.stdout, "stderr": result.stderr}
        max_bytes = self.face.overflow_bytes(self._services.config, result)
        overflows = await store_overflows(
            self._services, caller, run.id, parts, max_bytes, self.face.preview, as_json=self.face.stores_json
        )
        decoded = [*(each.content for each in result.outputs), *(each.arguments for each in result.calls)]
        decoded += [] if "output" in overflows else [result.output_json or ""]
        response = await run_by_size(decoded, self.face.render, self._definition, request, result, overflows)
        stored = [each.artifact for each in overflows.values() if each.artifact is not None]
        answer = to_result(response, (*result.artifacts, *stored))
        return with_copies(answer, scaled_images(caller, result))

    def _without_host_paths(self, response: FaceResponse) -> FaceResponse:
        hide = self._services.without_host_paths
        values = None if response.structured is None else json.loads(hide(json.dumps(response.structured)))
        return replace(response, text=None if response.text is None else hide(response.text), structured=values)

    def refuse(self, envelope: Mapping[str, Any]) -> CallToolResult:
        return to_result(self.face.render_refusal(envelope))

    async def _lint(self, caller: Caller, request: FaceRequest) -> CallToolResult:
        assert self.face.render_findings is not None  # noqa: S101  a face that parses `lint` has it
        mode, python = request.options.get("mode", "expression"), self._services.config.python_version()
        findings = await self._services.lint(caller, request.code, mode=mode, python=python)
        return to_result(self.face.render_findings(findings))


@dataclass(slots=True)
class _Offered:
    """The saved definitions of one principal, each with its tool, and their versions."""

    versions: dict[str, Version] = field(default_factory=dict)
    tools: list[tuple[Definition, ServerTool]] = field(default_factory=list)


class SavedTools:
    """The tools of saved definitions: all of them, or those with the given names. Each principal has its own."""

    def __init__(self, services: Services, names: SavedNames) -> None:
        self._services, self._names = services, names
        self._offered: OrderedDict[str, _Offered] = OrderedDict()  # least recently used first
        self._is_failing = False

    async def current(self, principal: str = LOCAL) -> list[tuple[Definition, ServerTool]]:
        """Return the definitions of a principal as they are in the store now, each with its tool."""
        if not self._names:
            return []
        offered = self._offered.setdefault(principal, _Offered())
        self._offered.move_to_end(principal)
        if len(self._offered) > MAX_PRINCIPALS:
            self._offered.popitem(last=False)
        await self._refresh(principal, offered)
        return offered.tools

    async def watch(self, known: Versions | None, changed: Callable[[set[str]], Awaitable[None]]) -> None:
        """Call `changed` whenever the offered definitions in the store no longer are those of `known`.

        It gets the principals whose definitions have changed. Runs until it is cancelled, or returns at once if no
        saved definition is offered.
        """
        while self._names:
            await asyncio.sleep(WATCH_SECONDS)
            versions = await self.versions()
            if versions is None:
                continue
            if known is not None and versions != known:
                await changed({principal for (principal, _), _ in known.items() ^ versions.items()})
            known = versions

    async def versions(self) -> Versions | None:
        """The versions of the offered definitions of all principals. None if the store fails, which is logged once."""
        if not self._names:
            return None
        try:
            versions = await self._services.all_definition_versions()
        except StoreError as problem:
            if not self._is_failing:
                self._services.log_fault("saved definitions cannot be watched now", problem)
            self._is_failing = True
            return None
        self._is_failing = False
        return {key: version for key, version in versions.items() if self._is_offered(key[1])}

    async def _refresh(self, principal: str, offered: _Offered) -> None:
        try:
            versions = await self._services.definition_versions(principal)
            if {name: each for name, each in versions.items() if self._is_offered(name)} == offered.versions:
                return
            stored = await self._services.store.definitions.list(principal)
        except StoreError as problem:
            self._services.log_fault("saved definitions could not be read", problem)
            return
        stored = [each for each in stored if self._is_offered(each.name)]
        tools = await asyncio.to_thread(self._make_tools, stored)  # megabytes of JSON
        offered.versions, offered.tools = {each.name: (each.version, each.created_at) for each in stored}, tools

    def _make_tools(self, stored: list[StoredDefinition]) -> list[tuple[Definition, ServerTool]]:
        tools = []
        for each in stored:
            try:
                definition = parse_saved(each.spec)
            except (BadDefinition, StoreError) as problem:
                log.warning("the definition %r is not offered: %s", each.name, problem)
                continue
            tools.append((definition, make_code_tool(self._services, definition)))
        return tools

    def _is_offered(self, name: str) -> bool:
        return self._names == "all" or name in self._names
