"""What must hold whatever a case does: one current version, ranges in a row, chunks that make the text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from tests.cases.web_story import Story


def broken(story: Story) -> Iterator[str]:
    """Every invariant of spec 1.6 that the story breaks."""
    versions = story.versions
    ranges = [version["system_time"] for version in versions]
    if [version["version"] for version in versions] != list(range(1, len(versions) + 1)):
        yield "versions are not numbered from one"
    for earlier, later in pairwise(ranges):
        if earlier.upper != later.lower:
            yield f"a range ends at {earlier.upper} and the next begins at {later.lower}"
    yield from (f"an empty or turned range {one}" for one in ranges if one.upper is not None and one.upper <= one.lower)
    if [one for one in ranges if one.upper is None] != ranges[-1:]:
        yield "not just the last version is current"
    if ranges and story.row and story.row["current_version"] != len(ranges):
        yield f"version {story.row['current_version']} is called current"
    yield from _chunks(story)
    yield from _events(story)
    if story.row and story.row["last_checked_at"] and story.row["last_checked_at"] > story.row["last_attempt_at"]:
        yield "checked later than tried"


def _chunks(story: Story) -> Iterator[str]:
    if story.versions:
        length = story.versions[-1]["character_count"]
        if len(story.text or "") > length:
            yield f"the open chunks make {len(story.text or '')} characters of {length}"
        if story.text is None:
            yield "the current version has no chunks"


def _events(story: Story) -> Iterator[str]:
    events = story.stage.sql("select state, outcome, lease_token from kb_events where source_id = %s", story.source.id)
    if sum(event["state"] in ("pending", "dispatched", "running") for event in events) > 1:
        yield "two events of one source are open"
    yield from ("an event is still leased" for event in events if event["state"] == "running")
