"""What scripts do with a network: the libraries that agents use, over the made-up internet."""

from __future__ import annotations

from typing import Any

import pytest

from tests.network.conftest import Internet, Machine
from tests.network.internet import GOOD, SIX

ALLOWED = ["good.com", "*.good.com"]
TLS = "https://www.good.com/"
CA = "/files/ca.pem"
PYTHON = {
    "requests": f"import requests\nrequests.get('{TLS}', verify='{CA}', timeout=10).text",
    "urllib": f"import ssl, urllib.request\ncontext = ssl.create_default_context(cafile='{CA}')\n"
    f"urllib.request.urlopen('{TLS}', context=context).read().decode()",
    "httpx": f"import httpx, ssl\nhttpx.get('{TLS}', verify=ssl.create_default_context(cafile='{CA}')).text",
    "httpx async": "import httpx, ssl\n"
    f"async with httpx.AsyncClient(verify=ssl.create_default_context(cafile='{CA}')) as client:\n"
    f"    answer = await client.get('{TLS}')\nanswer.text",
    "aiohttp with aiodns": "import aiohttp, ssl\n"
    "connector = aiohttp.TCPConnector(resolver=aiohttp.AsyncResolver())\n"
    "async with aiohttp.ClientSession(connector=connector) as session:\n"
    f"    async with session.get('{TLS}', ssl=ssl.create_default_context(cafile='{CA}')) as answer:\n"
    "        text = await answer.text()\ntext",
    "raw sockets": "import socket, ssl\n"
    "with socket.create_connection(('www.good.com', 443)) as plain:\n"
    f"    with ssl.create_default_context(cafile='{CA}').wrap_socket(plain, server_hostname='www.good.com') as tls:\n"
    "        tls.sendall(b'GET / HTTP/1.1\\r\\nHost: www.good.com\\r\\n\\r\\n')\n"
    "        text = tls.recv(1000).decode().split('\\r\\n\\r\\n')[1]\ntext",
}
NODE = {
    "fetch": "const answer = await fetch('http://www.good.com/'); return await answer.text()",
    "http": "const http = require('node:http');\n"
    "return await new Promise((resolve, reject) => http.get('http://www.good.com/', answer => {\n"
    "  let text = ''; answer.on('data', part => text += part).on('end', () => resolve(text)) }).on('error', reject))",
    "https": "const https = require('node:https'), fs = require('node:fs');\n"
    f"const ca = fs.readFileSync('{CA}');\n"
    f"return await new Promise((resolve, reject) => https.get('{TLS}', {{ ca }}, answer => {{\n"
    "  let text = ''; answer.on('data', part => text += part).on('end', () => resolve(text)) }).on('error', reject))",
}


def attached(internet: Internet) -> dict[str, Any]:
    return {"attached": {"ca.pem": internet.authority}}


@pytest.mark.parametrize("library", PYTHON)
def test_python_libraries_get_a_page_of_an_allowed_host_over_tls(
    machine: Machine, internet: Internet, library: str
) -> None:
    result = machine.run(PYTHON[library], ALLOWED, **attached(internet))
    assert (result["verdict"], result["output"]) == ("ok", f"www.good.com at {GOOD}"), result["error"]
    [connection] = result["network"]
    assert (connection["host"], connection["address"], connection["port"]) == ("www.good.com", GOOD, 443)
    assert connection["outcome"] == "connected"


@pytest.mark.parametrize("library", NODE)
def test_node_gets_a_page_of_an_allowed_host(machine: Machine, internet: Internet, library: str) -> None:
    result = machine.run(NODE[library], ALLOWED, language="javascript", engine="node", **attached(internet))
    assert (result["verdict"], result["output"]) == ("ok", f"www.good.com at {GOOD}"), result["error"]


def test_the_authorities_that_the_host_trusts_are_trusted(machine: Machine) -> None:
    python = "import requests, urllib.request\n"
    python += f"[requests.get('{TLS}').text, urllib.request.urlopen('{TLS}').read().decode()]"
    node = f"return await (await fetch('{TLS}')).text()"
    assert machine.run(python, ALLOWED)["output"] == [f"www.good.com at {GOOD}"] * 2
    assert machine.run(node, ALLOWED, language="javascript", engine="node")["output"] == f"www.good.com at {GOOD}"


def test_websockets_work_in_python_and_in_node(machine: Machine) -> None:
    python = "import aiohttp\nasync with aiohttp.ClientSession() as session:\n"
    python += "    async with session.ws_connect('http://good.com/ws') as ws:\n"
    python += "        await ws.send_str('hello')\n        text = await ws.receive_str()\ntext"
    other = "import websockets\nasync with websockets.connect('ws://good.com/ws') as ws:\n"
    other += "    await ws.send('hello')\n    text = await ws.recv()\ntext"
    node = "const ws = new WebSocket('ws://good.com/ws');\nreturn await new Promise((resolve, reject) => {\n"
    node += "  ws.onopen = () => ws.send('hello'); ws.onerror = reject;\n"
    node += "  ws.onmessage = event => { resolve(event.data); ws.close() } })"
    results = [
        machine.run(python, ALLOWED),
        machine.run(other, ALLOWED),
        machine.run(node, ALLOWED, language="javascript", engine="node"),
    ]
    assert [result["output"] for result in results] == ["hello"] * 3, results


