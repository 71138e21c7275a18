"""Verified answers in the graph: whether one is still valid, for whom, and where its citations are today.

A verified answer is stored with the ids of its passages and senses. It is valid for a reader while every passage that
it cites and every sense of its question exists, is unchanged, and may be read by them. A passage is also found in a
newer revision of its document if it, or each section of it that is cited, is unchanged there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from argot.corpus.store.document_store import CorpusStore
from argot.corpus.store.revision_reads import read_documents
from argot.errors import NotFound
from argot.graph.cited_sections import digest, locate_sections, select_sections
from argot.graph.state import HitRecord, SentenceRecord
from argot.jargon_db.glossary import Glossary
from argot.jargon_db.store.privacy import ERASED
from argot.jargon_db.store.verified_answers import AnswerContent, CitedPassage, UsedSense, VerifiedAnswer
from argot.languages.catalogues import quote_name, translate
from argot.tools.reading.same_questions import make_plain_key, make_question_key
from argot.types import Document, Mention, Passage, Principal, Sense

_EVERYONE = Principal("expiry", sees_all=True)
"""The principal that checks expiry; nothing that it reads is shown."""


def make_keys(question: str, mentions: Sequence[Mention]) -> tuple[str, str]:
    """Return the two keys of a question for `VerifiedAnswers.find`: of its wording, and of its content."""
    return make_plain_key(question), make_question_key(question, mentions)


def build_content(
    sentences: Sequence[SentenceRecord],
    passages: Mapping[str, tuple[Passage, Document]],
    senses: Sequence[Sense],
    defined: Sequence[int],
    store: CorpusStore,
) -> AnswerContent:
    """Return the content of an answer as it is stored. `passages`: at least those that it cites, by id."""
    cited: dict[str, list[tuple[int, int]]] = {}
    for one in (one for sentence in sentences for one in sentence["citations"]):
        cited.setdefault(one["passage"], []).append((one["start"], one["end"]))
    return AnswerContent(
        sentences=[dict(one) for one in sentences],
        passages=[_record_passage(*passages[id_], spans, store) for id_, spans in cited.items()],
        senses=[UsedSense(one.id, one.term, _digest_sense(one)) for one in senses],
        defined=list(defined),
    )


def read_sentences(
    answer: VerifiedAnswer, store: CorpusStore, glossary: Glossary, reader: Principal
) -> list[SentenceRecord] | None:
    """Return the sentences with citations of current passages; None if the answer does not hold for this reader."""
    if answer.owner == ERASED or any(_is_changed(one, glossary, reader) for one in answer.content.senses):
        return None
    found = _find_current(answer.content.passages, store, reader)
    if len(found) < len(answer.content.passages):
        return None
    return [_cite_current(sentence, found) for sentence in answer.content.sentences]


def list_hits(sentences: Sequence[SentenceRecord]) -> list[HitRecord]:
    """Return the cited passages in the order of the answer, as if a search had found them."""
    scores: dict[str, float] = {}
    for one in (one for sentence in sentences for one in sentence["citations"]):
        scores.setdefault(one["passage"], one["score"])
    return [HitRecord(id=id_, score=score, found_by={}) for id_, score in scores.items()]


@dataclass(frozen=True, slots=True)
class AnswerSources:
    """The present documents, passages and senses that some verified answers rest on, read once for all of them.

    `there`, `readable`: ids of their documents that exist, and that the reader may read. `current`: ids of the cited
    passages that still say the same. `senses`, `readable_senses`: approved ones by id, for everybody and for the
    reader.
    """

    there: frozenset[str]
    readable: frozenset[str]
    current: frozenset[str]
    senses: Mapping[int, Sense]
    readable_senses: Mapping[int, Sense]


def read_sources(
    answers: Sequence[VerifiedAnswer], store: CorpusStore, glossary: Glossary, reader: Principal
) -> AnswerSources:
    cited = [one for answer in answers for one in answer.content.passages]
    wanted = list(dict.fromkeys(one.document for one in cited))
    documents = read_documents(store, _EVERYONE, wanted) if wanted else []
    used = dict.fromkeys(one.id for answer in answers for one in answer.content.senses)
    everybody, own = ({id_: read_sense(glossary, one, id_) for id_ in used} for one in (_EVERYONE, reader))
    return AnswerSources(
        there=frozenset(one.id for one in documents),
        readable=frozenset(one.id for one in documents if reader.may_read(one.audience)),
        current=frozenset(_find_current(cited, store, _EVERYONE)),
        senses={id_: one for id_, one in everybody.items() if one},
        readable_senses={id_: one for id_, one in own.items() if one},
    )


def explain_expiry(answer: VerifiedAnswer, sources: AnswerSources, *, shut_out: bool = False) -> list[str]:
    """Return why the answer is not given any more, one sentence for each reason; none while it is.

    `shut_out`: its owner is suspended.
    """
    reasons = [translate("The person who verified it was erased.")] if answer.owner == ERASED else []
    if shut_out:
        reasons.append(translate("The account of the person who verified it is closed."))
    for one in answer.content.passages:
        if one.document not in sources.there:
            reasons.append(translate("%(document)s was removed.", document=quote_name(one.document_name)))
        elif one.id not in sources.current:
            text = "%(document)s changed where the answer cites it."
            reasons.append(translate(text, document=quote_name(one.document_name)))
    for used in answer.content.senses:
        sense = sources.senses.get(used.id)
        if sense is None or _digest_sense(sense) != used.digest:
            reasons.append(translate("The meaning of “%(term)s” changed.", term=used.term))
    return list(dict.fromkeys(reasons))


def may_know(answer: VerifiedAnswer, sources: AnswerSources, reader: Principal) -> bool:
    """Return whether a manager may know an answer, expired or not: they may read every document and sense of it.

    Nobody can tell who could read a document or sense that is gone, so only the owner and administrators may know of
    an answer that rests on one.
    """
    wanted = {one.document for one in answer.content.passages}
    there = wanted & sources.there
    senses = {one.id for one in answer.content.senses}
    left = senses & sources.senses.keys()
    if not (there <= sources.readable and left <= sources.readable_senses.keys()):
        return False
    return (wanted == there and left == senses) or reader.sees_all or answer.owner == reader.name


def read_sense(glossary: Glossary, reader: Principal, id_: int) -> Sense | None:
    """Return a sense if it is approved and this reader may read it, else None."""
    try:
        found = glossary.senses.get(reader, id_)
    except NotFound:
        return None
    return found if found.status == "approved" else None


@dataclass(frozen=True, slots=True)
class _CurrentText:
    """A text that a verified answer cites and that is there today: where it started (`old`) and starts now (`new`), in
    characters of the revisions' Markdown, and the passages that contain it now.
    """

    old: int
    new: int
    passages: Sequence[Passage]


def _find_current(
    cited: Sequence[CitedPassage], store: CorpusStore, reader: Principal
) -> dict[str, list[_CurrentText]]:
    """Return the present texts that equal the cited passages, by ids of the passages; unreadable ones are absent."""
    here = store.passages(reader, [one.id for one in cited]) if cited else {}
    found = {
        one.id: [_CurrentText(one.start, here[one.id][0].start, [here[one.id][0]])] for one in cited if one.id in here
    }
    for document in {one.document for one in cited if one.id not in found}:
        moved = [one for one in cited if one.document == document and one.id not in found]
        passages = store.passages_of(reader, document)
        revised = {_digest_passage(one): one for one in passages}
        found |= {
            one.id: [_CurrentText(one.start, revised[one.digest].start, [revised[one.digest]])]
            for one in moved
            if one.digest in revised
        }
        rest = [one for one in moved if one.id not in found and one.sections]
        if rest and passages:
            found |= _find_sections(rest, store.markdown(reader, passages[0].revision_id), passages)
    return found


def _find_sections(
    cited: Sequence[CitedPassage], markdown: str, passages: Sequence[Passage]
) -> dict[str, list[_CurrentText]]:
    """Return the cited sections of those passages all of whose cited sections are in this revision of the document."""
    starts = locate_sections(markdown)
    return {
        one.id: [_CurrentText(old, starts[digest], passages) for old, digest in one.sections]
        for one in cited
        if all(digest in starts for _, digest in one.sections)
    }


def _cite_current(sentence: Mapping[str, Any], found: Mapping[str, Sequence[_CurrentText]]) -> SentenceRecord:
    """Return the sentence with the places of its citations in today's revisions."""
    moved = []
    for one in sentence["citations"]:
        texts = found[one["passage"]]
        text, last = (_find_text(texts, place) for place in (one["start"], max(one["start"], one["end"] - 1)))
        start, end = one["start"] + text.new - text.old, one["end"] + last.new - last.old
        # The last one that begins before it: between passages there is only white space.
        begun = (passage for passage in text.passages if passage.start <= start)
        passage = max(begun, key=lambda one: one.start, default=text.passages[0])
        moved.append({**one, "passage": passage.id, "start": start, "end": end})
    return cast(SentenceRecord, {**sentence, "citations": moved})


def _find_text(texts: Sequence[_CurrentText], place: int) -> _CurrentText:
    """Return the text that has this character of the revision that was cited."""
    return max((one for one in texts if one.old <= place), key=lambda one: one.old)


def _record_passage(
    passage: Passage, document: Document, spans: Sequence[tuple[int, int]], store: CorpusStore
) -> CitedPassage:
    """Return a cited passage as it is stored. `spans`: its citations [start, end), in characters."""
    sections = select_sections(store.markdown(_EVERYONE, passage.revision_id), spans)
    return CitedPassage(passage.id, document.id, document.name, passage.start, _digest_passage(passage), sections)


def _digest_passage(passage: Passage) -> str:
    # With its headings: under another one the same words may be about something else.
    return digest([*passage.heading_path, passage.text])


def _digest_sense(sense: Sense) -> str:
    return digest([sense.term, sense.context, sense.expansion, sense.description])


def _is_changed(used: UsedSense, glossary: Glossary, reader: Principal) -> bool:
    found = read_sense(glossary, reader, used.id)
    return found is None or _digest_sense(found) != used.digest
