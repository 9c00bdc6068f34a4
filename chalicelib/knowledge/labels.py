"""What a registration may let through: its label rule, and the links that may be shown (spec 3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from chalicelib.knowledge.contract import WireResult
from chalicelib.knowledge.links import public_link

Verdict = Literal["kept", "link_dropped", "dropped_internal"]


@dataclass(frozen=True, slots=True)
class Judged:
    """A result of a whole and right answer, its verdict, and the link that may be shown with it."""

    result: WireResult
    verdict: Verdict
    url: str | None

    @property
    def kept(self) -> bool:
        """Whether anybody may see it."""
        return self.verdict != "dropped_internal"


def judge(results: Sequence[WireResult], *, keeps_internal: bool) -> list[Judged]:
    """Every result with its verdict. An internal one is dropped unless the registration may hold internal content."""
    return [_judge(result, keeps_internal=keeps_internal) for result in results]


def _judge(result: WireResult, *, keeps_internal: bool) -> Judged:
    if result.audience != "public" and not keeps_internal:
        return Judged(result, "dropped_internal", None)
    url = public_link(result.url)
    return Judged(result, "link_dropped" if result.url and url is None else "kept", url)
