"""Suggestions: meanings that people propose, confirm and comment on. Each is a proposal with the voices of people.

A suggestion never reveals a proposal that its author may not read: if one has the same words, the suggestion is stored
beside it, for its own readers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from argot.clock import format_utc, timestamp, utc_now
from argot.databases import Connection
from argot.errors import Conflict, InvalidInput, TooManyQuestions
from argot.jargon_db.lookup.normalise import normalise
from argot.jargon_db.store.inputs import SenseInput, check_input, is_storable, normalise_context
from argot.jargon_db.store.proposal_rows import (
    LIST,
    NO_EXPANSION,
    SAME,
    Proposal,
    ProposalInput,
    build_proposal,
    filter_readable,
    get_proposal,
    is_said_by_others,
    put,
)
from argot.jargon_db.store.rows import Row, encode_list, next_number, readable, select
from argot.languages.catalogues import format_local_number, quote_name, translate
from argot.types import Audience, Context, Principal

if TYPE_CHECKING:
    from argot.jargon_db.store.connections import Connections
    from argot.jargon_db.store.context_store import Contexts

VoiceKind = Literal["suggest", "confirm", "comment"]
MAX_PER_MINUTE = 10
MAX_PER_DAY = 200
"""Voices of one person. What a person sends faster is refused, so that nobody fills the managers' queue."""
MAX_COMMENT_CHARS = 2000
MAX_DESCRIPTION_CHARS = 4000

_ADD = f"""
INSERT INTO proposal_voices (id, proposal, person, kind, words, at)
SELECT {next_number("proposal_voices")}, :proposal, :person, :kind, :words, :at
"""
_COUNT = "SELECT count(*) FROM proposal_voices WHERE person = ? AND at >= ?"
_HAS_SPOKEN = "SELECT kind FROM proposal_voices WHERE proposal = ? AND person = ? AND kind IN ('suggest', 'confirm')"
_SUGGESTED = "SELECT count(*) FROM proposal_voices WHERE proposal = ? AND kind = 'suggest'"
_VOICES = """
SELECT id, proposal, person, kind, words, at FROM proposal_voices
WHERE proposal IN (SELECT CAST(value AS BIGINT) FROM json_each(:ids) AS wanted) ORDER BY id
"""
_OF_PERSON = """
SELECT DISTINCT proposal FROM proposal_voices WHERE person = :person AND kind = 'suggest'
ORDER BY proposal DESC LIMIT :most
"""
_TOO_MANY_A_MINUTE = "One person may suggest, confirm or comment %(number)s times a minute. Wait."
_TOO_MANY_A_DAY = "One person may suggest, confirm or comment %(number)s times a day. Wait."
_SINCE = "SELECT DISTINCT proposal FROM proposal_voices WHERE at > :since AND kind IN ('suggest', 'confirm')"
_MEANT = "SELECT * FROM sense_rows WHERE key = :key AND status <> 'retired'"
_REVIEWER = "UPDATE proposals SET reviewer = ? WHERE id = ?"
_SENT = "SELECT sent FROM digests WHERE contact = :contact"
_MARK_SENT = """
INSERT INTO digests (contact, sent) VALUES (?, ?) ON CONFLICT (contact) DO UPDATE SET sent = excluded.sent
"""


@dataclass(frozen=True, slots=True)
class Voice:
    """One person's part in a proposal: who suggested or confirmed it, or a comment. `at` is ISO, UTC."""

    proposal: int
    person: str
    kind: VoiceKind
    words: str
    at: str


