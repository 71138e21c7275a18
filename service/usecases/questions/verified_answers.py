"""Verified answers: a manager who looks after the documents or terms of an answer vouches for it, and whoever asks the
same question and may read its sources gets it first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from argot.errors import InvalidInput, NotAllowed, NotFound
from argot.jargon_db.store.verified_answers import AnswerContent, VerifiedAnswer, build_missing_error
from argot.languages.catalogues import translate
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.questions.questions import Turn, run_context
from argot.service.usecases.usecase_registry import Number, Text, usecase
from argot.types import LOCAL_NAME, Document, Passage, Principal, Sense

if TYPE_CHECKING:
    from argot.graph.run_context import RunContext
    from argot.graph.state import SentenceRecord
    from argot.graph.verified_answers import AnswerSources

MAX_ANSWER_CHARS = 20_000
MAX_NAMED_CHARS = 120
"""Characters of a sentence that an error names."""
MAX_CHECKED_PASSAGES = 15
"""Passages of the cited documents with which an expired answer is compared."""
AnswerText = Annotated[Text, Field(max_length=MAX_ANSWER_CHARS)]
AnswerId = Number


@dataclass(frozen=True, slots=True)
class VerifiedShown:
    """A verified answer as managers see it.

    `by`: the name of the person who verified it; `own`: that is the caller. `at` is ISO, UTC. `documents`: the names of
    those that it cites. `expired`: why it is not given any more, one sentence for each reason; empty: it is.
    """

    id: int
    question: str
    answer: str
    by: str
    own: bool
    at: str
    documents: list[str]
    expired: list[str]


@dataclass(frozen=True, slots=True)
class AnswerDraft:
    """A turn that may be verified: its question as it is read alone, and its answer as text."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class _AnsweredTurn:
    """A turn whose answer may be verified. `text`: the whole answer, `meanings`: the definitions in it, by sense."""

    record: Mapping[str, Any]
    text: str
    meanings: Mapping[int, str]
    senses: Sequence[Sense]
    passages: Mapping[str, tuple[Passage, Document]]


@usecase("manager")
async def verified_draft(
    kb: KnowledgeBase, principal: Principal, *, thread: Text, turn: Turn | None = None
) -> AnswerDraft:
    """Show the answer of a turn of the caller's, by default the last, as it would be verified, to be edited before.

    Raises:
        NotFound, NotAllowed, InvalidInput: as `verified_add`.
    """
    found = await _read_answered_turn(kb, await run_context(kb, principal), principal, thread, turn)
    return AnswerDraft(found.record["stand_alone_question"], found.text)


@usecase("manager")
async def verified_add(
    kb: KnowledgeBase, principal: Principal, *, thread: Text, turn: Turn | None = None, text: AnswerText = ""
) -> VerifiedShown:
    """Verify the answer of a turn of the caller's, by default the last: it is given first to whoever asks the same
    question and may read every passage that it cites, with the caller's name.

    Managers of all contexts verify any answer, others those to questions with a term of a context that they manage.
    `text`: the answer in other words; each sentence has to rest on a passage that was found for the question. An
    earlier verified answer to the same question that the caller may manage is replaced.

    Raises:
        NotFound: there is no such thread or turn of the caller's.
        NotAllowed: the caller manages nothing that the answer rests on.
        InvalidInput: the turn is no answer to a question to all documents, or a sentence rests on no passage.
    """
    run = await run_context(kb, principal)
    found = await _read_answered_turn(kb, run, principal, thread, turn)
    sentences, defined = found.record["sentences"], list(found.meanings)
    _require_words(text)
    if text and text.strip() != found.text.strip():
        sentences, defined = await _check_text(run, found, text)
    _require_support(sentences, defined)
    return await kb.blocking(_store_answer, kb, run, found, sentences, defined)


@usecase("manager")
async def verified_list(kb: KnowledgeBase, principal: Principal, *, expired: bool = False) -> list[VerifiedShown]:
    """List the verified answers whose sources the caller may read and manages, the latest first.

    `expired`: only those that are not given any more, because a passage changed, a document was removed or their owner
    is suspended.
    """
    found = await kb.blocking(_list_answers, kb, principal)
    return [one for one in found if one.expired or not expired]


