"""The queue's tables, as SQL. Every method may be called in any thread.

A job's state is changed by procrastinate's own functions, so that its workers are notified. `transaction` takes the
store's lock, under which nobody else submits or puts back a job: only one job with the same key waits or runs at a
time.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from argot.clock import format_utc, utc_now
from argot.corpus.document_ids import hash_content
from argot.errors import Conflict
from argot.work.job_kinds import describe_busy_job
from argot.work.job_types import JobRecord, JobRequest, JobState, no_job
from argot.work.queue_schema import NOTES, NOTES_STORE, QUEUE_STORE, list_queue_migrations
from argot.work.tries import MAX_TRIES, TryOutcome, wait_after

if TYPE_CHECKING:
    from argot.databases import Connection
    from argot.postgresql.stores import PostgresqlDatabase, PostgresqlStores

LISTED = 500
KEPT_DAYS = 7
"""How long ended jobs are kept; those that were put aside are kept until somebody deals with them."""
_STATES: dict[str, JobState] = {
    "todo": "waiting",
    "doing": "running",
    "succeeded": "done",
    "failed": "failed",
    "cancelled": "cancelled",
    "aborting": "running",
    "aborted": "cancelled",
}
_JOBS = """
    SELECT j.id, CAST(j.status AS TEXT) AS status, j.scheduled_at, j.abort_requested, {more}, n.kind,
        n.label, n.key, n.asked_by, n.put_at, n.started_at, n.ended_at, n.aside, n.tries, n.put_off, n.done, n.total,
        n.doing, n.error, n.error_kind, n.worker
    FROM procrastinate_jobs j JOIN job_notes n ON n.job = j.id
