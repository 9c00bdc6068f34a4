"""Brings a package into an account: artefacts to S3, the template to CloudFormation, the schema to Postgres.

The same steps serve AWS and the local cloud. Nothing is deployed twice: artefacts are named by what is in them, and
a change set without a change ends there.

    python -m infra.deploy STAGE [--region REGION] [--parameters FILE] [--destroy]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from infra.account import Account
from infra.package import ROOT, Package

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_cloudformation.type_defs import ParameterTypeDef, StackTypeDef

_STACK_MINUTES = 30
_NEVER_CREATED = {"REVIEW_IN_PROGRESS"}
_CREATION_FAILED = {"ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED"}


class DeployError(Exception):
    """The stack did not reach the wanted state, or a command in it failed; the message says what AWS said."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """A stack that is up: its outputs by name, and where its API answers (no slash at the end)."""

    account: Account
    outputs: Mapping[str, str]

    @property
    def url(self) -> str:
        """The API's base URL. The emulator serves all APIs under its own address."""
        if self.account.endpoint_url is None:
            return self.outputs["EndpointURL"].rstrip("/")
        return f"{self.account.endpoint_url}/_aws/execute-api/{self.outputs['RestAPIId']}/{self.outputs['APIStage']}"

    def ops(self, command: str, **arguments: Any) -> Any:
        """Run a command that has no route, directly in the ``ops`` function; its result. Raises DeployError."""
        answer = self.invoke("Ops", {"command": command, **arguments})
        if not answer["ok"]:
            raise DeployError(f"ops {command}: {answer['code']}: {answer['detail']}")
        return answer["result"]

    def invoke(self, function: str, event: Mapping[str, Any]) -> Any:
        """Call ``APIHandler``, ``Tick``, ``Worker`` or ``Ops`` and return its JSON. Raises DeployError."""
        name = self.outputs[f"{function}Name"]
        answer = self.account.functions().invoke(FunctionName=name, Payload=json.dumps(event).encode())
        payload = json.loads(answer["Payload"].read() or b"null")
        if "FunctionError" in answer:
            raise DeployError(f"{name} failed: {json.dumps(payload)[:2000]}")
        return payload


def deploy(
    stage: str,
    package: Package,
    layer: Path,
    parameters: Mapping[str, str],
    account: Account,
    say: Callable[[str], None] = print,
) -> Deployment:
    """Create or update the stack of ``stage``, wait for it, and migrate the database.

    ``parameters`` are the template's; one that is not given keeps the value it had in the stack, or its default.
    Raises DeployError.
    """
    store = _Store(account)
    wanted = {
        "ArtefactBucket": store.bucket,
        "CodeKey": store.put("code", package.code),
        "LayerKey": store.put("layer", layer),
        "Emulated": str(account.emulated).lower(),
        **parameters,
    }
    template = store.put("template", package.template)
    stack = _Stack(account.cloudformation(), f"larder-{stage}", _pause(account), say)
    deployment = Deployment(account, stack.change_to(store.url(template), wanted))
    say("migrating the database")
    for name in deployment.ops("migrate")["applied"]:
        say(f"  {name}")
    return deployment


def destroy(stage: str, account: Account, say: Callable[[str], None] = print) -> None:
    """Delete the stack of ``stage``. The database and the artefacts' bucket are not the stack's and stay."""
    _Stack(account.cloudformation(), f"larder-{stage}", _pause(account), say).delete()


def _pause(account: Account) -> float:
    return 0.05 if account.emulated else 3.0


