"""The wire contract, version 1 (spec 3.3): its models, which the JSON Schemas are made of, and its strict reading.

A fault in what is required is a failure of the whole answer. A malformed optional field counts as absent, a missing or
unknown label as ``internal``. Unknown fields are ignored by both sides. What a result says is plain text: U+0000 and
half a surrogate pair are no characters of one, so they are faults like any other.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel

from chalicelib.domain.locale_match import MAX_TAG, TAG_PATTERN, is_tag
from chalicelib.errors import LarderError
from chalicelib.knowledge import strict_json

VERSION = 1
MAX_RESPONSE_BYTES = 1_048_576  # decoded
MAX_REQUEST_BYTES = 65_536  # 1 024 characters of the widest kind fit in it several times
DEFAULT_LIMIT, MAX_LIMIT, MAX_QUERY = 10, 50, 1_024
DAY_MINUTES = 1_440
MAX_INSTANT = 64  # characters: RFC 3339 allows any number of digits behind the second
CONTENT_TYPE = "application/json; charset=utf-8"
CAPABILITIES = ("locale", "localeFallback", "scoring")
ERROR_CODES = (
    *("unauthorized", "stale_timestamp", "replayed_nonce", "unsupported_version"),
    *("invalid_request", "rate_limited", "unavailable"),
)

_RFC3339 = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))", re.ASCII
)
_CONTENT_TYPE = re.compile(r'application/json[ \t]*(;[ \t]*charset=(utf-8|"utf-8")[ \t]*)?;?', re.ASCII | re.IGNORECASE)


class ContractFailure(LarderError):
    """The other side does not keep the contract; ``str()`` says which rule, and quotes nothing of what it sent."""


def _tag(text: str) -> str:
    if not is_tag(text):
        raise ValueError("must be a BCP 47 language tag")
    return text


def _instant(text: str) -> str:
    """RFC 3339, 5.6 and 5.7: a minute of UTC's midnight may have a sixty-first second."""
    match = _RFC3339.fullmatch(text)
    if match is None:
        raise ValueError("must be an RFC 3339 instant")
    date, hour, minute, second, sign, *offset = match.groups()
    if second == "60":
        east = int(f"{sign or '+'}1") * (int(offset[0] or 0) * 60 + int(offset[1] or 0))
        second = "59" if (int(hour) * 60 + int(minute) - east) % DAY_MINUTES == DAY_MINUTES - 1 else "60"
    datetime.fromisoformat(f"{date}T{hour}:{minute}:{second}")
    return text


def _one(value: Any) -> Any:
    if type(value) is not int or value != VERSION:  # True and 1.0 equal 1
        raise ValueError("must be the integer 1")
    return value


