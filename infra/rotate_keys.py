"""Rotates a stage's keys for proofs, chain heads and seals, in two steps, so that no function meets an unknown key.

    python -m infra.rotate_keys STAGE add        a new key that every function can check with, and none signs with
    python -m infra.rotate_keys STAGE use ID     from now on it signs; older ones go on to verify and to open

Functions read the list once: each step ends with new ones in the place of those that run.
"""

from __future__ import annotations

import argparse
import base64
import json
import secrets
import sys
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.keys import KEY_BYTES
from infra.account import Account
from infra.stack import DeployError, Stack

_FUNCTIONS = ("APIHandlerName", "TickName", "WorkerName", "OpsName")


def add(account: Account, stage: str) -> str:
    """Put a new key before the one that signs; its id. Raises DeployError, ClientError."""
    keys = _read(account, stage)
    known = {key["id"] for key in keys}
    new = next(str(number) for number in range(len(keys) + 1, 2 * len(keys) + 2) if str(number) not in known)
    secret = base64.urlsafe_b64encode(secrets.token_bytes(KEY_BYTES)).decode()
    _write(account, stage, [*keys[:-1], {"id": new, "secret": secret}, keys[-1]])
    return new


def use(account: Account, stage: str, key_id: str) -> None:
    """Let the key of that id sign. Raises DeployError if there is none, ClientError."""
    keys = _read(account, stage)
    chosen = [key for key in keys if key["id"] == key_id]
    if not chosen:
        raise DeployError(f"there is no key {key_id}; there are {', '.join(key['id'] for key in keys)}")
    _write(account, stage, [key for key in keys if key["id"] != key_id] + chosen)


def _read(account: Account, stage: str) -> list[dict[str, Any]]:
    kept = account.secrets().get_secret_value(SecretId=f"larder-{stage}/keys")["SecretString"]
    return list(json.loads(kept)["keys"])


def _write(account: Account, stage: str, keys: list[dict[str, Any]]) -> None:
    account.secrets().put_secret_value(SecretId=f"larder-{stage}/keys", SecretString=json.dumps({"keys": keys}))
    outputs = Stack(account, f"larder-{stage}", print).outputs()
    _renew(account, [outputs[name] for name in _FUNCTIONS], " ".join(key["id"] for key in keys))


def _renew(account: Account, names: list[str], marker: str) -> None:
    """A changed environment ends every running copy of a function; nothing reads the marker in it."""
    functions = account.functions()
    for name in names:
        variables = functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
        functions.update_function_configuration(
            FunctionName=name, Environment={"Variables": {**variables, "KEYS_KNOWN": marker}}
        )
    for name in names:
        functions.get_waiter("function_updated_v2").wait(FunctionName=name)


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m infra.rotate_keys", description="Rotate a stage's keys.")
    parser.add_argument("stage")
    steps = parser.add_subparsers(dest="step", required=True)
    steps.add_parser("add", help="a new key that checks and does not sign yet")
    steps.add_parser("use", help="let a key sign").add_argument("id")
    parser.add_argument("--region", default=boto3.Session().region_name or "us-east-1")
    chosen = parser.parse_args(arguments)
    account = Account.of_environment(chosen.region)
    try:
        if chosen.step == "add":
            print(f"key {add(account, chosen.stage)} is known: let it sign with `use`")
        else:
            use(account, chosen.stage, chosen.id)
            print(f"key {chosen.id} signs")
    except (DeployError, BotoCoreError, ClientError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