class _Store:
    """The bucket of artefacts, private and encrypted, one an account and region, shared by all stages."""

    def __init__(self, account: Account) -> None:
        self._s3 = account.s3()
        self._account = account
        self.bucket = f"larder-artefacts-{account.number()}-{account.region}"
        self._ensure_bucket()

    def put(self, kind: str, file: Path) -> str:
        """Upload ``file`` unless it is there, and return its key, which tells its content."""
        key = f"{kind}/{content_digest(file)}{file.suffix}"
        try:
            self._s3.head_object(Bucket=self.bucket, Key=key)
        except ClientError:
            self._s3.upload_file(str(file), self.bucket, key)
        return key

    def url(self, key: str) -> str:
        """Where CloudFormation finds ``key``. A template by URL may be 20 times as long as one in the call."""
        if self._account.endpoint_url is not None:
            return f"{self._account.endpoint_url}/{self.bucket}/{key}"
        return f"https://{self.bucket}.s3.{self._account.region}.amazonaws.com/{key}"

    def _ensure_bucket(self) -> None:
        try:
            self._s3.head_bucket(Bucket=self.bucket)
            return
        except ClientError as error:
            if error.response["Error"]["Code"] not in {"404", "NoSuchBucket"}:
                raise
        if self._account.region == "us-east-1":  # the one region that must not be named
            self._s3.create_bucket(Bucket=self.bucket)
        else:
            where: Any = {"LocationConstraint": self._account.region}
            self._s3.create_bucket(Bucket=self.bucket, CreateBucketConfiguration=where)
        self._s3.put_public_access_block(
            Bucket=self.bucket,
            PublicAccessBlockConfiguration={
                "BlockPublicAcls": True,
                "IgnorePublicAcls": True,
                "BlockPublicPolicy": True,
                "RestrictPublicBuckets": True,
            },
        )


