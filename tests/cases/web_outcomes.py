"""The words in which cases tell how a refresh ended, as Larder's."""

from __future__ import annotations

import re

from chalicelib.domain.outcome import Outcome
from tests.cases.generator_words import Unreadable

_FAILED = frozenset(str(one) for one in Outcome if one.is_failure)
_UNREACHABLE = frozenset({"unreachable"})
_MEANINGS: tuple[tuple[str, frozenset[str]], ...] = (
    (r"suspicious|review|doubt|held|quarantin", frozenset({"needs_review"})),
    (r"^blocked$|403|401|forbidden|unauthori[sz]ed|login required", frozenset({"http_403", "refused"})),
    (r"404|410|gone|not[ _]found", frozenset({"http_404"})),
    (r"429|rate[ _-]?limit|throttl", frozenset({"http_429"})),
    (r"408|time[ _-]?out|timed out", frozenset({"timeout"})),
    (r"\b20[456]\b|no content|partial", frozenset({"empty", "unreachable"})),
    (r"5\d\d|5xx|server error|unavailable", frozenset({"http_5xx"})),
    (r"4\d\d|4xx", frozenset({"http_4xx", "http_403", "http_404", "http_429"})),
    (r"embedd?ing|model", frozenset({"embedding_failed"})),
    (r"damaged|mojibake|encoding", frozenset({"damaged_text"})),
    (r"empty|no text|no_text", frozenset({"empty"})),
    (r"too[ _]large|too[ _]many chunks|size", frozenset({"too_large"})),
    (r"type|unsupported", frozenset({"unsupported_type"})),
    (r"truncat|incomplete|dns|connect|network|tls|certificate|unreachable|framing|redirect|protocol|reset",
     _UNREACHABLE),
    (r"refused|ssrf|address|reject", frozenset({"refused"})),
    (r"superseded|stale job|discard|lost[ _]lease|lost the lease",
     frozenset({"lost_lease", "superseded", "source_changed", "nothing_to_do"})),
    (r"skipped|inactive|no-?op|nothing|duplicate|ignored|acknowledged",
     frozenset({"skipped_inactive", "nothing_to_do", "lost_lease", "source_changed", "tenant_disabled", "superseded"})),
    (r"unchanged|not[ _]modified|304|no change|same", frozenset({"unchanged"})),
    (r"^(new|new[ _]version|updated|changed|stored|published|replaced)$", frozenset({"new_version"})),
    (r"^(ok|success|succeeded|done|completed?|200|fresh|checked)$", frozenset({"new_version", "unchanged"})),
    (r"^(internal|error|crash\w*)$", frozenset({"internal_error"})),
    (r"^(failed|failure|fails?)$", _FAILED),
)  # fmt: skip


def meant_by(words: str) -> frozenset[str]:
    """Larder's words for a status that a case tells: ``failed:503`` is ``http_5xx``. Raises Unreadable."""
    bare = words.strip().lower()
    if bare in frozenset(Outcome):
        return frozenset({bare})
    bare = re.sub(r"^(failed|failure|error|rejected|status)\s*[:/]\s*", "", bare)
    if bare in frozenset(Outcome):
        return frozenset({bare})
    found = next((outcomes for pattern, outcomes in _MEANINGS if re.search(pattern, bare)), None)
    if found is None:
        raise Unreadable(words)
    return found
