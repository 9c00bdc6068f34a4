"""The form in which a person edits what is said of a chunk's text: as fields of a form, and back to a patch."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from typing import Annotated, Any, Literal

from pydantic import Field

from chalicelib.api.resource import Input
from chalicelib.domain.policy import Policy

Who = Literal["any", "some"]


class PolicyForm(Input):
    """``digest``: of the policy that the person saw. ``role_names``: one a line; some of none is nobody."""

    digest: str
    sensitivity: str = ""
    expires_at: str = ""
    roles: Who = "any"
    role_names: str = ""
    purposes: Who = "any"
    purpose_names: Annotated[list[str], Field(default_factory=list)]


@dataclass(frozen=True, slots=True)
class Filled:
    """What the form shows. Null (anybody) and the empty list (nobody) are different."""

    sensitivity: str
    expires_at: str
    roles: list[str] | None
    purposes: list[str] | None


def of_policy(own: Policy | None) -> Filled:
    """The form for what was said of a text so far."""
    if own is None:
        return Filled("", "", None, None)
    ends = "" if own.expires_at is None else f"{own.expires_at.astimezone(UTC):%Y-%m-%dT%H:%M:%S}"
    return Filled(
        own.sensitivity,
        ends,
        None if own.permitted_roles is None else sorted(own.permitted_roles),
        None if own.allowed_purposes is None else sorted(own.allowed_purposes),
    )


def of_answers(form: PolicyForm) -> Filled:
    """The form as a person has filled it in. Browsers leave out seconds that are none."""
    ends = form.expires_at.strip()
    lines = sorted({line.strip() for line in form.role_names.splitlines() if line.strip()})
    return Filled(
        form.sensitivity,
        f"{ends}:00" if ends.count(":") == 1 else ends,
        None if form.roles == "any" else lines,
        None if form.purposes == "any" else sorted(set(form.purpose_names)),
    )


def patch(before: Filled, after: Filled) -> dict[str, Any]:
    """The fields that the person has changed, as the API takes them.

    What was left as it was is left out: a raise of the tier alone then closes the purposes as it does there.
    """
    changed: dict[str, Any] = {}
    if after.sensitivity != before.sensitivity:
        changed["sensitivity"] = after.sensitivity
    if after.expires_at != before.expires_at:
        changed["expires_at"] = f"{after.expires_at}Z" if after.expires_at else None
    if after.roles != before.roles:
        changed["permitted_roles"] = after.roles
    if after.purposes != before.purposes:
        changed["allowed_purposes"] = after.purposes
    return changed
