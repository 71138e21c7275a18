"""The memory of the Slack surface, in people.db: linked people, each channel's settings, and the events seen.

An event is stored before it is acknowledged to Slack, and its text is kept only until it is answered: a process that is
killed in between continues it when it starts again. Its key stays for `KEPT_SECONDS`, so that Slack's repetitions,
under any number, are recognised.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from argot.databases import Database, Row

EVENT_KEY_SECONDS = 7 * 24 * 3600
"""Slack sends an event again for about an hour; a request is too old after five minutes. A later answer helps
nobody."""
MAX_WAIT_SECONDS = 3600.0
"""No event waits longer for its next try: one that seems to was noted while the clock was ahead."""

Mode: TypeAlias = Literal["mention", "questions", "all", "off"]
Replies: TypeAlias = Literal["thread", "ephemeral"]
MODES: tuple[Mode, ...] = get_args(Mode)
REPLIES: tuple[Replies, ...] = get_args(Replies)
PUBLIC = "public"
"""The scope of a conversation that a whole channel sees. A person's own has their Slack id."""


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel and how it is answered. `groups`: those whose documents replies may use, beside those open to
    everyone.
    """

    channel: str
    mode: Mode = "mention"
    replies: Replies = "thread"
    groups: tuple[str, ...] = ()
    context: str = ""
    profile: str = ""


@dataclass(frozen=True, slots=True)
class SlackThread:
    """A thread of Argot's that belongs to a Slack thread, for one scope. `last_ts`: the last message it knows."""

    team: str
    channel: str
    ts: str
    scope: str
    thread: str
    owner: str
    last_ts: str = ""

    @property
    def public(self) -> bool:
        return self.scope == PUBLIC


@dataclass(frozen=True, slots=True)
class NotedEvent:
    """An event to handle. `answer` contains the messages to post, once they are known; `sent` of them are posted."""

    id: int
    lane: str
    job: dict[str, Any]
    answer: list[dict[str, Any]] | None
    sent: int
    stream: str
    tries: int


