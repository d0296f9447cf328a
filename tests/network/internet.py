"""A made-up internet: `python internet.py FOLDER` serves it until its stdin closes.

Two network namespaces are joined by a cable. The one of this process is a machine with the resolver of that internet;
enter it with `nsenter -t PID -n -m`. The other one, of a child, has the addresses below, with a name server, web
servers with TLS of an authority of their own (FOLDER/ca.pem), which the machine trusts, an echo, and whatever has no
address is silent.
"""

from __future__ import annotations

import asyncio
import base64
import datetime as dt
import hashlib
import ipaddress
import os
import ssl
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

GOOD, EVIL, SHARED, SIX = "93.184.216.34", "93.184.216.66", "93.184.216.77", "2606:2800:220:1::34"
METADATA, PRIVATE, SILENT = "169.254.169.254", "10.1.2.3", "93.184.216.99"
RESOLVER, OWN, ALSO_OWN = "9.9.9.9", "198.41.0.4", "198.41.0.5"
"""OWN and ALSO_OWN are public addresses of the machine itself, of one subnet."""
ADDRESSES = (GOOD, EVIL, SHARED, METADATA, PRIVATE, RESOLVER, "100.64.1.1", "192.168.7.7")
ZONE: dict[str, list[str]] = {
    "good.com": [GOOD],
    "www.good.com": [GOOD],
    "deep.www.good.com": [GOOD],
    "six.good.com": [SIX],
    "both.good.com": [GOOD, SIX],
    "evil-good.com": [EVIL],
    "evil.com": [EVIL],
    "shared-a.net": [SHARED],
    "shared-b.net": [SHARED],
    "xn--bcher-kva.com": [GOOD],
    "silent.com": [SILENT],
    "metadata.com": [METADATA],
    "inner.com": [PRIVATE],
    "carrier.com": ["100.64.1.1"],
    "mapped.com": ["::ffff:10.1.2.3"],
    "nat64.com": ["64:ff9b::a01:203"],
    "loopback.com": ["127.0.0.1", "::1"],
    "mixed.com": ["192.168.7.7", GOOD],
    "own.com": [OWN],
    "many.com": [f"93.184.{high}.{low}" for high in range(10, 14) for low in range(250)],
}
ALIASES = {"alias.com": "inner.com", "cdn.good.com": "good.com"}
SLOW = "slow.com"
REBINDING = "rebinding.com"
"""Resolves to GOOD the first time, and to METADATA from then on."""
NEW_NETWORK, NEW_MOUNTS = 0x40000000, 0x00020000
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


def make_authority(folder: Path) -> None:
    """Write ca.pem, and good.pem with a key and a certificate for *.good.com and good.com."""
    now = dt.datetime.now(dt.UTC)
    issuer_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())

    def certificate(name: str, public: ec.EllipticCurvePublicKey, issuer: str, *, is_ca: bool) -> x509.Certificate:
        names = [x509.DNSName(each) for each in ("good.com", "*.good.com")]
        return (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
            .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(days=1))
            .not_valid_after(now + dt.timedelta(days=2))
            .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
            .add_extension(
                x509.KeyUsage(
                    digital_signature=True,
                    content_commitment=False,
                    key_encipherment=False,
                    data_encipherment=False,
                    key_agreement=False,
                    key_cert_sign=is_ca,
                    crl_sign=is_ca,
                    encipher_only=False,
                    decipher_only=False,
                ),
                critical=True,
            )
            .sign(issuer_key, hashes.SHA256())
        )

    pem = serialization.Encoding.PEM
    authority = certificate("made-up authority", issuer_key.public_key(), "made-up authority", is_ca=True)
    (folder / "ca.pem").write_bytes(authority.public_bytes(pem))
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    signed = certificate("good.com", key.public_key(), "made-up authority", is_ca=False).public_bytes(pem)
    (folder / "good.pem").write_bytes(private + signed)


class Resolver(asyncio.DatagramProtocol):
    """The name server of the internet."""

    def __init__(self) -> None:
        self._asked: set[str] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, sender: tuple[str, int]) -> None:
        answer = self.answer(data, limit=1232)
        if answer is not None:
            self._transport.sendto(answer, sender)  # type: ignore[attr-defined]

    def answer(self, data: bytes, limit: int = 65_000) -> bytes | None:
        labels, at = [], 12
        while data[at]:
            labels.append(data[at + 1 : at + 1 + data[at]].decode())
            at += 1 + data[at]
        kind = struct.unpack_from("!H", data, at + 1)[0]
        question, name = data[12 : at + 5], ".".join(labels).lower()
        if name.endswith(SLOW):
            return None
        records = []
        if name in ALIASES:
            target = b"".join(bytes([len(part)]) + part.encode() for part in ALIASES[name].split(".")) + b"\0"
            records.append(b"\xc0\x0c" + struct.pack("!HHIH", 5, 1, 60, len(target)) + target)
        addresses = ZONE.get(ALIASES.get(name, name), [])
        if name == REBINDING:
            addresses = [METADATA if f"{name} {kind}" in self._asked else GOOD]
        self._asked.add(f"{name} {kind}")
        for text in addresses:
            address = ipaddress.ip_address(text)
            if {1: 4, 28: 6}.get(kind) == address.version:
                owner = b"\xc0\x0c"
                if name in ALIASES:
                    owner = b"".join(bytes([len(part)]) + part.encode() for part in ALIASES[name].split(".")) + b"\0"
                packed = address.packed
                records.append(owner + struct.pack("!HHIH", kind, 1, 60, len(packed)) + packed)
        code = 0 if addresses else 3
        body = question + b"".join(records)
        if 12 + len(body) > limit:
            return data[:2] + struct.pack("!5H", 0x8380, 1, 0, 0, 0) + question
        return data[:2] + struct.pack("!5H", 0x8180 | code, 1, len(records), 0, 0) + body

    async def stream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError):
            while True:
                size = int.from_bytes(await reader.readexactly(2))
                answer = self.answer(await reader.readexactly(size)) or b""
                writer.write(len(answer).to_bytes(2) + answer)
                await writer.drain()
        writer.close()


