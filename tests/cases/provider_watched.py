"""A part of a case that knows which of its keys were read: what nobody looked at was not judged."""

from __future__ import annotations

from typing import Any

UNJUDGED = frozenset({"role", "rule", "note", "why", "alternative", "title"})
"""Words for people. Where nothing else is said, they alone are no expectation that could be met."""


class Watched(dict[str, Any]):
    """``in`` reads nothing; an item, a ``get``, a ``pop`` or a walk through all items does."""

    def __init__(self, given: dict[str, Any]) -> None:
        super().__init__(given)
        self._unread = set(given) - UNJUDGED

    @property
    def unread(self) -> list[str]:
        """The keys that nobody asked for."""
        return sorted(self._unread)

    def __getitem__(self, key: str) -> Any:
        self._unread.discard(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self._unread.discard(key)
        return super().get(key, default)

    def items(self) -> Any:
        self._unread.clear()
        return super().items()
