import pytest

from chalicelib.domain.secret_names import Sort, find_names, lowered


def _names(text: str) -> list[tuple[str, Sort]]:
    return [(text[name.start : name.end], name.sort) for name in find_names(text)]


@pytest.mark.parametrize(
    ("text", "name", "sort"),
    [
        ("DB_PASSWORD=x", "DB_PASSWORD", Sort.PASSWORD),
        ("smtp.pass: x", "smtp.pass", Sort.PASSWORD),
        ("secretPassword2 = x", "secretPassword2", Sort.PASSWORD),
        ("X-Api-Key: x", "X-Api-Key", Sort.TOKEN),
        ("the API key is", "API key", Sort.TOKEN),
        ("auth_token", "auth_token", Sort.TOKEN),
        ("Authorization: x", "Authorization", Sort.HEADER),
        ('"auth": "x"', "auth", Sort.ENCODED),
        ("密码：x", "密码", Sort.PASSWORD),
        ("İİ пароль: x", "пароль", Sort.PASSWORD),
    ],
)
def test_names_of_secrets(text: str, name: str, sort: Sort) -> None:
    assert _names(text) == [(name, sort)]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "password_hash",
            "tokenUrl",
            "secretName",
            "tokens",
            "secret_arn",
            "passwordField",
            "token_type",
            "api_key_id",
        ),
        *("next_page_token", "max_token", "csrf-token", "PublicKeyToken", "primary key", "the key", "monkey", "author"),
        *("bypass", "arn:aws:secretsmanager:eu:1:secret:x"),
    ],
)
def test_names_that_only_sound_so(text: str) -> None:
    assert _names(text) == []


@pytest.mark.parametrize("text", ["İ", "ẞßΣς", "ﬁ", "A" * 10 + "\u0130" * 3, "𝔄"])
def test_lower_case_keeps_every_offset(text: str) -> None:
    assert len(lowered(text)) == len(text)
