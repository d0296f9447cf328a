"""What this server can do, and the caller's context, over REST."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request

from paddock import __version__
from paddock.doctor import diagnose
from paddock.jail.environments import configured, ready
from paddock.planning.plan import ENGINE_LANGUAGE
from paddock.server.rest import problems
from paddock.server.rest.models import ContextBody, DoctorModel, EngineModel, EnvironmentModel, HealthModel
from paddock.server.rest.routes import BodyRoute, get_caller
from paddock.server.session_tools import check_connections, check_fields

if TYPE_CHECKING:
    from paddock.config import Config
    from paddock.server.readiness import Readiness
    from paddock.server.services import Services
    from paddock.server.sessions import Caller


DIAGNOSIS_SECONDS = 60.0


def make_router(services: Services, readiness: Readiness) -> APIRouter:
    router = APIRouter(tags=["server"], route_class=BodyRoute)
    diagnosis = _Diagnosis(services.config)

    @router.get("/context", response_model=ContextBody, responses=problems.responses())
    async def get_context(request: Request) -> dict[str, Any]:
        """Get the values that the server adds to your tool calls."""
        return _context(await get_caller(services, request))

    @router.put("/context", response_model=ContextBody, responses=problems.responses(400, 422))
    async def set_context(request: Request, body: ContextBody) -> dict[str, Any]:
        """Replace the values that the server adds to your tool calls."""
        caller = await get_caller(services, request)
        values = check_fields(services, body.values)
        connections = check_connections(services, body.connections)
        context = caller.context
        context.values.clear()
        context.connections.clear()
        context.values.update(values)
        context.connections.update(connections)
        await services.record_session(caller)
        return _context(caller)

    @router.delete("/context", status_code=204, responses=problems.responses())
    async def clear_context(request: Request) -> None:
        """Remove the values that the server adds to your tool calls."""
        caller = await get_caller(services, request)
        caller.context.values.clear()
        caller.context.connections.clear()
        await services.record_session(caller)

    @router.get("/engines", response_model=list[EngineModel], responses=problems.responses())
    async def engines(request: Request) -> list[dict[str, Any]]:
        """List the engines, and whether each works here."""
        problem_of = services.paddock.engine_problem
        return [
            {
                "name": name,
                "language": language,
                "available": (problem := await problem_of(name)) is None,
                "problem": None if problem is None else services.without_host_paths(problem),
            }
            for name, language in ENGINE_LANGUAGE.items()
        ]

    @router.get("/environments", response_model=list[EnvironmentModel], responses=problems.responses())
    async def environments(request: Request) -> list[dict[str, Any]]:
        """List the environments that scripts run in."""
        folder = services.config.data_directory
        return [
            {
                "name": name,
                "packages": list(each.all_packages()),
                "preload": list(each.preload),
                "built": ready(configured(services.config, name), folder) is not None,
            }
            for name, each in services.config.environments.items()
        ]

    @router.get("/health", response_model=HealthModel, responses=problems.responses())
    async def health(request: Request) -> dict[str, Any]:
        """Tell whether the server can do its work, and how busy it is."""
        found = await readiness.problems()
        queue = services.queue
        return {
            "ready": not found,
            "version": __version__,
            "problems": [services.without_host_paths(each) for each in found or await readiness.warnings()],
            "queued": queue.waiting,
            "running": queue.running,
        }

    @router.get("/doctor", response_model=DoctorModel, responses=problems.responses())
    async def doctor(request: Request) -> dict[str, Any]:
        """Find out what works on the server's machine by starting every engine. The answer is kept for a minute."""
        text = json.dumps(await diagnosis.get())
        found: dict[str, Any] = json.loads(services.without_host_paths(text))
        return found

    return router


class _Diagnosis:
    """What `paddock doctor` finds. However many callers ask, the engines are tried once a minute at most."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._task: asyncio.Task[dict[str, Any]] | None = None
        self._found_at = -DIAGNOSIS_SECONDS

    async def get(self) -> dict[str, Any]:
        is_old = time.monotonic() - self._found_at > DIAGNOSIS_SECONDS
        if self._task is None or (self._task.done() and is_old):
            self._task = asyncio.create_task(self._diagnose())
        return await asyncio.shield(self._task)  # it goes on if the caller is gone

    async def _diagnose(self) -> dict[str, Any]:
        found = await diagnose(self._config)
        self._found_at = time.monotonic()
        return found


def _context(caller: Caller) -> dict[str, Any]:
    return {"values": dict(caller.context.values), "connections": dict(caller.context.connections)}
