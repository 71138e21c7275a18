"""Notes about the documents behind an answer: which of them disagree, and which replace others."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache
from itertools import permutations
from textwrap import shorten

from argot.errors import NotFound
from argot.graph.run_context import RunContext
from argot.languages.catalogues import quote_name, translate
from argot.languages.detection import identify_listed_language
from argot.languages.quoted_words import says_changed
from argot.results import TOOL_RESULT
from argot.tools.answering.changed_values import ChangedValue
from argot.tools.answering.disagreements import Disagreement
from argot.tools.answering.freshness import freshness, shorten_value
from argot.tools.answering.succession import find_successors
from argot.tools.text.document_subject import list_unlike_fields, strip_revision
from argot.tools.text.markdown_prose import extract_prose
from argot.tools.text.sentences import split_sentences
from argot.types import Document

_MAX_HEAD_CHARS = 1_000
"""Characters of a document's beginning in which it may say that parts of it were replaced."""
_MAX_NOTICE_CHARS = 200


def describe_places(documents: Iterable[Document]) -> dict[str, str]:
    """Return, by document id, the place that a document is for ("region: EU") if another of its title is for another
    place.
    """
    places: dict[str, str] = {}
    held = {document.id: document for document in documents}
    for one, other in permutations(held.values(), 2):
        if strip_revision(one.title) == strip_revision(other.title):
            names = list_unlike_fields(one, other)
            place = ", ".join(f"{name}: {shorten_value(', '.join(one.values(name)))}" for name in names)
            places[one.id] = places.get(one.id) or place
    return places


def write_disagreement_note(found: Disagreement) -> str:
    """Return both sentences side by side, each with its document and that document's date."""
    said, other = _quote_sentence(found.said, found.held[1]), _quote_sentence(found.other, found.other_held[1])
    return translate("Two documents disagree: %(said)s; %(other)s.", said=said, other=other)


def write_value_change_note(change: ChangedValue) -> str:
    """Return the sentence of another document that replaces a number of the answer."""
    shown = quote_name(shorten(change.text, _MAX_NOTICE_CHARS, placeholder=" …"))
    return translate("%(document)s changes this: %(sentence)s", document=change.held[1].name, sentence=shown)


def write_change_notes(documents: Iterable[Document], run: RunContext) -> list[str]:
    """Return a note for each of these documents that says at its beginning that parts of it were replaced."""
    notes = []
    for document in {document.id: document for document in documents}.values():
        if document.uri.startswith(TOOL_RESULT):
            continue
        if sentence := _find_change(_read_beginning(document, run)):
            shown = quote_name(shorten(sentence, _MAX_NOTICE_CHARS, placeholder=" …"))
            notes.append(translate("%(document)s says of itself: %(sentence)s", document=document.name, sentence=shown))
    return notes


def _read_beginning(document: Document, run: RunContext) -> str:
    try:
        return run.corpus.store.read_beginning(run.principal, document.revision_id, _MAX_HEAD_CHARS)
    except NotFound:
        return ""  # replaced or closed to the asker since the answer was written


# The same documents stand behind many answers, and the beginning of one is the same for all of them.
@lru_cache(maxsize=1_000)
def _find_change(head: str) -> str:
    """Return the sentence that says that parts of the document were replaced; empty if none does."""
    language = identify_listed_language(head)
    sentences = (extract_prose(head[start:end]).text for start, end in split_sentences(head))
    return next((one for one in sentences if says_changed(one, language)), "")


def _quote_sentence(sentence: str, document: Document) -> str:
    fresh = freshness(document)
    return f"{quote_name(sentence)} ({document.name}{f', {fresh}' if fresh else ''})"


def write_succession_notes(documents: Iterable[Document], cited: Collection[str]) -> list[str]:
    """Return a note for each cited document whose successor was also found.

    Args:
        documents: those of the passages that were found.
        cited: ids of those that the answer cites.
    """
    held = list({document.id: document for document in documents}.values())
    return [
        translate("%(old)s is superseded by %(new)s, which counts first.", old=old.name, new=new.name)
        for old, new in find_successors(held)
        if old.id in cited
    ]
