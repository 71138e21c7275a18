"""Tracked changes of Word files: insertions are read and deletions are not, as if all were accepted."""

from __future__ import annotations

from collections import Counter
from typing import Any

from argot.corpus.readers.docx_package import W

_INSERTION_TAGS = (f"{W}ins", f"{W}moveTo")
_DELETION_TAGS = (f"{W}del", f"{W}moveFrom")
_MAX_NAMED_AUTHORS = 3


def describe_changes(root: Any) -> tuple[str, ...]:
    """Return one warning such as "3 tracked changes by Ann Lee are not accepted yet"; none where there are none."""
    authors: Counter[str] = Counter()
    for change in root.iter(*_INSERTION_TAGS, *_DELETION_TAGS):
        # A mark without text is that of a paragraph's end or of formatting.
        if next(change.iter(f"{W}t", f"{W}delText"), None) is not None:
            authors[" ".join(str(change.get(f"{W}author") or "").split())] += 1
    number = authors.total()
    if not number:
        return ()
    named = [author for author, _ in authors.most_common() if author]
    others = len(named) - _MAX_NAMED_AUTHORS
    listed = [*named[:_MAX_NAMED_AUTHORS], *([f"{others} more"] if others > 0 else [])]
    by = f" by {', '.join(listed[:-1])}{' and ' if len(listed) > 1 else ''}{listed[-1]}" if listed else ""
    return (
        f"{number:,} tracked change{'s' if number > 1 else ''}{by} {'are' if number > 1 else 'is'} not accepted yet",
    )