class Suggestions:
    """The suggestions of one glossary."""

    def __init__(self, connections: Connections, contexts: Contexts) -> None:
        self._connections = connections
        self._contexts = contexts

    def suggest(
        self, by: Principal, term: str, expansion: str = "", *, context: str = "", description: str = ""
    ) -> Proposal:
        """Suggest a meaning. The same suggestion of another person confirms it; the same person's is stored once.

        Nothing that others said is changed: a suggestion for a context that theirs does not name stands beside it.

        The readers of the context may read it; without a context, everybody may.

        Raises:
            InvalidInput: nothing is said about the term, a text cannot be stored, or there is no such context for `by`.
            Conflict: the glossary has this meaning, or managers have decided on it.
            TooManyQuestions: `by` sends too many.
        """
        sense_input, home = self._check(by, term, expansion, context, description)
        audience: Audience = home.audience if home else frozenset()
        proposal = ProposalInput(sense_input, home.name if home else None, expansion.strip(), (), audience, None)
        with self._connections.writing() as connection:
            _require_new(connection, by, sense_input, proposal)
            mark, found = _find_same(connection, by, proposal)
            if found is not None and found["status"] != "open":
                raise Conflict(_explain_decision(build_proposal(found, by)))
            spoken = _find_spoken(connection, found["id"], by) if found else None
            if found is None or spoken is None:
                _require_moderation(connection, by)
            number = put(connection, proposal, "person", by.name, mark)
            if spoken is None:
                first = not connection.execute(_SUGGESTED, (number,)).fetchone()[0]
                _add_voice(connection, number, by, "suggest" if first else "confirm", sense_input.description or "")
        return self._read(by, number)

    def confirm(self, by: Principal, proposal_id: int) -> Proposal:
        """Confirm that a proposal says what the term means; once for each person.

        Raises:
            NotFound: there is no such proposal, or not for `by`.
            Conflict: it was decided already, or is the own suggestion.
            TooManyQuestions: `by` sends too many.
        """
        with self._connections.writing() as connection:
            _require_open(connection, by, proposal_id)
            spoken = _find_spoken(connection, proposal_id, by)
            if spoken == "suggest":
                raise Conflict(translate("You suggested this meaning yourself. Others confirm it."))
            if spoken is None:
                _require_moderation(connection, by)
                _add_voice(connection, proposal_id, by, "confirm", "")
        return self._read(by, proposal_id)

    def comment(self, by: Principal, proposal_id: int, words: str) -> Proposal:
        """Comment on an open proposal.

        Raises:
            NotFound, Conflict, TooManyQuestions: as for `confirm`.
            InvalidInput: the comment is empty, too long, or cannot be stored.
        """
        said = words.strip()
        if not said or len(said) > MAX_COMMENT_CHARS or not is_storable(said):
            text = "A comment has 1 to %(most)s characters; this one has %(number)s."
            most, number = format_local_number(MAX_COMMENT_CHARS), format_local_number(len(said))
            raise InvalidInput(translate(text, most=most, number=number))
        with self._connections.writing() as connection:
            _require_open(connection, by, proposal_id)
            _require_moderation(connection, by)
            _add_voice(connection, proposal_id, by, "comment", said)
        return self._read(by, proposal_id)

    def assign(self, by: Principal, proposal_id: int, reviewer: str) -> Proposal:
        """Name the person who looks at a proposal; empty: nobody yet.

        Raises:
            NotFound: there is no such proposal, or not for `by`.
            NotAllowed: `by` may not manage its context; without a context, `by` manages none.
            Conflict: it was decided already.
        """
        with self._connections.changing(by, "edit") as writer:
            found = _require_open(writer.connection, by, proposal_id)
            writer.require_manager(found.context)
            writer.connection.execute(_REVIEWER, (reviewer.strip(), proposal_id))
        return self._read(by, proposal_id)

    def list_voices(self, ids: Iterable[int]) -> dict[int, list[Voice]]:
        """Return the voices of each of these proposals, oldest first."""
        found: defaultdict[int, list[Voice]] = defaultdict(list)
        for row in self._connections.select(_VOICES, ids=encode_list([str(number) for number in ids])):
            found[row["proposal"]].append(_build_voice(row))
        return found

    def list_own(self, by: Principal, most: int) -> list[Proposal]:
        """Return the latest suggestions of a person that they may still read, in any state, newest first."""
        ids = [row["proposal"] for row in self._connections.select(_OF_PERSON, person=by.name, most=most)]
        return self._read_all(by, ids)

    def list_since(self, principal: Principal, since: str) -> list[Proposal]:
        """Return the open proposals that somebody suggested or confirmed after this moment (ISO, UTC)."""
        ids = [row["proposal"] for row in self._connections.select(_SINCE, since=since)]
        return [one for one in self._read_all(principal, sorted(ids)) if one.status == "open"]

    def find_digest_time(self, contact: str) -> str:
        """Return when this contact was last sent a digest (ISO, UTC); empty: never."""
        return next((row["sent"] for row in self._connections.select(_SENT, contact=contact)), "")

    def mark_digest_sent(self, contact: str, at: str) -> None:
        with self._connections.writing() as connection:
            connection.execute(_MARK_SENT, (contact, at))

    def _check(
        self, by: Principal, term: str, expansion: str, context: str, description: str
    ) -> tuple[SenseInput, Context | None]:
        """Check the texts as those of a sense, and find the context."""
        if not expansion.strip() and not description.strip():
            raise InvalidInput(translate("Say what '%(term)s' stands for, or describe it.", term=term.strip()))
        if len(description) > MAX_DESCRIPTION_CHARS:
            text = "The description has %(number)s characters; shorten it to %(most)s."
            most, number = format_local_number(MAX_DESCRIPTION_CHARS), format_local_number(len(description))
            raise InvalidInput(translate(text, number=number, most=most))
        named = context.strip()
        home = next((one for one in self._contexts.all(by) if normalise(one.name) == normalise(named)), None)
        # One that exists but is hidden from this person is reported in the same words.
        if named and home is None:
            raise InvalidInput(
                translate("There is no context '%(name)s'. Choose one of the list, or none.", name=named)
            )
        shown = expansion.strip() or NO_EXPANSION
        return check_input(SenseInput(term, home.name if home else "general", shown, description.strip())), home

    def _read(self, by: Principal, number: int) -> Proposal:
        return build_proposal(get_proposal(self._connections.reader(), by, number), by)

    def _read_all(self, by: Principal, ids: list[int]) -> list[Proposal]:
        rows = (
            row
            for number in ids
            for row in self._connections.select(LIST, id=number, status=None, key=None)
        )  # fmt: skip
        return [build_proposal(row, by) for row in filter_readable(rows, self._connections.reader(), by)]


