"""How a command ends: one place that turns what went wrong into a line on stderr and an exit status."""

from __future__ import annotations

import errno
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

import typer

from paddock.cli.show import Screen, unwritable
from paddock.cli.signals import Interrupted, die_quietly
from paddock.errors import EngineUnavailable, HostError, PaddockError, surface

FAULT = 3
TOO_FEW_FILES = "this process may not open enough files; allow more, for example with `ulimit -n 256`"


def status_of(work: Callable[[], int]) -> int:
    """Do the command's `work`: the status that it returns, or the one that its failure stands for."""
    try:
        return work()
    except typer.Exit as left:
        return left.exit_code
    except typer.TyperException as mistake:  # of the flags; Typer knows how to show it
        with suppress(OSError):
            if sys.stderr is not None:  # Typer would take stdout instead
                mistake.show()  # type: ignore[attr-defined]
        return mistake.exit_code
    except PaddockError as error:
        hint = ["`paddock doctor` says what works on this machine."] if isinstance(error, EngineUnavailable) else []
        _say("red", f"Error: {error}", *hint)
        return surface(error).exit_code
    except Interrupted as stopped:
        die_quietly()
        _say("yellow", "cancelled")
        return stopped.status
    except BrokenPipeError:
        return 128 + signal.SIGPIPE  # the reader has what it wanted: nothing to say
    except BaseException as fault:  # noqa: BLE001  the outermost entry point; a panic of an engine is no Exception
        _say("red", *_explained(fault))
        return FAULT


def _explained(fault: BaseException) -> list[str]:
    """What a user can do about it, where that is known; else what we need to see."""
    if isinstance(fault, OSError) and fault.errno in {errno.EMFILE, errno.ENFILE}:
        return [f"Error: {TOO_FEW_FILES}"]
    if isinstance(fault, OSError) and fault.filename is None and fault.errno in {errno.ENOSPC, errno.EIO, errno.EBADF}:
        return [f"Error: {unwritable(fault)}"]  # --help, which Typer writes
    import traceback

    said = "".join(traceback.format_exception(fault)).rstrip()
    return [said, "Error: this is a fault of Paddock, not of your script; please report the lines above"]


def _say(colour: str, *lines: str) -> None:
    # Nobody may be listening on stderr any more; the status still tells.
    with suppress(BrokenPipeError, HostError):
        screen = Screen(sys.stderr)
        for line in lines:
            screen.line(line, colour)