def test_ipv6_works(machine: Machine) -> None:
    script = "import requests\n"
    script += "[requests.get(f'http://{host}/', timeout=10).text for host in ('six.good.com', 'both.good.com')]"
    result = machine.run(script, ALLOWED)
    assert result["verdict"] == "ok", result["error"]
    assert result["output"][0] == f"six.good.com at {SIX}"


def test_two_hundred_connections_at_once(machine: Machine) -> None:
    script = """
import asyncio
async def fetch():
    reader, writer = await asyncio.open_connection('good.com', 80)
    writer.write(b'GET / HTTP/1.1\\r\\nHost: good.com\\r\\n\\r\\n')
    await reader.readuntil(b'good.com at ')
    writer.close()
    return 1
sum(await asyncio.gather(*(fetch() for _ in range(200))))
"""
    result = machine.run(script, ALLOWED)
    assert (result["verdict"], result["output"], len(result["network"])) == ("ok", 200, 200), result["error"]
    assert {connection["outcome"] for connection in result["network"]} == {"connected"}


def test_a_download_arrives_whole(machine: Machine) -> None:
    script = "import urllib.request\nlen(urllib.request.urlopen('http://good.com/bytes/20000000').read())"
    result = machine.run(script, ALLOWED)
    assert (result["verdict"], result["output"]) == ("ok", 20_000_000), result["error"]
    assert 20_000_000 < result["network"][0]["bytes"] < 20_001_000


def test_bytes_are_counted_of_open_and_of_closed_connections(machine: Machine) -> None:
    script = """
import socket
kept = [socket.create_connection(('good.com', 7)) for _ in range(2)]
for each in kept:
    each.sendall(b'x' * 1000)
    while len(each.recv(1000, socket.MSG_PEEK)) < 1000: pass
kept[0].close()
"""
    counts = [each["bytes"] for each in machine.run(script, ALLOWED)["network"]]
    assert [2000 <= count < 2005 for count in counts] == [True, True], counts


def test_a_run_that_transfers_too_much_is_ended(internet: Internet) -> None:
    with internet.machine("little", "max_bytes = 1000000") as machine:
        script = "import urllib.request\nwhile True: urllib.request.urlopen('http://good.com/bytes/300000').read()"
        result = machine.run(script, ALLOWED)
    assert (result["verdict"], result["error"]["type"]) == ("denied", "NetworkDenied")
    assert "network.max_bytes" in result["error"]["message"]


@pytest.mark.parametrize("session", [None, "s"])
def test_a_run_that_keeps_sockets_of_ended_connections_is_ended(internet: Internet, session: str | None) -> None:
    script = """
import socket
kept = []
while True:
    each = socket.create_connection(('good.com', 80))
    each.sendall(b'GET /bytes/100000 HTTP/1.1\\r\\nHost: good.com\\r\\n\\r\\n')
    each.shutdown(socket.SHUT_WR)
    while each.recv(1 << 20): pass
    kept.append(each)
"""
    with internet.machine("keeping") as machine:
        result = machine.run(script, ALLOWED, session=session)
    assert (result["verdict"], result["error"]["type"]) == ("denied", "NetworkDenied"), result["error"]
    assert "sockets are still open: close them" in result["error"]["message"]


def test_options_and_flags_of_a_socket_stay_as_they_were(machine: Machine) -> None:
    script = """
import fcntl, os, socket
found = []
for timeout in (None, 5):
    plain = socket.socket()
    plain.settimeout(timeout)
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 77)
    def look():
        return (
            bool(fcntl.fcntl(plain, fcntl.F_GETFL) & os.O_NONBLOCK), os.get_inheritable(plain.fileno()),
            plain.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE),
            plain.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY),
            plain.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE))
    before = look()
    plain.connect(('good.com', 7))
    plain.sendall(b'echo')
    found.append((before == look(), plain.recv(4).decode(), plain.getpeername()[1]))
    plain.close()
found
"""
    assert machine.run(script, ALLOWED)["output"] == [[True, "echo", 7]] * 2


def test_the_end_of_a_stream_arrives_on_both_sides(machine: Machine) -> None:
    """The host keeps no copy of the socket: a copy would hold back the FIN, and the echo would wait for more."""
    script = """
import socket
plain = socket.create_connection(('good.com', 7), timeout=10)
plain.sendall(b'x' * 1000)
plain.shutdown(socket.SHUT_WR)
data = b''
while part := plain.recv(4096):
    data += part
len(data)
"""
    assert machine.run(script, ALLOWED)["output"] == 1000
