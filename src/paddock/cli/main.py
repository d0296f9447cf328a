"""Entry points of the commands `paddock` and `paddock-mcp`, and how each command ends.

Signals are watched before anything that takes time is imported.
"""

from __future__ import annotations

import os
import sys

from paddock.cli.signals import TOO_FEW_FILES, Interrupted, restore_defaults, watch

TYPE_CHECKING = False  # importing `typing` itself would take too long here
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

FAULT = 3


def entry() -> NoReturn:
    """Run the command that `sys.argv` names, and exit with its status."""
    watch()
    _fill_closed_streams()
    os.umask(os.umask(0o077) | 0o002)  # others must not write to the data directory: what is in it runs as this user
    try:
        status = _status()
    finally:
        restore_defaults()
        _ignore_closed_pipes()
    if "pydantic_monty" in sys.modules:
        # Monty's runtime has a thread that panics if the interpreter shuts down before it. Everything is closed and
        # flushed by now, so the normal shutdown can be skipped.
        os._exit(status)
    sys.exit(status)


def mcp_entry() -> NoReturn:
    """Run `paddock mcp` with the arguments of `sys.argv`: the command `paddock-mcp`."""
    sys.argv[1:1] = ["mcp"]
    entry()


def _status() -> int:
    try:
        from paddock.cli.app import command
    except OSError as problem:  # a module could not be opened, for example because too many files are open
        print(f"Error: Paddock could not be loaded: {problem}", file=sys.stderr)
        return FAULT
    return status_of(command)


def status_of(work: Callable[[], int]) -> int:
    """Run a command, and turn an exception into a line on stderr and an exit status."""
    import logging
    import signal
    from contextlib import suppress

    import typer

    from paddock.errors import EngineUnavailable, PaddockError
    from paddock.server.logs import TextFormatter

    if logging.lastResort is not None:  # writes the warnings of a command, which may quote an upstream
        logging.lastResort.setFormatter(TextFormatter())
    try:
        return work()
    except typer.Exit as exit_request:
        return exit_request.exit_code
    except typer.TyperException as mistake:  # wrong flags: Typer writes the message
        with suppress(OSError):
            if sys.stderr is not None:  # without stderr, Typer would write to stdout
                mistake.show()  # type: ignore[attr-defined]
        return mistake.exit_code
    except PaddockError as error:
        hint = ["`paddock doctor` shows what works on this machine."] if isinstance(error, EngineUnavailable) else []
        _print_error("red", f"Error: {error}", *hint)
        return error.exit_code
    except Interrupted as stopped:
        restore_defaults()
        _print_error("yellow", "cancelled")
        return stopped.status
    except BrokenPipeError:
        return 128 + signal.SIGPIPE
    except BaseException as fault:  # noqa: BLE001  the outermost entry point; a panic of an engine is not an Exception
        if isinstance(fault, UnicodeEncodeError) and any("\ud800" <= each <= "\udfff" for each in "".join(sys.argv)):
            _print_error("red", "Error: an argument is not UTF-8 text")
            return 2
        _print_error("red", *_describe_fault(fault))
        return FAULT


def _describe_fault(fault: BaseException) -> list[str]:
    import errno
    import traceback

    from paddock.cli.options import SERVER
    from paddock.cli.render import unwritable
    from paddock.jail.walls.shortage import REMEDIES, is_thread_shortage

    strange = LookupError | TypeError | ValueError | ArithmeticError | AttributeError | RecursionError
    if SERVER.is_asked and isinstance(fault, strange):
        what = f"{type(fault).__name__}: {fault}"
        return [f"Error: the server sent an answer that is not one of this version's REST API ({what})"]
    if is_thread_shortage(fault):  # closing an event loop takes a thread too, and this hides an earlier error
        return [f"Error: {REMEDIES[errno.EAGAIN]}"]
    if isinstance(fault, OSError) and fault.errno in {errno.EMFILE, errno.ENFILE}:
        return [f"Error: {TOO_FEW_FILES}"]
    if isinstance(fault, OSError) and fault.filename is None and fault.errno in {errno.ENOSPC, errno.EIO, errno.EBADF}:
        return [f"Error: {unwritable(fault)}"]  # the output of --help, which Typer itself writes
    trace = "".join(traceback.format_exception(fault)).rstrip()
    return [trace, "Error: this is a fault of Paddock, not of your script; please report the lines above"]


def _print_error(colour: str, *lines: str) -> None:
    from contextlib import suppress

    from paddock.cli.render import Screen
    from paddock.errors import HostError

    with suppress(BrokenPipeError, HostError):  # if stderr cannot be written, the exit status still reports the failure
        screen = Screen(sys.stderr)
        for line in lines:
            screen.line(line, colour)


def _fill_closed_streams() -> None:
    # The next file to be opened would get the number of a closed stream, and child processes would write to it.
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def _ignore_closed_pipes() -> None:
    # If the reader has closed the pipe, the last flush fails, which Python would report on stderr.
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
