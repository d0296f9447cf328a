"""Checks Python against stubs with `ty`, as an editor would."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

FINDING = re.compile(r"^script\.py:(\d+):", re.MULTILINE)


def complaints(folder: Path, stub: str) -> str:
    """What `ty` has to say about a stub; empty where it is right."""
    (folder / "api.pyi").write_text(stub, encoding="utf-8")
    return _checked(folder, "api.pyi")


def findings(folder: Path, stub: str, script: str) -> list[int]:
    """The lines of whatever is wrong in a script with top-level `await`, which finds defined what `stub` declares."""
    (folder / "api.pyi").write_text(stub, encoding="utf-8")
    body = "\n".join(f"    {line}" for line in script.splitlines())
    (folder / "script.py").write_text(f"from api import *\nasync def main() -> object:\n{body}\n", encoding="utf-8")
    return [int(line) - 2 for line in FINDING.findall(_checked(folder, "script.py"))]


def _checked(folder: Path, name: str) -> str:
    command = [str(Path(sys.executable).parent / "ty"), "check", "--output-format", "concise"]
    command += ["--python-version", "3.11", name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 or (done.returncode == 1 and done.stdout), done.stderr
    return "" if done.returncode == 0 else done.stdout
