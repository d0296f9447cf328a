"""`paddock tools login` and `paddock tools logout`: logins to MCP servers that use OAuth."""

from __future__ import annotations

import os
import sys
import threading
from typing import Annotated

import typer

from paddock.cli.options import ConfigOption, McpConfigOption, load_config, refuse_empty
from paddock.cli.render import stderr, stdout
from paddock.cli.signals import Interrupts
from paddock.errors import RequestError
from paddock.model.request import LOCAL

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
) -> int:
    """Log in to a server that uses OAuth, with a browser.

    The tokens are stored in the data directory, readable by you only, and refreshed when needed.
    Exit status 1 if the login fails.
    """
    from paddock.tools.logins import LoginFile, OAuthFailed
    from paddock.tools.toolbox import make_toolbox

    refuse_empty({"SERVER": [server], "--principal": [principal], "--mcp-config": [mcp_config]})
    settings = load_config(config)
    found = make_toolbox(settings, {}, mcp_config)[0].server(server)
    if principal is not None and (found.oauth is None or not found.oauth.per_principal):
        raise RequestError(f"--principal: everybody uses the same login to {server!r}; set oauth.per_principal for it")

    def show(address: str) -> None:
        opens = not no_browser and _has_browser()
        stderr().line("Log in with your browser. If it does not open:" if opens else "Open this address in a browser:")
        stderr().line(address)
        if opens:
            # In a thread, because the browser's command may run until the browser is closed.
            threading.Thread(target=_open, args=(address,), daemon=True).start()

    async def work() -> None:
        from paddock.tools.oauth_login import log_in

        await log_in(found, LoginFile(settings.data_directory, server, principal or LOCAL), show)

    try:
        Interrupts().run(work())
    except OAuthFailed as problem:
        stderr().line(f"Error: cannot log in to {server!r}: {problem}", "red")
        return 1
    stdout().line(f"Logged in to {server!r}{'' if principal is None else f' as {principal}'}.")
    return 0


def logout(server: ServerArgument, principal: PrincipalOption = None, config: ConfigOption = None) -> int:
    """Remove the login to a server, and revoke its tokens there if the server offers that."""
    from paddock.tools.logins import LoginFile, UnusableLogin

    refuse_empty({"SERVER": [server], "--principal": [principal]})
    file = LoginFile(load_config(config).data_directory, server, principal or LOCAL)
    if file.signature() is None:
        raise RequestError(f"there is no login to {server!r}{'' if principal is None else f' of {principal}'}")

    async def work() -> bool:
        from paddock.tools.oauth import revoke

        async with file.locked():
            try:
                found = file.load()
            except UnusableLogin:
                found = None
            file.delete()
        return found is not None and await revoke(found)

    is_revoked = Interrupts().run(work())
    more = " and revoked its tokens" if is_revoked else "; its tokens stay valid there until they expire"
    stdout().line(f"Removed the login to {server!r}{more}.")
    return 0


def _has_browser() -> bool:
    """Whether a browser can open a window. A text browser would take over the terminal."""
    variables = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in variables)


def _open(address: str) -> None:
    import webbrowser

    webbrowser.open(address)
