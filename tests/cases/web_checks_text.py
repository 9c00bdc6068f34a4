"""What a case expects of versions and texts: how many, which is current, what an instant or a search brings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.cases.generator_words import Unreadable
from tests.cases.web_checks import Check, is_yes, number
from tests.cases.web_history import found_by_search, text_at
from tests.cases.web_invariants import broken
from tests.cases.web_responses import label_of
from tests.cases.web_story import Story

KEPT = re.compile(r"\b(kept|keep|old|unchanged|same|stays?|previous|before|v1)\b", re.I)


def new_version(story: Story, value: Any) -> Iterator[str]:
    added = len(story.versions) - story.versions_before
    if story.versions_before == 0 and len(story.runs) > 1:  # the first run made the version that later ones may change
        added = sum(run.new_versions for run in story.runs[1:])
    if is_yes(value) != bool(added):
        yield f"{added} new versions"


def versions(story: Story, value: Any) -> Iterator[str]:
    found = len(story.versions)
    if found != number(value):
        yield f"{found} versions instead of {value}"


def versions_added(story: Story, value: Any) -> Iterator[str]:
    stories = [story, *story.facts.get("others", [])]
    added = sum(len(one.versions) - one.versions_before for one in stories)
    if added != number(value):
        yield f"{added} versions were added instead of {value}"


def current_versions(story: Story, value: Any) -> Iterator[str]:
    found = [version for version in story.versions if version["system_time"].upper is None]
    if len(found) != number(value):
        yield f"{len(found)} current versions instead of {value}"
    _, opened = story.facts.get("after_crash", (True, 1))
    if opened != 1:
        yield f"{opened} current versions after the crash"


def current(story: Story, value: Any) -> Iterator[str]:
    """The current version by its text, its number, or as kept."""
    text, version = story.text, story.row.get("current_version")
    if value is None or re.fullmatch(r"none|null|no version", str(value), re.I):
        if text is not None:
            yield "there is a current version"
    elif isinstance(value, int):
        if version != value:
            yield f"version {version} is current"
    elif KEPT.search(str(value)):
        if not story.is_kept:
            yield "the old text is gone"
        if re.search(r"search", str(value), re.I) and not found_by_search(story, _label(story)):
            yield "the old text is not found"
    elif re.fullmatch(r"(the )?(new|newest|latest|updated)\b.*", str(value), re.I):
        if text is None or text == story.text_before:
            yield "the old text is still current"
    elif not _says(text, str(value)):
        yield f"the current text says {text and text[:60]!r}"


def _label(story: Story) -> str:
    found = re.match(r"Of (.*?), part", story.text or "")
    return found[1] if found else ""


def _says(text: str | None, value: str) -> bool:
    label = label_of(value.strip("'\""))
    return text is not None and (
        f"Of {value}," in text or f"Of {label}," in text or value in text or label in text.split()
    )


def as_of_before(story: Story, value: Any) -> Iterator[str]:
    text = story.facts.get("as_of_before")
    if not _says(text, str(value)):
        yield f"before the switch it said {text and text[:60]!r}"


def as_of_switch(story: Story, value: Any) -> Iterator[str]:
    text = story.facts.get("as_of_switch")
    if not _says(text, str(value)):
        yield f"at the switch it said {text and text[:60]!r}"


def returns(story: Story, value: Any) -> Iterator[str]:
    if "returns" not in story.facts:
        raise Unreadable(str(value))
    wanted = re.findall(r"v\d+", str(value)) if not re.search(r"\b(nothing|none|empty|no )", str(value), re.I) else []
    if story.facts["returns"] != wanted:
        yield f"{story.facts['returns']} is returned"


def chunks_of(label: str) -> Check:
    def check(story: Story, value: Any) -> Iterator[str]:
        found = story.facts.get("chunks_of", {}).get(label)
        found = found_by_search(story, label) if found is None else found
        if bool(found) == bool(re.search(r"\b(not|no|none|never|gone|left)\b", str(value), re.I)):
            yield f"a search brings {found} chunks of {label}"

    return check


def stored_chunks(story: Story, value: Any) -> Iterator[str]:
    rows = story.stage.sql(
        "select count(*) as n from kb_chunks where source_id = %s and upper_inf(system_time)", story.source.id
    )
    if rows[0]["n"] != number(value):
        yield f"{rows[0]['n']} chunks are stored"


def atomic(story: Story, value: Any) -> Iterator[str]:
    """All chunks of a version begin at its own instant."""
    starts = story.stage.sql(
        "select distinct lower(system_time) as at from kb_chunks where source_id = %s", story.source.id
    )
    if {row["at"] for row in starts} - {version["system_time"].lower for version in story.versions}:
        yield "a chunk begins at another instant than a version"
    yield from broken(story)


def text_at_first(story: Story, value: Any) -> Iterator[str]:
    """What an instant before the first version gives: nothing."""
    first = story.versions[0]["system_time"].lower
    if text_at(story, first.replace(year=first.year - 1)) is not None:
        yield "there is a text before the first version"
