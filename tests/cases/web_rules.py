"""Rules that cases state in words, as assertions on the story."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import timedelta

from chalicelib.domain.chunking import content_hash
from tests.cases.generator_words import Unreadable
from tests.cases.web_checks_http import periodic_unconditional
from tests.cases.web_checks_text import atomic
from tests.cases.web_checks_time import host_waits, merge, suggestion
from tests.cases.web_crashes import INFRA
from tests.cases.web_history import text_at
from tests.cases.web_invariants import broken
from tests.cases.web_story import Story

Rule = Callable[[Story], Iterator[str]]
FETCH_SECONDS = 20


def hold(story: Story, words: str) -> Iterator[str]:
    """Every rule that the words state. Raises Unreadable if they state none that is known."""
    rules = [rule for pattern, rule in _RULES if re.search(pattern, words, re.I)]
    if not rules:
        raise Unreadable(words)
    for rule in dict.fromkeys(rules):
        yield from rule(story)


def _only_what_changed_is_embedded(story: Story) -> Iterator[str]:
    """No text is embedded twice, and a later run embeds no more than the chunks that are new to it."""
    texts = story.stage.embedded[story.embedded_before :]
    if len(texts) != len(set(texts)):
        yield "a text was embedded twice"
    for number, run in enumerate(story.runs[1:], 2):
        opened = story.stage.sql(
            "select count(*) as n from kb_chunks where source_id = %s and lower(system_time) = %s",
            story.source.id,
            run.at,
        )
        if len(run.embedded) > opened[0]["n"]:
            yield f"run {number} embedded {len(run.embedded)} texts and opened {opened[0]['n']} rows"


def _visibility_outlives_the_job(story: Story) -> Iterator[str]:
    """A message stays hidden for longer than its worker may run, and a lease for longer than that (spec 1.1)."""
    template = json.loads((INFRA / "template.merge.json").read_text())
    visible = template["Resources"]["RefreshQueue"]["Properties"]["VisibilityTimeout"]
    config = json.loads((INFRA.parent / ".chalice" / "config.json").read_text())
    seconds = config["stages"]["package"]["lambda_functions"]["worker"]["lambda_timeout"]
    lease = story.stage.deployment.worker.settings.lease_seconds
    if not FETCH_SECONDS + 60 <= seconds <= lease <= visible:
        yield f"a job may take {seconds} s, its lease {lease} s, its message is hidden for {visible} s"
    yield from broken(story)


def _dead_letters(story: Story) -> Iterator[str]:
    """What fails again and again goes to a queue of its own after so many receives."""
    template = json.loads((INFRA / "template.merge.json").read_text())
    redrive = template["Resources"]["RefreshQueue"]["Properties"]["RedrivePolicy"]
    if not 1 <= redrive["maxReceiveCount"] <= 10 or "RefreshDeadLetters" not in str(redrive["deadLetterTargetArn"]):
        yield f"the redrive policy is {redrive}"


def _nothing_negative(story: Story) -> Iterator[str]:
    """Ages and ranges survive a clock that steps back."""
    row = story.row
    ages = [row["last_checked_at"] - row["created_at"], row["last_attempt_at"] - row["last_checked_at"]]
    if any(age < timedelta(0) for age in ages) and story.versions_before:
        yield f"negative ages: {ages}"
    yield from broken(story)


def _nothing_lost(story: Story) -> Iterator[str]:
    """Every event has ended or waits, and the page's text is current."""
    yield from broken(story)
    states = story.stage.sql("select state from kb_events where source_id = %s", story.source.id)
    if not states:
        yield "there is no event"


def _nobody_starves(story: Story) -> Iterator[str]:
    if "starved" not in story.facts:
        raise Unreadable("no tenants to compare")
    if story.facts["starved"]:
        yield f"events dispatched by tenant: {story.facts['shares']}"


def _old_text_stays(story: Story) -> Iterator[str]:
    if story.text_before is not None and story.text != story.text_before:
        yield "the old text is gone"


def _review(story: Story) -> Iterator[str]:
    yield from suggestion(story, "review")


def _gone(story: Story) -> Iterator[str]:
    yield from suggestion(story, "gone")


def _unconditional_now(story: Story) -> Iterator[str]:
    sent = story.requests[-1].headers if story.requests else {}
    yield from (f"{name} was sent" for name in ("if-none-match", "if-modified-since") if name in sent)


def _echoed(story: Story) -> Iterator[str]:
    """Validators go back byte for byte."""
    sent = story.requests[0].headers if story.requests else {}
    for column, name in (("etag", "if-none-match"), ("last_modified", "if-modified-since")):
        if story.before.get(column) and sent.get(name) != story.before[column]:
            yield f"{name} is {sent.get(name)!r}"


def _history_reads_back(story: Story) -> Iterator[str]:
    """Every version can be read as of its own instants, also after it was superseded."""
    for version in story.versions:
        text = text_at(story, version["system_time"].lower)
        if text is None or content_hash(text) != version["content_hash"]:
            yield f"version {version['version']} does not read back"


def _not_before_its_night(story: Story) -> Iterator[str]:
    if story.facts.get("dispatched_early", 1):
        yield "events were dispatched before the window opened"


def _retried(story: Story) -> Iterator[str]:
    if not story.runs or story.runs[-1].next_try is None:
        yield "it is not tried again"


def _atomic(story: Story) -> Iterator[str]:
    yield from atomic(story, True)


_RULES: tuple[tuple[str, Rule], ...] = (
    (r"periodic|every \d+(th|\.)? check|every \d+ days|or 7 days|once a week", periodic_unconditional),
    (r"unconditional (request|fetch) (after|when|on)|no (conditional|validators?)|drop(s|ped)? (the )?validators?"
     r"|without (the )?validators?|must not send", _unconditional_now),
    (r"byte for byte|echo|opaque|verbatim|as received|both (are |validators )?sent", _echoed),
    (r"history|readable|reads? back|as.of|earlier instant", _history_reads_back),
    (r"(not|never|nothing|no job)\b.*(outside|before) (the |its )?(window|night)|waits? for the night",
     _not_before_its_night),
    (r"back-?off|retry later|tried again", _retried),
    (r"per.host|whole host|other sources? of|same host", host_waits),
    (r"\bmerge\b|two current versions of one page", merge),
    (r"per-chunk hash|changed chunks?|re-?embed|embeddings? (are )?(kept|reused)", _only_what_changed_is_embedded),
    (r"visibility", _visibility_outlives_the_job),
    (r"dead.?letter|\bdlq\b|poison", _dead_letters),
    (r"(single|one|same) transaction|atomic|all or nothing", _atomic),
    (r"lower bound|greatest|row lock|microsecond|overlap|half.open|gap|generation|inside the commit|constraint"
     r"|exactly one|one (current )?version|at most one|idempot|duplicate|no second|unique|superseded|twice"
     r"|re-?check|re-?read",
     broken),
    (r"negative|monotonic|backwards?|step", _nothing_negative),
    (r"\blost\b|\blose\b|recover|redeliver|again after|retried|sweep|at least once", _nothing_lost),
    (r"fair|starv|round.?robin", _nobody_starves),
    (r"review|suspicious", _review),
    (r"\bgone\b", _gone),
    (r"(old|previous|current) (version|text|one)s? (is |are |must )?(be )?(kept|stays?|remain)"
     r"|keep (the )?(old|previous)|never delete", _old_text_stays),
)  # fmt: skip
"""What words of a rule mean what; all that occur are held."""
