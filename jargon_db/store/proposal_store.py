"""Proposed meanings, from people, mining, missed terms or a model. A manager turns them into senses or aliases, or
dismisses them.

Evidence is guarded by the audience of its document: people see a proposal if they may read some of its evidence, and
only that evidence.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypedDict, Unpack

from argot.errors import Conflict, InvalidInput, NotAllowed, NotFound
from argot.jargon_db.lookup.normalise import normalise
from argot.jargon_db.store.connections import Connections
from argot.jargon_db.store.glossary_writer import Writer
from argot.jargon_db.store.inputs import (
    SenseFields,
    SenseInput,
    check_input,
    is_storable,
    normalise_context,
    set_fields,
)
from argot.jargon_db.store.proposal_rows import (
    LIST,
    NO_EXPANSION,
    ORIGINS,
    Origin,
    Proposal,
    ProposalInput,
    ProposalStatus,
    build_proposal,
    filter_readable,
    forget_evidence,
    get_proposal,
    list_quoted_passages,
    put,
)
from argot.jargon_db.store.rows import read_sense, readable, select
from argot.jargon_db.store.sense_store import add_new, get_readable_row
from argot.types import EVERYONE, Audience, Principal, Sense, SenseStatus

_OTHER = """
SELECT * FROM sense_rows WHERE key = :key AND context_key = :context AND status = 'approved' LIMIT 1
"""
_DECIDE = "UPDATE proposals SET status = ?, decided = ?, decided_by = ?, why = ?, sense = ? WHERE id = ?"
_REOPEN = "UPDATE proposals SET status = 'open', decided = NULL, decided_by = NULL, why = '' WHERE id = ?"


class Grounds(TypedDict, total=False):
    evidence: Sequence[tuple[str, str]]
    audience: Audience
    score: float | None


class Proposals:
    """The proposals of one glossary."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def add(
        self,
        origin: Origin,
        term: str,
        expansion: str = "",
        *,
        context: str | None = None,
        description: str = "",
        created_by: str = "",
        **grounds: Unpack[Grounds],
    ) -> Proposal:
        """Record a proposal; `audience` is that of the evidence's documents, `score` its certainty (0 to 1).

        Evidence for the same term and expansion is added to the existing one. A decision is final: a decided proposal
        is returned unchanged, and nothing is added to it.

        Raises:
            InvalidInput: the origin is unknown, or a text is empty, too long or cannot be stored.
        """
        # Checked like a sense, since it may become one; placeholders fill the fields that a sense needs and a proposal
        # may lack.
        sense_input = check_input(
            SenseInput(term, context or "general", expansion.strip() or NO_EXPANSION, description)
        )
        evidence, audience = grounds.get("evidence", ()), grounds.get("audience", EVERYONE)
        texts = [created_by, *audience, *(part for one in evidence for part in one)]
        if origin not in ORIGINS or not all(map(is_storable, texts)):
            raise InvalidInput(f"This cannot be proposed for {term!r}: its origin or a text cannot be stored.")
        proposal = ProposalInput(
            sense_input, context, expansion.strip(), tuple(evidence), audience, grounds.get("score")
        )
        with self._connections.writing() as connection:
            number = put(connection, proposal, origin, created_by)
            row = next(select(connection, LIST, {"id": number, "status": None, "key": None}))
        return build_proposal(row, None)

    def find(
        self, principal: Principal, status: ProposalStatus | None = "open", term: str | None = None
    ) -> list[Proposal]:
        """Return the proposals the principal may read, oldest first; `status` None: in any state."""
        key = None if term is None else normalise(term)
        rows = self._connections.select(LIST, id=None, status=status, key=key)
        found = filter_readable(rows, self._connections.reader(), principal)
        return [build_proposal(row, principal) for row in found]

    def quoted_passages(self) -> set[str]:
        """Return the passages that proposals quote."""
        return {
            passage
            for row in self._connections.select("SELECT evidence FROM proposals")
            for passage in list_quoted_passages(row)
        }

    def forget_evidence(self, gone: Collection[str]) -> None:
        """Remove quotes of these passages from all proposals, and proposals without other evidence from the queue.

        People's proposals stay, and so do decided ones.
        """
        with self._connections.writing() as connection:
            forget_evidence(connection, set(gone))

    def get(self, principal: Principal, proposal_id: int) -> Proposal:
        """Return one proposal.

        Raises:
            NotFound: there is none, or not for this principal.
        """
        return build_proposal(get_proposal(self._connections.reader(), principal, proposal_id), principal)

    def accept(
        self,
        by: Principal,
        proposal_id: int,
        *,
        status: SenseStatus = "draft",
        why: str = "",
        **fields: Unpack[SenseFields],
    ) -> Sense:
        """Make a sense of it, as edited: a draft, unless it is approved in the same call.

        The readers of the evidence may read the sense, unless `audience` differs.

        Raises:
            NotFound: there is no such proposal, or not for `by`.
            Conflict: it was decided already, or there is such a sense (`current`).
            NotAllowed: `by` may not manage the context.
            InvalidInput: a context or expansion is missing, or a field cannot be stored.
        """
        with self._connections.changing(by, "accept", why=why) as writer:
            found = _get_undecided(writer, by, proposal_id)
            proposed = SenseInput(
                found.term,
                found.context or "",
                found.expansion,
                found.description,
                "",
                (),
                by.name,
                status,
                found.audience,
            )
            sense = add_new(writer, set_fields(proposed, fields))
            _decide(writer, proposal_id, "accepted", why, sense.id)
        return sense

    def accept_many(
        self,
        by: Principal,
        proposal_ids: Sequence[int],
        *,
        context: str = "",
        status: SenseStatus = "draft",
        why: str = "",
    ) -> tuple[list[Sense], list[tuple[int, str]]]:
        """Make senses of several as they were proposed, in one change, which can be rolled back as one.

        `context` applies to those for which none was proposed. Those that cannot be accepted are left unchanged, and
        returned as (proposal, reason). Another approved meaning of the term in the context is such a reason: that is
        decided one at a time.

        Raises:
            InvalidInput: the reason cannot be stored.
        """
        made: list[Sense] = []
        left: list[tuple[int, str]] = []
        with self._connections.changing(by, "accept", why=why, name=context) as writer:
            # Each once: the second would fail as decided already.
            for number in dict.fromkeys(proposal_ids):
                try:
                    made.append(_accept(writer, by, number, context=context, status=status, why=why))
                # One that cannot be accepted does not undo the others; nothing of it was written (`_accept`).
                except (Conflict, InvalidInput, NotAllowed, NotFound) as error:
                    left.append((number, str(error)))
        return made, left

    def merge(self, by: Principal, proposal_id: int, sense_id: int, why: str = "") -> Sense:
        """Make the proposed term an alias of an existing sense.

        Raises:
            NotFound: there is no such proposal or sense, or not for `by`.
            Conflict: the proposal was decided already.
            NotAllowed: `by` may not manage the sense's context.
        """
        with self._connections.changing(by, "merge", why=why) as writer:
            found = _get_undecided(writer, by, proposal_id)
            sense = read_sense(get_readable_row(writer, by, sense_id))
            writer.require_managed(sense.context)
            writer.add_alias(sense, found.term)
            _decide(writer, proposal_id, "merged", why, sense_id)
            merged = writer.sense(sense_id)
            assert merged is not None
            return writer.show_sense(merged)

    def dismiss(self, by: Principal, proposal_id: int, why: str = "") -> None:
        """Dismiss it permanently: proposed again, it stays dismissed.

        Raises:
            NotFound: there is no such proposal, or not for `by`.
            Conflict: it was decided already.
            NotAllowed: `by` may not manage its context; without a context, `by` manages none.
        """
        with self._connections.changing(by, "edit", why=why) as writer:
            found = _get_undecided(writer, by, proposal_id)
            writer.require_manager(found.context)
            _decide(writer, proposal_id, "dismissed", why, None)

    def reopen(self, by: Principal, proposal_id: int) -> None:
        """Undo a dismissal made by mistake.

        Raises:
            NotFound: there is no such proposal, or not for `by`.
            Conflict: it was not dismissed.
            NotAllowed: as for `dismiss`.
        """
        with self._connections.changing(by, "edit") as writer:
            found = build_proposal(get_proposal(writer.connection, by, proposal_id), by)
            writer.require_manager(found.context)
            if found.status != "dismissed":
                raise Conflict(f"Proposal {proposal_id} for '{found.term}' is {found.status}, and was not dismissed.")
            writer.connection.execute(_REOPEN, (proposal_id,))


