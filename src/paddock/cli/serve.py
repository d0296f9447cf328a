"""`paddock mcp` and `paddock serve`: the server, over stdio for one MCP client, and over HTTP for several clients."""

from __future__ import annotations

import os
import re
import signal
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paddock import descriptors
from paddock.cli.options import ConfigOption, McpConfigOption, load_config, refuse_empty, unknown
from paddock.cli.render import stderr, stdout
from paddock.cli.runs import query_store
from paddock.cli.signals import SIGNALS
from paddock.errors import ConfigError, HostError, PaddockError, RequestError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator

    from paddock.config import Config
    from paddock.definitions.definition import Definition
    from paddock.server.code_tools import SavedNames
    from paddock.server.services import Services

PORT = 8080
CLOSING_SECONDS = 2
"""How long a stopped server waits for calls in progress. Then it ends their runs."""
ANSWER_SECONDS = 1
"""How long the server then has to answer those calls."""
SWITCH_SECONDS = 0.001
"""How long a thread that works on a large request keeps the event loop waiting at most: five times less than usual."""

DefinitionsOption = Annotated[
    str | None,
    typer.Option(
        "--definitions",
        metavar="NAME,…",
        show_default=False,
        help="The code tools to offer, or `all`. Default: run_code, and all saved ones.",
    ),
]


def mcp(definitions: DefinitionsOption = None, mcp_config: McpConfigOption = None, config: ConfigOption = None) -> int:
    """Serve MCP over stdin and stdout, for one client.

    The server ends when the client closes stdin. `paddock-mcp` is the same command. To configure a client:

    \b
    {"mcpServers": {"paddock": {"command": "uvx", "args": ["paddock-mcp"]}}}
    """
    import asyncio

    from paddock.server import tracing

    descriptors.raise_limit()
    asyncio.run(_serve_stdio(_services(config, mcp_config), *_split(definitions)))
    tracing.shutdown()
    return 0


def serve(
    host: Annotated[
        str, typer.Option(metavar="HOST", help="The address to listen on. Beyond loopback, clients need tokens.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="PORT", min=0, max=65535, help="The port to listen on; 0 means any free port.")
    ] = PORT,
    socket: Annotated[
        str | None,
        typer.Option("--socket", metavar="PATH", help="Listen on a Unix socket instead, which only this user can use."),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            metavar="TOKEN",
            help="Serve only clients that send this token. PADDOCK_SERVER__TOKEN is safer: other users can see "
            "the options of a command.",
        ),
    ] = None,
    definitions: DefinitionsOption = None,
    mcp_config: McpConfigOption = None,
    config: ConfigOption = None,
) -> int:
    """Serve MCP at /mcp and REST at /v1, over HTTP.

    Without tokens, only this machine can reach it: see `paddock tokens`.
    """
    import asyncio

    from paddock.server import tracing
    from paddock.server.authentication import check_host, is_loopback

    refuse_empty({"--socket": [socket], "--token": [token]})
    descriptors.raise_limit()
    services = _services(config, mcp_config, token)
    is_local = socket is not None or is_loopback(host)
    if not is_local:
        check_host(host, services.config, query_store(services.config, lambda store: store.tokens.list()) or ())
    listener = listen_unix(socket) if socket is not None else listen(host, port)
    try:
        with listener:
            reread = partial(_settings_again, config, token)
            asyncio.run(_serve_http(services, *_split(definitions), listener, reread, is_local=is_local))
    finally:
        if socket is not None:
            Path(socket).unlink(missing_ok=True)
        tracing.shutdown()
    return 0


def _settings(config: str | None, token: str | None) -> Config:
    from dataclasses import replace

    settings = load_config(config)
    if token is not None:
        settings = replace(settings, server=replace(settings.server, token=token))
    if re.search(r"[^!-~]", settings.server.token):
        raise ConfigError("the token may contain only printable ASCII characters, and no spaces")
    return settings


