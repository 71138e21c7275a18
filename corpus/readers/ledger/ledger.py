"""The ledger of one file: its words, and which of them were read, left out by a rule, and lost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from argot.corpus.readers.ledger.source_text import SourceText
from argot.corpus.readers.ledger.words import (
    iter_spellings,
    split_markdown_symbols,
    split_markdown_words,
    split_symbols,
    split_words,
)
from argot.types import ParsedDocument

TEXT = "text"
EQUATION = "equation"
Teller = Literal["", "reader", "ledger"]
_MAX_EXAMPLES = 8
_MAX_NAMED_KINDS = 4
"""Number named in a warning."""
MIN_LOST_TEXT_WORDS = 3
MIN_LOST_TEXT_SHARE = 0.001
"""Share of the words of running text; readers and census split and join some words differently (a drop capital, a
hyphen)."""
_PLURALS = {"text box": "text boxes", "check box": "check boxes", "SmartArt": "SmartArt", TEXT: "the running text"}


@dataclass(slots=True)
class LostWords:
    """The words of one kind at one place that are neither in the Markdown nor left out by a rule."""

    place: str
    kind: str
    words: int = 0
    examples: list[str] = field(default_factory=list)
    told_by: Teller = ""
    """Kind in whose warning the loss of these parts was reported."""


@dataclass(slots=True)
class Ledger:
    """The words of a file: `held` is the sum of `kept`, of `left_out` (by rule) and of the words in `lost`."""

    held: int = 0
    kept: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    lost: list[LostWords] = field(default_factory=list)
    shortfall: str = ""
    """Why the census was not completed; empty if it was."""

    @property
    def lost_words(self) -> int:
        return sum(one.words for one in self.lost)

    def count_lost_by_kind(self, told_by: Teller) -> Counter[str]:
        """Return how many words of each kind are lost, whether or not a warning of this ledger covers them."""
        counts: Counter[str] = Counter()
        for one in self.lost:
            counts[one.kind] += one.words if one.told_by == told_by else 0
        return +counts


def compare_words(parsed: ParsedDocument, texts: Iterable[SourceText]) -> Ledger:
    """Compare all text of a file with the text read from it.

    A word that was read serves one place: first the running text, then other kinds, then text that a rule leaves out.
    """
    unused = _read_words(parsed)
    has_formulas = any(word[0] == "=" for word in unused)
    ledger = Ledger()
    waiting: list[tuple[SourceText, list[str]]] = []
    lost: dict[tuple[str, str], LostWords] = {}
    for text in texts:
        as_symbols = has_formulas and text.kind == EQUATION
        words = list(split_symbols(text.text)) if as_symbols else split_words(text.text)
        ledger.held += len(words)
        if text.rule or text.kind != TEXT:
            waiting.append((text, words))
        else:
            _enter(ledger, lost, text, words, unused)
    for text, words in sorted(waiting, key=lambda one: bool(one[0].rule)):
        _enter(ledger, lost, text, words, unused)
    ledger.lost = list(lost.values())
    for one in ledger.lost:
        one.told_by = "reader" if _is_reported(one, parsed.warnings) else ""
    counts = ledger.count_lost_by_kind("")
    for one in ledger.lost:
        if not one.told_by and _is_worth_reporting(ledger, one.kind, counts[one.kind]):
            one.told_by = "ledger"
    return ledger


def _read_words(parsed: ParsedDocument) -> Counter[str]:
    read = Counter(split_markdown_words(parsed.markdown))
    for text in (parsed.title, *parsed.warnings, *(f"{one.name} {one.value}" for one in parsed.fields)):
        read.update(split_words(text))
    read.update(split_markdown_symbols(parsed.markdown))
    return read


def _enter(
    ledger: Ledger,
    lost: dict[tuple[str, str], LostWords],
    text: SourceText,
    words: Sequence[str],
    unused: Counter[str],
) -> None:
    missing = list(_take_words(words, unused))
    ledger.kept += len(words) - len(missing)
    if not missing:
        return
    if text.rule:
        ledger.left_out[text.rule] += len(missing)
        return
    entry = lost.setdefault((text.place, text.kind), LostWords(text.place, text.kind))
    entry.words += len(missing)
    if len(entry.examples) < _MAX_EXAMPLES:
        entry.examples.append(" ".join(missing)[:200])


def _take_words(words: Sequence[str], unused: Counter[str]) -> Iterator[str]:
    """Remove the words from those that were read, and yield each one that is missing."""
    for word, count in Counter(words).items():
        left = unused.get(word, 0)
        unused[word] = max(0, left - count)
        for _ in range(count - left):
            if not _take_other_spelling(unused, word):
                yield word


def _take_other_spelling(unused: Counter[str], word: str) -> bool:
    for parts in iter_spellings(word):
        if parts and all(unused.get(part, 0) >= parts.count(part) for part in parts):
            unused.subtract(parts)
            return True
    return False


# -- warnings ---------------------------------------------------------------------------------------------------------

_NOT_READ_PHRASES = re.compile(
    r"not read|left out|not legible|hardly legible|without a value|looks scanned|not those that", re.I
)


def _is_reported(lost: LostWords, warnings: Sequence[str]) -> bool:
    names = _NAMES_IN_WARNINGS.get(lost.kind, lost.kind)
    pattern = re.compile(rf"\b(?:{names})(?:s|es)?\b", re.IGNORECASE)
    return any(_NOT_READ_PHRASES.search(warning) and pattern.search(warning) for warning in warnings)


_NAMES_IN_WARNINGS = {
    "cell": "cell|column|formula",
    "note": "note|speaker note",
    "SmartArt": "SmartArt|diagram",
    "attached file": "attachment|attached file",
    "embedded file": "embedded file|attached file|object",
    "embedded part": "embedded part|part",
    "form field": "form field|field",
    "annotation": "annotation|comment|note",
    "picture description": "picture",
    TEXT: "page|(?<!hidden )text",  # hidden text is left out on purpose: that explains no other loss
}
"""Words by which a reader's warning refers to a kind, besides the kind's own name."""


def warn_of_lost_words(ledger: Ledger) -> str:
    """Return a warning such as "37 words were not read: 30 in comments, 7 in text boxes"; empty if none is due."""
    lost = ledger.count_lost_by_kind("ledger")
    if not lost:
        return ""
    total = sum(lost.values())
    first = sorted(lost.items(), key=lambda one: -one[1])
    named = [f"{count:,} in {_format_plural(kind)}" for kind, count in first[:_MAX_NAMED_KINDS]]
    rest = sum(count for _, count in first[_MAX_NAMED_KINDS:])
    named += [f"{rest:,} elsewhere"] if rest else []
    return f"{total:,} {'word was' if total == 1 else 'words were'} not read: {', '.join(named)}"


def _is_worth_reporting(ledger: Ledger, kind: str, count: int) -> bool:
    if kind == TEXT:
        return count >= MIN_LOST_TEXT_WORDS and count >= MIN_LOST_TEXT_SHARE * ledger.held
    return count > 0


def _format_plural(kind: str) -> str:
    return _PLURALS.get(kind, f"{kind[:-1]}ies" if kind.endswith("entry") else f"{kind}s")
