"""Secrets in a megabyte that was made to be slow, and every secret of the corpus among others' text."""

from __future__ import annotations

import time

import pytest

from chalicelib.domain.secrets import find
from tests.unit.domain.secret_corpus import Example, hostile_texts, secrets

HOSTILE = dict(hostile_texts(50_000))


@pytest.mark.parametrize("name", [name for number, name in enumerate(HOSTILE) if number % 12 == 0])
def test_hostile_text_takes_linear_time(name: str) -> None:
    started = time.process_time()
    find(HOSTILE[name])
    assert time.process_time() - started < 2.0  # which 1 MB may take (spec 2.4)


BESIDE = [
    "\n<b>x</b>\n",
    "\n```\n",
    "\n| a | b |\n",
    '\n"x": "y",\n',
    "\n</section>\n",
    "\npassword:\n",
    " <",
    "\n  value: 3\n",
]


@pytest.mark.parametrize("other", BESIDE)
def test_a_secret_is_found_whatever_follows_it(other: str) -> None:
    missed = []
    for secret in secrets():
        if _covers(secret.text, secret) and not _covers(secret.text + other, secret):
            missed.append(secret.name)
    assert missed == []


def test_a_value_of_an_element_is_found_among_its_like() -> None:
    token = "dLZBiW357mM22NnT" + "Enp8hhH2k3SqKtzt"
    page = f"""<appSettings>
      <add key="ApiKey" description="of the shop" value="{token}" />
      <property
        name="client.secret"
        value='{token[::-1]}' />
      <add key="Password" />
      The garden is open on Sundays. <a/>
    </appSettings>"""
    assert [page[one.start : one.end] for one in find(page)] == [token, token[::-1]]


def _covers(text: str, secret: Example) -> bool:
    found = [(one.start, one.end) for one in find(text)]
    return all(any(start <= low and high <= end for start, end in found) for low, high in secret.spans)
