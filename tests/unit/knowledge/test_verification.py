from __future__ import annotations

import pytest

from chalicelib.knowledge import signing
from chalicelib.knowledge.verification import Refusal, verify

KEY, OLD, BODY, NOW, N = "the-new-key", "the-old-key", b'{"query": "x"}', 1_796_000_000, "n0nce-7f3a"


def signed(t: int = NOW, *keys: str, **changes: str | None) -> dict[str, str]:
    """Headers as they arrive, with ``changes`` (None: left out)."""
    headers = {
        name.lower(): value for name, value in signing.headers(keys or (KEY,), BODY, timestamp=t, nonce=N).items()
    }
    headers |= {name.replace("_", "-"): value for name, value in changes.items() if value is not None}
    return {name: value for name, value in headers.items() if changes.get(name.replace("-", "_"), "") is not None}


def refusal(headers: dict[str, str], keys: tuple[str, ...] = (KEY,), body: bytes = BODY) -> tuple[int, str]:
    with pytest.raises(Refusal) as error:
        verify(headers, body, keys, now=NOW)
    return error.value.status, error.value.code


@pytest.mark.parametrize("t", [NOW, NOW - 300, NOW + 300])
def test_a_request_inside_the_window_is_accepted_and_its_nonce_kept_as_long_as_it_is_good(t: int) -> None:
    proven = verify(signed(t), BODY, [KEY], now=NOW)
    assert (proven.nonce, proven.keep_until) == (N, t + 301)
    assert proven.keep_until > t + signing.SKEW_SECONDS


@pytest.mark.parametrize("t", [NOW - 301, NOW + 301, 0])
def test_a_request_outside_the_window_is_stale_either_way(t: int) -> None:
    assert refusal(signed(t)) == (401, "stale_timestamp")


def test_any_secret_that_counts_now_is_enough() -> None:
    assert verify(signed(NOW, KEY, OLD), BODY, [OLD], now=NOW)
    assert verify(signed(NOW, OLD), BODY, [KEY, OLD], now=NOW)
    assert refusal(signed(NOW, OLD)) == (401, "unauthorized")


@pytest.mark.parametrize(
    "header", [None, "", "   ", f"t={NOW}, n={N}", f"t={NOW}, n={N}, v1=", f"t={NOW}, n={N}, v1=, v1="]
)
def test_an_absent_or_empty_signature_is_unauthorized(header: str | None) -> None:
    assert refusal(signed(x_larder_signature=header)) == (401, "unauthorized")


def test_other_bytes_of_the_same_json_are_unauthorized() -> None:
    assert refusal(signed(), body=b'{"query":"x"}') == (401, "unauthorized")


@pytest.mark.parametrize("keys", [(), ("",)])
def test_without_a_secret_nothing_is_accepted(keys: tuple[str, ...]) -> None:
    assert refusal(signed(), keys) == (401, "unauthorized")


@pytest.mark.parametrize("header", ["nonsense", f"t={NOW}, t={NOW - 1}, n={N}, v1=00", f"t=x, n={N}, v1=00"])
def test_a_header_that_does_not_parse_is_an_invalid_request(header: str) -> None:
    assert refusal(signed(x_larder_signature=header)) == (400, "invalid_request")


def test_the_unsigned_copy_of_the_nonce_must_be_the_nonce() -> None:
    assert refusal(signed(x_larder_request="other")) == (400, "invalid_request")
    assert verify(signed(x_larder_request=None), BODY, [KEY], now=NOW)


@pytest.mark.parametrize("version", [None, "2", "", "1.0", "01", "1, 1"])
def test_only_version_one_is_spoken(version: str | None) -> None:
    assert refusal(signed(x_larder_knowledge_version=version)) == (400, "unsupported_version")


def test_a_refusal_quotes_nothing() -> None:
    for headers in (signed(x_larder_signature="v1=secret-looking"), signed(x_larder_request="other"), signed(0)):
        with pytest.raises(Refusal) as error:
            verify(headers, BODY, [KEY], now=NOW)
        assert not any(word in str(error.value) for word in (N, KEY, "secret-looking", "other"))
