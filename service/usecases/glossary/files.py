"""The glossary as a file: in, with a preview of what would change, and out."""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace

from argot.errors import InvalidInput, RowProblem
from argot.jargon_db.formats.column_names import FIELDS, parse_mapping
from argot.jargon_db.formats.column_use import ColumnUse
from argot.jargon_db.formats.everyday_words import EverydayChoice
from argot.jargon_db.formats.format_registry import FORMATS, choose_written_format, find_format
from argot.jargon_db.formats.glossary_file import DEFAULT_LANGUAGE, ReadOptions
from argot.jargon_db.formats.import_export import ImportChoices, ImportReport
from argot.jargon_db.formats.import_preview import ImportPreview
from argot.jargon_db.formats.rejected_rows import write_rejected
from argot.service.blocking_work import HandOver, progress_events
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.senses import Limit, Words
from argot.service.usecases.usecase_registry import Event, Finished, Text, usecase
from argot.settings import Settings
from argot.types import Context, Principal, Sense

# For the surfaces, which may not import the glossary's own modules.
__all__ = [
    "FIELDS",
    "FORMATS",
    "ColumnUse",
    "EverydayChoice",
    "ImportReport",
    "choose_written_format",
    "decode_export",
    "find_format",
]


@dataclass(frozen=True, slots=True)
class PreviewCounts:
    """Numbers of senses that would be added, changed or left unchanged, and of problems in the file."""

    added: int
    updated: int
    unchanged: int
    problems: int


@dataclass(frozen=True, slots=True)
class SenseUpdate:
    """A sense before and after an import."""

    before: Sense
    after: Sense


@dataclass(frozen=True, slots=True)
class ContextUpdate:
    """A context before and after an import."""

    before: Context
    after: Context


@dataclass(frozen=True, slots=True)
class PreviewShown:
    """Preview of an import: the first of the additions, updates and problems (`where` is a problem's full position).
    With problems only an import in part would store anything.

    `ignored`: how often the file contains something that a glossary cannot hold, by its name. `stamp`: for importing
    exactly this. `columns`: those of a table, with the field that each holds. `notices`: what was understood otherwise
    than written. `everyday`: the first of the `everyday_count` new names that are everyday words. `left_out` rows would
    stay out, and are in the CSV file `rest` with a reason each. `drafts`: the first terms of new drafts, and
    `conflicting`: the first terms that would mean several things in one context, each with a count of all.
    """

    counts: PreviewCounts
    added: list[Sense]
    updated: list[SenseUpdate]
    problems: list[RowProblem]
    contexts_added: list[str]
    contexts_updated: list[ContextUpdate]
    ignored: dict[str, int]
    stamp: str
    columns: list[ColumnUse]
    notices: list[RowProblem]
    everyday: list[str]
    everyday_count: int
    left_out: int
    rest: str
    drafts: list[str]
    drafts_count: int
    conflicting: list[str]
    conflicting_count: int


@usecase("manager")
async def glossary_import(
    kb: KnowledgeBase, principal: Principal, *, text: Text, name: Text = "glossary.csv"
) -> ImportReport:
    """Import a glossary from CSV, completely or not at all; `name` is used in messages."""
    return await kb.blocking(kb.glossary.files.import_csv, text, name, by=principal)


@usecase("asker")
async def glossary_export(kb: KnowledgeBase, principal: Principal) -> str:
    """Export the senses that the caller may read as CSV, which can be imported again."""
    return await kb.blocking(kb.glossary.files.export_csv, principal)


@usecase("manager")
async def glossary_preview(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    data: Text,
    name: Text,
    format: Text = "",
    context: Words = "",
    language: Text = DEFAULT_LANGUAGE,
    columns: Words = "",
    everyday: EverydayChoice = "draft",
    contexts: Text = "",
    limit: Limit = 50,
) -> PreviewShown:
    """Preview the import of a file; nothing is stored.

    Parameters are those of `glossary_import_file`. Returns `counts`, and the first of the senses that would be added or
    updated (before and after), and of the wrong ones. `stamp`: pass it on to import exactly this.
    """
    options = _make_options(kb.settings, context, language, columns)
    choices = ImportChoices(everyday, _decode_bytes(contexts))
    looking = kb.blocking(
        kb.glossary.files.preview, principal, _decode_bytes(data), name, format, options, choices=choices
    )
    return _show_preview(await looking, limit, options.context)


