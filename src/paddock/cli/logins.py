"""`paddock tools login` and `paddock tools logout`: logins to MCP servers that use OAuth."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from paddock.cli.options import (
    ConfigOption,
    McpConfigOption,
    TokenOption,
    UrlOption,
    load_config,
    open_remote,
    refuse_empty,
)
from paddock.cli.render import stderr, stdout
from paddock.cli.signals import Interrupts
from paddock.errors import RequestError
from paddock.model.request import LOCAL

if TYPE_CHECKING:
    from paddock.remote import RemotePaddock

ServerArgument = Annotated[str, typer.Argument(metavar="SERVER", show_default=False, help="The server's name.")]
PrincipalOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Whose login it is, for servers with oauth.per_principal. Default: yours."),
]


def login(
    server: ServerArgument,
    principal: PrincipalOption = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address to open.")] = False,
    mcp_config: McpConfigOption = None,
    config: ConfigOption = None,
    url: UrlOption = None,
    token: TokenOption = None,
) -> int:
    """Log in to a server that uses OAuth, with a browser.

    The tokens are stored in the data directory, readable by you only, and refreshed when needed.
    With --url, they are stored on that server, for you. Exit status 1 if the login fails.
    """
    from paddock.tools.logins import LoginFile, OAuthFailed
    from paddock.tools.toolbox import make_toolbox

    refuse_empty({"SERVER": [server], "--principal": [principal], "--mcp-config": [mcp_config]})
    remote = open_remote(url, token, principal=principal, mcp_config=mcp_config, config=config)

    def show(address: str) -> None:
        opens = not no_browser and _has_browser()
        stderr().line("Log in with your browser. If it does not open:" if opens else "Open this address in a browser:")
        stderr().line(address)
        if opens:
            # In a thread, because the browser's command may run until the browser is closed.
            threading.Thread(target=_open, args=(address,), daemon=True).start()

    async def log_in_here() -> None:
        from paddock.tools.oauth_login import log_in

        settings = load_config(config)
        found = make_toolbox(settings, {}, mcp_config)[0].server(server)
        if principal is not None and (found.oauth is None or not found.oauth.per_principal):
            raise RequestError(
                f"--principal: everybody uses the same login to {server!r}; set oauth.per_principal for it"
            )
        await log_in(found, LoginFile(settings.data_directory, server, principal or LOCAL), show)

    try:
        Interrupts().run(log_in_here() if remote is None else _log_in_on(remote, server, show))
    except OAuthFailed as problem:
        stderr().line(f"Error: cannot log in to {server!r}: {problem}", "red")
        return 1
    stdout().line(f"Logged in to {server!r}{'' if principal is None else f' as {principal}'}.")
    return 0


def logout(
    server: ServerArgument,
    principal: PrincipalOption = None,
    config: ConfigOption = None,
    url: UrlOption = None,
    token: TokenOption = None,
) -> int:
    """Remove the login to a server, and revoke its tokens there if the server offers that."""
    from paddock.tools.logins import LoginFile

    refuse_empty({"SERVER": [server], "--principal": [principal]})
    if (remote := open_remote(url, token, principal=principal, config=config)) is not None:
        Interrupts().run(_log_out_on(remote, server))
        stdout().line(f"Removed your login to {server!r}.")
        return 0
    file = LoginFile(load_config(config).data_directory, server, principal or LOCAL)
    if file.signature() is None:
        raise RequestError(f"there is no login to {server!r}{'' if principal is None else f' of {principal}'}")

    from paddock.tools.oauth import log_out

    is_revoked = Interrupts().run(log_out(file))
    more = " and revoked its tokens" if is_revoked else "; its tokens stay valid there until they expire"
    stdout().line(f"Removed the login to {server!r}{more}.")
    return 0


async def _log_in_on(remote: RemotePaddock, server: str, show: Callable[[str], None]) -> None:
    """Log in on a server, with the browser of this machine. Raises OAuthFailed."""
    import asyncio

    from paddock.tools.logins import OAuthFailed
    from paddock.tools.oauth_login import LOGIN_SECONDS, Callback

    async with remote:
        port = None
        for _ in range(2):  # again if the server's configuration names another port
            async with Callback(port) as callback:
                begun = await remote.request("POST", _path(server), body={"port": callback.port})
                port, address = int(begun["port"]), str(begun["address"])
                if port != callback.port:
                    continue
                if not (address.startswith(("https://", "http://")) and address.isascii() and address.isprintable()):
                    raise OAuthFailed("the server named an address that cannot be opened")
                callback.expect(address)
                show(address)
                try:
                    async with asyncio.timeout(LOGIN_SECONDS):
                        answer = await callback.wait()
                except TimeoutError:
                    raise OAuthFailed(f"nobody has logged in within {LOGIN_SECONDS:g} s") from None
                body = {"state": answer.state, "code": answer.code, "iss": answer.iss}
                await remote.request("POST", f"{_path(server)}/code", body=body)
                return
        raise OAuthFailed("the server names a different port each time")


async def _log_out_on(remote: RemotePaddock, server: str) -> None:
    async with remote:
        await remote.request("DELETE", _path(server))


def _path(server: str) -> str:
    return f"/servers/{quote(server, safe='')}/login"


def _has_browser() -> bool:
    """Whether a browser can open a window. A text browser would take over the terminal."""
    variables = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in variables)


def _open(address: str) -> None:
    import webbrowser

    webbrowser.open(address)
