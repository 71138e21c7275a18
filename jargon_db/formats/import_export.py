"""Import and export of glossary files: many senses at once, as one change, all of them or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from argot.errors import Conflict, InvalidGlossary, RowProblem
from argot.jargon_db.formats import csv_format
from argot.jargon_db.formats.column_use import ColumnUse
from argot.jargon_db.formats.everyday_words import EverydayChoice
from argot.jargon_db.formats.format_registry import GlossaryFormat, find_format, read_file
from argot.jargon_db.formats.glossary_file import ContextInput, GlossaryFile, ReadOptions
from argot.jargon_db.formats.import_preview import CONTEXTS, SENSES, ImportPreview, prepare_import, preview_import
from argot.jargon_db.formats.rejected_rows import write_rejected
from argot.jargon_db.store.bulk_writer import BulkWriter
from argot.jargon_db.store.connections import Connections
from argot.jargon_db.store.glossary_writer import Writer
from argot.jargon_db.store.import_columns import keep_columns, read_columns
from argot.jargon_db.store.inputs import SenseInput
from argot.jargon_db.store.relation_rights import hide_relations
from argot.jargon_db.store.rows import may_read, read_context, read_sense, readable
from argot.jargon_db.store.sense_store import Senses
from argot.types import Context, Principal

ProgressListener = Callable[[int, int], None]
_OPTIONS = ReadOptions()
_MAX_NAMED_WORDS = 20
CONTEXT_LIST = "contexts.csv"
"""The name of a list of contexts, which may accompany a glossary."""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The outcome of an import: senses added, updated and unchanged, and the names of new contexts.

    `change` is the change's number, by which it can be rolled back; None if nothing changed. `ignored` counts entries
    of the file that the glossary cannot hold ("skos:broader": 12). `notices` tell what was understood differently from
    what is written; `rest` is the CSV file of the rows that an import in part left out, each with its reason.
    `everyday` are the first of the `everyday_count` everyday words among the names of new senses. They became drafts,
    unless somebody decided otherwise.
    """

    added: int
    updated: int
    unchanged: int
    contexts_added: tuple[str, ...] = ()
    change: int | None = None
    ignored: Mapping[str, int] = field(default_factory=dict)
    columns: tuple[ColumnUse, ...] = ()
    notices: tuple[RowProblem, ...] = ()
    left_out: int = 0
    rest: str = ""
    everyday: tuple[str, ...] = ()
    everyday_count: int = 0


@dataclass(frozen=True, slots=True)
class ImportChoices:
    """Decisions of the person who imports a file.

    Attributes:
        everyday: whether new senses named by an everyday word become drafts, are taken or left out.
        contexts: a second file, a list of contexts.
    """

    everyday: EverydayChoice = "draft"
    contexts: bytes = b""


_CHOICES = ImportChoices()