"""
_ALL = _JOBS.format(more="NULL AS outcome, NULL AS parameters")
_WHOLE = _JOBS.format(more="n.outcome, n.parameters")


@dataclass(frozen=True, slots=True)
class TakenJob:
    """A job that a worker has begun."""

    id: int
    kind: str
    label: str
    key: str
    asked_by: str
    parameters: dict[str, Any]
    data: bytes | None
    tries: int
    put_off: int


class QueueStore:
    """The queue of one knowledge base."""

    def __init__(self, stores: PostgresqlStores) -> None:
        self._stores = stores
        self._opened: PostgresqlDatabase | None = None
        self._opening = threading.Lock()
        # LISTEN's channels are shared by the whole database, and their names have at most 63 letters: each knowledge
        # base needs queues of its own, with short names.
        self._mark = blake2b(stores.schema.encode(), digest_size=6).hexdigest()

    @property
    def conninfo(self) -> str:
        """The connection string for libpq, with the password, and with the schema as the search path."""
        return self._stores.conninfo

    @property
    def _database(self) -> PostgresqlDatabase:
        """The database, opened when it is first needed: most commands use no job."""
        with self._opening:
            if self._opened is None:
                self._stores.open(QUEUE_STORE, list_queue_migrations())
                self._opened = self._stores.open(NOTES_STORE, NOTES)
            return self._opened

    def open(self) -> None:
        """Create the queue's tables where they do not exist."""
        _ = self._database

    def queue(self, kind: str) -> str:
        """Return the name of the queue for jobs of a kind."""
        return f"{kind}.{self._mark}"

    # -- putting ------------------------------------------------------------------------------------------------------

    def submit(self, request: JobRequest, *, again: bool) -> int:
        """Put a job into the queue, and return its number.

        Raises:
            Conflict: one with its key waits or runs.
        """
        with self._database.transaction() as connection:
            _require_free(connection, request)
            if aside := _find_set_aside(connection, request.key):
                if not again:
                    return aside
                connection.execute("DELETE FROM procrastinate_jobs WHERE id = ?", (aside,))
            number = self._insert_job(connection, request)
            if request.data is not None:
                connection.execute("INSERT INTO job_data (job, data) VALUES (?, ?)", (number, request.data))
        return number

    def require_free(self, request: JobRequest) -> None:
        """Check that no job with the same key waits or runs.

        Raises:
            Conflict: one with its key waits or runs.
        """
        with self._database.reader() as connection:
            _require_free(connection, request)

    def _insert_job(self, connection: Connection, request: JobRequest) -> int:
        (row,) = connection.execute(
            "SELECT (procrastinate_defer_jobs_v1(ARRAY[ROW(?, ?, 0, NULL, NULL, '{}', NULL)]"
            "::procrastinate_job_to_defer_v1[]))[1] AS id",
            (self.queue(request.kind), TASK),
        ).fetchall()
        connection.execute(
            "INSERT INTO job_notes (job, kind, label, key, asked_by, parameters) VALUES (?, ?, ?, ?, ?, ?)",
            (
                row["id"],
                request.kind,
                request.label,
                request.key,
                request.by.name,
                json.dumps(dict(request.parameters)),
            ),
        )
        return int(row["id"])

    # -- looking ------------------------------------------------------------------------------------------------------

    def list_jobs(self, kind: str) -> list[JobRecord]:
        """List jobs, newest first. Of more than `LISTED`, those that wait, run or were put aside take precedence."""
        order = f"ORDER BY (j.status IN ('todo', 'doing') OR n.aside) DESC, j.id DESC LIMIT {LISTED}"
        rows = self._database.rows(f"{_ALL} WHERE ? IN ('', n.kind) {order}", kind)
        return sorted(map(_read_job, rows), key=lambda job: -job.id)

    def job(self, number: int) -> JobRecord:
        """
        Raises:
            NotFound
        """
        rows = self._database.rows(f"{_WHOLE} WHERE j.id = ?", number)
        if not rows:
            raise no_job(number)
        return _read_job(rows[0])

    def find_latest(self, kind: str, key: str) -> JobRecord | None:
        """Return the newest job of this kind and key."""
        rows = self._database.rows(f"{_WHOLE} WHERE n.kind = ? AND n.key = ? ORDER BY j.id DESC LIMIT 1", kind, key)
        return _read_job(rows[0]) if rows else None

    def workers(self, seconds: float) -> dict[str, list[str]]:
        """Return the workers with a heartbeat within so many seconds, each with the kinds of jobs that it takes."""
        rows = self._database.rows(
            "SELECT worker, kinds FROM job_workers WHERE seen > now() - make_interval(secs => ?) ORDER BY worker",
            float(seconds),
        )
        return {row["worker"]: list(row["kinds"]) for row in rows}

    # -- stopping and putting back ------------------------------------------------------------------------------------

    def cancel(self, number: int) -> None:
        """Cancel a job.

        Raises:
            NotFound
            Conflict: it has ended.
        """
        with self._database.transaction() as connection:
            (row,) = connection.execute(
                "SELECT procrastinate_cancel_job_v1(?, true, false) AS id", (number,)
            ).fetchall()
            if row["id"] is not None:
                connection.execute(
                    "UPDATE job_notes SET ended_at = now() WHERE job = ? AND"
                    " (SELECT status FROM procrastinate_jobs WHERE id = job) = 'cancelled'",
                    (number,),
                )
                return
        raise self.job(number).make_ended_conflict()

    def retry(self, number: int) -> None:
        """Put a failed job back into the queue.

        Raises:
            NotFound
            Conflict: it has not failed, or another one with its key is under way.
        """
        found = self.job(number)
        found.require_put_back()
        with self._database.transaction() as connection:
            if found.key and _list_jobs_of_key(connection, found.key):
                raise Conflict(f"Job {number} cannot be put back: another one for '{found.label}' is under way.")
            connection.execute(
                "UPDATE procrastinate_jobs SET status = 'todo', attempts = 0, scheduled_at = NULL,"
                " abort_requested = false, worker_id = NULL"
                " WHERE id = ? AND status IN ('failed', 'cancelled', 'aborted')",
                (number,),
            )
            connection.execute(
                "UPDATE job_notes SET tries = 0, put_off = 0, done = 0, total = 0, doing = '', error = '',"
                " error_kind = '', aside = false, ended_at = NULL WHERE job = ?",
                (number,),
            )
            # procrastinate notifies its workers only of new jobs.
            payload = json.dumps({"type": "job_inserted", "job_id": number})
            channel = f"procrastinate_queue_v1#{self.queue(found.kind)}"
            connection.execute("SELECT pg_notify(?, ?)", (channel, payload))

    # -- working ------------------------------------------------------------------------------------------------------

    def begin(self, number: int, worker: str) -> TakenJob | None:
        """Count a try of the job and return the job; None if it was deleted meanwhile."""
        rows = self._database.write_returning(
            "UPDATE job_notes SET tries = tries + 1, started_at = now(), ended_at = NULL, worker = ? WHERE job = ?"
            " RETURNING kind, label, key, asked_by, parameters, tries, put_off",
            worker,
            number,
        )
        if not rows:
            return None
        row, data = rows[0], self._database.rows("SELECT data FROM job_data WHERE job = ?", number)
        columns = {name: row[name] for name in ("kind", "label", "key", "asked_by", "tries", "put_off")}
        return TakenJob(
            id=number,
            parameters=json.loads(row["parameters"]),
            data=bytes(data[0]["data"]) if data else None,
            **columns,
        )

    def tell(self, number: int, done: int, total: int, doing: str, outcome: Any) -> None:
        self._database.write(
            "UPDATE job_notes SET done = ?, total = ?, doing = ?, outcome = coalesce(?, outcome) WHERE job = ?",
            done, total, _remove_nul(doing), None if outcome is None else json.dumps(outcome), number,
        )  # fmt: skip

    def note_success(self, number: int, outcome: Any) -> None:
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE job_notes SET outcome = ?, ended_at = now(), doing = '', error = '',"
                " error_kind = '' WHERE job = ?",
                (json.dumps(outcome), number),
            )
            connection.execute("DELETE FROM job_data WHERE job = ?", (number,))

    def note_failure(self, number: int, found: TryOutcome, error: str, error_kind: str) -> datetime:
        """Note a failed try and the decision about the job; procrastinate notes the same when it gets the decision.

        Return the earliest time of the next try, by PostgreSQL's clock: those of the machines may differ.
        """
        with self._database.transaction() as connection:
            now = _note_failure(connection, number, found, error, error_kind)
        return (now or utc_now()) + found.delay

    def note_stop(self, number: int) -> None:
        """Note that somebody cancelled the job."""
        self._database.write("UPDATE job_notes SET ended_at = now(), doing = '' WHERE job = ?", number)

    def note_worker(self, worker: str, kinds: Iterable[str]) -> None:
        """Note a worker's heartbeat, and the kinds of jobs that it takes."""
        self._database.write(
            "INSERT INTO job_workers (worker, kinds) VALUES (?, ?)"
            " ON CONFLICT (worker) DO UPDATE SET kinds = excluded.kinds, seen = now()",
            worker,
            sorted(kinds),
        )

    def remove_worker(self, worker: str) -> None:
        self._database.write("DELETE FROM job_workers WHERE worker = ?", worker)

    def recover(self, lost_after: float, first_wait: float) -> list[JobRecord]:
        """Put back the jobs of workers without a heartbeat for so many seconds; return these jobs.

        It counts as one of a job's tries: the job itself may have ended its worker.
        """
        with self._database.transaction() as connection:
            rows = connection.execute(
                f"{_ALL} LEFT JOIN procrastinate_workers w ON w.id = j.worker_id WHERE j.status = 'doing' AND"
                " (w.id IS NULL OR w.last_heartbeat < now() - make_interval(secs => ?)) FOR UPDATE OF j SKIP LOCKED",
                (float(lost_after),),
            ).fetchall()
            for row in rows:
                _recover(connection, row, first_wait)
            connection.execute(
                "DELETE FROM job_workers WHERE seen < now() - make_interval(secs => ?)", (lost_after * 4,)
            )
        return [_read_job(row) for row in rows]

    def forget_person(self, name: str) -> None:
        """Delete the jobs that somebody submitted, except those that run."""
        if not self._stores.holds(NOTES_STORE):
            return
        self._database.write(
            "DELETE FROM procrastinate_jobs WHERE id IN (SELECT job FROM job_notes WHERE asked_by = ?)"
            " AND status <> 'doing'",
            name,
        )

    def forget_documents(self, documents: Collection[str], originals: Collection[str]) -> None:
        """Delete the jobs about these documents (ids) or with these files (hashes), except those that run."""
        if not self._stores.holds(NOTES_STORE):
            return
        notes = self._database.rows("SELECT job, parameters, coalesce(outcome, '') AS outcome FROM job_notes")
        gone = {one["job"] for one in notes if any(id_ in one["parameters"] + one["outcome"] for id_ in documents)}
        for (number,) in self._database.rows("SELECT job FROM job_data"):
            sent = self._database.rows("SELECT data FROM job_data WHERE job = ?", number)
            if sent and hash_content(bytes(sent[0]["data"])) in originals:
                gone.add(number)
        delete = "DELETE FROM procrastinate_jobs WHERE id = ? AND status <> 'doing'"
        for number in sorted(gone):
            self._database.write(delete, number)

    def forget_old(self) -> None:
        """Delete the jobs that ended more than `KEPT_DAYS` ago, except those that were put aside."""
        self._database.write(
            "DELETE FROM procrastinate_jobs WHERE id IN (SELECT job FROM job_notes WHERE NOT aside"
            " AND ended_at < now() - make_interval(days => ?)) AND status NOT IN ('todo', 'doing')",
            KEPT_DAYS,
        )


