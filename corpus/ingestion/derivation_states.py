"""The progress and cost of texts that the service derives automatically, by document: tables of corpus.db.

Results are in `derivations`. These tables only add information that is not there: that a document is complete, or that
parts of it failed, how often and why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from argot.clock import format_utc
from argot.corpus.database import CorpusDatabase
from argot.corpus.ingestion.derivation import Recipe, list_tasks
from argot.corpus.store.row_mapping import load_audience
from argot.databases import Connection
from argot.types import is_of_thread

MAX_TRIES = 5
"""Number of failures after which a document is skipped, until it changes or somebody derives from it."""


@dataclass(frozen=True, slots=True)
class DerivationState:
    """The state of a document. `tried_at`: ISO 8601, UTC; `detail` says what failed."""

    document: str
    wanted: str
    state: Literal["derived", "failed"]
    tries: int
    detail: str
    tried_at: str

    def is_due(self, wanted: str, now: datetime) -> bool:
        """Return whether there may be work by now: after a failure in 1, 2, 4, ... hours."""
        if self.wanted != wanted:
            return True
        if self.state == "derived" or self.tries >= MAX_TRIES:
            return False
        waited = now - datetime.fromisoformat(self.tried_at)
        return waited >= timedelta(hours=2 ** (self.tries - 1))


@dataclass(frozen=True, slots=True)
class Spending:
    """Calls to the language model and tokens that it read and wrote."""

    calls: int = 0
    tokens: int = 0


class DerivationStates:
    """Safe to use from several threads."""

    def __init__(self, database: CorpusDatabase) -> None:
        self._database = database

    def read_states(self) -> dict[str, DerivationState]:
        """Return the states of all documents that have one."""
        rows = self._connection.execute(
            "SELECT document, wanted, state, tries, detail, tried_at FROM derivation_states"
        )
        return {row[0]: DerivationState(*row) for row in rows}

    def due(self, wanted: str, now: datetime) -> list[str]:
        """Return ids of the documents that may have work, the last added first.

        Files of conversations are left out.
        """
        noted = self.read_states()
        rows = self._connection.execute(
            """SELECT d.id, a.tokens FROM documents AS d JOIN audiences AS a ON a.n = d.audience
            JOIN revisions AS r ON r.id = d.revision ORDER BY r.added_at DESC, d.uri"""
        )
        return [
            id_
            for id_, tokens in rows
            if (id_ not in noted or noted[id_].is_due(wanted, now)) and not is_of_thread(load_audience(tokens))
        ]

    def note(
        self, document: str, wanted: str, recipes: Sequence[Recipe], failures: Sequence[str], at: datetime
    ) -> None:
        """Record the outcome for a document, of which a part may have failed (`failures` are the reasons).

        Nothing is recorded if unfailed work remains, for example after a change meanwhile.
        """
        with self._database.writing() as connection:
            if connection.execute("SELECT 1 FROM documents WHERE id = ?", (document,)).fetchone() is None:
                return
            left = len(list_tasks(connection, document, recipes, renew=False))
            if left > len(failures):
                return
            tries = _read_tries(connection, document, wanted) + 1 if left else 0
            more = f" (and {left - 1} more)" if left > 1 else ""
            connection.execute(
                """INSERT INTO derivation_states (document, wanted, state, tries, detail, tried_at)
                VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (document) DO UPDATE SET (wanted, state, tries, detail, tried_at) =
                (excluded.wanted, excluded.state, excluded.tries, excluded.detail, excluded.tried_at)""",
                (
                    *(document, wanted, "failed" if left else "derived", tries),
                    *(failures[0] + more if left else "", format_utc(at, "seconds")),
                ),
            )

    def forget_failures(self, documents: Sequence[str]) -> None:
        """Forget failures, because a person has derived from these documents; remaining work is checked again."""
        with self._database.writing() as connection:
            connection.executemany(
                "DELETE FROM derivation_states WHERE state = 'failed' AND document = ?", [(one,) for one in documents]
            )

    def record_spending(self, day: str, calls: int, tokens: int) -> None:
        with self._database.writing() as connection:
            connection.execute(
                """INSERT INTO derivation_spending (day, calls, tokens) VALUES (?, ?, ?)
                ON CONFLICT (day) DO UPDATE SET calls = derivation_spending.calls + excluded.calls,
                tokens = derivation_spending.tokens + excluded.tokens""",
                (day, calls, tokens),
            )

    def read_spending(self, day: str) -> Spending:
        sql = "SELECT calls, tokens FROM derivation_spending WHERE day = ?"
        row = self._connection.execute(sql, (day,)).fetchone()
        return Spending(*row) if row else Spending()

    @property
    def _connection(self) -> Connection:
        return self._database.connection()


def _read_tries(connection: Connection, document: str, wanted: str) -> int:
    sql = "SELECT tries FROM derivation_states WHERE document = ? AND wanted = ?"
    row = connection.execute(sql, (document, wanted)).fetchone()
    return int(row[0]) if row else 0
