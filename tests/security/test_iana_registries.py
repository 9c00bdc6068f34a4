"""The IANA special-purpose address registries, row by row: each is refused at its first, last and a middle address.

Written down from RFC 6890 and its successors, independently of the guard's own table. "Globally reachable" rows are
refused as well, because nothing behind them serves a page: anycast services, identifiers, documentation.
"""

from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest

from chalicelib.fetching.ssrf import classify_address

IPV4 = {
    "0.0.0.0/8": "This network, RFC 791",
    "0.0.0.0/32": "This host on this network, RFC 1122",
    "10.0.0.0/8": "Private-Use, RFC 1918",
    "100.64.0.0/10": "Shared Address Space, RFC 6598",
    "127.0.0.0/8": "Loopback, RFC 1122",
    "169.254.0.0/16": "Link Local, RFC 3927",
    "172.16.0.0/12": "Private-Use, RFC 1918",
    "192.0.0.0/24": "IETF Protocol Assignments, RFC 6890",
    "192.0.0.0/29": "IPv4 Service Continuity Prefix, RFC 7335",
    "192.0.0.8/32": "IPv4 dummy address, RFC 7600",
    "192.0.0.9/32": "Port Control Protocol Anycast, RFC 7723",
    "192.0.0.10/32": "TURN Anycast, RFC 8155",
    "192.0.0.170/32": "NAT64/DNS64 Discovery, RFC 8880",
    "192.0.0.171/32": "NAT64/DNS64 Discovery, RFC 8880",
    "192.0.2.0/24": "TEST-NET-1, RFC 5737",
    "192.31.196.0/24": "AS112-v4, RFC 7535",
    "192.52.193.0/24": "AMT, RFC 7450",
    "192.88.99.0/24": "6to4 Relay Anycast, RFC 7526",
    "192.168.0.0/16": "Private-Use, RFC 1918",
    "192.175.48.0/24": "Direct Delegation AS112 Service, RFC 7534",
    "198.18.0.0/15": "Benchmarking, RFC 2544",
    "198.51.100.0/24": "TEST-NET-2, RFC 5737",
    "203.0.113.0/24": "TEST-NET-3, RFC 5737",
    "224.0.0.0/4": "Multicast, RFC 5771",
    "240.0.0.0/4": "Reserved, RFC 1112",
    "255.255.255.255/32": "Limited Broadcast, RFC 919",
}
IPV6 = {
    "::1/128": "Loopback, RFC 4291",
    "::/128": "Unspecified, RFC 4291",
    "::/96": "IPv4-compatible, RFC 4291",
    "::ffff:0:0:0/96": "IPv4-translated, RFC 2765",
    "64:ff9b:1::/48": "IPv4-IPv6 Translation, RFC 8215",
    "100::/64": "Discard-Only, RFC 6666",
    "100:0:0:1::/64": "Dummy IPv6 Prefix, RFC 9780",
    "2001::/23": "IETF Protocol Assignments, RFC 2928",
    "2001::/32": "TEREDO, RFC 4380",
    "2001:1::1/128": "Port Control Protocol Anycast, RFC 7723",
    "2001:1::2/128": "TURN Anycast, RFC 8155",
    "2001:1::3/128": "DNS-SD Service Registration Anycast, RFC 9665",
    "2001:2::/48": "Benchmarking, RFC 5180",
    "2001:3::/32": "AMT, RFC 7450",
    "2001:4:112::/48": "AS112-v6, RFC 7535",
    "2001:10::/28": "ORCHID, RFC 4843",
    "2001:20::/28": "ORCHIDv2, RFC 7343",
    "2001:30::/28": "Drone Remote ID, RFC 9374",
    "2001:db8::/32": "Documentation, RFC 3849",
    "2002::/16": "6to4, RFC 3056",
    "2620:4f:8000::/48": "Direct Delegation AS112 Service, RFC 7534",
    "3fff::/20": "Documentation, RFC 9637",
    "5f00::/16": "Segment Routing SIDs, RFC 9602",
    "fc00::/7": "Unique-Local, RFC 4193",
    "fe80::/10": "Link-Local Unicast, RFC 4291",
    "fec0::/10": "Site-Local, RFC 3879",
    "ff00::/8": "Multicast, RFC 4291",
}
TRANSLATED = {"::ffff:0:0/96": "IPv4-mapped, RFC 4291", "64:ff9b::/96": "IPv4-IPv6 Translation, RFC 6052"}
"""The two rows whose members are exactly as reachable as the IPv4 address inside."""

UNALLOCATED = (
    *("1::/16", "200::/7", "400::/6", "800::/5", "1000::/4", "4000::/3", "6000::/3", "8000::/3", "a000::/3"),
    *("c000::/3", "e000::/4", "f000::/5", "f800::/6", "fe00::/9"),
)


@pytest.mark.parametrize("block", [*IPV4, *IPV6, *UNALLOCATED])
def test_a_special_purpose_block_is_refused_throughout(block: str) -> None:
    network = ip_network(block)
    first, last = int(network.network_address), int(network.broadcast_address)
    for number in {first, last, (first + last) // 2, first + (last - first) // 3}:
        assert classify_address(str(type(network.network_address)(number))).classes, block


@pytest.mark.parametrize("carrier", TRANSLATED)
@pytest.mark.parametrize("block", IPV4)
def test_a_translated_block_is_refused_like_the_block_inside(carrier: str, block: str) -> None:
    prefix = int(ip_network(carrier).network_address)
    for inner in (ip_network(block)[0], ip_network(block)[-1]):
        assert classify_address(str(ip_address(prefix | int(inner)))).classes


@pytest.mark.parametrize(
    "address",
    [
        *("1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0"),
        *(
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "191.255.255.255",
            "192.0.1.0",
            "192.0.3.0",
        ),
        *("192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "203.0.112.255", "203.0.114.0"),
        *("223.255.255.255", "168.63.129.15", "168.63.129.17", "8.8.8.8"),
        *(
            "2000::1",
            "2001:200::1",
            "2001:db7:ffff::1",
            "2001:db9::1",
            "2003::1",
            "2606:4700:4700::1111",
            "2a00:1450::1",
        ),
        *("2620:4f:7fff::1", "2620:4f:8001::1", "3ffe::1", "::ffff:1.1.1.1", "64:ff9b::808:808"),
    ],
)
def test_the_neighbours_of_special_blocks_are_public(address: str) -> None:
    assert not classify_address(address).classes
