import pytest

from chalicelib.domain.secret_values import is_gibberish, is_password, is_placeholder, is_pointer, is_token, is_wordy


@pytest.mark.parametrize(
    "value",
    [
        "",
        "***",
        "xxxx-xxxx",
        "<your key>",
        "${SECRET}",
        "$SECRET",
        "{{ secret }}",
        "%SECRET%",
        "[REDACTED]",
        "changeme",
        "YOUR_API_KEY",
        "example-key-123",
        "null",
        "aaaaaaaa",
        "abc...xyz",
        "{api_key}",
        ":password",
        "?",
        "__TOKEN__",
    ],
)
def test_placeholders(value: str) -> None:
    assert is_placeholder(value)


@pytest.mark.parametrize("value", ["hunter2", "Zyourself9", "p@$$w0rd!", "x1x2x3x4", "correct-horse"])
def test_what_is_no_placeholder(value: str) -> None:
    assert not is_placeholder(value)


@pytest.mark.parametrize(
    "value",
    [
        "/run/secrets/db",
        "./key.pem",
        "~/.ssh/id_rsa",
        "https://vault.test/x",
        "arn:aws:s3:::b",
        "op://v/i",
        "os.environ",
        "ENC[AES256_GCM,data:x]",
        "$2b$12$abcdefghijklmnopqrstuv",
        "$argon2id$v=19$x",
        "sha256:abc",
    ],
)
@pytest.mark.parametrize("quoted", [True, False])
def test_pointers_and_derived_values(value: str, quoted: bool) -> None:
    assert is_pointer(value, quoted=quoted)


@pytest.mark.parametrize(
    "value", ["getToken(request)", "settings.API_KEY[0]", "self_signer.sign(x)", "ed25519.PrivateKey"]
)
def test_code_is_a_pointer_unless_it_is_quoted(value: str) -> None:
    assert is_pointer(value, quoted=False)
    assert not is_pointer(value.replace("self", "me"), quoted=True)


@pytest.mark.parametrize(
    "value",
    [
        "organisation-wide",
        "db.internal.test",
        "TokenAuthenticationFilter",
        "billing-2026-q1",
        "sha256",
        "oauth2",
        "user_name_2",
    ],
)
def test_words(value: str) -> None:
    assert is_wordy(value)


@pytest.mark.parametrize(
    "value", ["ko8b3TdavG8jJLBg", "a1b2c3d4e5f6", "94b4521e0d49700e", "aB3-xY7-9pQ-1kL", "WHyYloC4Q#R4E"]
)
def test_what_is_not_made_of_words(value: str) -> None:
    assert not is_wordy(value)


@pytest.mark.parametrize(
    ("letters", "odd"), [("qZrTxWpLkVbN", True), ("bcdfghjklm", True), ("TokenProvider", False), ("passwort", False)]
)
def test_gibberish(letters: str, odd: bool) -> None:
    assert is_gibberish(letters) is odd


def test_digits_alone_are_a_password_in_code_and_a_number_in_prose() -> None:
    assert is_password("48151623", quoted=True, assigned=True)
    assert not is_password("48151623", quoted=False, assigned=False)


def test_a_uuid_is_a_token_where_the_name_says_so() -> None:
    uuid = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
    assert is_token(uuid, quoted=True, uuids=True)
    assert not is_token(uuid, quoted=True)


@pytest.mark.parametrize(
    "value",
    ["v1.2.3-rc.4", "2026-11-29T10:15:30Z", "1700000000", "0xdAC17F958D2ee523a2206206994597C13D831ec7", "short1"],
)
def test_numbers_versions_and_public_addresses_are_no_tokens(value: str) -> None:
    assert not is_token(value, quoted=True)
