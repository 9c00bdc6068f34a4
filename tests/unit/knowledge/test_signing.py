from __future__ import annotations

import hashlib
import hmac
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.knowledge import signing
from chalicelib.knowledge.signing import Malformed, matches, parse

KEY, OTHER = "key-one", "key-two"
BODY = '{"query":"Paßwort"}'.encode()
T, N = 1_796_000_000, "n0nce-7f3a"


def mac(key: str, body: bytes = BODY, t: object = T, n: str = N) -> str:
    return hmac.new(key.encode(), f"{t}.{n}.".encode() + body, hashlib.sha256).hexdigest()


def test_a_request_is_signed_over_its_raw_bytes() -> None:
    signed = signing.headers([KEY], BODY, timestamp=T, nonce=N)
    assert signed == {
        "X-Larder-Knowledge-Version": "1",
        "X-Larder-Request": N,
        "X-Larder-Signature": f"t={T}, n={N}, v1={mac(KEY)}",
    }


def test_during_a_rotation_both_secrets_sign() -> None:
    header = signing.headers([KEY, OTHER], BODY, timestamp=T, nonce=N)["X-Larder-Signature"]
    assert parse(header).values == (mac(KEY), mac(OTHER))
    assert all(matches(parse(header), [key], BODY) for key in (KEY, OTHER))


def test_secrets_and_nonces_are_fresh_and_long_enough() -> None:
    secrets = {signing.new_secret() for _ in range(50)}
    nonces = {signing.new_nonce() for _ in range(50)}
    assert len(secrets) == len(nonces) == 50
    assert all(len(secret) == 43 for secret in secrets), "256 bits"
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{22}", nonce) for nonce in nonces), "128 bits"


@settings(max_examples=50, deadline=None)
@given(st.text(min_size=1), st.binary(), st.integers(0, 9_999_999_999))
def test_what_one_side_signs_the_other_accepts(key: str, body: bytes, t: int) -> None:
    header = signing.headers([key], body, timestamp=t, nonce=signing.new_nonce())["X-Larder-Signature"]
    assert matches(parse(header), ["another", key], body)
    assert not matches(parse(header), [key + "x"], body)
    assert not matches(parse(header), [key], body + b" ")


@pytest.mark.parametrize(
    "header",
    [
        f"v1={mac(KEY)},n={N},t={T}",
        f"t={T},n={N},v1={mac(KEY)}",
        f" t={T} ,\tn={N} ,  v1={mac(KEY)} ",
        f"t={T}, n={N}, v0=old, v1={mac(KEY)}, v2=new",
        f"t={T}, n={N}, v1={mac(OTHER)}, v1={mac(KEY)}",
        f"t={T}, n={N}, v1=, v1={mac(KEY)}",
        f"t={T}, n={N}, v1={mac(KEY).upper()}",
    ],
)
def test_a_header_is_read_by_its_keys(header: str) -> None:
    assert matches(parse(header), [KEY], BODY)


@pytest.mark.parametrize(
    "t", ["", "-1", "+1", "0x6B0C0000", "1796000000000", "1796000000.0", "1e9", "01796000000", "１７９６０"]
)
def test_a_time_is_digits_in_seconds(t: str) -> None:
    with pytest.raises(Malformed, match="timestamp"):
        parse(f"t={t}, n={N}, v1={mac(KEY)}")


@pytest.mark.parametrize(
    "n", ["", "short", "with.dot-1", "x" * 65, "with space", "ümlaut-99", "semi;colon", "slash/slash"]
)
def test_a_nonce_has_no_dot_and_a_length(n: str) -> None:
    with pytest.raises(Malformed):
        parse(f"t={T}, n={n}, v1={mac(KEY)}")


@pytest.mark.parametrize(
    "header",
    [
        "nonsense",
        "t",
        ",",
        f"t={T}, n={N}, v1={mac(KEY)},",
        f"t={T}, t={T - 900}, n={N}, v1={mac(KEY)}",
        f"t={T}, t={T}, n={N}, v1={mac(KEY)}",
        f"t={T}, n={N}, n={N}x, v1={mac(KEY)}",
        f"n={N}, v1={mac(KEY)}",
        f"t={T}, v1={mac(KEY)}",
        f"T={T}, N={N}, V1={mac(KEY)}",
        f"t={T}; n={N}; v1={mac(KEY)}",
        f"t={T}, n={N}" + f", v1={mac(KEY)}" * 5,
        f"t={T}, n={N}, v1={mac(KEY)}, x={'y' * 2000}",
        f"t={T}\r\n, n={N}, v1={mac(KEY)}",
    ],
)
def test_what_two_readers_could_take_differently_is_refused(header: str) -> None:
    with pytest.raises(Malformed):
        parse(header)


@pytest.mark.parametrize("value", ["", mac(KEY)[:32], mac(KEY) + "00", "z" * 64, mac(OTHER), mac(""), f"'{mac(KEY)}'"])
def test_a_wrong_value_matches_nothing(value: str) -> None:
    assert not matches(parse(f"t={T}, n={N}, v1={value}"), [KEY], BODY)


def test_a_secret_that_is_missing_is_none_that_everybody_knows() -> None:
    header = f"t={T}, n={N}, v1={mac('')}"
    assert not matches(parse(header), [""], BODY)
    assert not matches(parse(header), [], BODY)
