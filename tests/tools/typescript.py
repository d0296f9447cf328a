"""The TypeScript compiler, of one exact version, installed once beside the other tools of the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

VERSION = "7.0.2"
BIN = Path(sys.executable).parent
CACHE = Path(sys.prefix) / f"typescript-{VERSION}"
OPTIONS = ("--strict", "--noEmit", "--pretty", "false", "--target", "es2022", "--lib", "es2023", "--types", "")


@cache
def compiler() -> Path:
    """The path of `tsc`. Needs the package index the first time; fails where that cannot be reached."""
    found = CACHE / "node_modules" / ".bin" / "tsc"
    if not found.exists():
        _install()
    assert found.exists(), f"{CACHE} is there and has no compiler; remove it"
    return found


def findings(folder: Path, *files: str) -> list[str]:
    """What `tsc --strict` says about `files`, a line each; nothing where they are right."""
    command = [str(compiler()), *OPTIONS, "--moduleDetection", "force", *files]
    done = subprocess.run(
        command, cwd=folder, env=_environment(), capture_output=True, text=True, timeout=120, check=False
    )
    said = (done.stdout + done.stderr).splitlines()
    assert done.returncode == 0 or said, "the compiler failed without a word"
    return said


def _install() -> None:
    staging = Path(tempfile.mkdtemp(prefix="typescript-", dir=CACHE.parent))
    try:
        command = [str(BIN / "npm"), "install", "--prefix", str(staging), "--no-audit", "--no-fund", "--ignore-scripts"]
        subprocess.run([*command, f"typescript@{VERSION}"], env=_environment(), check=True, timeout=300)
        with suppress(OSError):  # another test process may have been quicker
            staging.rename(CACHE)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"}
