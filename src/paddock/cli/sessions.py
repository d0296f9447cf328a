"""`paddock sessions`: lists, resets and deletes the live sessions of a server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from paddock.cli.options import (
    SESSION_SERVER,
    JsonOption,
    TokenOption,
    UrlOption,
    command_group,
    open_remote,
    refuse_empty,
)
from paddock.cli.render import stdout, to_json
from paddock.cli.signals import Interrupts
from paddock.errors import RequestError, Unreachable
from paddock.model.limits import format_bytes

if TYPE_CHECKING:
    from paddock.remote import RemotePaddock

T = TypeVar("T")
app = command_group("Live sessions of a server: list, reset, delete.")
NameArgument = Annotated[str, typer.Argument(metavar="NAME", show_default=False, help="The session's name.")]


@app.command("list")
def list_(url: UrlOption = None, token: TokenOption = None, as_json: JsonOption = False) -> int:
    """List your live sessions."""
    found = _with_server(url, token, lambda server: server.sessions())
    out = stdout()
    if as_json:
        out.document(to_json([asdict(each) for each in found]))
        return 0
    for each in found:
        state = "in use" if each.idle_seconds is None else f"idle for {each.idle_seconds:.0f} s"
        runs = f"{each.cells} run{'' if each.cells == 1 else 's'}"
        memory = f", {format_bytes(each.memory_bytes)}" if each.memory_bytes else ""
        out.spans((each.name, "bold"), (f": {each.language} on {each.engine}, {runs}, {state}{memory}", ""))
    if not found:
        out.line("There are no sessions.")
    return 0


@app.command()
def reset(name: NameArgument, url: UrlOption = None, token: TokenOption = None) -> int:
    """End a session's interpreter, so that its next run starts with nothing. Cancels a run in progress."""
    refuse_empty({"NAME": [name]})
    _with_server(url, token, lambda server: server.reset_session(name))
    stdout().line(f"Reset {name}")
    return 0


@app.command()
def delete(name: NameArgument, url: UrlOption = None, token: TokenOption = None) -> int:
    """End a session. Cancels a run in progress."""
    refuse_empty({"NAME": [name]})
    _with_server(url, token, lambda server: server.delete_session(name))
    stdout().line(f"Deleted {name}")
    return 0


def _with_server(url: str | None, token: str | None, ask: Callable[[RemotePaddock], Awaitable[T]]) -> T:
    """Ask the server of `url`, or the local one."""
    remote = open_remote(url, token, needs_server=True)
    if remote is None:
        raise RequestError(SESSION_SERVER)

    async def use() -> T:
        async with remote:
            return await ask(remote)

    try:
        return Interrupts().run(use())
    except Unreachable as problem:
        raise Unreachable(f"{problem} {SESSION_SERVER}") from None