def _or_absent(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    try:
        return handler(value)
    except ValidationError:
        return None


Locale = Annotated[
    str,
    AfterValidator(_tag),
    WithJsonSchema({"type": "string", "pattern": TAG_PATTERN, "maxLength": MAX_TAG}),
]
"""A language tag."""

Version = Annotated[Literal[1], BeforeValidator(_one)]
Lenient = WrapValidator(_or_absent)
ShortText = Annotated[str, Field(max_length=256)]
NO_NUL = r"^[^\u0000]*$"
"""The pattern of a text that can be shown and kept; Postgres has no U+0000."""

Told = Annotated[str, Field(max_length=256, pattern=NO_NUL)]


class Wire(BaseModel):
    """What crosses the wire: camelCase, strict types, unknown fields ignored."""

    model_config = ConfigDict(
        strict=True, extra="ignore", frozen=True, alias_generator=to_camel, validate_by_name=False, title=None
    )


WireT = TypeVar("WireT", bound=Wire)


class Context(Wire):
    """Where the question came up. Goes to registrations that were set up for it, and to no other."""

    conversation_id: ShortText | None = None


class RetrieveRequest(Wire):
    """A question. Nothing else goes out."""

    query: Annotated[str, Field(min_length=1, max_length=MAX_QUERY)]
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = DEFAULT_LIMIT
    locale: Locale | None = None
    locale_fallback: bool | None = None
    context: Context | None = None

    def body(self) -> bytes:
        """The bytes to sign and send; what is not given is left out."""
        return self.model_dump_json(by_alias=True, exclude_none=True).encode()


class WireResult(Wire):
    """One result. ``title`` and ``snippet`` are text: markup in them is shown escaped, everywhere."""

    document_id: Annotated[str, Field(min_length=1, max_length=256, pattern=NO_NUL)]
    title: Annotated[str, Field(min_length=1, max_length=512, pattern=NO_NUL)]
    snippet: Annotated[str, Field(min_length=1, max_length=8_192, pattern=NO_NUL)]
    audience: Literal["public", "internal"]
    revision: Annotated[Told | None, Lenient] = None
    chunk_id: Annotated[Told | None, Lenient] = None
    url: Annotated[Annotated[str, Field(max_length=2_048, pattern=NO_NUL)] | None, Lenient] = None
    locale: Annotated[Locale | None, Lenient] = None
    score: Annotated[Annotated[float, Field(allow_inf_nan=False)] | None, Lenient] = None
    freshness: Annotated[Literal["current", "stale", "unknown"] | None, Lenient] = None
    review_due_at: Annotated[
        Annotated[
            str,
            Field(max_length=MAX_INSTANT),
            AfterValidator(_instant),
            WithJsonSchema({"type": "string", "format": "date-time", "maxLength": MAX_INSTANT}),
        ]
        | None,
        Lenient,
    ] = None
    translation_group_id: Annotated[Told | None, Lenient] = None

    @model_validator(mode="before")
    @classmethod
    def _unlabelled_is_internal(cls, value: Any) -> Any:
        return {"audience": "internal", **value} if isinstance(value, dict) else value

    @field_validator("audience", mode="wrap")
    @classmethod
    def _unknown_is_internal(cls, value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        return _or_absent(value, handler) or "internal"


class RetrieveResponse(Wire):
    """An answer: at most as many results as were asked for."""

    contract_version: Version
    results: list[WireResult]


class Capabilities(Wire):
    """What a provider can do beyond the minimum; words that this version does not know are ignored."""

    contract_version: Version
    capabilities: Annotated[list[str], Field(max_length=64)]

    @property
    def known(self) -> list[str]:
        """The words that mean something to this version, in one order."""
        return [word for word in CAPABILITIES if word in self.capabilities]


class WireProblem(Wire):
    """An error on the wire: problem+json (RFC 9457) with one of the contract's codes."""

    type: str = "about:blank"
    title: str = ""
    status: int | None = None
    detail: str = ""
    code: Literal[
        "unauthorized",
        "stale_timestamp",
        "replayed_nonce",
        "unsupported_version",
        "invalid_request",
        "rate_limited",
        "unavailable",
    ]


def parse_response(body: bytes, content_type: str | None, *, limit: int) -> list[WireResult]:
    """The results of a whole answer, or ContractFailure: nothing of a faulty answer is used."""
    answer = _checked(RetrieveResponse, body, content_type)
    if len(answer.results) > limit:
        raise ContractFailure("more results than were asked for")
    return answer.results


def parse_capabilities(body: bytes, content_type: str | None) -> Capabilities:
    """What a provider declares, or ContractFailure."""
    return _checked(Capabilities, body, content_type)


def parse_request(body: bytes, content_type: str | None) -> RetrieveRequest:
    """A question, as a provider reads it, or ContractFailure."""
    return _checked(RetrieveRequest, body, content_type)


def is_json(content_type: str | None) -> bool:
    """Whether the content type is the contract's: JSON, and in UTF-8 if it says so at all."""
    return content_type is not None and _CONTENT_TYPE.fullmatch(content_type.strip()) is not None


def _checked(model: type[WireT], body: bytes, content_type: str | None) -> WireT:
    if not is_json(content_type):
        raise ContractFailure("not application/json in UTF-8")
    try:
        return model.model_validate(strict_json.read(body))
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors(include_input=False, include_url=False)[0]["loc"])
        raise ContractFailure(f"{where or 'body'} breaks its rule") from None
    except ValueError as error:
        raise ContractFailure("not JSON in UTF-8") from error