def _settings_again(config: str | None, token: str | None) -> Config:
    from paddock.config import FILE_VARIABLE

    named = Path(config or os.environ.get(FILE_VARIABLE, ""))
    if named.is_fifo():  # empty by now, or the server would wait for its writer
        raise ConfigError(f"{named} is a pipe, which can be read only once")
    return _settings(config, token)


def _services(config: str | None, mcp_config: str | None, token: str | None = None) -> Services:
    from paddock.server import logs, tracing
    from paddock.server.services import Services

    refuse_empty({"--mcp-config": [mcp_config]})
    settings = _settings(config, token)
    logs.configure(settings.server.log_format)
    tracing.configure()
    return Services(settings, mcp_config=mcp_config)


def _split(names: str | None) -> tuple[list[Definition], SavedNames]:
    """Split the value of --definitions into the shipped definitions and the names of saved ones."""
    from paddock.definitions.definition import SHIPPED, shipped

    if names in (None, "all"):
        return [shipped(name) for name in (SHIPPED if names else SHIPPED[:1])], "all"
    wanted = [name.strip() for name in (names or "").split(",")]
    return [shipped(name) for name in wanted if name in SHIPPED], [name for name in wanted if name not in SHIPPED]


async def _check_saved(services: Services, names: SavedNames) -> None:
    """Refuse a name in --definitions that does not exist, before a client connects."""
    from paddock.definitions.definition import SHIPPED

    if not names or names == "all":
        return
    saved = {name for _, name in await services.all_definition_versions()}
    for name in names:
        if name not in saved:
            await services.aclose()
            raise RequestError(f"--definitions: {unknown('definition', name, [*SHIPPED, *saved])}")


async def _serve_stdio(services: Services, shipped: list[Definition], saved: SavedNames) -> None:
    import asyncio

    from paddock.server import tracing
    from paddock.server.mcp import make_server
    from paddock.server.stdio import serve_stdio

    await _check_saved(services, saved)
    loop = asyncio.get_running_loop()
    received: asyncio.Future[int] = loop.create_future()

    def stop(number: int) -> None:
        if not received.done():
            received.set_result(number)

    for number in SIGNALS:
        loop.add_signal_handler(number, stop, number)
    serving = asyncio.create_task(serve_stdio(make_server(services, shipped, saved=saved)))
    ends: list[asyncio.Future[Any]] = [serving, received]
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    await services.aclose()
    if not (serving.done() and await serving):
        tracing.shutdown()
        os._exit(128 + received.result() if received.done() else 0)  # a thread waits for the client's next line