async def web(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """HTTP: / tells host and address, /bytes/N sends N bytes, /to/URL redirects, /ws echoes, /never is silent."""
    try:
        while True:
            first = (await reader.readline()).split()
            if len(first) < 2:
                break
            headers = {}
            while (line := (await reader.readline()).strip()) != b"":
                name, _, value = line.partition(b":")
                headers[name.lower()] = value.strip()
            path = first[1].decode()
            address = writer.get_extra_info("sockname")[0]
            if path == "/ws":
                await websocket(reader, writer, headers)
                break
            if path == "/never":
                await asyncio.sleep(3600)
            if path.startswith("/to/"):
                head = f"HTTP/1.1 302 Found\r\nLocation: {path[4:]}\r\nContent-Length: 0\r\n\r\n"
                writer.write(head.encode())
            elif path.startswith("/bytes/"):
                count = int(path[7:])
                writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {count}\r\n\r\n".encode())
                for _ in range(count // 65536):
                    writer.write(bytes(65536))
                    await writer.drain()
                writer.write(bytes(count % 65536))
            else:
                body = f"{headers.get(b'host', b'').decode()} at {address}".encode()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            await writer.drain()
    except (OSError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def websocket(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, headers: dict[bytes, bytes]) -> None:
    accept = base64.b64encode(hashlib.sha1(headers[b"sec-websocket-key"] + _GUID).digest())  # noqa: S324
    head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    writer.write(head + b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n")
    while True:
        start = await reader.readexactly(2)
        size, mask = start[1] & 0x7F, await reader.readexactly(4)
        data = bytes(byte ^ mask[at % 4] for at, byte in enumerate(await reader.readexactly(size)))
        writer.write(bytes([start[0], size]) + data)
        await writer.drain()
        if start[0] & 0xF == 8:  # a close
            return


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()


async def serve(folder: Path) -> None:
    """What the other side of the cable runs."""
    loop = asyncio.get_running_loop()
    _, resolver = await loop.create_datagram_endpoint(Resolver, local_addr=(RESOLVER, 53))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / "good.pem")
    await asyncio.start_server(resolver.stream, RESOLVER, 53)
    for host in ("0.0.0.0", "::"):  # noqa: S104
        for port in (80, 8080):
            await asyncio.start_server(web, host, port, backlog=1024)
        await asyncio.start_server(web, host, 443, ssl=tls, backlog=1024)
        await asyncio.start_server(echo, host, 7)
    print("ready", flush=True)
    await asyncio.Event().wait()


def main(folder: Path) -> None:
    make_authority(folder)
    unshare(NEW_NETWORK | NEW_MOUNTS)
    run("mount", "--make-rprivate", "/")
    reader, writer = os.pipe()
    ready_reader, ready_writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writer)
        unshare(NEW_NETWORK)
        os.write(ready_writer, b"1")
        os.read(reader, 1)  # until the cable is there
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "set", "far", "up")
        run("ip", "addr", "add", "10.255.0.2/30", "dev", "far")
        run("ip", "addr", "add", "fd99::2/64", "dev", "far", "nodad")
        for address in ADDRESSES:
            run("ip", "addr", "add", f"{address}/32", "dev", "lo")
        run("ip", "addr", "add", f"{SIX}/128", "dev", "lo", "nodad")
        run("ip", "route", "add", f"{OWN}/32", "via", "10.255.0.1")
        asyncio.run(serve(folder))
        os._exit(0)
    os.read(ready_reader, 1)
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "near", "type", "veth", "peer", "name", "far", "netns", str(child))
    run("ip", "link", "set", "near", "up")
    run("ip", "addr", "add", "10.255.0.1/30", "dev", "near")
    for own in (OWN, ALSO_OWN):
        run("ip", "addr", "add", f"{own}/29", "dev", "near")
    run("ip", "addr", "add", "fd99::1/64", "dev", "near", "nodad")
    run("ip", "route", "add", "default", "via", "10.255.0.2")
    run("ip", "-6", "route", "add", "default", "via", "fd99::2")
    (folder / "resolv.conf").write_text(f"nameserver {RESOLVER}\nsearch evil.com\noptions timeout:2 attempts:1\n")
    run("mount", "--bind", str(folder / "resolv.conf"), os.path.realpath("/etc/resolv.conf"))
    bundle = "/etc/ssl/certs/ca-certificates.crt"
    (folder / "bundle.crt").write_text(Path(bundle).read_text() + (folder / "ca.pem").read_text())
    run("mount", "--bind", str(folder / "bundle.crt"), bundle)
    os.write(writer, b"1")
    sys.stdin.read()
    os.kill(child, 9)


def unshare(flags: int) -> None:
    import ctypes

    if ctypes.CDLL(None, use_errno=True).unshare(flags):
        raise OSError(ctypes.get_errno(), "unshare")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
