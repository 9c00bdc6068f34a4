"""Where a deployment goes: an AWS account, or an emulator of one."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sqs import SQSClient

LOCAL_ACCOUNT = "000000000000"


@dataclass(frozen=True, slots=True)
class Account:
    """With ``endpoint_url`` None: the account of the environment's credentials. Else the emulator at that URL."""

    region: str = "us-east-1"
    endpoint_url: str | None = None

    @classmethod
    def of_environment(cls, region: str) -> Account:
        """The emulator that ``AWS_ENDPOINT_URL`` names, as for every program that speaks to AWS; else AWS itself."""
        return cls(region, os.environ.get("AWS_ENDPOINT_URL", "").strip().rstrip("/") or None)

    @property
    def emulated(self) -> bool:
        """Whether this is no real AWS."""
        return self.endpoint_url is not None

    def number(self) -> str:
        """The account's twelve digits."""
        if self.emulated:
            return LOCAL_ACCOUNT
        return str(self._session().client("sts", region_name=self.region).get_caller_identity()["Account"])

    def cloudformation(self) -> CloudFormationClient:
        """A client for stacks."""
        return self._session().client("cloudformation", region_name=self.region, endpoint_url=self.endpoint_url)

    def s3(self) -> S3Client:
        """A client for artefacts."""
        return self._session().client("s3", region_name=self.region, endpoint_url=self.endpoint_url)

    def sqs(self) -> SQSClient:
        """A client for queues."""
        return self._session().client("sqs", region_name=self.region, endpoint_url=self.endpoint_url)

    def secrets(self) -> SecretsManagerClient:
        """A client for the keys that sign."""
        return self._session().client("secretsmanager", region_name=self.region, endpoint_url=self.endpoint_url)

    def functions(self) -> LambdaClient:
        """A client that waits as long as a function may run, and never runs one twice because it waited."""
        patient = Config(read_timeout=910, retries={"max_attempts": 0})
        return self._session().client("lambda", region_name=self.region, endpoint_url=self.endpoint_url, config=patient)

    def _session(self) -> boto3.Session:
        return _emulators_session() if self.emulated else boto3.Session()


_sessions = threading.local()


def _emulators_session() -> boto3.Session:
    """The emulator's own credentials, never the user's.

    One a thread: a session is not for several, and each new one takes a tenth of a second to read how services speak.
    """
    if not hasattr(_sessions, "emulators"):
        _sessions.emulators = boto3.Session(aws_access_key_id="test", aws_secret_access_key="test")
    session: boto3.Session = _sessions.emulators
    return session
