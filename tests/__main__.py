"""Every test, in three processes at once: `python -m tests`, with options for each.

Most tests wait for a kernel, a limit or another process, and one alone leaves a core idle. Each part is an ordinary run
of pytest; the output of the others is shown when the first has ended.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
WALLS = ("escape", "jail")
"""What holds guests in."""
TOOLS = ("tools", "reference", "store", "contract", "guest", "node")
"""What scripts call, and tools and engines that run them. What is in neither takes about as long as each."""


def main(options: list[str]) -> int:
    command = [sys.executable, "-m", "pytest", *options]
    ignored = [f"--ignore=tests/{folder}" for folder in (*WALLS, *TOOLS)]
    others = [_Part([*command, *(f"tests/{folder}" for folder in part)]) for part in (WALLS, TOOLS)]
    try:
        first = subprocess.run([*command, *ignored], cwd=ROOT, check=False).returncode
    finally:
        statuses = [part.ended() for part in others]
    return next((status for status in (first, *statuses) if status), 0)


class _Part:
    """A run of pytest whose output is kept until it has ended."""

    def __init__(self, command: list[str]) -> None:
        self._kept = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  open as long as the process
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=self._kept, stderr=subprocess.STDOUT)

    def ended(self) -> int:
        status = self._process.wait()
        with self._kept:
            self._kept.seek(0)
            sys.stdout.write(self._kept.read())
        return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
