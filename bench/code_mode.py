"""FastMCP's CodeMode as something to measure against: installed once, beside our own environment and never into it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bench.runner import Act

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "code_mode_requirements.txt"


@asynccontextmanager
async def code_mode(script: str, answer: str, *, way: str = "lines") -> AsyncIterator[Act]:
    """Runs `script` in a process that stays. One round trip over a pipe, a tenth of a millisecond, is measured with it.

    With `client` as its way, FastMCP's own client in memory is between. AssertionError where the script does not come
    to `answer`.
    """
    process = await asyncio.create_subprocess_exec(*command(way), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout

    async def run() -> None:
        # Our own loop goes on meanwhile: what it has to do would wait for our turn otherwise.
        stdin.write(json.dumps(script).encode() + b"\n")
        said = await stdout.readline()
        assert json.loads(said) == [answer], said

    try:
        yield run
    finally:
        stdin.close()
        await process.wait()


def command(way: str) -> list[str]:
    """The program that offers CodeMode that way."""
    return [_python(), "-I", str(HERE / "code_mode_server.py"), way]


def _python() -> str:
    """The interpreter of the environment, which is made aside and renamed: half of one is never seen."""
    digest = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:12]
    place = Path(sys.prefix) / f"bench-code-mode-{digest}"
    if not place.exists():
        aside = place.with_name(f"{place.name}.{os.getpid()}")
        uv = str(Path(sys.executable).parent / "uv")
        _ran(uv, "venv", "--quiet", "--relocatable", "--clear", "--python", sys.executable, str(aside))
        python = str(aside / "bin" / "python")
        _ran(uv, "pip", "install", "--quiet", "--python", python, "--requirement", str(REQUIREMENTS))
        try:
            aside.rename(place)
        except OSError:  # another run was quicker
            shutil.rmtree(aside)
    return str(place / "bin" / "python")


def _ran(*command: str) -> None:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{' '.join(command)} failed:\n{ended.stdout}{ended.stderr}"
