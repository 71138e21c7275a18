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
    """List the contexts that the caller may read."""
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
    """Create a context, or change an existing one: fields that are empty or left out stay. `new`: only create one."""
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
    """Change the given fields of a context, also to empty, if nobody has saved it meanwhile.

    Meanwhile means since the version that the caller saw.
    """
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
    """Return a context as it was in a version, and as it is now, to resolve a concurrent edit.

    Also returns who saved it last. `base` is None if that version is not known.
    """
    current = await kb.blocking(kb.glossary.contexts.get, principal, context_id)
    # `between` counts saves in this list: with more than 1,000 of them since, the base is not known.
    entries = await kb.blocking(kb.glossary.history.entries, principal, context_id=context_id, limit=1000)
    return collect_saves(current, entries, version)
