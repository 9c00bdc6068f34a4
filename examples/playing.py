"""What every step of the demo needs: the stage, the voice, the sources."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from chalicelib.client.answers import Source
from examples.stage import TRAPS, Stage
from examples.telling import Telling

PAGES = {"prices": "/prices.html", "handbook": "/handbook.html", "changelog": "/changelog.html"}
"""The example site's pages by the name of their source."""

TRAP_NAMES = {path.strip("/"): path for path in TRAPS}
"""The paths that lead where the guard must not follow, by the name of their source."""

OWN_PAGE = "your page"

NOT_YET = datetime.max.replace(tzinfo=UTC)


@dataclass
class Play:
    """What the steps hand on: the ids of the sources by name, when the night begins, what was approved for it."""

    stage: Stage
    telling: Telling
    own_url: str | None = None
    ids: dict[str, str] = field(default_factory=dict)
    night_start: datetime = NOT_YET
    night_events: list[str] = field(default_factory=list)

    def source(self, name: str) -> Source:
        """The source as it is now."""
        return self.stage.client.show_source(self.ids[name])

    def judged(self, name: str, truth: bool) -> bool | None:
        """``truth``, but for the reader's own page: whatever the world does with it is told and not judged."""
        return None if name == OWN_PAGE else truth
