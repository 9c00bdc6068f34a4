"""Alarms and dashboard: they name what is measured, and nothing that isn't."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chalicelib.metrics import CATALOGUE, NAMESPACE, OTHER
from infra import alarms, dashboard
from infra.alarms import ALARMS, Alarm

AWS = {
    "AWS/Lambda": {"Errors", "Throttles", "Duration", "ConcurrentExecutions"},
    "AWS/SQS": {"ApproximateNumberOfMessagesVisible", "ApproximateAgeOfOldestMessage"},
    "AWS/ApiGateway": {"Count", "4XXError", "5XXError", "Latency"},
}
"""Metrics that AWS sends by itself, by its documentation, as far as they are used here."""

OWN = {metric.name: metric for metric in CATALOGUE}
BODY: dict[str, Any] = json.loads(
    dashboard.template()["Resources"]["Dashboard"]["Properties"]["DashboardBody"]["Fn::Sub"]
)
LINES = [line for widget in BODY["widgets"] if widget["type"] == "metric" for line in widget["properties"]["metrics"]]


def known(namespace: str, metric: str, dimensions: dict[str, Any]) -> bool:
    if namespace != NAMESPACE:
        return metric in AWS[namespace]
    by = OWN[metric].dimension if metric in OWN else None
    named = {"service", by.name} if by else {"service"}
    words = {*by.words, OTHER} if by else set()
    return metric in OWN and set(dimensions) == named and (by is None or dimensions[by.name] in words)


@pytest.mark.parametrize("name", list(ALARMS))
def test_an_alarm_names_a_metric_that_is_sent(name: str) -> None:
    alarm = ALARMS[name]
    assert known(alarm.namespace, alarm.metric, dict(alarm.dimensions))
    assert name.endswith("Alarm")
    assert alarm.what.endswith(".")
    assert 1 <= alarm.of <= alarm.among


def test_everything_that_must_ring_does() -> None:
    watched = {(alarm.namespace, alarm.metric) for alarm in ALARMS.values()}
    assert watched == {
        ("AWS/SQS", "ApproximateNumberOfMessagesVisible"),
        ("AWS/SQS", "ApproximateAgeOfOldestMessage"),
        ("AWS/Lambda", "Errors"),
        ("AWS/Lambda", "Throttles"),
        ("AWS/ApiGateway", "5XXError"),
        (NAMESPACE, "TicksDone"),
        (NAMESPACE, "MessagesFailed"),
    }
    for metric in ("Errors", "Throttles"):
        functions = {alarm.dimensions["FunctionName"]["Ref"] for alarm in ALARMS.values() if alarm.metric == metric}
        assert functions == {"APIHandler", "Tick", "Worker", "Ops"}
    assert ALARMS["DeadLettersAlarm"].dimensions == {"QueueName": {"Fn::GetAtt": ["RefreshDeadLetters", "QueueName"]}}


def test_an_alarm_for_too_little_rings_where_nothing_is_measured() -> None:
    missed = ALARMS["TickMissedAlarm"].resource()["Properties"]
    assert (missed["ComparisonOperator"], missed["Threshold"]) == ("LessThanThreshold", 1)
    assert missed["TreatMissingData"] == "breaching"
    assert missed["ActionsEnabled"] == {"Fn::If": ["IsTicking", True, False]}, "a schedule that was put off is silent"
    others: list[Alarm] = [alarm for name, alarm in ALARMS.items() if name != "TickMissedAlarm"]
    assert {alarm.resource()["Properties"]["TreatMissingData"] for alarm in others} == {"notBreaching"}


def test_every_alarm_tells_the_topic_if_there_is_one() -> None:
    for resource in alarms.template()["Resources"].values():
        for action in ("AlarmActions", "OKActions"):
            assert resource["Properties"][action]["Fn::If"][:2] == ["HasAlarmTopic", [{"Ref": "AlarmTopicArn"}]]


@pytest.mark.parametrize("line", LINES, ids=lambda line: " ".join(str(part) for part in line[:-1]))
def test_a_curve_names_a_metric_that_is_sent(line: list[Any]) -> None:
    namespace, metric, *under, drawn = line
    assert known(namespace, metric, dict(zip(under[::2], under[1::2], strict=True)))
    assert drawn["stat"] in ("Sum", "Maximum", "p50", "p95", "p99")
    assert drawn["label"]


def test_the_dashboard_shows_every_metric_with_every_word_and_every_alarm() -> None:
    shown = {(line[1], line[-2]) for line in LINES if line[0] == NAMESPACE}
    for metric in CATALOGUE:
        words = [*metric.dimension.words, OTHER] if metric.dimension else ["${AWS::StackName}"]
        assert {(metric.name, word) for word in words} <= shown
    assert BODY["widgets"][0]["properties"]["alarms"] == [f"${{{name}.Arn}}" for name in ALARMS]


def test_curves_of_one_graph_can_be_told_apart() -> None:
    for widget in BODY["widgets"]:
        labels = [line[-1]["label"] for line in widget["properties"].get("metrics", [])]
        assert len(set(labels)) == len(labels), widget["properties"]["title"]
