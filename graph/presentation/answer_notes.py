"""The notes under an answer: how the question was read, what contradicts the answer, and what it leaves out."""

from __future__ import annotations

from collections.abc import Sequence

from argot.graph.presentation.document_notes import (
    write_change_notes,
    write_disagreement_note,
    write_succession_notes,
    write_value_change_note,
)
from argot.graph.presentation.language_wording import write_language_notes
from argot.graph.presentation.turn_reading import TurnReading, join_text
from argot.graph.presentation.wording import write_notes, write_selection_note
from argot.graph.run_context import RunContext
from argot.languages.catalogues import translate
from argot.results import WRITTEN_BY, FoundPassage
from argot.tools.answering.changed_values import find_changed_values
from argot.tools.answering.disagreements import find_disagreements
from argot.tools.answering.selections import count_quoted
from argot.tools.reading.answer_types import AnswerType, asks_for_all, asks_for_several, find_answer_type
from argot.tools.reading.asked_units import find_missing_unit
from argot.types import Document, Passage

VALUES: tuple[AnswerType, ...] = ("quantity", "time", "person")
"""Types of an answer that a single entry of a list or table can be."""
MAX_DISAGREEMENTS = 3
"""Number of notes under one answer about disagreeing passages, and about those that change a number."""


def write_reading_notes(reading: TurnReading, passages: Sequence[FoundPassage], run: RunContext) -> list[str]:
    """Return the notes about a turn and the documents behind its answer."""
    cited_text = "\n".join(held[0].with_header for _, held in _list_cited(reading))
    notes = write_notes(
        reading.turn, reading.terms, reading.senses, cited_text=cited_text, hidden=_count_hidden(reading)
    )
    documents = [reading.passages[one.passage_id][1] for one in passages]
    cited = {held[1].id: held[1] for _, held in _list_cited(reading)}
    document_notes = []
    if reading.turn["status"] == "answered":
        document_notes = [
            *_write_disagreements(reading),
            *_write_value_changes(reading),
            *write_succession_notes(documents, cited),
        ]
        document_notes += write_change_notes(cited.values(), run)
    languages = write_language_notes(reading, [passage for _, (passage, _) in _list_cited(reading)])
    return [*notes, *_write_unit_notes(reading), *_write_selections(reading), *document_notes, *languages]


def _write_unit_notes(reading: TurnReading) -> list[str]:
    """Return a note if the question wants a unit that the quoted answer does not give: nothing is converted."""
    turn = reading.turn
    if turn["status"] != "answered" or turn.get("answered_by") in WRITTEN_BY:
        return []
    unit = find_missing_unit(turn["stand_alone_question"], join_text(reading))
    text = "The answer is not in %(unit)s: Argot quotes, and converts nothing."
    return [translate(text, unit=unit)] if unit else []


def _write_disagreements(reading: TurnReading) -> list[str]:
    """Return notes about found passages that state a different number than the cited one."""
    found = [reading.passages[hit["id"]] for hit in reading.turn["hits"] if hit["id"] in reading.passages]
    notes = dict.fromkeys(map(write_disagreement_note, find_disagreements(_list_cited(reading), found)))
    return list(notes)[:MAX_DISAGREEMENTS]


def _write_value_changes(reading: TurnReading) -> list[str]:
    """Return notes about found passages that replace a number of the answer and that it does not cite."""
    cited = _list_cited(reading)
    held = {passage.id for _, (passage, _) in cited}
    found = [reading.passages[hit["id"]] for hit in reading.turn["hits"] if hit["id"] in reading.passages]
    others = [one for one in found if one[0].id not in held]
    changes = [change for text, one in cited for change in find_changed_values(text, one, others)]
    return list(dict.fromkeys(map(write_value_change_note, changes)))[:MAX_DISAGREEMENTS]


def _list_cited(reading: TurnReading) -> list[tuple[str, tuple[Passage, Document]]]:
    """Return the sentences that cite passages, each with the first of these."""
    return [
        (sentence["text"], reading.passages[citation["passage"]])
        for sentence in reading.turn["sentences"]
        if reading.shows(sentence)
        for citation in sentence["citations"][:1]
    ]


def _write_selections(reading: TurnReading) -> list[str]:
    """Return notes about lists and tables quoted in part, if the question asked for several things."""
    turn = reading.turn
    question, quotes = turn["stand_alone_question"], turn.get("answered_by") not in WRITTEN_BY
    if turn["status"] != "answered" or not quotes or turn.get("whole"):
        return []
    if not asks_for_several(question):
        return []
    shown = [sentence for sentence in turn["sentences"] if reading.shows(sentence)]
    cited = dict.fromkeys(citation["passage"] for sentence in shown for citation in sentence["citations"])
    texts = [sentence["text"] for sentence in shown]
    counts = [(id_, count_quoted(texts, reading.passages[id_][0].with_columns)) for id_ in cited]
    # "How many bytes is the field?" is answered by one entry, and no other is missing.
    least = 2 if find_answer_type(question) in VALUES and not asks_for_all(question) else 1
    return [write_selection_note(*count, reading.passages[id_][1].name) for id_, count in counts if count[0] >= least]


def _count_hidden(reading: TurnReading) -> int:
    closed = len(reading.turn.get("defined", [])) - len(reading.defined_senses)
    return closed + sum(not reading.shows(sentence) for sentence in reading.turn["sentences"])
