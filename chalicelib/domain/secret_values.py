"""Whether a value that stands where a secret would stand is one: placeholders, references and words are not.

The tests are plain and explainable; there is no entropy threshold to tune. Decided here: a value that says of itself
that it is none (``changeme``, ``your-api-key``, ``password``) stays, and so does a default that everybody knows
(``guest``, ``postgres``); a weak password with a digit in it (``hunter2``) is a password.
"""

from __future__ import annotations

import re

_LOOKED_AT = 200  # characters at the front of a value that tell what it is; names may overlap a long one many times

_SELF_DECLARED_WORDS = (
    "admin bar changeit changeme default dummy empty example false foo foobar guest hidden input letmein "
    "masked minioadmin missing mypassword mysecret mytoken n/a nil none null optional pass passphrase "
    "passwd password passwort placeholder postgres prompt pwd redacted removed required root sample "
    "sanitized secret secretkey string tbd test testing text todo token true undefined unset user "
    "username value x-oauth-basic xxx yes"
)
_SELF_DECLARED = frozenset(_SELF_DECLARED_WORDS.split())
_SAYS_SO = re.compile(
    r"x{4}|\*{3}|\.{3}|…|•{3}|change[-_ ]?(?:me|it|this)|placeholder|redacted|example|sample|"
    r"(?<![a-z])(?:your|insert|replace|dummy|fake|todo|notreal|not-?a-?real|goes[-_ ]here|key[-_ ]here|token[-_ ]here)"
)
_NEVER_DRAWN = re.compile(
    r"x{5}|\.{3}|your(?:[-_]|[a-z]{3})|placeholder|redacted|example|change[-_]?me|dummy|(?:insert|replace|fake|sample)[-_]|goes[-_]?here"
)
_TEMPLATE = re.compile(
    r"\$\{|\$\(|\{\{|\{%|<%|#\{|%\(|\$\[|\$[A-Za-z_]\w*$|\$env:|%[A-Za-z_]\w*%$|@[A-Za-z_]\w*@$|__\w+__$|"
    r"<[^<>]*>?$|\[[^\[\]]*\]?$|\{[^{}]*\}?$|[:?&%][A-Za-z_]*$",
)
_POINTER = re.compile(
    r"[a-z][a-z0-9+.-]{1,20}://|arn:|ref\+|op:|vault:|ssm:|file:|secretsmanager:|projects/|keyvault|(?:~|\.{1,2})?/[\w.-]+(?:/|$)|"
    r"\[(?:a-z|0-9|\^)|[a-z]:\\|os\.|env[.\[(]|enc[\[(]|\{cipher\}|\$ansible_vault|process\.|self\.|this\.|"
    r"\$(?:2[abxy]?|argon2\w*|[156y]|scrypt|pbkdf2[\w-]*|apr1|5|6)\$|\{s?sha\d*\}|pbkdf2[_:]|(?:sha\d{1,3}|md5)[:-]",
    re.IGNORECASE,
)
_NAME_OF_ONE = re.compile(r"(?:pass(?:word|wd|phrase)?|pwd|secret|token)_?\d{0,2}", re.IGNORECASE)
# Another secret's name, a literal of code before a sign of code, a YAML alias, an attribute in code, a page's anchor.
_NO_VALUE = re.compile(
    r"(?:pass(?:word|wd|phrase)?|pwd|secret|token)_?\d{0,2}$|(?:none|null|nil|true|false|undefined)[^\w]|"
    r"\*[a-z_][\w-]*$|\(|[a-z_]\w*\.[a-z_]\w{2,40}[^\w.]|[\w./-]+\.(?:html?|md|rst|txt|php|aspx?)(?:\#[\w.-]*)?$",
    re.IGNORECASE,
)
_CODE = re.compile(r"([A-Za-z_$][\w$]+(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)*)[(\[]")
# Names joined by dots, a word of four letters in each: ed25519.Ed25519PrivateKey
_ATTRIBUTES = re.compile(r"[A-Za-z_]\w*(?:\.(?=\w*[a-z]{4})[A-Za-z_]\w*){1,8}")
_PIECES = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
_SEPARATORS = re.compile(r"[-_./:+@,|\\\s]+")
_NO_LETTERS = re.compile(r"[^A-Za-z]+")
_CONSONANT = re.compile(r"[^aeiouy]+")
_CONSONANTS = re.compile(r"[bcdfghjklmnpqrstvwxz]{7}")
_STANDARD = re.compile(
    r"(?:sha|md|aes|rsa|base|utf|hmac|oauth|http|tls|ssl|iso|rfc|ipv|ed|es|rs|hs|ps|pbkdf|argon|win|x|v)-?\d{1,5}[a-z]{0,4}\d?",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"v?[\d.,:/+TZ-]+|v?\d+(?:\.\d+)+(?:[-+.][\w.+-]+)?", re.IGNORECASE)
