"""Names that say what stands beside them is a secret, and those that only sound so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
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


# Each word begins with a stem that a fast search looks for; what tells it from other words comes behind.
_WORD = re.compile(
    r"(?P<password>pass(?:wo?r?d|phrase|code|wort|(?<![a-z]pass)(?![a-z]))|pwd|pw(?<![a-z]pw)(?![a-z])|"
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
    r"license|root|tenant|team)"
    r"[_. -]?\Z"
)
_TAIL = re.compile(r"[\w\-]{0,60}")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_IN_ADDRESS = re.compile(r"(?:\barn:|resolve:)[^\s\"']{0,110}\Z")  # arn:aws:secretsmanager:…:secret:…

# A name with one of these behind the word is about the secret: password_hash, token_url, secretName.
_ABOUT_WORDS = (
    "age alg algo algorithm arn at attempts binding budget bytes changed checksum class count date digest "
    "dir disabled enabled endpoint entropy expiration expired expires expiry field file filename "
    "fingerprint format hash hashed header hint id ids identifier ization ize ized izer kind label len "
    "length lifetime limit link manager max md min mount name names path pattern placeholder policies "
    "policy prefix prompt provider ref reference regex required reset rotation rules s scope scopes sha "
    "size smanager status store strength suffix text thumbprint time timeout title ttl type types uri url "
    "urls usage validator version"
)
_ABOUT = frozenset(_ABOUT_WORDS.split())
# A name with one of these right before the word is another thing: page_token, max_tokens, csrf-token, PublicKeyToken.
_ANOTHER_WORDS = (
    "anti antiforgery bos cache cancel cancellation cls continuation csrf csrfmiddleware cursor eos "
    "foreign idempotency key mask max middleware min next non num pad page pagination partition primary "
    "public publishable resume scroll sep site sort stop sync total trace unk xsrf"
)
_ANOTHER = frozenset(_ANOTHER_WORDS.split())


def find_names(text: str) -> Iterator[Name]:
    """Yield the names of secrets, left to right, each identifier once."""
    plain = lowered(text)
    done = 0
    for stem in _STEMS.finditer(plain):
        at = stem.start()
        if at < done or not (word := _word(plain, at)):
            continue
        start = _head_start(text, max(done, at - 60), at)
        tail = _TAIL.match(text, word.end())
        done = tail.end() if tail else word.end()
        if name := _name(text, plain, start, done):
            yield name


def lowered(text: str) -> str:
    """Lower case, of the same length: only U+0130 has a lower case of two characters."""
    return text.replace("\u0130", "I").lower()


def _word(plain: str, at: int) -> re.Match[str] | None:
    word = _WORD.match(plain, at)
    if word and word.group() == "key" and not _KEY_OWNER.search(plain, max(0, at - 16), at):
        return None
    return word


def _name(text: str, plain: str, start: int, end: int) -> Name | None:
    """The name that the identifier at ``text[start:end]`` is, unless it is about a secret or another thing."""
    words = [word for stem in _STEMS.finditer(plain, start, end) if (word := _word(plain, stem.start()))]
    before, behind = _words(text[start : words[0].start()]), _words(text[words[-1].end() : end])
    if (before and before[-1] in _ANOTHER) or _ABOUT.intersection(behind):
        return None
    if _IN_ADDRESS.search(plain, max(0, start - 120), start):
        return None
    sorts = [Sort(word.lastgroup) for word in words]
    told = sorts.index(min(sorts, key=list(Sort).index))
    return Name(sorts[told], words[told].group(), start, end, (*before, *(word.group() for word in words), *behind))


def _head_start(text: str, earliest: int, at: int) -> int:
    """Where the identifier begins that holds ``at``."""
    while at > earliest and (text[at - 1].isalnum() or text[at - 1] in "_.-"):
        at -= 1
    return at


def _words(identifier: str) -> list[str]:
    return [part.lower() for part in _PARTS.findall(identifier)]
