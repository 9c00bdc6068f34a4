"""The secret that holds a stage's keys for proofs, chain heads and seals.

It outlives the stack, since old proofs must verify.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from botocore.exceptions import ClientError

from chalicelib import keys
from infra.account import Account


def ensure(account: Account, stack: str) -> str:
    """The ARN of the secret ``<stack>/keys``, made with one new key if there is none. An existing one is left alone."""
    client = account.secrets()
    name = f"{stack}/keys"  # the functions' policies allow what is named after their stack, and nothing else
    try:
        return client.describe_secret(SecretId=name)["ARN"]
    except ClientError as error:
        if error.response["Error"]["Code"] != "ResourceNotFoundException":
            raise
    with tempfile.TemporaryDirectory(prefix="larder-keys-") as scratch:
        file = Path(scratch) / "keys.json"
        keys.make_file(file)
        description = "Larder's keys for proofs, chain heads and seals, oldest first"
        return client.create_secret(Name=name, Description=description, SecretString=file.read_text())["ARN"]
