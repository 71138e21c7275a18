"""Follow-ups whose answer would only repeat the one before: the documents say nothing about what is new in them."""

from __future__ import annotations

from collections.abc import Sequence

from argot.corpus.keyword.stop_words import STOP_WORDS
from argot.graph.checkpoints.thread_history import iter_latest_turns
from argot.graph.state import SentenceRecord, State
from argot.tools.text.words import content_stems, stem, words


def find_unanswered_words(sentences: Sequence[SentenceRecord], state: State) -> str:
    """Return the words of a follow-up that neither the question before has nor a quotation that only repeats the last
    answer; empty if it answers something else, or if the message is no follow-up.
    """
    before = next(iter_latest_turns(state), None)
    is_follow_up = state["stand_alone_question"] != state["question"] and not state.get("corrected")
    if not is_follow_up or before is None or before["status"] != "answered":
        return ""
    said = {sentence["text"].strip() for sentence in sentences}
    if not said or not said <= {sentence["text"].strip() for sentence in before["sentences"]}:
        return ""
    known = set(content_stems(" ".join([before["stand_alone_question"], *said])))
    question = state["question"]
    new = [(start, end) for word, start, end in words(question) if _is_new(word, known)]
    return question[new[0][0] : new[-1][1]] if new else ""


def _is_new(word: str, known: set[str]) -> bool:
    return word not in STOP_WORDS and len(word) > 1 and stem(word) not in known
