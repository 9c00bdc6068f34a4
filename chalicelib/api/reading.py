"""From a request to the firewall's view of it: who reads, and for what."""

from __future__ import annotations

from typing import Any

from chalicelib.api.resource import Call
from chalicelib.services import enforcement
from chalicelib.services.enforcement import Reading


def reading_of(call: Call[Any, Any], role: str | None, purpose: str | None) -> Reading:
    """The identity is the token's; the request may narrow it. Raises Forbidden where it would widen it."""
    return enforcement.reading(call.outside, call.who, role=role, purpose=purpose, trace_id=call.correlation_id)
