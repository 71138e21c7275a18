"""The store `evaluations`: what was measured on sets of pairs.

It has figures by the ids of pairs, and no text: questions and answers are only in the sets.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from argot.databases import StoreMigration, Stores
from argot.errors import NotFound

MIGRATIONS: tuple[StoreMigration, ...] = (
    "CREATE TABLE set_evaluations (id TEXT PRIMARY KEY, place INTEGER NOT NULL, report TEXT NOT NULL)",
)


@dataclass(frozen=True, slots=True)
class EvaluationHead:
    """The head of an evaluation: what was evaluated, on which part of which set of pairs, when and how.

    `of`: "retrieval" or "answers". `model`: the language model; empty: none. `judge`: the model that judged; empty:
    none.
    """

    id: str
    data: str
    part: str
    of: str
    profile: str
    model: str
    judge: str
    ran_at: str
    seconds: float


@dataclass(frozen=True, slots=True)
class StoredEvaluation(EvaluationHead):
    """An evaluation as it is kept.

    `values`: by the id of a pair, the values of each measure; None: the pair has none. `passages`: by the id of a pair,
    its passage; questions about one passage are resampled together. `left_out`: pairs that could not be asked.
    """

    values: dict[str, dict[str, float | None]]
    passages: dict[str, str]
    left_out: int = 0


class EvaluationStore:
    """The evaluations of one knowledge base. Each method may be called in any thread.

    Raises:
        DamagedStore, StoreUnavailable: by every method.
    """

    def __init__(self, stores: Stores) -> None:
        self.database = stores.open("evaluations", MIGRATIONS)

    def close(self) -> None:
        self.database.close()

    def scrub(self) -> bool:
        """Remove deleted data from the write-ahead log; return False if a reader still uses an earlier state."""
        return self.database.scrub()

    def add(self, **given: Any) -> StoredEvaluation:
        """Store an evaluation under the next number. A removed one's number is not used again while later ones stay."""
        with self.database.transaction() as db:
            place = db.execute("SELECT coalesce(max(place), 0) + 1 FROM set_evaluations").fetchone()[0]
            new = StoredEvaluation(id=f"e{place:04}", **given)
            db.execute(
                "INSERT INTO set_evaluations (id, place, report) VALUES (?, ?, ?)",
                (new.id, place, json.dumps(asdict(new))),
            )
        return new

    def list_evaluations(self) -> list[StoredEvaluation]:
        """List all evaluations, newest first, without access checks."""
        rows = self.database.rows("SELECT report FROM set_evaluations ORDER BY place DESC")
        return [StoredEvaluation(**json.loads(report)) for (report,) in rows]

    def get_evaluation(self, id_: str) -> StoredEvaluation:
        """
        Raises:
            NotFound: there is none of this id.
        """
        rows = self.database.rows("SELECT report FROM set_evaluations WHERE id = ?", id_)
        if not rows:
            raise make_absence(id_)
        return StoredEvaluation(**json.loads(rows[0][0]))

    def remove(self, id_: str) -> None:
        self.database.write("DELETE FROM set_evaluations WHERE id = ?", id_)


def make_absence(id_: str) -> NotFound:
    """Return the error about an evaluation that does not exist, or is hidden from whoever asks."""
    return NotFound(f"There is no evaluation '{id_}'. They are listed on the workbench, under Evaluate.")
