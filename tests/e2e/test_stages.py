"""Stages of one account: each has what it needs for itself, and none gets in another's way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from infra import local, postgres, rotate_keys
from infra.alarms import FUNCTIONS
from infra.deploy import deploy, destroy, main
from infra.package import Package
from infra.stack import Stack
from tests.e2e.cloud import PrivateCloud, private_cloud
from tests.e2e.site import Site


def silent(_: str) -> None:
    """Say nothing."""


@pytest.fixture
def first(tmp_path: Path, site: Site) -> Iterator[PrivateCloud]:
    settings = {"KB_ALLOW_PRIVATE_NETWORKS": "true", "KB_ALLOWED_PORTS": str(site.port)}
    with private_cloud(tmp_path, settings=settings, tick=False) as cloud:
        yield cloud


def package_of(cloud: PrivateCloud) -> Package:
    made = Path(cloud.cloud.folder) / "package"
    return Package(made / "sam.json", made / "deployment.zip")


def layer_of(cloud: PrivateCloud) -> Path:
    return Path(cloud.cloud.folder) / "layer.zip"


def another(cloud: PrivateCloud, stage: str) -> PrivateCloud:
    """The same once more in the same account, with a database of its own."""
    account, server = cloud.cloud.account, cloud.cloud.postgres
    assert server is not None
    postgres.create_database(server, stage)
    same = Stack(account, f"larder-{local.STAGE}", silent).parameters()
    roles = {"AppDatabaseUrl": postgres.APP, "WorkerDatabaseUrl": postgres.WORKER, "OwnerDatabaseUrl": postgres.OWNER}
    parameters = {**same, **{name: server.url(role, stage) for name, role in roles.items()}}
    made = deploy(stage, package_of(cloud), layer_of(cloud), parameters, account, silent)
    return PrivateCloud(replace(cloud.cloud, outputs=dict(made.outputs)))


def callers(cloud: PrivateCloud) -> dict[str, str]:
    """Which queue calls which function, in the whole account."""
    mappings = cloud.client("lambda").list_event_source_mappings()["EventSourceMappings"]
    return {one["FunctionArn"].rpartition(":")[2]: one["EventSourceArn"].rpartition(":")[2] for one in mappings}


def queues(cloud: PrivateCloud) -> set[str]:
    return {url.rpartition("/")[2] for url in cloud.client("sqs").list_queues()["QueueUrls"]}


def test_two_stages_share_an_account_and_no_work(first: PrivateCloud, site: Site) -> None:
    second = another(first, "second")
    assert callers(first) == {
        first.outputs["WorkerName"]: "larder-local-refresh",
        second.outputs["WorkerName"]: "larder-second-refresh",
    }
    for number, stage in enumerate((first, second)):
        stage.learn(stage.tenant(), site.publish(f"/{number}", f"Shelf {number} is emptied every spring."))
        assert stage.queued() == 0

    destroy("second", first.cloud.account, silent)
    assert queues(first) == {"larder-local-refresh", "larder-local-refresh-dead"}
    left = {one["FunctionName"].rpartition("-")[0] for one in first.client("lambda").list_functions()["Functions"]}
    assert left == {f"larder-{local.STAGE}-{name}" for name in FUNCTIONS}
    first.learn(first.tenant(), site.publish("/after", "The cellar is aired in May."))


def test_the_command_goes_to_the_emulator_that_the_environment_names(
    first: PrivateCloud, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server, endpoint = first.cloud.postgres, first.cloud.endpoint_url
    assert server is not None
    assert endpoint is not None
    postgres.create_database(server, "second")
    roles = {"AppDatabaseUrl": postgres.APP, "WorkerDatabaseUrl": postgres.WORKER, "OwnerDatabaseUrl": postgres.OWNER}
    parameters = {name: server.url(role, "second") for name, role in roles.items()}
    parameters |= {"KbAllowPrivateNetworks": "true", "KbAllowedPorts": str(site.port), "TickState": "DISABLED"}
    (tmp_path / "second.json").write_text(json.dumps(parameters))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint + "/")

    built = str(package_of(first).template.parent)
    assert main(["second", "--build", built, "--parameters", str(tmp_path / "second.json")]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith(f"deployed: {endpoint}/_aws/")
    outputs = Stack(first.cloud.account, "larder-second", silent).outputs()
    second = PrivateCloud(replace(first.cloud, outputs=outputs))
    second.learn(second.tenant(), site.publish("/", "Quinces are cooked in October."))

    assert rotate_keys.main(["second", "add"]) == rotate_keys.main(["second", "use", "2"]) == 0
    assert main(["second", "--destroy"]) == 0
    assert Stack(first.cloud.account, "larder-second", silent).outputs() == {}


def test_a_stack_from_before_gets_queues_of_its_own_and_a_lease_that_is_long_enough(
    first: PrivateCloud, site: Site, tmp_path: Path
) -> None:
    template = json.loads(package_of(first).template.read_text())
    template["Resources"]["RefreshQueue"]["Properties"]["QueueName"] = "larder-refresh"
    template["Resources"]["RefreshDeadLetters"]["Properties"]["QueueName"] = "larder-refresh-dead"
    (tmp_path / "older.json").write_text(json.dumps(template))
    account, package = first.cloud.account, package_of(first)
    older = {"LarderLeaseSeconds": "150"}  # the default of then
    deploy(local.STAGE, replace(package, template=tmp_path / "older.json"), layer_of(first), older, account, silent)
    assert queues(first) == {"larder-refresh", "larder-refresh-dead"}

    made = deploy(local.STAGE, package, layer_of(first), {}, account, silent)
    assert queues(first) == {"larder-local-refresh", "larder-local-refresh-dead"}
    assert set(callers(first).values()) == {"larder-local-refresh"}
    assert Stack(account, f"larder-{local.STAGE}", silent).parameters()["LarderLeaseSeconds"] == "450"
    updated = PrivateCloud(replace(first.cloud, outputs=dict(made.outputs)))
    updated.learn(updated.tenant(), site.publish("/", "Plums keep for a year."))
