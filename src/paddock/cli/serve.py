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
    from paddock.server.serving import Serving

PORT = 8080
CLOSING_SECONDS = 2
"""For answers that are under way when the server is stopped; runs that take longer are cancelled."""

DefinitionsOption = Annotated[
    str | None,
    typer.Option(
        "--definitions",
        metavar="NAME,…",
        show_default=False,
        help="The code tools to offer, or `all`. Default: run_code.",
    ),
]


def mcp(definitions: DefinitionsOption = None, mcp_config: McpConfigOption = None, config: ConfigOption = None) -> int:
    """Serve MCP over stdin and stdout, until the client closes them.

    For the configuration of a client:

    \b
    {"mcpServers": {"paddock": {"command": "paddock", "args": ["mcp"]}}}
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

    from paddock.server.app import checked_host

    checked_host(host)
    asyncio.run(_over_http(_opened(config, mcp_config), _named(definitions), host, port))
    return 0


def _opened(config: str | None, mcp_config: str | None) -> Serving:
    from paddock.config import Config
    from paddock.server.serving import Serving

    return Serving(Config.load(config), mcp_config=mcp_config)


def _named(names: str | None) -> list[Definition]:
    """The definitions that are to be offered: those named, with commas between, or all."""
    from paddock.definitions.definition import SHIPPED, shipped
    from paddock.model.errors import RequestError
    from paddock.model.words import nearest

    wanted = (
        SHIPPED if names == "all" else [SHIPPED[0]] if names is None else [name.strip() for name in names.split(",")]
    )
    for name in wanted:
        if name not in SHIPPED:
            near = nearest(name, SHIPPED)
            hint = f"did you mean {near!r}?" if near else f"there are {', '.join(SHIPPED)}"
            raise RequestError(f"--definitions: there is no definition {name!r}; {hint}")
    return [shipped(name) for name in wanted]


async def _over_stdio(serving: Serving, definitions: list[Definition]) -> None:
    import asyncio
    import os

    loop = asyncio.get_running_loop()
    signalled: asyncio.Future[int] = loop.create_future()
    for number in NUMBERS:
        loop.add_signal_handler(number, _tell, signalled, number)
    served = asyncio.create_task(_served(serving, definitions))
    waited: list[asyncio.Future[Any]] = [served, signalled]
    await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
    await serving.aclose()
    if not served.done():
        os._exit(128 + signalled.result())  # a thread waits for the client's next line, and nothing can wake it
    await served


async def _served(serving: Serving, definitions: list[Definition]) -> None:
    from mcp.server.stdio import stdio_server

    from paddock.server.mcp import server

    async with stdio_server() as (read, write):
        made = server(serving, definitions)
        await made.run(read, write, made.create_initialization_options())


def _tell(signalled: asyncio.Future[int], number: int) -> None:
    if not signalled.done():
        signalled.set_result(number)


async def _over_http(serving: Serving, definitions: list[Definition], host: str, port: int) -> None:
    import asyncio

    import uvicorn

    from paddock.cli.show import Screen
    from paddock.server.app import app
    from paddock.server.mcp import server

    class Web(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:  # its own would send each to the process once more
            yield

    application = app(server(serving, definitions))
    web = Web(uvicorn.Config(application, log_level="warning", timeout_graceful_shutdown=CLOSING_SECONDS))
    for number in NUMBERS:
        asyncio.get_running_loop().add_signal_handler(number, web.handle_exit, number, None)
    with _listening(host, port) as listening:
        shown = f"[{host}]" if ":" in host else host
        async with serving:
            address = f"http://{shown}:{listening.getsockname()[1]}/mcp"
            Screen(sys.stdout).line(f"Paddock serves MCP at {address}. Ctrl-C stops it.")
            await web.serve(sockets=[listening])


def _listening(host: str, port: int) -> socket.socket:
    import socket

    from paddock.model.errors import HostError

    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen()  # before anybody is told where
    except OSError as problem:
        listening.close()
        raise HostError(f"cannot listen on {host} port {port}: {problem.strerror}; try --port 0") from None
    return listening
