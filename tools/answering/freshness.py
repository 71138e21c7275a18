"""Validity and dates of a source in its own words, shown with every citation and listing of it."""

from __future__ import annotations

from textwrap import shorten

from argot.document_status import is_notable
from argot.languages.catalogues import format_local_day, translate
from argot.tools.answering.succession import list_named_successors
from argot.types import Document

_MAX_VALUE_CHARS = 80
"""Maximum characters of a document's description of itself, which is shown beside other text."""


def freshness(document: Document) -> str:
    """Return the document's state in its own words, as in "rev. 2025-03-01, draft, owner: Ann"; empty if it gives none.

    "In force" is not shown, since readers expect it of every cited document.
    """
    said = [translate("rev. %(day)s", day=format_local_day(document.date))] if document.date else []
    said += describe_validity(document)
    said += [translate("owner: %(name)s", name=shorten_value(value)) for value in document.values("owner")[:1]]
    return ", ".join(said)


def describe_validity(document: Document) -> list[str]:
    """Return why a document is not simply in force, as in ["draft"] or ["superseded by Travel policy 2025"]; empty if
    it is.
    """
    states = [shorten_value(value) for value in document.values("status") if is_notable(value)]
    successors = list_named_successors(document)
    return [one[:1].lower() + one[1:] for one in states] + [
        translate("superseded by %(name)s", name=shorten_value(value)) for value in successors
    ]


def shorten_value(value: str) -> str:
    """Return the beginning of a document's description of itself, cut between words: half a word reads as another."""
    return shorten(value, _MAX_VALUE_CHARS, placeholder=" …")
