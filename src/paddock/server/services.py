"""The services that the server's tools share: the Paddock, the store, artifacts, sessions, and the runs in progress."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
import re
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from weakref import WeakValueDictionary

from paddock import linter
from paddock.config import Config
from paddock.errors import Overloaded, PaddockError, StoreError
from paddock.linter import Finding
from paddock.model import spelling
from paddock.model.artifacts import Artifact
from paddock.model.request import LOCAL
from paddock.record import new_run_id
from paddock.run import Paddock
from paddock.server.allowances import Allowances
from paddock.server.audit import Audit
from paddock.server.run_queue import RunQueue
from paddock.server.sessions import Caller, Sessions
from paddock.server.upstream_logins import UpstreamLogins
from paddock.store.artifacts import WAITING_BYTES, StoredArtifacts
from paddock.store.database import Store
from paddock.store.definitions import peek_all_versions, peek_versions
from paddock.store.tokens import UNVERIFIED_PREFIX
from paddock.uncancelled import LongWork

if TYPE_CHECKING:
    from paddock.server.metrics import Metrics
    from paddock.server.runs import Run
    from paddock.store.definitions import Version

CANCELLED = "cancel_run ended the run"
SHUT_DOWN = "the server was shut down before the run ended; check what it has done before you run it again"
SHUT_DOWN_EARLY = "the server was shut down before the run began; run it again"
WATCH_SECONDS = 0.5
"""How often a server looks for runs that were cancelled through another server."""
CHECK_SECONDS = 1.0
"""How often a session that is in use is looked up in the store, because a purge may have removed it."""
GROWTH_SHARE, GROWTH_SECONDS = 1 / 8, 5.0
"""By what part of `store.run_bytes` the store may grow before it is swept early, and how often this is checked."""
RESTART_SECONDS = 5.0
"""The retry time for clients that are refused because the server is shutting down."""
_FOLDERS = re.compile(r"""(?<![\w:/.])/(?!files/)(?:[^\s/'":;,]+/)+""")
"""The folders of an absolute path that is neither a URL nor in a script's /files."""
T = TypeVar("T")
log = logging.getLogger(__name__)


class Services:
    """The parts that every tool of a server shares. Leaving the block ends every run and closes the store.

        async with Services(Config.load()) as services:
            server = make_server(services)

    The store is opened on first use.
    """

    def __init__(
        self,
        config: Config | None = None,
        *,
        tools: Iterable[Callable[..., Any]] = (),
        mcp_config: str | Path | None = None,
        base_url: str = "",
    ) -> None:
        self.config = config or Config()
        tools = tuple(tools)
        self.store = Store.from_config(self.config)
        self.artifacts = StoredArtifacts.from_config(self.config, self.store, base_url=base_url)
        self.paddock = Paddock(self.config, tools=tools, mcp_config=mcp_config, journal=self.store.journal)
        self.has_tools = bool(tools) or self.paddock.has_upstreams
        """Whether scripts have any tool to call."""
        self.is_loopback = True
        """Whether only programs on this machine are served, without tokens."""
        self.sessions = Sessions()
        self.queue = RunQueue(self.config.server)
        self.allowances = Allowances(self.config.server)
        self.audit = Audit(self.config)
        self.logins = UpstreamLogins()
        self.metrics: Metrics | None = None
        """Set over HTTP, where `/metrics` shows them."""
        self.runs: dict[str, Run] = {}
        """Runs in progress, by id."""
        self.file_turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # by caller
        self._turns: WeakValueDictionary[tuple[str, str], LongWork] = WeakValueDictionary()  # by caller and work
        self._checks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # by principal
        self._live_created: dict[str, float] = {}  # by principals that have had a live session: when that was stored
        self._live_checked: dict[str, float] = {}  # when the store was last asked whether it has it still
        self._is_closing = False
        self._maintenance: asyncio.Task[None] | None = None
        self._cancellations: asyncio.Task[None] | None = None

    def log_fault(self, what: str, fault: BaseException) -> None:
        """Log a fault of the host. A failing store is logged once until it works again."""
        writer = self.store.writer
        if isinstance(fault, StoreError) and writer.problem is not None:
            if writer.is_logged:
                return
            writer.is_logged = True
        log.warning("%s: %s", what, fault)

    def without_host_paths(self, text: str) -> str:
        """Return the text of a fault without folders of this host, which do not concern clients. The log has them."""
        folders = (self.config.data_directory, str(self.store.path.parent), str(Path.home()))
        for folder in sorted(folders, key=len, reverse=True):
            text = text.replace(f"{folder.rstrip('/')}/", "") if folder.strip("/") else text
        return _FOLDERS.sub("", text)

    def check_open(self) -> None:
        """Raise Overloaded if the server is being shut down, so that no new run starts."""
        if self._is_closing:
            raise Overloaded("the server is being shut down", RESTART_SECONDS)

    @asynccontextmanager
    async def work(self, caller: Caller, *, is_run: bool = True) -> AsyncIterator[None]:
        """Wait for a slot in the run queue, for work that is not a run but takes as much. `is_run`: it counts as a run.

        Raises Overloaded as a run would.
        """
        self.check_open()
        slot = self.queue.slot(new_run_id(), caller.key)
        try:
            if is_run:
                self.allowances.check_run(caller.key)
        except Overloaded:
            slot.leave()
            raise
        async with slot:
            yield

    async def lint(self, caller: Caller, code: str, **options: Any) -> list[Finding]:
        """The mistakes in the code. One caller's take place one after another, so that others get a turn."""
        async with self.work(caller):
            return await self.in_turn(caller, lambda: linter.alint(code, **options))

    async def in_turn(
        self, caller: Caller, work: Callable[[], Coroutine[Any, Any, T]], *, of: Literal["tools", "results"] = "tools"
    ) -> T:
        """Do work that can take a thread for seconds, one caller's after another, so that others get a turn.

        Results have turns of their own: a search of tools waits for servers that have just begun to connect.
        """
        return await self._turns.setdefault((caller.key, of), LongWork()).run(work)

    def watch_cancellations(self) -> None:
        """While runs are in progress, end those that are cancelled through another server."""
        if self._cancellations is None:
            self._cancellations = asyncio.create_task(self._watch_cancellations())

    async def _watch_cancellations(self) -> None:
        try:
            while self.runs:
                await asyncio.sleep(WATCH_SECONDS)
                with suppress(StoreError):
                    for run_id in await self.store.runs.cancel_requests() if self.runs else ():
                        if run_id in self.runs:
                            self.runs[run_id].end(CANCELLED)
        finally:
            self._cancellations = None

    async def end_runs(self, *, after_seconds: float = 0.0) -> None:
        """Refuse new runs and end every run in progress.

        A run may end by itself within `after_seconds`. The caller of any other run gets its output so far and the
        reason for its end.
        """
        self._is_closing = True
        await asyncio.sleep(0)  # lets the task of a run that was just detached register the run
        runs = list(self.runs.values())
        with suppress(TimeoutError):
            async with asyncio.timeout(after_seconds):
                await asyncio.gather(*(run.has_ended.wait() for run in runs))
        for run in runs:
            run.end(SHUT_DOWN if run.has_begun else SHUT_DOWN_EARLY)
        await asyncio.gather(*(run.has_ended.wait() for run in runs))

    def start_maintenance(self) -> None:
        """Start the periodic clean-up of the store, once. Over stdio it must not delay the first answer."""
        if self._maintenance is None:
            self._maintenance = asyncio.create_task(self._maintain())

    async def _maintain(self) -> None:
        await asyncio.to_thread(spelling.load)  # not when the first script fails, while the others wait
        while True:
            try:
                await self.store.runs.mark_lost()
                await self.store.sweep()
                await self.artifacts.sweep()
            except (StoreError, OSError) as problem:
                self.log_fault("the store's clean-up failed and will be tried again", problem)
            await self._until_sweep()

    async def _until_sweep(self) -> None:
        """Wait until the next sweep is due: after `store.sweep_seconds`, or when much was written."""
        most_written = self.artifacts.written_bytes + WAITING_BYTES
        most = self.store.disk_bytes() + (self.config.store.run_bytes * GROWTH_SHARE or math.inf)
        until = time.monotonic() + self.config.store.sweep_seconds
        while (left := until - time.monotonic()) > 0 and self.store.disk_bytes() < most:
            if self.artifacts.written_bytes >= most_written:
                break
            await asyncio.sleep(min(left, GROWTH_SECONDS))

    async def check_session(self, caller: Caller) -> None:
        """Forget what the caller's session holds if the principal was purged: then the store has it no more."""
        async with self._checks.setdefault(caller.principal, asyncio.Lock()):  # nobody goes on before the outcome
            await self._check_live_sessions(caller.principal)
            await self._check_context(caller)

    async def _check_context(self, caller: Caller) -> None:
        session = caller.session
        if session is None or not session.stored or time.monotonic() - session.checked_at < CHECK_SECONDS:
            return
        stored = session.stored
        with suppress(StoreError):
            is_purged = not await self.store.sessions.is_kept(caller.principal, session.id, session.created_at)
            if is_purged and session.stored is stored:  # otherwise another call has stored it again
                session.forget()
        session.checked_at = time.monotonic()

    async def note_live_session(self, principal: str) -> None:
        """Record that the principal has a live session, so that a purge of the record shows."""
        if principal == LOCAL or principal.startswith(UNVERIFIED_PREFIX):
            return
        try:
            if principal in self._live_created:
                await self.store.sessions.touch(principal, _live_id(principal))
            else:
                self._live_created[principal] = await self.store.sessions.save(principal, _live_id(principal), {})
        except StoreError as problem:
            self.log_fault("a session could not be stored", problem)

    async def _check_live_sessions(self, principal: str) -> None:
        """End the live sessions of a principal that was purged: they are not those of who has the name now."""
        created_at = self._live_created.get(principal)
        if created_at is None or time.monotonic() - self._live_checked.get(principal, -math.inf) < CHECK_SECONDS:
            return
        with suppress(StoreError):
            if not await self.store.sessions.is_kept(principal, _live_id(principal), created_at):
                del self._live_created[principal]
                self.paddock.forget_sessions(principal)
                return
        self._live_checked[principal] = time.monotonic()  # not before, because a client may leave before the outcome

    async def record_session(self, caller: Caller) -> None:
        """Record that the caller's session was used now, and store its state if that has changed."""
        session = caller.session
        if session is None:
            return
        state = session.state()
        try:
            if state == session.stored:
                await self.store.sessions.touch(caller.principal, session.id)
            else:
                created_at = await self.store.sessions.save(caller.principal, session.id, state)
                session.stored, session.created_at = state, created_at
        except StoreError as problem:
            self.log_fault("a session could not be stored", problem)

    async def definition_versions(self, principal: str = LOCAL) -> dict[str, Version]:
        """Return the current version of each definition that the principal saved, by name. Does not create a store."""
        versions = await asyncio.to_thread(peek_versions, self.store.path, principal)
        return await self.store.definitions.versions(principal) if versions is None else versions

    async def all_definition_versions(self) -> dict[tuple[str, str], Version]:
        """Return the current version of every saved definition, by principal and name. Does not create a store."""
        versions = await asyncio.to_thread(peek_all_versions, self.store.path)
        return await self.store.definitions.all_versions() if versions is None else versions

    async def store_artifact(
        self, caller: Caller, name: str, mime_type: str, data: bytes, run_id: str | None = None
    ) -> Artifact | None:
        """Store `data`, which is part of an answer, as an artifact.

        If storing fails, log the failure and return None, so that the client still gets an answer.
        """
        try:
            return await self.artifacts.of(caller.owner, run_id).create(name, mime_type, data)
        except PaddockError as problem:
            self.log_fault(f"{name} could not be stored as an artifact", problem)
            return None

    async def aclose(self) -> None:
        """End every run, write everything that is queued, and close the store."""
        await self.end_runs()
        await self.logins.close()
        for task in (self._maintenance, self._cancellations):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])
        await self.paddock.aclose()
        await self.artifacts.close()
        with suppress(StoreError):
            await self.store.close()

    async def __aenter__(self) -> Services:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _live_id(principal: str) -> str:
    return f"live-{hashlib.sha256(principal.encode(errors='replace')).hexdigest()[:24]}"
