from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from argot.corpus.embedding.cosine_scale import rescale_cosines
from argot.graph.node_frame import Step, send_piece
from argot.graph.run_context import RunContext
from argot.graph.state import SentenceRecord, State
from argot.graph.state_records import EXPLAINED_SENSE, to_mention
from argot.graph.verified_answers import list_hits, make_keys, read_sentences
from argot.jargon_db.store.verified_answers import VerifiedAnswer
from argot.question_threads import call_in_thread
from argot.tools.reading.same_questions import MIN_LIKENESS, make_plain_key
from argot.tools.reading.typing_errors import correct_words
from argot.types import ALL_DOCUMENTS


async def find_verified(state: State, run: RunContext) -> Step:
    """Give the answer that an owner of its documents or terms verified for this question, if the asker may read
    everything that it rests on; nothing is searched then.

    Only a question that stands alone and is asked of all documents gets one, read in the senses that the owner saw. An
    asker who wants it answered again gets a new answer.
    """
    found = await call_in_thread(_find_answer, state, run) if _is_open_to_verified(state, run) else None
    if found is None:
        return Step({})
    answer, sentences = found
    if sentences:
        send_piece("".join(one["gap"] + one["text"] for one in sentences).strip())
    hits = list_hits(sentences)
    return Step(
        {
            "sentences": sentences,
            "defined": answer.content.defined,
            "hits": hits,
            "evidence": 1.0,
            "enough_evidence": True,
            "answered_by": "person",
            "verified": {"id": answer.id, "at": answer.at},
            "unknown": [],
            "status": "answered",
        },
        "an owner verified the answer",
    )


def _is_open_to_verified(state: State, run: RunContext) -> bool:
    """Return whether a verified answer may be given to the question at all, whatever it asks."""
    # Nobody asks a measurement's questions; and what is measured is how Argot answers.
    if not (run.records_misses and run.profile.generate_answer and run.profile.match_references):
        return False
    is_narrowed = run.scope != ALL_DOCUMENTS or run.documents or state.get("scope") or state.get("subjects")
    if is_narrowed or state.get("files") or state.get("whole") or state.get("again"):
        return False
    return correct_words(state["question"], state["corrected"]) == state["stand_alone_question"]


def _find_answer(state: State, run: RunContext) -> tuple[VerifiedAnswer, list[SentenceRecord]] | None:
    for answer in _list_candidates(state, run):
        if _is_same_question(state["stand_alone_question"], answer.question, run) and not run.is_shut_out(answer.owner):
            sentences = read_sentences(answer, run.corpus.store, run.glossary, run.principal)
            if sentences is not None:
                return answer, sentences
    return None


def _list_candidates(state: State, run: RunContext) -> Iterator[VerifiedAnswer]:
    """Yield the answers to a question with these words, the same wording first, if the asker's terms have the senses
    that the owner saw.
    """
    if any(one.get("meaning") for one in state["readings"]):  # from documents, of which each reader has their own
        return
    senses = {one["sense"] for one in state["readings"]} - {EXPLAINED_SENSE}
    plain, key = make_keys(state["stand_alone_question"], [to_mention(one) for one in state["mentions"]])
    found = run.glossary.verified.find((plain, key))
    for one in sorted(found, key=lambda one: make_plain_key(one.question) != plain):
        if {used.id for used in one.content.senses} == senses:
            yield one


def _is_same_question(question: str, verified: str, run: RunContext) -> bool:
    if make_plain_key(question) == make_plain_key(verified):
        return True
    vectors = run.corpus.embedder.embed_queries([question, verified])
    return rescale_cosines(float(np.dot(vectors[0], vectors[1])), run.corpus.embedder) >= MIN_LIKENESS
