"""Pages for operators, made on the server: no script, no state but a sealed cookie."""

from __future__ import annotations

from chalicelib.api.resource import Resource


def pages() -> list[Resource]:
    """Every resource of the pages, in the order in which they are documented."""
    from chalicelib.ui import chunk, firewall, memory_audit, sign_in

    return [sign_in.sign_in, firewall.firewall, chunk.chunk, memory_audit.memory_audit]
