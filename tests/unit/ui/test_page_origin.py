from __future__ import annotations

import pytest

from chalicelib.errors import BadRequest, Invalid, PayloadTooLarge
from chalicelib.ui import form, origin

HTTPS = {"host": "abc.execute-api.eu-west-1.amazonaws.com", "x-forwarded-proto": "https"}
OWN = "https://abc.execute-api.eu-west-1.amazonaws.com"


@pytest.mark.parametrize(
    ("said", "own"),
    [
        ({"origin": OWN}, True),
        ({"origin": OWN, "sec-fetch-site": "same-origin"}, True),
        ({"origin": "null", "sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "same-origin"}, True),
        ({}, False),
        ({"origin": "null"}, False),
        ({"origin": ""}, False),
        ({"origin": OWN.replace("https", "http")}, False),
        ({"origin": f"{OWN}:8443"}, False),
        ({"origin": f"{OWN}.evil.example"}, False),
        ({"origin": "https://evil.example", "sec-fetch-site": "same-origin"}, False),
        ({"origin": OWN, "sec-fetch-site": "cross-site"}, False),
        ({"origin": OWN, "sec-fetch-site": "same-site"}, False),
        ({"origin": "null", "sec-fetch-site": "cross-site"}, False),
        ({"origin": "null", "sec-fetch-site": "none"}, False),
    ],
)
def test_a_form_is_ours_if_its_browser_says_so_and_nothing_says_otherwise(said: dict[str, str], own: bool) -> None:
    assert origin.is_own({**HTTPS, **said}) is own


@pytest.mark.parametrize(
    ("headers", "secure"),
    [
        (HTTPS, True),
        ({"host": "larder.example", "x-forwarded-proto": "http"}, True),
        ({"host": "larder.example"}, True),
        ({}, True),
        ({"host": "[::1"}, True),
        ({"host": "127.0.0.1.evil.example"}, True),
        ({"host": "localhost.evil.example"}, True),
        ({"host": "10.0.0.1:8000"}, True),
        ({"host": "localhost", "x-forwarded-proto": "HTTPS"}, True),
        ({"host": "localhost"}, False),
        ({"host": "localhost:8000", "x-forwarded-proto": "http"}, False),
        ({"host": "api.localhost:4566"}, False),
        ({"host": "127.9.8.7:1"}, False),
        ({"host": "[::1]:8000"}, False),
    ],
)
def test_a_cookie_is_secure_but_over_plain_http_on_this_machine(headers: dict[str, str], secure: bool) -> None:
    assert origin.is_secure(headers) is secure


def test_a_form_is_read_strictly() -> None:
    kind = f"{form.CONTENT_TYPE}; charset=UTF-8"
    assert form.read(b"a=1&b=%C3%A9+x&c=", kind, limit=99) == {"a": "1", "b": "é x", "c": ""}
    assert form.read(b"a=1&a=2&b=3", kind, limit=99, lists=["a", "z"]) == {"a": ["1", "2"], "b": "3"}
    assert form.read(b"", kind, limit=99) == {}
    with pytest.raises(Invalid):
        form.read(b"a=1&a=2", kind, limit=99)
    with pytest.raises(PayloadTooLarge):
        form.read(b"a=" + b"x" * 98, kind, limit=99)
    for raw in (b"a=%FF", b"a=\xc3\xa9", b"&".join(b"a%d=1" % number for number in range(101))):
        with pytest.raises(BadRequest):
            form.read(raw, kind, limit=9999)
    for other in ("application/json", "multipart/form-data", "text/plain", ""):
        with pytest.raises(BadRequest):
            form.read(b"a=1", other, limit=99)
