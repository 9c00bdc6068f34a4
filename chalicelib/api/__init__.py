"""The HTTP edge: one module a resource."""

from __future__ import annotations

from chalicelib.api.resource import Resource


def resources() -> list[Resource]:
    """Every resource of the API, in the order in which it is documented."""
    from chalicelib.api import (
        assistants,
        consolidation,
        context,
        doctor,
        events,
        firewall,
        health,
        history,
        knowledge,
        memory,
        own_provider,
        providers,
        retention,
        reviews,
        search,
        settings,
        sources,
        suggestions,
        widget,
    )

    return [
        settings.settings,
        sources.sources,
        suggestions.suggestions,
        reviews.reviews,
        events.events,
        history.history,
        search.search,
        context.context,
        firewall.firewall,
        memory.memory,
        retention.retention,
        consolidation.consolidation,
        doctor.doctor,
        providers.providers,
        assistants.assistants,
        knowledge.knowledge,
        widget.widget,
        own_provider.own_provider,
        health.health,
    ]
