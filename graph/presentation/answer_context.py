"""The text around a quoted answer, read from the passages that it cites."""

from __future__ import annotations

from collections.abc import Sequence

from argot.graph.presentation.found_passages import Visible
from argot.graph.state import TurnPart
from argot.results import WRITTEN_BY, AnswerContext, Citation, Sentence
from argot.tools.answering.surroundings import find_surroundings


def build_answer_context(turn: TurnPart, sentences: Sequence[Sentence], passages: Visible) -> list[AnswerContext]:
    """Return the text around the answer in each passage that it quotes; none for a model's answer or an outline."""
    if turn["status"] != "answered" or turn.get("answered_by") in WRITTEN_BY or turn.get("whole"):
        return []
    cited: dict[str, list[Citation]] = {}
    for sentence in sentences:
        for citation in sentence.citations:
            cited.setdefault(citation.passage_id, []).append(citation)
    found = (_surround(of_passage, passages) for of_passage in cited.values())
    return [one for one in found if one is not None]


def _surround(citations: Sequence[Citation], passages: Visible) -> AnswerContext | None:
    passage = passages[citations[0].passage_id][0]
    text = passage.with_columns
    # Citations count from the start of the document, and the row that names the columns is not in the passage.
    shift = len(text) - len(passage.text) - passage.start
    found = find_surroundings(text, [(start + shift, end + shift) for start, end in (one.span for one in citations)])
    if found is None:
        return None
    return AnswerContext(n=citations[0].n, passage_id=passage.id, text=found.text, spans=list(found.spans))
