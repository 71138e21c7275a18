"""Proposals as rows: a repeated proposal extends the existing row, and each reader sees the evidence they may read.

`argot.jargon_db.store.proposal_store` decides on proposals.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from typing import Any, Literal

from argot.clock import timestamp
from argot.databases import Connection
from argot.errors import NotFound
from argot.jargon_db.lookup.normalise import normalise
from argot.jargon_db.store.inputs import SenseInput, normalise_context
from argot.jargon_db.store.rows import Row, may_read, next_number, read_audience, select, store_audience
from argot.types import EVERYONE, Audience, Principal

Origin = Literal["miss", "mined", "person", "model"]
ProposalStatus = Literal["open", "accepted", "merged", "dismissed"]
ORIGINS: tuple[Origin, ...] = ("miss", "mined", "person", "model")
NO_EXPANSION = "?"
"""Placeholder for the expansion of a proposal that has none yet."""

_VOICES = """
SELECT proposals.*,
       (SELECT count(*) FROM proposal_voices WHERE proposal = proposals.id AND kind = 'suggest') AS suggestions,
       (SELECT count(*) FROM proposal_voices WHERE proposal = proposals.id AND kind = 'confirm') AS confirmations
FROM proposals
"""
LIST = f"""
{_VOICES}
WHERE (CAST(:id AS BIGINT) IS NULL OR id = :id) AND (CAST(:status AS TEXT) IS NULL OR status = :status)
  AND (CAST(:key AS TEXT) IS NULL OR key = :key)
ORDER BY id
"""
_CONTEXTS = "SELECT key, audience FROM contexts WHERE removed = 0"
SAME = f"{_VOICES} WHERE key = :key AND expansion_key = :expansion_key"
_ADD = f"""
INSERT INTO proposals (id, term, key, context, expansion, expansion_key, description, description_audience,
    evidence, audiences, score, origin, status, created, created_by, updated)
