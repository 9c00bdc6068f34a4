"""What a deployment uploads: archives and templates, each under a key that tells its content."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from infra.account import Account


class ArtefactStore:
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