@usecase("manager")
async def verified_renew(
    kb: KnowledgeBase, principal: Principal, *, answer: AnswerId, text: AnswerText = ""
) -> VerifiedShown:
    """Verify an answer again, with the caller's name: its text, or another `text`, is compared with its documents as
    they are now.

    Raises:
        NotFound: there is no such answer, or not for the caller.
        NotAllowed: the caller looks after nothing that it rests on any more.
        InvalidInput: a sentence rests on no passage of the documents any more.
    """
    from argot.graph.written_checks import check_written

    _require_words(text)
    old = await kb.blocking(_get_answer, kb, principal, answer)
    run = (await run_context(kb, principal)).begin_turn("")
    senses = await kb.blocking(_read_senses, kb, principal, [one.id for one in old.content.senses])
    # Who verified it may still drop it; to vouch for it once more they have to look after it today.
    _require_owner(principal, senses)
    meanings = _write_meanings(senses, old.content.defined)
    prose, defined = _split_meanings(text.strip() or _join_answer(old.content, meanings), meanings)
    hits = await kb.blocking(_find_hits, kb, principal, old, prose)
    sentences = await check_written(prose, hits, run, old.question) if prose else []
    _require_support(sentences, defined)

    def store() -> VerifiedShown:
        from argot.graph.verified_answers import build_content

        places = {hit.passage.id: (hit.passage, hit.document) for hit in hits}
        kb.glossary.verified.renew(
            old.id, build_content(sentences, places, senses, defined, kb.document_store), _name_owner(kb, principal)
        )
        return _show_answer(kb, principal, _get_answer(kb, principal, old.id))

    return await kb.blocking(store)


@usecase("manager")
async def verified_remove(kb: KnowledgeBase, principal: Principal, *, answer: AnswerId) -> VerifiedShown:
    """Drop a verified answer: from now on its question is answered like any other.

    Raises:
        NotFound: there is no such answer, or not for the caller.
    """
    found = await kb.blocking(_get_answer, kb, principal, answer)
    shown = await kb.blocking(_show_answer, kb, principal, found)
    await kb.blocking(kb.glossary.verified.remove, found.id)
    return shown


# -- the turn ---------------------------------------------------------------------------------------------------------


async def _read_answered_turn(
    kb: KnowledgeBase, run: RunContext, principal: Principal, thread: str, turn: int | None
) -> _AnsweredTurn:
    from argot.graph.run import read_turn_record

    await (await kb.threads()).own(principal.name, thread)
    record = await read_turn_record(await kb.graph(), thread, turn)
    if record is None:
        text = "Thread '%(thread)s' has no answer number %(number)s, or not any more. Ask again."
        raise NotFound(translate(text, thread=thread, number=turn or 0))
    if record.get("status") != "answered" or record.get("unchecked") or _is_narrowed(record):
        raise InvalidInput(
            translate(
                "Only a checked answer to a question to all documents can be verified, without files, chosen documents"
                " or tags. Ask the question alone, in a new conversation."
            )
        )
    return await kb.blocking(_read_turn, kb, run, record)


def _is_narrowed(record: Mapping[str, Any]) -> bool:
    return any(record.get(name) for name in ("files", "whole", "scope", "tags", "since", "fields", "subject"))


def _read_turn(kb: KnowledgeBase, run: RunContext, record: Mapping[str, Any]) -> _AnsweredTurn:
    from argot.graph.state_records import EXPLAINED_SENSE

    used = {one["sense"] for one in record["readings"]} - {EXPLAINED_SENSE}
    if any(one.get("meaning") for one in record["readings"]):
        raise InvalidInput(
            translate(
                "The documents explain a term of this question, and the glossary lacks it. Add the term to the"
                " glossary, and ask again."
            )
        )
    senses = _read_senses(kb, run.principal, sorted(used))
    cited = [one["passage"] for sentence in record["sentences"] for one in sentence["citations"]]
    passages = run.corpus.store.passages(run.principal, [*cited, *(hit["id"] for hit in record["hits"])])
    if len(senses) < len(used) or not passages.keys() >= set(cited):
        raise InvalidInput(
            translate("What this answer rests on has changed, or you may not read all of it. Ask the question again.")
        )
    _require_owner(run.principal, senses)
    meanings = _write_meanings(senses, record.get("defined") or [])
    text = _join_text(record["sentences"], meanings)
    return _AnsweredTurn(record, text, meanings, senses, passages)


