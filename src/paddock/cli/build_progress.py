"""What stderr shows while an environment is built: one line that changes on a terminal, plain lines elsewhere."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

from paddock.cli.show import Screen, safe
from paddock.errors import HostError

LOG = logging.getLogger("paddock.jail")


@contextmanager
def build_progress() -> Iterator[Callable[[str], None]]:
    """A function to call with each line of the build, from any thread. What is not called loads no rich."""
    screen = Screen(sys.stderr)
    if not screen.is_terminal:
        yield screen.line
        return
    shown = _Spinner()
    try:
        yield shown.tell
    finally:
        shown.close()


@contextmanager
def first_use() -> Iterator[Callable[[], None]]:
    """Show what an engine builds when it is first used, to the end of the block or the call of the given function."""
    with ExitStack() as shown:
        handler, level = _Told(shown.enter_context(build_progress()), shown.close), LOG.level
        LOG.addHandler(handler)
        LOG.setLevel(logging.INFO)
        shown.callback(LOG.setLevel, level)
        shown.callback(LOG.removeHandler, handler)
        yield shown.close


class _Told(logging.Handler):
    """The jail's own log: the lines of a build, and what a user must know about it."""

    def __init__(self, tell: Callable[[str], None], close: Callable[[], None]) -> None:
        super().__init__()
        self._tell, self._close = tell, close

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(HostError, OSError):  # a build does not fail because nobody can read of it
            if record.levelno < logging.WARNING:
                self._tell(record.getMessage())
            else:
                self._close()
                Screen(sys.stderr).line(f"Warning: {record.getMessage()}", "yellow")


class _Spinner:
    """A spinner with the latest line beside it, gone when the build is over."""

    def __init__(self) -> None:
        self._close: Callable[[], None] = lambda: None
        self._update: Callable[[str], None] | None = None

    def tell(self, line: str) -> None:
        if self._update is None:
            self._update = self._start(safe(line.strip()))
        else:
            self._update(safe(line.strip()))

    def _start(self, first: str) -> Callable[[str], None]:
        from rich.console import Console
        from rich.live import Live
        from rich.spinner import Spinner
        from rich.text import Text

        def shown(line: str) -> Text:
            return Text(line, overflow="ellipsis", no_wrap=True)  # text, never markup

        spinner = Spinner("dots", text=shown(first), style="green")
        live = Live(spinner, console=Console(stderr=True), refresh_per_second=12.5, transient=True)
        live.start(refresh=True)  # a line that is replaced before the next turn would never be seen
        self._close = live.stop
        return lambda line: spinner.update(text=shown(line))

    def close(self) -> None:
        self._close()
