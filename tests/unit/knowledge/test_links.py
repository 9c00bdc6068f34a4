from __future__ import annotations

import pytest

from chalicelib.fetching import ssrf
from chalicelib.knowledge.links import public_link


@pytest.mark.parametrize(
    "url",
    [
        "https://help.example.com/a",
        "https://help.example.com:8444/a?b=c#d",
        "HTTPS://Help.Example.com/Ä",
        "https://1.1.1.1/",
        "https://[2606:4700:4700::1111]/",
        "https://help.example.com/?mail=a@b.de",
        "https://help.example.com?mail=a@b.de",
        "https://help.example.com#a@b",
        "HTTPS://help.example.com:8443?a@b#c@d/e",
        "https://help.example.com?" + "@" * 2_023,
    ],
)
def test_a_public_link_stays_as_it_came(url: str) -> None:
    assert public_link(url) == url


@pytest.mark.parametrize(
    "url",
    [
        None,
        "",
        "http://help.example.com/a",
        "https://u:p@help.example.com/a",
        "https://u@help.example.com/a",
        "https://u@help.example.com?mail=a@b.de",
        "https://u:p@help.example.com#a@b",
        "https://10.0.0.1?mail=a@b.de",
        "https://localhost#a@b",
        "https://help.example.com\\?a@b",
        "https://help.example.com?a b@c",
        "https://?a@b",
        "https://10.0.0.1/a",
        "https://127.0.0.1/a",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://169.254.169.254/latest",
        "https://[::1]/",
        "https://[fd00::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://localhost/",
        "https://intranet/",
        "https://wiki.internal/",
        "https://printer.local/",
        "javascript:alert(1)",
        "data:text/html,x",
        "//help.example.com/a",
        "/a",
        "https:///a",
        "https://help.example.com\\@evil.example/",
        "https://help.example.com/a b",
        "https://help.example.com/\nx",
        "https://help.example.com:0/",
        "https://help.example.com:99999/",
        "ftp://help.example.com/",
    ],
)
def test_any_other_link_is_dropped(url: str | None) -> None:
    assert public_link(url) is None


@pytest.mark.parametrize("host", [".".join(["\u0430" * 20] * 90), "\u00fc" * 1_900 + ".example", "xn--" + "a" * 1_900])
def test_a_name_that_is_too_long_is_not_translated_first(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """IDNA takes its time over each label; a provider may send fifty links."""
    monkeypatch.setattr(ssrf.idna, "alabel", lambda _: pytest.fail("translated"))
    assert public_link(f"https://{host}/") is None


@pytest.mark.parametrize(
    "name", ["\u0430." * 30 + "example.com", "a." * 121 + "example.com", "a." * 121 + "example.com."]
)
def test_a_name_may_be_as_long_as_names_are(name: str) -> None:
    assert public_link(f"https://{name}/") == f"https://{name}/"
