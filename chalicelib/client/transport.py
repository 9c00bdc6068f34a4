"""Requests to one deployment, and answers as JSON or as an error."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import requests
from requests.auth import AuthBase

from chalicelib.client.problem import ApiProblem, Unreachable

CONNECT_SECONDS, READ_SECONDS = 5.0, 35.0
"""A gateway ends a request after 30 seconds at most, so its own answer arrives in time."""


class Bearer(AuthBase):
    """The API token. Without an explicit one, requests would put a netrc entry of that host in its place."""

    def __init__(self, token: str | None) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Add the header, if there is a token."""
        if self._token:
            request.headers["Authorization"] = f"Bearer {self._token}"
        return request


class Transport:
    """One deployment, and who asks it. Not to be shared between threads."""

    def __init__(
        self, base_url: str, token: str | None, admin_token: str | None, *, patience_seconds: float = 0.0
    ) -> None:
        """``patience_seconds``: so long, altogether, a request waits when told to come back later (429).

        Raises ValueError if ``base_url`` is no http or https URL, or a token can't stand in a header.
        """
        if not base_url.startswith(("http://", "https://")):
            raise ValueError("the base URL must start with http:// or https://")
        if not all(text.isascii() and text.isprintable() for text in (token or "", admin_token or "")):
            raise ValueError("a token has printable ASCII characters only")
        self.base_url = base_url.rstrip("/")
        self.session = requests.Session()
        self.session.auth = Bearer(token)
        self._admin_token = admin_token
        self._patience_seconds = patience_seconds

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        as_admin: bool = False,
    ) -> Any:
        """The answer's JSON. Raises ApiProblem or Unreachable.

        Query parameters that are None are left out. Nothing is sent twice, but for a 429 whose Retry-After fits the
        patience: that one changed nothing.
        """
        patience = self._patience_seconds
        while True:
            try:
                return _json(self._send(method, path, query, body, headers, as_admin))
            except ApiProblem as problem:
                wait = problem.retry_after
                if problem.status != 429 or wait is None or wait > patience:
                    raise
            time.sleep(wait)
            patience -= wait

    def pages_of_text(self, path: str, query: Mapping[str, Any], *, as_admin: bool) -> Iterator[str]:
        """A text in pages, each of which names the next in its Link header (RFC 8288). Raises as request does."""
        following: Mapping[str, Any] | None = query
        while following is not None:
            response = self._send("GET", path, following, None, None, as_admin)
            yield response.content.decode("utf-8")
            link = response.links.get("next")
            following = dict(parse_qsl(urlsplit(link["url"]).query)) if link else None

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None,
        body: Mapping[str, Any] | None,
        headers: Mapping[str, str] | None,
        as_admin: bool,
    ) -> requests.Response:
        admin = {"X-Admin-Token": self._admin_token} if as_admin and self._admin_token else {}
        try:
            response = self.session.request(
                method,
                self.base_url + path,
                params=query,
                json=body,
                headers={**(headers or {}), **admin},
                timeout=(CONNECT_SECONDS, READ_SECONDS),
                allow_redirects=False,  # a redirect could take the admin token to another host
            )
        except requests.RequestException as error:
            raise Unreachable(f"no answer from {self.base_url}: {_in_words(error)}") from error
        if response.status_code >= 300:
            raise _problem(response)
        return response


def _json(response: requests.Response) -> Any:
    try:
        return response.json()
    except ValueError as error:
        raise Unreachable(f"what answers at {response.url} is not Larder: it sends no JSON") from error


def _problem(response: requests.Response) -> ApiProblem:
    try:
        content = response.json()
    except ValueError:
        content = None
    document = content if isinstance(content, dict) else {}
    return ApiProblem.of(document, status=response.status_code, retry_after=_seconds(response))


def _seconds(response: requests.Response) -> float | None:
    """Retry-After in seconds; Larder sends no dates."""
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() else None


def _in_words(error: requests.RequestException) -> str:
    """The error without the library's nested representations."""
    kinds = {
        requests.exceptions.SSLError: "its certificate can't be verified",
        requests.ConnectTimeout: "it took too long to connect",
        requests.Timeout: "it took too long to answer",
        requests.ConnectionError: "it can't be connected to, or hung up",
    }
    return next((words for kind, words in kinds.items() if isinstance(error, kind)), type(error).__name__)
