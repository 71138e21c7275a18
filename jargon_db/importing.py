"""Takes in many senses at once, as one change: all of them or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from argot.jargon_db import csv_format
from argot.jargon_db.base import Store
from argot.jargon_db.bulk import BulkWriter
from argot.jargon_db.changes import Writer
from argot.jargon_db.glossary_file import ContextInput
from argot.jargon_db.inputs import SenseInput
from argot.types import Principal


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did: senses added, updated and found as they were, and the names of contexts that were made.

    `change` is the change's number, by which it can be rolled back; None if nothing changed. `ignored` counts what the
    file says and the glossary has no place for ("skos:broader": 12).
    """

    added: int
    updated: int
    unchanged: int
    contexts_added: tuple[str, ...] = ()
    change: int | None = None
    ignored: Mapping[str, int] = field(default_factory=dict)


class Importing(Store):
    """The part of `Glossary` that takes in files."""

    def import_senses(
        self,
        senses: Iterable[SenseInput],
        name: str,
        *,
        contexts: Iterable[ContextInput] = (),
        by: Principal | None = None,
        why: str = "",
        told: Callable[[int], None] | None = None,
    ) -> ImportReport:
        """Adds and updates checked contexts and senses, all or none; `name` is that of the file, for the history.

        `told` is called now and then with the number of senses done; what it raises ends the import, and nothing stays.

        Raises:
            NotAllowed: one of them, or its context, is not `by`'s to read or to manage; nothing was changed.
        """
        with self._changing(by, "import", why=why, name=name) as writer:
            made = [one.name for one in contexts if _put_context(writer, one) == "added"]
            bulk = BulkWriter(writer)
            for done in bulk.put(senses):
                if told is not None:
                    told(done)
        counts = Counter(bulk.outcomes.values())
        return ImportReport(
            counts["added"], counts["updated"], counts["unchanged"], tuple(made + bulk.made), writer.number
        )

    def import_csv(
        self, text: str | bytes, name: str = "glossary.csv", *, by: Principal | None = None, why: str = ""
    ) -> ImportReport:
        """Adds and updates the senses of a CSV file (`csv_format` says how it looks), all of them or none.

        Bytes are decoded as whatever program may have saved them: UTF-8, UTF-16 or Windows-1252.

        Raises:
            InvalidGlossary: the file has bad rows; all of them are named, and nothing was changed.
            NotAllowed: as for `import_senses`.
        """
        senses = csv_format.read_senses(csv_format.decode(text) if isinstance(text, bytes) else text, name)
        return self.import_senses(senses, name, by=by, why=why)


def _put_context(writer: Writer, given: ContextInput) -> str:
    return writer.put_context(given.name, given.description, given.contact, given.audience)[1]
