"""Adds many senses to the glossary within one change: the same result as one by one, several times as fast.

New senses are numbered here (the transaction holds the write lock, so that nobody else can take a number) and written
by the thousands; stored ones are read by the hundreds, and written only if they differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from argot.jargon_db.lookup.normalise import normalise
from argot.jargon_db.store.details import dump_details
from argot.jargon_db.store.glossary_writer import Outcome, Writer
from argot.jargon_db.store.inputs import SenseInput, clean_name, list_given_fields
from argot.jargon_db.store.journal import Place
from argot.jargon_db.store.rows import encode_list, next_number, store_audience
from argot.jargon_db.store.search_words import search_row
from argot.jargon_db.store.snapshots import record_sense
from argot.types import Context, Sense

_WRITE_BATCH = 1_000
_LOOKUP_BATCH = 500
"""Number of terms that are looked up at once. Always the same number of parameters, so that the statement is
constant."""
_TERMS = f"SELECT spelling, id FROM terms WHERE spelling IN ({', '.join('?' * _LOOKUP_BATCH)})"  # noqa: S608
_SENSES = """
SELECT term, context, expansion, id FROM senses
WHERE removed = 0 AND term IN (SELECT CAST(value AS BIGINT) FROM json_each(:numbers) AS wanted)
"""
_SENSE_COLUMNS = (
    "id, term, context, expansion, description, notes, owner, status, audience, review_by, details, created, updated"
)
_Row = tuple[Any, ...]


class BulkWriter:
    """Within the change of a `Writer`. `outcomes` records the result for each sense, `made` the contexts that were
    created.
    """

    def __init__(self, writer: Writer) -> None:
        self.outcomes: dict[int, Outcome] = {}
        self.made: list[str] = []
        self._writer = writer
        self._connection = writer.connection
        # Numbers are assigned here, because many rows are written at once.
        self._next_term = self._read_next_number("terms")
        self._next_sense = self._read_next_number("senses")
        self._terms: dict[str, int] = {}
        self._stored: dict[tuple[int, int, str], int] = {}
        self._new: dict[tuple[int, int, str], int] = {}
        self._term_rows: list[_Row] = []
        self._sense_rows: list[_Row] = []
        self._alias_rows: list[_Row] = []

    def put(self, senses: Iterable[SenseInput]) -> Iterator[int]:
        """Add and update checked senses; report after each batch how many are done. Equal senses count once.

        Raises:
            NotAllowed: the writer may not read or manage one of them or its context.
        """
        waiting, done = iter(senses), 0
        while batch := list(islice(waiting, _WRITE_BATCH)):
            self._put_batch(batch)
            done += len(batch)
            yield done

    def _put_batch(self, batch: list[SenseInput]) -> None:
        known: list[tuple[int, SenseInput]] = []
        self._look_up(batch)
        for sense_input in batch:
            context, outcome = self._writer.ensure_context(sense_input.context)
            if outcome == "added":
                self.made.append(sense_input.context)
            number = self._number(sense_input, context)
            if number is None:
                self._add(sense_input, context)
            else:
                known.append((number, sense_input))
        # Before the updates, which read senses and must find those of this batch.
        self._write()
        self._update(known)

    def _number(self, sense_input: SenseInput, context: Context) -> int | None:
        """Return the number of the sense if it is stored, or was added by this change."""
        key = (self._number_term(sense_input.term), context.id, sense_input.expansion)
        return self._new.get(key, self._stored.get(key))

    def _look_up(self, batch: Sequence[SenseInput]) -> None:
        """Read the stored terms of a batch, and all their senses."""
        spellings = list(dict.fromkeys(sense_input.term for sense_input in batch))
        for start in range(0, len(spellings), _LOOKUP_BATCH):
            asked = spellings[start : start + _LOOKUP_BATCH]
            asked += asked[-1:] * (_LOOKUP_BATCH - len(asked))
            self._terms.update(self._connection.execute(_TERMS, asked))
        numbers = [self._terms[spelling] for spelling in spellings if spelling in self._terms]
        rows = self._connection.execute(_SENSES, {"numbers": encode_list(numbers)})
        # An older Argot stored expansions with the spaces that were typed.
        self._stored = {(term, context, clean_name(expansion)): number for term, context, expansion, number in rows}

    def _number_term(self, spelling: str) -> int:
        """Return the number of a term, which is created if missing."""
        if spelling not in self._terms:
            self._terms[spelling] = self._next_term
            self._next_term += 1
            self._term_rows.append((self._terms[spelling], spelling, normalise(spelling)))
        return self._terms[spelling]

    def _add(self, sense_input: SenseInput, context: Context) -> None:
        number, now = self._next_sense, self._writer.now
        self._next_sense += 1
        term = self._terms[sense_input.term]
        wanted = Sense(number, sense_input.term, context.name, sense_input.expansion, **list_given_fields(sense_input))
        rest = (wanted.description, wanted.notes, wanted.owner, wanted.status, store_audience(wanted.audience))
        self._sense_rows.append(
            (number, term, context.id, wanted.expansion, *rest, wanted.review_by, dump_details(wanted), now, now)
        )
        for place, alias in enumerate(wanted.aliases):
            self._alias_rows.append((number, place, alias, normalise(alias)))
        at = Place(normalise(wanted.term), context.id)
        self._writer.journal.record("sense", number, None, (at, record_sense(wanted)))
        self._writer.journal.index(search_row(number, wanted))
        self._new[term, context.id, sense_input.expansion] = number
        self.outcomes[number] = "added"

    def _write(self) -> None:
        for table, columns, rows in (
            ("terms", "id, spelling, key", self._term_rows),
            ("senses", _SENSE_COLUMNS, self._sense_rows),
            ("aliases", "sense, place, spelling, key", self._alias_rows),
        ):
            self._connection.add_rows(table, columns, rows)
            rows.clear()

    def _update(self, known: list[tuple[int, SenseInput]]) -> None:
        stored = self._writer.senses([number for number, _ in known])
        for number, sense_input in known:
            # A sense that the file names twice is read again: the second row extends the result of the first.
            found = stored.get(number) or self._writer.sense(number)
            assert found is not None
            outcome = self._writer.update(found, sense_input)
            if outcome == "updated":
                # The data read before the update are no longer those stored.
                stored.pop(number, None)
            # A sense added and then updated by the same file was added.
            if self.outcomes.get(number) != "added":
                self.outcomes[number] = outcome if outcome != "unchanged" else self.outcomes.get(number, outcome)

    def _read_next_number(self, table: str) -> int:
        return int(self._connection.execute(f"SELECT {next_number(table)}").fetchone()[0])
