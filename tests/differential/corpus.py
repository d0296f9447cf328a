"""The differential corpus: small scripts of the kind an agent writes, grouped by topic.

Each file of ``scripts/`` is data, not a module. A line ``# --- some-name`` opens a
script, which runs up to the next such line or to the end of the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

SCRIPTS = Path(__file__).parent / "scripts"

_SEPARATOR = re.compile(r"# --- ([a-z0-9]+(?:-[a-z0-9]+)*)")


@dataclass(frozen=True)
class Script:
    name: str
    topic: str
    source: str


def _parse(topic: str, text: str) -> list[Script]:
    scripts: list[Script] = []
    name: str | None = None
    lines: list[str] = []

    def close() -> None:
        source = "\n".join(lines).rstrip()
        if name is not None:
            if not source:
                raise ValueError(f"{topic}: script {name} is empty")
            scripts.append(Script(name, topic, source + "\n"))
        elif source:
            raise ValueError(f"{topic}: text before the first separator")

    for line in text.split("\n"):
        match = _SEPARATOR.fullmatch(line.rstrip())
        if match:
            close()
            name, lines = match.group(1), []
        elif line.startswith("# ---"):
            raise ValueError(f"{topic}: malformed separator {line!r}")
        else:
            lines.append(line)
    close()
    return scripts


def load() -> list[Script]:
    """Every script of the corpus, in the order of the files' names, then of the files."""
    scripts: list[Script] = []
    seen: dict[str, str] = {}
    for path in sorted(SCRIPTS.glob("*.py")):
        for script in _parse(path.stem, path.read_text(encoding="utf-8")):
            if script.name in seen:
                raise ValueError(f"{script.name} is in {seen[script.name]} and in {path.stem}")
            seen[script.name] = path.stem
            scripts.append(script)
    return scripts
