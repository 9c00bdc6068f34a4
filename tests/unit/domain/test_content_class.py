from __future__ import annotations

from pathlib import Path

import pytest

from chalicelib.domain.chunking import chunk
from chalicelib.domain.content_class import content_class
from chalicelib.domain.secrets import redact
from tests.unit.domain.secret_corpus import lookalikes

PASSWORD, TOKEN, KEY = "[REDACTED:password]", "[REDACTED:github_token]", "[REDACTED:private_key]"
SENTENCE = "The gateway keeps a pool of twelve connections and the limit is raised each December."


@pytest.mark.parametrize(
    "text",
    [
        PASSWORD,
        f"DB_HOST=db.internal\nDB_USER=app\nDB_PASSWORD={PASSWORD}\nGITHUB_TOKEN={TOKEN}",
        f"router: admin / {PASSWORD}\n\nprinter: admin / {PASSWORD}\n\nalarm: 4711",
        f"| system | user | password |\n|---|---|---|\n| mail | post | {PASSWORD} |\n| shop | till | {PASSWORD} |",
        f"mail {PASSWORD}, shop {PASSWORD}, till {PASSWORD}, and the safe in the back office {PASSWORD}",
        f"## Our passwords\n\nThey change in March.\n\nmail: {PASSWORD}\nsafe: 4711 0815",
        f"{SENTENCE}\n{KEY}\n{SENTENCE}",
    ],
)
def test_what_is_mainly_redactions_or_said_to_be_is_credentials(text: str) -> None:
    assert content_class(text) == "credentials"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        SENTENCE,
        f"{SENTENCE} Log in with {TOKEN}, which is valid until June.",
        "\n".join([SENTENCE] * 3 + [f"export GITHUB_TOKEN={TOKEN}"]),
        f"Set up:\n\n    git clone https://host/repo\n    export GITHUB_TOKEN={TOKEN}\n    make\n\nThen open the page.",
        "## Passwords\n\n" + "\n".join([SENTENCE] * 6) + f"\nroot: {PASSWORD}",
        f"# Credentials\n\n{SENTENCE}",
        f"{SENTENCE * 6}\n{KEY}\n{SENTENCE * 6}",
        f"PASSWORD={PASSWORD}\n" + "name=value\n" * 3,
    ],
)
def test_a_text_with_a_redaction_in_it_is_not(text: str) -> None:
    assert content_class(text) == ""


def test_no_page_of_our_documentation_and_no_look_alike_is_credentials() -> None:
    texts = [path.read_text(encoding="utf-8") for path in Path("docs").rglob("*.md")]
    texts += [example.text for example in lookalikes() if "[REDACTED" not in example.text]
    bodies = [piece.body for text in texts for piece in chunk(redact(text).text)]
    assert len(bodies) > 200
    assert [body for body in bodies if content_class(body)] == []
