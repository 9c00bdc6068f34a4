"""What a case expects of validators and requests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, cast

from tests.cases.generator_words import Unreadable
from tests.cases.ssrf_world import Request
from tests.cases.web_checks import Check
from tests.cases.web_story import Story

CONDITIONAL = ("if-none-match", "if-modified-since")


def stored(column: str) -> Check:
    """A validator as it is stored; words tell whether it was kept or dropped."""

    def check(story: Story, value: Any) -> Iterator[str]:
        found, before = story.facts.get("edited", story.row)[column], story.before.get(column)
        words = str(value).lower()
        if re.fullmatch(r"kept|unchanged|same|old|not updated", words):
            value = before
        elif re.fullmatch(r"none|null|cleared|dropped|removed|absent|not stored|empty|", words):
            value = None
        elif re.fullmatch(r"new|updated|replaced|changed", words):
            if found is None or found == before:
                yield f"{column} is {found!r}"
            return
        if found != value:
            yield f"{column} is {found!r} instead of {value!r}"

    return check


def validators(story: Story, value: Any) -> Iterator[str]:
    """Both validators: an object, or one word for the two."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from stored(name.lower().replace("-", "_"))(story, one)
        return
    for name in ("etag", "last_modified"):
        if story.before.get(name) or story.row[name]:
            yield from stored(name)(story, value)


def _last(story: Story) -> Request:
    if not story.requests:
        raise Unreadable("nothing was asked")
    return story.requests[-1]


def request_header(story: Story, value: Any) -> Iterator[str]:
    """A header line, or several, as the site saw them."""
    lines = value if isinstance(value, list) else [value]
    pairs = list(value.items()) if isinstance(value, dict) else [tuple(str(line).split(": ", 1)) for line in lines]
    for name, wanted in pairs:
        found = _last(story).headers.get(str(name).lower())
        if found != wanted and not (wanted is None and found is None):
            yield f"{name} is {found!r} instead of {wanted!r}"


def headers_include(story: Story, value: Any) -> Iterator[str]:
    """A header's value, or its one or other; ``on forced refresh only`` is said of the forced request alone."""
    ordinary: Request = story.facts["ordinary"] if "ordinary" in story.facts else _last(story)
    forced: Request = story.facts.get("forced", ordinary)
    names = [value] if isinstance(value, str) else value
    for name in names:
        words = str(names[name]) if isinstance(names, dict) else ""
        found = forced.headers.get(name.lower())
        if not _fits(found, re.sub(r"\s+(on|for|in|when)\b.*", "", words)):
            yield f"the request says {name}: {found}"
        found = ordinary.headers.get(name.lower())
        if re.search(r"forced|\bnow\b|manual", words, re.I):
            if found is not None:
                yield f"an ordinary request says {name}: {found}"
        elif not _fits(found, words):
            yield f"an ordinary request says {name}: {found}"


def _fits(found: str | None, words: str) -> bool:
    """Whether a header says just this, or one of ``gzip (or identity)``; without words, that it is there."""
    options = [option for option in re.split(r"[\s()]+(?:or\s+)?", words) if option]
    return found is not None and (found == words or not options or any(option in found for option in options))


def headers_exclude(story: Story, value: Any) -> Iterator[str]:
    """Headers that no request of the case may carry."""
    names = list(value) if isinstance(value, dict | list) else re.split(r"\s*,\s*|\s+or\s+|\s+and\s+", str(value))
    for request in story.requests:
        yield from (
            f"{name} was sent" for name in names if str(name).partition(":")[0].strip().lower() in request.headers
        )


def next_must_not_have(story: Story, value: Any) -> Iterator[str]:
    """Headers that the next request may not carry. Refreshes once more."""
    names = value if isinstance(value, list) else [value]
    sent = _next(story).headers
    yield from (f"{name} is {sent[name.lower()]!r}" for name in names if name.lower() in sent)


def next_request(story: Story, value: Any) -> Iterator[str]:
    """The next request in words or as header lines. Refreshes once more."""
    yield from _conditional(_next(story), value)


def _next(story: Story) -> Request:
    """The request after what the case tells: of an edit or a deploy it was made already."""
    if "next" in story.facts:
        return cast(Request, story.facts["next"])
    story.later(timedelta(hours=1))
    return story.refresh().requests[-1]


def _conditional(request: Request, value: Any) -> Iterator[str]:
    words = value if isinstance(value, str) else ", ".join(f"{name}: {one}" for name, one in dict(value).items())
    sent = [name for name in CONDITIONAL if name in request.headers]
    if re.search(r"without|unconditional|no (validators?|if-)|full|whole", words, re.I):
        yield from (f"{name} was sent" for name in sent)
    elif re.search(r"if-(none|modified)", words, re.I):
        for name, wanted in re.findall(r"(if-[\w-]+)(?::\s*(.*?))?(?:,\s|$)", words, re.I):
            found = request.headers.get(name.lower())
            if found is None or (wanted and found != wanted):
                yield f"{name} is {found!r}"
    elif re.search(r"conditional|with (the )?(old |stored )?validators?", words, re.I):
        if not sent:
            yield "no validator was sent"
    else:
        raise Unreadable(words)


def action(story: Story, value: Any) -> Iterator[str]:
    """What the system does about it: asks for the whole page, keeps, retries, suggests."""
    words = str(value)
    if re.search(r"without|unconditional|refetch|full fetch|drop (the )?validators?", words, re.I):
        requests = story.requests or story.refresh().requests
        if all(any(name in request.headers for name in CONDITIONAL) for request in requests):
            yield "every request was conditional"
    elif re.search(r"keep|kept|nothing|ignore", words, re.I):
        if story.text != story.text_before:
            yield "the text has changed"
    else:
        raise Unreadable(words)


def periodic_unconditional(story: Story) -> Iterator[str]:
    """Once in seven days a check goes without validators, and no more often (spec 1.7)."""
    begin = story.row["last_unconditional_at"]
    conditional = []
    for day in range(1, 9):
        story.stage.cycle.now = max(story.stage.now, begin + timedelta(days=day, minutes=1))
        sent = story.refresh().requests[-1].headers
        conditional.append(any(name in sent for name in CONDITIONAL))
    if conditional[:6] != [True] * 6:
        yield "a check within the seven days went without validators"
    if all(conditional):
        yield "no check in eight days went without validators"


def stored_url(story: Story, value: Any) -> Iterator[str]:
    wanted = story.before["uri"] if re.search(r"unchanged|same|kept|old", str(value)) else value
    if story.row["uri"] != wanted:
        yield f"the uri is {story.row['uri']}"
