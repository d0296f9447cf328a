"""What stderr shows while an environment is built: one line that changes on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from paddock.cli.show import Screen, safe


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


class _Spinner:
    """A spinner with the latest line beside it, gone when the build is over."""

    def __init__(self) -> None:
        self._close: Callable[[], None] = lambda: None
        self._update: Callable[[str], None] | None = None

    def tell(self, line: str) -> None:
        if self._update is None:
            self._update = self._start()
        self._update(safe(line.strip()))

    def _start(self) -> Callable[[str], None]:
        from rich.console import Console
        from rich.text import Text

        status = Console(stderr=True).status("")
        status.start()
        self._close = status.stop
        return lambda line: status.update(Text(line, overflow="ellipsis", no_wrap=True))  # text, never markup

    def close(self) -> None:
        self._close()
