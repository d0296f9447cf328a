"""The network of a guest with a network policy: a namespace of its own with `lo`, and a name server's socket on it.

Nothing else is in the namespace, so nothing else can be reached from it. `doors` connects to what the policy allows,
outside, and puts those connections into the guest.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct

from paddock.jail.walls import namespaces

NAME_SERVER = ("127.0.0.1", 53)
TEXTS = {"/etc/resolv.conf": f"nameserver {NAME_SERVER[0]}\noptions timeout:12 attempts:1\n"}
"""Read by the resolvers of guests. A host that takes longer to resolve a name gives up first."""
BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian and Alpine
    "/etc/pki/tls/certs/ca-bundle.crt",  # Red Hat
    "/etc/ssl/ca-bundle.pem",  # SUSE
)
BUNDLE_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
_SET_FLAGS = 0x8914  # SIOCSIFFLAGS
_UP_AND_RUNNING = 0x41


def find_bundle() -> str | None:
    """The file with the certificate authorities that this host trusts, its own among them."""
    return next((os.path.realpath(path) for path in BUNDLES if os.path.isfile(path)), None)  # noqa: PTH113


def enter() -> int:
    """Move the calling guest into a new namespace. Returns the name server's socket, which the host will read.

    The caller must still have the capabilities of its user namespace.
    """
    namespaces.unshare(namespaces.NEW_NET)
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    fcntl.ioctl(server, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP_AND_RUNNING))
    server.bind(NAME_SERVER)
    return server.detach()
