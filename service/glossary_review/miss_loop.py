"""Path of an unknown term: a question uses it, managers define it, and the asker is notified of its meaning.

A missed term is queued with its question. A meaning found in the documents is proposed to the managers, who decide.
Then its askers are notified, each in the thread where they asked.

Access: a proposal is for those who may read the documents of its evidence. The wording of a question belongs to its
asker: managers see counts, and the words only of those whose asker shared them (`share_questions`). Askers are notified
only of senses they may read.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from argot.service.glossary_review.document_mining import group_texts_by_readers
from argot.types import Audience, Document, Passage, Principal, Sense

if TYPE_CHECKING:
    from argot.corpus.store.document_store import CorpusStore
    from argot.graph.glossary_feedback import GlossaryFeedback
    from argot.jargon_db.glossary import Glossary
    from argot.jargon_db.mining import Definition
    from argot.jargon_db.store.history_entries import HistoryEntry
    from argot.jargon_db.store.proposal_rows import Proposal
    from argot.service.knowledge_base import KnowledgeBase
    from argot.tools.llm.quoted_definitions import QuotedDefinition

LOOP = Principal("miss loop", sees_all=True)
"""The principal on whose behalf the program itself reads. The documents in which it finds meanings determine their
readers."""
MAX_TERMS = 8
"""Maximum terms of one question that are queued or searched."""
MAX_PASSAGES = 100
MAX_MEANINGS = 3
MIN_SCORE = 0.3
"""Minimum score of a definition found in the documents; a defining sentence has 0.4, a table 0.95."""
MIN_SHARE = 0.5
"""Share of the best meaning's score from which another meaning is proposed beside it."""
MAX_EVIDENCE = 5


# -- after an answer --------------------------------------------------------------------------------------------------


def record_learned(kb: KnowledgeBase, principal: Principal, thread: str, learned: GlossaryFeedback) -> None:
    """Count the senses that were meant, queue terms that only the documents know, and propose meanings of unknown ones
    from the documents.

    The asker was not informed about the former: the documents explained them. Managers still see them, because these
    are the terms people use; an initially empty glossary learns its gaps this way.
    """
    from argot.jargon_db.mining.short_forms import may_be_short

    glossary = kb.glossary
    glossary.usage.record(learned.senses)
    quiet = [term for term in learned.undefined if may_be_short(term)][:MAX_TERMS]
    for term in quiet:
        glossary.misses.record(term, principal.name, learned.question, thread, meant=learned.meant)
    for term in (*learned.missed, *quiet)[:MAX_TERMS]:
        # Whatever happened to the proposals: a term is not drafted again at every question.
        if not glossary.proposals.find(LOOP, status=None, term=term):
            propose_meanings(kb.document_store, glossary, LOOP, term)


# -- proposals --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Meaning:
    expansion: str
    definitions: Sequence[Definition]

    @property
    def score(self) -> float:
        return max(one.score for one in self.definitions)

    @property
    def evidence(self) -> tuple[tuple[str, str], ...]:
        # One quote per passage, the best: read from the worst on, so that the better one is kept.
        quotes = {one.passage_id: one.quote for one in reversed(self.definitions)}
        return tuple(reversed(quotes.items()))[:MAX_EVIDENCE]


def propose_meanings(
    store: CorpusStore, glossary: Glossary, principal: Principal, term: str, *, created_by: str = ""
) -> list[Proposal]:
    """Propose meanings of a term from the documents that this principal may read; return the proposals, best first.

    Each set of readers gets its own, so that no proposal rests on documents its reader may not see. Meanings that the
    glossary has are left out; a term that no document defines gets no proposal.
    """
    known = _list_known(glossary, principal, term)
    made: list[Proposal] = []
    for audience, definitions in _find_definitions(store, principal, term).items():
        for meaning, description in _collect_meanings(definitions, known):
            made.append(
                glossary.proposals.add(
                    "miss",
                    term,
                    meaning.expansion,
                    description=description,
                    evidence=meaning.evidence,
                    audience=audience,
                    created_by=created_by,
                    score=meaning.score,
                )
            )
    return [one for one in made if one.status == "open"]


def _find_definitions(store: CorpusStore, principal: Principal, term: str) -> dict[Audience, list[Definition]]:
    """Find the definitions in the passages, by their readers, best first."""
    from argot.jargon_db.mining import find_definitions_of

    texts = group_texts_by_readers(_find_passages(store, principal, term, MAX_PASSAGES))
    found = {audience: find_definitions_of(term, some) for audience, some in texts.items()}
    return {audience: definitions for audience, definitions in found.items() if definitions}


def _collect_meanings(definitions: Sequence[Definition], known: set[str]) -> list[tuple[_Meaning, str]]:
    """Return the meanings to propose, each with its description: a sentence that defines the term, in its own words."""
    from argot.jargon_db.lookup.normalise import normalise

    by_key: defaultdict[str, list[Definition]] = defaultdict(list)
    for one in definitions:
        if one.score >= MIN_SCORE:
            by_key[normalise(one.expansion)].append(one)
    # Without an expansion: sentences that define the term.
    unkeyed = by_key.pop("", [])
    spelt = [_Meaning(_choose_commonest(some), some) for key, some in by_key.items() if key not in known]
    spelt = sorted(spelt, key=lambda one: (-one.score, -len(one.definitions), one.expansion))
    spelt = [one for one in spelt if one.score >= MIN_SHARE * spelt[0].score][:MAX_MEANINGS]
    description = unkeyed[0].quote if unkeyed else ""
    # With several meanings it is unknown which of them the sentence describes.
    if spelt:
        return [(one, description if len(spelt) == 1 else "") for one in spelt]
    # If the glossary has a meaning, the sentence probably describes that one.
    return [(_Meaning("", unkeyed), description)] if unkeyed and not known else []


