"""A session: an interpreter that runs one cell after another, and keeps variables, imports and files between them.

A cell is a run. The host gives each a random tag, with which the guest marks the frames about the cell as a whole: what
was sent during an earlier cell, or by a thread of it, is not taken for this one.
"""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import importlib
import json
import os
import signal
from typing import Any, NoReturn

from paddock.guest.python import (
    answers,
    clock,
    display,
    errors,
    execution,
    fork,
    functions,
    job,
    left_files,
    limits,
    namespace,
    notices,
    script,
    streams,
    tasks,
)
from paddock.guest.python.channel import Channel
from paddock.guest.python.execution import Outcome
from paddock.guest.python.functions import Functions
from paddock.jail import wire
from paddock.jail.wire import Kind

_getpid, _exit = os.getpid, os._exit
_signal = signal.signal
_READY = wire.pack(Kind.READY)


class Session:
    """The interpreter of one session. Its first job has arrived."""

    def __init__(self, names: dict[str, Any], channel: Channel, calls: Functions, data_bytes: int | None) -> None:
        self._names, self._channel, self._calls = names, channel, calls
        self._data_bytes = data_bytes
        self._placed: dict[str, Any] = {}  # what the runtime has defined for the cells so far
        self._sets: set[str] = set()  # folders of packages that were added
        self._runner = asyncio.Runner()
        self._import, self._import_module = builtins.__import__, importlib.import_module
        self._pid = _getpid()
        self._folder = os.getcwd()  # noqa: PTH109

    def serve(self, first: job.Job) -> NoReturn:
        """Run `first` and then each job that arrives, until the host closes the socket."""
        received: job.Job | None = first
        self._channel.set_nonblocking()
        descriptors: list[int] = []
        while received is not None:
            if received.is_fork:
                self._fork(descriptors)
            else:
                self._run_cell(received)
            with self._channel.receiving() as control:
                received, descriptors = job.receive(control, replaces_files=True), control.descriptors
        _exit(0)

    def _fork(self, descriptors: list[int]) -> None:
        """Fork, and go on as the new process with these descriptors as well as this one."""
        self._runner.close()  # two processes must not share an event loop
        self._runner = asyncio.Runner()
        streams.flush_all()
        if (made := fork.fork(descriptors, self._folder)) is None:
            return
        control, self._folder = made
        self._channel.replace(control)
        self._pid = _getpid()
        namespace.reseed()
        left_files.remember(self._folder)
        control.sendall(_READY)

    def _run_cell(self, received: job.Job) -> None:
        cell, tag = received.start["session"]["cell"], received.start["session"]["tag"]
        errors.Source.begin(f"cell {cell}")
        notices.clear()
        tasks.forget()
        answers.forget()
        outcome = self._interruptible(received, tag)
        is_over = outcome.status == "exited" or _getpid() != self._pid
        if _getpid() != self._pid and outcome.status == "raised":
            streams.write_line(outcome.error["traceback"])  # a process that the cell forked reports its own failure
        if is_over:
            execution.shut_down()
        streams.flush_all()
        if _getpid() == self._pid:
            self._conclude(received, outcome)
            self._send(outcome, tag, received.limits.get("output_bytes"))
        if is_over:
            execution.exit_process(outcome)

    def _interruptible(self, received: job.Job, tag: int) -> Outcome:
        """Run the cell. SIGINT raises KeyboardInterrupt in it; one that comes later is ignored."""
        try:
            _signal(signal.SIGINT, signal.default_int_handler)
            return self._run(received, tag)
        except KeyboardInterrupt as error:  # while the cell was compiled or cleaned up
            return Outcome("raised", error=errors.describe(error))
        finally:
            for _ in range(2):  # a pending interrupt is raised by the first call
                with contextlib.suppress(KeyboardInterrupt):
                    clock.stop()
                    _signal(signal.SIGINT, signal.SIG_IGN)

    def _run(self, received: job.Job, tag: int) -> Outcome:
        start, recursion = received.start, received.limits.get("recursion")
        limits.apply(received.limits, self._data_bytes, in_session=True)
        self._fill(received, start.get("tools") or [])
        left_files.attach(self._folder, start.get("files") or (), is_script=False)
        try:
            ready = script.compile_script(received.code, is_expression=True, with_outline=bool(start.get("outline")))
        except SyntaxError as error:
            return execution.describe_rejected(error, is_script=False)
        if ready.outline is not None:
            self._send_outline(ready.outline, tag, received)
        builtins.__import__, importlib.import_module = self._import, self._import_module
        namespace.replace_import((), recursion)
        display.begin(self._channel if start.get("keep_files") else None)
        self._channel.send(Kind.STARTED, tag, {})
        clock.start(received.limits, self._channel)
        if (packages := start.get("packages")) and packages[0] not in self._sets:  # now: `.pth` files run code
            namespace.add_packages(packages[0], first=packages[1])
            self._sets.add(packages[0])
        tasks.start(received.limits.get("wall_seconds"))
        if ready.is_async and self._runner.get_loop().is_closed():
            self._runner = asyncio.Runner()
        try:
            outcome = execution.run(ready, self._names, recursion, self._channel, is_script=False, runner=self._runner)
        finally:
            if ready.is_async:
                tasks.cancel(self._runner.get_loop())
        if start.get("keep_files") and outcome.status == "ok":
            with contextlib.suppress(Exception):
                display.finish(ready.result.value)
        if outcome.status == "ok" and ready.result.value is not None:
            builtins._ = ready.result.value  # type: ignore[attr-defined]  # as in Python's own prompt
        return outcome

    def _fill(self, received: job.Job, tools: list[str]) -> None:
        """Define the cell's tools, functions and files, unless the script has used their names, and its inputs."""
        offered: dict[str, Any] = functions.link_tools(self._calls, tools) | self._calls
        files = received.start.get("files") or []
        if files:
            self._names["files"] = self._placed["files"] = files
        namespace.renew(
            self._names, self._placed, {**namespace.STANDARD, "display": display.display, "files": files, **offered}
        )
        namespace.set_inputs(self._names, received)

    def _send_outline(self, outline: dict[str, Any], tag: int, received: job.Job) -> None:
        """Send the outline to the host, and wait for the names of the cell's tools."""
        self._channel.send(Kind.OUTLINE, tag, {}, json.dumps(outline).encode())
        with self._channel.receiving() as control:
            while (go := wire.receive(control)) is not None and go.kind != Kind.GO:
                pass  # an answer to an earlier cell
        if go is None:
            _exit(0)
        self._fill(received, json.loads(go.body)["tools"])

    def _conclude(self, received: job.Job, outcome: Outcome) -> None:
        """Add the warnings that are known only at the end, and keep files. Nothing in here may prevent the RESULT."""
        if outcome.status == "rejected":
            return
        if received.start.get("keep_files"):
            with contextlib.suppress(Exception):
                left_files.keep(self._channel, self._folder, display.show_image)
        if outcome.error.get("type") == "MemoryError":
            return
        with contextlib.suppress(Exception):
            tasks.warn()
            namespace.warn_of_hidden(received.inputs, self._names)
            answers.warn(except_line=outcome.error.get("line"))

    def _send(self, outcome: Outcome, tag: int, output_bytes: int | None) -> None:
        if outcome.status == "ok" and output_bytes is not None and len(outcome.text) > output_bytes:
            self._channel.send_unsent(tag)
        else:
            execution.send_result(self._channel, outcome, tag)