@usecase("manager")
async def glossary_import_file(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    data: Text,
    name: Text,
    format: Text = "",
    context: Words = "",
    language: Text = DEFAULT_LANGUAGE,
    columns: Words = "",
    everyday: EverydayChoice = "draft",
    contexts: Text = "",
    partial: bool = False,
    why: Words = "",
    seen: Text = "",
) -> AsyncGenerator[Event | Finished[ImportReport], None]:
    """Import a file (`data` in base64) as one change that can be rolled back: completely or not at all, or, if it is
    `partial`, what is right, while the other rows come back with a reason each.

    An empty `format` is detected. `context` applies to terms for which the file names none; `language` is preferred if
    the file has several. `columns` corrects the columns of a table ("Abbreviation=term,Meaning=expansion") and is
    remembered for the file's name. New terms that are `everyday` words become drafts unless they are taken or left
    out. `contexts` is a list of contexts in base64. `seen` is the `stamp` of a preview: if the import would now do
    something else, nothing is imported. Progress is reported; a cancelled import leaves nothing behind.
    """
    options = replace(_make_options(kb.settings, context, language, columns), partial=partial)
    file_bytes, choices = _decode_bytes(data), ImportChoices(everyday, _decode_bytes(contexts))

    def work(tell: HandOver[Event | Finished[ImportReport]]) -> None:
        def tell_stored(done: int, total: int) -> None:
            tell({"kind": "storing", "name": name, "done": done, "total": total})

        # The total is unknown before the file has been read.
        tell({"kind": "reading", "name": name, "done": 0, "total": 0})
        report = kb.glossary.files.import_file(
            principal, file_bytes, name, format, options, choices=choices, why=why, on_progress=tell_stored, seen=seen
        )
        tell(Finished(report))

    # Closed before its end, it stops the import, which is one transaction.
    async with aclosing(progress_events(work)) as events:
        async for event in events:
            yield event


@usecase("asker")
async def glossary_export_file(kb: KnowledgeBase, principal: Principal, *, format: Text) -> str:
    """Export the senses that the caller may read as a file of this format, which can be imported again.

    Drafts and retired senses of the contexts that the caller manages are included. A workbook is returned in base64.
    """
    file = await kb.blocking(kb.glossary.files.export_file, principal, format)
    return file if isinstance(file, str) else base64.b64encode(file).decode()


def decode_export(file: str, format: str) -> bytes:
    """Return the bytes of a file that `glossary_export_file` returned."""
    return base64.b64decode(file) if find_format(format).is_binary else file.encode("utf-8")


def _decode_bytes(data: str) -> bytes:
    try:
        # Without `validate`, characters foreign to base64 are skipped, and a damaged file is accepted as complete.
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInput(f"The file did not arrive as base64: {error}. Send it again.") from error


def _make_options(settings: Settings, context: str, language: str, columns: str = "") -> ReadOptions:
    limits = settings
    # From the settings and never from the caller: they bound what a file of strangers may cost.
    return ReadOptions(
        context=context.strip(),
        language=language.strip(),
        max_bytes=int(limits.limits.max_glossary_mb * 2**20),
        seconds=limits.limits.parse_seconds,
        memory_mb=limits.limits.parse_memory_mb,
        most_senses=limits.limits.max_glossary_senses,
        columns=parse_mapping(columns),
    )


def _show_preview(found: ImportPreview, limit: int, context: str) -> PreviewShown:
    added, updated, problems = len(found.added), len(found.updated), len(found.problems)
    return PreviewShown(
        counts=PreviewCounts(added, updated, found.unchanged, problems),
        added=list(found.added[:limit]),
        updated=[SenseUpdate(before, after) for before, after in found.updated[:limit]],
        problems=[replace(one, where=one.place) for one in found.problems[:limit]],
        contexts_added=list(found.contexts_added),
        contexts_updated=[ContextUpdate(before, after) for before, after in found.contexts_updated[:limit]],
        ignored=dict(found.ignored),
        stamp=found.stamp,
        columns=list(found.columns),
        notices=[replace(one, where=one.place) for one in found.notices[:limit]],
        everyday=list(found.everyday[:limit]),
        everyday_count=len(found.everyday),
        left_out=len(found.rejected),
        rest=write_rejected(found.rejected, found.columns, context) if found.rejected else "",
        drafts=list(found.drafts[:limit]),
        drafts_count=len(found.drafts),
        conflicting=list(found.conflicting[:limit]),
        conflicting_count=len(found.conflicting),
    )
