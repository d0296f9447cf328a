"""The light Python engine: pydantic-monty workers, a session of its own for each run.

A worker is a process of its own, started through `jail/cell.py`, walled in, and dies with the host. Each run gets
a fresh session in it; after a limit, a crash or a cancelled run the session, and with it the interpreter, is dropped.
A script's values cross as JSON text in both directions, except small inputs, which cross as objects.
"""

from __future__ import annotations

import ast
import asyncio
import atexit
import json
import os
import shlex
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal

from pydantic_monty import AsyncMonty, MontyError, MontyRuntimeError

from paddock.engines import monty_errors
from paddock.engines.monty_code import DUMP, RESULT, Prepared, prepare
from paddock.engines.monty_files import LazyFiles
from paddock.engines.monty_floats import Floats
from paddock.engines.monty_prelude import SECRET, Prelude, guest, prelude
from paddock.engines.monty_sessions import Session, Sessions
from paddock.engines.monty_types import Stubs, check_types
from paddock.model.errors import EngineCrashed, EngineUnavailable
from paddock.model.events import (
    Answer,
    ArtifactAnswer,
    ArtifactCall,
    EngineEvent,
    Finished,
    Output,
    Progress,
    Stream,
    ToolCall,
)
from paddock.model.result import Verdict
from paddock.planning import fits_python
from paddock.planning.light.unlike import Seen
from paddock.planning.misfit import Misfit
from paddock.planning.plan import Plan
from paddock.planning.python_source import LONG_PARSE_BYTES, Source, read

if TYPE_CHECKING:
    from paddock.config import Config

SMALL_INPUTS_BYTES = 8 * 1024
SMALL_ANSWER_CHARACTERS = 1000
"""Up to which an answer crosses as an object. Monty's `loads` begins with a table that takes as long as such a call."""
LONG_TEXT_CHARACTERS = 100_000  # to look through more than this takes long enough to be kept off the event loop
TOOL_NAME_CHARACTERS = 600  # a longer name is cut: no tool has it, and the broker says so
PROGRESS_CHARACTERS = 1000
PROGRESS_EVENTS = 10_000  # of one run; more are not passed on
GRACE_SECONDS = 0.2  # past its time, a worker that does not stop by itself is killed


class MontyEngine:
    """A pool of workers, started on first use."""

    def __init__(self, config: Config) -> None:
        self._config = config.monty
        # A worker that stands still outside a script is bound by this alone; no script may run longer.
        self._request_seconds = config.caps.wall_seconds + 1
        self._sessions: Sessions | None = None
        self._open: set[MontyExecution] = set()
        self._starting = asyncio.Lock()

    @asynccontextmanager
    async def open(self, plan: Plan) -> AsyncIterator[MontyExecution]:
        sessions = self._sessions or await self._start()
        source = _source(plan)
        wanted = prelude(source, plan.tools)
        try:
            session = await sessions.take(plan.limits, wanted)
        except (MontyError, RuntimeError) as error:
            raise EngineCrashed(f"the light engine's worker died before the script began: {error}") from None
        execution: MontyExecution | None = None
        try:
            execution = MontyExecution(session, plan, source, wanted)
            self._open.add(execution)
            yield execution
        finally:
            try:
                if execution is not None:
                    await execution.stop()
            finally:
                if execution is not None:
                    self._open.discard(execution)
                sessions.give_back(session, plan.limits, wanted)

    async def check_types(self, plan: Plan, stubs: Stubs | None = None) -> Finished | None:
        """What is wrong with the script by its types, whatever Python engine it is for; None where nothing is.

        `stubs` declares the tools. Without it they take and give anything.
        """
        sessions = self._sessions or await self._start()
        try:
            async with sessions.beside() as pool:
                return await check_types(pool, plan, _source(plan), stubs)
        except (MontyError, RuntimeError) as error:
            raise EngineCrashed(f"the type checker's worker died: {error}") from None

    async def close(self) -> None:
        sessions, self._sessions = self._sessions, None
        for execution in list(self._open):
            await execution.abandon()
        if sessions is not None:
            await sessions.close()

    async def _start(self) -> Sessions:
        async with self._starting:
            if self._sessions is None:
                _let_threads_finish_at_exit()
                pool = AsyncMonty(
                    binary_path=_worker(),
                    min_processes=self._config.min_workers,
                    max_processes=self._config.max_workers,
                    request_timeout=self._request_seconds,
                    feed_duration_limit_grace=GRACE_SECONDS,
                )
                try:
                    self._sessions = Sessions(await _entered(pool), self._config.max_workers)
                except (OSError, MontyError) as problem:
                    raise EngineUnavailable(f"the light engine's worker could not be started: {problem}") from None
            return self._sessions


