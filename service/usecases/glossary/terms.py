"""The glossary for everybody: the list of terms from A to Z, and the entry of one term.

Only approved meanings that the caller may read. The page /terms, the API, MCP, Slack and the command line show what
these use cases return; managers' work on senses is in `senses`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import Field

from argot.jargon_db.lookup.normalise import normalise
from argot.jargon_db.store.context_store import build_unknown_name
from argot.jargon_db.store.term_list import INITIALS
from argot.service.glossary_review.defining_sentences import find_defining_sentences
from argot.service.glossary_review.occurrences import flatten_markdown
from argot.service.json_values import read_dataclass_fields
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.senses import Word
from argot.service.usecases.glossary.term_results import (
    DefiningSentence,
    ListedTerm,
    MeaningShown,
    RelatedTerm,
    TermEntry,
    TermListing,
)
from argot.service.usecases.usecase_registry import Text, usecase
from argot.types import Principal, Sense

Limit = Annotated[int, Field(ge=1, le=200)]
MAX_RELATED = 12
MAX_SIMILAR = 5
MAX_TERM_SENSES = 50
"""Meanings of one term of which the defining sentence is looked for."""


@usecase("asker")
async def terms_list(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    query: Annotated[Text, Field(max_length=500)] = "",
    initial: Annotated[Text, Field(max_length=1)] = "",
    context: Annotated[Text, Field(max_length=200)] | None = None,
    after: Annotated[Text, Field(max_length=1000)] = "",
    limit: Limit = 50,
) -> TermListing:
    """List the terms from A to Z with their meanings, or those that a text finds, best first.

    `query` is the text typed so far. `initial`: only terms that begin with this letter; # for digits and signs, … for
    letters after z. `after` is the `next` of the page before.

    Raises:
        NotFound: there is no such context, or not for this caller.
    """

    def list_terms() -> TermListing:
        if context is not None:
            _require_context(kb, principal, context)
        contacts = _list_contacts(kb, principal)
        if normalise(query):
            found = kb.glossary.search.find(principal, query, limit, status="approved", context=context)
            similar = [] if found else kb.glossary.lookup.suggest(principal, query, MAX_SIMILAR)
            return TermListing(_group_terms(found, contacts), [], similar=similar)
        terms = kb.glossary.terms
        letter = initial.lower()
        wanted = letter if letter in INITIALS else ""
        senses, rest = terms.page(principal, initial=wanted, after=after, context=context, limit=limit)
        return TermListing(_group_terms(senses, contacts), terms.initials(principal, context), rest)

    return await kb.blocking(list_terms)


@usecase("asker")
async def term_show(kb: KnowledgeBase, principal: Principal, *, term: Word, sentences: bool = True) -> TermEntry:
    """Show a term: each meaning with its context, who looks after it, and the sentence of a document that defines it;
    and related terms.

    Also finds a term by another name, a plural or another case. Without `sentences`, documents are not searched.
    """

    def build_entry() -> TermEntry:
        senses = kb.glossary.lookup.senses(principal, [term])[term]
        if not senses:
            return TermEntry(term.strip(), [], [], kb.glossary.lookup.suggest(principal, term, MAX_SIMILAR))
        name = next((one.term for one in senses if normalise(one.term) == normalise(term)), senses[0].term)
        contacts = _list_contacts(kb, principal)
        meanings = [_build_meaning(one, contacts) for one in senses]
        if sentences:
            meanings = _add_definitions(kb, principal, name, meanings)
        return TermEntry(name, meanings, _find_related(kb, principal, name, senses), [])

    return await kb.blocking(build_entry)


def _require_context(kb: KnowledgeBase, principal: Principal, name: str) -> None:
    known = [one.name for one in kb.glossary.contexts.all(principal)]
    if normalise(name) not in map(normalise, known):
        raise build_unknown_name(name, known)


def _list_contacts(kb: KnowledgeBase, principal: Principal) -> dict[str, str]:
    return {one.name: one.contact for one in kb.glossary.contexts.all(principal)}


def _build_meaning(sense: Sense, contacts: dict[str, str], definition: DefiningSentence | None = None) -> MeaningShown:
    values = {**read_dataclass_fields(sense), "contact": contacts.get(sense.context, ""), "definition": definition}
    return MeaningShown(**values)


def _group_terms(senses: Iterable[Sense], contacts: dict[str, str]) -> list[ListedTerm]:
    """Group senses by term, in the order of each term's first one."""
    by_term: dict[str, list[MeaningShown]] = {}
    for sense in senses:
        by_term.setdefault(sense.term, []).append(_build_meaning(sense, contacts))
    return [ListedTerm(term, meanings) for term, meanings in by_term.items()]


def _add_definitions(
    kb: KnowledgeBase, principal: Principal, name: str, meanings: Sequence[MeaningShown]
) -> list[MeaningShown]:
    contacts = {one.context: one.contact for one in meanings}
    found = find_defining_sentences(kb.document_store, principal, name, meanings[:MAX_TERM_SENSES])
    made = []
    for one in meanings:
        sentence = None
        if one.id in found:
            text, passage, document = found[one.id]
            where = (passage.id, document.id, document.name, passage.heading, passage.page, passage.page_kind)
            sentence = DefiningSentence(flatten_markdown(text).strip(), *where)
        made.append(_build_meaning(one, contacts, sentence))
    return made


def _find_related(kb: KnowledgeBase, principal: Principal, name: str, senses: Sequence[Sense]) -> list[RelatedTerm]:
    """Return terms that the meanings name, then terms whose meanings name this one."""
    matcher = kb.glossary.lookup.matcher(principal)
    texts = [text for one in senses for text in (one.expansion, one.description, one.notes) if text]
    own = {one.term for one in senses} | {name}
    named = [mention.term for text in texts for mention in matcher.find(text)]
    found = kb.glossary.search.find(principal, name, 5 * MAX_RELATED, status="approved")
    for sense in found:
        if any(mention.term in own for mention in matcher.find(f"{sense.expansion}\n{sense.description}")):
            named.append(sense.term)
    terms = [one for one in dict.fromkeys(named) if one and one not in own][:MAX_RELATED]
    meant = kb.glossary.lookup.senses(principal, terms)
    return [
        RelatedTerm(term, "; ".join(dict.fromkeys(one.expansion or one.description for one in meant[term])))
        for term in terms
        if meant[term]
    ]
