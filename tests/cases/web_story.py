"""What happens in a case: a source, its page, one refresh after the other, and what each came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from chalicelib.domain.night_window import NightSettings, next_start
from chalicelib.services import suggestions
from chalicelib.services.outside import Outside
from chalicelib.storage.sources import Source
from tests.cases.ssrf_world import Request
from tests.cases.web_responses import FIRST
from tests.cases.web_site import Response
from tests.cases.web_stage import Stage
from tests.integration import rows

URL = "http://src.example.com/a"
When = Literal["now", "night"]


@dataclass(frozen=True)
class Run:
    """One refresh: how it ended, when, and what it changed. ``next_try``: when the event comes again, None if never."""

    outcome: str
    at: datetime
    requests: list[Request]
    embedded: list[str]
    new_versions: int
    source: dict[str, Any]
    next_try: datetime | None


@dataclass
class Story:
    """A source on a stage. ``mark`` says where the case begins: what came before is its past."""

    stage: Stage
    source: Source
    when: When = "now"
    runs: list[Run] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.mark()

    def mark(self) -> None:
        """What is seen from here on is the case's."""
        self.before = self.row
        self.versions_before = len(self.versions)
        self.events_before = len(self.stage.sql("select id from kb_events where source_id = %s", self.source.id))
        self.requests_before = len(self.stage.site.requests)
        self.contacts_before = len(self.stage.site.contacts)
        self.embedded_before = len(self.stage.embedded)
        self.text_before = self.text_before_last = self.text
        self.runs = []

    # --- what is there

    @property
    def row(self) -> dict[str, Any]:
        """The source's row; empty when it is gone."""
        found = self.stage.sql("select * from kb_sources where id = %s", self.source.id)
        return found[0] if found else {}

    @property
    def versions(self) -> list[dict[str, Any]]:
        """The source's versions, oldest first."""
        return self.stage.sql("select * from kb_versions where source_id = %s order by version", self.source.id)

    @property
    def open_event(self) -> dict[str, Any] | None:
        """The source's event that has not ended."""
        found = self.stage.sql(
            "select * from kb_events where source_id = %s and state in ('pending', 'dispatched', 'running')",
            self.source.id,
        )
        return found[0] if found else None

    @property
    def text(self) -> str | None:
        """The current text, rebuilt from the open rows."""
        chunks = self.stage.sql(
            "select text, overlap from kb_chunks where source_id = %s and upper_inf(system_time) order by chunk_index",
            self.source.id,
        )
        return "".join(chunk["text"][chunk["overlap"] :] for chunk in chunks) if chunks else None

    @property
    def is_kept(self) -> bool:
        """Whether the text is what it was before the case, or before the last of its runs."""
        return self.text is not None and self.text in (self.text_before, self.text_before_last)

    @property
    def requests(self) -> list[Request]:
        """What was asked of the site in the case."""
        return self.stage.site.requests[self.requests_before :]

    @property
    def page(self) -> str:
        """The last page that the site showed."""
        response = self.stage.site.responses.get(self.source.uri)
        return response.body.decode() if response and response.body and response.status == 200 else self._last_page

    _last_page: str = FIRST

    def suggested(self) -> list[str]:
        """The kinds of the open suggestions, as a reader finds them now."""
        page = suggestions.list_page(
            self.stage.deployment.outside, rows.principal(self.stage.tenant), after=None, limit=100, now=self.stage.now
        )
        return [one.kind for one in page if one.source_id == self.source.id]

    def next_night(self, after: datetime) -> datetime:
        """The tenant's next night's start."""
        [row] = self.stage.sql(
            "select night_start, night_end, timezone from tenants where id = %s", self.stage.tenant.id
        )
        return next_start(NightSettings(**{name.replace("night_", ""): value for name, value in row.items()}), after)

    # --- what happens

    def show(self, response: Response) -> None:
        """From now on the site says this."""
        if response.status == 200 and response.body and not response.fault:
            self._last_page = response.body.decode("utf-8", "replace")
        self.stage.site.responses[self.source.uri] = response

    def refresh(self, response: Response | None = None, outside: Outside | None = None) -> Run:
        """Refresh once: the event that waits, in its time, else a new one. An error of the worker is a run as well."""
        if response is not None:
            self.show(response)
        self.text_before_last = self.text
        stage = self.stage
        asked, embedded, versions = len(stage.site.requests), len(stage.embedded), len(self.versions)
        if self.open_event is None:
            rows.queue(stage.deployment, stage.tenant, self.source, self.when, stage.now)
        outcome = "postponed"
        while outcome == "postponed":  # the host asked for peace until then
            event = self.open_event
            assert event is not None
            stage.cycle.now = max(stage.now, event["available_at"])
            try:
                outcome = stage.cycle.deliver(outside)
            except ConnectionError:
                outcome = "internal_error"
        waiting = self.open_event
        run = Run(
            outcome,
            stage.now,
            stage.site.requests[asked:],
            stage.embedded[embedded:],
            len(self.versions) - versions,
            self.row,
            waiting["available_at"] if waiting else None,
        )
        self.runs.append(run)
        return run

    def later(self, delta: timedelta) -> None:
        """Let time pass."""
        self.stage.cycle.now += delta


def new_story(stage: Stage, uri: str = URL, **more: Any) -> Story:
    """A source that was never fetched."""
    return Story(stage, rows.add(stage.deployment, stage.tenant, uri, stage.now, **more))