async def _entered(pool: AsyncMonty) -> AsyncMonty:
    """The pool with its first workers. Cancelled, it ends them too: half started, they would outlive the host."""
    entering = asyncio.ensure_future(pool.__aenter__())
    try:
        return await asyncio.shield(entering)
    except asyncio.CancelledError:
        with suppress(OSError, MontyError):
            await entering
            await pool.__aexit__(None, None, None)
        raise


def _source(plan: Plan) -> Source:
    source = read(plan.code)
    if not isinstance(source, Source):
        raise EngineCrashed("a plan for code that does not parse reached the engine")
    return source


def _worker() -> str:
    binary = worker_binary()
    return _launcher(binary, os.getpid()) if sys.platform == "linux" else binary


@lru_cache(maxsize=4)
def _launcher(binary: str, pid: int) -> str:
    """The program that a worker starts as: a script in memory, found through the host's own process.

    Nothing is on disk to be cleaned up, however the host ends. It is kept as long as the host: a number that is closed
    and given to another file would be executed in its place.
    """
    command = [sys.executable, "-I", "-S", "-B", str(resources.files("paddock.jail") / "start.py"), "cell", binary]
    script = os.memfd_create("paddock-monty-worker")
    os.write(script, f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n'.encode())
    return f"/proc/{pid}/fd/{script}"


def worker_binary() -> str:
    """Where Monty's own binary is."""
    from pydantic_monty._binary import find_monty_binary

    try:
        return find_monty_binary()
    except FileNotFoundError as problem:
        raise EngineUnavailable(f"{problem}. Reinstall paddock: pip install --force-reinstall paddock") from None


class MontyExecution:
    """One run in one session."""

    def __init__(self, session: Session, plan: Plan, source: Source, wanted: Prelude) -> None:
        self._session = session.session
        self._prelude = "" if session.fed == wanted else wanted.text
        self._plan = plan
        self._source = source
        self._prepared: Prepared = prepare(source)
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[EngineEvent] = asyncio.Queue()
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._asked: dict[int, asyncio.Future[ArtifactAnswer]] = {}
        self._calls = 0
        self._artifact_calls = 0
        self._progressed = 0
        self._pid: int | None = None
        self._cpu_before: float | None = None
        self._feeds = session.feeds
        self._script_feed: str | None = None
        self._files = LazyFiles(plan.files)
        self._begun: asyncio.Future[Any] | None = None
        self._given = _Given(plan, source)
        self._floats = Floats(self._given)
        self._seen: Seen | None = None  # of the numbers among it, where they matter
        self._driving: asyncio.Task[None] | None = None

    async def feed(self) -> AsyncGenerator[EngineEvent, None]:
        self._pid = self._session.worker_pid
        self._cpu_before = _cpu_seconds(self._pid)
        with suppress(Exception):  # what fails here fails again in the task, which tells of it
            self._begun = self._begin()
        self._driving = asyncio.create_task(self._drive())
        while True:
            event = self._events.get_nowait() if not self._events.empty() else await self._events.get()
            yield event
            if isinstance(event, Finished):
                return

    def answer(self, call_id: int, answer: Answer) -> None:
        waiting = self._waiting.pop(call_id, None)
        if waiting is None or waiting.done():
            return
        misfit = None if self._plan.engine_reason is not None else self._unreadable(answer.json)
        if misfit is not None:
            self._waiting[call_id] = waiting  # no answer will come: it ends with the guest
            self._end_for(misfit)
            return
        self._given.answers.append(answer.json)
        self._floats.given_more(answer.json)
        if answer.failed:
            waiting.set_exception(RuntimeError(answer.json))
        else:
            waiting.set_result(_crossing(answer.json))

    def answer_artifact(self, call_id: int, answer: ArtifactAnswer) -> None:
        asked = self._asked.pop(call_id, None)
        if asked is not None and not asked.done():
            asked.set_result(answer)

    def _unreadable(self, answer: str) -> Misfit | None:
        if not self._given.answers:
            self._seen = fits_python.numbers_seen(self._source, self._plan.names(), frozenset(self._plan.tools))
            if self._seen is not None:
                self._seen.add(self._given)
        return fits_python.unreadable(self._source, (answer,), self._seen)

    def _end_for(self, misfit: Misfit) -> None:
        """Let the run end before the script sees an answer with which it might go wrong; the guest is then dropped."""
        message = f"after what a tool answered, this script needs full Python ({misfit}); nothing more of it was run"
        self._events.put_nowait(Finished(Verdict.LOST, error_type="EngineUnavailable", error_message=message))

    async def abandon(self) -> None:
        """End the guest because the engine is closed; the run ends as cancelled."""
        await self.stop()
        message = "Paddock was closed while the script ran"
        self._events.put_nowait(Finished(Verdict.CANCELLED, error_type="Cancelled", error_message=message))

    async def stop(self) -> None:
        """End the guest. A worker that is still running is killed; the pool replaces it."""
        for waiting in self._waiting.values():
            waiting.cancel()
        for asked in self._asked.values():
            asked.cancel()  # else the coroutine that waits for an answer is left behind
        if self._driving is not None and not self._driving.done():
            self._driving.cancel()
            await asyncio.wait([self._driving])
            if self._begun is not None:
                self._begun.cancel()  # the task may have ended before it came to wait for it

    def _begin(self) -> asyncio.Future[Any] | None:
        """Start the script now, where nothing must come before it: the worker runs while the host goes on."""
        plan = self._plan
        if self._prelude or any(map(_is_large, plan.inputs_json.values())):
            return None
        return self._feed_script(self._small_inputs())

    async def _drive(self) -> None:
        try:
            finished = await self._run()
        except MontyError as error:
            finished = await self._described(error)
            finished = replace(
                finished,
                error_message=self._floats.mended(finished.error_message),
                traceback=self._floats.mended(finished.traceback),
                cpu_seconds=self._cpu_spent(),
            )
        except Exception as problem:  # noqa: BLE001  the reader of our events must learn that no more will come
            finished = Finished(Verdict.LOST, error_type="EngineCrashed", error_message=str(problem))
        for stream, text in self._floats.rest():
            self._events.put_nowait(Output(stream, text))
        self._events.put_nowait(finished)

    def _cpu_spent(self) -> float | None:
        after = _cpu_seconds(self._pid)
        return None if after is None or self._cpu_before is None else round(after - self._cpu_before, 6)

    async def _described(self, error: MontyError) -> Finished:
        arguments = (error, self._source, self._prepared, self._script_feed, self._plan)
        if len(self._plan.code) > LONG_PARSE_BYTES:
            return await asyncio.to_thread(monty_errors.finished, *arguments)
        return monty_errors.finished(*arguments)

    async def _run(self) -> Finished:
        if self._begun is None:
            if self._prelude:
                await self._feed(self._prelude, {})
            await self._bind_large_inputs()
        try:
            answer = await (self._begun or self._feed_script(self._small_inputs()))
            if self._prepared.needs_dump:
                answer = await self._feed(DUMP, {})
        except MontyRuntimeError as error:
            if not monty_errors.concerns_result(error, self._prepared, self._script_feed):
                raise
            answer = await self._feed(guest("monty_result.py"), {})
        if not isinstance(answer, str):
            return Finished(Verdict.OK, None, cpu_seconds=self._cpu_spent())
        spent = self._cpu_spent()
        return Finished(Verdict.OK, await self._mended(answer), cpu_seconds=spent)

    async def _mended(self, text: str) -> str:
        mended = self._floats.mended
        return await asyncio.to_thread(mended, text) if len(text) > LONG_TEXT_CHARACTERS else mended(text)

    def _small_inputs(self) -> dict[str, Any]:
        small = {name: json.loads(text) for name, text in self._plan.inputs_json.items() if not _is_large(text)}
        return {"files": [file.entry() for file in self._plan.files], **small}

    async def _bind_large_inputs(self) -> None:
        """Large values go in as text and are parsed inside: ten times faster than objects."""
        large = {f"__paddock_{name}": text for name, text in self._plan.inputs_json.items() if _is_large(text)}
        if large:
            lines = [f"{name.removeprefix('__paddock_')} = __paddock_loads({name})" for name in large]
            await self._feed("\n".join(["from json import loads as __paddock_loads", *lines]), large)

    def _feed_script(self, inputs: dict[str, Any]) -> asyncio.Future[Any]:
        self._script_feed = f"<python-input-{self._feeds}>"
        return self._feed(self._prepared.text, {**inputs, RESULT: None})

    def _feed(self, code: str, inputs: dict[str, Any]) -> asyncio.Future[Any]:
        """The worker starts on it before this returns."""
        self._feeds += 1
        fed = self._session.feed_run(
            code,
            inputs=inputs,
            external_lookup={
                f"__paddock_call_{SECRET}": self._call,
                f"__paddock_progress_{SECRET}": self._progress,
                f"__paddock_artifact_{SECRET}": self._artifact,
            },
            print_callback=self._print,
            os=self._files,
        )
        return asyncio.ensure_future(fed)  # it is a future, whatever its stubs say

    def _print(self, stream: Stream, text: str) -> None:
        # Called on a thread of the pool, while the worker waits: events keep their order.
        self._loop.call_soon_threadsafe(self._events.put_nowait, Output(stream, self._floats.printed(stream, text)))

    async def _call(self, tool: object, arguments_json: object) -> Any:
        self._calls += 1
        number = self._calls
        if not isinstance(tool, str) or not isinstance(arguments_json, str) or not arguments_json.startswith("{"):
            raise TypeError("call_tool takes the tool's name and one dict of arguments")
        waiting: asyncio.Future[Any] = self._loop.create_future()
        self._waiting[number] = waiting
        self._events.put_nowait(ToolCall(number, tool[:TOOL_NAME_CHARACTERS], self._floats.mended(arguments_json)))
        return await waiting

    async def _progress(self, done: object, total: object, message: object) -> None:
        if not isinstance(done, int | float) or not isinstance(total, int | float | None):
            raise TypeError("report_progress takes numbers: report_progress(done, total, message)")
        try:
            far, whole = float(done), None if total is None else float(total)
        except OverflowError:
            raise TypeError("report_progress takes numbers that are not huge") from None
        self._progressed += 1
        if self._progressed <= PROGRESS_EVENTS:
            self._events.put_nowait(Progress(far, whole, str(message)[:PROGRESS_CHARACTERS]))

    async def _artifact(self, action: object, name: object, file_type: object, content: object) -> tuple[str, Any]:
        if action not in ("create", "read") or not isinstance(name, str) or not isinstance(file_type, str):
            raise TypeError("artifacts have names")
        if isinstance(content, str):
            content = (await self._mended(content)).encode(errors="replace")
        if not isinstance(content, bytes):
            raise TypeError("the content of an artifact is text or bytes")
        self._artifact_calls += 1
        number = self._artifact_calls
        asked: asyncio.Future[ArtifactAnswer] = self._loop.create_future()
        self._asked[number] = asked
        do: Literal["create", "read"] = "create" if action == "create" else "read"
        self._events.put_nowait(ArtifactCall(number, do, name, file_type, content))
        answer = await asked
        read = answer.content or b""
        return json.dumps(dict(answer.values)), read.decode() if answer.is_text else read


def _is_large(text: str) -> bool:
    return len(text) > SMALL_INPUTS_BYTES


def _crossing(answer: str) -> Any:
    """An answer as it goes into the sandbox: an object where it is small, else its text, which is parsed inside."""
    # Half a character cannot cross as one; and what is no object would look like text that is to be parsed.
    if len(answer) > SMALL_ANSWER_CHARACTERS or "\\ud" in answer or not answer.startswith("{"):
        return answer
    try:
        return json.loads(answer)
    except (ValueError, RecursionError):
        return answer


class _Given:
    """All text that a run is given: in its code, its inputs, its files, what tools answered."""

    def __init__(self, plan: Plan, source: Source) -> None:
        self._plan = plan
        self._source = source
        self.answers: list[str] = []

    def __iter__(self) -> Iterator[str]:
        for node in ast.walk(self._source.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
        yield from self._plan.inputs_json.values()
        yield from (file.file.content.decode(errors="replace") for file in self._plan.files)
        yield from self.answers


def _cpu_seconds(pid: int | None) -> float | None:
    """What a process has spent so far, all its threads together; None where the kernel does not say."""
    if pid is None or sys.platform != "linux":
        return None
    try:
        return time.clock_gettime((~pid << 3) | 2)  # what clock_getcpuclockid(3) computes
    except OSError:
        return None


@lru_cache(maxsize=1)
def _let_threads_finish_at_exit() -> None:
    # The pool's threads let go of Python objects a moment after their last answer. One that asks for the interpreter
    # while it is being torn down aborts the process; at exit they get the time to finish.
    atexit.register(time.sleep, 0.01)
