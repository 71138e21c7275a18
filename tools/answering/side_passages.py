"""One of several questions in a message, and the passages that name one of two things that a question is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from argot.protocols import AnswerRequest
from argot.tools.reading.comparisons import find_naming_texts
from argot.tools.reading.coordination import Side, find_pair
from argot.types import Hit


def build_part_request(request: AnswerRequest, part: str) -> AnswerRequest:
    """Return the request for one question of a message, with the terms that occur in it."""
    places = ((term, part.find(term.mention.surface)) for term in request.terms)
    terms = [
        replace(term, mention=replace(term.mention, start=at, end=at + len(term.mention.surface)))
        for term, at in places
        if at >= 0
    ]
    return replace(request, question=part, terms=terms, wordings=())


def select_naming_hits(side: str, request: AnswerRequest) -> Sequence[Hit]:
    """Return the passages that name a side; all of them if none does."""
    naming = find_naming_texts(side, request.question, request.terms, _list_texts(request.hits))
    return [request.hits[place] for place in naming] or request.hits


def find_lacking_side(request: AnswerRequest, pieces: Sequence[str]) -> Side | None:
    """Return the one of two things that nothing quoted names, neither itself nor in a heading above it; None if the
    question is not about two things, or if all or nothing is about both.
    """
    pair = find_pair(request.question, request.terms, _list_texts(request.hits)) if pieces else None
    said = [f"{piece} {_join_headers(piece, request.hits)}" for piece in pieces]
    lacking = [one for one in pair or () if not find_naming_texts(one.name, request.question, request.terms, said)]
    return lacking[0] if len(lacking) == 1 else None


def _list_texts(hits: Sequence[Hit]) -> list[str]:
    return [hit.passage.with_header for hit in hits]


def _join_headers(piece: str, hits: Sequence[Hit]) -> str:
    """Join the headers of the passages that have a line of a quoted piece."""
    lines = [line for line in piece.splitlines() if line]
    return " ".join(hit.passage.header for hit in hits if any(line in hit.passage.with_columns for line in lines))
