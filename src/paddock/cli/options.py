"""Options that several commands share, and the files and values that they name."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paddock.config import TOKEN_VARIABLE, URL_VARIABLE
from paddock.errors import BadFile, BadInput, CodeTooLarge, RequestError
from paddock.model.files import File
from paddock.model.limits import format_bytes

if TYPE_CHECKING:
    from paddock.config import Config
    from paddock.remote import RemotePaddock
    from paddock.run import Paddock

LOCAL_URL = "http://127.0.0.1:8080"
"""Where `paddock serve` listens by default."""
FILE_BYTES = 256 * 1024 * 1024
SUFFIXES = {
    **dict.fromkeys((".js", ".mjs", ".cjs"), "javascript"),
    **dict.fromkeys((".ts", ".mts"), "typescript"),
}
_KINDS = {list: "a list", str: "text", int: "a number", float: "a number", bool: "true or false", type(None): "null"}

FileArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE|-", show_default=False, help="The script's file. Without it, or with -, stdin is read."
    ),
]
CodeOption = Annotated[str | None, typer.Option("-c", metavar="CODE", help="The script as text, instead of FILE.")]
ConfigOption = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE", help="The configuration. Default: $PADDOCK_CONFIG, else ./paddock.toml."),
]
McpConfigOption = Annotated[
    str | None,
    typer.Option(
        "--mcp-config", metavar="FILE", help="An MCP client's mcp.json: scripts may call the tools of its servers."
    ),
]
UrlOption = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Do this on the server at this address (`paddock serve`). Default: $PADDOCK_URL."),
]
TokenOption = Annotated[
    str | None,
    typer.Option(
        metavar="TOKEN",
        help="The token for --url. PADDOCK_TOKEN is safer: other users can see the arguments of a process.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def command_group(text: str) -> typer.Typer:
    """A group of commands, such as `paddock tools`, with its help text."""
    return typer.Typer(help=text, rich_markup_mode=None, no_args_is_help=True)


def load_config(file: str | None = None) -> Config:
    """Return the configuration: the file of `--config`, else the default file, overridden by environment variables."""
    from paddock.config import Config

    refuse_empty({"--config": [file]})
    return Config.load(file)


@dataclass
class Server:
    """The server that `paddock --url URL COMMAND` names before the name of a command."""

    url: str | None = None
    token: str | None = None
    is_asked: bool = False  # whether the command works on a server


SERVER = Server()


SESSION_SERVER = "A session lives in a server: start one, or name it with --url"


def open_remote(
    url: str | None, token: str | None, *, needs_server: bool = False, **local: object
) -> RemotePaddock | None:
    """Return the server at `--url` or $PADDOCK_URL, or None if the command works on this machine.

    A command that `needs_server` uses the one at LOCAL_URL if none is named, but only without a token, which may be
    that of another server. `local` are the flags that cannot be used with a server, and their values.
    """
    refuse_empty({"--url": [url], "--token": [token]})
    url = url or SERVER.url or os.environ.get(URL_VARIABLE) or None
    token = token or SERVER.token
    if url is None:
        if token is not None:
            raise RequestError("--token is for a server: give its address with --url as well")
        if not needs_server:
            return None
        if os.environ.get(TOKEN_VARIABLE):
            raise RequestError(
                f"{TOKEN_VARIABLE} is for a server: give its address with {URL_VARIABLE} or --url as well"
            )
        url = LOCAL_URL
    for name, value in local.items():
        if value:
            raise RequestError(f"--{name.replace('_', '-')} cannot be used with --url: the server has its own")
    from paddock.remote import RemotePaddock

    SERVER.is_asked = True
    return RemotePaddock(url=url, token=token or os.environ.get(TOKEN_VARIABLE) or None)


def load_settings(remote: RemotePaddock | None, file: str | None) -> Config:
    """Return the configuration of a command. A server has its own, so for one it allows everything."""
    if remote is None:
        return load_config(file)
    from paddock.remote import ANY_CONFIG

    return ANY_CONFIG


def open_paddock(remote: RemotePaddock | None, config: Config, mcp_config: str | None) -> Paddock:
    """Return the server that the command uses, or else a Paddock in this process."""
    from paddock.run import Paddock

    return Paddock(config, mcp_config=mcp_config) if remote is None else remote


def audit(config: Config, event: str, **values: Any) -> None:
    """Record in the audit log what a command has changed."""
    from paddock.server.audit import Audit

    Audit(config).record_command(event, **values)


def refuse_empty(flags: Mapping[str, Iterable[str | None]]) -> None:
    """Refuse an empty value, which may come from an unset shell variable, rather than use the default."""
    for flag, values in flags.items():
        if "" in values:
            raise RequestError(f"{flag} is empty; give it a value, or leave it out")


def read_code(file: str | None, code: str | None, limit_bytes: int) -> str:
    """Return the script: the value of `-c`, a file, or standard input."""
    if file is not None and code is not None:
        raise RequestError(f"both the file {file!r} and -c were given; give one of them")
    if code is not None:
        return code
    if file is None or file == "-":
        if sys.stdin is None or (file is None and sys.stdin.isatty()):
            raise RequestError(
                "no script was given: name a file (script.py), give the code itself (-c 'sum([1, 2])') "
                "or pipe it in (< script.py)"
            )
        return _decode(sys.stdin.buffer.read(limit_bytes + 1), "standard input", limit_bytes)
    try:
        with Path(file).open("rb") as opened:
            data = opened.read(limit_bytes + 1)
    except (OSError, ValueError) as problem:  # ValueError: a NUL character in the name
        hint = "" if isinstance(problem, IsADirectoryError) else "; to pass code itself, use -c"
        raise RequestError(f"cannot read {file!r}: {_reason(problem)}{hint}") from None
    return _decode(data, file, limit_bytes)


def language_of(file: str | None) -> str:
    """Return the language of a file by its suffix; Python for an unknown suffix or no file."""
    return SUFFIXES.get(Path(file).suffix.lower(), "python") if file else "python"


def read_inputs(pairs: list[str], file: str | None) -> dict[str, Any]:
    """Return the inputs of `--inputs FILE`, overridden by each `--input KEY=JSON`."""
    return {**(_inputs_file(file) if file is not None else {}), **dict(_pair(text) for text in pairs)}


def read_file(path: str) -> File:
    """Read a file to attach; it keeps its base name."""
    from mimetypes import guess_type

    content = read_bytes(path, FILE_BYTES, f"--file {path}", BadFile)
    return File(Path(path).name, content, guess_type(path)[0] or "application/octet-stream")


def read_bytes(path: str | int, limit_bytes: int, where: str, error: type[RequestError]) -> bytes:
    """Read a file, by its path or as a descriptor. A failure raises `error`, with `where` before the reason."""
    try:
        with open(path, "rb", closefd=isinstance(path, str)) as opened:
            data = opened.read(limit_bytes + 1)
    except (OSError, ValueError) as problem:
        raise error(f"{where}: {_reason(problem)}") from None
    if len(data) > limit_bytes:
        raise error(f"{where}: larger than {format_bytes(limit_bytes)}, the maximum")
    return data


def _reason(problem: OSError | ValueError) -> str:
    """The reason why a file could not be read."""
    if isinstance(problem, FileNotFoundError):
        return "there is no such file"
    if isinstance(problem, IsADirectoryError):
        return "it is a directory, not a file"
    return problem.strerror or str(problem) if isinstance(problem, OSError) else str(problem)


def unknown(what: str, name: str, known: Iterable[str]) -> RequestError:
    """Return the error for a name that does not exist. It suggests the nearest known name, or lists all known names."""
    from paddock.model.spelling import did_you_mean

    return RequestError(f"there is no {what} {name!r}; {did_you_mean(name, known)}")


def _decode(data: bytes, origin: str, limit_bytes: int) -> str:
    if len(data) > limit_bytes:
        raise CodeTooLarge(f"{origin} is larger than {format_bytes(limit_bytes)}; pass data with --inputs or --file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line, byte = data.count(b"\n", 0, problem.start) + 1, data[problem.start]
        raise RequestError(f"{origin} is not UTF-8 text (byte 0x{byte:02x} on line {line}); save it as UTF-8") from None


def _pair(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise BadInput(f"--input {text!r} is not KEY=JSON; write for example --input prices='[1, 2, 3]'")
    try:
        return name, _parse_json(value)
    except (ValueError, RecursionError) as problem:
        short_value = repr(value) if len(value) <= 40 else f"{value[:37]!r}..."
        hint = f"text needs its own quotes: --input {name}='{json.dumps(value, ensure_ascii=False)}'"
        raise BadInput(f"--input {name}: {short_value} is not JSON ({problem}); {hint}") from None


def _inputs_file(file: str) -> dict[str, Any]:
    data = read_bytes(file, FILE_BYTES, f"--inputs {file}", BadInput)
    try:
        value = _parse_json(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as problem:
        raise BadInput(f"--inputs {file}: not JSON: {problem}") from None
    if not isinstance(value, dict):
        raise BadInput(
            f"--inputs {file}: contains {_KINDS[type(value)]} instead of an object that maps names to values, "
            'such as {"prices": [1, 2, 3]}'
        )
    return value


def _parse_json(text: str) -> Any:
    def refuse(name: str) -> None:
        raise ValueError(f"JSON has no {name}")

    return json.loads(text, parse_constant=refuse)