VALUES ({next_number("proposals")}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', ?, ?, ?) RETURNING id
"""  # noqa: S608
_OTHERS = "SELECT 1 FROM proposal_voices WHERE proposal = ? AND person <> ? AND kind IN ('suggest', 'confirm') LIMIT 1"
_UPDATE = (
    "UPDATE proposals SET evidence = ?, audiences = ?, description = ?, description_audience = ?, context = ?,"
    " score = ?, updated = ? WHERE id = ?"
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed meaning. `evidence` are (passage id, quote) that the reader may read; `sense`: the sense made from it.

    `score`: its probability of being right, in [0, 1]; None: unknown. `reviewer`: the person who looks at it.
    `suggestions` and `confirmations` count people: 0 or 1 who suggested it first, and those who confirmed it.
    """

    id: int
    term: str
    context: str | None
    expansion: str
    description: str
    evidence: tuple[tuple[str, str], ...]
    origin: Origin
    status: ProposalStatus
    created: str
    created_by: str
    audience: Audience = EVERYONE
    decided: str | None = None
    decided_by: str | None = None
    why: str = ""
    sense: int | None = None
    score: float | None = None
    reviewer: str = ""
    suggestions: int = 0
    confirmations: int = 0


@dataclass(frozen=True, slots=True)
class ProposalInput:
    """One call of `Proposals.add`: `given` is checked; `expansion` may be empty, and `context` None."""

    given: SenseInput
    context: str | None
    expansion: str
    evidence: tuple[tuple[str, str], ...]
    audience: Audience
    score: float | None

    @property
    def guard(self) -> str:
        return store_audience(self.audience)


def put(conn: Connection, proposal: ProposalInput, origin: Origin, created_by: str, mark: str = "") -> int:
    """Store a proposal, or extend the one that says the same; return its number.

    `mark`: tells it from others with the same expansion, which it does not extend.
    """
    keys = {"key": normalise(proposal.given.term), "expansion_key": normalise(proposal.expansion) + mark}
    found = next(select(conn, SAME, keys), None)
    evidence = [[passage, quote, proposal.guard] for passage, quote in proposal.evidence]
    now = timestamp("seconds")
    if found is None:
        description = proposal.given.description or ""
        values = (proposal.given.term, keys["key"], proposal.context or "", proposal.expansion)
        guarded = (
            keys["expansion_key"],
            description,
            proposal.guard,
            json.dumps(evidence),
            json.dumps([proposal.guard]),
        )
        added = conn.execute(_ADD, (*values, *guarded, proposal.score, origin, now, created_by, now))
        return int(added.fetchone()[0])
    # Decided proposals are left alone: a dismissed one must not return with new evidence.
    if found["status"] == "open":
        is_said = is_said_by_others(conn, found, created_by)
        conn.execute(_UPDATE, (*_merge(found, proposal, evidence, is_said=is_said), now, found["id"]))
    return int(found["id"])


def is_said_by_others(conn: Connection, found: Row, person: str) -> bool:
    """Return whether other people suggested or confirmed a proposal: its context and description are their words."""
    return conn.execute(_OTHERS, (found["id"], person)).fetchone() is not None


def _merge(
    found: Row, proposal: ProposalInput, evidence: list[list[str]], *, is_said: bool
) -> tuple[str | float | None, ...]:
    """Return the columns of a repeated proposal: the evidence of both, and the better score. What other people said of
    it (`is_said`) stays as they said it.
    """
    scores = [score for score in (found["score"], proposal.score) if score is not None]
    # By passage and audience: the same passage may have been closed to some people since.
    kept = {(one[0], one[2]): one for one in [*json.loads(found["evidence"]), *evidence]}
    audiences = sorted({*json.loads(found["audiences"]), proposal.guard})
    description, guard = found["description"], found["description_audience"]
    # The description is kept, unless everyone may read the new one and not the old one.
    is_better = not description or (not proposal.audience and read_audience(guard))
    if proposal.given.description and is_better and not is_said:
        description, guard = proposal.given.description, proposal.guard
    context = found["context"] or ("" if is_said else proposal.context or "")
    texts = (json.dumps(list(kept.values())), json.dumps(audiences), description, guard, context)
    return (*texts, max(scores, default=None))


def list_quoted_passages(row: Row) -> list[str]:
    """Return the ids of the passages that a proposal quotes."""
    return [one[0] for one in json.loads(row["evidence"])]


def forget_evidence(conn: Connection, gone: Set[str]) -> None:
    """A description is kept only if a remaining quote has it, or a person wrote it."""
    rows = select(conn, _VOICES, {})
    for row in [row for row in rows if not gone.isdisjoint(list_quoted_passages(row))]:
        kept = [one for one in json.loads(row["evidence"]) if one[0] not in gone]
        by_person = row["origin"] == "person"
        if not kept and row["status"] == "open" and not by_person and not row["suggestions"]:
            conn.execute("DELETE FROM proposals WHERE id = ?", (row["id"],))
            continue
        # A document's words about the term must not outlive the document.
        stays = by_person or any(row["description"] in one[1] for one in kept)
        values = (json.dumps(kept), row["description"] if stays else "", row["id"])
        conn.execute("UPDATE proposals SET evidence = ?, description = ? WHERE id = ?", values)


def filter_readable(rows: Iterable[Row], conn: Connection, principal: Principal) -> Iterator[Row]:
    """Yield the proposals of which the principal may read some evidence, and the context if it exists."""
    contexts: dict[str, str] = dict(conn.execute(_CONTEXTS).fetchall())
    for row in rows:
        guard = contexts.get(normalise_context(row["context"]))
        # A context that does not exist yet guards nothing.
        if guard is not None and not may_read(principal, guard):
            continue
        if any(may_read(principal, audience) for audience in json.loads(row["audiences"])):
            yield row


def get_proposal(conn: Connection, principal: Principal, proposal_id: int) -> Row:
    rows = select(conn, LIST, {"id": proposal_id, "status": None, "key": None})
    for row in filter_readable(rows, conn, principal):
        return row
    raise NotFound(f"There is no proposal {proposal_id}.")


def build_proposal(row: Row, principal: Principal | None) -> Proposal:
    """Return the proposal as the principal may see it; None: all of it."""
    evidence = [one for one in json.loads(row["evidence"]) if principal is None or may_read(principal, one[2])]
    shown: dict[str, Any] = {
        name: row[name] for name in ("id", "term", "expansion", "origin", "status", "created", "created_by")
    }
    open_to_them = principal is None or may_read(principal, row["description_audience"])
    audiences = [read_audience(guard) for guard in json.loads(row["audiences"])]
    return Proposal(
        **shown,
        context=row["context"] or None,
        description=row["description"] if open_to_them else "",
        evidence=tuple((one[0], one[1]) for one in evidence),
        # A person who may read any of the evidence may read the proposal.
        audience=EVERYONE if EVERYONE in audiences else frozenset().union(*audiences),
        decided=row["decided"],
        decided_by=row["decided_by"],
        why=row["why"],
        sense=row["sense"],
        score=row["score"],
        reviewer=row["reviewer"],
        suggestions=row["suggestions"],
        confirmations=row["confirmations"],
    )
