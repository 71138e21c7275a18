"""The glossary: senses, from draft to retirement, and searching them.

Contexts are in `contexts`, files in `glossary_files`, misses and proposals in `proposals`, changes in
`glossary_history`, and the form of senses in `sense_results`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from argot.errors import NotFound
from argot.jargon_db.store.history_entries import ChangeSet
from argot.service.glossary_review import occurrences as documents
from argot.service.json_values import read_audience, read_dataclass_fields, show_passage
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.sense_results import (
    AcceptedConflictShown,
    ConflictAccepted,
    ConflictList,
    ConflictShown,
    MarkedPassage,
    Occurrences,
    SenseShown,
    SimilarTerm,
    TermSenses,
    WarningShown,
    show_sense,
)
from argot.service.usecases.glossary.warning_texts import translate_warning
from argot.service.usecases.usecase_registry import Count, Number, ParameterGroup, Reader, Text, usecase
from argot.types import Label, Principal, Relation, Sense, SenseStatus

if TYPE_CHECKING:
    from argot.jargon_db.store.accepted_conflicts import AcceptedConflict
    from argot.jargon_db.store.conflict_rules import SenseWarning

Word = Annotated[Text, Field(min_length=1, max_length=200)]
Words = Annotated[Text, Field(max_length=20_000)]
"""Limit of a field of a sense; the glossary itself checks each field's own, with better messages."""
SenseId = Number
Limit = Annotated[int, Field(ge=1, le=1000)]
Readers = list[Reader] | None
MAX_NAMED = 8
"""Number of senses named with one conflict."""


