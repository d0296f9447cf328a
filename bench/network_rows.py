"""The rows about the network: a script's connections, which the host makes, and the same ones made directly."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace

from bench.runner import Row, Sides, Target
from paddock import Config, Paddock
from paddock.config import NetworkConfig

DIRECT, WITHOUT = "directly", "without network"
DOWNLOAD_MB, AT_ONCE, GETS = 100, 200, 20
SERVER = """
import asyncio
async def serve(reader, writer):
    try:
        count = int(await reader.readline())
        part = bytes(1 << 18)
        while count > 0:
            writer.write(part[:count])
            await writer.drain()
            count -= len(part)
    finally:
        writer.close()
async def main():
    server = await asyncio.start_server(serve, '127.0.0.1', 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""
GET = f"""
import socket, time
def get(size):
    with socket.create_connection(('127.0.0.1', PORT)) as plain:
        plain.sendall(b'%d\\n' % size)
        left = size
        while left:
            left -= len(plain.recv(1 << 18))
get(100)
began = time.perf_counter()
for _ in range({GETS}):
    get(100)
(time.perf_counter() - began) * 1000 / {GETS}
"""
# The second one is measured: while the first takes place, the pool makes another guest.
DOWNLOAD = (
    f"{GET.partition('get(100)')[0]}get({DOWNLOAD_MB} << 20)\nbegan = time.perf_counter()\nget({DOWNLOAD_MB} << 20)\n"
)
DOWNLOAD += "(time.perf_counter() - began) * 1000"
MANY = f"""
import asyncio, time
async def get():
    reader, writer = await asyncio.open_connection('127.0.0.1', PORT)
    writer.write(b'100\\n')
    await reader.readexactly(100)
    writer.close()
async def main():
    began = time.perf_counter()
    await asyncio.gather(*(get() for _ in range({AT_ONCE})))
    return (time.perf_counter() - began) * 1000
"""


def _opened(code: str, value: str = "") -> Callable[[], AbstractAsyncContextManager[Sides]]:
    """Sides that run `code`, whose value is the time it took, in a guest with a policy and in a plain interpreter."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Sides]:
        with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            port = server.stdout.readline().strip()
            address, script = f"127.0.0.1:{port}", code.replace("PORT", port)
            *lines, last = script.rstrip().split("\n")
            config = replace(Config(), network=NetworkConfig(private=(address,)))
            async with Paddock(config) as paddock:

                async def ours(number: int) -> float:
                    result = await paddock.run(f"{script}\n{value and f'await {value}'}", network=[address])
                    assert result.error is None, result
                    return float(result.output)

                async def direct(number: int) -> float:
                    end = f"print(asyncio.run({value}))" if value else f"print({last})"
                    text = "\n".join([*lines, *([last] if value else []), end])
                    plain = await asyncio.create_subprocess_exec(sys.executable, "-c", text, stdout=subprocess.PIPE)
                    return float(json.loads((await plain.communicate())[0]))

                yield {"network=": ours, DIRECT: direct}
            server.kill()

    return opened


@asynccontextmanager
async def _plain() -> AsyncIterator[Sides]:
    async with Paddock() as paddock:

        async def granted(number: int) -> None:
            assert (await paddock.run(f"{number}", network="public")).output == number

        async def without(number: int) -> None:
            assert (await paddock.run(f"{number}")).output == number

        yield {"network=": granted, WITHOUT: without}


NETWORK_ROWS = (
    Row(
        "connect",
        "a connection and 100 bytes over loopback, from a script",
        _opened(GET),
        rounds=15,
        pause_seconds=0.1,
        target=Target.share(DIRECT, 3.0),
    ),
    Row(
        "download",
        f"{DOWNLOAD_MB} MB over loopback, from a script",
        _opened(DOWNLOAD),
        rounds=6,
        pause_seconds=0.1,
        target=Target.share(DIRECT, 1.25),
    ),
    Row(
        "connections",
        f"{AT_ONCE} connections at once and 100 bytes each over loopback, from a script",
        _opened(MANY, "main()"),
        rounds=8,
        pause_seconds=0.1,
    ),
    Row(
        "granted",
        "a new script in a guest with a network policy, and in one without, each waiting",
        _plain,
        rounds=40,
        pause_seconds=0.1,
    ),
)