def _require_owner(principal: Principal, senses: Sequence[Sense]) -> None:
    if not _is_owner(principal, senses):
        raise NotAllowed(
            translate(
                "%(name)s looks after no term of this question, and not after all documents. Ask a manager of all"
                " contexts to verify the answer.",
                name=principal.name,
            )
        )


def _is_owner(principal: Principal, senses: Sequence[Sense]) -> bool:
    """Return whether somebody looks after the documents, as managers of all contexts do, or after one of the terms."""
    return principal.manages_all or any(principal.may_manage(one.context) for one in senses)


# -- its text ---------------------------------------------------------------------------------------------------------


def _require_words(text: str) -> None:
    if text and not text.strip():
        raise InvalidInput(translate("The text is empty. Leave it out to verify the answer as it is."))


async def _check_text(run: RunContext, found: _AnsweredTurn, text: str) -> tuple[list[SentenceRecord], list[int]]:
    """Return the sentences of an edited answer, and the senses whose definitions it has kept."""
    from argot.graph.state_records import load_hits
    from argot.graph.written_checks import check_written

    prose, defined = _split_meanings(text, found.meanings)
    # In the order in which they were found, so that the sentences are compared with what the answer could rest on.
    hits = load_hits(found.record["hits"], run)
    asked = found.record["augmented_question"] or found.record["stand_alone_question"]
    return await check_written(prose, hits, run.begin_turn(""), asked) if prose else [], defined


def _write_meanings(senses: Sequence[Sense], defined: Sequence[int]) -> dict[int, str]:
    from argot.graph.presentation.wording import write_definition

    return {one.id: write_definition(one) for id_ in defined for one in senses if one.id == id_}


def _split_meanings(text: str, meanings: Mapping[int, str]) -> tuple[str, list[int]]:
    """Split a text into the part that the documents have to support, and the senses whose definition it repeats."""
    kept = [sense for sense, meaning in meanings.items() if meaning in text]
    for sense in kept:
        text = text.replace(meanings[sense], "", 1)
    return text.strip(), kept


def _join_answer(content: AnswerContent, meanings: Mapping[int, str]) -> str:
    return _join_text(content.sentences, meanings)


def _join_text(sentences: Sequence[Mapping[str, Any]], meanings: Mapping[int, str]) -> str:
    quoted = "".join(one["gap"] + one["text"] for one in sentences).strip()
    return "\n\n".join(filter(None, [*meanings.values(), quoted]))


def _require_support(sentences: Sequence[SentenceRecord], defined: Sequence[int]) -> None:
    """
    Raises:
        InvalidInput: nothing is said, or a sentence rests on no passage: nobody could tell who may read such a one.
    """
    bare = [one["text"] for one in sentences if not _is_supported(one)]
    if bare:
        named = "\n".join(f"- {one[:MAX_NAMED_CHARS]}" for one in bare)
        text = "No passage supports these sentences, so the answer was not verified. Change or remove them:\n%(said)s"
        raise InvalidInput(translate(text, said=named))
    if not (defined or any(one["citations"] for one in sentences)):
        raise InvalidInput(translate("The answer rests on nothing. Keep a sentence that a passage supports."))


def _is_supported(sentence: SentenceRecord) -> bool:
    from argot.graph.draft_checking import select_checked

    return bool(select_checked([sentence]))


# -- the store --------------------------------------------------------------------------------------------------------


def _store_answer(
    kb: KnowledgeBase,
    run: RunContext,
    found: _AnsweredTurn,
    sentences: Sequence[SentenceRecord],
    defined: Sequence[int],
) -> VerifiedShown:
    from argot.graph.state_records import to_mention
    from argot.graph.verified_answers import build_content, make_keys

    principal, question = run.principal, found.record["stand_alone_question"]
    keys = make_keys(question, [to_mention(one) for one in found.record["mentions"]])
    content = build_content(sentences, found.passages, found.senses, defined, kb.document_store)
    senses = {one.id for one in content.senses}
    same = kb.glossary.verified.find((keys[0], ""))
    sources = _read_sources(kb, principal, same)
    before = [
        one for one in same if {used.id for used in one.content.senses} == senses and _may_see(principal, one, sources)
    ]
    id_ = kb.glossary.verified.add(question, keys, content, _name_owner(kb, principal))
    for one in before:
        kb.glossary.verified.remove(one.id)
    return _show_answer(kb, principal, _get_answer(kb, principal, id_))


