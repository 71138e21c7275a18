from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace

from argot.errors import ModelUnavailable
from argot.graph.answer_passages import load_answer_passages
from argot.graph.draft_checking import find_lacking_parts
from argot.graph.list_rests import add_list_rests
from argot.graph.node_frame import PieceSender, StateUpdate, Step, send_piece, send_retraction
from argot.graph.prefetch import match_ahead
from argot.graph.quoting_evidence import judge_for_quoting
from argot.graph.related_passages import RelatedPassages
from argot.graph.run_context import RunContext, count_kept_passages
from argot.graph.state import HitRecord, State
from argot.graph.state_records import read_terms
from argot.protocols import RETRACTION, AnswerRequest, AnswerWriter
from argot.question_threads import call_in_thread
from argot.results import AnsweredBy
from argot.tools.answering.embedded_instructions import has_refusal_order, remove_orders
from argot.tools.answering.file_outline import OutlineWriter
from argot.tools.llm.refusal import is_refusal
from argot.tools.reading.question_splitting import split_questions

DraftListener = Callable[[Sequence[str]], None]
"""Called at each piece of a draft, with all pieces so far."""


async def generate_answer(state: State, run: RunContext) -> Step:
    """Write the answer from the best passages, and stream it piece by piece.

    With `withhold_unsupported` nothing is streamed before the citations are matched. The result is a draft: the next
    node turns it into checked sentences and clears it. If the language model fails, the pieces streamed so far are
    retracted, and the answer is quoted from the passages instead.
    """
    request = await build_answer_request(state, run)
    related = RelatedPassages(state, run)
    request = replace(request, find_related=related.find)
    former = state["draft"]  # a draft that lacks a part is rewritten from more passages
    if former and not run.profile.withhold_unsupported:
        send_retraction()
    by: AnsweredBy = "model" if run.model else "extractive"
    quoting = choose_quoting_writer(state, run)
    trouble, judged = "", StateUpdate()
    read_on: list[HitRecord] = []
    try:
        draft = await _write_unless_refused(state, request, run)
        if run.model and not draft.strip() and (again := _remove_refusal_orders(request)):
            draft = await _write_unless_refused(state, again, run)
        if run.model and (read_on := await call_in_thread(add_list_rests, state, draft, request, run)):
            state, request, draft = await _write_with_rests({**state, "hits": read_on}, (state, request, draft), run)
    except ModelUnavailable as error:
        if quoting is None:
            raise
        if former:
            return _keep_former(state, run, format_clause(error))
        trouble = format_clause(error)
        judged = await judge_for_quoting(state, run)
        by, draft = "extractive", await write_draft(quoting, request, run) if judged["quotable"] else ""
    # With an empty draft the model says that the passages do not answer. A file read as a whole is always relevant to
    # itself.
    silent = by == "model" and not draft.strip() and state.get("whole")
    if silent and quoting is not None and state.get("quotable", True):
        by, draft = "extractive", await write_draft(quoting, request, run)
    if former and not draft.strip():
        return _keep_former(state, run, trouble)
    lacking = ""
    if by == "model" and run.profile.match_references and run.profile.search_again and not state.get("plan"):
        lacking = await call_in_thread(find_lacking_parts, draft, request.hits, get_asked_question(state))
    found = f"{len(draft.split())} words from {len(request.hits)} passages" if draft.strip() else "nothing"
    update: StateUpdate = {"draft": draft, "answered_by": by, "trouble": trouble, "lacking": lacking}
    if read_on:
        update["hits"] = state["hits"]
    elif by == "extractive" and (joined := related.add_quoted(request.hits, draft)):
        update["hits"] = joined
    return Step({**judged, **update}, found)


def _keep_former(state: State, run: RunContext, trouble: str) -> Step:
    """Return the draft of the first try with its passages, if the second try wrote nothing."""
    if not run.profile.withhold_unsupported:
        send_piece(state["draft"])
    update: StateUpdate = {
        "draft": state["draft"],
        "hits": state["read"][: count_kept_passages(run)],
        "lacking": "",
        "trouble": trouble,
    }
    return Step(update, "nothing more")


async def _write_with_rests(
    joined: State, written: tuple[State, AnswerRequest, str], run: RunContext
) -> tuple[State, AnswerRequest, str]:
    """Rewrite the draft with the rest of the lists that it calls cut; return the state, the request and the draft.

    Args:
        joined: the state with the passages that continue the lists.
        written: state, request and text of the first draft, which stays if the model now fails or refuses.
    """
    request = await build_answer_request(joined, run)
    if not run.profile.withhold_unsupported:
        send_retraction()
    try:
        again = await _write_unless_refused(joined, request, run)
    except ModelUnavailable:
        again = ""
    if again.strip():
        return joined, request, again
    if not run.profile.withhold_unsupported:
        send_piece(written[-1])
    return written


