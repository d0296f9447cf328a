"""The life of a guest process: READY, a job, STARTED, the script, RESULT, exit. `session` runs more than one job."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import threading
from typing import Any, NoReturn

from paddock.guest.python import (
    answers,
    clock,
    display,
    errors,
    execution,
    functions,
    job,
    left_files,
    limits,
    matplotlib_import,
    namespace,
    notices,
    rehearsal,
    script,
    session,
    start_methods,
    streams,
    tasks,
)
from paddock.guest.python.channel import Channel
from paddock.guest.python.execution import Outcome
from paddock.jail import wire
from paddock.jail.wire import Kind

_getpid, _exit = os.getpid, os._exit


def serve(control: socket.socket, is_urgent: bool = False) -> NoReturn:
    """Run the one script that arrives over `control`, then end the process.

    Everything that does not depend on the script is done before READY. With `is_urgent` the rehearsal is skipped. The
    process has one thread, is jailed, and has the host's pipes as descriptors 1 and 2.
    """
    job.run_to_exit(lambda: _serve(control, is_urgent))


def warm_up() -> None:
    """Called in the zygote before it forks: prepare everything that is the same in every guest, and rehearse."""
    tasks.install(_channel)
    rehearsal.warm_up(_channel, _calls)
    _prepare()


def _prepare() -> None:
    global _names  # noqa: PLW0603
    _names = namespace.main_module()
    tasks.install(_channel)
    streams.install()
    limits.prepare()
    sys.excepthook = execution.show_uncaught
    threading.excepthook = execution.show_uncaught_in_thread


# Created in the zygote so that guests share their memory pages.
matplotlib_import.install({"matplotlib.pyplot": display.replace_show, "multiprocessing.context": start_methods.limit})
_channel = Channel()
_calls = functions.make_functions(_channel)
_names: dict[str, Any] | None = None
_READY, _STARTED = wire.pack(Kind.READY), wire.pack(Kind.STARTED)


def _serve(control: socket.socket, is_urgent: bool) -> NoReturn:
    if _names is None:
        _prepare()
    names = _names or {}
    namespace.reseed()
    pid = _getpid()
    if not is_urgent:
        rehearsal.rehearse(_channel, _calls)
        rehearsal.exercise_libraries(_channel, _calls)
    _channel.attach(control)
    folder = namespace.set_file_and_path(names)
    left_files.note_existing(folder)
    if not is_urgent:
        left_files.warn(folder, may_keep=False)  # rehearses it
        notices.clear()
    data_bytes = limits.data_bytes()
    control.setblocking(True)
    control.sendall(_READY)
    received = job.receive(control)
    if received is None:
        _exit(0)
    if received.start.get("session"):
        session.Session(names, _channel, _calls, data_bytes).serve(received)
    namespace.fill(names, received, _calls)
    left_files.attach(folder, received.start.get("files") or (), is_script=received.is_script)
    outcome = _run(received, names, data_bytes, control)
    if _getpid() != pid and outcome.status == "raised" and not received.is_script:
        streams.write_line(outcome.error["traceback"])  # a process that the script forked reports its own failure
    execution.shut_down()
    if _getpid() == pid:
        _conclude(received, names, outcome, folder)
        execution.send_result(_channel, outcome)
    execution.exit_process(outcome)


def _conclude(received: job.Job, names: dict[str, Any], outcome: Outcome, folder: str) -> None:
    """Add the warnings that are known only at the end, and keep files. Nothing in here may prevent the RESULT."""
    if outcome.status == "rejected" or received.start.get("check_only"):
        return
    if received.start.get("keep_files"):
        with contextlib.suppress(Exception):
            left_files.keep(_channel, folder, display.show_image)
    if outcome.error.get("type") == "MemoryError":
        return
    with contextlib.suppress(Exception):
        tasks.warn()
        namespace.warn_of_hidden(received.inputs, names)
        answers.warn(except_line=outcome.error.get("line"))
        if outcome.status != "raised" and not received.start.get("keep_files"):  # else it has to run again anyway
            left_files.warn(folder, may_keep="create_artifact" in names)


def _run(received: job.Job, names: dict[str, Any], data_bytes: int | None, control: socket.socket) -> Outcome:
    """Apply the limits, compile, send STARTED, run. Hostile source is parsed here, on the run's clock."""
    start = received.start
    limits.apply(received.limits, data_bytes)
    try:
        ready = script.compile_script(
            received.code, is_expression=not received.is_script, with_outline=bool(start.get("outline"))
        )
    except SyntaxError as error:
        return execution.describe_rejected(error, is_script=received.is_script)
    if ready.outline is not None:
        _send_outline(ready.outline, names, control)
    if start.get("check_only"):
        return Outcome("ok")
    if received.is_script:
        _write_file(ready.source)
        display.can_keep = False
    refused, recursion = start.get("refused_modules") or (), received.limits.get("recursion")
    if start.get("keep_files"):
        display.begin(_channel)
    namespace.replace_import(refused, recursion)
    control.sendall(_STARTED)
    _channel.set_nonblocking()
    clock.start(received.limits, _channel)
    if packages := start.get("packages"):  # after STARTED, because `.pth` files run code
        namespace.add_packages(packages[0], first=packages[1])
    if not received.is_script:
        tasks.start(received.limits.get("wall_seconds"))
    outcome = execution.run(ready, names, recursion, _channel, refused, is_script=received.is_script)
    if start.get("keep_files") and outcome.status in ("ok", "exited"):
        with contextlib.suppress(Exception):
            display.finish(ready.result.value)
    return outcome


def _send_outline(outline: dict[str, Any], names: dict[str, Any], control: socket.socket) -> None:
    """Send the outline to the host, and wait for the names of the script's tools."""
    control.sendall(wire.pack(Kind.OUTLINE, body=json.dumps(outline).encode()))
    go = wire.receive(control)
    if go is None:
        _exit(0)
    names |= functions.link_tools(_calls, json.loads(go.body)["tools"])


def _write_file(code: str) -> None:
    """Write the script to its `__file__`, for example for a process that it spawns."""
    try:
        with open(errors.FILE_NAME, "w", encoding="utf-8", newline="") as file:  # noqa: PTH123
            file.write(code)
    except OSError:
        pass  # the folder is not writable; tracebacks and `inspect` have the lines anyway
