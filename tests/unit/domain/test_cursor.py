import base64
import json
from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.domain.cursor import MAX_CURSOR_LENGTH, Cursor, decode, encode

modest = settings(max_examples=50, deadline=None)

ROW = Cursor(datetime(2026, 11, 30, 2, 0, 0, 123456, tzinfo=UTC), UUID("6f2d1a34-9f0e-4b53-8f0c-2a1f6f1f9a10"))
FIRST, LAST = datetime(1, 1, 1, tzinfo=UTC), datetime.max.replace(tzinfo=UTC)

cursors = st.builds(Cursor, st.timedeltas(timedelta(0), LAST - FIRST).map(lambda delta: FIRST + delta), st.uuids())


def written(document: object) -> str:
    text = document if isinstance(document, str) else json.dumps(document, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


@given(cursors)
@modest
def test_a_cursor_comes_back_to_the_microsecond(cursor: Cursor) -> None:
    text = encode(cursor)
    assert decode(text) == cursor
    assert decode(text).time.tzinfo is UTC
    assert len(text) <= MAX_CURSOR_LENGTH
    assert set(text) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"), "it needs no quoting"


def test_one_instant_has_one_cursor_whatever_its_zone() -> None:
    assert encode(ROW._replace(time=ROW.time.astimezone(timezone(timedelta(hours=5))))) == encode(ROW)


ID = str(ROW.id)
DOCUMENTS: list[object] = [
    [],
    {},
    None,
    7,
    [1],
    [1, ID, 2],
    {"1": 1, "2": 2},
    ["1", ID],
    [1.0, ID],
    [True, ID],
    [None, ID],
    [[1], ID],
    [10**30, ID],
    [-(10**18), ID],
    [1, None],
    [1, 7],
    [1, [ID]],
    [1, ID.upper()],
    [1, ID.replace("-", "")],
    [1, f"{{{ID}}}"],
    [1, f"urn:uuid:{ID}"],
    [1, ""],
    f'[NaN,"{ID}"]',
    f'[Infinity,"{ID}"]',
    f'[1e3,"{ID}"]',
    f'[1, "{ID}"]',
    f'[01,"{ID}"]',
    f'[-0,"{ID}"]',
    f'[1,"{ID}"] ',
    f'[1,"{ID}"',
    "[" * 90,
    '"\\ud800"',
    "",
]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_of_another_shape_is_refused(document: object) -> None:
    with pytest.raises(ValueError, match="the cursor is not valid"):
        decode(written(document))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text + "=",
        lambda text: text + "==",
        lambda text: text[:-1],
        lambda text: text + "A",
        lambda text: " " + text,
        lambda text: text + "\n",
        lambda text: text[:5] + "!" + text[5:],
        lambda text: text[:-1] + ("B" if text[-1] == "A" else chr(ord(text[-1]) + 1)),
        lambda text: text + "é",
        lambda text: text * 3,
        lambda text: "A" * 10_000_000,
        lambda text: "",
    ],
)
def test_a_text_that_was_not_written_here_is_refused(spoil) -> None:
    with pytest.raises(ValueError, match="the cursor is not valid"):
        decode(spoil(encode(ROW)))


@given(
    st.text(st.characters(exclude_categories=[]))
    | st.binary(max_size=90).map(lambda raw: base64.urlsafe_b64encode(raw).decode())
)
@modest
def test_no_text_breaks_it(text: str) -> None:
    try:
        cursor = decode(text)
    except ValueError:
        return
    assert encode(cursor) == text
