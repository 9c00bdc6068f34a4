"""The dashboard: how the work goes, in the order in which one would ask. Metrics of the catalogue and AWS's own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from chalicelib import metrics
from chalicelib.metrics import NAMESPACE, OTHER, Metric
from infra.alarms import ALARMS, FUNCTIONS

_PLACE = {"width": 12, "height": 6}  # half of the width; CloudWatch puts one after the other
_MINUTE = 60

Line = list[Any]
"""One curve: namespace, metric, names and values of its dimensions, and how it is drawn."""


def template() -> dict[str, Any]:
    """The part of the template that makes it. The body is text in which ``${…}`` stands for resources."""
    body = {"start": "-PT24H", "widgets": list(_widgets())}
    return {
        "Resources": {
            "Dashboard": {
                "Type": "AWS::CloudWatch::Dashboard",
                "Properties": {
                    "DashboardName": {"Ref": "AWS::StackName"},
                    "DashboardBody": {"Fn::Sub": json.dumps(body, separators=(",", ":"))},
                },
            }
        }
    }


def _widgets() -> Iterator[dict[str, Any]]:
    alarms = [f"${{{name}.Arn}}" for name in ALARMS]
    yield {"type": "alarm", "width": 24, "height": 3, "properties": {"title": "Alarms", "alarms": alarms}}
    yield _graph("Refreshes, by how they ended", _by_word(metrics.REFRESHES))
    yield _graph("What the guard refused, by its reason", _by_word(metrics.GUARD_REFUSALS))
    ticked = (metrics.SOURCES_DUE, metrics.EVENTS_DISPATCHED, metrics.EVENTS_UNSENT, metrics.EVENTS_SWEPT)
    yield _graph("The tick: due, sent, and what went wrong", [_own(one) for one in (metrics.TICKS_DONE, *ticked)])
    dropped = (metrics.EVENTS_DROPPED, metrics.SUGGESTIONS_DROPPED)
    yield _graph("Finished work that was deleted", [_own(one) for one in dropped])
    yield _graph("Caps reached and limits used up", [_own(metrics.CAPS_REACHED), *_by_word(metrics.RATE_LIMITED)])
    yield _graph("The queue", list(_queue()))
    yield _graph("Waiting, in milliseconds", [_own(one, stat) for one in _TIMES for stat in ("p50", "p95")])
    chunks = (metrics.VERSIONS_WRITTEN, metrics.CHUNKS_EMBEDDED, metrics.CHUNKS_REUSED)
    yield _graph("New versions and their chunks", [_own(one) for one in chunks])
    yield _graph("Failures", [_own(metrics.MESSAGES_FAILED), *_functions("Errors"), *_functions("Throttles")])
    yield _graph("The API: requests and errors", [_api(name, "Sum") for name in ("Count", "4XXError", "5XXError")])
    yield _graph("The API: latency in milliseconds", [_api("Latency", stat) for stat in ("p50", "p95", "p99")])
    yield _graph("Functions: duration in milliseconds", _functions("Duration", "p95"))
    yield _graph("Functions: running at once", _functions("ConcurrentExecutions", "Maximum"))


_TIMES = (metrics.FETCH_TIME, metrics.EMBED_TIME, metrics.QUEUE_AGE)


def _graph(title: str, lines: list[Line]) -> dict[str, Any]:
    shown = {"title": title, "view": "timeSeries", "region": "${AWS::Region}", "period": 5 * _MINUTE, "metrics": lines}
    return {"type": "metric", **_PLACE, "properties": shown}


def _line(namespace: str, metric: str, dimensions: Mapping[str, str], stat: str, label: str = "") -> Line:
    under = [part for pair in dimensions.items() for part in pair]
    return [namespace, metric, *under, {"stat": stat, "label": label or f"{metric} {stat}"}]


def _own(metric: Metric, stat: str = "Sum") -> Line:
    label = metric.name if stat == "Sum" else ""
    return _line(NAMESPACE, metric.name, {"service": "${AWS::StackName}"}, stat, label)


def _by_word(metric: Metric) -> list[Line]:
    assert metric.dimension is not None
    service, by = {"service": "${AWS::StackName}"}, metric.dimension.name
    words = [*sorted(metric.dimension.words), OTHER]
    return [_line(NAMESPACE, metric.name, {**service, by: word}, "Sum", word) for word in words]


def _queue() -> Iterator[Line]:
    for queue, label in (("RefreshQueue", "waiting"), ("RefreshDeadLetters", "dead letters")):
        name = {"QueueName": f"${{{queue}.QueueName}}"}
        yield _line("AWS/SQS", "ApproximateNumberOfMessagesVisible", name, "Maximum", label)
    oldest = {"QueueName": "${RefreshQueue.QueueName}"}
    yield _line("AWS/SQS", "ApproximateAgeOfOldestMessage", oldest, "Maximum", "age of the oldest, in seconds")


def _functions(metric: str, stat: str = "Sum") -> list[Line]:
    named = [(name, {"FunctionName": f"${{{name}}}"}) for name in FUNCTIONS]
    return [_line("AWS/Lambda", metric, dimensions, stat, f"{name} {metric}") for name, dimensions in named]


def _api(metric: str, stat: str) -> Line:
    return _line("AWS/ApiGateway", metric, {"ApiName": "${AWS::StackName}", "Stage": "api"}, stat)
