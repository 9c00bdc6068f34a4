"""Stages of one account: each has what it needs for itself, and none gets in another's way."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from infra import local, postgres, rotate_keys
from infra.alarms import FUNCTIONS
from infra.deploy import deploy, main
from infra.stack import Stack
from tests.e2e.cloud import PrivateCloud, packaged, private_cloud
from tests.e2e.site import Site

SECOND = "second"


def silent(_: str) -> None:
    """Say nothing."""


@pytest.fixture(scope="module")
def first(shared_site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateCloud]:
    """The stage that each test finds and leaves as the account's only one."""
    settings = {"KB_ALLOW_PRIVATE_NETWORKS": "true", "KB_ALLOWED_PORTS": str(shared_site.port)}
    with private_cloud(tmp_path_factory.mktemp("stages"), settings=settings, tick=False) as cloud:
        yield cloud


def parameters_of(cloud: PrivateCloud, site: Site) -> dict[str, str]:
    """What an operator writes down for a second stage in the same account, with a database of its own."""
    server = cloud.cloud.postgres
    assert server is not None
    postgres.create_database(server, SECOND)
    roles = {"AppDatabaseUrl": postgres.APP, "WorkerDatabaseUrl": postgres.WORKER, "OwnerDatabaseUrl": postgres.OWNER}
    parameters = {name: server.url(role, SECOND) for name, role in roles.items()}
    return {**parameters, "KbAllowPrivateNetworks": "true", "KbAllowedPorts": str(site.port), "TickState": "DISABLED"}


def callers(cloud: PrivateCloud) -> dict[str, str]:
    """Which queue calls which function, in the whole account."""
    mappings = cloud.client("lambda").list_event_source_mappings()["EventSourceMappings"]
    return {one["FunctionArn"].rpartition(":")[2]: one["EventSourceArn"].rpartition(":")[2] for one in mappings}


def queues(cloud: PrivateCloud) -> set[str]:
    return {url.rpartition("/")[2] for url in cloud.client("sqs").list_queues()["QueueUrls"]}


def test_two_stages_share_an_account_and_no_work_by_the_command_and_the_emulator_that_the_environment_names(
    first: PrivateCloud, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint = first.cloud.endpoint_url
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint + "/")

    file = tmp_path / "second.json"
    file.write_text(json.dumps(parameters_of(first, site)))
    built = shutil.copytree(packaged().template.parent, tmp_path / "build")  # the command writes its layer there
    assert main([SECOND, "--build", str(built), "--parameters", str(file)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith(f"deployed: {endpoint}/_aws/")
    outputs = Stack(first.cloud.account, "larder-second", silent).outputs()
    second = PrivateCloud(replace(first.cloud, outputs=outputs))
    assert callers(first) == {
        first.outputs["WorkerName"]: "larder-local-refresh",
        second.outputs["WorkerName"]: "larder-second-refresh",
    }
    for number, stage in enumerate((first, second)):
        stage.learn(stage.tenant(), site.publish(f"/{number}", f"Shelf {number} is emptied every spring."))
        assert stage.queued() == 0

    assert rotate_keys.main([SECOND, "add"]) == rotate_keys.main([SECOND, "use", "2"]) == 0
    assert main([SECOND, "--destroy"]) == 0
    assert Stack(first.cloud.account, "larder-second", silent).outputs() == {}
    assert queues(first) == {"larder-local-refresh", "larder-local-refresh-dead"}
    left = {one["FunctionName"].rpartition("-")[0] for one in first.client("lambda").list_functions()["Functions"]}
    assert left == {f"larder-{local.STAGE}-{name}" for name in FUNCTIONS}
    first.learn(first.tenant(), site.publish("/after", "The cellar is aired in May."))


def test_a_stack_from_before_gets_queues_of_its_own_and_a_lease_that_is_long_enough(
    first: PrivateCloud, site: Site, tmp_path: Path
) -> None:
    template = json.loads(packaged().template.read_text())
    template["Resources"]["RefreshQueue"]["Properties"]["QueueName"] = "larder-refresh"
    template["Resources"]["RefreshDeadLetters"]["Properties"]["QueueName"] = "larder-refresh-dead"
    (tmp_path / "older.json").write_text(json.dumps(template))
    account, package, layer = first.cloud.account, packaged(), Path(first.cloud.folder) / "layer.zip"
    older = {"LarderLeaseSeconds": "150"}  # the default of then
    deploy(local.STAGE, replace(package, template=tmp_path / "older.json"), layer, older, account, silent)
    assert queues(first) == {"larder-refresh", "larder-refresh-dead"}

    made = deploy(local.STAGE, package, layer, {}, account, silent)
    assert queues(first) == {"larder-local-refresh", "larder-local-refresh-dead"}
    assert set(callers(first).values()) == {"larder-local-refresh"}
    assert Stack(account, f"larder-{local.STAGE}", silent).parameters()["LarderLeaseSeconds"] == "450"
    updated = PrivateCloud(replace(first.cloud, outputs=dict(made.outputs)))
    updated.learn(updated.tenant(), site.publish("/", "Plums keep for a year."))