def _name_owner(kb: KnowledgeBase, principal: Principal) -> tuple[str, str]:
    known = kb.people.find(principal.name)
    shown = known.display_name if known else ""
    return principal.name, shown or ("" if principal.name == LOCAL_NAME else principal.name)


def _list_answers(kb: KnowledgeBase, principal: Principal) -> list[VerifiedShown]:
    found = kb.glossary.verified.list_all()
    sources = _read_sources(kb, principal, found)
    return [_show(kb, principal, one, sources) for one in found if _may_see(principal, one, sources)]


def _get_answer(kb: KnowledgeBase, principal: Principal, id_: int) -> VerifiedAnswer:
    found = kb.glossary.verified.get(id_)
    if found is None or not _may_see(principal, found, _read_sources(kb, principal, [found])):
        raise build_missing_error(id_)
    return found


def _read_sources(kb: KnowledgeBase, principal: Principal, answers: Sequence[VerifiedAnswer]) -> AnswerSources:
    from argot.graph.verified_answers import read_sources

    return read_sources(answers, kb.document_store, kb.glossary, principal)


def _may_see(principal: Principal, answer: VerifiedAnswer, sources: AnswerSources) -> bool:
    """Return whether a manager may read an answer and drop it: it is their own, or they look after what it rests on."""
    from argot.graph.verified_answers import may_know

    if not may_know(answer, sources, principal):
        return False
    return answer.owner == principal.name or _is_owner(principal, _select_senses(answer, sources))


def _select_senses(answer: VerifiedAnswer, sources: AnswerSources) -> list[Sense]:
    known = sources.readable_senses
    return [known[one.id] for one in answer.content.senses if one.id in known]


def _read_senses(kb: KnowledgeBase, principal: Principal, ids: Sequence[int]) -> list[Sense]:
    from argot.graph.verified_answers import read_sense

    found = (read_sense(kb.glossary, principal, id_) for id_ in ids)
    return [one for one in found if one is not None]


def _find_hits(kb: KnowledgeBase, principal: Principal, answer: VerifiedAnswer, text: str) -> list[Any]:
    """Return the passages of the answer's documents, as they are now, that are likest to it, best first."""
    from argot.tools.text.words import content_stems
    from argot.types import Hit

    wanted = set(content_stems(f"{answer.question} {text}"))
    scored = []
    for id_ in dict.fromkeys(one.document for one in answer.content.passages):
        passages = kb.document_store.passages_of(principal, id_)
        found = kb.document_store.passages(principal, [one.id for one in passages])
        for passage, document in found.values():
            share = len(wanted & set(content_stems(passage.text))) / max(len(wanted), 1)
            scored.append(Hit(passage, document, score=share, found_by={}))
    return sorted(scored, key=lambda hit: hit.score, reverse=True)[:MAX_CHECKED_PASSAGES]


def _show_answer(kb: KnowledgeBase, principal: Principal, answer: VerifiedAnswer) -> VerifiedShown:
    return _show(kb, principal, answer, _read_sources(kb, principal, [answer]))


def _show(kb: KnowledgeBase, principal: Principal, answer: VerifiedAnswer, sources: AnswerSources) -> VerifiedShown:
    from argot.graph.verified_answers import explain_expiry

    meanings = _write_meanings(_select_senses(answer, sources), answer.content.defined)
    return VerifiedShown(
        id=answer.id,
        question=answer.question,
        answer=_join_answer(answer.content, meanings),
        by=answer.owner_name,
        own=answer.owner == principal.name,
        at=answer.at,
        documents=list(dict.fromkeys(one.document_name for one in answer.content.passages)),
        expired=explain_expiry(answer, sources, shut_out=kb.people.is_shut_out(answer.owner)),
    )
