"""The ``ops`` function: what has no route, invoked directly under IAM."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chalicelib.client.problem import OpsProblem, Unreachable

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

READ_SECONDS = 910  # a function may run for 15 minutes: migrations can take long


@dataclass(frozen=True, slots=True)
class OpsFunction:
    """``name`` is the function's name or ARN. With ``endpoint_url`` None it is looked for in AWS.

    ``emulated``: the endpoint is a local cloud, which gets credentials of its own, never the user's.
    """

    name: str
    endpoint_url: str | None = None
    emulated: bool = False

    def run(self, command: str, **arguments: Any) -> Any:
        """The command's result; arguments that are None are left out. Raises OpsProblem or Unreachable.

        Nothing is invoked twice: a command that took too long may have been done.
        """
        from botocore.exceptions import BotoCoreError, ClientError

        event = {"command": command, **{name: value for name, value in arguments.items() if value is not None}}
        try:
            answer = self._client().invoke(FunctionName=self.name, Payload=json.dumps(event).encode())
            payload = json.loads(answer["Payload"].read() or b"null")
        except (BotoCoreError, ClientError, ValueError) as error:
            raise Unreachable(f"the function {self.name} can't be invoked: {error}") from error
        if "FunctionError" in answer or not isinstance(payload, dict):
            raise OpsProblem("function_failed", f"{self.name} failed; its log says why")
        if not payload.get("ok"):
            raise OpsProblem(str(payload.get("code")), str(payload.get("detail")))
        return payload["result"]

    def _client(self) -> LambdaClient:
        import boto3
        from botocore.config import Config

        session = boto3.Session()
        if self.emulated:
            session = boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name="us-east-1")
        config = Config(read_timeout=READ_SECONDS, connect_timeout=5, retries={"total_max_attempts": 1})
        return session.client("lambda", endpoint_url=self.endpoint_url, config=config)
