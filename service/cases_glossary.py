"""The glossary: contexts, senses, import and export, and the terms people asked for in vain."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from argot.service.owner import KnowledgeBase
from argot.service.registry import Reader, Text, case
from argot.service.shapes import jsonable
from argot.types import Principal, SenseStatus

Word = Annotated[Text, Field(min_length=1, max_length=200)]
Words = Annotated[Text, Field(max_length=10_000)]


@case("manager")
async def glossary_import(
    kb: KnowledgeBase, principal: Principal, *, text: Text, name: Text = "glossary.csv"
) -> dict[str, Any]:
    """Take in a glossary as CSV, all of it or nothing; `name` is for messages."""
    plain: dict[str, Any] = jsonable(await kb.blocking(kb.glossary.import_csv, text, name, by=principal))
    return plain


@case("asker")
async def glossary_export(kb: KnowledgeBase, principal: Principal) -> str:
    """The senses one may read, as CSV that can be imported again."""
    return await kb.blocking(kb.glossary.export_csv, principal)


@case("asker")
async def glossary_list(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    query: Text | None = None,
    context: Text | None = None,
    status: SenseStatus | None = None,
    limit: Annotated[int, Field(ge=1)] | None = None,
) -> list[dict[str, Any]]:
    """The senses one may read, by term."""
    senses = await kb.blocking(kb.glossary.senses, principal, query=query, context=context, status=status, limit=limit)
    return [jsonable(sense) for sense in senses]


@case("manager")
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
    audience: list[Reader] | None = None,
) -> dict[str, Any]:
    """Define what a term means in a context; the same again changes the sense that is there.

    Without `audience` a known sense keeps its own, and a new one is for everyone.
    """
    sense = await kb.blocking(
        kb.glossary.add_sense,
        term,
        context,
        expansion,
        description=description,
        notes=notes,
        aliases=tuple(aliases or ()),
        owner=principal.name,
        audience=None if audience is None else frozenset(audience),
        by=principal,
    )
    plain: dict[str, Any] = jsonable(sense)
    return plain


@case("manager")
async def glossary_misses(kb: KnowledgeBase, principal: Principal) -> list[dict[str, Any]]:
    """Terms people asked for that nobody has defined, the most wanted first."""
    return [jsonable(miss) for miss in await kb.blocking(kb.glossary.misses, principal)]


@case("manager")
async def context_add(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    name: Word,
    description: Words = "",
    contact: Words = "",
    audience: list[Reader] | None = None,
) -> dict[str, Any]:
    """Make a context, or change what is known of one."""
    readers = frozenset(audience) if audience is not None else None
    context = await kb.blocking(kb.glossary.add_context, name, description, contact, readers, by=principal)
    plain: dict[str, Any] = jsonable(context)
    return plain


@case("asker")
async def context_list(kb: KnowledgeBase, principal: Principal) -> list[dict[str, Any]]:
    """The contexts one may know of."""
    return [jsonable(context) for context in await kb.blocking(kb.glossary.contexts, principal)]
