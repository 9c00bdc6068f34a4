"""One question to an OpenAI-compatible model, ``POST {endpoint}/chat/completions``, through the guard, and no retry.

The answer is a stranger's: it is bounded, read strictly, and handed on as a text that no gate has seen yet.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from chalicelib.errors import LarderError
from chalicelib.fetching import ssrf
from chalicelib.fetching.errors import FetchError
from chalicelib.fetching.ssrf import FetchPolicy
from chalicelib.knowledge import strict_json
from chalicelib.knowledge.exchange import Post

SECONDS = 60.0
MAX_BODY_BYTES = 65_536


class WritingFailed(LarderError):
    """No text that can be used. ``reason`` is a word for the tenant, ``cause`` one for the operator's log.

    Neither tells anything of what was sent or answered.
    """

    def __init__(self, reason: str, cause: str | None = None) -> None:
        super().__init__(cause or reason)
        self.reason, self.cause = reason, cause or reason


@dataclass(frozen=True, slots=True)
class Model:
    """Where the model is and what it is called. ``key`` None: it asks for none."""

    endpoint: str
    name: str
    key: str | None = field(repr=False)
    policy: FetchPolicy


def complete(
    model: Model,
    messages: Sequence[dict[str, str]],
    *,
    max_tokens: int,
    post: Post = ssrf.post,
    seconds: float = SECONDS,
) -> str:
    """The text that the model answers with.

    Raises WritingFailed: the guard's word, ``http_…``, ``not_json``, ``no_text``, ``cut_off`` where the model ran out
    of tokens, or ``not_finished`` where it stopped for another reason, such as a filter. Some servers name none.
    """
    question = {
        "model": model.name,
        "messages": list(messages),
        "temperature": 0,
        "max_tokens": max_tokens,
        "stream": False,
    }
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if model.key:
        headers["Authorization"] = f"Bearer {model.key}"
    try:
        answer = post(
            f"{model.endpoint.rstrip('/')}/chat/completions",
            json.dumps(question).encode(),
            headers,
            model.policy,
            timeout_seconds=seconds,
            max_body_bytes=MAX_BODY_BYTES,
        )
    except FetchError as error:
        raise WritingFailed(error.reason.status, error.reason.value) from None
    if answer.status != 200:
        raise WritingFailed(f"http_{answer.status}")
    return _text_in(answer.body)


def _text_in(body: bytes) -> str:
    try:
        document = strict_json.read(body)
    except ValueError:
        raise WritingFailed("not_json") from None
    try:
        choice = document["choices"][0]
        text, end = choice["message"]["content"], choice.get("finish_reason")
    except (TypeError, KeyError, IndexError, AttributeError):
        raise WritingFailed("no_text") from None
    if end == "length":
        raise WritingFailed("cut_off")
    if end not in (None, "stop"):
        raise WritingFailed("not_finished")
    if not isinstance(text, str) or not text.strip():
        raise WritingFailed("no_text")
    return text
