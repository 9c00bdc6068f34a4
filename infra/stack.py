"""One CloudFormation stack: how it gets to a template, how it goes away, and what it says meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from infra.account import Account

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.type_defs import ParameterTypeDef, StackTypeDef

_MINUTES = 30
_NEVER_CREATED = {"REVIEW_IN_PROGRESS"}
_CREATION_FAILED = {"ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED"}


class DeployError(Exception):
    """The stack did not reach the wanted state, or a command in it failed; the message says what AWS said."""


class FunctionFailed(DeployError):
    """A function of the stack did not answer but failed."""


class Stack:
    """One CloudFormation stack, changed by change sets."""

    def __init__(self, account: Account, name: str, say: Callable[[str], None]) -> None:
        self._client, self.name, self._say = account.cloudformation(), name, say
        self._pause = 0.05 if account.emulated else 3.0  # seconds between two looks
        self._told: set[str] = set()

    def parameters(self) -> dict[str, str]:
        """The parameters' values now; empty if there is no stack. A secret one reads as stars."""
        found = self._describe()
        listed = found.get("Parameters", []) if found else []
        return {parameter["ParameterKey"]: parameter.get("ParameterValue", "") for parameter in listed}

    def outputs(self) -> dict[str, str]:
        """The outputs now; empty if there is no stack, or none that ever came up."""
        found = self._describe()
        listed = found.get("Outputs", []) if found and found["StackStatus"] not in _CREATION_FAILED else []
        return {output["OutputKey"]: output["OutputValue"] for output in listed}

    def change_to(self, template_url: str, parameters: Mapping[str, str]) -> dict[str, str]:
        """Bring the stack to the template and return its outputs."""
        found = self._describe()
        if found is not None and found["StackStatus"] in _CREATION_FAILED:
            self.delete()
            found = None
        exists = found is not None and found["StackStatus"] not in _NEVER_CREATED
        self._mark_told()
        change_set = self._client.create_change_set(
            StackName=self.name,
            ChangeSetName=f"deploy-{time.time_ns()}",
            ChangeSetType="UPDATE" if exists else "CREATE",
            TemplateURL=template_url,
            Parameters=list(self._parameters(template_url, parameters, self.parameters() if exists else {})),
            Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
        )["Id"]
        if self._has_changes(change_set):
            self._client.execute_change_set(ChangeSetName=change_set)
            self._wait("UPDATE" if exists else "CREATE", self.name)
        else:
            self._client.delete_change_set(ChangeSetName=change_set)
            self._say(f"{self.name} is up to date")
        return self.outputs()

    def delete(self) -> None:
        """Delete the stack if there is one, and wait until it is gone."""
        found = self._describe()
        if found is None:
            self._say(f"there is no stack {self.name}")
            return
        self._mark_told()
        self._client.delete_stack(StackName=self.name)
        self._wait("DELETE", found.get("StackId", self.name))  # a deleted stack answers to its id alone

    def _parameters(
        self, template_url: str, wanted: Mapping[str, str], kept: Mapping[str, str]
    ) -> Iterator[ParameterTypeDef]:
        declared = self._client.get_template_summary(TemplateURL=template_url)["Parameters"]
        names = {parameter["ParameterKey"] for parameter in declared}
        if unknown := wanted.keys() - names:
            raise DeployError(f"the template has no parameter {', '.join(sorted(unknown))}")
        for name in sorted(names):
            if name in wanted:
                yield {"ParameterKey": name, "ParameterValue": wanted[name]}
            elif name in kept:
                yield {"ParameterKey": name, "UsePreviousValue": True}

    def _has_changes(self, change_set: str) -> bool:
        for _ in self._until(_MINUTES):
            described = self._client.describe_change_set(ChangeSetName=change_set)
            if described["Status"] == "CREATE_COMPLETE":
                return True
            if described["Status"] == "FAILED":
                reason = described.get("StatusReason", "")
                if "didn't contain changes" in reason or "No updates are to be performed" in reason:
                    return False
                raise DeployError(f"{self.name}: {reason}")
        raise DeployError(f"{self.name}: the change set was not ready in time")

    def _wait(self, verb: str, stack: str) -> None:
        for _ in self._until(_MINUTES):
            found = self._describe(stack)
            self._tell_events(stack)
            status = "DELETE_COMPLETE" if found is None else found["StackStatus"]
            if status == f"{verb}_COMPLETE":
                return
            if not status.endswith("_IN_PROGRESS"):
                raise DeployError(f"{self.name} is {status}: {found.get('StackStatusReason', '') if found else ''}")
        raise DeployError(f"{self.name} did not finish in {_MINUTES} minutes")

    def _until(self, minutes: float) -> Iterator[None]:
        deadline = time.monotonic() + minutes * 60
        while time.monotonic() < deadline:
            yield
            time.sleep(self._pause)

    def _describe(self, stack: str = "") -> StackTypeDef | None:
        try:
            return self._client.describe_stacks(StackName=stack or self.name)["Stacks"][0]
        except ClientError as error:
            if "does not exist" in str(error):
                return None
            raise

    def _mark_told(self) -> None:
        self._told.update(event["EventId"] for event in self._events(self.name))

    def _tell_events(self, stack: str) -> None:
        for event in reversed(self._events(stack)):
            if event["EventId"] in self._told:
                continue
            self._told.add(event["EventId"])
            status, reason = event.get("ResourceStatus", ""), event.get("ResourceStatusReason", "")
            if not status.endswith("_IN_PROGRESS") or reason:
                self._say(f"{event.get('LogicalResourceId', '')} {status} {reason}".rstrip())

    def _events(self, stack: str) -> list[Any]:
        try:
            return list(self._client.describe_stack_events(StackName=stack)["StackEvents"])
        except ClientError:
            return []
