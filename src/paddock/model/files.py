"""Files attached to a run, and the paths under which the script finds them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from paddock.errors import BadFile

ROOT = "/files"
MAX_NAME_BYTES = 255
MAX_TEXT_CHARACTERS = 5000


@dataclass(frozen=True, slots=True)
class File:
    """One attached file: its name as the user knows it, and its bytes. A name is data, never a host path."""

    file_name: str
    content: bytes
    file_type: str = ""
    element_id: str = ""


@dataclass(frozen=True, slots=True)
class PlacedFile:
    """An attached file and the path under which the script reads it."""

    path: str
    file: File

    def entry(self) -> dict[str, str]:
        """The file's item in the script's `files` list."""
        return {
            "path": self.path,
            "file_name": self.file.file_name,
            "file_type": self.file.file_type,
            "element_id": self.file.element_id,
        }


def place(files: Iterable[File]) -> tuple[PlacedFile, ...]:
    """Give each file its own path. The second of two equal names gets a suffix: `a.csv`, `a-2.csv`."""
    placed: list[PlacedFile] = []
    used_names: set[str] = set()
    if isinstance(files, File) or not isinstance(files, Iterable):
        raise BadFile(f"files must be a list of paddock.File, not {type(files).__name__}")
    for number, file in enumerate(files, start=1):
        if not isinstance(file, File):
            raise BadFile(f"files contains {type(file).__name__}; each item must be a paddock.File")
        for text in (file.file_name, file.file_type, file.element_id):
            if isinstance(text, str) and len(text) > MAX_TEXT_CHARACTERS:
                raise BadFile(f"a file's name, type or element_id has at most {MAX_TEXT_CHARACTERS} characters")
            if not isinstance(text, str) or any(0xD800 <= ord(c) <= 0xDFFF for c in text):
                raise BadFile(f"{text!r} is not valid text for a file's name, type or element_id")
        if not isinstance(file.content, bytes):
            raise BadFile(f"the content of {file.file_name!r} must be bytes, not {type(file.content).__name__}")
        stem, dot, suffix = _safe_name(file.file_name, number).partition(".")
        name, copy = f"{stem}{dot}{suffix}", 1
        while name in used_names:
            copy += 1
            name = f"{stem}-{copy}{dot}{suffix}"
        used_names.add(name)
        placed.append(PlacedFile(f"{ROOT}/{name}", file))
    return tuple(placed)


def _safe_name(name: str, number: int) -> str:
    """`name` made safe: without directories and control characters, and not too long."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    printable = "".join(c for c in last if c.isprintable()).strip()
    cut = printable.encode()[: MAX_NAME_BYTES - 8].decode(errors="ignore")
    return cut if cut.strip(".") else f"file-{number}"
