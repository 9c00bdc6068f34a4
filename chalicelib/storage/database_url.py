"""Where Postgres is: a URL, or the ARN of the secret or parameter that holds one, read anew for each connection.

So a password that was rotated is found by the next connection, and none stands in a function's environment.
"""

from __future__ import annotations

import json

import psycopg
from psycopg.conninfo import make_conninfo

from chalicelib.storage.database_tls import ENCRYPTED, Tls, protect


class UrlUnreadable(psycopg.OperationalError):
    """What the ARN leads to can't be read, or is no URL. The database can't be reached, so it is that kind of error."""


def resolve(location: str, tls: Tls = ENCRYPTED) -> str:
    """What to connect to, protected as ``tls`` says.

    A secret may also be JSON as RDS keeps it: username, password, host, port, dbname.
    Raises UrlUnreadable or NotProtected, which tell nothing of the secret.
    """
    text = _read(location).strip() if location.startswith("arn:") else location
    try:
        return protect(_from_rds(text) if text.startswith("{") else text, tls)
    except psycopg.ProgrammingError:
        raise UrlUnreadable("the database's URL is none") from None


def _read(arn: str) -> str:
    from aws_lambda_powertools.utilities import parameters
    from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError

    try:
        if arn.split(":")[2] == "ssm":
            return str(parameters.get_parameter(arn, decrypt=True, force_fetch=True))
        return str(parameters.get_secret(arn, force_fetch=True))
    except GetParameterError:
        raise UrlUnreadable("the database's URL can't be read from where it is kept") from None


def _from_rds(text: str) -> str:
    try:
        kept = json.loads(text)
        return make_conninfo(
            host=kept["host"],
            port=kept.get("port", 5432),
            dbname=kept["dbname"],
            user=kept["username"],
            password=kept["password"],
        )
    except (ValueError, KeyError, TypeError, psycopg.Error):
        raise UrlUnreadable("the secret holds neither a URL nor what RDS keeps") from None
