"""Names that say what stands beside them is a secret, and those that only sound so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache
from typing import NamedTuple


class Sort(Enum):
    """What kind of value a name announces, which is how strictly the value is looked at."""

    PASSWORD = "password"  # people make them up: short and odd will do
    TOKEN = "token"  # machines make them: it must look drawn at random
    HEADER = "header"  # a scheme stands before the value
    ENCODED = "encoded"  # base64 of user:password, as in .docker/config.json and .npmrc


class Name(NamedTuple):
    """A name at ``text[start:end]``: the whole identifier around the word that tells its sort."""

    sort: Sort
    word: str
    start: int
    end: int
    words: tuple[str, ...]


class _Meaning(NamedTuple):
    sort: Sort
    word: str
    words: tuple[str, ...]


# Where one identifier holds several words, the least strict sort counts: a secret_password is a password.
_STRICTNESS = {sort: rank for rank, sort in enumerate(Sort)}

# Each word begins with a stem that a fast search looks for; what tells it from other words comes behind.
_WORD = re.compile(
    r"(?P<password>pass(?:wo?r?d|phrase|code|wort|(?<![a-z]pass)(?![a-z]))|pwd|"
    r"pw(?:(?<![a-z]pw)|(?<=bindpw)|(?<=rootpw)|(?<=adminpw)|(?<=userpw)|(?<=dbpw))(?![a-z])|"
    r"(?:mdp|psk)(?<![a-z]...)(?![a-z])|kennwort|contrase[ñn]a|mot de passe|wachtwoord|lösenord|"
    r"(?:senha|heslo|haslo|hasło|parola)(?![a-z])|пароль|密码|密碼|口令|パスワード|비밀번호|identified by|"
    r"convertto-securestring)|"
    r"(?P<token>secret|token|passkey|key|credentials?|令牌|密钥)|(?P<header>authorization)|"
    r"(?P<encoded>auth(?<![a-z]auth)(?![a-z]))"
)
_STEMS = re.compile(
    "pass|pw|mdp|psk|secret|token|key|auth|credential|kennwort|contrase|mot de|wachtwoord|senha|heslo|has[lł]o|parola|"
    "lösen|пароль|密|口令|パスワード|비밀번호|identified by|convertto|令牌"
)
# "key" alone says nothing: whose key must stand before it.
_KEY_OWNER = re.compile(
    r"(?:api|access|secret|private|priv|auth|authentication|signing|encryption|master|account|shared|subscription|"
    r"service|client|app|application|session|storage|functions?|consumer|deploy|ssh|admin|webhook|hmac|jwt|crypt|cipher|"
    r"license|root|tenant|team|fernet)"
    r"[_. -]?\Z"
)
_TAIL = re.compile(r"[A-Za-z0-9_\-]{0,60}")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_IN_ADDRESS = re.compile(r"(?:(?<![a-z])arn:|resolve:)[^\s\"']{0,110}\Z")  # arn:aws:secretsmanager:…:secret:…

# A name with one of these behind the word is about the secret: password_hash, token_url, secretName.
_ABOUT_WORDS = (
    "age alg algo algorithm arn at attempts binding budget bytes cert certificate chain changed checksum "
    "class config count date digest dir disabled enabled endpoint entropy expiration expired expires "
    "expiry field file filename fingerprint format hash hashed header hint id identifier ids ization ize "
    "ized izer kind label len length lifetime limit link manager max md min mount name names path pattern "
    "placeholder policies policy prefix prompt provider ref reference regex required reset rotation rules "
    "s scope scopes sha size smanager spec status store strength suffix text thumbprint time timeout "
    "title ttl type types uri url urls usage validator verifier version"
)
_ABOUT = frozenset(_ABOUT_WORDS.split())
# A name with one of these right before the word is another thing: page_token, max_tokens, csrf-token, PublicKeyToken.
_ANOTHER_WORDS = (
    "amz anti antiforgery backward bos cache cancel cancellation change cls continuation csrf "
    "csrfmiddleware cursor eos fencing foreign forward idempotency key lock mask max middleware min next "
    "non num pad page pagination partition primary public publishable request resume scroll sep site sort "
    "starting stop sync total trace unk xsrf"
)
_ANOTHER = frozenset(_ANOTHER_WORDS.split())


def find_names(text: str) -> Iterator[Name]:
    """Yield the names of secrets, left to right, each identifier once."""
    plain = lowered(text)
    addresses = "arn:" in plain or "resolve:" in plain
    done = 0
    for stem in _STEMS.finditer(plain):
        at = stem.start()
        if at < done or not (word := _WORD.match(plain, at)):
            continue
        if word.group() == "key":
            owner = _KEY_OWNER.search(plain, max(done, at - 16), at)
            if not owner:
                continue
            at = owner.start()
        start = _head_start(text, max(done, at - 60), at)
        tail = _TAIL.match(text, word.end())
        done = tail.end() if tail else word.end()
        if (meaning := _meaning(text[start:done])) and not (
            addresses and _IN_ADDRESS.search(plain, max(0, start - 120), start)
        ):
            yield Name(meaning.sort, meaning.word, start, done, meaning.words)


def lowered(text: str) -> str:
    """Lower case, of the same length: only U+0130 has a lower case of two characters."""
    return text.replace("\u0130", "I").lower()


@lru_cache(maxsize=4096)
def _meaning(identifier: str) -> _Meaning | None:
    """What the identifier announces, unless it is about a secret or another thing."""
    plain = lowered(identifier)
    words = [word for stem in _STEMS.finditer(plain) if (word := _WORD.match(plain, stem.start()))]
    before, behind = _words(identifier[: words[0].start()]), _words(identifier[words[-1].end() :])
    if (before and before[-1] in _ANOTHER) or _ABOUT.intersection(behind):
        return None
    sorts = [Sort(word.lastgroup) for word in words]
    told = min(range(len(words)), key=lambda number: _STRICTNESS[sorts[number]])
    return _Meaning(sorts[told], words[told].group(), (*before, *(word.group() for word in words), *behind))


def _head_start(text: str, earliest: int, at: int) -> int:
    """Where the identifier begins that holds ``at``."""
    while at > earliest and (text[at - 1].isalnum() or text[at - 1] in "_.-"):
        at -= 1
    return at


def _words(identifier: str) -> list[str]:
    return [part.lower() for part in _PARTS.findall(identifier)]
