"""Quotes the parts of passages that a question names by their printed numbers, exactly, and shows the nearest ones."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import dedent

from argot.tools.answering.quoting import find_ordering_units, read_units, render_quotation
from argot.tools.reading.numbered_references import find_numbered_references, measure_part_fit
from argot.tools.text.numbered_parts import find_numbered_parts
from argot.tools.text.part_labels import measure_label_distance
from argot.types import Hit


def quote_numbered_parts(parts: Sequence[tuple[str, int, int]], hits: Sequence[Hit]) -> list[str]:
    """Return the parts as Markdown, each with its number, in their order.

    Args:
        parts: passages (ids), each with [start, end) of its text.
    """
    texts = {hit.passage.id: hit.passage.text for hit in hits}
    pieces = [_quote(texts[id_][start:end]) for id_, start, end in parts if id_ in texts]
    return list(dict.fromkeys(filter(None, pieces)))


def _quote(text: str) -> str:
    # With its original indentation, a part of a list would be read as code.
    text = dedent(text).strip("\n")
    units, forbidden = read_units(text), find_ordering_units(text)
    return render_quotation([unit.number for unit in units if unit.number not in forbidden], units)


def find_nearest_numbered_text(question: str, passage: str) -> str:
    """Return the part of a passage with the number nearest to the one that the question names, on one line.

    Empty if the question names none, or if the nearest gives orders to the answerer.
    """
    references = find_numbered_references(question)
    fitting = [
        (-fit, measure_label_distance(part.label, references[0].label), part.start, part.end)
        for part in (find_numbered_parts(passage) if references else ())
        if (fit := measure_part_fit(references[0], part))
    ]
    if not fitting:
        return ""
    *_, start, end = min(fitting)
    text = passage[start:end]
    return "" if find_ordering_units(text) else " ".join(unit.plain for unit in read_units(dedent(text)))
