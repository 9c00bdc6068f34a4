"""The text of a PDF, read in a process of its own: a crafted file may take any time and memory, and both end there."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from chalicelib.fetching.extracted import MAX_CHARACTERS, ExtractionError

MAX_PAGES = 1000
MAX_SECONDS = 20
MAX_MEMORY = 1 << 30


@dataclass(frozen=True)
class PdfText:
    """The text of all pages, one after the other, and the title that the file states."""

    text: str
    title: str | None


def read_pdf(body: bytes) -> PdfText:
    """Read a PDF. Raises `ExtractionError`: encrypted (unsupported_type), over a limit, or not readable."""
    try:
        child = subprocess.run(  # noqa: S603 -- this very file, and no word of the input on the command line
            [sys.executable, "-P", __file__],
            input=body,
            capture_output=True,
            timeout=MAX_SECONDS,
            env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONDONTWRITEBYTECODE": "1"},
            check=False,
        )
        answer = json.loads(child.stdout)
    except subprocess.TimeoutExpired:
        raise ExtractionError("too_large", f"the PDF takes more than {MAX_SECONDS} s to read") from None
    except ValueError:  # it died
        if child.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            raise ExtractionError("too_large", f"the PDF takes more than {MAX_SECONDS} s to read") from None
        raise ExtractionError("damaged_text", "the PDF can't be read") from None
    if "status" in answer:
        raise ExtractionError(answer["status"], answer["detail"])
    return PdfText(answer["text"], answer["title"])


def _read(body: bytes) -> dict[str, Any]:
    from pypdf import PdfReader  # slow to import, and needed in the child alone
    from pypdf.errors import LimitReachedError, PyPdfError

    try:
        reader = PdfReader(io.BytesIO(body), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            return {"status": "unsupported_type", "detail": "the PDF is encrypted"}
        if len(reader.pages) > MAX_PAGES:
            return {"status": "too_large", "detail": f"the PDF has more than {MAX_PAGES} pages"}
        pages: list[str] = []
        for page in reader.pages:
            pages.append(page.extract_text())
            if sum(map(len, pages)) > MAX_CHARACTERS:
                return {"status": "too_large", "detail": f"the PDF has more than {MAX_CHARACTERS} characters"}
        title = reader.metadata.title if reader.metadata else None
        return {"text": "\n".join(pages), "title": str(title) if title else None}
    except (MemoryError, RecursionError, LimitReachedError):
        return {"status": "too_large", "detail": "the PDF takes too much memory to read"}
    except PyPdfError:
        return {"status": "damaged_text", "detail": "the PDF can't be read"}


def _main() -> None:
    import resource  # not everywhere, and needed in the child alone

    for limit, value in ((resource.RLIMIT_CPU, MAX_SECONDS), (resource.RLIMIT_AS, MAX_MEMORY)):
        with contextlib.suppress(ValueError, OSError):  # a system that has its own, lower one
            resource.setrlimit(limit, (value, value))
    sys.stdout.write(json.dumps(_read(sys.stdin.buffer.read())))


if __name__ == "__main__":
    _main()