async def _write_unless_refused(state: State, request: AnswerRequest, run: RunContext) -> str:
    draft = await _write_run_draft(state, request, run)
    if run.model is None or not is_refusal(draft):
        return draft
    # "I cannot answer that" is not part of the answer: it leads to `abstain`, which shows the nearest passages.
    # Where sentences are withheld nothing was sent, so that nothing has to be retracted.
    if not run.profile.withhold_unsupported:
        send_retraction()
    return ""


def _remove_refusal_orders(request: AnswerRequest) -> AnswerRequest | None:
    """Return the request without any orders in its passages if one of them orders a refusal; else None.

    The refusal may obey the passage, and one document must not be able to silence all others. Other orders, such as to
    say something, lead to no refusal.
    """
    if not any(has_refusal_order(hit.passage) for hit in request.hits):
        return None
    return replace(request, hits=remove_orders(request.hits))


async def _write_run_draft(state: State, request: AnswerRequest, run: RunContext) -> str:
    """Write the draft with the run's writer. While a model writes the draft, its finished sentences are already matched
    (`match_ahead`).
    """
    if run.model is None:
        return await write_draft(OutlineWriter() if state.get("whole") else run.writer, request, run)
    if not run.profile.match_references:
        return await write_draft(run.writer, request, run)
    async with match_ahead(request, run, get_asked_question(state)) as ahead:
        return await write_draft(run.writer, request, run, ahead.receive)


def choose_quoting_writer(state: State, run: RunContext) -> AnswerWriter | None:
    """Return the writer that quotes if the model cannot answer; None if no model writes."""
    return OutlineWriter() if run.quoting is not None and state.get("whole") else run.quoting


def format_clause(error: ModelUnavailable) -> str:
    """Return a clause about the server's behaviour that follows "The language model server"."""
    # The note that contains it begins with these words anyway (`write_model_notes`).
    return re.sub(r"^The language model server ", "", str(error)).rstrip(".")


async def build_answer_request(state: State, run: RunContext) -> AnswerRequest:
    return await call_in_thread(_build_request, state, run)


def get_asked_question(state: State) -> str:
    """Return the question as the writer receives it, with the meanings of its terms."""
    return state["augmented_question"] or state["stand_alone_question"]


def _build_request(state: State, run: RunContext) -> AnswerRequest:
    passages = load_answer_passages(state, run)
    question, terms = state["stand_alone_question"], read_terms(state, run)
    unanswered = state.get("unanswered", [])
    left_out = {place for place, part in enumerate(split_questions(question)) if part in unanswered}
    # The quoting writer searches for the question's words, and needs those of the documents.
    question = run.abbreviate(question) if run.model is None else question
    numbered = [(id_, start, end) for id_, start, end in state.get("numbered_parts", [])]
    asked = get_asked_question(state)
    planned = [part["question"] for part in state.get("plan", [])]
    return AnswerRequest(
        question,
        asked,
        terms,
        passages.hits,
        left_out,
        numbered,
        passages.cut_lists,
        parts=planned if len(planned) > 1 else (),
        compared=state.get("compared", []),
        wordings=[run.shorten(question)] if run.model is None else (),
    )


async def write_draft(
    writer: AnswerWriter, request: AnswerRequest, run: RunContext, listener: DraftListener | None = None
) -> str:
    """Return the whole draft. Its pieces are streamed as they arrive, and retracted if the writer fails."""
    pieces: list[str] = []
    # None means that no piece may be shown before it is checked.
    sender = None if run.profile.withhold_unsupported else PieceSender()
    source = writer.write(request)
    try:
        async for piece in source:
            # Compared by identity: a piece of text may be equal to it (both are empty strings).
            if piece is RETRACTION:
                _retract_pieces(pieces, sender)
                continue
            pieces.append(piece)
            if sender:
                sender.send(piece)
            if listener:
                listener(pieces)
        if sender:
            sender.close()
    except ModelUnavailable:
        _retract_pieces(pieces, sender)
        raise
    finally:
        if sender:
            sender.drop()
        if isinstance(source, AsyncGenerator):  # an asker who leaves stops the server's work at once
            await source.aclose()
    return "".join(pieces)


def _retract_pieces(pieces: list[str], sender: PieceSender | None) -> None:
    if pieces and sender:
        sender.drop()
        send_retraction()
    pieces.clear()
