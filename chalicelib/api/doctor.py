"""``/v1/doctor``: whether everything is in order, and what turns on and proves a feature."""

from __future__ import annotations

from typing import Any, Literal

from chalicelib.api.resource import Answer, Call, Input, NoQuery, Nothing, Output, Resource
from chalicelib.services import doctor as service
from chalicelib.services import memory_rag, quotas

doctor = Resource("doctor")

Status = Literal["ok", "warning", "failing"]


class FeatureIn(Input):
    """What to turn on."""

    feature: Literal["memory-rag"]


class CheckOut(Output):
    """One thing that was looked at: a sentence for people, numbers and names for programs."""

    name: str
    status: Status
    detail: str
    facts: dict[str, Any]


class ReportOut(Output):
    """Everything that was looked at; ``status`` is the worst of it."""

    status: Status
    checks: list[CheckOut]


@doctor.route("GET", "/v1/doctor", action="doctor.read", access="write", answers={200: ReportOut})
def show_doctor(call: Call[Nothing, NoQuery]) -> Answer:
    """Look at everything that must be in order."""
    return Answer(_shown(service.examine(call.outside, call.who, call.now)))


@doctor.route(
    "POST",
    "/v1/doctor/features",
    action="doctor.feature.write",
    access="write",
    body=FeatureIn,
    answers={200: ReportOut},
)
def enable_feature(call: Call[FeatureIn, NoQuery]) -> Answer:
    """Turn a feature on and prove each part of it; what only the deployment's operator can turn on is told."""
    allowance = quotas.count_mutation(call.outside, call.who, call.now)
    return Answer(_shown(memory_rag.enable(call.outside, call.who, call.now)), 200, allowance.headers())


def _shown(checks: list[service.Check]) -> ReportOut:
    return ReportOut(status=service.worst(checks), checks=[CheckOut.model_validate(check) for check in checks])