class SlackStore:
    """The tables `slack_*` of people.db (`service/identity/slack_tables.py`)."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._database = database
        self.clock = clock

    # -- people --------------------------------------------------------------------------------------------------------

    def link(self, team: str, slack_user: str, user: str) -> None:
        self._database.write(
            "INSERT INTO slack_people (team, slack_user, user) VALUES (?, ?, ?)"
            " ON CONFLICT (team, slack_user) DO UPDATE SET user = excluded.user",
            team,
            slack_user,
            user,
        )

    def unlink(self, team: str, slack_user: str) -> bool:
        return self._database.write("DELETE FROM slack_people WHERE team = ? AND slack_user = ?", team, slack_user) > 0

    def find_linked_user(self, team: str, slack_user: str) -> str | None:
        """Find the user that this person was linked with."""
        rows = self._database.rows("SELECT user FROM slack_people WHERE team = ? AND slack_user = ?", team, slack_user)
        return str(rows[0]["user"]) if rows else None

    def list_links(self) -> list[tuple[str, str, str]]:
        """List team, Slack user and user of every link."""
        rows = self._database.rows("SELECT team, slack_user, user FROM slack_people ORDER BY user, team, slack_user")
        return [(row["team"], row["slack_user"], row["user"]) for row in rows]

    # -- channels ------------------------------------------------------------------------------------------------------

    def set_channel(self, channel: Channel) -> None:
        self._database.write(
            "INSERT INTO slack_channels (channel, mode, replies, groups, context, profile) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (channel) DO UPDATE SET mode = excluded.mode, replies = excluded.replies,"
            " groups = excluded.groups, context = excluded.context, profile = excluded.profile",
            channel.channel,
            channel.mode,
            channel.replies,
            json.dumps(channel.groups),
            channel.context,
            channel.profile,
        )

    def get_channel(self, channel: str) -> Channel:
        """Return a channel; by default it is answered when mentioned, from documents open to everyone."""
        rows = self._database.rows("SELECT * FROM slack_channels WHERE channel = ?", channel)
        return _read_channel(rows[0]) if rows else Channel(channel)

    def list_channels(self) -> list[Channel]:
        return [_read_channel(row) for row in self._database.rows("SELECT * FROM slack_channels ORDER BY channel")]

    def forget_channel(self, channel: str) -> bool:
        return self._database.write("DELETE FROM slack_channels WHERE channel = ?", channel) > 0

    # -- conversations -------------------------------------------------------------------------------------------------

    def find_thread(self, team: str, channel: str, ts: str, scope: str) -> SlackThread | None:
        sql = "SELECT * FROM slack_threads WHERE team = ? AND channel = ? AND ts = ? AND scope = ?"
        rows = self._database.rows(sql, team, channel, ts, scope)
        return SlackThread(*rows[0]) if rows else None

    def find_thread_by_id(self, thread: str) -> SlackThread | None:
        rows = self._database.rows("SELECT * FROM slack_threads WHERE thread = ?", thread)
        return SlackThread(*rows[0]) if rows else None

    def list_threads(self, owner: str) -> dict[str, SlackThread]:
        """List the conversations of one owner that are held in Slack, by our id."""
        rows = self._database.rows("SELECT * FROM slack_threads WHERE owner = ? AND scope NOT LIKE 'web:%'", owner)
        return {row["thread"]: SlackThread(*row) for row in rows}

    def list_owners(self) -> list[str]:
        """List the owners of conversations held in Slack."""
        rows = self._database.rows("SELECT DISTINCT owner FROM slack_threads WHERE scope NOT LIKE 'web:%'")
        return [str(row["owner"]) for row in rows]

    def keep_thread(self, thread: SlackThread) -> None:
        """Store this conversation, in place of an existing one for the same scope."""
        place = (thread.team, thread.channel, thread.ts, thread.scope)
        with self._database.transaction() as connection:
            connection.execute(
                # Each is unique: the Slack thread for one scope, and Argot's thread.
                "DELETE FROM slack_threads WHERE team = ? AND channel = ? AND ts = ? AND scope = ? OR thread = ?",
                (*place, thread.thread),
            )
            connection.execute(
                "INSERT INTO slack_threads (team, channel, ts, scope, thread, owner, last_ts)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*place, thread.thread, thread.owner, thread.last_ts),
            )

    def keep_view(self, channel: str, ts: str, viewed: str) -> None:
        """Keep the channel that somebody views beside an assistant's thread."""
        self._database.write(
            "INSERT INTO slack_views (channel, ts, viewed, at) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (channel, ts) DO UPDATE SET viewed = excluded.viewed, at = excluded.at",
            channel,
            ts,
            viewed,
            self.clock(),
        )
        # Deleted on the way, so that it needs no job of its own.
        self._database.write("DELETE FROM slack_views WHERE at < ?", self.clock() - EVENT_KEY_SECONDS)

    def view(self, channel: str, ts: str) -> str:
        rows = self._database.rows("SELECT viewed FROM slack_views WHERE channel = ? AND ts = ?", channel, ts)
        return str(rows[0]["viewed"]) if rows else ""

    # -- events --------------------------------------------------------------------------------------------------------

    def note(self, event_id: str, place: str, lane: str, at: str, job: dict[str, Any] | None) -> bool:
        """Store an event; False: it is there already. A new one is on the disk when this returns.

        Args:
            event_id: the number Slack gave it.
            place: its subject (a message), however often and under whatever numbers that is sent.
            lane: those of one lane are dealt with one after the other.
            at: the message's timestamp, by which those of a lane are ordered.
            job: the work to do; None: it only has to be recognised again.
        """
        state = "open" if job is not None else "done"
        return (
            self._database.write(
                # Both `event_id` and `place` are unique: Slack's repetitions are recognised by either.
                "INSERT INTO slack_events (event_id, place, lane, at, job, state, noted_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                event_id,
                place,
                lane,
                at,
                None if job is None else json.dumps(job),
                state,
                self.clock(),
            )
            == 1
        )

    def take_over(self) -> None:
        """Continue an earlier process's open events, which may be old, or from a restored backup.

        An existing answer is searched for before one is posted; a question that is too old is given up.
        """
        done = "UPDATE slack_events SET state = 'done', job = NULL, answer = NULL WHERE state = 'open' AND noted_at < ?"
        with self._database.transaction() as connection:
            connection.execute(done, (self.clock() - EVENT_KEY_SECONDS,))
            # Tried once, as far as is known: an answer may be posted already, and is searched for.
            connection.execute("UPDATE slack_events SET tries = 1 WHERE state = 'open' AND tries < 1")

    def find_next(self, busy: Collection[str]) -> NotedEvent | None:
        """Find the first open event whose lane is free and whose time has come."""
        rows = self._database.rows(
            # Events that seem due later than any possible wait were stored while the clock was ahead: they are due.
            "SELECT * FROM slack_events AS e WHERE state = 'open' AND (due <= ? OR due > ?)"  # noqa: S608
            f" AND lane NOT IN {self._database.dialect.texts}"
            " AND NOT EXISTS (SELECT 1 FROM slack_events AS other WHERE other.lane = e.lane AND other.state = 'open'"
            " AND (other.at, other.id) < (e.at, e.id)) ORDER BY noted_at, id LIMIT 1",
            self.clock(),
            self.clock() + MAX_WAIT_SECONDS,
            json.dumps(list(busy)),
        )
        return _read_event(rows[0]) if rows else None

    def find_next_due(self) -> float | None:
        """Return the seconds until an event that has to wait may be tried again."""
        rows = self._database.rows(
            "SELECT min(due) AS due FROM slack_events WHERE state = 'open' AND due > ?", self.clock()
        )
        return None if rows[0]["due"] is None else max(0.0, float(rows[0]["due"]) - self.clock())

    def keep_answer(self, number: int, answer: Sequence[dict[str, Any]]) -> None:
        """Store the messages to post: whatever happens now, the question is not asked again."""
        self._database.write("UPDATE slack_events SET answer = ? WHERE id = ?", json.dumps(list(answer)), number)

    def keep_stream(self, number: int, ts: str) -> None:
        self._database.write("UPDATE slack_events SET stream = ? WHERE id = ?", ts, number)

    def keep_sent(self, number: int, sent: int) -> None:
        self._database.write("UPDATE slack_events SET sent = ? WHERE id = ?", sent, number)

    def begin(self, number: int) -> None:
        self._database.write("UPDATE slack_events SET tries = tries + 1 WHERE id = ?", number)

    def postpone(self, number: int, seconds: float) -> None:
        self._database.write("UPDATE slack_events SET due = ? WHERE id = ?", self.clock() + seconds, number)

    def finish(self, number: int) -> None:
        """Mark an event as handled. Its words go, its key stays."""
        with self._database.transaction() as connection:
            # The words are deleted at once, the row later: its key recognises Slack's repetitions.
            connection.execute(
                "UPDATE slack_events SET state = 'done', job = NULL, answer = NULL WHERE id = ?", (number,)
            )
            connection.execute(
                "DELETE FROM slack_events WHERE state = 'done' AND noted_at < ?", (self.clock() - EVENT_KEY_SECONDS,)
            )

    def withdraw(self, place: str) -> None:
        """Drop the events about a message that is gone, also those that arrive only later."""
        # In case the event arrives only after its withdrawal: it then counts as done.
        self.note(place, place, place, "", None)
        sql = "UPDATE slack_events SET state = 'done', job = NULL, answer = NULL WHERE place = ? AND state = 'open'"
        self._database.write(sql, place)

    def is_open(self, number: int) -> bool:
        return bool(self._database.rows("SELECT 1 FROM slack_events WHERE id = ? AND state = 'open'", number))

    def count_waiting(self) -> int:
        return int(self._database.rows("SELECT count(*) AS n FROM slack_events WHERE state = 'open'")[0]["n"])


def _read_channel(row: Row) -> Channel:
    groups = tuple(json.loads(row["groups"]))
    return Channel(row["channel"], row["mode"], row["replies"], groups, row["context"], row["profile"])


def _read_event(row: Row) -> NotedEvent:
    answer = None if row["answer"] is None else json.loads(row["answer"])
    job = json.loads(row["job"])
    return NotedEvent(row["id"], row["lane"], job, answer, row["sent"], row["stream"], row["tries"])
