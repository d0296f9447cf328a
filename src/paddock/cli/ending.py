"""How a command ends: one place that turns what went wrong into a line on stderr and an exit status."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

import typer

from paddock.cli.show import Screen
from paddock.model.errors import EngineUnavailable, HostError, PaddockError, surface

FAULT = 3


class Interrupted(BaseException):
    """The user, or the system, asked the command to stop."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number


def end(work: Callable[[], int]) -> NoReturn:
    """Do the command's `work` and exit with the status it returns, or with the one its failure stands for."""
    try:
        status = work()
    except PaddockError as error:
        hint = ["`paddock doctor` says what works on this machine."] if isinstance(error, EngineUnavailable) else []
        _say("red", f"Error: {error}", *hint)
        status = surface(error).exit_code
    except Interrupted as stopped:
        _say("yellow", "cancelled")
        status = stopped.status
    except KeyboardInterrupt:  # before anything ran, or the second Ctrl-C of an impatient user
        _say("yellow", "cancelled")
        status = 128 + signal.SIGINT
    except BrokenPipeError:
        status = 128 + signal.SIGPIPE  # the reader has what it wanted: nothing to say
    except Exception:  # noqa: BLE001  the outermost entry point: a fault of ours is reported as one
        import traceback

        said = traceback.format_exc().rstrip()
        _say("red", said, "Error: this is a fault of Paddock, not of your script; please report the lines above")
        status = FAULT
    raise typer.Exit(status)


def _say(colour: str, *lines: str) -> None:
    # Nobody may be listening on stderr any more; the status still tells.
    with suppress(BrokenPipeError, HostError):
        screen = Screen(sys.stderr)
        for line in lines:
            screen.line(line, colour)
