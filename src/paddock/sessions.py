"""The live sessions of one Paddock: named interpreters of a principal, each used by one run after another.

A session is created by its first run. It ends when it is idle for too long, when there are too many sessions or they
hold too much memory (the one that is idle for longest ends first), or when its interpreter dies. The next run is then
refused, with the reason, because it may rely on variables that are gone. The run after that starts with nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from paddock import descriptors
from paddock.errors import NetworkDenied, NotFound, Overloaded, RequestError
from paddock.model.events import Answer, ArtifactAnswer, EngineEvent, Finished, OnCall
from paddock.model.limits import format_bytes
from paddock.model.network import NetworkPolicy
from paddock.model.result import Connection, SessionState, Verdict

if TYPE_CHECKING:
    from paddock.config import SessionsConfig
    from paddock.engines.base import Engine, Execution, Interpreter
    from paddock.planning.plan import Plan

MAX_ENDED = 1000
"""How many ended sessions are remembered, so that their next run can be refused."""
EMPTY = "its variables, imports and files are gone; run the code that made them again, in a session that starts empty"
RETRY_SECONDS = 5.0
"""When a caller whose sessions are all in use should try again."""
SETTLE_SECONDS = 1.0
"""How long after the end of a session its forks have what it leaves them. Then the memory of all is checked again."""
DELETED = "was deleted"
RESET = "was reset"
CLOSED = "ended: Paddock was closed"


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A live session, as `Paddock.sessions` lists it."""

    name: str
    language: str
    engine: str
    cells: int  # how many runs it has had
    idle_seconds: float | None  # None: a run is in progress
    memory_bytes: int


class Session:
    """A name of a principal, and its interpreter while it is alive."""

    def __init__(self, name: str, principal: str) -> None:
        self.name, self.principal = name, principal
        self.queue = asyncio.Lock()  # held by the run in progress; the others wait in the order in which they came
        self.waiting = 0  # runs in the queue, the one in progress included
        self.interpreter: Interpreter | None = None
        self.source: Session | None = None  # the session that its first run waits to copy
        self.language = self.engine = ""
        self.network: NetworkPolicy | None = None  # of all its runs
        self.environment: str | None = None  # of all its runs; None: the engine's own
        self.cells = 0
        self.used_at = 0.0  # when the last run ended
        self.ended: str | None = None  # why the interpreter ended, if the next run is to be refused
        self.is_starting = False  # an interpreter for it is being made
        self.is_reset = False  # it stays listed, without an interpreter
        self.timer: asyncio.TimerHandle | None = None

    @property
    def is_idle(self) -> bool:
        return self.interpreter is not None and not self.waiting

    def info(self) -> SessionInfo:
        memory_bytes = 0 if self.interpreter is None else self.interpreter.memory_bytes()
        idle_seconds = None if self.waiting else round(time.monotonic() - self.used_at, 3)
        return SessionInfo(self.name, self.language, self.engine, self.cells, idle_seconds, memory_bytes)


