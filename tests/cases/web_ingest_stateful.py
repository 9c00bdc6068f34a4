"""Plays the cases of the web library that need the database, the worker or a site: real Postgres, guard and queue."""

from __future__ import annotations

from collections.abc import Callable

from tests.cases import web_calls, web_crashes, web_history, web_limits, web_refreshes
from tests.cases.generator_words import Unreadable
from tests.cases.report import Case, Verdict, skipped
from tests.cases.web_expected import judge_story
from tests.cases.web_responses import response_of
from tests.cases.web_stage import Stage, stage
from tests.cases.web_story import Story, new_story
from tests.cases.web_texts import chunked_text, html_of
from tests.cases.web_values import Given, now_of

Teller = Callable[[Stage, Given], Story]


def play_stateful(case: Case) -> Verdict:
    """Play what a case tells on an empty stage, and compare. What has no meaning here is a SKIP with the words."""
    given = case["input"]
    teller = _TELLERS.get(str(given.get("kind")))
    if teller is None:
        return skipped(f"no way to play {given.get('kind')!r}")
    try:
        with stage(now_of(given)) as ground:
            return judge_story(teller(ground, given), case["expected"])
    except Unreadable as words:
        return skipped(f"no meaning for {str(words)!r}")


def _chunks(ground: Stage, given: Given) -> Story:
    """A page of so many chunks: ``content giving 501 chunks``."""
    words = [word for word in str(given.get("generator", given.get("text"))).replace(",", "").split() if word.isdigit()]
    if not words:
        raise Unreadable(str(given))
    story = new_story(ground)
    story.refresh(response_of(200, html_of(chunked_text(int(words[0])))))
    return story


_TELLERS: dict[str, Teller] = {
    "refresh": web_refreshes.refresh,
    **dict.fromkeys(("first_fetch", "page", "page_generator"), web_refreshes.first_fetch),
    "sequence": web_refreshes.sequence,
    "request": web_refreshes.request,
    "redirect": web_refreshes.redirect,
    "metadata": web_refreshes.metadata,
    "edit": web_refreshes.edit,
    "deploy": web_refreshes.deploy,
    "clock": web_refreshes.clock,
    "text_generator": _chunks,
    "race": web_crashes.race,
    "crash": web_crashes.crash,
    "queue": web_crashes.queue,
    "failure": web_crashes.failure,
    "quota": web_limits.quota,
    "schedule": web_limits.schedule,
    "fairness": web_limits.fairness,
    "sql": web_history.tell,
    "property": web_crashes.any_sequence,
    "api": web_calls.api,
}