async def _serve_http(
    services: Services,
    shipped: list[Definition],
    saved: SavedNames,
    listener: socket.socket,
    reread: Callable[[], Config],
    *,
    is_local: bool,
) -> None:
    import asyncio
    import logging

    import uvicorn
    from sse_starlette.sse import AppStatus

    from paddock.server.authentication import Authenticator
    from paddock.server.connections import (
        ACCEPTED_AT_ONCE,
        SILENT_SECONDS,
        WAITING_CONNECTIONS,
        LimitedProtocol,
        handle_loop_error,
        is_due,
    )
    from paddock.server.garbage import collect_when_idle
    from paddock.server.http import make_app
    from paddock.server.mcp import make_server

    class Web(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:  # uvicorn's own raises each signal again at the end
            yield

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            listener.listen(WAITING_CONNECTIONS)  # asyncio lets only ACCEPTED_AT_ONCE wait

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            ending = asyncio.create_task(self._end_runs())
            await super().shutdown(sockets)
            ending.cancel()

        async def _end_runs(self) -> None:
            if services.runs:
                await services.end_runs(after_seconds=CLOSING_SECONDS)
                await asyncio.sleep(ANSWER_SECONDS / 2)
            AppStatus.should_exit = True  # ends the event streams that clients keep open

    AppStatus.enable_automatic_graceful_drain = False  # draining would end the streams of calls at once
    await _check_saved(services, saved)
    authenticator = Authenticator(services.config, services.store, is_required=not is_local)
    services.is_loopback = not authenticator.is_required
    application = make_app(make_server(services, shipped, saved=saved), services, authenticator)
    asyncio.get_running_loop().set_exception_handler(handle_loop_error)
    logging.getLogger("uvicorn.error").addFilter(is_due)
    sys.setswitchinterval(SWITCH_SECONDS)
    web = Web(
        uvicorn.Config(
            application,
            http=LimitedProtocol,
            ws="none",  # a connection that is upgraded would no longer be counted
            proxy_headers=False,  # anybody who connects could claim another address in them
            backlog=ACCEPTED_AT_ONCE,
            timeout_keep_alive=SILENT_SECONDS,
            log_level="warning",
            log_config=None,  # uvicorn's own would write what a caller sent as it is
            timeout_graceful_shutdown=CLOSING_SECONDS + ANSWER_SECONDS,
        )
    )
    for number in SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, web.handle_exit, number, None)
    if not os.isatty(0):  # closing a terminal sends SIGHUP too, and must end the server
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, _reload, services, reread)
    async with services:
        services.start_maintenance()  # now, so that a broken store is logged before the first call
        stdout().line(f"Paddock serves MCP at {_address(listener)}. Ctrl-C stops it.")
        if not is_local:
            stderr().line("Requests are not encrypted: put a TLS proxy in front of it, and set server.url.")
        with collect_when_idle(lambda: not services.runs):
            await web.serve(sockets=[listener])
    await authenticator.close()


def _reload(services: Services, reread: Callable[[], Config]) -> None:
    """Read the configuration again and apply what can change. A bad one changes nothing."""
    import logging

    from paddock.server.reload import reload

    def say(line: str, level: int = logging.INFO) -> None:
        if services.config.server.log_format == "json":
            logging.getLogger("paddock.server.reload").log(level, line)
        else:
            stderr().line(line)

    try:
        changed, needs_restart = reload(services, reread())
    except PaddockError as problem:
        say(f"The configuration was not reloaded: {problem}", logging.WARNING)
        return
    say(f"The configuration was reloaded; changed: {', '.join(changed) or 'nothing'}.")
    if needs_restart:
        say(f"Restart the server to change: {', '.join(needs_restart)}.", logging.WARNING)


def _address(listener: socket.socket) -> str:
    import socket

    name = listener.getsockname()
    if listener.family == socket.AF_UNIX:
        return f"http://localhost/mcp on the socket {name}"
    return f"http://{f'[{name[0]}]' if ':' in name[0] else name[0]}:{name[1]}/mcp"


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on `host` and `port`."""
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio disables Nagle's algorithm only if the protocol is given; otherwise an answer is delayed by 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen()  # before the address is printed
    except OSError as problem:
        listener.close()
        raise HostError(f"cannot listen on {host} port {port}: {problem.strerror}; try --port 0") from None
    return listener


def listen_unix(path: str) -> socket.socket:
    """Return a socket at `path` that only this user can connect to. Replaces a socket that nobody listens on."""
    import socket

    listener = socket.socket(socket.AF_UNIX)
    umask = os.umask(0o177)  # not `chmod`: others could connect before it takes effect
    try:
        if _is_abandoned(path):
            Path(path).unlink()
        listener.bind(path)
        listener.listen()
    except OSError as problem:
        listener.close()
        raise HostError(f"cannot listen on the socket {path}: {problem.strerror or problem}") from None
    finally:
        os.umask(umask)
    return listener


def _is_abandoned(path: str) -> bool:
    """Whether there is a socket at `path` that refuses connections: the process that made it has ended."""
    import socket

    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(path)
        except ConnectionRefusedError:
            return Path(path).is_socket()
        except OSError:
            return False
    return False
