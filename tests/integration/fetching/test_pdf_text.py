"""A PDF is read by a process of its own."""

from __future__ import annotations

import io
import zlib

import pytest
from pypdf import PdfReader, PdfWriter

from chalicelib.fetching.extract import ExtractionError, extract


def status(body: bytes) -> str:
    with pytest.raises(ExtractionError) as raised:
        extract(body, "application/pdf")
    return raised.value.status


def minimal_pdf(*lines: str, title: str = "Guide") -> bytes:
    """A PDF of one page with one line of text for each argument."""
    shown = "".join(f"BT /F1 12 Tf 72 {720 - 20 * row} Td ({line}) Tj ET\n" for row, line in enumerate(lines))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        " /Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(shown)} >>\nstream\n{shown}endstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< /Title ({title}) >>",
    ]
    body, places = "%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n{one}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"trailer << /Size 7 /Root 1 0 R /Info 6 0 R >>\nstartxref\n{len(body)}\n%%EOF"
    return f"{body}xref\n0 7\n0000000000 65535 f \n{table}{end}".encode()


def test_pdf_gives_its_text_and_title() -> None:
    found = extract(minimal_pdf("First line", "Second line"), "application/pdf")
    assert (found.title, found.text.split("\n")) == ("Guide", ["First line", "Second line"])


def test_pdf_of_pictures_is_empty() -> None:
    assert status(minimal_pdf()) == "empty"


def test_pdf_under_a_password_is_refused() -> None:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(minimal_pdf("text"))))
    writer.encrypt("user password", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    assert status(out.getvalue()) == "unsupported_type"


def test_pdf_that_unpacks_to_too_much_is_too_large() -> None:
    packed = zlib.compress(b" " * 400_000_000, 1)
    shown = b"<< /Length %d /Filter /FlateDecode >>\nstream\n" % len(packed)
    body = minimal_pdf("text")
    start = body.index(b"<< /Length")
    bomb = body[:start] + shown + packed + body[body.index(b"endstream", start) :]
    assert status(bomb) == "too_large"


def test_what_is_no_pdf_is_damage() -> None:
    assert status(b"not a PDF") == "damaged_text"
