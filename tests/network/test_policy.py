"""Policies as values: what is parsed, what is allowed, what an operator leaves of it."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock import Config, ConfigError, NetworkDenied, RequestError
from paddock.model.network import (
    Host,
    NetworkPolicy,
    explain_denial,
    grant,
    is_public,
    normalize_name,
    parse_host,
    parse_policy,
    parse_private,
)

PUBLIC = NetworkPolicy(is_public=True)
NAMES = st.from_regex(r"\A[a-z][a-z0-9-]{0,10}[a-z](\.[a-z][a-z0-9]{0,5}[a-z]){1,3}\Z")
PORTS = st.none() | st.integers(1, 65535)


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("api.example.org", Host("api.example.org")),
        ("API.Example.ORG.:443", Host("api.example.org", 443)),
        ("*.example.com:443", Host("*.example.com", 443)),
        ("BÜCHER.example", Host("xn--bcher-kva.example")),
        ("93.184.216.34:80", Host("93.184.216.34", 80)),
        ("2606:2800::1", Host("2606:2800::1")),
        ("[2606:2800:0:0::1]:80", Host("2606:2800::1", 80)),
    ],
)
def test_a_host_is_parsed_into_one_form(text: str, host: Host) -> None:
    assert parse_host(text) == host
    assert parse_host(str(host)) == host


@pytest.mark.parametrize(
    "text",
    [
        *("", ".", "*", "*.", "a..b", "-a.com", "a b", "a.com/x", "http://a.com", "user@a.com", "a.com\r\n", "a\0.com"),
        *("a.com:", "a.com:0", "a.com:65536", "a.com:x", "a.com:80:80", "*.*.com", "a.*.com", "*a.com"),
        *(
            "127.1",
            "0x7f.1",
            "2130706433",
            "0x7f000001",
            "127.0.0.01",
            "1.2.3.4.5",
            "[::1",
            "[1.2.3.4]:80",
            "fe80::1%eth0",
        ),
        f"{'a' * 64}.com",
        ".".join(["a" * 60] * 5),
    ],
)
def test_what_is_not_a_host_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match="is not a host"):
        parse_host(text)


@pytest.mark.parametrize("words", ["any", "good.com", 5, [5], [None], {"a.com": 1}.items(), ["a.com"] * 201])
def test_what_is_not_a_policy_is_refused(words: Any) -> None:
    with pytest.raises(RequestError):
        parse_policy(words)


def test_an_empty_list_is_no_network() -> None:
    assert not parse_policy([])
    assert (parse_policy([]).words(), parse_policy("public").words(), parse_policy(["A.com"]).words()) == (
        "none",
        "public",
        ["a.com"],
    )


@pytest.mark.parametrize(
    "text",
    [
        *("0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "169.254.169.254", "172.16.0.1"),
        *("192.0.0.192", "192.168.1.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "168.63.129.16"),
        *("192.88.99.1", "192.0.2.1", "203.0.113.1"),
        *("::", "::1", "::ffff:8.8.8.8", "::8.8.8.8", "64:ff9b::808:808", "64:ff9b:1::1", "100::1", "2001::1"),
        *("2001:db8::1", "2002:808:808::1", "3fff::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1"),
    ],
)
def test_addresses_that_are_not_public(text: str) -> None:
    address = ip_address(text)
    assert not is_public(address)
    assert not PUBLIC.allows(address, 80)
    assert not parse_policy([text]).allows(address, 80)
    assert not parse_policy(["good.com"]).allows(address, 80, ["good.com"])


@pytest.mark.parametrize(
    "text", ["8.8.8.8", "93.184.216.34", "2606:4700:4700::1111", "2001:4860:4860::8888", "2a00::1"]
)
def test_addresses_that_are_public(text: str) -> None:
    assert PUBLIC.allows(ip_address(text), 80)
    assert not PUBLIC.allows(ip_address(text), 80, is_own=True)


@given(st.ip_addresses())
def test_no_form_of_a_private_ipv4_address_is_public(address: IPv4Address | IPv6Address) -> None:
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo or [None])[0]
        assert inner is None or not is_public(address)
    elif not is_public(address):
        for form in (f"::ffff:{address}", f"64:ff9b::{address}", f"::{address}"):
            assert not is_public(IPv6Address(form))


@given(NAMES, PORTS)
def test_a_name_is_allowed_exactly(name: str, port: int | None) -> None:
    policy = NetworkPolicy((Host(name, port),))
    address = ip_address("93.184.216.34")
    asked = port or 443
    assert policy.allows(address, asked, [name])
    assert policy.allows(address, asked % 65535 + 1, [name]) == (port is None)
    for other in (f"x{name}", f"x.{name}", name[1:], f"{name}x", ""):
        assert not policy.allows(address, asked, [other])
        assert not policy.allows_name(other)


@given(NAMES, NAMES)
def test_a_wildcard_is_for_the_names_below(name: str, below: str) -> None:
    policy = parse_policy([f"*.{name}"])
    assert policy.allows_name(f"{below}.{name}")
    assert not policy.allows_name(name)
    assert not policy.allows_name(f"x{name}")


@given(st.lists(st.tuples(NAMES, PORTS), max_size=5), st.lists(st.tuples(NAMES, PORTS), max_size=5), st.booleans())
def test_what_is_left_of_a_policy_is_within_what_the_operator_allows(
    asked: list[tuple[str, int | None]], allowed: list[tuple[str, int | None]], is_public: bool
) -> None:
    cap = NetworkPolicy(tuple(Host(*each) for each in allowed), is_public)
    policy = NetworkPolicy(tuple(Host(*each) for each in asked))
    left = policy.capped(cap)
    assert left.beyond(cap) is None
    assert set(left.hosts) <= set(policy.hosts)
    assert NetworkPolicy(is_public=True).capped(cap).beyond(cap) is None
    if (beyond := policy.beyond(cap)) is not None:
        with pytest.raises(NetworkDenied, match="is not allowed here"):
            grant(policy.words(), cap)
        assert beyond in policy.words()


@given(st.text(max_size=30))
def test_a_normalized_name_is_stable(text: str) -> None:
    name = normalize_name(text)
    if name is not None:
        assert (normalize_name(name), name.isascii(), name == name.lower()) == (name, True, True)


def test_private_addresses_belong_to_the_operator() -> None:
    allowed = NetworkPolicy(is_public=True, private=parse_private(["127.0.0.1:8000"]))
    policy = grant(
        ["localhost:8000"], NetworkPolicy(is_public=True, private=parse_private(["127.0.0.1:8000", "[::1]:8000"]))
    )
    assert policy.allows(ip_address("127.0.0.1"), 8000)
    assert not policy.allows(ip_address("127.0.0.1"), 8001)
    assert grant("public", allowed).allows(ip_address("127.0.0.1"), 8000)
    for words in (["127.0.0.1:8001"], ["10.0.0.1"], ["[::1]:8000"]):
        with pytest.raises(NetworkDenied, match=r"network\.private"):
            grant(words, allowed)
    with pytest.raises(NetworkDenied):
        grant(["127.0.0.1:8000"], NetworkPolicy(private=allowed.private))
    with pytest.raises(RequestError, match="is not an address with a port"):
        parse_private(["localhost.example:80"])


def test_who_may_have_what() -> None:
    def allowed(text: str) -> list[Any]:
        network = Config.load(environ={"PADDOCK_NETWORK__ALLOW": text} if text else {}).network
        return [network.allowed(role).words() for role in (None, "operator", "user")]

    assert allowed("") == ["public", "none", "none"]
    assert allowed("public") == ["public"] * 3
    assert allowed("none") == ["none"] * 3
    assert allowed('["a.com"]') == [["a.com"]] * 3
    network = Config.load(environ={"PADDOCK_NETWORK__ALLOW": "none", "PADDOCK_NETWORK__OPERATORS": "public"}).network
    assert [network.allowed(role).words() for role in ("operator", "user")] == ["public", "none"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALLOW", '["a b"]'),
        ("OPERATORS", '["http://a"]'),
        ("PRIVATE", '["a.com:80"]'),
        ("PRIVATE", '["127.0.0.1"]'),
        ("MAX_BYTES", "0"),
        ("ALLOW", "some"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match="network"):
        Config.load(environ={f"PADDOCK_NETWORK__{name}": value})


def test_a_denial_says_who_can_allow_it() -> None:
    policy = parse_policy(["good.com"])
    said = [
        explain_denial("evil.com", None, None, policy, PUBLIC),
        explain_denial("evil.com", "93.184.216.66", 443, policy, policy),
        explain_denial(None, "10.0.0.1", 80, policy, PUBLIC),
        explain_denial("good.com", "93.184.216.34", 80, policy, PUBLIC),
    ]
    private = "it is a private address, which only the operator can allow (network.private)."
    assert said == [
        'The network policy denied evil.com: pass network=["evil.com"] to allow it.',
        "The network policy denied evil.com:443: only the operator can allow it (network.allow).",
        f"The network policy denied 10.0.0.1:80: {private}",
        f"The network policy denied good.com:80 (93.184.216.34): {private}",
    ]