TASK = "argot"
"""The only task that procrastinate knows: the function of a job is found by its kind, in Argot's notes."""


def _recover(connection: Connection, row: Any, first_wait: float) -> None:
    number, tries = row["id"], row["tries"]
    if row["abort_requested"]:
        connection.execute("SELECT procrastinate_finish_job_v1(?, 'aborted', false)", (number,))
        connection.execute("UPDATE job_notes SET ended_at = now(), doing = '' WHERE job = ?", (number,))
        return
    reason = f"The worker {row['worker'] or 'that had it'} ended while it was at it."
    if tries >= MAX_TRIES:
        connection.execute("SELECT procrastinate_finish_job_v1(?, 'failed', false)", (number,))
        _note_failure(connection, number, TryOutcome("aside"), reason, "")
        return
    seconds = wait_after(max(tries, 1), first_wait)
    connection.execute(
        "SELECT procrastinate_retry_job_v2(?, now() + make_interval(secs => ?), NULL, NULL, NULL)", (number, seconds)
    )
    _note_failure(connection, number, TryOutcome("waiting", seconds), reason, "")


def _note_failure(connection: Connection, number: int, found: TryOutcome, error: str, error_kind: str) -> Any:
    """Note a failed try; return the present time by PostgreSQL's clock."""
    ended = "now()" if found.state != "waiting" else "NULL"
    counts = "put_off = 0" if found.counts else "tries = tries - 1, put_off = put_off + 1"
    note = "UPDATE job_notes SET error = ?, error_kind = ?, doing = '', aside = ?::int::boolean, {} WHERE job = ?"
    row = connection.execute(
        note.format(f"ended_at = {ended}, {counts}") + " RETURNING now() AS now",
        (_remove_nul(error), error_kind, found.state == "aside", number),
    ).fetchone()
    # A job that was put aside may be put back, and then needs its bytes.
    if found.state == "failed":
        connection.execute("DELETE FROM job_data WHERE job = ?", (number,))
    return None if row is None else row["now"]


