"""Check of a draft's sentences, each with the places in the passages that support it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, takewhile

from argot.graph.run_context import RunContext
from argot.graph.state import CitationRecord, SentenceRecord
from argot.graph.table_cells import expand_rows, read_named
from argot.languages.question_words import is_verdict
from argot.tools.answering.citation_marks import CUT_SHORT, strip_marks
from argot.tools.answering.citations import join_cited_text, join_source_text, locate
from argot.tools.answering.citations import match_references as matched
from argot.tools.answering.cited_support import weigh_cited
from argot.tools.answering.counting import read_entry_count
from argot.tools.answering.draft_links import drop_unknown_targets
from argot.tools.answering.embedded_instructions import keep_support
from argot.tools.answering.lead_ins import is_lead_in
from argot.tools.answering.missing_answers import is_missing_answer
from argot.tools.answering.named_sources import LIST_ENTRY, find_named_sources, share_named_sources
from argot.tools.answering.objections import is_contradiction
from argot.tools.text.sentences import split_sentences
from argot.types import Hit


def check_draft(draft: str, hits: Sequence[Hit], run: RunContext, question: str | None = None) -> list[SentenceRecord]:
    """Return the draft's sentences with the places in the passages that support them.

    `question`: only if a model wrote the draft; the cells of its tables then follow their rows. Two things are no
    evidence for a model's sentence: an instruction in a passage, which the model may have followed, and words that
    match an unfinished sentence ("starts at 1 …"), which may go on otherwise than the passage.
    """
    if question is not None:
        draft = drop_unknown_targets(draft, (join_source_text(hit.passage) for hit in hits))
    text = strip_marks(draft, len(hits), quoted=question is None)
    sentences = _split_draft(text) if question is not None else _drop_repeated(_split_draft(text))
    if not run.profile.match_references:
        return sentences
    if question is None:
        _cite_segments(sentences, hits, run)
        _cite_counts(sentences)
        return sentences
    # Only for a model's draft: a quotation may repeat everything the passage says, instructions included.
    hits = [replace(hit, passage=keep_support(hit.passage, text, question)) for hit in hits]
    sentences = expand_rows(sentences, draft, len(hits))
    opposed = _cite_named(sentences, find_named(draft, sentences, hits), hits, run, question)
    # A cell is compared only with its own source, and a sentence that its source contradicts with no other passage,
    # which may well contain the same words. A bare "No." has no words to compare.
    unmatched = [
        place
        for place, one in enumerate(sentences)
        if not one["citations"] and read_named(one) is None and not is_verdict(one["text"])
    ]
    _cite_segments([sentences[place] for place in unmatched if place not in opposed], hits, run)
    # "The range starts at 1 ..." matches its passage well, yet may contradict the rest of the passage's sentence.
    if sentences and text.endswith(CUT_SHORT):
        sentences[-1]["citations"].clear()
    return sentences


def find_named(draft: str, sentences: Sequence[SentenceRecord], hits: Sequence[Hit]) -> list[tuple[int, ...]]:
    """Return for each sentence of a draft the indexes of the hits that the draft names as its sources."""
    own = [read_named(one) for one in sentences]
    # Cells are left out here: the text of their row has their words already.
    written = [one for one in sentences if "column" not in one]
    texts = [one["text"] for one in written]
    named = iter(
        share_named_sources(find_named_sources(draft, texts, len(hits)), [one["gap"] for one in written], texts)
    )
    found = [() if "column" in one else next(named) for one in sentences]
    return [places if mine is None else mine for places, mine in zip(found, own, strict=True)]


def find_lacking_parts(draft: str, hits: Sequence[Hit], question: str) -> str:
    """Return the sentences of a model's draft that state what the passages lack; empty if there are none."""
    shown = "\n\n".join(join_source_text(hit.passage) for hit in hits)
    sentences = _split_draft(strip_marks(draft, len(hits)))
    return " ".join(one["text"] for one in sentences if is_missing_answer(one["text"], question, shown))


def select_cited(sentences: Sequence[SentenceRecord]) -> list[SentenceRecord]:
    """Return the sentences that a passage supports."""
    return [sentence for sentence in sentences if sentence["citations"]]


def select_checked(sentences: Sequence[SentenceRecord]) -> list[SentenceRecord]:
    """Return the sentences that are shown without a warning: passages support every part, or none is needed."""
    return [one for one in sentences if (one["citations"] and not one.get("partly")) or one.get("remark")]


def _split_draft(text: str) -> list[SentenceRecord]:
    found, end = [], 0
    # White space is kept as `gap`, so that lists and paragraphs of the draft keep their layout when sentences are left
    # out.
    for first, last in split_sentences(text):
        # Punctuation alone makes no claim to support: it stays between the sentences.
        if not any(map(str.isalnum, text[first:last])):
            continue
        found.append(SentenceRecord(gap=text[end:first], text=text[first:last], citations=[]))
        end = last
    return found