def _get_undecided(writer: Writer, by: Principal, proposal_id: int) -> Proposal:
    found = build_proposal(get_proposal(writer.connection, by, proposal_id), by)
    if found.status != "open":
        raise Conflict(
            f"Proposal {proposal_id} for '{found.term}' was {found.status} by {found.decided_by} already; nothing was"
            " changed."
        )
    return found


def _accept(writer: Writer, by: Principal, number: int, *, context: str, status: SenseStatus, why: str) -> Sense:
    found = _get_undecided(writer, by, number)
    sense_input = check_input(
        SenseInput(
            found.term,
            found.context or context,
            found.expansion,
            found.description,
            owner=by.name,
            status=status,
            audience=found.audience,
        )
    )
    values = {"key": normalise(sense_input.term), "context": normalise_context(sense_input.context)}
    # A draft answers no questions, and may coexist with an approved meaning until it is approved.
    other = next(select(writer.connection, _OTHER, values), None) if status == "approved" else None
    if other is not None and (other["expansion"] != sense_input.expansion):
        # The existence of another is reported in any case, its content only to those who may read it.
        look = "already. Look at the two, and decide."
        if any(readable([other], by)):
            raise Conflict(f"'{sense_input.term}' means '{other['expansion']}' in '{sense_input.context}' {look}")
        raise Conflict(f"'{sense_input.term}' means something in '{sense_input.context}' {look}")
    # Written only now: `accept_many` continues within this change, so that a refusal must leave no trace.
    sense = add_new(writer, sense_input)
    _decide(writer, number, "accepted", why, sense.id)
    return sense


def _decide(writer: Writer, proposal_id: int, status: ProposalStatus, why: str, sense: int | None) -> None:
    writer.connection.execute(_DECIDE, (status, writer.now, writer.heading.who, why, sense, proposal_id))
