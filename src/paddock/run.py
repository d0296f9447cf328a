"""The path of a run, and `Paddock`, the library's front door.

    request -> plan -> execution <-> calls -> result

Start at `Paddock.run`. `_run` makes the plan, and starts the run again if the host lost it. `_plan` decides which
engine runs the script and what the script may call. `_install` installs the packages that the run asks for. `_execute`
is one attempt: it records what the guest does, while `CallTasks` answers the guest's calls; in a session the guest is
one that earlier runs have used (`sessions.py`). `_prepare` connects the tools that the script names and checks its
types, before the first line runs. The engine decides the verdict (`engines/jailed.py`); `record.py` makes the result,
with a hint for the model (`hints/`).

Where to look next: `jail/__init__.py` explains the sandbox, and `guest/` is what runs inside it. `tools/` connects to
MCP servers, called upstreams. Every default is in `config.py`, except those of each upstream, which are in
`tools/mcp_config.py`. `server/` is Paddock's own server, for MCP and REST. It offers code tools such as `execute`, each
with a definition (`definitions/execute.toml`) and a face, a module of `definitions/faces/` that reads the arguments and
writes the results. `store/` keeps what outlives a run on a server: runs, calls and artifacts.
"""

from __future__ import annotations

import asyncio
import math
import os
import threading
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from paddock.calls import CallTasks, RunArtifacts
from paddock.config import Config
from paddock.engines.registry import Engines, Factory
from paddock.errors import ConfigError, PackageError, RequestError
from paddock.model.events import Answer, Done, Event, Finished, Outline, Progress
from paddock.model.packages import OFF, refused
from paddock.model.request import LOCAL, Request, RunContext, RunOptions, make_request, make_tool_call
from paddock.model.result import RunError, RunResult, Verdict
from paddock.planning.plan import Plan, make_plan
from paddock.record import RunRecord, new_run_id
from paddock.sessions import SessionInfo, Sessions
from paddock.store.memory import MemoryArtifacts
from paddock.tools.broker import Broker
from paddock.tools.functions import by_name
from paddock.tools.size import run_by_size
from paddock.tools.toolbox import Scope, make_rules, make_toolbox
from paddock.tracing import describe_run, span
from paddock.uncancelled import uncancelled

if TYPE_CHECKING:
    from pathlib import Path

    from paddock.config import ToolsConfig
    from paddock.engines.base import Engine, Execution
    from paddock.engines.type_checker import TypeChecker
    from paddock.model.artifacts import Artifacts
    from paddock.model.journal import Journal
    from paddock.model.tools import CallWatch, Tool
    from paddock.sync import Background
    from paddock.tools.context import Injection
    from paddock.tools.mcp_config import Server
    from paddock.tools.upstream import Health

PAUSE_SECONDS = 0.1
"""How long a session goes on while its next run waits for MCP servers or its type check. Then it is stopped."""
ATTEMPTS = 4
"""How often a run may be started. It is started again only if the host lost it before it had a visible effect."""
_END: Any = object()
"""Marks the end of a stream."""


