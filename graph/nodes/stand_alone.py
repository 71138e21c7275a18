from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any, Literal, NamedTuple, cast

from argot.graph.checkpoints.thread_history import iter_latest_turns, read_past_turns
from argot.graph.node_frame import StateUpdate, Step
from argot.graph.presentation.scope_wording import find_asked_topic
from argot.graph.presentation.turn_view import read_visible_answer
from argot.graph.rejected_senses import find_rejected_senses
from argot.graph.run_context import RunContext
from argot.graph.server_tools import describe_offered
from argot.graph.state import State, TurnPart, finish_turn, make_empty_turn
from argot.graph.subjects import find_other_subject
from argot.graph.thread_files import add_file_names, find_inside_files, find_whole_files, list_files
from argot.question_threads import call_in_thread
from argot.tools.reading.chitchat import SmallTalk, identify_small_talk, is_keyboard_noise, may_refer_back
from argot.tools.reading.history_questions import RecallRequest, find_recalled
from argot.tools.reading.library_questions import is_glossary_question, is_library_question
from argot.tools.reading.typing_errors import correct_words, find_typing_errors
from argot.tools.reading.whole_file_questions import is_missing_file_asked
from argot.types import Document, Turn

MAX_HISTORY_TURNS = 4
"""Number of finished exchanges that a follow-up may refer to."""
MAX_RECALLED_QUESTIONS = 10
"""Maximum number of questions that are repeated."""
MAX_SPELT_PASSAGES = 50
"""Number of passages with some form of a word in which its spelling is looked for."""


async def stand_alone(state: State, run: RunContext) -> Step:
    """Begin an empty turn, and make a follow-up a question that needs no history.

    The previous turn moves into the thread's past here, whether it ended or its choice was left unanswered; a turn that
    is answered again is removed. A message that asks for the gist of a file of the conversation gets that file's name
    and needs no history; one that asks something of a file is asked of that file alone. "And the other one?" repeats
    the question for the other document, if the asker has chosen one of two, and "No, I meant the other SLC" repeats it
    without the sense in which it was read. The reader's history contains only what the
    asker may still see.
    """
    # One hop to another thread for all of it: the stores are read several times.
    message = await call_in_thread(_read_message, state, run)
    turn = message.turn
    if message.history:
        asked = turn["stand_alone_question"]
        turn["stand_alone_question"] = await run.reader.stand_alone(asked, message.history) or asked
        if message.is_to_correct:
            await call_in_thread(_correct_words, turn, run)
    # A message that its history made a question is no longer small talk.
    if turn["stand_alone_question"] != turn["question"]:
        turn["small_talk"] = ""
    return _begin_turn(turn, message.past)


class _Message(NamedTuple):
    """The new turn, before the history was read. `history`: the exchanges to read the question with; empty if it needs
    none. `is_to_correct`: misspelt words are corrected once the question stands alone.
    """

    turn: TurnPart
    past: dict[str, Any] | None
    history: Sequence[Turn] = ()
    is_to_correct: bool = False


def _read_message(state: State, run: RunContext) -> _Message:
    past = None if state.get("again") else finish_turn(state)
    # If the last turn is answered again, "it" may refer to the turn before.
    before = past or next(iter_latest_turns(state), None)
    files = list_files(run)
    turn = _make_turn(state, run, before, files)
    # Without an answer (retrieval measurements) no file is summarised.
    whole = find_whole_files(turn["question"], files, before) if run.profile.generate_answer else []
    if whole:
        turn["whole"] = [file.id for file in whole]
        turn["stand_alone_question"] = add_file_names(turn["question"], whole)
        return _Message(turn, past)
    if run.profile.stand_alone and before and _ask_for_other(turn, before):
        return _Message(turn, past)
    turns = chain([past] if past else [], iter_latest_turns(state))
    history = _build_history(turns, run) if run.profile.stand_alone else []
    if inside := find_inside_files(turn["question"], files, before):
        meant, asked = inside
        turn["scope"] = [file.id for file in meant]
        # The rest of the message without the file's name, which would only draw the search towards titles.
        turn["stand_alone_question"] = asked.question
        return _Message(turn, past, history if asked.is_follow_up else [])
    if (wanted := find_recalled(turn["question"])) and _has_small_talk(run):
        turn["small_talk"], turn["recalled"] = "recall", _select_recalled(wanted, past, state)
        return _Message(turn, past)
    if _has_small_talk(run) and (listed := _find_listing(turn, run)):
        turn["small_talk"] = listed
        return _Message(turn, past)
    # After the questions about files: "thanks, and what does plan.pdf say?" is one of those.
    kind = _identify_small_talk(turn["question"], run)
    # "Summarise this file" without an attachment. With a history "this" may be the last answer.
    if not (files or history or kind) and _has_small_talk(run) and is_missing_file_asked(turn["question"]):
        kind = "no_file"
    turn["small_talk"] = kind or ""
    # A model can word the last answer anew, since it is told what was said.
    may_reword = kind == "rewording" and run.model is not None
    if history and kind and not (may_reword or may_refer_back(turn["question"], kind)):
        history = []
    is_to_correct = run.profile.stand_alone and not kind
    if is_to_correct and not history:
        _correct_words(turn, run)
    return _Message(turn, past, history, is_to_correct)


