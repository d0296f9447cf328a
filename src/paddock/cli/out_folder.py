"""Where `paddock run` saves the artifacts of a script: the folder of `--out`, or a temporary one.

The script chose their names.
"""

from __future__ import annotations

import tempfile
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from paddock.errors import HostError, RequestError

if TYPE_CHECKING:
    from paddock.model.artifacts import Artifact

NAME_BYTES = 255
SUFFIX_BYTES = 32
NUMBER_BYTES = 8
"""Reserved in a name for the number that distinguishes two files of the same name."""


def make_folder(path: str) -> Path:
    """Create the folder for artifacts before the script runs, so that an invalid path is refused early."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise RequestError(f"--out {path} cannot be used as a folder: {problem.strerror}") from None
    return folder


def make_temporary_folder() -> Path:
    """Create a folder for the artifacts of a run without --out. It is left to the user."""
    try:
        return Path(tempfile.mkdtemp(prefix="paddock-"))
    except OSError as problem:
        raise HostError(f"no temporary folder for the script's files could be created: {problem}; use --out") from None


def save(folder: Path, contents: list[tuple[Artifact, bytes]]) -> list[dict[str, str]]:
    """Write each artifact to a new file in `folder`. Returns the path of each, as `--json` shows it."""
    return [
        {"id": artifact.id, "filename": artifact.filename, "path": str(_write(folder, artifact.filename, content))}
        for artifact, content in contents
    ]


def safe_name(filename: str) -> str:
    """`filename` as the name of one visible file: no separators, no leading dot or dash, at most 255 bytes.

    A server that is not Paddock's may send what no script can choose, such as control characters.
    """
    name = "".join(each if each.isprintable() and each not in "/\\" else "_" for each in filename).strip()
    if name[:1] in {".", "-"}:
        name = f"_{name[1:]}"
    stem, suffix = _split(name)
    suffix = _cut(suffix, SUFFIX_BYTES)
    return _cut(stem, NAME_BYTES - NUMBER_BYTES - len(suffix.encode())) + suffix


def _write(folder: Path, filename: str, content: bytes) -> Path:
    stem, suffix = _split(safe_name(filename))
    for number in count():
        path = folder / (f"{stem}-{number}{suffix}" if number else f"{stem}{suffix}")
        try:
            # "x" neither overwrites a file nor follows a link.
            with path.open("xb") as file:
                file.write(content)
        except FileExistsError:
            continue
        except OSError as problem:
            raise HostError(f"the artifact {filename!r} could not be saved in {folder}: {problem.strerror}") from None
        return path
    raise AssertionError("count() never ends")


def _split(name: str) -> tuple[str, str]:
    stem, dot, suffix = name.rpartition(".")
    return (stem, f"{dot}{suffix}") if stem else (name, "")


def _cut(text: str, max_bytes: int) -> str:
    return text.encode()[:max_bytes].decode(errors="ignore")
