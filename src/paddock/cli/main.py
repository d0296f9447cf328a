"""Where the `paddock` command is entered. Signals are watched before anything that takes time is imported."""

from __future__ import annotations

import os
import sys

from paddock.cli.signals import die_quietly, watch

TYPE_CHECKING = False  # `typing` itself would come too early
if TYPE_CHECKING:
    from typing import NoReturn


def entry() -> NoReturn:
    """Run the command that `sys.argv` names, and exit with its status."""
    watch()
    _fill_closed_streams()
    try:
        status = _status()
    finally:
        die_quietly()
        _leave_closed_pipes_alone()
    if "pydantic_monty" in sys.modules:
        # A thread of its runtime that asks for the interpreter while that is torn down panics, on stderr. Everything
        # is closed and flushed by now, so there is nothing to tear down.
        os._exit(status)
    sys.exit(status)


def mcp_entry() -> NoReturn:
    """Run `paddock mcp` with the arguments of `sys.argv`: the command `paddock-mcp`."""
    sys.argv[1:1] = ["mcp"]
    entry()


def _status() -> int:
    try:
        from paddock.cli.commands import command
        from paddock.cli.ending import status_of
    except OSError as problem:  # not even a module could be opened
        print(f"Error: Paddock could not be loaded: {problem}", file=sys.stderr)
        return 3
    return status_of(command)


def _fill_closed_streams() -> None:
    # Else the next file that is opened takes the number, and a process that we start finds it in the place of a stream.
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def _leave_closed_pipes_alone() -> None:
    # A reader that has gone makes the last flush fail, which Python would report on stderr.
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