def _require_free(connection: Connection, request: JobRequest) -> None:
    if request.key and _list_jobs_of_key(connection, request.key):
        raise Conflict(describe_busy_job(request))


def _list_jobs_of_key(connection: Connection, key: str) -> list[Any]:
    return connection.execute(
        "SELECT n.job FROM job_notes n JOIN procrastinate_jobs j ON j.id = n.job"
        " WHERE n.key = ? AND j.status IN ('todo', 'doing')",
        (key,),
    ).fetchall()


def _find_set_aside(connection: Connection, key: str) -> int | None:
    row = connection.execute("SELECT job FROM job_notes WHERE key = ? AND key <> '' AND aside", (key,)).fetchone()
    return None if row is None else int(row["job"])


def _read_job(row: Any) -> JobRecord:
    state = _STATES[row["status"]]
    if state == "failed" and row["aside"]:
        state = "aside"
    waits = state == "waiting" and row["scheduled_at"] is not None
    return JobRecord(
        id=row["id"],
        state=state,
        put_at=_format_moment(row["put_at"]),
        started_at=_format_moment(row["started_at"]),
        ended_at=_format_moment(row["ended_at"]),
        next_at=_format_moment(row["scheduled_at"]) if waits else "",
        outcome=json.loads(row["outcome"] or "null"),
        parameters=json.loads(row["parameters"] or "{}"),
        **{name: row[name] for name in _AS_THEY_ARE},
    )


_AS_THEY_ARE = ("kind", "label", "key", "asked_by", "tries", "done", "total", "doing", "error", "error_kind", "worker")


def _format_moment(moment: datetime | None) -> str:
    return "" if moment is None else format_utc(moment.astimezone(UTC))


def _remove_nul(text: str) -> str:
    """Remove NUL, which PostgreSQL cannot store in a text."""
    return text.replace("\x00", "")
