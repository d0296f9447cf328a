"""What the user typed, read: the code, the inputs, the files to attach."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any

from paddock.errors import BadFile, BadInput, CodeTooLarge, RequestError
from paddock.model.files import File

FILE_BYTES = 256 * 1024 * 1024
SUFFIXES = {
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".ts": "typescript",
    ".mts": "typescript",
}


def refuse_empty(given: Mapping[str, Iterable[str | None]]) -> None:
    """Refuse a flag with nothing in it, such as one made of a variable that is not set: it never meant the default."""
    for flag, values in given.items():
        if "" in values:
            raise RequestError(f"{flag} is empty; give it a value, or leave it out")


def read_code(file: str | None, code: str | None, limit_bytes: int) -> str:
    """The script: `-c`, a file, or standard input."""
    if file is not None and code is not None:
        raise RequestError(f"both the file {file!r} and -c were given; give one of them")
    if code is not None:
        return code
    if file is not None and file != "-":
        return _decode(_read(file, limit_bytes), file, limit_bytes)
    if sys.stdin is None or (file is None and sys.stdin.isatty()):
        raise RequestError(
            "no script was given: name a file (script.py), give the code itself (-c 'sum([1, 2])') "
            "or pipe it in (< script.py)"
        )
    return _decode(_limited(sys.stdin.buffer, limit_bytes), "standard input", limit_bytes)


def language_of(file: str | None) -> str:
    """The language that a file's name says, Python where it says none."""
    return SUFFIXES.get(Path(file).suffix.lower(), "python") if file else "python"


def read_inputs(pairs: list[str], file: str | None) -> dict[str, Any]:
    """The inputs of `--inputs FILE`, overlaid by each `--input KEY=JSON`."""
    return {**_inputs_file(file), **dict(_pair(text) for text in pairs)}


def read_file(path: str) -> File:
    """A file to attach, whole, under the name it has here."""
    from mimetypes import guess_type

    try:
        with Path(path).open("rb") as opened:
            content = opened.read(FILE_BYTES + 1)
    except OSError as problem:
        raise BadFile(f"--file {path}: {_why(problem)}") from None
    if len(content) > FILE_BYTES:
        raise BadFile(f"--file {path}: larger than {FILE_BYTES // 2**20} MB, the most that can be attached")
    return File(Path(path).name, content, guess_type(path)[0] or "application/octet-stream")


def _read(file: str, limit_bytes: int) -> bytes:
    try:
        with Path(file).open("rb") as opened:
            return _limited(opened, limit_bytes)
    except (OSError, ValueError) as problem:  # ValueError: a NUL character in the name
        hint = "" if isinstance(problem, IsADirectoryError) else "; code on the command line goes after -c"
        raise RequestError(f"cannot read {file!r}: {_why(problem)}{hint}") from None


def _limited(opened: IO[bytes], limit_bytes: int) -> bytes:
    return opened.read(limit_bytes + 1)


def _decode(data: bytes, origin: str, limit_bytes: int) -> str:
    if len(data) > limit_bytes:
        raise CodeTooLarge(f"{origin} is larger than {limit_bytes} bytes; pass data with --inputs or --file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        byte = data[problem.start]
        raise RequestError(f"{origin} is not UTF-8 text (byte 0x{byte:02x} on line {line}); save it as UTF-8") from None


def _pair(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise BadInput(f"--input {text!r} is not KEY=JSON; write for example --input prices='[1, 2, 3]'")
    try:
        return name, _json(value)
    except (ValueError, RecursionError) as problem:
        hint = f"text needs quotes of its own: --input {name}='{json.dumps(value, ensure_ascii=False)}'"
        raise BadInput(f"--input {name}: {_clip(value)} is not JSON ({problem}); {hint}") from None


def _inputs_file(file: str | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        with Path(file).open("rb") as opened:
            data = opened.read(FILE_BYTES + 1)
        if len(data) > FILE_BYTES:
            raise BadInput(f"--inputs {file}: larger than {FILE_BYTES // 2**20} MB")
        value = _json(data.decode("utf-8-sig"))
    except OSError as problem:
        raise BadInput(f"--inputs {file}: {_why(problem)}") from None
    except (ValueError, RecursionError) as problem:
        raise BadInput(f"--inputs {file}: not JSON: {problem}") from None
    if not isinstance(value, dict):
        raise BadInput(
            f"--inputs {file}: holds {_KINDS[type(value)]} where an object of names to values was expected, "
            'such as {"prices": [1, 2, 3]}'
        )
    return value


def _json(text: str) -> Any:
    return json.loads(text, parse_constant=_no_constant)


def _no_constant(name: str) -> None:
    raise ValueError(f"JSON has no {name}")


def _clip(text: str) -> str:
    return repr(text) if len(text) <= 40 else f"{text[:37]!r}..."


def _why(problem: OSError | ValueError) -> str:
    if isinstance(problem, FileNotFoundError):
        return "there is no such file"
    if isinstance(problem, IsADirectoryError):
        return "it is a directory, a file was expected"
    return problem.strerror or str(problem) if isinstance(problem, OSError) else str(problem)


_KINDS = {list: "a list", str: "text", int: "a number", float: "a number", bool: "true or false", type(None): "null"}
