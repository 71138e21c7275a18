"""The replies to questions about the documents, terms and contexts that the asker may read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from argot.document_names import find_telling_folders
from argot.languages.catalogues import join_with_and, translate, translate_number
from argot.tools.retrieval.topic_documents import TopicDocuments
from argot.tools.text.words import bare
from argot.types import Document, is_of_thread

MAX_DOCUMENTS = 30
"""Number of documents named in a reply."""

MAX_CONTEXTS = 8
"""Number of contexts named in a reply."""

NO_DOCUMENTS = "There are no documents yet that I could answer from."
NO_TERMS = "The glossary has no terms yet that you may read."
_OWN_DOCUMENTS = (
    "I answer from %(number)s document in this conversation:",
    "I answer from %(number)s documents in this conversation:",
)
_SHARED_DOCUMENTS = (
    "I answer from %(number)s document that you may read:",
    "I answer from %(number)s documents that you may read:",
)
_HEADED = (
    "%(number)s document has “%(topic)s” in its name, title or headings:",
    "%(number)s documents have “%(topic)s” in their name, title or headings:",
)
_MENTIONING = (
    "%(number)s document mentions “%(topic)s” in its text:",
    "%(number)s documents mention “%(topic)s” in their text:",
)
_MORE_DOCUMENTS = (
    "And from %(number)s document that you may read:",
    "And from %(number)s documents that you may read:",
)
_TERMS = (
    "The glossary has %(number)s term that you may read.",
    "The glossary has %(number)s terms that you may read.",
)


def write_library(documents: Sequence[Document]) -> str:
    """Return the documents that the asker may read, by name, with their titles; those of the conversation first."""
    own = [document for document in documents if is_of_thread(document.audience)]
    shared = [one for one in documents if one not in own]
    lines: list[str] = []
    for some, head in ((own, _OWN_DOCUMENTS), (shared, _MORE_DOCUMENTS if own else _SHARED_DOCUMENTS)):
        if some:
            lines.append(translate_number(*head, len(some)))
            ordered = sorted(some, key=lambda one: one.name.casefold())
            lines += _name_documents(ordered)
            if len(some) > MAX_DOCUMENTS:
                more = len(some) - MAX_DOCUMENTS
                lines.append(translate("and %(number)s others; these are the first by name.", number=more))
    return "\n".join(lines) or translate(NO_DOCUMENTS)


def write_topic(topic: str, about: TopicDocuments) -> str:
    """Return the documents about a topic, by name, with their titles; those that only mention it if no other is."""
    one, many = _HEADED if about.headed else _MENTIONING
    documents = about.headed or about.mentioning
    lines = [translate_number(one, many, len(documents), topic=topic)]
    lines += _name_documents(documents)
    others = len(documents) - MAX_DOCUMENTS
    if others > 0:
        lines.append(translate("and %(number)s others; these fit best.", number=others))
    return "\n".join(lines)


def _name_documents(documents: Sequence[Document]) -> list[str]:
    """Return a line for each of the first documents: its name, with its folder where others have the same, and its
    title.
    """
    folders = find_telling_folders(one.uri for one in documents)
    return [f"- {_name_document(one, folders[one.uri])}" for one in documents[:MAX_DOCUMENTS]]


def _name_document(document: Document, folder: str) -> str:
    name = f"{folder}/{document.name}" if folder else document.name
    stem = PurePosixPath(document.name).stem
    # A title that only repeats the file name adds no information.
    return name if bare(stem) == bare(document.title) else f"{name}: {document.title}"


def write_glossary(terms: int, contexts: Sequence[str]) -> str:
    """Return how many terms of the glossary the asker may read, of which contexts, and where they are listed."""
    if not terms:
        return translate(NO_TERMS)
    listed = translate("The page Terms lists them all.")
    return " ".join(filter(None, (translate_number(*_TERMS, terms), write_contexts(contexts), listed)))


def write_contexts(contexts: Sequence[str]) -> str:
    """Return the contexts whose terms are known, as a sentence; empty if there are none."""
    # Imports the formats of glossary files.
    from argot.jargon_db.formats.table_format import DEFAULT_CONTEXT

    # Terms without a context are stored under this name, which says nothing to people.
    contexts = [name for name in contexts if name != DEFAULT_CONTEXT]
    some = contexts if len(contexts) <= MAX_CONTEXTS else [*contexts[:MAX_CONTEXTS], translate("others")]
    return translate("I know the terms of %(contexts)s.", contexts=join_with_and([*some])) if contexts else ""