_OPERATORS = re.compile(r"(?:[!=<>]=|&&|\|\||=>)[\w(]|\+\+;|\(\)")
_PUBLIC = re.compile(r"0x[0-9a-fA-F]{40}|.*[:@]v?\d+(?:\.\d+)+")  # the address of a contract; a package and its version
_DIGIT = re.compile(r"\d")
_BLANK = re.compile(r"\s")
UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)


def is_placeholder(value: str) -> bool:
    """Whether the value says of itself that the secret is not here: a mask, a template, ``changeme``, ``<token>``."""
    value = value[:_LOOKED_AT].strip()
    plain = value.lower()
    return (
        len(set(plain)) <= 1
        or not any(mark.isalnum() for mark in plain)
        or plain.strip("<>[]{}()*_-\"'`.") in _SELF_DECLARED
        or _SAYS_SO.search(plain) is not None
        or _TEMPLATE.match(value) is not None
        or "${" in plain
        or "{{" in plain
        or "(?" in plain  # a pattern, of a scanner such as this one
    )


def is_masked(body: str) -> bool:
    """The same for the body of a token with a known prefix: only what no generator would ever write counts."""
    plain = body.lower()
    return set(plain) <= set("x*.-_0") or _NEVER_DRAWN.search(plain) is not None


def is_pointer(value: str, *, quoted: bool) -> bool:
    """Whether the value leads to a secret or was derived from one: a path, a URL, code, a reference, a hash."""
    if _POINTER.match(value):
        return True
    if quoted:
        return _NAME_OF_ONE.fullmatch(value) is not None
    if _NO_VALUE.match(value):
        return True
    call = _CODE.match(value)
    return _ATTRIBUTES.fullmatch(value) is not None or (call is not None and is_wordy(call.group(1)))


def is_wordy(value: str) -> bool:
    """Whether the value is made of words: an identifier, a slug, a class name, a phrase."""
    value = value[:_LOOKED_AT]
    parts = [part for part in _SEPARATORS.split(value.strip("()[]{};'\"`")) if part]
    return bool(parts) and all(_is_word(part) for part in parts) and _letters(value) * 2 >= len(value)


def is_gibberish(value: str) -> bool:
    """Whether the letters of a value look drawn at random: case that jumps, or consonants that nobody can say."""
    if len(value) < 8 or not value.isascii():
        return False
    letters = _NO_LETTERS.sub("", value[:_LOOKED_AT])
    if len(letters) < 8:
        return False
    if len(letters) / len(_PIECES.findall(letters)) < 2.6:
        return True
    plain = letters.lower()
    return _CONSONANTS.search(plain) is not None or len(_CONSONANT.sub("", plain)) * 8 < len(plain)


def is_password(value: str, *, quoted: bool, assigned: bool) -> bool:
    """Whether a value beside the word password is one. ``assigned``: it stands in code or configuration, not prose."""
    if not 6 <= len(value) <= 256:
        return False
    digits = _DIGIT.search(value) is not None
    odd = digits or (len(value) >= 8 and not value.strip(":=!?.,-").isalnum() and _letters(value) >= 4)
    if not odd and not is_gibberish(value):
        return False
    if _BLANK.search(value) or is_placeholder(value) or is_pointer(value, quoted=quoted):
        return False
    if value.isdigit():
        return assigned
    if _NUMBERS.fullmatch(value) or _STANDARD.fullmatch(value):
        return False
    if is_wordy(value):
        return assigned and digits and _letters(value) > 2 and not _SEPARATORS.search(value)
    return True


def is_token(value: str, *, quoted: bool, uuids: bool = False) -> bool:
    """Whether a value beside the word token, secret or key is one. ``uuids``: the name makes even a UUID a secret."""
    if not 10 <= len(value) <= 4096 or not (_DIGIT.search(value) or is_gibberish(value)):
        return False
    if is_placeholder(value) or is_pointer(value, quoted=quoted):
        return False
    if UUID.fullmatch(value):
        return uuids
    if _BLANK.search(value) or is_wordy(value):
        return False
    if _NUMBERS.fullmatch(value) or _PUBLIC.fullmatch(value) or (not quoted and _OPERATORS.search(value)):
        return False
    digits = sum(mark.isdigit() for mark in value)
    if _letters(value) >= 2 and (digits >= 2 or (digits and len(value) >= 20)):
        return True
    return is_gibberish(value)


def _is_word(part: str) -> bool:
    if _STANDARD.fullmatch(part) or (part.isdigit() and len(part) <= 4):
        return True
    if part[0].isdigit() and not part.lstrip("0123456789").islower():  # 90days, but not 7Lejp
        return False
    pieces = _PIECES.findall(part)
    words = [piece for piece in pieces if not piece[0].isdigit()]
    digits = sum(len(piece) for piece in pieces if piece[0].isdigit())
    if sum(map(len, pieces)) != len(part) or not words or digits > 4 or len(pieces) - len(words) > 1:
        return False
    letters = len(part) - digits
    return letters >= 3 * len(words) - 3 and digits * 2 <= letters + 2 and not is_gibberish(part)


def _letters(value: str) -> int:
    return sum(mark.isalpha() for mark in value)
