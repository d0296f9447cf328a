"""The network policy of a run: which hosts a script may connect to. A value without I/O.

A policy is `none`, `public`, or a list of `host[:port]`, in which `*.example.com` stands for every name below
`example.com`. Text is parsed once, into names that are compared exactly. An address that is not public is refused in
every policy unless the operator names it together with a port.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from paddock.errors import NetworkDenied, RequestError

Address = IPv4Address | IPv6Address

NONE, PUBLIC = "none", "public"
MAX_HOSTS, MAX_NAME = 200, 253
DENIED = "The network policy denied"
"""How the hint about a denied connection begins."""
_WILDCARD = "*."
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_LOCALHOST = ("127.0.0.1", "::1")
FORM = 'write host or host:port, as in "api.example.org", "*.example.com:443" or "[2001:db8::1]:80"'

# What `is_global` of some versions of Python calls public, and is not, or reaches another address through a relay.
_NOT_PUBLIC_4 = tuple(
    IPv4Network(text)
    for text in (
        *("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "224.0.0.0/3"),
        "168.63.129.16/32",  # Azure's metadata and DNS
    )
)
_GLOBAL_6 = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocols, Teredo among them, which contains an IPv4 address
        *("2001:db8::/32", "3fff::/20", "5f00::/16"),  # documentation, segment routing
        "2002::/16",  # 6to4, which contains an IPv4 address
    )
)


def is_public(address: Address) -> bool:
    """Whether an address is one of the public internet. Mapped, NAT64, 6to4 and Teredo forms are not."""
    if isinstance(address, IPv4Address):
        return address.is_global and not any(address in network for network in _NOT_PUBLIC_4)
    if address.scope_id is not None or address not in _GLOBAL_6:
        return False
    return address.is_global and not any(address in network for network in _NOT_PUBLIC_6)


def parse_address(text: str) -> Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None


def normalize_name(text: str) -> str | None:
    """A host name in lower case, IDNA-encoded, without the final dot; None if it is not a host name."""
    name = text.removesuffix(".")
    if len(name) > MAX_NAME:  # encoding only makes it longer
        return None
    if not name.isascii():
        import idna

        try:
            name = idna.encode(name, uts46=True).decode()
        except (idna.IDNAError, UnicodeError):
            return None
    name = name.lower()
    labels = name.split(".")
    if len(name) > MAX_NAME or not all(_LABEL.fullmatch(label) for label in labels):
        return None
    # Programs read a name that ends in a number as an IPv4 address: 127.1, 0x7f.1, 2130706433.
    return None if re.fullmatch(r"\d+|0x[0-9a-f]*", labels[-1]) else name


@dataclass(frozen=True, slots=True)
class Host:
    """One entry of a policy. `name` is a normalized name, one with `*.` before it, or an address."""

    name: str
    port: int | None = None  # None: any port

    def __str__(self) -> str:
        name = f"[{self.name}]" if ":" in self.name else self.name
        return name if self.port is None else f"{name}:{self.port}"

    @property
    def address(self) -> Address | None:
        return parse_address(self.name)

    def matches(self, name: str) -> bool:
        if self.name.startswith(_WILDCARD):
            return name.endswith(self.name[1:]) and len(name) >= len(self.name)
        return name == self.name

    def covers(self, other: Host) -> bool:
        """Whether this entry allows everything that `other` allows."""
        return self.port in (None, other.port) and (self.name == other.name or self.matches(other.name))


@lru_cache(maxsize=256)
def parse_host(text: str) -> Host:
    """Parse `host[:port]`. Raises RequestError."""
    if text.startswith("["):
        name, closed, rest = text[1:].partition("]")
        is_valid = bool(closed) and isinstance(parse_address(name), IPv6Address) and "%" not in name
    elif isinstance(parse_address(text), IPv6Address):
        name, rest, is_valid = text, "", "%" not in text
    else:
        name, colon, port_text = text.partition(":")
        rest, is_valid = colon + port_text, True
    port = _parse_port(rest) if is_valid else None
    address = parse_address(name)
    if is_valid and address is not None and (port is not None or not rest):
        return Host(str(address), port)
    wildcard = _WILDCARD if name.startswith(_WILDCARD) else ""
    normal = normalize_name(name.removeprefix(_WILDCARD)) if is_valid and not name.startswith("[") else None
    if normal is None or (rest and port is None):
        raise RequestError(f"network: {text[:80]!r} is not a host; {FORM}")
    return Host(wildcard + normal, port)


def _parse_port(rest: str) -> int | None:
    digits = rest.removeprefix(":")
    is_port = rest.startswith(":") and digits.isascii() and digits.isdigit() and len(digits) <= 5
    return int(digits) if is_port and 0 < int(digits) < 1 << 16 else None


@dataclass(frozen=True, slots=True)
class NetworkPolicy:
    """What one run may connect to, or what a caller may have at most."""

    hosts: tuple[Host, ...] = ()
    is_public: bool = False  # any public address, whatever `hosts` says
    private: tuple[Host, ...] = ()  # addresses with ports that are not public, and that the operator allows

    def __bool__(self) -> bool:
        return self.is_public or bool(self.hosts)

    def words(self) -> str | list[str]:
        """The policy as it is written in options and files."""
        if self.is_public:
            return PUBLIC
        return [str(host) for host in self.hosts] or NONE

    def describe(self) -> str:
        """The policy in a sentence."""
        words = self.words()
        return {NONE: "no network", PUBLIC: "public hosts"}[words] if isinstance(words, str) else ", ".join(words)

    def allows_name(self, name: str) -> bool:
        """Whether a normalized name may be resolved."""
        return self.is_public or any(host.matches(name) for host in self.hosts)

    def may_reach(self, address: Address, port: int | None = None) -> bool:
        """Whether an address is public, or the operator names it, with this port if one is given."""
        return is_public(address) or any(
            host.name == str(address) and port in (None, host.port) for host in self.private
        )

    def allows(self, address: Address, port: int, names: Collection[str] = (), *, is_own: bool = False) -> bool:
        """Whether this address may be connected to. `names` are the names that were resolved to it in this run.

        `is_own` says that it is an address of this machine, which counts as private.
        """
        is_private = is_own or not is_public(address)
        if is_private and Host(str(address), port) not in self.private:
            return False
        return self.is_public or any(
            host.port in (None, port) and any(host.matches(name) for name in (str(address), *names))
            for host in self.hosts
        )

    def beyond(self, allowed: NetworkPolicy) -> str | None:
        """The first part of this policy that `allowed` does not allow; None if it allows all of it."""
        if self.is_public and not allowed.is_public:
            return PUBLIC
        for host in self.hosts:
            address = host.address
            if address is not None and not is_public(address):
                named = [each for each in allowed.private if each.name == host.name and host.port in (None, each.port)]
                is_allowed = bool(allowed and named)  # none means none
            else:
                is_allowed = allowed.is_public or any(each.covers(host) for each in allowed.hosts)
            if not is_allowed:
                return str(host)
        return None

    def capped(self, allowed: NetworkPolicy) -> NetworkPolicy:
        """The part of this policy that `allowed` allows, with the operator's private addresses."""
        if self.is_public:
            return allowed
        hosts = tuple(host for host in self.hosts if NetworkPolicy((host,)).beyond(allowed) is None)
        return NetworkPolicy(hosts, private=allowed.private)


