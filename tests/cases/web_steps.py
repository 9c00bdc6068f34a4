"""What people and workers do in a case, step by step, in words: ``approve``, ``toggle off``, ``worker commits``."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import time, timedelta
from typing import Any

from chalicelib.errors import Problem
from chalicelib.services import approvals, scheduling, sources, suggestions, tenancy, tenant_settings, work
from chalicelib.services.tenant_settings import Changes
from tests.cases.generator_words import Unreadable
from tests.cases.web_refreshes import move
from tests.cases.web_responses import response_of
from tests.cases.web_story import Story
from tests.cases.web_values import duration
from tests.cases.web_workers import Worker
from tests.integration import rows

LEASE_IS_OVER = timedelta(minutes=16)
_SUBJECT = re.compile(r"\b(?:job|worker|run|delivery|consumer|replica|lambda|w|attempt)\s*[#-]?\s*(\d+|[ab])\b", re.I)
_ORDINALS = {"first": "1", "older": "1", "old": "1", "second": "2", "newer": "2", "other": "2", "third": "3"}
_ORDINAL = re.compile(rf"\b({'|'.join(_ORDINALS)}) (?:job|worker|run|delivery|refresh|attempt)\b", re.I)
_AT_ONCE = re.compile(
    r"\bboth\b|at once|simultan|concurren|parallel|same (?:time|instant|moment)|\btwo\b|twice|\bx ?2\b|double", re.I
)


@dataclass
class Steps:
    """Plays steps on a story. ``answers``: the HTTP statuses that people got; ``results``: how jobs ended, by name."""

    story: Story
    workers: dict[str, Worker] = field(default_factory=dict)
    answers: list[int] = field(default_factory=list)
    results: dict[str, str] = field(default_factory=dict)
    _subject: str = "1"

    def play(self, order: list[Any]) -> None:
        """Every step in order, then let whoever is still at work finish, and recover what was killed."""
        for step in order:
            self.do(str(step))
        self.finish()

    def do(self, words: str) -> None:
        """One step, which may have several parts. Raises Unreadable."""
        for part in re.split(r",(?![^()]*\))|;|\bthen\b|\band then\b", words):
            if part.strip():
                self._do(part.strip())

    def _do(self, words: str) -> None:
        subject = _SUBJECT.search(words)
        ordinal = _ORDINAL.search(words)
        if subject:
            self._subject = {"a": "1", "b": "2"}.get(subject[1].lower(), subject[1])
        elif ordinal:
            self._subject = _ORDINALS[ordinal[1].lower()]
        act = next((act for pattern, act in _STEPS if re.search(pattern, words, re.I)), None)
        if act is None:
            raise Unreadable(words)
        act(self, words)

    def finish(self) -> None:
        """Let every worker end. What was killed comes again when its lease is over."""
        for name, one in self.workers.items():
            one.go("done")
            self.results[name] = one.result or type(one.error).__name__
        if any(result == "_Killed" for result in self.results.values()):
            self.recover()
        self.story.facts |= {"results": self.results, "answers": self.answers}

    def recover(self) -> None:
        """What follows a crash: the lease runs out, the tick sweeps, the message comes again."""
        for _ in range(3):
            self.story.later(LEASE_IS_OVER)
            result = self.story.stage.cycle.deliver()
            if result != "no_message":
                self.results["recovery"] = result

    # --- people

    def ask(self, call: Callable[[], Any], words: str = "", answer: int = 200) -> None:
        """Somebody asks, or two at once; what they got is kept."""
        calls = [call, call] if _AT_ONCE.search(words) else [call]
        with ThreadPoolExecutor(len(calls)) as pool:
            self.answers += list(pool.map(lambda one: _status(one, answer), calls))

    def approve(self, words: str) -> None:
        stage, who = self.story.stage, rows.principal(self.story.stage.tenant)
        outside = stage.deployment.outside
        if self.story.row.get("last_checked_at") and "refresh" not in self.story.suggested():
            stage.cycle.now = self.story.row["last_checked_at"] + timedelta(
                seconds=self.story.row["refresh_ttl_seconds"]
            )
        page = suggestions.list_page(outside, who, after=None, limit=10, now=stage.now)
        ident = page[0].id if page else self.story.facts.get("suggestion")
        if ident is None:
            raise Unreadable("there is nothing to approve")
        self.story.facts["suggestion"] = ident
        self.approve_this(ident, words)

    def approve_this(self, ident: Any, words: str = "") -> None:
        """Approve one suggestion, or have two people do it at once."""
        stage, who = self.story.stage, rows.principal(self.story.stage.tenant)

        def call() -> None:
            own = stage.deployment.build("larder_app")
            try:
                suggestions.approve(own, who, ident, correlation_id=None, now=stage.now)
            finally:
                own.database.close()

        self.ask(call, words, 202)

    def answer_suggestion(self, words: str) -> None:
        stage, who = self.story.stage, rows.principal(self.story.stage.tenant)
        page = suggestions.list_page(stage.deployment.outside, who, after=None, limit=10, now=stage.now)
        ident = page[0].id if page else self.story.facts.get("suggestion")
        if ident is None:
            raise Unreadable(words)
        if "snooz" in words.lower():
            self.ask(lambda: suggestions.snooze(stage.deployment.outside, who, ident, 7, stage.now))
        else:
            self.ask(lambda: suggestions.dismiss(stage.deployment.outside, who, ident, stage.now))

    def enqueue(self, words: str) -> None:
        """The event is made, if there is none, and its message is in the queue."""
        stage = self.story.stage
        if self.story.open_event is None or _AT_ONCE.search(words):
            when: Any = "night" if "night" in words.lower() else "now"

            def call() -> None:
                own = stage.deployment.build("larder_app")
                try:
                    who = rows.principal(stage.tenant)
                    approvals.queue(own, who, self.story.source.id, when, correlation_id=None, now=stage.now)
                finally:
                    own.database.close()

            self.ask(call, words, 202)
        self.tick()

    def toggle(self, words: str) -> None:
        active = bool(re.search(r"\bon\b|re-?activat|re-?enabl", words, re.I))
        stage = self.story.stage
        who = rows.principal(stage.tenant)
        self.ask(lambda: sources.set_active(stage.deployment.outside, who, self.story.source.id, active, stage.now))

    def tenant_off(self, words: str) -> None:
        self._settings(Changes(enabled=bool(re.search(r"\bon\b|re-?enabl", words, re.I))))

    def window(self, words: str) -> None:
        self._settings(Changes(night_start=time(1), night_end=time(4)))

    def _settings(self, changes: Changes) -> None:
        stage = self.story.stage
        self.ask(
            lambda: tenant_settings.update(stage.deployment.outside, rows.principal(stage.tenant), changes, stage.now)
        )

    def delete_tenant(self, words: str) -> None:
        tenancy.delete(self.story.stage.deployment.owner, name=self.story.stage.tenant.name)

    def delete_source(self, words: str) -> None:
        self.story.stage.sql("delete from kb_sources where id = %s", self.story.source.id)

    def edit(self, words: str) -> None:
        move(self.story, "http://src.example.com/moved")

    def cancel(self, words: str) -> None:
        stage = self.story.stage
        event = self.story.open_event
        if event is None:
            raise Unreadable("there is no event to cancel")
        self.ask(lambda: work.cancel(stage.deployment.outside, rows.principal(stage.tenant), event["id"], stage.now))

    # --- time and the world

    def page(self, words: str) -> None:
        self.story.show(response_of(f"text {words}"))

    def time(self, words: str) -> None:
        try:
            self.story.later(duration(words))
        except Unreadable:
            self.story.later(LEASE_IS_OVER)
        self.tick()

    def morning(self, words: str) -> None:
        night = self.story.next_night(self.story.stage.now)
        self.story.stage.cycle.now = night - timedelta(hours=16)  # the default window is eight hours long
        self.tick()

    # --- workers

    def tick(self) -> None:
        """One run of the dispatcher, when the event that waits is due."""
        stage = self.story.stage
        event = self.story.open_event
        if event and event["state"] == "pending":
            stage.cycle.now = max(stage.now, event["available_at"])
        scheduling.tick(stage.deployment.worker, now=stage.now)

    def start(self, words: str) -> None:
        if _AT_ONCE.search(words):
            self.duplicate(words)
        else:
            self._to("leased")

    def fetched(self, words: str) -> None:
        self._to("fetched")

    def embed(self, words: str) -> None:
        self._to("embedded" if re.search(r"embedded|has embed", words, re.I) else "fetched")

    def end(self, words: str) -> None:
        self._to("done")

    def kill(self, words: str) -> None:
        self._to("leased")
        self.workers[self._subject].kill()

    def duplicate(self, words: str) -> None:
        """The same message comes once more, beside the one that is being worked on or after it was."""
        message = self.story.facts.get("event_id") or self._message()
        for _ in range(2 if "event_id" not in self.story.facts else 1):
            name = str(len(self.workers) + 1)
            self.workers[name] = Worker(self.story.stage, message, lambda: None)
            self.workers[name].go("done" if len(self.workers) > 1 else "leased")
        self.story.facts["event_id"] = message

    def _to(self, phase: str) -> None:
        if self._subject not in self.workers:
            label = f"job{self._subject} content"
            event_id = self._message()
            self.story.facts["event_id"] = event_id
            self.workers[self._subject] = Worker(
                self.story.stage, event_id, lambda: self.story.show(response_of(f"text {label}"))
            )
        self.workers[self._subject].go(phase)

    def _message(self) -> Any:
        """The event of the next message; of a job that is still at work, when its lease is over."""
        stage = self.story.stage
        if not stage.deployment.queue.messages:
            event = self.story.open_event
            if event is None:
                self.enqueue("")
            elif event["state"] == "running":
                self.story.later(LEASE_IS_OVER)
            self.tick()
        if not stage.deployment.queue.messages:
            event = self.story.open_event
            if event is None:
                raise Unreadable("no event is left for a worker")
            return event["id"]
        return stage.deployment.queue.messages.pop(0).event_id


def _status(call: Callable[[], Any], answer: int) -> int:
    try:
        call()
    except Problem as problem:
        return problem.status
    return answer


_STEPS: tuple[tuple[str, Callable[[Steps, str], None]], ...] = (
    (r"(tenant|account|customer).*(delet|remov|leav|gone|clos)|(delet|remov)\w* .*(tenant|account|customer)",
     Steps.delete_tenant),
    (r"(tenant|\bkb\b).*(disab|suspend|off|enabl)|(disab|suspend|enabl)\w* .*(tenant|\bkb\b)", Steps.tenant_off),
    (r"source.*(delet|remov)|(delet|remov)\w* .*source", Steps.delete_source),
    (r"toggle|(?:de|re)-?activat|(switch|turn)\w* (back )?o(n|ff)|inactive|paus|disab", Steps.toggle),
    (r"(edit|chang|mov|updat)\w*.*\b(ur[li]|address)|\b(ur[li]|address).*(edit|chang|mov)", Steps.edit),
    (r"(settings|window|time ?zone|night).*(chang|mov|edit|set\b)|chang\w* .*(settings|window|zone)", Steps.window),
    (r"cancel", Steps.cancel),
    (r"dismiss|snooz", Steps.answer_suggestion),
    (r"approv", Steps.approve),
    (r"\b(page|site|text|server)\b.*\b(chang|says|shows|new)", Steps.page),
    (r"crash|\bdie[sd]?\b|kill|\boom\b|out of memory|lambda times out|power|vanish|host lost", Steps.kill),
    (r"(lease|visibility).*(expir|run|out|laps|elaps)|\d+ ?(s|sec|min|m|h)\w* (later|pass)|after \d+", Steps.time),
    (r"(window|night).*(clos|ends?\b|over)|morning", Steps.morning),
    (r"duplicat|redeliver|deliver\w* (again|twice|a second)|same message|second delivery", Steps.duplicate),
    (r"\ben-?queue|\bqueue|schedul|dispatch|message sent|\bsends?\b|\btick", Steps.enqueue),
    (r"commit|finish|\bwrit|\bdone\b|complet|\back\b|publish|\bends?\b|saves", Steps.end),
    (r"embed", Steps.embed),
    (r"fetched|downloaded|response arriv|got", Steps.fetched),
    (r"fetch|download|start|claim|lease|pick|tak(e|es)|receiv|\bruns?\b|begin|work|in flight", Steps.start),
)  # fmt: skip
"""What words of a step mean what: the first pattern that occurs."""
