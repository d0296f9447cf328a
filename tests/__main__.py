"""Every test, in two processes at once: `python -m tests`, with options for both.

Most tests wait for a kernel, a limit or another process, and one alone leaves a core idle. Each half is an ordinary run
of pytest; the output of the second is shown when the first has ended.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
WALLS = (
    *("tests/escape", "tests/guest", "tests/jail", "tests/node", "tests/javascript", "tests/contract"),
    *("tests/reference", "tests/conformance"),
)
"""What is about guests and what holds them in, and tools that run in them: about half of the time."""


def main(options: list[str]) -> int:
    command = [sys.executable, "-m", "pytest", *options]
    ignored = [f"--ignore={folder}" for folder in WALLS]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as kept:
        second = subprocess.Popen([*command, *WALLS], cwd=ROOT, stdout=kept, stderr=subprocess.STDOUT)
        try:
            first = subprocess.run([*command, *ignored], cwd=ROOT, check=False).returncode
        finally:
            status = second.wait()
            kept.seek(0)
            sys.stdout.write(kept.read())
    return first or status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
