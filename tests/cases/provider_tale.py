"""A scene in which things happen one after the other, and what was seen of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.cases.provider_scene import Scene, words_of
from tests.knowledge import Household
from tests.tenants import Answer

WORDS = ("ok", "timeout", "circuit_open", "config_error", "contract_error", "disabled")


@dataclass
class Seen:
    """What one step did: the answer that it got, and how many requests and kept answers came of it."""

    step: str
    asks: bool
    answer: Answer
    asked: int
    kept: int

    @property
    def results(self) -> list[Any]:
        return list(self.answer.json.get("results", [])) if isinstance(self.answer.json, dict) else []

    @property
    def word(self) -> str | None:
        """How p1 did, as an agent is told; None for anybody else."""
        found = words_of(self.answer)
        return found[0] if found else None


@dataclass
class Story:
    """A scene in which things happen one after the other; ``query`` changes once a question was answered."""

    scene: Scene
    route: str = "agent"
    query: str = "q"
    houses: dict[str, Household] = field(default_factory=dict)
    agents: dict[str, str] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)
