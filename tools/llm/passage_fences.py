"""Passages as a prompt contains them: each numbered in its fence, with its source, date and status, and with a sign
where its list or table was cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from argot.corpus.chunking.blocks import strip_heading
from argot.document_status import is_status
from argot.prompts.fences import wrap_in_fence
from argot.types import Document, Hit, Passage

CUT_SIGN = "[...]"
"""Stands where a list or table goes on before or after the passage; the prompt `cited_answer` says so."""
MAX_SOURCE_CHARS = 160  # characters of a title with headings, beyond which middle headings are left out
_SEPARATOR = " > "


def wrap_passages(
    hits: Sequence[Hit],
    cut_lists: Mapping[str, tuple[bool, bool]] | None = None,
    numbers: Sequence[int] | None = None,
) -> list[str]:
    """Return each passage in its fence, numbered from 1, best first, unless other `numbers` are given. `cut_lists`: as
    in `AnswerRequest`.
    """
    cuts = cut_lists or {}
    return [
        wrap_in_fence(
            "passage",
            _join_text(hit.passage, *cuts.get(hit.passage.id, (False, False))),
            n=n,
            source=describe_source(hit.passage, hit.document.title) or None,
            date=(hit.document.date or "")[:10] or None,
            status=_read_status(hit.document),
        )
        for n, hit in zip(numbers or range(1, len(hits) + 1), hits, strict=True)
    ]


def number_passages(passages: Iterable[tuple[str, str]]) -> list[str]:
    """Return each text in its fence, numbered from 1, with its source, if it has one."""
    return [wrap_in_fence("passage", text, n=n, source=source or None) for n, (text, source) in enumerate(passages, 1)]


def describe_source(passage: Passage, title: str = "") -> str:
    """Return the title and the headings above a passage on one line, without headings that its text begins with.

    If they are too long for one line, those in the middle are left out.
    """
    line = passage.header.partition("\n")[0] or title
    page = f" ({passage.page_kind} {passage.page})" if passage.page is not None and line.endswith(")") else ""
    parts = line.removesuffix(page).split(_SEPARATOR)
    parts = [parts[0], *(part for above, part in pairwise(parts) if part.casefold() != above.casefold())]
    headings = _read_first_headings(passage.text)
    while len(parts) > 1 and headings and parts[-1].casefold() == headings.pop().casefold():
        parts.pop()
    if len(_SEPARATOR.join(parts)) > MAX_SOURCE_CHARS and len(parts) > 2:
        inner = [parts.pop()]
        while len(parts) > 1 and len(_SEPARATOR.join([parts[0], "…", parts[-1], *inner])) <= MAX_SOURCE_CHARS:
            inner.insert(0, parts.pop())
        parts = [parts[0], "…", *inner]
    return _SEPARATOR.join(parts) + page


def _join_text(passage: Passage, cut_before: bool, cut_after: bool) -> str:
    # The second line of the header: the columns of a table, or what introduces a list.
    above = passage.header.partition("\n")[2]
    signs = CUT_SIGN if cut_before else "", CUT_SIGN if cut_after else ""
    return "\n".join(filter(None, [above, signs[0], passage.text, signs[1]]))


def _read_first_headings(text: str) -> list[str]:
    """Return the headings with which a text begins, the outermost first."""
    found = []
    for line in text.split("\n"):
        if line.startswith("#"):
            found.append(strip_heading(line.strip("# ")))
        elif line.strip():
            break
    return found


def _read_status(document: Document) -> str | None:
    """Return the status in the document's own metadata, unless it is a sentence."""
    return next(filter(is_status, document.values("status")), None)
