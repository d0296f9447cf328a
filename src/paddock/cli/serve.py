"""`paddock mcp` and `paddock serve`: the MCP server, over stdio for one client and over HTTP."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paddock.cli.signals import NUMBERS
from paddock.cli.tools import ConfigOption, McpConfigOption

if TYPE_CHECKING:
    import asyncio
    import socket
    from collections.abc import Iterator

    from paddock.definitions.definition import Definition
    from paddock.server.code_tools import SavedNames
    from paddock.server.services import Services

    Chosen = tuple[list[Definition], SavedNames]

PORT = 8080
CLOSING_SECONDS = 2
"""For answers that are under way when the server is stopped; runs that take longer are cancelled."""

DefinitionsOption = Annotated[
    str | None,
    typer.Option(
        "--definitions",
        metavar="NAME,…",
        show_default=False,
        help="The code tools to offer, or `all`. Default: run_code, and those that were saved.",
    ),
]


def mcp(definitions: DefinitionsOption = None, mcp_config: McpConfigOption = None, config: ConfigOption = None) -> int:
    """Serve MCP over stdin and stdout, until the client closes them.

    For the configuration of a client:

    \b
    {"mcpServers": {"paddock": {"command": "uvx", "args": ["paddock-mcp"]}}}
    """
    import asyncio

    asyncio.run(_over_stdio(_opened(config, mcp_config), _named(definitions)))
    return 0


def serve(
    host: Annotated[str, typer.Option("--host", metavar="HOST", help="Where to listen: this machine.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="PORT", min=0, max=65535, help="The port; 0 takes any free one.")
    ] = PORT,
    definitions: DefinitionsOption = None,
    mcp_config: McpConfigOption = None,
    config: ConfigOption = None,
) -> int:
    """Serve MCP over HTTP at /mcp, on this machine, until it is stopped."""
    import asyncio

    from paddock.server.http import check_host

    check_host(host)
    asyncio.run(_over_http(_opened(config, mcp_config), _named(definitions), host, port))
    return 0


def _opened(config: str | None, mcp_config: str | None) -> Services:
    from paddock.config import Config
    from paddock.server.services import Services

    return Services(Config.load(config), mcp_config=mcp_config)


def _named(names: str | None) -> Chosen:
    """The definitions that are to be offered, shipped and saved: those named, with commas between, or all."""
    from paddock.definitions.definition import SHIPPED, shipped

    if names in (None, "all"):
        return [shipped(name) for name in (SHIPPED if names else SHIPPED[:1])], "all"
    asked = [name.strip() for name in (names or "").split(",")]
    return [shipped(name) for name in asked if name in SHIPPED], [name for name in asked if name not in SHIPPED]


async def _check_saved(services: Services, names: SavedNames) -> None:
    """Whether there is a definition of each name: a slip of the pen is told before anybody connects."""
    from paddock.definitions.definition import SHIPPED
    from paddock.errors import RequestError
    from paddock.model.words import nearest

    if not names or names == "all":
        return
    saved = await services.definition_versions()
    for name in names:
        if name not in saved:
            known = [*SHIPPED, *saved]
            near = nearest(name, known)
            hint = f"did you mean {near!r}?" if near else f"there are {', '.join(known)}"
            await services.aclose()
            raise RequestError(f"--definitions: there is no definition {name!r}; {hint}")


async def _over_stdio(services: Services, chosen: Chosen) -> None:
    import asyncio
    import os

    await _check_saved(services, chosen[1])
    loop = asyncio.get_running_loop()
    signalled: asyncio.Future[int] = loop.create_future()
    for number in NUMBERS:
        loop.add_signal_handler(number, _tell, signalled, number)
    served = asyncio.create_task(_served(services, chosen))
    waited: list[asyncio.Future[Any]] = [served, signalled]
    await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
    await services.aclose()
    if not served.done():
        os._exit(128 + signalled.result())  # a thread waits for the client's next line, and nothing can wake it
    await served


async def _served(services: Services, chosen: Chosen) -> None:
    from mcp.server.stdio import stdio_server

    from paddock.server.mcp import make_server

    async with stdio_server() as (read, write):
        made = make_server(services, chosen[0], saved=chosen[1])
        await made.run(read, write, made.create_initialization_options())


def _tell(signalled: asyncio.Future[int], number: int) -> None:
    if not signalled.done():
        signalled.set_result(number)


async def _over_http(services: Services, chosen: Chosen, host: str, port: int) -> None:
    import asyncio

    import uvicorn

    from paddock.cli.show import Screen
    from paddock.server.http import make_app
    from paddock.server.mcp import make_server

    class Web(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:  # its own would send each to the process once more
            yield

    await _check_saved(services, chosen[1])
    application = make_app(make_server(services, chosen[0], saved=chosen[1]))
    web = Web(uvicorn.Config(application, log_level="warning", timeout_graceful_shutdown=CLOSING_SECONDS))
    for number in NUMBERS:
        asyncio.get_running_loop().add_signal_handler(number, web.handle_exit, number, None)
    with _listening(host, port) as listening:
        shown = f"[{host}]" if ":" in host else host
        async with services:
            address = f"http://{shown}:{listening.getsockname()[1]}/mcp"
            Screen(sys.stdout).line(f"Paddock serves MCP at {address}. Ctrl-C stops it.")
            await web.serve(sockets=[listening])


def _listening(host: str, port: int) -> socket.socket:
    import socket

    from paddock.errors import HostError

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Only on one that is said to be TCP does asyncio send at once; else an answer waits 40 ms for the client's kernel.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen()  # before anybody is told where
    except OSError as problem:
        listening.close()
        raise HostError(f"cannot listen on {host} port {port}: {problem.strerror}; try --port 0") from None
    return listening
