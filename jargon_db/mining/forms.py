"""All short and long forms of a text: the pairs, and short forms that the text never spells out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from argot.jargon_db.mining.pairs import Pair, Span, TextBlock
from argot.jargon_db.mining.tokenizer import blank_markup, split_blocks


@dataclass(frozen=True, slots=True)
class Forms:
    """Spans of the text, in order, each kind without overlaps; and which belong together."""

    short: tuple[Span, ...]
    long: tuple[Span, ...]
    pairs: tuple[Pair, ...]


def find_forms(text: str) -> Forms:
    """Return the short forms of a text, by shape or because they are spelt out, and the long forms that spell them."""
    plain = blank_markup(text)
    short: list[Span] = []
    pairs: list[Pair] = []
    for offset, piece in split_blocks(plain):
        block = TextBlock(piece)
        found = block.pairs()
        paired = [_shift(pair.short, offset) for pair in found]
        longs = [_shift(pair.long, offset) for pair in found]
        short += paired
        taken = (*paired, *longs)
        for run in block.runs:
            span = Span(block.tokens[run.first].start + offset, block.tokens[run.last].end + offset)
            # A short form within a long form ("NAND" in "NAND flash memory") belongs to it.
            if not any(span.overlaps(other) for other in taken):
                short.append(span)
        pairs += [
            Pair(one, other, pair.kind, pair.score) for one, other, pair in zip(paired, longs, found, strict=True)
        ]
    return Forms(_sort_spans(short), _sort_spans([pair.long for pair in pairs]), tuple(pairs))


def _shift(span: Span, by: int) -> Span:
    return Span(span.start + by, span.end + by)


def _sort_spans(spans: Sequence[Span]) -> tuple[Span, ...]:
    return tuple(sorted(spans, key=lambda span: span.start))
