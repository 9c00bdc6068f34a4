"""A function's database may be named by the ARN of a secret or parameter, which each connection reads anew."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import boto3
import psycopg
import pytest
from moto import mock_aws
from psycopg.conninfo import conninfo_to_dict

from chalicelib.storage import migrate
from chalicelib.storage.connection import Database
from chalicelib.storage.database_url import UrlUnreadable, resolve
from tests.postgres import TestServer

SECRET = "p4ss-word-of-nobody"


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        yield boto3


def secret(aws: Any, text: str) -> str:
    return str(aws.client("secretsmanager").create_secret(Name="larder-dev/database/app", SecretString=text)["ARN"])


def answers(database: Database) -> bool:
    with database.transaction() as tx:
        return bool(tx.value("doctor.version"))


def test_a_url_on_this_machine_is_itself_and_any_other_is_encrypted() -> None:
    url = "postgresql://larder_app@127.0.0.1/larder"
    assert resolve(url) == url
    assert conninfo_to_dict(resolve("postgresql://larder_app@db/larder"))["sslmode"] == "require"


def test_a_url_that_is_none_is_an_unreachable_database_and_tells_nothing() -> None:
    with pytest.raises(UrlUnreadable) as caught:
        resolve(f"postgresql://app:{SECRET}@db/larder?no_such_option={SECRET}")
    assert SECRET not in f"{caught.value!r} {caught.value.__cause__!r}"


def test_the_arn_of_a_secret_leads_to_the_database(aws: Any, server: TestServer, database: str) -> None:
    arn = secret(aws, server.url(database, "larder_app") + "\n")
    assert answers(Database(arn))
    assert migrate.pending(arn) == []


def test_the_arn_of_an_encrypted_parameter_leads_to_the_database(aws: Any, server: TestServer, database: str) -> None:
    systems_manager = aws.client("ssm")
    name = "/larder-dev/database/app"
    systems_manager.put_parameter(Name=name, Type="SecureString", Value=server.url(database, "larder_app"))
    arn = systems_manager.get_parameter(Name=name)["Parameter"]["ARN"]
    assert answers(Database(arn))


def test_the_next_connection_finds_what_was_rotated(aws: Any, server: TestServer, database: str) -> None:
    arn = secret(aws, server.url(database, "nobody_is_called_so"))
    rotated = Database(arn)
    with pytest.raises(psycopg.OperationalError):
        answers(rotated)
    aws.client("secretsmanager").put_secret_value(SecretId=arn, SecretString=server.url(database, "larder_app"))
    assert answers(rotated)
    aws.client("secretsmanager").delete_secret(SecretId=arn, ForceDeleteWithoutRecovery=True)
    assert answers(rotated), "a connection that is there needs no secret"


def test_what_rds_keeps_is_a_way_to_connect(aws: Any) -> None:
    kept = {"engine": "postgres", "username": "app", "password": "a' b\\", "host": "db.example.com", "dbname": "larder"}
    found = conninfo_to_dict(resolve(secret(aws, json.dumps(kept))))
    assert found == {
        "user": "app",
        "password": "a' b\\",
        "host": "db.example.com",
        "dbname": "larder",
        "port": "5432",
        "sslmode": "require",
    }


@pytest.mark.parametrize("text", ["{", "{}", json.dumps({"username": "app", "password": SECRET}), '{"a": [1]}'])
def test_a_secret_that_is_neither_is_an_unreachable_database_and_tells_nothing(aws: Any, text: str) -> None:
    with pytest.raises(UrlUnreadable) as caught:
        resolve(secret(aws, text))
    assert SECRET not in f"{caught.value!r} {caught.value.__cause__!r}"


@pytest.mark.parametrize("service", ["secretsmanager", "ssm"])
def test_a_secret_that_is_not_there_is_an_unreachable_database(aws: Any, service: str) -> None:
    kind = "secret:" if service == "secretsmanager" else "parameter/"
    arn = f"arn:aws:{service}:us-east-1:123456789012:{kind}larder-dev/database/none"
    with pytest.raises(psycopg.OperationalError, match="can't be read") as caught:
        answers(Database(arn))
    assert caught.value.__cause__ is None
