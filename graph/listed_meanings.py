"""Lists of meanings: the answer to "What are the meanings of SA?", and to "What does SA stand for?" if several fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from argot.graph.run_context import RunContext
from argot.graph.state import ReadingRecord, State
from argot.graph.state_records import get_term, to_mention
from argot.tools.reading.definition_questions import MeaningRequest, list_meaning_requests
from argot.types import Mention, Sense


def list_meanings(
    state: State,
    run: RunContext,
    readings: Sequence[ReadingRecord],
    known: Mapping[str, Sequence[Sense]],
    counting: Mapping[str, Sequence[Sense]],
) -> list[int]:
    """Return the senses (ids) to list if the message asks only for meanings, and one of its terms has several; else
    none: then a sense is chosen.

    "What is an SA?" may ask about the thing, and wants one sense.

    Args:
        readings: the terms that were read; one that is not settled may have any of its senses.
        known: every sense of each term.
        counting: those that the documents bear out.
    """
    mentions = [to_mention(record) for record in state["mentions"]]
    requests = list_meaning_requests(
        state["stand_alone_question"], mentions, [context.name for context in run.glossary.contexts.all(run.principal)]
    )
    asks_only = all(one.mentions and one.kind != "thing" for one in requests)
    if not requests or not asks_only or not run.profile.generate_answer:
        return []
    settled = {one["term"]: one["sense"] for one in readings if one["settled"]}
    lists = [
        _list_senses(mention, request, settled, known, counting) for request in requests for mention in request.mentions
    ]
    return list(dict.fromkeys(id_ for ids in lists for id_ in ids)) if _is_list_of_several(lists) else []


def _list_senses(
    mention: Mention,
    request: MeaningRequest,
    settled: Mapping[str, int],
    known: Mapping[str, Sequence[Sense]],
    counting: Mapping[str, Sequence[Sense]],
) -> list[int]:
    term = get_term(mention)
    if request.kind == "every":
        return [sense.id for sense in known.get(term, ())]
    # What a question or a document spells out has no sense in the glossary (0).
    return list(filter(None, [settled[term]])) if term in settled else [sense.id for sense in counting.get(term, ())]


def _is_list_of_several(lists: Sequence[Sequence[int]]) -> bool:
    return all(lists) and any(len(set(ids)) > 1 for ids in lists)