class Sessions:
    """The sessions of all principals."""

    def __init__(self, config: SessionsConfig, default_environment: str) -> None:
        self._config, self._default_environment = config, default_environment
        self._sessions: dict[tuple[str, str], Session] = {}  # those that ended are here until their next run
        self._memory_timer: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def open(
        self, engine: Engine, plan: Plan, principal: str, note: Callable[[SessionState], None]
    ) -> AsyncIterator[Execution]:
        """An execution of `plan` in the session that it names, when the runs before it have ended.

        `note` is called when it is over, with what became of the session. Raises `RequestError` if the session is of
        another language, or if there are too many.
        """
        session = self._enter(principal, plan.session or "")
        try:
            async with session.queue:
                if (reason := self._news(session)) is not None:
                    session.ended = None  # it is told once
                    note(SessionState(session.name, 0, False, f"the session {reason}"))
                    yield Refused(f"the session {session.name!r} {reason}; {EMPTY}")
                    return
                interpreter = await self._interpreter(session, engine, plan)
                session.cells += 1
                cell = session.cells
                try:
                    async with interpreter.open(replace(plan, network=session.network), cell) as execution:
                        yield execution
                finally:
                    if interpreter.ended is not None and session.interpreter is interpreter:
                        self._end(session, interpreter.ended)
                    reason = None if interpreter.ended is None else f"the session {interpreter.ended}"
                    note(SessionState(session.name, cell, reason is None, reason))
        finally:
            self._leave(session)

    def _news(self, session: Session) -> str | None:
        """Why the session has ended since its last run, if it has."""
        if session.interpreter is not None:
            session.interpreter.check()
            if session.interpreter.ended is not None:
                self._end(session, session.interpreter.ended)
        return session.ended

    async def _interpreter(self, session: Session, engine: Engine, plan: Plan) -> Interpreter:
        """The session's interpreter, a new one if it has none."""
        if session.interpreter is not None:
            self._check_run(session, session.interpreter, plan)
        else:
            source = None if plan.fork_from is None else self._find(session.principal, plan.fork_from)
            self._make_room(session.principal, source)
            session.is_starting = True  # so it counts
            try:
                if source is None:
                    session.interpreter = await engine.interpreter(plan)
                else:
                    session.interpreter = await self._fork(session, source, plan)
            finally:
                session.is_starting = False
            session.language, session.engine, session.is_reset = plan.language, plan.engine or "", False
            session.network, session.environment = plan.network, plan.environment
        return session.interpreter

    def check(self, plan: Plan, principal: str) -> None:
        """Raise the `RequestError` with which `open` would refuse the plan as its sessions are now."""
        session = self._sessions.get((principal, plan.session or ""))
        if session is not None and session.interpreter is not None:
            self._check_run(session, session.interpreter, plan)
        elif plan.fork_from is not None and (session is None or session.ended is None):
            source = self._find(principal, plan.fork_from)
            if source.interpreter is not None or not source.waiting:  # otherwise its first run is about to begin
                self._check_source(source, plan)

    def _check_run(self, session: Session, interpreter: Interpreter, plan: Plan) -> None:
        """Raise `RequestError` if the plan cannot be run in this session."""
        if plan.fork_from is not None:
            raise RequestError(f"the session {session.name!r} exists already; use a new name, or delete it first")
        if session.engine != plan.engine:
            raise RequestError(
                f"the session {session.name!r} runs {session.language} on {session.engine}, and this run is "
                f"{plan.language} on {plan.engine}; use another session"
            )
        self._check_environment(session, plan)
        if plan.network is not None and bool(plan.network or session.network) and plan.network != session.network:
            has = NetworkPolicy() if session.network is None else session.network
            raise RequestError(
                f"the session {session.name!r} was created with network={has.words()!r}, which its runs cannot change; "
                "leave network out, or use another session"
            )
        if session.network is not None and (beyond := session.network.beyond(plan.network_allowed)) is not None:
            raise NetworkDenied(
                f"the session {session.name!r} may reach {beyond}, which this caller may not, or not any more; "
                "use another session"
            )
        interpreter.check_run(plan)

    def _check_environment(self, session: Session, plan: Plan) -> None:
        has = session.environment or self._default_environment
        asks = plan.environment is not None or plan.package_set is not None  # whose packages are for one environment
        if asks and has != (plan.environment or self._default_environment):
            raise RequestError(
                f"the session {session.name!r} was created with environment={has!r}, which its runs cannot change; "
                "leave environment out, or use another session"
            )

    async def _fork(self, session: Session, source: Session, plan: Plan) -> Interpreter:
        """A copy of another session's interpreter, made when the runs before it have ended."""
        waiting = source
        while waiting.source is not None:
            waiting = waiting.source
        if waiting is session:
            raise RequestError(f"the session {source.name!r} itself waits to be a copy of {session.name!r}")
        session.source = source
        self._enter(source.principal, source.name)
        try:
            async with source.queue:
                self._news(source)
                interpreter = self._check_source(source, plan)
                session.cells = source.cells  # tracebacks name the cells of both
                return await interpreter.fork(plan)
        finally:
            session.source = None
            self._leave(source)

    def _check_source(self, source: Session, plan: Plan) -> Interpreter:
        """The interpreter of a session that is to be copied for this plan. Raises `RequestError` if it cannot be."""
        if source.ended is not None or source.interpreter is None:
            raise RequestError(f"the session {source.name!r} {source.ended or 'has no run yet'}; nothing was copied")
        if source.network or plan.network:
            raise RequestError(f"the session {source.name!r} cannot be forked: one of the two has a network")
        if source.engine != plan.engine:
            raise RequestError(f"the session {source.name!r} runs {source.language} on {source.engine}")
        self._check_environment(source, plan)
        source.interpreter.check_fork()
        return source.interpreter

    def environment(self, principal: str, name: str | None) -> str | None:
        """The environment of a live session, unless it is the engine's own."""
        session = self._sessions.get((principal, str(name)))
        return None if session is None or session.interpreter is None else session.environment

    def infos(self, principal: str) -> tuple[SessionInfo, ...]:
        """The live sessions of this principal."""
        own = [each for each in self._sessions.values() if each.principal == principal]
        return tuple(each.info() for each in own if each.interpreter is not None or each.is_reset)

    def reset(self, principal: str, name: str) -> None:
        """End the session's interpreter. Its next run starts with nothing. Raises `NotFound`."""
        session = self._find(principal, name)
        self._end(session, RESET)
        session.ended, session.is_reset = None, True

    def delete(self, principal: str, name: str) -> None:
        """End the session. Raises `NotFound`."""
        session = self._find(principal, name)
        self._end(session, DELETED)
        session.ended, session.is_reset = None, False
        self._drop_unused(session)

    def forget(self, principal: str) -> None:
        """End all sessions of a principal. Its next runs are not told of any."""
        for key in [each for each in self._sessions if each[0] == principal]:
            if key in self._sessions:
                self.delete(*key)

    def _find(self, principal: str, name: str) -> Session:
        session = self._sessions.get((principal, name))
        if session is None:
            raise NotFound(f"there is no session {name[:100]!r}; a run with session={name[:100]!r} creates it")
        return session

    def close(self) -> None:
        for session in list(self._sessions.values()):
            self._end(session, CLOSED)
            session.ended = None
        self._sessions.clear()
        if self._memory_timer is not None:
            self._memory_timer.cancel()

    def _enter(self, principal: str, name: str) -> Session:
        """The session of this name, an empty one if there is none. Its queue has one run more."""
        session = self._sessions.setdefault((principal, name), Session(name, principal))
        session.waiting += 1
        if session.timer is not None:
            session.timer.cancel()
            session.timer = None
        return session

    def _leave(self, session: Session) -> None:
        """A run of the session has ended. If it was the last one in the queue, the session is idle now."""
        session.waiting -= 1
        session.used_at = time.monotonic()
        if session.is_idle:
            loop = asyncio.get_running_loop()
            session.timer = loop.call_later(self._config.idle_seconds, self._end_idle, session)
            self._limit_memory()
        elif session.interpreter is None:
            self._limit_memory_later()
        self._drop_unused(session)

    def _drop_unused(self, session: Session) -> None:
        """Forget a session that has no interpreter, no run and no news for the next one."""
        key = session.principal, session.name
        is_news = session.ended is not None or session.is_reset
        is_unused = session.interpreter is None and not session.waiting and not is_news
        if is_unused and self._sessions.get(key) is session:
            del self._sessions[key]

    def _end(self, session: Session, reason: str) -> None:
        """End a session's interpreter. The next run is refused with this reason."""
        if session.timer is not None:
            session.timer.cancel()
            session.timer = None
        interpreter, session.interpreter = session.interpreter, None
        if interpreter is not None:
            interpreter.end(reason)
            session.ended, session.cells = interpreter.ended, 0
            self._forget_old()
            self._limit_memory_later()

    def _forget_old(self) -> None:
        """Forget the oldest of the principal with the most ended sessions: the others' runs must still be refused."""
        ended = [key for key, each in self._sessions.items() if each.interpreter is None and not each.waiting]
        if len(ended) > MAX_ENDED:
            [(most, _)] = Counter(principal for principal, _ in ended).most_common(1)
            del self._sessions[next(key for key in ended if key[0] == most)]

    def _end_idle(self, session: Session) -> None:
        session.timer = None
        if session.is_idle:
            self._end(session, f"ended: it was idle for {self._config.idle_seconds:g} seconds (sessions.idle_seconds)")

    def _make_room(self, principal: str, source: Session | None) -> None:
        """End idle sessions, except the `source` of a copy, until one more fits. Raises `Overloaded`."""
        own_cap, cap = self._config.principal_count, min(self._config.max_count, descriptors.max_sessions())
        setting = "sessions.max_count" if cap == self._config.max_count else "as ulimit -n allows"
        while len(own := self._live(lambda each: each.principal == principal)) >= own_cap:
            self._end_oldest(own, source, f"{own_cap} sessions (sessions.principal_count)")
        while len(live := self._live()) >= cap:
            counts = Counter(each.principal for each in live)
            most = [each for each in live if counts[each.principal] == max(counts.values())]
            most = most if any(each.is_idle and each is not source for each in most) else live
            self._end_oldest(most, source, f"{cap} sessions ({setting})")

    def _live(self, condition: Callable[[Session], bool] = lambda each: True) -> list[Session]:
        live = [each for each in self._sessions.values() if each.interpreter is not None or each.is_starting]
        return [each for each in live if condition(each)]

    def _end_oldest(self, sessions: list[Session], source: Session | None, limit: str) -> None:
        idle = [each for each in sessions if each.is_idle and each is not source]
        if not idle:
            raise Overloaded(f"all of at most {limit} are in use; wait for one, or delete one", RETRY_SECONDS)
        self._end(min(idle, key=lambda each: each.used_at), f"ended to make room: there may be {limit}")

    def _limit_memory_later(self) -> None:
        """Check the memory again: a session that ends may leave some to those that were forked from it."""
        if self._memory_timer is None:  # one that runs is not put off, however often sessions end
            self._memory_timer = asyncio.get_running_loop().call_later(SETTLE_SECONDS, self._limit_memory_again)

    def _limit_memory_again(self) -> None:
        self._memory_timer = None
        self._limit_memory()

    def _limit_memory(self) -> None:
        """While all idle sessions hold too much memory together, end the oldest of the principal that holds most."""
        cap = self._config.memory_bytes
        sizes = {each: each.info().memory_bytes for each in self._live(lambda each: each.is_idle)}
        while sum(sizes.values()) > cap:
            held: Counter[str] = Counter()
            for session, size in sizes.items():
                held[session.principal] += size
            own = [session for session in sizes if held[session.principal] == max(held.values())]
            oldest = min(own, key=lambda each: each.used_at)
            limit = f"{format_bytes(cap)} together (sessions.memory_bytes)"
            self._end(oldest, f"ended to free memory: idle sessions may hold {limit}")
            del sizes[oldest]


class Refused:
    """The execution of a run that is refused because its session has ended."""

    def __init__(self, message: str) -> None:
        self._message = message

    async def events(self, on_call: OnCall) -> AsyncGenerator[EngineEvent, None]:
        yield Finished(Verdict.REJECTED, error_type="SessionEnded", error_message=self._message)

    def pause(self) -> None: ...
    def halt(self) -> None: ...
    def go(self, tools: Collection[str]) -> None: ...
    def answer(self, call_id: int, answer: Answer) -> None: ...
    def answer_artifact(self, call_id: int, answer: ArtifactAnswer) -> None: ...
    async def interrupt(self) -> None: ...
    def usage(self) -> tuple[None, None]:
        return None, None

    def unread_output(self) -> tuple[()]:
        return ()

    async def end_network(self) -> tuple[Connection, ...]:
        return ()
