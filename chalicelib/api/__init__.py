"""The HTTP edge: one module a resource."""

from __future__ import annotations

from chalicelib.api.resource import Resource


def resources() -> list[Resource]:
    """Every resource of the API, in the order in which it is documented."""
    from chalicelib.api import (
        context,
        events,
        firewall,
        health,
        history,
        memory,
        search,
        settings,
        sources,
        suggestions,
    )

    return [
        settings.settings,
        sources.sources,
        suggestions.suggestions,
        events.events,
        history.history,
        search.search,
        context.context,
        firewall.firewall,
        memory.memory,
        health.health,
    ]