def _choose_commonest(definitions: Sequence[Definition]) -> str:
    return Counter(one.expansion for one in definitions).most_common(1)[0][0]


def _list_known(glossary: Glossary, principal: Principal, term: str) -> set[str]:
    """Return the normalised expansions the glossary has for the term, in any status."""
    from argot.jargon_db.lookup.normalise import list_variants, normalise

    keys = set(list_variants(term))
    found = glossary.search.find(principal, term, 200)
    named = [sense for sense in found if keys.intersection(map(normalise, (sense.term, *sense.aliases)))]
    return {normalise(sense.expansion) for sense in named}


# -- with a language model --------------------------------------------------------------------------------------------


MAX_SHOWN = 24


async def define(kb: KnowledgeBase, principal: Principal, term: str) -> Proposal | None:
    """Propose the language model's definition from the documents, if its quotation occurs in the passage it names.

    None: there is no model, it fails, its quotation does not occur, or the glossary has this meaning.
    """
    server = kb.model_server
    if server is None:
        return None
    from argot.tools.llm import quoted_definitions

    held = await kb.blocking(_find_passages, kb.document_store, principal, term, MAX_SHOWN)
    definition = await quoted_definitions.quote_definition(server.session([]), term, held)
    return None if definition is None else await kb.blocking(_propose_quoted, kb.glossary, principal, term, definition)


def _find_passages(store: CorpusStore, principal: Principal, term: str, most: int) -> list[tuple[Passage, Document]]:
    ids = store.find_phrase(principal, term, most)
    held = store.passages(principal, ids)
    return [held[one] for one in ids if one in held]


def _propose_quoted(
    glossary: Glossary, principal: Principal, term: str, definition: QuotedDefinition
) -> Proposal | None:
    """Propose the definition that the model quotes; None if the glossary has it, or managers have decided on it."""
    from argot.jargon_db.lookup.normalise import normalise

    # "NPV" as an expansion of NPV explains nothing.
    expansion = "" if normalise(definition.expansion) == normalise(term) else definition.expansion
    if normalise(expansion) in _list_known(glossary, principal, term):
        return None
    offered = glossary.proposals.find(principal, None, term)
    others = [one for one in offered if one.origin != "model" and normalise(one.expansion) == normalise(expansion)]
    made = glossary.proposals.add(
        "model",
        term,
        expansion,
        # If the documents contain the same meaning, their words describe it, and not the model's.
        description=definition.quote if others else definition.definition,
        evidence=((definition.passage.id, definition.quote),),
        audience=definition.document.audience,
        created_by=principal.name,
    )
    return made if made.status == "open" else None


# -- telling askers ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TermNews:
    """A term somebody asked for now has a meaning: `senses` are those they may read, at least one."""

    term: str
    question: str
    senses: tuple[Sense, ...]


def list_news(kb: KnowledgeBase, principal: Principal, thread: str | None = None) -> list[tuple[str, TermNews]]:
    """Return the news that this person has not seen, with the threads; nothing is marked as reported."""
    from argot.jargon_db.lookup.normalise import normalise

    glossary = kb.glossary
    untold = glossary.misses.list_untold(principal.name, thread)
    if not untold:
        return []
    meanings = glossary.lookup.senses(principal, list(dict.fromkeys(miss.term for miss in untold)))
    found: dict[tuple[str, str], tuple[str, TermNews]] = {}
    for miss in untold:
        key = (miss.thread, normalise(miss.term))
        senses = [sense for sense in meanings[miss.term] if _is_new(glossary, sense, miss.term, miss.asked)]
        if senses and key not in found:
            found[key] = (miss.thread, TermNews(miss.term, miss.question, tuple(senses)))
    return list(found.values())


def take_news(kb: KnowledgeBase, principal: Principal, thread: str) -> list[TermNews]:
    """Return the news for this person in this thread. Each is returned once: the caller must report it."""
    from argot.jargon_db.lookup.normalise import normalise

    taken = []
    for _, news in list_news(kb, principal, thread):
        # Claimed before it is returned: two windows of one person must not report it twice.
        if kb.people.notices.claim(principal.name, thread, normalise(news.term)):
            taken.append(news)
        kb.glossary.misses.mark_told(news.term, thread)
    return taken


def _is_new(glossary: Glossary, sense: Sense, term: str, asked: str) -> bool:
    """Return whether the sense became an answer for the term after it was asked for.

    An asker who rejected these senses is not notified about them again.
    """
    from argot.jargon_db.lookup.normalise import list_variants

    keys = set(list_variants(term))
    return any(
        _is_begin_of_term(entry, keys)
        for entry in glossary.history.entries(LOOP, sense_id=sense.id)
        if entry.at >= asked
    )


def _is_begin_of_term(entry: HistoryEntry, keys: set[str]) -> bool:
    # A change of readers counts as a new start: some people may read it only from now on.
    return _has_answer_for(entry.after, keys) and (
        not _has_answer_for(entry.before, keys) or (entry.before or {})["audience"] != (entry.after or {})["audience"]
    )


def _has_answer_for(kept: dict[str, Any] | None, keys: Iterable[str]) -> bool:
    from argot.jargon_db.lookup.normalise import normalise

    if kept is None or kept["status"] != "approved":
        return False
    return bool(set(keys).intersection(map(normalise, (kept["term"], *kept["aliases"]))))
