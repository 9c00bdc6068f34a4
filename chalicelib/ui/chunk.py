"""``/ui/admin/memory/firewall/chunks/…``: one chunk's policy, who changed it, and why a reader would be kept out.

Its text is not on the page: whoever wants to read it asks for it, and is judged.
"""

from __future__ import annotations

from typing import Any, Literal

from chalicelib.api import fields
from chalicelib.api.resource import Answer, NoQuery, Nothing
from chalicelib.domain.policy import PURPOSES, TIERS
from chalicelib.errors import Invalid, PreconditionFailed
from chalicelib.services import audit, policies
from chalicelib.services.explanation import explain
from chalicelib.services.policies import ChunkPolicy
from chalicelib.ui import policy_form, words
from chalicelib.ui.differences import differences
from chalicelib.ui.page import PageQuery, Visit, go_to, page, pages
from chalicelib.ui.policy_form import Filled, PolicyForm

CONFLICT = (
    "Nothing was saved: somebody else has changed this policy since the page was opened. "
    "What counts now is below; look at it, and change it again if need be."
)
UNCHANGED = "Nothing was saved: the form says what is said already."

chunk = pages("ui_chunk")


class ChunkQuery(PageQuery):
    """A reader to explain a decision for; ``saved`` after a change."""

    role: fields.Name | None = None
    purpose: fields.Purpose | None = None
    operator: Literal["yes"] | None = None
    saved: Literal["policy"] | None = None


@chunk.route(
    "GET",
    "/ui/admin/memory/firewall/chunks/{chunk_id}",
    action="firewall.policy.read",
    access="write",
    query=ChunkQuery,
    answers={200: "text/html"},
)
def show_chunk_page(visit: Visit[Nothing, ChunkQuery]) -> Answer:
    """One chunk's policy, its history, and an explanation of the decision about a reader."""
    call = visit.call
    found = policies.of_chunk(call.outside, call.who, call.ids["chunk_id"])
    notice = "The policy was saved." if call.query.saved else None
    return _page(visit, found, policy_form.of_policy(found.own), notice=notice, query=call.query)


@chunk.route(
    "POST",
    "/ui/admin/memory/firewall/chunks/{chunk_id}/policy",
    action="firewall.policy.write",
    access="write",
    body=PolicyForm,
    answers={303: "text/html"},
)
def set_chunk_policy_by_form(visit: Visit[PolicyForm, NoQuery]) -> Answer:
    """Change what is said of a chunk's text, if it is still what the form was filled in for."""
    call, form = visit.call, visit.call.body
    found = policies.of_chunk(call.outside, call.who, call.ids["chunk_id"])
    before, after = policy_form.of_policy(found.own), policy_form.of_answers(form)
    wanted = policy_form.patch(before, after)
    if not wanted and form.digest == found.effective.digest:
        return _page(visit, found, after, alert=UNCHANGED)
    try:
        policies.set_on_chunk(call.outside, call.who, found.chunk_id, wanted, f'"{form.digest}"', call.now)
    except PreconditionFailed as refused:
        now_counts = policies.of_chunk(call.outside, call.who, found.chunk_id)
        shown = policy_form.of_policy(now_counts.own)
        return _page(visit, now_counts, shown, status=refused.status, alert=CONFLICT)
    except Invalid as refused:
        return _page(visit, found, after, status=refused.status, alert=f"Nothing was saved: {refused.detail}.")
    return go_to(visit, f"{place(found)}?saved=policy")


def place(found: ChunkPolicy) -> str:
    """Where a chunk's page is, below ``/ui/``."""
    return f"admin/memory/firewall/chunks/{found.chunk_id}"


def _page(
    visit: Visit[Any, Any],
    found: ChunkPolicy,
    filled: Filled,
    *,
    status: int = 200,
    alert: str | None = None,
    notice: str | None = None,
    query: ChunkQuery | None = None,
) -> Answer:
    call, query = visit.call, query or ChunkQuery()
    asked = query.purpose and explain(
        call.outside,
        call.who,
        found.effective.policy,
        role=query.role or "",
        purpose=query.purpose,
        operator="an operator" if query.operator else "",
        now=call.now,
    )
    changes = audit.changes(call.outside, call.who, [str(found.chunk_id), str(found.source_id)])
    return page(
        visit,
        "chunk.html",
        status=status,
        alert=alert,
        notice=notice,
        found=found,
        counts=found.effective.policy,
        filled=filled,
        tiers=TIERS,
        purposes=sorted(PURPOSES),
        query=query,
        asked=asked,
        checks=words.checks(asked) if asked else [],
        because=words.because(asked) if asked else "",
        effect=words.effect(asked) if asked else "",
        changes=[(change, differences(change.before, change.after)) for change in changes],
    )
