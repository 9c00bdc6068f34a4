"""Address ranges and names that are no public web server, as data. Judged by ``ssrf.classify_address``.

The table is Larder's own because the flags of ``ipaddress`` change between patch releases and are wrong for 6to4,
site-local, 192.0.0.0/24 and multicast, and because no registry knows that 168.63.129.16 is a metadata address.
Sources: the IANA special-purpose registries (RFC 6890, 8190 and successors), RFC 1918, 4193, 4291 and the clouds'
documentation of their metadata services. The longest matching prefix decides.
"""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Final

JUDGED_BY_EMBEDDED: Final = ""
"""The row itself is harmless; the IPv4 address inside (see ``EMBEDDED_IPV4``) decides."""

ALWAYS_BLOCKED: Final = frozenset({"metadata", "link_local", "nat64_local", "scoped", "invalid"})
"""Classes that no exemption opens (spec 1.3). A local NAT64 prefix can hide a metadata address in several layouts
(RFC 8215); "scoped" is an address with a zone, "invalid" a text that is no address."""

PRIVATE_CLASSES: Final = frozenset({"private", "unique_local"})
"""RFC 1918 and ULA: what a provider's ``allow_private_network`` opens (spec 3.2)."""

_ROWS: Final = (
    # --- metadata services that lie outside link-local space
    ("168.63.129.16/32", "metadata"),  # Azure platform
    ("100.100.100.200/32", "metadata"),  # Alibaba Cloud
    ("192.0.0.192/32", "metadata"),  # Oracle Cloud, classic
    ("fd00:ec2::/32", "metadata"),  # AWS: ::254 metadata, ::253 DNS, ::23 pod identity
    ("fd20:ce::254/128", "metadata"),  # Google Cloud
    ("fd00:c1::a9fe:a9fe/128", "metadata"),  # Oracle Cloud
    ("fd00:42::42/128", "metadata"),  # Scaleway
    # --- IPv4 special-purpose registry
    ("0.0.0.0/8", "this_network"),  # RFC 791
    ("10.0.0.0/8", "private"),  # RFC 1918
    ("100.64.0.0/10", "carrier_nat"),  # RFC 6598
    ("127.0.0.0/8", "loopback"),  # RFC 1122
    ("169.254.0.0/16", "link_local"),  # RFC 3927; metadata of most clouds, also 169.254.170.2 of ECS
    ("172.16.0.0/12", "private"),  # RFC 1918
    ("192.0.0.0/24", "protocol_assignment"),  # RFC 6890
    ("192.0.2.0/24", "documentation"),  # RFC 5737, TEST-NET-1
    ("192.31.196.0/24", "anycast_service"),  # RFC 7535, AS112: run by anybody, also inside a network
    ("192.52.193.0/24", "anycast_service"),  # RFC 7450, AMT
    ("192.88.99.0/24", "6to4"),  # RFC 7526, relay anycast, deprecated
    ("192.168.0.0/16", "private"),  # RFC 1918
    ("192.175.48.0/24", "anycast_service"),  # RFC 7534, AS112
    ("198.18.0.0/15", "benchmarking"),  # RFC 2544
    ("198.51.100.0/24", "documentation"),  # RFC 5737, TEST-NET-2
    ("203.0.113.0/24", "documentation"),  # RFC 5737, TEST-NET-3
    ("224.0.0.0/4", "multicast"),  # RFC 5771
    ("240.0.0.0/4", "reserved"),  # RFC 1112
    ("255.255.255.255/32", "broadcast"),  # RFC 919
    # --- IPv6: what lies outside 2000::/3 is not allocated as global unicast (RFC 4291)
    ("::/3", "reserved"),
    ("4000::/2", "reserved"),
    ("8000::/1", "reserved"),
    ("::/96", "ipv4_compatible"),  # RFC 4291, deprecated
    ("::/128", "this_network"),
    ("::1/128", "loopback"),
    ("::ffff:0:0/96", JUDGED_BY_EMBEDDED),  # RFC 4291, IPv4-mapped
    ("::ffff:0:0:0/96", "ipv4_translated"),  # RFC 2765, SIIT
    ("64:ff9b::/96", JUDGED_BY_EMBEDDED),  # RFC 6052, NAT64: how a network without IPv4 reaches every IPv4 host
    ("64:ff9b:1::/48", "nat64_local"),  # RFC 8215
    ("100::/64", "discard"),  # RFC 6666
    ("100:0:0:1::/64", "discard"),  # RFC 9780, dummy prefix
    ("2001::/23", "protocol_assignment"),  # RFC 2928, with ORCHIDv2 (RFC 7343), drone ids (RFC 9374), AMT, AS112
    ("2001::/32", "teredo"),  # RFC 4380
    ("2001:2::/48", "benchmarking"),  # RFC 5180
    ("2001:db8::/32", "documentation"),  # RFC 3849
    ("2002::/16", "6to4"),  # RFC 3056
    ("2620:4f:8000::/48", "anycast_service"),  # RFC 7534, AS112
    ("3fff::/20", "documentation"),  # RFC 9637
    ("5f00::/16", "segment_routing"),  # RFC 9602
    ("fc00::/7", "unique_local"),  # RFC 4193
    ("fe80::/10", "link_local"),  # RFC 4291
    ("fec0::/10", "site_local"),  # RFC 3879, deprecated
    ("ff00::/8", "multicast"),  # RFC 4291
)

RANGES: Final[tuple[tuple[IPv4Network | IPv6Network, str], ...]] = tuple(
    sorted(((ip_network(text), name) for text, name in _ROWS), key=lambda row: -row[0].prefixlen)
)
"""(network, class), the longest prefix first."""

EMBEDDED_IPV4: Final = tuple(
    (IPv6Network(text), shift, mask)
    for text, shift, mask in (
        ("::ffff:0:0/96", 0, 0),
        ("::/96", 0, 0),
        ("::ffff:0:0:0/96", 0, 0),
        ("64:ff9b::/96", 0, 0),
        ("2002::/16", 80, 0),
        ("2001::/32", 64, 0),  # Teredo server
        ("2001::/32", 0, 0xFFFFFFFF),  # Teredo client, inverted
    )
)
"""(network, s, m): such an address holds the IPv4 address ``(address >> s & 0xffffffff) ^ m``."""

ISATAP_IDENTIFIERS: Final = (0x00005EFE, 0x02005EFE)
"""Bits 32 to 63 of an address that holds an IPv4 address in its last 32 bits (RFC 5214), under any prefix."""

LOCAL_NAMES: Final = frozenset(
    {
        *("localhost", "local", "test", "invalid", "onion", "alt", "arpa"),  # RFC 6761, 6762, 7686, 8375, 9476
        *("internal", "intranet", "private", "corp", "home", "lan", "mail"),  # resolved inside, by routers and clouds
        *("localdomain", "localdomain4", "localdomain6", "svc", "consul", "metadata.goog"),
    }
)
"""Names, and suffixes of names, that mean something inside a network only. A name without a dot is local, too."""
