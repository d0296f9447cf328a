"""The pages of the repository that have examples, and the fenced blocks in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import paddock

ROOT = Path(paddock.__file__).parents[2]
PAGES = (
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
)
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block; `output` is the `text` block that follows it with nothing but blank lines between."""

    language: str
    text: str
    line: int
    output: str | None


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = list(_FENCE.finditer(text))
    made = []
    for match, after in zip_longest(found, found[1:]):
        shown = after is not None and after[1] == "text" and not text[match.end() : after.start()].strip()
        line = text.count("\n", 0, match.start()) + 2
        made.append(Block(match[1], match[2], line, after[2] if shown and after is not None else None))
    return made


def rows(page: Path, heading: str = "") -> list[list[str]]:
    """The cells of every table row whose first cell is code; of one section only where its heading is given."""
    text = page.read_text(encoding="utf-8")
    if heading:
        text = re.split(r"^#+ ", text.split(f"# {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))] for line in lines]


def code(cell: str) -> str:
    """What the first pair of backticks in `cell` holds."""
    found = re.search(r"(`+)(.+?)\1", cell)
    return found[2].strip().replace("\\|", "|") if found else ""
