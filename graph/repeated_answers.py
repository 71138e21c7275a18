"""Follow-ups whose answer would only repeat the one before: the documents say nothing about what is new in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from argot.graph.checkpoints.thread_history import iter_latest_turns
from argot.graph.state import SentenceRecord, State
from argot.languages.detection import identify_listed_language
from argot.tools.answering.quoting import find_headings_above, read_units
from argot.tools.answering.unit_completion import SHORT_ANSWERS
from argot.tools.reading.answer_types import find_answer_type, has_shape
from argot.tools.reading.chitchat import is_asking_for_more
from argot.tools.text.words import content_stems, locate_stems
from argot.types import Hit

_MIN_FORM = 4  # letters of the shorter of two forms of a word


def find_repeated_question(sentences: Sequence[SentenceRecord], hits: Sequence[Hit], state: State) -> str:
    """Return the follow-up if the quotation only repeats the last answer, without the words that are new in the
    follow-up; empty if it answers something else, or if the message is no follow-up.

    Some sentences of a long answer may be what the follow-up is about: "and if I just forgot it?" about those under the
    heading "Forgot your card". They are repeated if they and their headings have at least half of its new words.
    """
    before = next(iter_latest_turns(state), None)
    is_follow_up = state["stand_alone_question"] != state["question"] and not state.get("corrected")
    if not is_follow_up or before is None or before["status"] != "answered":
        return ""
    said = {sentence["text"].strip() for sentence in sentences}
    told = {sentence["text"].strip() for sentence in before["sentences"]}
    if not said or not said <= told:
        return ""
    question = state["question"]
    if is_asking_for_more(question):
        return question
    if _asks_for_other_value(question, before["stand_alone_question"], said):
        return ""
    # A follow-up may be too short to show its language.
    language = identify_listed_language(state["stand_alone_question"])
    asked = content_stems(before["stand_alone_question"], language)
    new = [one for one, _, _ in locate_stems(question, language) if one not in asked]
    known = content_stems(" ".join([*said, *_list_headings(sentences, hits)]), language)
    return question if 2 * sum(not _is_known(one, known) for one in new) > len(new) else ""


def _is_known(stem: str, known: Iterable[str]) -> bool:
    """Return whether a word, or a longer or shorter form of it, is among others: "drive" and "driver"."""
    return any(
        one == stem or (min(len(one), len(stem)) >= _MIN_FORM and (one.startswith(stem) or stem.startswith(one)))
        for one in known
    )


def _asks_for_other_value(question: str, before: str, said: Iterable[str]) -> bool:
    """Return whether a follow-up asks for a number, time or person where the question before asked for something else,
    and the sentences have one: "Who sits on the panel?", "How often does it meet?".
    """
    wanted = find_answer_type(question)
    is_other = wanted in SHORT_ANSWERS and wanted != find_answer_type(before)
    return is_other and any(has_shape(wanted, sentence) for sentence in said)


def _list_headings(sentences: Sequence[SentenceRecord], hits: Sequence[Hit]) -> list[str]:
    """List the headings above the sentences, in their passages or above these."""
    headings: list[str] = []
    for sentence in sentences:
        cited = {citation["passage"] for citation in sentence["citations"]}
        for passage in (hit.passage for hit in hits if hit.passage.id in cited):
            units = read_units(passage.text)
            quoted = next((unit for unit in units if unit.text.strip() in sentence["text"]), None)
            above = find_headings_above(quoted, units) if quoted is not None else []
            headings += [units[number].plain for number in above] or passage.heading_path[-1:]
    return headings
