"""Alarms: what somebody should look at. Each names a metric of the catalogue or one of AWS's own.

With the template's ``AlarmTopicArn`` they tell that topic; without it they only show their state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chalicelib.metrics import MESSAGES_FAILED, NAMESPACE, TICKS_DONE, Metric

FUNCTIONS = ("APIHandler", "Tick", "Worker", "Ops")
STACK = {"Ref": "AWS::StackName"}


@dataclass(frozen=True, slots=True)
class Alarm:
    """It rings while ``statistic`` of the metric is over ``threshold`` in ``of`` of the last ``among`` periods.

    ``period`` in seconds. ``below``: it rings under the threshold instead, and where nothing is measured at all.
    """

    what: str
    namespace: str
    metric: str
    dimensions: Mapping[str, Any]
    statistic: str = "Sum"
    threshold: float = 0
    period: int = 300
    of: int = 1
    among: int = 1
    below: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)

    def resource(self) -> dict[str, Any]:
        """The alarm in the template."""
        topic = {"Fn::If": ["HasAlarmTopic", [{"Ref": "AlarmTopicArn"}], {"Ref": "AWS::NoValue"}]}
        return {
            "Type": "AWS::CloudWatch::Alarm",
            "Properties": {
                "AlarmDescription": self.what,
                "Namespace": self.namespace,
                "MetricName": self.metric,
                "Dimensions": [{"Name": name, "Value": value} for name, value in self.dimensions.items()],
                "Statistic": self.statistic,
                "Threshold": self.threshold,
                "ComparisonOperator": "LessThanThreshold" if self.below else "GreaterThanThreshold",
                "Period": self.period,
                "DatapointsToAlarm": self.of,
                "EvaluationPeriods": self.among,
                "TreatMissingData": "breaching" if self.below else "notBreaching",
                "AlarmActions": topic,
                "OKActions": topic,
                **self.more,
            },
        }


def _own(what: str, metric: Metric, **more: Any) -> Alarm:
    return Alarm(what, NAMESPACE, metric.name, {"service": STACK}, **more)


def _of_queue(what: str, queue: str, metric: str, **more: Any) -> Alarm:
    name = {"QueueName": {"Fn::GetAtt": [queue, "QueueName"]}}
    return Alarm(what, "AWS/SQS", metric, name, statistic="Maximum", period=60, **more)


def _of_function(what: str, function: str, metric: str, **more: Any) -> Alarm:
    return Alarm(what, "AWS/Lambda", metric, {"FunctionName": {"Ref": function}}, **more)


ALARMS: Mapping[str, Alarm] = {
    "DeadLettersAlarm": _of_queue(
        "Refreshes failed for good: their messages wait in the dead-letter queue.",
        "RefreshDeadLetters",
        "ApproximateNumberOfMessagesVisible",
    ),
    "OldestMessageAlarm": _of_queue(
        "A refresh has waited for 50 minutes: longer than one whose worker died waits for the next.",
        "RefreshQueue",
        "ApproximateAgeOfOldestMessage",
        threshold=3000,
        of=5,
        among=5,
    ),
    "TickMissedAlarm": _own(
        "No tick came to its end in five minutes: nothing is dispatched.",
        TICKS_DONE,
        threshold=1,
        below=True,
        more={"ActionsEnabled": {"Fn::If": ["IsTicking", True, False]}},
    ),
    "MessagesFailedAlarm": _own(
        "Workers fail again and again; Lambda counts no error, since the queue is told of each message.",
        MESSAGES_FAILED,
        of=2,
        among=3,
    ),
    "ServerErrorsAlarm": Alarm(
        "The API answers that something is wrong on its side.",
        "AWS/ApiGateway",
        "5XXError",
        {"ApiName": STACK, "Stage": "api"},
        threshold=5,
        of=2,
        among=3,
    ),
    **{
        f"{name}ErrorsAlarm": _of_function(f"{name} raised an error, timed out or ran out of memory.", name, "Errors")
        for name in FUNCTIONS
    },
    **{
        f"{name}ThrottlesAlarm": _of_function(f"Lambda did not run {name}: no concurrency was left.", name, "Throttles")
        for name in FUNCTIONS
    },
}


def template() -> dict[str, Any]:
    """The part of the template that makes them."""
    return {"Resources": {name: alarm.resource() for name, alarm in ALARMS.items()}}