NO_NETWORK = NetworkPolicy()


def parse_policy(words: object, private: Iterable[Host] = ()) -> NetworkPolicy:
    """Parse `none`, `public` or a list of hosts. Raises RequestError."""
    if words is None or words == NONE:
        return NetworkPolicy(private=tuple(private))
    if words == PUBLIC:
        return NetworkPolicy(is_public=True, private=tuple(private))
    if isinstance(words, str) or not isinstance(words, Iterable):
        shown = repr(words)[:80]
        raise RequestError(f'network must be "none", "public" or a list of hosts such as ["example.com"], not {shown}')
    hosts: dict[Host, None] = {}
    for count, text in enumerate(words):
        if count >= MAX_HOSTS:
            raise RequestError(f"network has more than {MAX_HOSTS} hosts")
        if not isinstance(text, str):
            raise RequestError(f"network: {str(text)[:80]!r} is not a host; {FORM}")
        host = parse_host(text)
        hosts |= dict.fromkeys(
            Host(name, host.port) for name in (_LOCALHOST if host.name == "localhost" else [host.name])
        )
    return NetworkPolicy(tuple(hosts), private=tuple(private))


def grant(words: object, allowed: NetworkPolicy) -> NetworkPolicy:
    """The policy that a caller asks for. Raises NetworkDenied if the operator does not allow it."""
    policy = parse_policy(words, allowed.private)
    if (beyond := policy.beyond(allowed)) is None:
        return policy
    remedy = f"the operator allows {allowed.describe()} (network.allow): ask the operator for {beyond}"
    if beyond != PUBLIC and (address := parse_host(beyond).address) is not None and not is_public(address):
        remedy = f"{beyond} is not a public address: the operator can name it, with its port, in network.private"
    raise NetworkDenied(f"network: {beyond} is not allowed here; {remedy}, or run without it")


def explain_denial(
    name: str | None, address: str | None, port: int | None, policy: NetworkPolicy, allowed: NetworkPolicy
) -> str:
    """A sentence that says what a policy denied, and who can allow it: the caller or the operator."""
    found = parse_address(address or "")
    host = Host(name or address or "", port)
    denied = f"{DENIED} {host}"
    # What it allows by its name, and denied all the same, is an address of this machine.
    if found is not None and (not policy.may_reach(found, port) or policy.allows(found, port or 0, (host.name,))):
        where = f" ({found})" if name else ""
        return f"{denied}{where}: it is a private address, which only the operator can allow (network.private)."
    if NetworkPolicy((host,)).beyond(allowed) is None:
        return f'{denied}: pass network=["{host}"] to allow it.'
    return f"{denied}: only the operator can allow it (network.allow)."


def parse_private(texts: Iterable[str]) -> tuple[Host, ...]:
    """Parse the operator's private addresses, each with its port. Raises RequestError."""
    hosts = tuple(parse_host(text) for text in texts)
    for host in hosts:
        if host.address is None or host.port is None:
            raise RequestError(f"network.private: {host} is not an address with a port, such as 127.0.0.1:8000")
    return hosts