class Paddock:
    """Runs scripts in a sandbox. Engines start on first use and stay warm until the block ends.

    async with Paddock(tools=[weather]) as paddock:
        result = await paddock.run("await weather({'city': 'Oslo'})")
        print(result.verdict, result.output)

    `Paddock(url="https://…", token="…")` has the same methods, and runs scripts on that server: see `remote.py`.
    """

    def __new__(cls, config: Config | None = None, *, url: str | None = None, **options: Any) -> Paddock:
        if url is None or cls is not Paddock:
            return super().__new__(cls)
        from paddock.remote import RemotePaddock

        return super().__new__(RemotePaddock)

    def __init__(
        self,
        config: Config | None = None,
        *,
        tools: Iterable[Callable[..., Any]] = (),
        engines: Mapping[str, Factory] | None = None,
        artifacts: Artifacts | None = None,
        journal: Journal | None = None,
        mcp_config: str | Path | None = None,
        url: str | None = None,
        token: str | None = None,
    ) -> None:
        if url is not None:
            raise RequestError(f"url cannot be used with {type(self).__name__}: use Paddock itself")
        if token is not None:
            raise RequestError("token is for a server: pass url as well")
        if not isinstance(config, Config | None):
            raise ConfigError(
                f"config must be a paddock.Config, not {type(config).__name__}; Config.load() reads a file"
            )
        self._config = config or Config()
        self._local_tools = by_name(tools)
        self._mcp_config = mcp_config
        self._toolbox, self._rules = make_toolbox(self._config, self._local_tools, mcp_config)
        self._packages = self._config.environments[self._config.cpython.environment].import_names()
        self._journal = journal
        self._engines = Engines(self._config, engines)
        self._sessions = Sessions(self._config.sessions, self._config.cpython.environment)
        self._type_checker: TypeChecker | None = None
        self._artifacts: Artifacts = MemoryArtifacts() if artifacts is None else artifacts
        self._loop: asyncio.AbstractEventLoop | None = None
        self._init_sync()

    def _init_sync(self) -> None:
        self._background: Background | None = None  # what `run_sync` uses
        self._lock = threading.Lock()

    async def run(self, code: str, **options: Unpack[RunOptions]) -> RunResult:
        """Run `code` and return how it ended.

        Whatever the script does, crashing included, is a verdict in the result. Raises `RequestError` for a request
        that cannot be run, and `HostError` if this machine fails.
        """
        return await self._run(make_request(code, options), None)

    async def follow(
        self,
        code: str,
        watch: Callable[[Event], None],
        *,
        context: RunContext | None = None,
        **options: Unpack[RunOptions],
    ) -> RunResult:
        """Run `code` like `run`, and call `watch` with each event as it happens. `watch` must not block.

        `context` is what a server adds to the run.
        """
        return await self._run(make_request(code, options), watch, context)

    async def stream(self, code: str, **options: Unpack[RunOptions]) -> AsyncGenerator[Event, None]:
        """Run `code` and yield events as they happen; the last one is `Done`. Closing the iterator ends the run."""
        events: asyncio.Queue[Event] = asyncio.Queue()
        task = asyncio.create_task(self.follow(code, events.put_nowait, **options))
        task.add_done_callback(lambda task: events.put_nowait(_END))
        try:
            while (event := await events.get()) is not _END:
                yield event
            await task
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def check(
        self, code: str, *, context: RunContext | None = None, **options: Unpack[RunOptions]
    ) -> RunError | None:
        """Return the error for which `run` would reject `code` before its first line, or None.

        It is a syntax error, or a type error if `type_check` is set. Nothing runs. Returns None for any source on
        Monty, which cannot check without running.
        """
        request = make_request(code, options)
        scope, plan, engine = await self._plan(request, context)
        if plan.engine == "monty":
            return None
        plan = replace(plan, check_only=True, session=None)
        record = await self._execute(plan, scope, engine, lambda event: None)
        return record.result().error

    async def validate(self, code: str, *, context: RunContext | None = None, **options: Unpack[RunOptions]) -> None:
        """Raise the `RequestError` that `run` would raise now. Neither compiles nor runs anything."""
        _, plan, engine = await self._plan(make_request(code, options), context)
        if plan.session is not None and engine is not None:
            self._sessions.check(plan, LOCAL if context is None else context.principal)

    def run_sync(self, code: str, **options: Unpack[RunOptions]) -> RunResult:
        """`run` for programs without an event loop. The engines stay warm between calls, until `close`."""
        with self._lock:
            if self._background is None or self._background.pid != os.getpid():
                from paddock.sync import Background

                self._background = Background(self._copy())
            background = self._background
        return background.run(code, options)

    def _copy(self) -> Paddock:
        return Paddock(
            self._config,
            tools=[tool.function for tool in self._local_tools.values()],
            engines=self._engines.factories,
            artifacts=self._artifacts,
            journal=self._journal,
            mcp_config=self._mcp_config,
        )

    async def _run(
        self, request: Request, watch: Callable[[Event], None] | None, context: RunContext | None = None
    ) -> RunResult:
        has_published = False

        def publish(event: Event) -> None:
            nonlocal has_published
            if watch is not None:
                has_published = True
                watch(event)

        with span("run") as recorded:
            scope, plan, engine = await self._plan(request, context)
            if plan.packages and engine is not None:
                plan = await self._install(plan, engine, watch or (lambda event: None), context)
                engine = None if plan.refusal else engine
            for _ in range(ATTEMPTS):
                with span(f"engine {plan.engine}"):
                    record = await self._execute(plan, scope, engine, publish, context)
                has_effects = record.has_side_effects or record.has_connected
                is_final = has_published or has_effects or plan.session is not None
                if record.verdict is not Verdict.LOST or is_final:
                    break
            result = record.result()
            describe_run(recorded, result)
        publish(Done(result))
        return result

    async def _plan(self, request: Request, context: RunContext | None) -> tuple[Scope, Plan, Engine | None]:
        """Decide what the script may call and how it is run. The engine is None if no engine can run it."""
        self._check_loop()
        engines = self._engines  # `aclose` replaces `self._engines`; this run keeps the engines that it began with
        scope = await self._toolbox.scope(request)
        if context is not None:
            scope.session_tools, scope.can_search = context.tools, context.can_search
            scope.context, scope.principal = context.context or scope.context, context.principal
        if request.environment is None:
            environment = self._sessions.environment(scope.principal, request.fork_from or request.session)
            request = replace(request, environment=environment)
        problem = None
        is_auto = (request.engine or self._config.engine) == "auto" and request.language == "python"
        if is_auto and request.environment is None:  # which only full Python has: starting another would be in vain
            problem = await engines.why_unavailable("cpython")
        network = None if context is None else context.network
        work = partial(
            make_plan, request, self._config, engines.factories, scope.links, cpython_problem=problem, network=network
        )
        plan = await run_by_size(request.inputs, work)
        if plan.engine in ("cpython", "node"):
            is_pending = plan.engine == "cpython" and plan.mode == "expression" and _needs_preparation(plan, scope)
            plan = replace(plan, sends_outline=is_pending, may_install=self._may_install(plan, context))
        return scope, plan, None if plan.engine is None else engines.get(plan.engine)

    async def _install(
        self, plan: Plan, engine: Engine, watch: Callable[[Event], None], context: RunContext | None
    ) -> Plan:
        """Install the packages that the plan asks for. If that fails, the plan is refused with the reason."""
        problem = refused(plan.packages, self._installable(context), plan.language)
        principal = LOCAL if context is None else context.principal
        if problem is None:
            try:
                return await engine.prepare(plan, lambda line: watch(Progress(0, None, line)), principal)
            except PackageError as failure:
                problem = str(failure)
        return replace(plan, engine=None, refusal=RunError("PackageError", problem))

    def _may_install(self, plan: Plan, context: RunContext | None) -> bool:
        """Whether a hint may advise to install a package. The code tools that run JavaScript take no packages."""
        has_option = plan.language == "python" or (plan.mode == "expression" and plan.globals == "all")
        return has_option and self._installable(context) != (OFF,)

    def _installable(self, context: RunContext | None) -> tuple[str, ...]:
        """The names of the packages that the caller may have installed, or ANY or OFF."""
        return self._config.packages.installable(is_local=context is None or context.principal == LOCAL)

    async def _execute(
        self,
        plan: Plan,
        scope: Scope,
        engine: Engine | None,
        publish: Callable[[Event], None],
        context: RunContext | None = None,
    ) -> RunRecord:
        """Make one attempt at the run and return its record."""
        record = RunRecord(plan, context, scope.functions, self._packages)
        if engine is None:
            return record
        # With an outline, preparation waits until the guest has sent it.
        if not plan.sends_outline and _needs_preparation(plan, scope):
            if (problem := await self._prepare(plan, scope)) is not None:
                record.add(problem)
                return record
            plan = replace(plan, tools=tuple(scope.links))
        seconds = plan.limits.wall_seconds + engine.grace_seconds
        artifacts = RunArtifacts((context and context.artifacts) or self._artifacts, publish)
        call_watch = None if context is None else context.call_watch
        broker = self._broker(scope, plan.limits.calls, record.run_id, artifacts, publish, seconds, call_watch)
        async with self._execution(engine, plan, context, record) as execution:
            record.start()
            calls = CallTasks(execution, broker, artifacts, publish)
            try:
                async with asyncio.timeout(seconds) as clock, aclosing(execution.events(calls.start)) as guest_events:
                    async for event in guest_events:
                        if (shown := record.add(event)) is not None:
                            publish(shown)
                        if isinstance(event, Outline):
                            await self._continue(execution, plan, scope, event, clock, record)
                        if record.verdict is not None:
                            break
            except TimeoutError:
                record.end(Verdict.TIMEOUT)
            finally:
                calls.cancel()
                try:
                    record.note_unread_output(execution.unread_output, publish)
                    await execution.interrupt()
                finally:
                    try:
                        record.note_usage(*execution.usage())
                        record.note_network(await execution.end_network())
                    finally:
                        await calls.end()
        record.functions, record.has_side_effects = scope.functions, calls.may_have_side_effects
        record.calls, record.artifacts, record.displayed = broker.calls(), artifacts.created(), artifacts.displayed
        record.is_denial, record.warnings = broker.is_denial, broker.warnings()
        record.effects = broker.effects()
        if (name := record.missing_file) and await artifacts.exists(name):
            record.mistaken_artifact = name
        return record

    def _execution(
        self, engine: Engine, plan: Plan, context: RunContext | None, record: RunRecord
    ) -> AbstractAsyncContextManager[Execution]:
        """An execution of the plan, in its own guest or in the session that it names."""
        if plan.session is None:
            return engine.open(plan)
        return self._sessions.open(engine, plan, LOCAL if context is None else context.principal, record.note_session)

    async def _continue(
        self,
        execution: Execution,
        plan: Plan,
        scope: Scope,
        outline: Outline,
        clock: asyncio.Timeout,
        record: RunRecord,
    ) -> None:
        """Let a script run that has sent its outline, or record why it must not."""
        with _later(PAUSE_SECONDS, execution.pause):
            problem = await self._prepare(plan, scope, outline, clock)
        if problem is not None:
            record.add(problem)
        else:
            execution.go(tuple(scope.links))

    async def _prepare(
        self, plan: Plan, scope: Scope, outline: Outline | None = None, clock: asyncio.Timeout | None = None
    ) -> Finished | None:
        """Link the tools that the script names, then check its types. Returns a rejection if the script must not run.

        The time that MCP servers take to connect does not count towards the script's time limit. The time of the type
        check counts if the guest has sent an outline of the script.
        """
        if scope.is_pending:
            with _paused(clock):
                await scope.resolve(plan, outline)
        plan = replace(plan, tools=tuple(scope.links))
        if not _wants_type_check(plan):
            return None
        if self._type_checker is None:
            from paddock.engines.type_checker import TypeChecker

            self._type_checker = TypeChecker(self._config)
        return await self._type_checker.check(plan, outline, await scope.stubs() if plan.tools else None)

    def _broker(
        self,
        scope: Scope,
        call_limit: int,
        run_id: str,
        artifacts: RunArtifacts,
        progress: Callable[[Progress], None],
        run_seconds: float = math.inf,
        call_watch: CallWatch | None = None,
    ) -> Broker:
        return Broker(
            self._toolbox,
            scope,
            call_limit,
            run_id=run_id,
            journal=self._journal,
            rules=self._rules,
            create_artifact=artifacts.create,
            run_seconds=run_seconds,
            progress=progress,
            watch=call_watch,
        )

    async def tools(self, *, servers: Iterable[str] = ()) -> tuple[Tool, ...]:
        """The tools that scripts may call now, from all servers or from `servers`. Leaves out servers that are down."""
        self._check_loop()
        return tuple(await self._toolbox.catalogue(servers))

    async def search_tools(
        self, query: str, *, tags: Collection[str] = (), servers: Iterable[str] = (), limit: int | None = 10
    ) -> tuple[Tool, ...]:
        """The tools that match `query`, best first."""
        self._check_loop()
        catalogue = await self._toolbox.catalogue(servers)
        return await asyncio.to_thread(catalogue.search, query, tags=tags, limit=limit)

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        progress: Callable[[Progress], None] = lambda progress: None,
        context: RunContext | None = None,
    ) -> Answer:
        """Call one tool as a script would. A failure is an answer too: its value is an error envelope.

        `context` is what a server adds to the call.
        """
        self._check_loop()
        call = await run_by_size(arguments, make_tool_call, name, arguments)
        scope = await self._toolbox.scope_of(name)
        context = context or RunContext(new_run_id())
        scope.context, scope.principal = context.context or scope.context, context.principal
        artifacts = RunArtifacts(context.artifacts or self._artifacts)
        broker = self._broker(scope, 1, context.run_id, artifacts, progress, call_watch=context.call_watch)
        answer = await broker.answer(call)
        await broker.conclude(call.id)
        return answer

    async def tool_stubs(
        self, names: Iterable[str] | None = None, *, language: str = "python", whole: bool = True
    ) -> str:
        """Typed declarations of all tools, or of the named ones, as the text of a `.pyi` or `.d.ts` file.

        `whole=False` leaves out the functions that every script has.
        """
        self._check_loop()
        return await self._toolbox.stubs(names, language, whole=whole)

    async def sessions(self, *, principal: str = LOCAL) -> tuple[SessionInfo, ...]:
        """The live sessions, those of `run_sync` too."""
        own = self._sessions.infos(principal)
        background = self._background
        return own if background is None else (*own, *await background.ask(background.paddock.sessions()))

    async def reset_session(self, name: str, *, principal: str = LOCAL) -> None:
        """End the interpreter of a session: its next run starts with nothing. A run in progress is cancelled."""
        if (background := await self._sync_session(name, principal)) is None:
            self._sessions.reset(principal, name)
        else:
            await background.ask(background.paddock.reset_session(name))

    async def delete_session(self, name: str, *, principal: str = LOCAL) -> None:
        """End a session. A run in progress is cancelled."""
        if (background := await self._sync_session(name, principal)) is None:
            self._sessions.delete(principal, name)
        else:
            await background.ask(background.paddock.delete_session(name))

    def forget_sessions(self, principal: str) -> None:
        """End all sessions of a principal that a server has purged."""
        self._sessions.forget(principal)

    async def _sync_session(self, name: str, principal: str) -> Background | None:
        """The event loop of `run_sync`, if the session of this name is there and not here."""
        background = self._background
        if background is None or any(each.name == name for each in self._sessions.infos(principal)):
            return None
        theirs = await background.ask(background.paddock.sessions())
        return background if any(each.name == name for each in theirs) else None

    async def engine_problem(self, engine: str) -> str | None:
        """Why this machine cannot run `engine`, and what to do; None if it can."""
        return await self._engines.why_unavailable(engine)

    async def network_problem(self) -> str | None:
        """Why no run of full Python can have a network on this machine; None if one can."""
        return await self._engines.why_no_network()

    def change_rules(self, settings: ToolsConfig) -> None:
        """Apply another policy, `repair` and `call_seconds` to the calls of runs that begin from now on."""
        self._rules = make_rules(settings)

    def waiting_guests(self) -> Mapping[tuple[str, str], int]:
        """How many guests wait for a script, by environment and template. Starts no engine."""
        return self._engines.waiting_guests()

    async def upstreams(self) -> Mapping[str, Health]:
        """The health of each MCP server, by name. Does not connect to any."""
        return self._toolbox.health()

    def upstream_settings(self, name: str) -> Server:
        """The settings of an MCP server. Raises RequestError."""
        return self._toolbox.server(name)

    @property
    def has_upstreams(self) -> bool:
        """Whether any MCP server is configured."""
        return bool(self._toolbox.health())

    @property
    def injection(self) -> Injection | None:
        """The arguments that the configuration adds to upstream calls; None if it adds none."""
        return self._toolbox.injection

    def redact(self, value: Any) -> Any:
        """`value` without the servers' secrets and anything that looks like a secret."""
        from paddock.tools.secrets import redact_secrets

        return redact_secrets(value, self._toolbox.secrets)

    def redact_json(self, text: str) -> str:
        """Redact JSON text like `redact`. Text that may hold a secret and is not JSON becomes empty."""
        from paddock.tools.secrets import redact_secrets_in_json

        return redact_secrets_in_json(text, self._toolbox.secrets)

    async def read_artifact(self, ref: str) -> bytes:
        """The bytes of an artifact, by its id, URL or file name."""
        artifact = await self._artifacts.read(ref)
        if artifact is None:
            raise RequestError(f"there is no artifact {ref!r}; result.artifacts lists the artifacts of a run")
        return artifact[1]

    def _check_loop(self) -> None:
        """Refuse a second event loop: engines and upstreams belong to the loop that started them."""
        loop = asyncio.get_running_loop()
        if (self._engines.is_used or self._toolbox.is_used) and self._loop not in (None, loop):
            raise RequestError(
                "this Paddock was started in another event loop; make one for each loop, close it before its loop "
                "ends (`async with` does that), or use run_sync"
            )
        self._loop = loop

    async def aclose(self) -> None:
        """Close every engine and connection, even if this is cancelled. The next run starts them again."""
        self.close()
        self._sessions.close()
        engines, self._engines = self._engines, Engines(self._config, self._engines.factories)
        checker, self._type_checker = self._type_checker, None
        await uncancelled(self._end(engines, checker))

    async def _end(self, engines: Engines, checker: TypeChecker | None) -> None:
        await engines.close()
        if checker is not None:
            await checker.close()
        await self._toolbox.close()

    def close(self) -> None:
        """Stop the event loop that `run_sync` started.

        Leaving a `with` block calls this; leaving an `async with` block calls `aclose`.
        """
        if self._background is not None:
            background, self._background = self._background, None
            if background.pid == os.getpid():
                background.close()

    async def __aenter__(self) -> Paddock:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __enter__(self) -> Paddock:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def _later(seconds: float, act: Callable[[], None]) -> Iterator[None]:
    """Call `act` after so many seconds if the block still runs."""
    timer = asyncio.get_running_loop().call_later(seconds, act)
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def _paused(clock: asyncio.Timeout | None) -> Iterator[None]:
    """Stop a run's clock while the block runs."""
    deadline = None if clock is None else clock.when()
    if clock is None or deadline is None:
        yield
        return
    loop = asyncio.get_running_loop()
    began = loop.time()
    clock.reschedule(None)
    yield
    clock.reschedule(deadline + loop.time() - began)


def _needs_preparation(plan: Plan, scope: Scope) -> bool:
    """Whether tools must be connected or types checked before the script runs."""
    return scope.is_pending or _wants_type_check(plan)


def _wants_type_check(plan: Plan) -> bool:
    """Whether types are checked before the script runs. `"tools"` checks only a script that has tools."""
    return plan.type_check is True or (plan.type_check == "tools" and bool(plan.tools))
