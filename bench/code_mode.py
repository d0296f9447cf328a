"""FastMCP's CodeMode to compare with, installed once into an environment of its own."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "code_mode_requirements.txt"


def command() -> list[str]:
    """The command that starts CodeMode as an MCP server over stdio. Installs it first where needed."""
    digest = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:12]
    environment = Path(sys.prefix) / f"bench-code-mode-{digest}"
    if not environment.exists():
        _install(environment)
    return [str(environment / "bin" / "python"), "-I", str(HERE / "code_mode_server.py")]


def _install(environment: Path) -> None:
    """Install beside the final place and rename, so that an interrupted installation is never used."""
    partial = environment.with_name(f"{environment.name}.{os.getpid()}")
    uv = str(Path(sys.executable).parent / "uv")
    _run(uv, "venv", "--quiet", "--relocatable", "--clear", "--python", sys.executable, str(partial))
    python = str(partial / "bin" / "python")
    _run(uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", python, "--requirement", str(REQUIREMENTS))
    try:
        partial.rename(environment)
    except OSError:  # another bench installed it meanwhile
        shutil.rmtree(partial)


def _run(*command: str) -> None:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{' '.join(command)} failed:\n{ended.stdout}{ended.stderr}"
