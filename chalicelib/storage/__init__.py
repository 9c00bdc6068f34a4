"""Postgres: connection, named SQL, migrations, one module a noun."""