def _ask_for_other(turn: TurnPart, before: Mapping[str, Any]) -> bool:
    """Ask the last question again, for the other document or in another sense, if the message wants that; return
    whether it does.
    """
    other, rejected = find_other_subject(turn["question"], before), find_rejected_senses(turn["question"], before)
    if other or rejected:
        turn["stand_alone_question"] = before["stand_alone_question"]
        turn["subject"], turn["rejected"] = other, rejected
    return bool(other or rejected)


def _make_turn(state: State, run: RunContext, before: dict[str, Any] | None, files: Sequence[Document]) -> TurnPart:
    turn = make_empty_turn(state["asked"], before["number"] + 1 if before else 0)
    turn["profile"], turn["tags"], turn["since"] = run.profile.name, list(run.scope.tags), run.scope.since
    turn["effort"] = run.profile.effort
    turn["may_ask_servers"] = bool(describe_offered(run))
    turn["fields"] = [(one.name, one.value) for one in run.scope.fields]
    turn["files"] = [file.revision_id for file in files]
    # Includes deleted files: then nothing is found, rather than passages of files that were not asked about.
    turn["scope"] = list(dict.fromkeys([*run.documents, *(file.id for file in files)])) if run.documents else []
    return turn


def _find_listing(turn: TurnPart, run: RunContext) -> Literal["library", "glossary", ""]:
    """Return which list the question asks for: of the documents, of some about a topic, or of the terms."""
    if is_glossary_question(turn["question"]):
        return "glossary"
    return "library" if is_library_question(turn["question"]) or find_asked_topic(turn, run)[0] else ""


def _correct_words(turn: TurnPart, run: RunContext) -> None:
    """Replace misspelt ordinary words in the question that is searched for."""
    question = turn["stand_alone_question"]
    terms = run.glossary.lookup.matcher(run.principal).find(question)
    count = partial(run.corpus.store.phrase_count, run.principal)
    turn["corrected"] = find_typing_errors(question, terms, count, partial(_is_spelt_so, run))
    turn["stand_alone_question"] = correct_words(question, turn["corrected"])


def _is_spelt_so(run: RunContext, word: str) -> bool:
    """Return whether several passages have a word in just this form; one may have misspelt it."""
    store, written = run.corpus.store, re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)
    found = store.passages(run.principal, store.find_phrase(run.principal, word, MAX_SPELT_PASSAGES)).values()
    return sum(written.search(f"{passage.heading}\n{passage.text}") is not None for passage, _ in found) > 1


def _begin_turn(turn: TurnPart, past: dict[str, Any] | None) -> Step:
    rewritten = turn["stand_alone_question"] != turn["question"]
    # A turn is a subset of the update, which its type cannot express: it might have more keys.
    update: StateUpdate = {**cast(StateUpdate, turn), "turns": [past] if past else []}
    return Step(update, f"read as “{turn['stand_alone_question']}”" if rewritten else "stands alone", begins=True)


def _build_history(turns: Iterable[dict[str, Any]], run: RunContext) -> list[Turn]:
    """Return the last exchanges that asked something, and the messages of other people since. `turns`: newest first."""
    # No question refers to a greeting.
    asked = list(
        islice((turn for turn in turns if not identify_small_talk(turn["stand_alone_question"])), MAX_HISTORY_TURNS)
    )
    exchanges = [Turn(turn["stand_alone_question"], read_visible_answer(turn, run)) for turn in reversed(asked)]
    return [*exchanges, *(Turn(message, "") for message in run.heard)]


def _select_recalled(wanted: RecallRequest, past: dict[str, Any] | None, state: State) -> list[str]:
    """Return the earlier questions that are asked for, oldest first; none if there are none, or if the first is no
    longer kept.
    """
    kept = [*read_past_turns(state), *([past] if past else [])]
    asked = [turn["question"] for turn in kept if not turn.get("small_talk")]
    if wanted == "first":
        # Number 0 was dropped from a thread of more than MAX_TURNS turns: return none rather than the wrong one.
        return asked[:1] if kept and not kept[0]["number"] else []
    return asked[-1:] if wanted == "last" else asked[-MAX_RECALLED_QUESTIONS:]


def _has_small_talk(run: RunContext) -> bool:
    return run.profile.small_talk and run.profile.generate_answer


def _identify_small_talk(message: str, run: RunContext) -> SmallTalk | None:
    """Return the kind of small talk; None if it is a question or contains a glossary term ("HI?") or, typed as if to
    try the keyboard, a word of the documents.
    """
    kind = identify_small_talk(message) if _has_small_talk(run) else None
    if kind == "unasked" and is_keyboard_noise(message) and run.corpus.store.phrase_count(run.principal, message):
        return None
    return kind if kind and not run.glossary.lookup.matcher(run.principal).find(message) else None
