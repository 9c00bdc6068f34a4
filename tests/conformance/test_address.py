"""The suite judges links as the broker does, which drops them, and takes no address that it can't send to."""

from __future__ import annotations

import pytest

from chalicelib.knowledge.conformance.address import leads_out
from chalicelib.knowledge.links import public_link

GOOD = [
    *(
        "https://help.example.com/a",
        "https://help.example.com:8443/?q=1#top",
        "https://1.1.1.1/",
        "HTTPS://EXAMPLE.com",
    ),
    *("https://[2606:4700:4700::1111]/a",),
]
BAD = [
    *("http://help.example.com/", "javascript:alert(1)", "data:text/html,x", "//help.example.com/", "/page", ""),
    *(
        "https://u:p@help.example.com/",
        "https://u@help.example.com/",
        "https://@help.example.com/",
        "https://",
        "https:///a",
    ),
    *("https://10.0.0.1/", "https://127.0.0.1/", "https://169.254.169.254/", "https://[::1]/", "https://[fd00::1]/"),
    *("https://localhost/", "https://a.localhost/", "https://wiki.local/", "https://intranet/", "https://2130706433/"),
    *("https://0x7f.1/", "https://127.1/", "https://kb.internal/", "https://[::1", "https://help.example.com:99999/"),
]


@pytest.mark.parametrize("url", GOOD)
def test_what_leads_into_the_public_web_is_a_link(url: str) -> None:
    assert leads_out(url)
    assert public_link(url) is not None


@pytest.mark.parametrize("url", BAD)
def test_what_the_broker_drops_is_told(url: str) -> None:
    assert public_link(url) is None
    assert not leads_out(url)
