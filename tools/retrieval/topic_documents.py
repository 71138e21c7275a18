"""The documents about a topic, for questions such as "which documents are about travel?"."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from argot.corpus.store.document_store import CorpusStore
from argot.tools.text.words import fold_words, stem_by_language
from argot.types import Document, Principal

MAX_PASSAGES = 300
"""Passages with the words of the topic, best first, whose documents are listed."""


@dataclass(frozen=True, slots=True)
class TopicDocuments:
    """The documents with a topic's words: in their name, title or a heading, those of the name or title first; and in
    their text alone, best first.
    """

    headed: Sequence[Document]
    mentioning: Sequence[Document]

    def __bool__(self) -> bool:
        return bool(self.headed or self.mentioning)


def find_topic_documents(
    ways: Sequence[str], store: CorpusStore, principal: Principal, inside: Container[str]
) -> TopicDocuments:
    """Return the documents that have one of the ways in which a topic is written, among those with the ids `inside`."""
    titled: dict[str, Document] = {}
    headed: dict[str, Document] = {}
    mentioning: dict[str, Document] = {}
    for way in ways:
        for passage, document in store.passages(principal, store.find_phrase(principal, way, MAX_PASSAGES)).values():
            if document.id not in inside:
                continue
            stems = _list_stems(way, passage.language)
            title = _list_stems(f"{document.name} {document.title}", passage.language)
            if stems <= title:
                titled[document.id] = document
            elif stems <= title | _list_stems(passage.heading, passage.language):
                headed[document.id] = document
            else:
                mentioning[document.id] = document
    named = titled | headed
    return TopicDocuments([*named.values()], [one for id_, one in mentioning.items() if id_ not in named])


def _list_stems(text: str, language: str) -> frozenset[str]:
    return frozenset(stem_by_language(language, word) for word in fold_words(text))
