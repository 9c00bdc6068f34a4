"""One HTTP client for Larder's API."""

from __future__ import annotations

from chalicelib.client.api import Client
from chalicelib.client.problem import ApiProblem, ClientError, Unreachable

__all__ = ["ApiProblem", "Client", "ClientError", "Unreachable"]
