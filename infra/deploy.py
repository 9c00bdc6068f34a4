"""Brings a package into an account: artefacts to S3, the template to CloudFormation, the schema to Postgres.

The same steps serve AWS and the local cloud; the command takes the one that ``AWS_ENDPOINT_URL`` names, if it is set.
Nothing is deployed twice: artefacts are named by what is in them, and a change set without a change ends there.

    python -m infra.deploy STAGE [--region REGION] [--parameters FILE] [--destroy]
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from infra import database_ca, layer_architecture, signing_keys, thin_layer, upgrade
from infra.account import Account
from infra.artefacts import ArtefactStore
from infra.model import ModelError
from infra.package import ROOT, SETTINGS, Package, parameter_name
from infra.stack import DeployError, FunctionFailed, Stack

_KEYS = parameter_name("LARDER_KEYS")
_OUTGROWN = {"LARDER_LEASE_SECONDS": "150"}
"""Defaults of before that no longer do: a stack keeps them as if somebody had chosen them."""


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
            raise FunctionFailed(f"{name} failed: {json.dumps(payload)[:2000]}")
        return payload


def deploy(
    stage: str,
    package: Package,
    layer: Path,
    parameters: Mapping[str, str],
    account: Account,
    say: Callable[[str], None] = print,
) -> Deployment:
    """Create or update the stack of ``stage`` and wait for it; migrate the database, ahead of an update.

    ``parameters`` are the template's; one that is not given keeps the value it had in the stack, or its default.
    Raises DeployError.
    """
    store = ArtefactStore(account)
    wanted = {
        "ArtefactBucket": store.bucket,
        "CodeKey": store.put("code", package.code),
        "LayerKey": store.put("layer", layer),
        "Emulated": str(account.emulated).lower(),
        **parameters,
    }
    template = store.put("template", package.template)
    stack = Stack(account, f"larder-{stage}", say)
    standing = stack.parameters()
    wanted = _grown(standing) | wanted | database_ca.parameters(layer, wanted, standing)
    layer_architecture.require(layer, wanted, standing)
    if not (wanted.get(_KEYS) or standing.get(_KEYS)):
        wanted[_KEYS] = signing_keys.ensure(account, stack.name)
    if outputs := stack.outputs():
        upgrade.migrate_ahead(Deployment(account, outputs), stack, wanted, say)
    deployment = Deployment(account, stack.change_to(store.url(template), wanted))
    upgrade.migrate(deployment, say)
    return deployment


def _grown(standing: Mapping[str, str]) -> dict[str, str]:
    """Today's default for each parameter whose value is an outgrown one."""
    old = {parameter_name(name): (SETTINGS[name], value) for name, value in _OUTGROWN.items()}
    return {name: now.default or "" for name, (now, value) in old.items() if standing.get(name) == value}


def destroy(stage: str, account: Account, say: Callable[[str], None] = print) -> None:
    """Delete the stack of ``stage``. The database and the artefacts' bucket are not the stack's and stay."""
    Stack(account, f"larder-{stage}", say).delete()


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m infra.deploy", description="Deploy Larder to AWS.")
    parser.add_argument("stage", type=_stage_name)
    parser.add_argument("--region", default=boto3.Session().region_name or "us-east-1")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="what `make package` made (%(default)s)")
    parser.add_argument("--parameters", type=Path, help="JSON file: the template's parameters by name")
    parser.add_argument("--destroy", action="store_true", help="delete the stack instead")
    chosen = parser.parse_args(arguments)
    account = Account.of_environment(chosen.region)
    try:
        if chosen.destroy:
            destroy(chosen.stage, account)
            return 0
        parameters = read_parameters(chosen.parameters) if chosen.parameters else {}
        built = Package(chosen.build / "sam.json", chosen.build / "deployment.zip")
        layer = chosen.build / "layer.zip"
        if account.emulated:
            layer, own = thin_layer.ready(chosen.build)
            parameters = own | parameters
        deployment = deploy(chosen.stage, built, layer, parameters, account)
    except (DeployError, ModelError, BotoCoreError, ClientError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    for name, value in sorted(deployment.outputs.items()):
        print(f"{name}: {value}")
    print(f"deployed: {deployment.url}")
    return 0


def read_parameters(file: Path) -> dict[str, str]:
    """The template's parameters in a file of an operator's. Raises DeployError, OSError."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:  # no JSON, or no UTF-8
        raise DeployError(f"{file}: {error}") from None
    if not isinstance(found, dict):
        raise DeployError(f'{file}: an object of names and texts is wanted, such as {{"WorkerConcurrency": "20"}}')
    if wrong := sorted(name for name, value in found.items() if not isinstance(value, str)):
        raise DeployError(f"{file}: each value is a text, in quotes; not so: {', '.join(wrong)}")
    return found


def _stage_name(text: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,19}", text):
        raise argparse.ArgumentTypeError("a stage is a lower-case word of at most 20 characters")
    return text


if __name__ == "__main__":
    sys.exit(main())