def _require_new(connection: Connection, by: Principal, sense_input: SenseInput, proposal: ProposalInput) -> None:
    """Refuse a meaning that the glossary has, as far as this person may read it."""
    if not proposal.expansion:
        return
    for row in readable(select(connection, _MEANT, {"key": normalise(sense_input.term)}), by):
        in_context = proposal.context is None or row["context_key"] == normalise_context(proposal.context)
        if in_context and normalise(row["expansion"]) == normalise(proposal.expansion):
            text = (
                "“%(meaning)s” (%(context)s) is in the glossary already."
                if row["status"] == "approved"
                else "“%(meaning)s” (%(context)s) is waiting for approval already."
            )
            meaning = f"{row['spelling']}: {row['expansion']}"
            raise Conflict(translate(text, meaning=meaning, context=row["context_name"]))


def _find_same(connection: Connection, by: Principal, proposal: ProposalInput) -> tuple[str, Row | None]:
    """Find the proposal that says the same, and the mark that distinguishes its row from others with the same words.

    A proposal that this person may not read, or of another context, is a different one.
    """
    key, expansion_key = normalise(proposal.given.term), normalise(proposal.expansion)
    # Without an expansion, the description distinguishes two suggestions.
    alone = "" if expansion_key else f"\x1f{normalise(proposal.given.description or '')}"
    marks = (alone, f"{alone}\x1f@{normalise_context(proposal.context or '')}")
    for mark in marks:
        values: dict[str, Any] = {"key": key, "expansion_key": expansion_key + mark}
        found = next(select(connection, SAME, values), None)
        if found is None:
            return mark, None
        if _has_same_home(connection, by, found, proposal) and any(filter_readable([found], connection, by)):
            return mark, found
    # Its own readers changed since: a row of this person alone.
    mark = f"{marks[1]}\x1f{by.name}"
    values = {"key": key, "expansion_key": expansion_key + mark}
    return mark, next(select(connection, SAME, values), None)


def _has_same_home(connection: Connection, by: Principal, found: Row, proposal: ProposalInput) -> bool:
    """Return whether a suggestion is for the context of a proposal. A proposal without a context may be given one,
    unless other people could then no longer read it, or it would claim that they mean this context.
    """
    if not found["context"] and proposal.context and found["status"] == "open":
        is_own = found["origin"] == "person" and found["created_by"] == by.name
        return not is_said_by_others(connection, found, by.name) and (is_own or not proposal.audience)
    return not found["context"] or not proposal.context or found["context"] == proposal.context


def _explain_decision(found: Proposal) -> str:
    what = quote_name(f"{found.term}: {found.expansion or found.description}")
    if found.status != "dismissed":
        text = "%(what)s was suggested before, and is in the glossary or waits for approval."
    elif found.why:
        text = "%(what)s was suggested before, and rejected, because: %(why)s."
    else:
        text = "%(what)s was suggested before, and rejected, without a reason."
    return translate(text, what=what, why=found.why)


def _require_open(connection: Connection, by: Principal, proposal_id: int) -> Proposal:
    found = build_proposal(get_proposal(connection, by, proposal_id), by)
    if found.status != "open":
        raise Conflict(_explain_decision(found))
    return found


def _find_spoken(connection: Connection, proposal_id: int, by: Principal) -> str | None:
    found = connection.execute(_HAS_SPOKEN, (proposal_id, by.name)).fetchone()
    return str(found[0]) if found else None


def _require_moderation(connection: Connection, by: Principal) -> None:
    now = utc_now()
    for most, period, text in (
        (MAX_PER_MINUTE, timedelta(minutes=1), translate(_TOO_MANY_A_MINUTE, number=MAX_PER_MINUTE)),
        (MAX_PER_DAY, timedelta(days=1), translate(_TOO_MANY_A_DAY, number=MAX_PER_DAY)),
    ):
        since = format_utc(now - period, "seconds")
        if connection.execute(_COUNT, (by.name, since)).fetchone()[0] >= most:
            wait = int(period.total_seconds())
            raise TooManyQuestions(text, wait)


def _add_voice(connection: Connection, number: int, by: Principal, kind: VoiceKind, words: str) -> None:
    values = {"proposal": number, "person": by.name, "kind": kind, "words": words, "at": timestamp("seconds")}
    connection.execute(_ADD, values)


def _build_voice(row: Row) -> Voice:
    return Voice(**{name: row[name] for name in ("proposal", "person", "kind", "words", "at")})
