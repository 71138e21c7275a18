"""Choice among several documents for a phrase such as "the router", and the choices that a thread remembers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from argot.graph.checkpoints.thread_history import iter_latest_turns
from argot.graph.run_context import RunContext
from argot.graph.state import MAX_QUESTIONS_BACK, State, SubjectRecord
from argot.graph.state_records import MIN_CLEAR_CONTEXT_SCORE
from argot.languages.catalogues import translate
from argot.tools.retrieval.sibling_documents import Sibling, find_siblings, is_left_open, is_singled_out
from argot.tools.text.words import fold_words
from argot.types import Hit

LOOK_BACK_TURNS = 4
"""Number of turns of the thread whose questions and sources may tell which one is meant."""

_OTHER = re.compile(
    r"\W*(?:(?:and|but|ok|okay|so|now)\W+)*(?:(?:what|how) about |for |with |in |of |on )*the other(?: [\w-]+)?\W*",
    re.IGNORECASE,
)

OfferedSiblings = dict[int, Sibling]
"""The options of a subject that this principal may read now, by their index in it."""


def load_offered(subject: SubjectRecord, run: RunContext) -> OfferedSiblings:
    ids = [passage for passage, _ in subject["offered"]]
    found = run.corpus.store.passages(run.principal, ids)
    return {
        place: Sibling(Hit(*found[passage], score=0.0), level)
        for place, (passage, level) in enumerate(subject["offered"])
        if passage in found
    }


def find_subject(state: State, run: RunContext) -> SubjectRecord | None:
    """Return the subject as it was chosen in this turn or, where the question names it again, earlier in the thread."""
    if chosen := state.get("subject"):
        return chosen if chosen["chosen"] is not None else None
    if state.get("scope") or not run.profile.choose_document:
        return None
    question = state["stand_alone_question"]
    for noun, subject in state.get("subjects", {}).items():
        offered = load_offered(subject, run)
        named = [place for place, one in offered.items() if is_singled_out(question, one, [*offered.values()])]
        # "And Router R7?" after R1 was chosen; from then on "the router" means R7.
        if set(noun.split()) <= {*fold_words(question)} and len(named) == 1:
            return {**subject, "chosen": named[0]}
        if is_left_open(question, noun) and not named and subject["chosen"] in {*offered, None}:
            return subject
    return None


def find_other_subject(message: str, before: Mapping[str, Any] | None) -> SubjectRecord | None:
    """Return the subject of "and the other one?" after a choice; with several others, the asker is to choose."""
    subject: SubjectRecord | None = before.get("subject") if before else None
    if subject is None or subject["chosen"] is None or not _OTHER.fullmatch(message):
        return None
    others = [place for place in range(len(subject["offered"])) if place != subject["chosen"]]
    if len(others) == 1:
        return {**subject, "chosen": others[0]}
    return {**subject, "offered": [subject["offered"][place] for place in others], "chosen": None}


def write_subject_notes(turn: Mapping[str, Any], run: RunContext) -> list[str]:
    """Return a note if an earlier choice of the thread settled the subject, and this turn neither chose nor
    named it.
    """
    subject = turn.get("subject")
    if not subject or subject["chosen"] is None or turn["asked_back"]:
        return []
    offered = load_offered(subject, run)
    meant = offered.get(subject["chosen"])
    named = meant and is_singled_out(turn["stand_alone_question"], meant, offered.values())
    text = "“%(noun)s” was taken to mean %(name)s, as before."
    return [translate(text, noun=subject["noun"], name=meant.name)] if meant and not named else []


def keep_subject(hits: Sequence[Hit], subject: SubjectRecord | None, run: RunContext) -> list[Hit]:
    """Return the hits without those about the other documents that were offered."""
    if subject is None or subject["chosen"] is None:
        return [*hits]
    offered = load_offered(subject, run)
    chosen = offered.pop(subject["chosen"], None)
    return [hit for hit in hits if not chosen or not any(one.holds(hit) for one in offered.values())]


def put_subject_first(hits: Sequence[Hit], subject: SubjectRecord | None, run: RunContext) -> list[Hit]:
    """Return the hits with passages of the chosen document first, if they answer at all."""
    if subject is None or subject["chosen"] is None:
        return [*hits]
    chosen = load_offered(subject, run).get(subject["chosen"])
    own = [hit for hit in hits if chosen and chosen.holds(hit)]
    # A document about all routers may hold the answer for each of them.
    if not own or own[0].score < run.profile.abstain_below:
        return [*hits]
    return [*own, *(hit for hit in hits if hit not in own)]


def find_open_subject(hits: Sequence[Hit], state: State, run: RunContext) -> SubjectRecord | None:
    """Return the subject that the question leaves open and the best passages answer for several documents; None if
    there is nothing to ask.
    """
    asks = run.profile.choose_document and run.profile.rerank and run.profile.generate_answer
    scoped = state.get("scope") or state.get("whole") or state["asked_back"] >= MAX_QUESTIONS_BACK
    question = state["stand_alone_question"]
    # "And the other one?", of which there are several.
    if asks and (left := state.get("subject")) and left["chosen"] is None:
        return left
    # First without the thread's past, which takes time to read.
    if not asks or scoped or not find_siblings(question, "", hits, run.profile.document_margin):
        return None
    found = find_siblings(question, _gather_clues(state, run), hits, run.profile.document_margin)
    if found is None:
        return None
    offered = [(one.hit.passage.id, one.level) for one in found.members]
    return SubjectRecord(phrase=found.phrase, noun=found.noun, offered=offered, chosen=None)


def _gather_clues(state: State, run: RunContext) -> str:
    """Return texts that may tell which one is meant: spelt-out terms, contexts, and what the thread was about
    so far.
    """
    turns = list(islice(iter_latest_turns(state), LOOK_BACK_TURNS))
    cited = {one["passage"] for turn in turns for sentence in turn["sentences"] for one in sentence["citations"]}
    sources = run.corpus.store.passages(run.principal, sorted(cited)).values() if cited else ()
    return "\n".join(
        [
            *(text for text, _ in state["search_queries"][:1]),
            *(name for name, score in state["contexts"] if score >= MIN_CLEAR_CONTEXT_SCORE),
            run.asker_context or "",
            *_list_questions(turns),
            *(run.heard),
            *(passage.header for passage, _ in sources),
        ]
    )


def _list_questions(turns: Sequence[dict[str, Any]]) -> list[str]:
    return [turn[name] for turn in turns for name in ("question", "stand_alone_question")]