class GlossaryFiles:
    """Imports files into one glossary, and exports it."""

    def __init__(self, connections: Connections, senses: Senses) -> None:
        self._connections = connections
        self._senses = senses

    def preview(
        self,
        principal: Principal,
        data: bytes,
        name: str,
        format: str = "",
        options: ReadOptions = _OPTIONS,
        *,
        choices: ImportChoices = _CHOICES,
    ) -> ImportPreview:
        """Return the changes that `import_file` would make with the same arguments, problems included: with problems,
        those of an import in part.

        Raises:
            InvalidInput: there is no such format.
        """
        try:
            found = self._read(data, name, format, replace(options, partial=True), choices)
        except InvalidGlossary as error:
            return ImportPreview(problems=tuple(error.problems))
        return preview_import(self._connections, principal, found, choices.everyday)

    def import_file(
        self,
        by: Principal | None,
        data: bytes,
        name: str,
        format: str = "",
        options: ReadOptions = _OPTIONS,
        *,
        choices: ImportChoices = _CHOICES,
        why: str = "",
        on_progress: ProgressListener | None = None,
        seen: str = "",
    ) -> ImportReport:
        """Import a file as one change: completely or, if the options say so, without its wrong entries. An empty
        `format` is detected.

        `seen` is the stamp of the preview that `by` was shown: the import must make exactly its changes. `on_progress`
        is called with the senses stored so far and their total; an exception from it ends the import.

        Raises:
            InvalidGlossary: every problem of the file is named, and nothing was changed.
            InvalidInput: there is no such format.
            NotAllowed: as for `import_senses`.
            Conflict: the import would now make other changes than those shown.
        """
        found = self._read(data, name, format, options, choices)
        if seen and by is not None and preview_import(self._connections, by, found, choices.everyday).stamp != seen:
            raise Conflict(
                f"The glossary was changed since you looked at what {name} would change. Nothing was imported: look"
                " again, and import it then."
            )
        found, everyday = prepare_import(self._connections, by, name, found, choices.everyday, partial=options.partial)
        total = len(found.senses)

        def report_stored(done: int) -> None:
            if on_progress is not None:
                on_progress(done, total)

        # Before the first batch, so that the callback learns that reading is done, and may end the import here.
        report_stored(0)
        done = self.import_senses(
            found.senses, name, contexts=found.contexts, by=by, why=why, on_progress=report_stored
        )
        if options.columns:
            keep_columns(self._connections, name, options.columns)
        rest = write_rejected(found.rejected, found.columns, options.context) if found.rejected else ""
        drafts = [_tell_drafts(everyday)] if everyday and choices.everyday == "draft" else []
        return replace(
            done, ignored=found.ignored, columns=tuple(found.columns), notices=(*drafts, *found.notices),
            left_out=len(found.rejected), rest=rest, unchanged=done.unchanged + found.unchanged,
            everyday=everyday[:_MAX_NAMED_WORDS], everyday_count=len(everyday),
        )  # fmt: skip

    def _read(self, data: bytes, name: str, format: str, options: ReadOptions, choices: ImportChoices) -> GlossaryFile:
        """Read a file with the columns that somebody corrected before in a file of this name, and its contexts."""
        columns = options.columns or read_columns(self._connections, name)
        found = read_file(data, name, format, replace(options, columns=columns, remembered=not options.columns))
        if not choices.contexts:
            return found
        listed = read_file(choices.contexts, CONTEXT_LIST, "", replace(options, columns={}))
        return replace(
            found, contexts=[*found.contexts, *listed.contexts], notices=[*found.notices, *listed.notices],
            problems=[*found.problems, *listed.problems], rejected=[*found.rejected, *listed.rejected],
        )  # fmt: skip

    def import_senses(
        self,
        senses: Iterable[SenseInput],
        name: str,
        *,
        contexts: Iterable[ContextInput] = (),
        by: Principal | None = None,
        why: str = "",
        on_progress: Callable[[int], None] | None = None,
    ) -> ImportReport:
        """Add and update checked contexts and senses, all or none; `name` is the file's name, for the history.

        `on_progress` is called now and then with the number of senses done; an exception from it ends and undoes the
        import.

        Raises:
            NotAllowed: `by` may not read or manage one of them or its context; nothing was changed.
        """
        with self._connections.changing(by, "import", why=why, name=name) as writer:
            # Contexts first, with their details from the file; a sense would create its context empty.
            made = [one.name for one in contexts if _put_context(writer, one) == "added"]
            bulk = BulkWriter(writer)
            for done in bulk.put(senses):
                if on_progress is not None:
                    on_progress(done)
        counts = Counter(bulk.outcomes.values())
        return ImportReport(
            counts["added"], counts["updated"], counts["unchanged"], tuple(made + bulk.made), writer.number
        )

    def import_csv(
        self, text: str | bytes, name: str = "glossary.csv", *, by: Principal | None = None, why: str = ""
    ) -> ImportReport:
        """Add and update the senses of a CSV file (`csv_format` describes it), all of them or none.

        Bytes from any program are decoded: UTF-8, UTF-16 or Windows-1252.

        Raises:
            InvalidGlossary: the file has bad rows; all of them are named, and nothing was changed.
            NotAllowed: as for `import_senses`.
        """
        written = csv_format.decode_csv(text) if isinstance(text, bytes) else text
        found = replace(csv_format.read_csv(written, name, _OPTIONS), contexts=[])
        found, _ = prepare_import(self._connections, by, name, found, "take", partial=False)
        done = self.import_senses(found.senses, name, by=by, why=why)
        return replace(done, unchanged=done.unchanged + found.unchanged)

    def export_file(self, principal: Principal, format: str) -> str | bytes:
        """Return the contexts and senses the principal may read; drafts and retired ones of the contexts they manage.

        Raises:
            InvalidInput: there is no such format.
        """
        wanted: GlossaryFormat = find_format(format)
        senses = map(read_sense, readable(self._connections.select(SENSES), principal))
        shown = senses if principal.sees_all else hide_relations(self._connections.reader(), principal, senses)
        return wanted.write(shown, self._list_contexts(principal))

    def export_csv(self, principal: Principal) -> str:
        """Return the senses the principal may read, as a CSV file that can be imported unchanged."""
        return csv_format.write(self._senses.find(principal))

    def _list_contexts(self, principal: Principal) -> list[Context]:
        rows = self._connections.select(CONTEXTS)
        return [read_context(row) for row in rows if may_read(principal, row["audience"])]


def _tell_drafts(words: Sequence[str]) -> RowProblem:
    """Return the notice that names the everyday words whose senses became drafts, and how these are approved."""
    named = ", ".join(words[:_MAX_NAMED_WORDS])
    more = f" and {len(words) - _MAX_NAMED_WORDS:,} more" if len(words) > _MAX_NAMED_WORDS else ""
    return RowProblem(
        0,
        "",
        f"{len(words):,} everyday {'words' if len(words) > 1 else 'word'} among the new names: {named}{more}. Their"
        " meanings are drafts, which answer no questions until they are approved: `argot glossary list --status draft`"
        " shows their numbers for `argot glossary approve`",
    )


def _put_context(writer: Writer, context_input: ContextInput) -> str:
    return writer.put_context(
        context_input.name, context_input.description, context_input.contact, context_input.audience
    )[1]