def _drop_repeated(sentences: Sequence[SentenceRecord]) -> list[SentenceRecord]:
    """Return the sentences without repetitions of an earlier one, word for word. Rows, items, headings and code stay,
    because they belong to the text around them.
    """
    kept: list[SentenceRecord] = []
    said: set[str] = set()
    gap = ""
    for one in sentences:
        if one["text"] in said and not LIST_ENTRY.match(one["text"]) and not one["text"].startswith(("|", "#", "`")):
            gap = gap or one["gap"]
            continue
        # The next sentence takes the place of the one that is left out.
        kept.append(one if len(gap) <= len(one["gap"]) else {**one, "gap": gap})
        said.add(one["text"])
        gap = ""
    return kept


def _cite_named(
    sentences: Sequence[SentenceRecord],
    named: Sequence[tuple[int, ...]],
    hits: Sequence[Hit],
    run: RunContext,
    question: str,
) -> set[int]:
    """Cite the passages that each sentence names, if together they support it and nothing in them contradicts it.

    Returns:
        The indexes of the sentences that the passages they name contradict.
    """
    opposed = set()
    for index, (sentence, places) in enumerate(zip(sentences, named, strict=True)):
        if not places:
            continue
        weighed = weigh_cited(sentence["text"], [join_cited_text(hits[place]) for place in places], question)
        if not weighed.objection and weighed.share >= run.profile.reference_threshold:
            for place in weighed.places:
                cite(sentence, hits[places[place]], weighed.share)
        # a line that introduces a list says nothing without its entries
        if is_contradiction(weighed.objection) and not sentence["text"].endswith(":"):
            opposed.add(index)
    return opposed


def _cite_segments(sentences: Sequence[SentenceRecord], hits: Sequence[Hit], run: RunContext) -> None:
    segments = matched(
        [sentence["text"] for sentence in sentences],
        [hit.passage for hit in hits],
        run.support,
        threshold=run.profile.reference_threshold,
        method=run.profile.matching,
    )
    for segment in segments:
        for sentence in sentences[segment.first : segment.last + 1]:
            cite(sentence, hits[segment.passage], segment.score)


def cite(sentence: SentenceRecord, hit: Hit, score: float) -> None:
    """Add to the sentence a citation of the passage, with the place in it that says the same."""
    start, end = locate(sentence["text"], hit.passage)
    at = hit.passage.start
    sentence["citations"].append(
        CitationRecord(passage=hit.passage.id, start=at + start, end=at + end, score=float(score))
    )


def _cite_counts(sentences: Sequence[SentenceRecord]) -> None:
    """Cite the list that follows for a line like "5 entries:", which is Argot's own count and no quotation."""
    for place, sentence in enumerate(sentences):
        # The sentence that introduces the list is between the count and its entries.
        listed = [one["citations"][0] for one in sentences[place + 1 :] if one["citations"]]
        listed = [one for one in listed if one["passage"] == listed[0]["passage"]]
        if len(listed) >= read_entry_count(sentence["text"]) > 0:
            first, last = listed[0]["start"], max(one["end"] for one in listed)
            sentence["citations"] = [CitationRecord(passage=listed[0]["passage"], start=first, end=last, score=1.0)]


def accept_unsourced(sentences: Sequence[SentenceRecord], hits: Sequence[Hit], question: str) -> None:
    """Accept the sentences of a model's draft that no passage can contain.

    One that introduces a list takes the first citation among its entries; one that states what the passages lack
    becomes a remark.
    """
    texts = {hit.passage.id: join_source_text(hit.passage) for hit in hits}
    shown = "\n\n".join(texts.values())
    for place, sentence in enumerate(sentences):
        if sentence["citations"] or sentence.get("remark") or sentence["text"].endswith(CUT_SHORT):
            continue
        entries = list(takewhile(lambda one: LIST_ENTRY.match(one["text"]), sentences[place + 1 :]))
        cited = [one["citations"][0] for one in entries if one["citations"]]
        if cited and is_lead_in(sentence["text"], texts[cited[0]["passage"]], question, len(entries)):
            sentence["citations"] = [cited[0]]
        elif is_missing_answer(sentence["text"], question, shown):
            sentence["remark"] = True


def cite_verdicts(sentences: Sequence[SentenceRecord]) -> None:
    """Copy the citations of the next sentence to a bare "Yes." or "No.", which has no words to search for."""
    for sentence, reason in pairwise(sentences):
        if is_verdict(sentence["text"].strip()) and not sentence["citations"]:
            sentence["citations"].extend(reason["citations"])
