"""Conversion between domain values and the plain records of the state. Values are read back through the stores, and
checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import cast

from argot.graph.run_context import RunContext
from argot.graph.state import HitRecord, MentionRecord, ReadingRecord, ToolResultRecord, TurnPart
from argot.graph.tool_results import load_results
from argot.types import ContextScore, Document, Hit, Mention, Passage, ReadTerm, Sense

EXPLAINED_SENSE = 0
"""The sense id of a term that the question itself explains, or that the documents spell out."""

CHOSEN_BY_ASKER = ("your choice", "your earlier choice")
"""`chosen_by` of a sense that the asker chose."""


DEFINED_BY_DOCUMENTS = "the documents define it"
"""`chosen_by` of a meaning from the documents, which use the term itself: a search needs no other words for it."""

MIN_CLEAR_CONTEXT_SCORE = 0.8
"""Score (0 to 1) from which the question's context is certain, so that a term without a sense in it deserves a note."""

MIN_LIKELY_CONTEXT_SCORE = 0.5
"""Score from which the question is in this context rather than not, so that its contact may be named."""


def to_mention_record(mention: Mention) -> MentionRecord:
    return cast(MentionRecord, asdict(mention))


def to_mention(record: MentionRecord) -> Mention:
    return Mention(**record)  # type: ignore[arg-type]


def get_term(mention: Mention) -> str:
    """Return the glossary's spelling of the term if it has one, else the asker's."""
    return mention.term or mention.surface


def get_definitions(turn: TurnPart) -> str:
    """Return the meanings of the question's terms, as the augmented question adds them to it."""
    question, augmented = turn["stand_alone_question"], turn["augmented_question"]
    return augmented.removeprefix(question).strip() if augmented.startswith(question) else ""


def read_context_scores(turn: TurnPart) -> list[ContextScore]:
    return [ContextScore(name, score) for name, score in turn["contexts"]]


def to_hit_record(hit: Hit) -> HitRecord:
    return HitRecord(id=hit.passage.id, score=float(hit.score), found_by=dict(hit.found_by))


def load_hits(records: Sequence[HitRecord], run: RunContext, results: Sequence[ToolResultRecord] = ()) -> list[Hit]:
    """Return the passages of these records that the principal may read now, in their order.

    `results`: those of other servers, of whose pieces some may be among them.
    """
    found: Mapping[str, tuple[Passage, Document]] = {
        **run.corpus.store.passages(run.principal, [record["id"] for record in records]),
        **load_results(results, run.principal),
    }
    return [
        Hit(*found[record["id"]], score=record["score"], found_by=record["found_by"])
        for record in records
        # Replaced by a newer revision since, or closed to the asker.
        if record["id"] in found
    ]


def load_senses(terms: Iterable[str], run: RunContext) -> dict[int, Sense]:
    """Return every approved sense of these terms that the principal may read, by id."""
    wanted = sorted(set(terms))
    found = run.glossary.lookup.senses(run.principal, wanted) if wanted else {}
    return {sense.id: sense for senses in found.values() for sense in senses}


def read_terms(turn: TurnPart, run: RunContext) -> list[ReadTerm]:
    """Return the turn's terms with the senses that the principal may still know."""
    senses = load_senses((reading["term"] for reading in turn["readings"] if reading["sense"] != EXPLAINED_SENSE), run)
    read = (
        _read_term(reading, to_mention(turn["mentions"][reading["mention"]]), senses)
        for reading in turn["readings"]
        # Words of documents, limited to those that this person may still read.
        if not (meaning := reading.get("meaning")) or run.corpus.store.phrase_count(run.principal, meaning)
    )
    return [term for term in read if term is not None]


def find_agreed_context(turn: TurnPart, terms: Iterable[ReadTerm], least: float = 0.0) -> str | None:
    """Return the context that the turn's terms agree on, else the one identified in the question with at least this
    score.
    """
    names = {term.sense.context for term in terms if term.sense.context}
    # While a term is open its best guess must not determine the context.
    if len(names) == 1 and not turn["open_terms"]:
        return names.pop()
    return next((name for name, score in turn["contexts"] if score >= least), None)


def _read_term(reading: ReadingRecord, mention: Mention, senses: Mapping[int, Sense]) -> ReadTerm | None:
    if reading["sense"] == EXPLAINED_SENSE:
        sense: Sense | None = Sense(EXPLAINED_SENSE, mention.surface, "", reading.get("meaning") or mention.explained)
    else:
        sense = senses.get(reading["sense"])
    return ReadTerm(mention, sense, reading["margin"], reading["chosen_by"]) if sense else None