class _Stack:
    """One CloudFormation stack, changed by change sets."""

    def __init__(self, client: CloudFormationClient, name: str, pause: float, say: Callable[[str], None]) -> None:
        self._client, self._name, self._pause, self._say = client, name, pause, say
        self._told: set[str] = set()

    def change_to(self, template_url: str, parameters: Mapping[str, str]) -> dict[str, str]:
        """Bring the stack to the template and return its outputs."""
        found = self._describe()
        if found is not None and found["StackStatus"] in _CREATION_FAILED:
            self.delete()
            found = None
        exists = found is not None and found["StackStatus"] not in _NEVER_CREATED
        self._mark_told()
        change_set = self._client.create_change_set(
            StackName=self._name,
            ChangeSetName=f"deploy-{time.time_ns()}",
            ChangeSetType="UPDATE" if exists else "CREATE",
            TemplateURL=template_url,
            Parameters=list(self._parameters(template_url, parameters, found)),
            Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
        )["Id"]
        if self._has_changes(change_set):
            self._client.execute_change_set(ChangeSetName=change_set)
            self._wait("CREATE" if not exists else "UPDATE")
        else:
            self._client.delete_change_set(ChangeSetName=change_set)
            self._say(f"{self._name} is up to date")
        described = self._describe()
        assert described is not None
        return {output["OutputKey"]: output["OutputValue"] for output in described.get("Outputs", [])}

    def delete(self) -> None:
        """Delete the stack if there is one, and wait until it is gone."""
        found = self._describe()
        if found is None:
            self._say(f"there is no stack {self._name}")
            return
        self._mark_told()
        self._client.delete_stack(StackName=self._name)
        self._name = found.get("StackId", self._name)  # a deleted stack answers to its id alone
        self._wait("DELETE")

    def _parameters(
        self, template_url: str, wanted: Mapping[str, str], found: StackTypeDef | None
    ) -> Iterator[ParameterTypeDef]:
        declared = self._client.get_template_summary(TemplateURL=template_url)["Parameters"]
        names = {parameter["ParameterKey"] for parameter in declared}
        if unknown := wanted.keys() - names:
            raise DeployError(f"the template has no parameter {', '.join(sorted(unknown))}")
        kept = {parameter["ParameterKey"] for parameter in found.get("Parameters", [])} if found else set()
        for name in sorted(names):
            if name in wanted:
                yield {"ParameterKey": name, "ParameterValue": wanted[name]}
            elif name in kept:
                yield {"ParameterKey": name, "UsePreviousValue": True}

    def _has_changes(self, change_set: str) -> bool:
        for _ in self._until(_STACK_MINUTES):
            described = self._client.describe_change_set(ChangeSetName=change_set)
            if described["Status"] == "CREATE_COMPLETE":
                return True
            if described["Status"] == "FAILED":
                reason = described.get("StatusReason", "")
                if "didn't contain changes" in reason or "No updates are to be performed" in reason:
                    return False
                raise DeployError(f"{self._name}: {reason}")
        raise DeployError(f"{self._name}: the change set was not ready in time")

    def _wait(self, verb: str) -> None:
        for _ in self._until(_STACK_MINUTES):
            found = self._describe()
            self._tell_events()
            status = "DELETE_COMPLETE" if found is None else found["StackStatus"]
            if status == f"{verb}_COMPLETE":
                return
            if not status.endswith("_IN_PROGRESS"):
                raise DeployError(f"{self._name} is {status}: {found.get('StackStatusReason', '') if found else ''}")
        raise DeployError(f"{self._name} did not finish in {_STACK_MINUTES} minutes")

    def _until(self, minutes: float) -> Iterator[None]:
        deadline = time.monotonic() + minutes * 60
        while time.monotonic() < deadline:
            yield
            time.sleep(self._pause)

    def _describe(self) -> StackTypeDef | None:
        try:
            return self._client.describe_stacks(StackName=self._name)["Stacks"][0]
        except ClientError as error:
            if "does not exist" in str(error):
                return None
            raise

    def _mark_told(self) -> None:
        self._told.update(event["EventId"] for event in self._events())

    def _tell_events(self) -> None:
        for event in reversed(list(self._events())):
            if event["EventId"] in self._told:
                continue
            self._told.add(event["EventId"])
            status, reason = event.get("ResourceStatus", ""), event.get("ResourceStatusReason", "")
            if not status.endswith("_IN_PROGRESS") or reason:
                self._say(f"{event.get('LogicalResourceId', '')} {status} {reason}".rstrip())

    def _events(self) -> list[Any]:
        try:
            return list(self._client.describe_stack_events(StackName=self._name)["StackEvents"])
        except ClientError:
            return []


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m infra.deploy", description="Deploy Larder to AWS.")
    parser.add_argument("stage", type=_stage_name)
    parser.add_argument("--region", default=boto3.Session().region_name or "us-east-1")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="what `make package` made (%(default)s)")
    parser.add_argument("--parameters", type=Path, help="JSON file: the template's parameters by name")
    parser.add_argument("--destroy", action="store_true", help="delete the stack instead")
    chosen = parser.parse_args(arguments)
    account = Account(chosen.region)
    try:
        if chosen.destroy:
            destroy(chosen.stage, account)
            return 0
        parameters = json.loads(chosen.parameters.read_text(encoding="utf-8")) if chosen.parameters else {}
        built = Package(chosen.build / "sam.json", chosen.build / "deployment.zip")
        deployment = deploy(chosen.stage, built, chosen.build / "layer.zip", parameters, account)
    except (DeployError, BotoCoreError, ClientError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    for name, value in sorted(deployment.outputs.items()):
        print(f"{name}: {value}")
    print(f"deployed: {deployment.url}")
    return 0


def _stage_name(text: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,19}", text):
        raise argparse.ArgumentTypeError("a stage is a lower-case word of at most 20 characters")
    return text


def content_digest(file: Path) -> str:
    """A digest of what ``file`` holds: for an archive of its members, whatever their order and dates."""
    digest = hashlib.sha256()
    if file.suffix == ".zip":
        with zipfile.ZipFile(file) as archive:
            for name in sorted(archive.namelist()):
                digest.update(f"{name}\0".encode())
                digest.update(hashlib.sha256(archive.read(name)).digest())
    else:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:32]


if __name__ == "__main__":
    sys.exit(main())
