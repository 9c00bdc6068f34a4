"""Deploying again: what is the same stays, what changed changes, and what was made can be taken away.

One cloud for both tests: the first ends on the code that it began with, the last takes the stack away.
"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from infra import local, rotate_keys, signing_keys
from infra.deploy import deploy, destroy
from infra.package import ROOT, Package
from infra.stack import DeployError
from tests.e2e.cloud import PrivateCloud, Tenant, packaged, private_cloud
from tests.e2e.site import Site


@pytest.fixture(scope="module")
def cloud(shared_site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateCloud]:
    settings = {
        "KB_FETCH_CONTACT": "https://example.com/bot",
        "KB_ALLOW_PRIVATE_NETWORKS": "true",
        "KB_ALLOWED_PORTS": str(shared_site.port),
    }
    with private_cloud(tmp_path_factory.mktemp("deploy"), settings=settings, tick=False) as cloud:
        yield cloud


def again(cloud: PrivateCloud, **parameters: str) -> list[str]:
    """Deploy once more what is deployed, with other parameters; what was said."""
    return deployed(cloud, packaged(), **parameters)


def deployed(cloud: PrivateCloud, package: Package, **parameters: str) -> list[str]:
    """Deploy ``package`` to the stack; what was said."""
    said: list[str] = []
    deploy(local.STAGE, package, Path(cloud.cloud.folder) / "layer.zip", parameters, cloud.cloud.account, said.append)
    return said


def environment(cloud: PrivateCloud, function: str) -> dict[str, Any]:
    found = cloud.client("lambda").get_function_configuration(FunctionName=cloud.outputs[f"{function}Name"])
    return dict(found["Environment"]["Variables"])


def keep(cloud: PrivateCloud, role: str) -> str:
    """Put the URL of a role of the database into the stack's secret for it; the secret's ARN."""
    made = cloud.cloud.account.secrets().create_secret(
        Name=f"larder-local/database/{role}", SecretString=cloud.cloud.database_url(f"larder_{role}")
    )
    return made["ARN"]


def alarms(cloud: PrivateCloud) -> list[dict[str, Any]]:
    return list(cloud.client("cloudwatch").describe_alarms(MaxRecords=100)["MetricAlarms"])


def proof(tenant: Tenant) -> dict[str, Any]:
    (hit,) = tenant.post("/v1/kb/search", {"query": "how long do plums keep"}).json()["hits"]
    return dict(hit["proof"])


def test_an_upgrade_brings_the_schema_before_the_code_that_needs_it(cloud: PrivateCloud, tmp_path: Path) -> None:
    number = len(list((ROOT / "chalicelib" / "storage" / "migrations").glob("*.sql"))) + 1
    newer = with_migration(packaged(), f"{number:04}_shelf", tmp_path / "newer.zip")
    said = deployed(cloud, newer)
    migrated = said.index(f"  {number:04}_shelf")
    assert migrated < next(place for place, line in enumerate(said) if line.startswith("larder-local UPDATE"))
    with cloud.connect() as connection:
        assert connection.execute("select count(*) from shelves").fetchone() == (0,)

    broken = with_migration(newer, f"{number + 1:04}_broken", tmp_path / "broken.zip")
    before = environment(cloud, "Worker")
    with pytest.raises(DeployError, match="shelves"):
        deployed(cloud, broken, KbRespectRobots="true")
    assert environment(cloud, "Worker") == before, "a failed migration leaves the stack alone"
    assert cloud.tenant().get("/v1/kb/status").status_code == 200

    assert f"  the database has migrations that this code lacks: [{number}]" in again(cloud), "and back again"
    assert cloud.tenant().get("/v1/kb/status").status_code == 200


def with_migration(package: Package, name: str, code: Path) -> Package:
    """The same with one more migration, which fails the second time, in the archive ``code``."""
    shutil.copyfile(package.code, code)
    with zipfile.ZipFile(code, "a") as archive:
        migration = "create table shelves (id integer primary key);"
        archive.writestr(f"chalicelib/storage/migrations/{name}.sql", migration)
    return replace(package, code=code)


def test_a_stack_is_updated_in_place_and_can_be_taken_away(cloud: PrivateCloud, site: Site) -> None:
    before = environment(cloud, "Worker")
    assert before["KB_FETCH_CONTACT"] == "https://example.com/bot"

    assert "larder-local is up to date" in again(cloud)
    assert environment(cloud, "Worker") == before

    again(cloud, KbRespectRobots="true")
    assert environment(cloud, "Worker") == before | {"KB_RESPECT_ROBOTS": "true"}

    with pytest.raises(DeployError, match="no parameter NoSuchThing"):
        again(cloud, NoSuchThing="1")
    with pytest.raises(Exception, match="TickState"):
        again(cloud, TickState="SOMETIMES")
    assert environment(cloud, "Worker") == before | {"KB_RESPECT_ROBOTS": "true"}

    # On AWS the keys are a secret that the deployment makes once; the function's own role reads it.
    keys = signing_keys.ensure(cloud.cloud.account, "larder-local")
    assert signing_keys.ensure(cloud.cloud.account, "larder-local") == keys
    again(cloud, LarderKeys=keys)
    assert environment(cloud, "APIHandler")["LARDER_KEYS"] == keys
    tenant = cloud.tenant()
    cloud.learn(tenant, site.publish("/", "Plums keep for a year."))
    (hit,) = tenant.post("/v1/kb/search", {"query": "how long do plums keep"}).json()["hits"]
    assert hit["proof"]["key_id"] == "1"

    new = rotate_keys.add(cloud.cloud.account, local.STAGE)
    assert proof(tenant)["key_id"] == "1"
    rotate_keys.use(cloud.cloud.account, local.STAGE, new)
    assert proof(tenant)["key_id"] == new == "2"
    old = tenant.post("/v1/memory/firewall/proofs/verify", hit["proof"])
    assert old.json()["valid"], old.text
    with pytest.raises(DeployError, match="there are 1, 2"):
        rotate_keys.use(cloud.cloud.account, local.STAGE, "9")

    # The database's URLs are secrets too, and no longer in any function's environment.
    secrets = {f"{name.capitalize()}DatabaseUrl": keep(cloud, name) for name in ("app", "worker", "owner")}
    again(cloud, **secrets, LarderTracing="true", AlarmTopicArn="arn:aws:sns:us-east-1:000000000000:night-shift")
    for function in ("APIHandler", "Tick", "Worker", "Ops"):
        assert environment(cloud, function)["DATABASE_URL"].startswith("arn:aws:secretsmanager:")

    worker = cloud.client("lambda").get_function_configuration(FunctionName=cloud.outputs["WorkerName"])
    assert worker["TracingConfig"] == {"Mode": "Active"}
    (missed,) = [a for a in alarms(cloud) if a["MetricName"] == "TicksDone"]
    assert missed["AlarmActions"] == ["arn:aws:sns:us-east-1:000000000000:night-shift"]
    assert missed["ActionsEnabled"] is False, "its schedule is off here"
    cloud.learn(cloud.tenant("by secret, traced"), site.publish("/figs", "Figs are dried on straw."))

    account, said = cloud.cloud.account, list[str]()
    destroy(local.STAGE, account, said.append)
    assert cloud.client("lambda").list_functions()["Functions"] == []
    assert cloud.client("sqs").list_queues().get("QueueUrls", []) == []
    assert alarms(cloud) == []
    destroy(local.STAGE, account, said.append)
    assert said[-1] == "there is no stack larder-local"
