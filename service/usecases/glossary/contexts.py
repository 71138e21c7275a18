"""Contexts: the teams, products and fields in which terms have their meaning."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from argot.service.json_values import read_audience
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.history import SavedSince, collect_saves
from argot.service.usecases.glossary.senses import Readers, Word, Words
from argot.service.usecases.usecase_registry import Number, Text, usecase
from argot.types import Context, Principal

About = Annotated[Text, Field(max_length=10_000)]
ContextId = Number


@usecase("asker")
async def context_list(kb: KnowledgeBase, principal: Principal) -> list[Context]:
    """The contexts one may know of."""
    return await kb.blocking(kb.glossary.contexts.all, principal)


@usecase("manager")
async def context_add(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    name: Word,
    description: About = "",
    contact: About = "",
    audience: Readers = None,
    new: bool = False,
) -> Context:
    """Make a context, or change what is known of one: what is empty or left out stays. `new`: only make one."""
    readers = read_audience(audience)
    add = kb.glossary.contexts.add
    return await kb.blocking(add, name, description, contact, readers, new=new, by=principal)


@usecase("manager")
async def context_save(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    context_id: ContextId,
    version: Number,
    description: About | None = None,
    contact: About | None = None,
    audience: Readers = None,
    why: Words = "",
) -> Context:
    """Change what is given of a context, also to nothing, if nobody saved it since the version that was seen."""
    return await kb.blocking(
        kb.glossary.contexts.save,
        principal,
        context_id,
        version=version,
        description=description,
        contact=contact,
        audience=read_audience(audience),
        why=why,
    )


@usecase("manager")
async def context_since(
    kb: KnowledgeBase, principal: Principal, *, context_id: ContextId, version: Number
) -> SavedSince[Context]:
    """A context as it was in a version, as it is now, and who saved it last: to resolve a concurrent edit.

    `base` is None if that version is not known.
    """
    current = await kb.blocking(kb.glossary.contexts.get, principal, context_id)
    # `between` counts saves in this list: with more than 1,000 of them since, the base is not known.
    entries = await kb.blocking(kb.glossary.history.entries, principal, context_id=context_id, limit=1000)
    return collect_saves(current, entries, version)
