"""The `larder` command, a client of the HTTP API."""
