"""SQS as the way from tick to worker."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import UUID

from chalicelib.queueing.messages import CORRELATION_ATTRIBUTE, Depths, Message, body_of
from chalicelib.telemetry import logger

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

BATCH = 10  # what send_message_batch takes
_COUNTS: list[Any] = [
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
]


class SqsQueue:
    """A queue by its URL. The client (0.3 s to import) is made by the first message."""

    def __init__(self, url: str) -> None:
        self._url = url

    @cached_property
    def _client(self) -> SQSClient:
        import boto3

        return boto3.client("sqs")

    def send(self, messages: Sequence[Message]) -> list[UUID]:
        """Send all, ten at a time; the ids of those that were not taken, for whatever reason."""
        batches = [messages[start : start + BATCH] for start in range(0, len(messages), BATCH)]
        return [event_id for batch in batches for event_id in self._send_batch(batch)]

    def is_idle(self) -> bool:
        """Whether no message waits, is delayed or is being worked on. False if that can't be learned."""
        return self._depth(self._url) == 0

    def depths(self) -> Depths:
        """How much waits here and among the dead letters, whose queue the redrive policy names."""
        return Depths(self._depth(self._url), self._depth(self._dead_letters()))

    def _depth(self, url: str | None) -> int | None:
        attributes = self._attributes(url, _COUNTS) if url else None
        return None if attributes is None else sum(int(attributes.get(name, "0")) for name in _COUNTS)

    def _dead_letters(self) -> str | None:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            policy = json.loads((self._attributes(self._url, ["RedrivePolicy"]) or {})["RedrivePolicy"])
            name = policy["deadLetterTargetArn"].rpartition(":")[2]
            return self._client.get_queue_url(QueueName=name)["QueueUrl"]
        except (KeyError, ValueError, BotoCoreError, ClientError):
            return None

    def _attributes(self, url: str, names: list[Any]) -> dict[Any, str] | None:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            return dict(self._client.get_queue_attributes(QueueUrl=url, AttributeNames=names).get("Attributes", {}))
        except (BotoCoreError, ClientError):
            return None

    def _send_batch(self, batch: Sequence[Message]) -> list[UUID]:
        from botocore.exceptions import BotoCoreError, ClientError

        entries: list[Any] = [_entry(number, message) for number, message in enumerate(batch)]
        try:
            answer = self._client.send_message_batch(QueueUrl=self._url, Entries=entries)
        except (BotoCoreError, ClientError) as error:
            logger.warning("the queue took nothing", error=type(error).__name__, code=_code(error))
            return [message.event_id for message in batch]
        for refused in answer.get("Failed", []):
            logger.warning("the queue refused a message", code=refused["Code"])
        taken = {entry["Id"] for entry in answer.get("Successful", [])}
        return [message.event_id for number, message in enumerate(batch) if str(number) not in taken]


def _entry(number: int, message: Message) -> dict[str, Any]:
    entry: dict[str, Any] = {"Id": str(number), "MessageBody": body_of(message.event_id)}
    if message.correlation_id:
        entry["MessageAttributes"] = {
            CORRELATION_ATTRIBUTE: {"DataType": "String", "StringValue": message.correlation_id}
        }
    return entry


def _code(error: Exception) -> str | None:
    """AWS's word for what went wrong, without the message, which names resources."""
    response = getattr(error, "response", None)
    return response["Error"].get("Code") if response else None
