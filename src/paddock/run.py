"""The path of a run, and `Paddock`, the library's front door.

request -> plan -> execution (engine) <-> answering (broker, keeping) -> result
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Unpack

from paddock.answering import Answering
from paddock.config import Config
from paddock.engines import registry
from paddock.errors import ConfigError, EngineUnavailable, RequestError
from paddock.holding import Held, Watch
from paddock.keeping import Keeping
from paddock.model.events import Answer, Done, Event, Finished, Progress
from paddock.model.request import Request, RunContext, RunOptions, make_request, make_tool_call
from paddock.model.result import RunError, RunResult, Verdict
from paddock.planning.plan import Plan, elsewhere, make_plan, may_move
from paddock.planning.python_source import LONG_PARSE_BYTES
from paddock.record import Record, new_run_id
from paddock.store.memory import MemoryArtifacts
from paddock.tools.broker import Broker
from paddock.tools.functions import by_name
from paddock.tools.settings import toolbox_of
from paddock.tools.toolbox import Scope

if TYPE_CHECKING:
    from pathlib import Path

    from paddock.engines.base import Engine, Execution
    from paddock.model.artifacts import Artifacts
    from paddock.model.journal import Journal
    from paddock.model.tools import Tool
    from paddock.sync import Background
    from paddock.tools.health import Health
    from paddock.tools.injection import Injection


class Paddock:
    """Room to run code. Engines start on first use; leaving the block leaves nothing running."""

    def __init__(
        self,
        config: Config | None = None,
        *,
        tools: Iterable[Callable[..., Any]] = (),
        engines: Mapping[str, registry.Factory] | None = None,
        artifacts: Artifacts | None = None,
        journal: Journal | None = None,
        mcp_config: str | Path | None = None,
    ) -> None:
        if not isinstance(config, Config | None):
            raise ConfigError(
                f"config must be a paddock.Config, not {type(config).__name__}; Config.load() reads a file"
            )
        self._config = config or Config()
        self._functions = by_name(tools)
        self._mcp_config = mcp_config
        self._toolbox, self._rules = toolbox_of(self._config, self._functions, mcp_config)
        self._journal = journal or _memory_journal()
        self._factories = registry.available() if engines is None else engines
        self._artifacts: Artifacts = MemoryArtifacts() if artifacts is None else artifacts
        self._engines: dict[str, Engine] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._background: Background | None = None
        self._lock = threading.Lock()
        self.moves = 0
        """Runs that were begun on the light engine and had to move: each is a fault of what is thought to fit it."""

    async def run(self, code: str, **options: Unpack[RunOptions]) -> RunResult:
        """Run `code` and say how it ended. Raises only for a request that makes no sense, or a fault of the host."""
        return await self._run(make_request(code, options), None)

    async def follow(
        self, code: str, watch: Watch, *, within: RunContext | None = None, **options: Unpack[RunOptions]
    ) -> RunResult:
        """`run`, with `watch` told of everything as it happens; it must not block. Without the task of a stream."""
        return await self._run(make_request(code, options), watch, within)

    async def check(self, code: str, **options: Unpack[RunOptions]) -> RunError | None:
        """What `run` would refuse before the first line: syntax, and with `type_check` types. Nothing runs."""
        self._stay_in_one_loop()
        request = make_request(code, options)
        scope = await self._toolbox.scope(request.tools, request.code, request.language, request.inputs)
        plan = await self._plan(request, scope)
        record = Record(plan)
        problem = await self._type_problem(plan, scope) if _is_checked(plan) else None
        if problem is not None:
            record.add(problem)
        return None if problem is None and plan.refusal is None else record.result().error

    async def stream(
        self, code: str, *, within: RunContext | None = None, **options: Unpack[RunOptions]
    ) -> AsyncIterator[Event]:
        """The same run as it happens; the last event is `Done`. Leaving the stream ends the run."""
        events: asyncio.Queue[Event] = asyncio.Queue()
        running = asyncio.create_task(self._run(make_request(code, options), events.put_nowait, within))
        running.add_done_callback(lambda task: events.put_nowait(_END))
        try:
            while (event := await events.get()) is not _END:
                yield event
            await running
        finally:
            running.cancel()
            await asyncio.wait([running])

    def run_sync(self, code: str, **options: Unpack[RunOptions]) -> RunResult:
        """`run` for code without an event loop. The engines stay warm between calls, until `close`."""
        with self._lock:
            if self._background is None:
                from paddock.sync import Background

                self._background = Background(
                    lambda: Paddock(
                        self._config,
                        tools=[tool.function for tool in self._functions.values()],
                        engines=self._factories,
                        artifacts=self._artifacts,
                        journal=self._journal,
                        mcp_config=self._mcp_config,
                    )
                )
            background = self._background
        return background.run(code, options)

    async def read_artifact(self, ref: str) -> bytes:
        """The bytes of an artifact that a script made, by its id, its URL or its file name."""
        found = await self._artifacts.read(ref)
        if found is None:
            raise RequestError(f"there is no artifact {ref!r}; result.artifacts lists those that a run made")
        return found[1]

    async def tools(self, *, servers: Iterable[str] = ()) -> tuple[Tool, ...]:
        """What scripts may call now: all, or what the named servers offer. One that does not answer is left out."""
        self._stay_in_one_loop()
        return tuple(await self._toolbox.catalogue(servers))

    async def search_tools(
        self, query: str, *, tags: Collection[str] = (), servers: Iterable[str] = (), limit: int | None = 10
    ) -> tuple[Tool, ...]:
        """The tools that fit `query` best, best first."""
        self._stay_in_one_loop()
        catalogue = await self._toolbox.catalogue(servers)
        return await asyncio.to_thread(catalogue.search, query, tags=tags, limit=limit)

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        progress: Callable[[Progress], None] = lambda progress: None,
    ) -> Answer:
        """One call, made as a script would make it. A failed one is an answer too: its value is an error envelope."""
        self._stay_in_one_loop()
        call = make_tool_call(name, arguments)
        scope = await self._toolbox.scope_of(name)
        broker = self._broker(scope, 1, new_run_id(), Keeping(self._artifacts), progress)
        answer = await broker.answer(call)
        await broker.conclude(call.id)
        return answer

    async def tool_stubs(
        self, names: Iterable[str] | None = None, *, language: str = "python", whole: bool = True
    ) -> str:
        """A file that declares the tools with their types, of all or of those named: `.pyi`, or `.d.ts`.

        Not `whole`, it has the tools alone: what a model needs to read beside what it knows of every script.
        """
        self._stay_in_one_loop()
        return await self._toolbox.stubs(names, language, whole=whole)

    def redact(self, value: Any) -> Any:
        """JSON values without the secrets of the servers, and without what is named or looks like one."""
        from paddock.tools.redaction import redacted

        return redacted(value, self._toolbox.secrets)

    def redact_json(self, text: str) -> str:
        """The same for JSON text, quick where there is nothing to take out; empty where it cannot be read."""
        from paddock.tools.redaction import may_hold_secrets, redacted_json

        secrets = self._toolbox.secrets
        return redacted_json(text, secrets) if secrets or may_hold_secrets(text) else text

    @property
    def injection(self) -> Injection | None:
        """What is added to calls of upstream tools, by the configuration; None: nothing."""
        return self._toolbox.injection

    def upstreams(self) -> Mapping[str, Health]:
        """How each MCP server is, by its name. Nothing is connected for that."""
        return self._toolbox.health()

    async def _run(self, request: Request, watch: Watch | None, within: RunContext | None = None) -> RunResult:
        self._stay_in_one_loop()
        scope = await self._toolbox.scope(request.tools, request.code, request.language, request.inputs)
        if within is not None:
            scope.own, scope.context = within.tools, within.context or scope.context
        plan = await self._plan(request, scope)
        held = Held(watch)
        held.late = may_move(plan, engines=self._factories)
        for attempt in range(1, _ATTEMPTS + 1):
            record = await self._attempt(plan, scope, held, within)
            again = elsewhere(plan, record.finished, engines=self._factories)
            if again is None or held.has_left or attempt == _ATTEMPTS:
                break
            held.forget()
            self.moves += again.engine != plan.engine
            plan = again
        result = record.result()
        held(Done(result))
        held.release()
        return result

    async def _attempt(self, plan: Plan, scope: Scope, held: Held, within: RunContext | None) -> Record:
        record = Record(plan, within, scope.functions)
        if _is_checked(plan) and (problem := await self._type_problem(plan, scope)) is not None:
            record.add(problem)
        elif plan.engine is not None:
            keeping = Keeping((within and within.artifacts) or self._artifacts, held)
            engine = self._engine(plan.engine)
            seconds = plan.limits.wall_seconds + engine.grace_seconds
            broker = self._broker(scope, plan.limits.calls, record.run_id, keeping, held, seconds)
            async with engine.open(plan) as execution:
                record.start()
                try:
                    async with asyncio.timeout(seconds):
                        await self._execute(execution, broker, keeping, record, held)
                except TimeoutError:
                    record.end(Verdict.TIMEOUT)
            record.calls, record.artifacts = broker.calls(), keeping.artifacts()
            record.has_denied = broker.has_denied
        return record

    async def _execute(
        self, execution: Execution, broker: Broker, keeping: Keeping, record: Record, held: Held
    ) -> None:
        """Follow the guest to its end. What it asks for is answered meanwhile."""
        answering = Answering(execution, broker, keeping, held)
        try:
            async with aclosing(execution.feed(answering.begin)) as events:
                async for event in events:
                    shown = record.add(event)
                    if shown is not None:
                        held(shown)
                    if record.verdict is not None:
                        return
        finally:
            await answering.end()

    def _broker(
        self,
        scope: Scope,
        call_limit: int,
        run_id: str,
        keeping: Keeping,
        progress: Callable[[Progress], None],
        run_seconds: float = math.inf,
    ) -> Broker:
        return Broker(
            self._toolbox,
            scope,
            call_limit,
            run_id=run_id,
            journal=self._journal,
            rules=self._rules,
            create_artifact=keeping.create,
            run_seconds=run_seconds,
            progress=progress,
        )

    async def _plan(self, request: Request, scope: Scope) -> Plan:
        def plan() -> Plan:
            return make_plan(request, self._config, engines=self._factories, tools=scope.links)

        long = isinstance(request.code, str) and len(request.code) > LONG_PARSE_BYTES
        # Attached files are looked through, which takes long where they are large.
        return await asyncio.to_thread(plan) if long or request.files else plan()

    async def _type_problem(self, plan: Plan, scope: Scope) -> Finished | None:
        from paddock.engines.monty import MontyEngine  # its workers have the checker, for every Python engine

        engine = self._engine("monty") if "monty" in self._factories else None
        if not isinstance(engine, MontyEngine):
            raise EngineUnavailable("the type check is done by the engine `monty`, which is not available here")
        return await engine.check_types(plan, await scope.stubs() if plan.tools else None)

    def _stay_in_one_loop(self) -> None:
        """Engines and upstreams live in the loop that started them; in another they would wait for ever."""
        loop = asyncio.get_running_loop()
        if (self._engines or self._toolbox.is_used) and self._loop not in (None, loop):
            raise RequestError(
                "this Paddock was started in another event loop; make one for each loop, leave it with `async with` "
                "before its loop ends, or use run_sync"
            )
        self._loop = loop

    def _engine(self, name: str) -> Engine:
        if name not in self._engines:
            self._engines[name] = registry.load(self._factories[name])(self._config)
        return self._engines[name]

    async def aclose(self) -> None:
        """End every engine. The next run starts them anew."""
        self.close()
        engines, self._engines = self._engines, {}
        for engine in engines.values():
            await engine.close()
        await self._toolbox.close()

    def close(self) -> None:
        """End what `run_sync` started."""
        if self._background is not None:
            background, self._background = self._background, None
            background.close()

    async def __aenter__(self) -> Paddock:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __enter__(self) -> Paddock:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _is_checked(plan: Plan) -> bool:
    """Whether the types are looked at before it runs; of the tools alone, only where there are any."""
    return plan.engine is not None and (plan.type_check is True or bool(plan.type_check and plan.tools))


def _memory_journal() -> Journal:
    from paddock.store.journal import MemoryJournal

    return MemoryJournal()


_END: Any = object()
_ATTEMPTS = 4  # of a run that the host lost before anything of it was seen
