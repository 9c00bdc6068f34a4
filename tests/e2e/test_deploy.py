"""Deploying again: what is the same stays, what changed changes, and what was made can be taken away."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from infra import local, rotate_keys, signing_keys
from infra.deploy import deploy, destroy
from infra.package import ROOT, Package, package
from infra.stack import DeployError
from tests.e2e.cloud import PrivateCloud, Tenant, private_cloud
from tests.e2e.site import Site


def again(cloud: PrivateCloud, **parameters: str) -> list[str]:
    """Deploy once more what is deployed, with other parameters; what was said."""
    said: list[str] = []
    made = Path(cloud.cloud.folder)
    package = Package(made / "package" / "sam.json", made / "package" / "deployment.zip")
    deploy(local.STAGE, package, made / "layer.zip", parameters, cloud.cloud.account, said.append)
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


def test_a_stack_is_updated_in_place_and_can_be_taken_away(tmp_path: Path, site: Site) -> None:
    settings = {
        "KB_FETCH_CONTACT": "https://example.com/bot",
        "KB_ALLOW_PRIVATE_NETWORKS": "true",
        "KB_ALLOWED_PORTS": str(site.port),
    }
    with private_cloud(tmp_path, settings=settings, tick=False) as cloud:
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
        again(cloud, **{f"{name.capitalize()}DatabaseUrl": keep(cloud, name) for name in ("app", "worker", "owner")})
        for function in ("APIHandler", "Tick", "Worker", "Ops"):
            assert environment(cloud, function)["DATABASE_URL"].startswith("arn:aws:secretsmanager:")
        cloud.learn(cloud.tenant("by secret"), site.publish("/pears", "Pears are picked before they are ripe."))

        again(cloud, LarderTracing="true", AlarmTopicArn="arn:aws:sns:us-east-1:000000000000:night-shift")
        worker = cloud.client("lambda").get_function_configuration(FunctionName=cloud.outputs["WorkerName"])
        assert worker["TracingConfig"] == {"Mode": "Active"}
        (missed,) = [a for a in alarms(cloud) if a["MetricName"] == "TicksDone"]
        assert missed["AlarmActions"] == ["arn:aws:sns:us-east-1:000000000000:night-shift"]
        assert missed["ActionsEnabled"] is False, "its schedule is off here"
        cloud.learn(cloud.tenant("traced"), site.publish("/figs", "Figs are dried on straw."))

        account, said = cloud.cloud.account, list[str]()
        destroy(local.STAGE, account, said.append)
        assert cloud.client("lambda").list_functions()["Functions"] == []
        assert cloud.client("sqs").list_queues().get("QueueUrls", []) == []
        assert alarms(cloud) == []
        destroy(local.STAGE, account, said.append)
        assert said[-1] == "there is no stack larder-local"


def test_an_upgrade_brings_the_schema_before_the_code_that_needs_it(tmp_path: Path) -> None:
    app = tmp_path / "app"
    shutil.copytree(ROOT / "chalicelib", app / "chalicelib")
    shutil.copy(ROOT / "app.py", app)
    migrations = app / "chalicelib" / "storage" / "migrations"
    number = len(list(migrations.glob("*.sql"))) + 1
    with private_cloud(tmp_path / "cloud", tick=False) as cloud:
        migration = migrations / f"{number:04}_shelf.sql"
        migration.write_text("create table shelves (id integer primary key);")
        said: list[str] = []
        newer = package(tmp_path / "newer", app)
        layer = Path(cloud.cloud.folder) / "layer.zip"
        deploy(local.STAGE, newer, layer, {}, cloud.cloud.account, said.append)
        migrated = said.index(f"  {migration.stem}")
        assert migrated < next(place for place, line in enumerate(said) if line.startswith("larder-local UPDATE"))
        with cloud.connect() as connection:
            assert connection.execute("select count(*) from shelves").fetchone() == (0,)

        assert f"  the database has migrations that this code lacks: [{number}]" in again(cloud), "and back again"
        deploy(local.STAGE, newer, layer, {}, cloud.cloud.account, said.append)

        (migrations / f"{number + 1:04}_broken.sql").write_text("create table shelves (id integer primary key);")
        before = environment(cloud, "Worker")
        with pytest.raises(DeployError, match="shelves"):
            deploy(
                local.STAGE,
                package(tmp_path / "broken", app),
                layer,
                {"KbRespectRobots": "true"},
                cloud.cloud.account,
                said.append,
            )
        assert environment(cloud, "Worker") == before, "a failed migration leaves the stack alone"
        assert cloud.tenant().get("/v1/kb/status").status_code == 200
