"""How a test runs a script in a guest for JavaScript: as one for Python, from a nursery of that."""

from __future__ import annotations

from collections.abc import Callable

from paddock.jail.wire import Kind
from tests.guest.harness import Nursery, Ran

Run = Callable[..., Ran]


class JavaScriptNursery(Nursery):
    """A process that forks guests for JavaScript; attached files are in the directory."""

    runtime = "paddock.guest.javascript.main"

    def _request(self) -> dict[str, str]:
        return {"directory": str(self.directory), "files": f"{self.directory}/files"}


def logs(ran: Ran) -> list[tuple[str, str]]:
    """What `console` said: level and text."""
    return [(frame.values()["level"], frame.body.decode()) for frame in ran.frames if frame.kind == Kind.LOG]


def text(ran: Ran) -> str:
    return "\n".join(line for _, line in logs(ran))