@dataclass(frozen=True, kw_only=True)
class SenseFields(ParameterGroup):
    """Fields of a sense; missing ones are unchanged."""

    term: Words | None = None
    context: Words | None = None
    expansion: Words | None = None
    description: Words | None = None
    notes: Words | None = None
    aliases: list[Words] | None = None
    owner: Words | None = None
    audience: Readers = None
    review_by: Text | None = None
    labels: list[Label] | None = None
    relations: list[Relation] | None = None
    source: Words | None = None
    example: Words | None = None

    @property
    def given_values(self) -> dict[str, Any]:
        """The given fields, in the glossary's form."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values["audience"] = read_audience(self.audience)
        # None is a missing field; an empty text is given, and clears its field.
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class NewSense(SenseFields):
    """Fields of a new meaning."""

    term: Words = field()  # without a default, unlike the other fields of a sense
    context: Words = field()
    expansion: Words = field()
    description: Words = ""
    notes: Words = ""


# -- reading ----------------------------------------------------------------------------------------------------------


@usecase("asker")
async def glossary_list(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    query: Text | None = None,
    context: Text | None = None,
    status: SenseStatus | None = None,
    limit: Annotated[Count, Field(ge=1)] | None = None,
    start: Count = 0,
) -> list[Sense]:
    """List the senses that the caller may read, by term, skipping the first `start` ones."""
    find = kb.glossary.senses.find
    return await kb.blocking(find, principal, query=query, context=context, status=status, limit=limit, start=start)


@usecase("asker")
async def glossary_search(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    text: Text,
    status: SenseStatus | None = None,
    context: Text | None = None,
    limit: Limit = 20,
) -> list[SenseShown]:
    """Find senses by what was typed so far, best first: in terms, aliases, expansions and descriptions."""
    senses = await kb.blocking(kb.glossary.search.find, principal, text, limit, status=status, context=context)
    return [show_sense(principal, sense) for sense in senses]


@usecase("asker")
async def glossary_sense(kb: KnowledgeBase, principal: Principal, *, sense_id: SenseId) -> SenseShown:
    """Show one sense."""
    return show_sense(principal, await kb.blocking(kb.glossary.senses.get, principal, sense_id))


@usecase("asker")
async def glossary_term(kb: KnowledgeBase, principal: Principal, *, term: Words) -> TermSenses:
    """Show all senses of a term, whatever their status, and the senses that have it as an alias.

    `term` is returned in the glossary's spelling if it has one.
    """
    from argot.jargon_db.lookup.normalise import normalise

    key = normalise(term)
    found = await kb.blocking(kb.glossary.search.find, principal, term, 200)
    own = [sense for sense in found if normalise(sense.term) == key]
    alias = [sense for sense in found if sense not in own and key in map(normalise, sense.aliases)]
    # Those that answer questions come first.
    own.sort(key=lambda sense: (_ORDER[sense.status], sense.context.casefold(), sense.id))
    return TermSenses(
        own[0].term if own else term.strip(),
        [show_sense(principal, sense) for sense in own],
        [show_sense(principal, sense) for sense in alias],
    )


@usecase("asker")
async def glossary_occurrences(
    kb: KnowledgeBase, principal: Principal, *, phrase: Words, limit: Limit = 5
) -> Occurrences:
    """Find a term or an expansion in the documents: its count, and the passages with the words around it."""
    return await kb.blocking(documents.find_occurrences, kb.document_store, principal, phrase, limit)


@usecase("asker")
async def glossary_passage(
    kb: KnowledgeBase, principal: Principal, *, passage_id: Text, phrase: Words = ""
) -> MarkedPassage:
    """Show a passage with a phrase marked.

    `parts` has its text as pairs: (text, whether it is the phrase).
    """
    found = await kb.blocking(kb.document_store.passages, principal, [passage_id])
    if passage_id not in found:
        raise NotFound("This passage no longer exists: its document was changed or removed.")
    of, document = found[passage_id]
    parts = documents.cut_at_phrase(of.text, phrase)
    text = await kb.blocking(kb.document_store.markdown, principal, of.revision_id)
    return MarkedPassage(**read_dataclass_fields(show_passage(of, document, text)), parts=parts)


@usecase("asker")
async def glossary_similar(
    kb: KnowledgeBase, principal: Principal, *, term: Words, limit: Limit = 5
) -> list[SimilarTerm]:
    """List the known terms closest to this one, each with its senses, as suggestions."""
    names = await kb.blocking(kb.glossary.lookup.suggest, principal, term, limit)
    senses = await kb.blocking(kb.glossary.lookup.senses, principal, names)
    return [SimilarTerm(name, [show_sense(principal, one) for one in senses[name]]) for name in names]


# -- writing ----------------------------------------------------------------------------------------------------------


@usecase("manager")
async def glossary_add(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    term: Word,
    context: Word,
    expansion: Words,
    description: Words = "",
    notes: Words = "",
    aliases: list[Word] | None = None,
    audience: Readers = None,
) -> Sense:
    """Define what a term means in a context; if the sense exists already, change it.

    Without `audience` a known sense keeps its own, and a new one is for everyone.
    """
    return await kb.blocking(
        kb.glossary.senses.add,
        term,
        context,
        expansion,
        description=description,
        notes=notes,
        aliases=tuple(aliases or ()),
        owner=principal.name,
        audience=read_audience(audience),
        by=principal,
    )


@usecase("manager")
async def glossary_draft(kb: KnowledgeBase, principal: Principal, *, sense: NewSense, why: Words = "") -> SenseShown:
    """Save a new meaning as a draft, which answers no questions until it is approved."""
    return show_sense(principal, await kb.blocking(kb.glossary.senses.draft, principal, **sense.given_values, why=why))


@usecase("manager")
async def glossary_save(
    kb: KnowledgeBase, principal: Principal, *, sense_id: SenseId, version: Number, sense: SenseFields, why: Words = ""
) -> SenseShown:
    """Change the given fields of a sense, if nobody has saved it since the version that the caller saw."""
    save = kb.glossary.senses.save
    return show_sense(
        principal, await kb.blocking(save, principal, sense_id, version=version, **sense.given_values, why=why)
    )


@usecase("manager")
async def glossary_approve(
    kb: KnowledgeBase, principal: Principal, *, sense_id: SenseId, version: Number, why: Words = ""
) -> SenseShown:
    """Approve a sense, so that it answers questions."""
    return show_sense(principal, await kb.blocking(kb.glossary.senses.approve, principal, sense_id, version, why))


@usecase("manager")
async def glossary_retire(
    kb: KnowledgeBase, principal: Principal, *, sense_id: SenseId, version: Number, why: Words = ""
) -> SenseShown:
    """Retire a sense, so that it no longer answers questions. It can still be read, and approved again."""
    return show_sense(principal, await kb.blocking(kb.glossary.senses.retire, principal, sense_id, version, why))


@usecase("manager")
async def glossary_warnings(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    term: Words = "",
    context: Words = "",
    expansion: Words = "",
    aliases: list[Words] | None = None,
    sense_id: SenseId | None = None,
) -> list[WarningShown]:
    """List the warnings against saving this, also while it is still being typed.

    Kinds: those of the glossary, and `no_document`: no document that the caller may read spells it out.
    """
    from argot.jargon_db import SenseInput

    sense_input = SenseInput(term, context, expansion, aliases=tuple(aliases or ()))
    stored = await kb.blocking(kb.glossary.conflicts.warnings, principal, sense_input, sense_id)
    found = [WarningShown(one.kind, translate_warning(one.message), one.senses) for one in stored]
    unused = await kb.blocking(documents.describe_unused, kb.document_store, principal, term, expansion)
    return [*found, WarningShown("no_document", translate_warning(unused))] if unused else found


@usecase("manager")
async def glossary_conflicts(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    accepted: bool = False,
    about: Annotated[list[SenseId] | None, Field(max_length=MAX_NAMED)] = None,
    limit: Limit = 200,
) -> ConflictList:
    """List the conflicts in the glossary and the senses whose review is due, or the accepted conflicts.

    `accepted` chooses the latter. With `about`, only conflicts that involve all of these senses. `open` and `accepted`
    count them; `total` is the count of the requested list, of which `conflicts` are the first, each with its `kind`,
    `message`, `senses` and `may_accept`; an accepted one also has its `change`, `at`, `who`, `why`, and `may_take_up`
    (whether it may be reopened).
    """

    def find_conflicts() -> ConflictList:
        every = kb.glossary.conflicts.find(principal)
        listed: list[tuple[SenseWarning, AcceptedConflict | None]] = [(one, None) for one in every.open]
        if accepted:
            listed = [(one.warning, one) for one in every.accepted]
        wanted = [(warning, how) for warning, how in listed if set(about or ()) <= set(warning.senses)]
        first = wanted[:limit]
        # Each sense is read once, in however many conflicts it occurs.
        named = {number for warning, _ in first for number in warning.senses[:MAX_NAMED]}
        senses = {number: show_sense(principal, kb.glossary.senses.get(principal, number)) for number in named}
        shown = [_show_conflict(warning, how, senses) for warning, how in first]
        return ConflictList(len(every.open), len(every.accepted), len(wanted), shown)

    return await kb.blocking(find_conflicts)


@usecase("manager", name="glossary_let_stand")
async def glossary_accept_conflict(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    kind: Text,
    senses: Annotated[list[tuple[SenseId, Number]], Field(min_length=1, max_length=MAX_NAMED)],
    why: Words = "",
) -> ConflictAccepted:
    """Accept a conflict of this kind between these senses, each named with the version that the caller saw.

    It comes back when the meaning of one of them changes, or when the `change` is rolled back.
    """
    return ConflictAccepted(await kb.blocking(kb.glossary.conflicts.accept, principal, kind, senses, why))


@usecase("manager", name="glossary_take_up")
async def glossary_reopen_conflict(
    kb: KnowledgeBase, principal: Principal, *, change: Number, why: Words = ""
) -> ChangeSet:
    """Reopen a conflict that this change accepted. Only this change is undone."""
    return await kb.blocking(kb.glossary.conflicts.reopen, principal, change, why)


# -- how they look ----------------------------------------------------------------------------------------------------

_ORDER: dict[SenseStatus, int] = {"approved": 0, "draft": 1, "retired": 2}


def _show_conflict(
    warning: SenseWarning, accepted: AcceptedConflict | None, senses: Mapping[int, SenseShown]
) -> AcceptedConflictShown | ConflictShown:
    named = [senses[number] for number in warning.senses[:MAX_NAMED]]
    # A person who has not seen all senses of a conflict, or may not change them, cannot decide it.
    seen = len(named) == len(warning.senses) and all(one.may_manage for one in named)
    # A review that is due is completed, not accepted.
    may_accept = seen and warning.kind != "review_due"
    message = translate_warning(warning.message)
    if accepted is None:
        return ConflictShown(warning.kind, message, named, may_accept, may_take_up=False)
    change, at, who, why = accepted.change, accepted.at, accepted.who, accepted.why
    may_take_up = seen and accepted.alone
    return AcceptedConflictShown(warning.kind, message, named, may_accept, may_take_up, change, at, who, why)
