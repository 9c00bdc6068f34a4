"""The table of ranges, and what `classify_address` makes of it; `ipaddress` and plain arithmetic are the oracles."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.fetching.address_table import (
    ALWAYS_BLOCKED,
    EMBEDDED_IPV4,
    JUDGED_BY_EMBEDDED,
    LOCAL_NAMES,
    PRIVATE_CLASSES,
    RANGES,
)
from chalicelib.fetching.ssrf import FetchPolicy, classify_address, parse_url

IPV4 = st.integers(0, 2**32 - 1).map(IPv4Address)
IPV6 = st.integers(0, 2**128 - 1).map(IPv6Address)
GLOBAL_IPV6 = st.integers(0x2 << 124, (0x4 << 124) - 1).map(IPv6Address)


def edges() -> list[str]:
    """The first and last address of every row, and the neighbours outside."""
    found = set()
    for network, _ in RANGES:
        first, last, kind = int(network.network_address), int(network.broadcast_address), type(network.network_address)
        top = 2**network.max_prefixlen - 1
        found |= {str(kind(number)) for number in (first - 1, first, last, last + 1) if 0 <= number <= top}
    return sorted(found)


def test_longer_prefixes_come_first_and_no_network_twice() -> None:
    lengths = [network.prefixlen for network, _ in RANGES]
    assert lengths == sorted(lengths, reverse=True)
    assert len({network for network, _ in RANGES}) == len(RANGES)


def test_every_exemptible_and_blocked_class_exists_in_the_table() -> None:
    named = {name for _, name in RANGES}
    assert named >= PRIVATE_CLASSES
    assert named | {"scoped", "invalid"} >= ALWAYS_BLOCKED
    assert not PRIVATE_CLASSES & ALWAYS_BLOCKED


def test_at_every_edge_of_the_table_the_longest_matching_row_decides() -> None:
    for address in edges():
        ip = ip_address(address)
        rows = [(net.prefixlen, name) for net, name in RANGES if ip.version == net.version and ip in net]
        expected = max(rows)[1] if rows else None
        verdict = classify_address(address)
        if expected == JUDGED_BY_EMBEDDED:
            assert verdict.classes == classify_address(str(IPv4Address(int(ip) & 0xFFFFFFFF))).classes, address
        else:
            assert verdict.reason == expected, address


@settings(max_examples=60, deadline=None)
@given(IPV4 | IPV6)
def test_whatever_the_standard_library_calls_special_is_not_public(ip: IPv4Address | IPv6Address) -> None:
    flags = ip.is_private, ip.is_loopback, ip.is_link_local, ip.is_multicast, ip.is_reserved, ip.is_unspecified
    carries_ipv4 = any(ip in network for network, _, _ in EMBEDDED_IPV4 if ip.version == 6)
    if any(flags) and not carries_ipv4:
        assert classify_address(str(ip)).classes


@settings(max_examples=50, deadline=None)
@given(IPV4)
def test_an_address_that_carries_an_ipv4_address_is_never_judged_milder_than_it(inner: IPv4Address) -> None:
    number = int(inner)
    plain = classify_address(str(inner))
    carriers = [
        IPv6Address(0xFFFF << 32 | number),  # mapped
        IPv6Address(number),  # compatible
        IPv6Address(0xFFFF << 48 | number),  # translated
        IPv6Address((0x64FF9B << 96) | number),  # NAT64
        IPv6Address(0x2002 << 112 | number << 80),  # 6to4
        IPv6Address(0x20010000 << 96 | number << 64),  # Teredo server
        IPv6Address(0x20010000 << 96 | (number ^ 0xFFFFFFFF)),  # Teredo client
        IPv6Address(0x2A00 << 112 | 0x5EFE << 32 | number),  # ISATAP, local identifier
        IPv6Address(0x2A00 << 112 | 0x02005EFE << 32 | number),  # ISATAP, universal identifier
    ]
    for carrier in carriers:
        verdict = classify_address(str(carrier))
        assert verdict.classes >= plain.classes
        assert verdict.always >= plain.always


def test_a_mapped_or_nat64_address_of_a_public_one_is_public() -> None:
    assert not classify_address("::ffff:1.1.1.1").classes
    assert not classify_address("64:ff9b::101:101").classes


@settings(max_examples=50, deadline=None)
@given(IPV6)
def test_outside_global_unicast_only_mapped_and_nat64_can_be_public(ip: IPv6Address) -> None:
    if (
        ip not in ip_network("2000::/3")
        and ip not in ip_network("::ffff:0:0/96")
        and ip not in ip_network("64:ff9b::/96")
    ):
        assert classify_address(str(ip)).classes


@settings(max_examples=50, deadline=None)
@given(st.text() | st.none() | st.integers() | st.binary())
def test_what_is_no_address_is_blocked_and_nothing_is_raised(text: object) -> None:
    try:
        is_address = isinstance(text, str) and bool(ip_address(text))
    except ValueError:
        is_address = False
    if not is_address:
        assert classify_address(text).always  # type: ignore[arg-type]


@settings(max_examples=50, deadline=None)
@given(GLOBAL_IPV6, st.text("abcdefgh0123456789", min_size=1, max_size=8))
def test_a_zone_closes_every_address(ip: IPv6Address, zone: str) -> None:
    assert classify_address(f"{ip}%{zone}").always


METADATA = (
    "169.254.169.254",
    "169.254.170.2",
    "169.254.169.123",
    "168.63.129.16",
    "100.100.100.200",
    "192.0.0.192",
    "fd00:ec2::254",
    "fd00:ec2::23",
    "fd20:ce::254",
    "fd00:c1::a9fe:a9fe",
    "fd00:42::42",
    "fe80::a9fe:a9fe",
    "::ffff:169.254.169.254",
    "::ffff:a83f:8110",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1:a9fe:a9:fe00::",
    "2002:a9fe:a9fe::1",
    "2001:0:a9fe:a9fe::1",
    "2001:0:101:101::5601:5601",
    "::169.254.169.254",
    "fd00::5efe:a9fe:a9fe",
)


@pytest.mark.parametrize("address", METADATA)
def test_no_exemption_opens_a_metadata_address(address: str) -> None:
    every_class = frozenset(name for _, name in RANGES)
    assert not FetchPolicy(allow_private_networks=True, exempt=every_class).opens(classify_address(address))


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "fd12::1", "::1", "0.0.0.0", "224.0.0.1", "100.64.0.1"])
def test_allowing_private_networks_opens_everything_else(address: str) -> None:
    assert not FetchPolicy().opens(classify_address(address))
    assert FetchPolicy(allow_private_networks=True).opens(classify_address(address))


def test_a_provider_exemption_opens_rfc_1918_and_ula_and_nothing_more() -> None:
    policy = FetchPolicy(exempt=PRIVATE_CLASSES)
    opened = ("10.0.0.1", "172.16.0.1", "192.168.1.1", "fd12::1", "::ffff:10.0.0.1", "1.1.1.1")
    closed = ("127.0.0.1", "::1", "0.0.0.0", "100.64.0.1", "fec0::1", "224.0.0.1", "2002:a00:1::1", "::10.0.0.1")
    assert all(policy.opens(classify_address(address)) for address in opened)
    assert not any(policy.opens(classify_address(address)) for address in closed)


def test_local_names_are_canonical_hosts() -> None:
    for name in LOCAL_NAMES:
        assert parse_url(f"http://a.{name}/").host == f"a.{name}"
