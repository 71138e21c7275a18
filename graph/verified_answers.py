"""Verified answers in the graph: what of one still holds, for whom, and how a text of a person is checked.

A verified answer is kept by the ids of its passages and senses. It holds for a reader while every passage it cites is
there, says what it said, and may be read by them, and every sense of its question does so too. A passage that stands
unchanged in a newer revision of its document is found there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from argot.corpus.store.document_store import CorpusStore
from argot.corpus.store.revision_reads import read_documents
from argot.errors import NotFound
from argot.graph.state import HitRecord, SentenceRecord
from argot.jargon_db.glossary import Glossary
from argot.jargon_db.store.privacy import ERASED
from argot.jargon_db.store.verified_answers import AnswerContent, CitedPassage, UsedSense, VerifiedAnswer
from argot.languages.catalogues import quote_name, translate
from argot.tools.reading.same_questions import make_plain_key, make_question_key
from argot.types import Document, Mention, Passage, Principal, Sense

_EVERYONE = Principal("expiry", sees_all=True)
"""Reads what expiry depends on; nothing that it reads is shown."""


def make_keys(question: str, mentions: Sequence[Mention]) -> tuple[str, str]:
    """Return the question as it stands, and what it asks, for `VerifiedAnswers.find`."""
    return make_plain_key(question), make_question_key(question, mentions)


def build_content(
    sentences: Sequence[SentenceRecord],
    passages: Mapping[str, tuple[Passage, Document]],
    senses: Sequence[Sense],
    defined: Sequence[int],
) -> AnswerContent:
    """Return what is stored of an answer. `passages`: at least those that it cites, by id."""
    cited = dict.fromkeys(one["passage"] for sentence in sentences for one in sentence["citations"])
    return AnswerContent(
        sentences=[dict(one) for one in sentences],
        passages=[_record_passage(*passages[id_]) for id_ in cited],
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
    starts = {one.id: one.start for one in answer.content.passages}
    return [_cite_current(sentence, found, starts) for sentence in answer.content.sentences]


def list_hits(sentences: Sequence[SentenceRecord]) -> list[HitRecord]:
    """Return the cited passages in the order of the answer, as if a search had found them."""
    scores: dict[str, float] = {}
    for one in (one for sentence in sentences for one in sentence["citations"]):
        scores.setdefault(one["passage"], one["score"])
    return [HitRecord(id=id_, score=score, found_by={}) for id_, score in scores.items()]


@dataclass(frozen=True, slots=True)
class AnswerSources:
    """What some verified answers rest on, as it is now, read once for all of them.

    `there`, `readable`: ids of their documents that exist, and that the reader may read. `current`: for each cited
    passage that still says the same, by id. `senses`, `readable_senses`: approved ones by id, for everybody and for the
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

    Of what is gone nobody can tell who could read it, so that only the owner and admins know of such an answer.
    """
    wanted = {one.document for one in answer.content.passages}
    there = wanted & sources.there
    senses = {one.id for one in answer.content.senses}
    left = senses & sources.senses.keys()
    if not (there <= sources.readable and left <= sources.readable_senses.keys()):
        return False
    return (wanted == there and left == senses) or reader.sees_all or answer.owner == reader.name


def read_sense(glossary: Glossary, reader: Principal, id_: int) -> Sense | None:
    """Return an approved sense that this reader may read; None if it is no such one."""
    try:
        found = glossary.senses.get(reader, id_)
    except NotFound:
        return None
    return found if found.status == "approved" else None


def _find_current(cited: Sequence[CitedPassage], store: CorpusStore, reader: Principal) -> dict[str, Passage]:
    """Return the passages that say today what the cited ones said, by the ids of those; unreadable ones are absent."""
    here = store.passages(reader, [one.id for one in cited]) if cited else {}
    found = {id_: passage for id_, (passage, _) in here.items()}
    for document in {one.document for one in cited if one.id not in found}:
        revised = {_digest_passage(one): one for one in store.passages_of(reader, document)}
        moved = (one for one in cited if one.document == document and one.id not in found)
        found |= {one.id: revised[one.digest] for one in moved if one.digest in revised}
    return found


def _cite_current(
    sentence: Mapping[str, Any], found: Mapping[str, Passage], starts: Mapping[str, int]
) -> SentenceRecord:
    """Return the sentence with the places of its citations in today's revisions. `starts`: where the cited passages
    began.
    """
    moved = []
    for one in sentence["citations"]:
        passage = found[one["passage"]]
        shift = passage.start - starts[one["passage"]]
        moved.append({**one, "passage": passage.id, "start": one["start"] + shift, "end": one["end"] + shift})
    return cast(SentenceRecord, {**sentence, "citations": moved})


def _record_passage(passage: Passage, document: Document) -> CitedPassage:
    return CitedPassage(passage.id, document.id, document.name, passage.start, _digest_passage(passage))


def _digest_passage(passage: Passage) -> str:
    # With its headings: under another one the same words may be about something else.
    return _digest([*passage.heading_path, passage.text])


def _digest_sense(sense: Sense) -> str:
    return _digest([sense.term, sense.context, sense.expansion, sense.description])


def _is_changed(used: UsedSense, glossary: Glossary, reader: Principal) -> bool:
    found = read_sense(glossary, reader, used.id)
    return found is None or _digest_sense(found) != used.digest


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
