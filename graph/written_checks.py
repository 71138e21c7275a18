"""Check of a text that a model or a person wrote, against the passages that it may rest on."""

from __future__ import annotations

from collections.abc import Sequence

from argot.graph.claim_verification import cite_by_model
from argot.graph.draft_checking import accept_unsourced, check_draft, cite_verdicts, find_named
from argot.graph.run_context import RunContext
from argot.graph.state import SentenceRecord
from argot.graph.table_cells import join_cells
from argot.question_threads import call_in_thread
from argot.types import Hit


async def check_written(draft: str, hits: Sequence[Hit], run: RunContext, question: str) -> list[SentenceRecord]:
    """Return the sentences of a written text with the places that support them. The model is asked about those that
    matching of words leaves undecided. `question`: the question, with the meanings of its terms.
    """
    sentences = await call_in_thread(check_draft, draft, hits, run, question)
    if not run.profile.match_references:
        return sentences
    named = find_named(draft, sentences, hits)
    _accept_by_rules(sentences, hits, question)  # about these the model need not be asked
    await cite_by_model(sentences, named, hits, run, question)
    _accept_by_rules(sentences, hits, question)  # these rest on what it confirmed
    return join_cells(sentences)


def _accept_by_rules(sentences: Sequence[SentenceRecord], hits: Sequence[Hit], question: str) -> None:
    accept_unsourced(sentences, hits, question)
    cite_verdicts(sentences)
