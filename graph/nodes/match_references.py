from __future__ import annotations

from argot.graph.answer_passages import load_answer_passages
from argot.graph.definitions import find_definitions, has_more_than_meaning
from argot.graph.draft_checking import check_draft, select_checked, select_cited
from argot.graph.node_frame import StateUpdate, Step, send_piece, send_retraction
from argot.graph.nodes.generate_answer import (
    build_answer_request,
    choose_quoting_writer,
    get_asked_question,
    write_draft,
)
from argot.graph.quoting_evidence import judge_for_quoting
from argot.graph.repeated_answers import find_repeated_question
from argot.graph.run_context import RunContext
from argot.graph.state import SentenceRecord, State, TurnPart
from argot.graph.table_cells import keep_dividers
from argot.graph.written_checks import check_written
from argot.question_threads import call_in_thread


async def match_references(state: State, run: RunContext) -> Step:
    """Find the passages that support each sentence (Trustworthy Answers 3.4). The draft's own citations are no
    evidence: they only tell which passages to check first.

    Unsupported sentences are marked, or left out under `withhold_unsupported`. If no sentence is supported, the turn
    has no answer; if a model wrote the draft, the passages are quoted instead. A quotation that only repeats the last
    answer and says nothing about what the follow-up asks is no answer either. With the stage switched off nothing is
    checked: the sentences are returned without citations.
    """
    hits = (await call_in_thread(load_answer_passages, state, run)).hits
    by_model = state.get("answered_by") == "model"
    # The question is passed only for a model's draft: it distinguishes a sentence that obeys a passage from one that
    # answers.
    if by_model:
        sentences = await check_written(state["draft"], hits, run, get_asked_question(state))
    else:
        sentences = await call_in_thread(check_draft, state["draft"], hits, run)
    update: StateUpdate = {"draft": "", "unchecked": not run.profile.match_references}
    if run.profile.match_references and not select_cited(sentences):
        if not run.profile.withhold_unsupported:
            send_retraction()
        quoting = choose_quoting_writer(state, run)
        judged = await judge_for_quoting(state, run) if by_model and quoting is not None else StateUpdate()
        if quoting is not None and judged.get("quotable"):
            draft = await write_draft(quoting, await build_answer_request(state, run), run)
            sentences = await call_in_thread(check_draft, draft, hits, run)
            update |= {**judged, "answered_by": "extractive", "replaced": True}
    supported = select_checked(sentences)
    if not by_model and (repeated := find_repeated_question(sentences, hits, state)):
        send_retraction()
        return Step({**update, "sentences": [], "repeated": repeated}, "only what was answered before")
    if run.profile.match_references and not select_cited(sentences):
        return Step({**update, "sentences": []}, "no sentence is supported")
    if run.profile.withhold_unsupported:
        update["withheld"] = len(sentences) - len(supported)
        sentences = keep_dividers(sentences, supported)
        for place, sentence in enumerate(sentences):
            # The first gap is dropped: the sentence before it may have been withheld.
            send_piece((sentence["gap"] if place else "") + sentence["text"])
    if not by_model or update.get("replaced"):
        meanings, sentences = await call_in_thread(_add_meanings, sentences, state, run)
        update = {**update, **meanings}
        if not sentences:
            send_retraction()
    found = f"{len(supported)} of {len(sentences) + update.get('withheld', 0)} sentences supported"
    return Step({**update, "sentences": sentences, "status": "answered"}, found)


def _add_meanings(
    sentences: list[SentenceRecord], state: State, run: RunContext
) -> tuple[TurnPart, list[SentenceRecord]]:
    """Return the glossary's answer if a meaning is asked for, and the part of the quotation that adds to it."""
    meanings = find_definitions(state, run, quoted=True)
    if not meanings or has_more_than_meaning([sentence["text"] for sentence in sentences], state, run):
        return meanings, sentences
    return meanings, []
