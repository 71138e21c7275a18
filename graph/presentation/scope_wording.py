"""The scope of a question in words: the documents that were searched, and the reply if none matches it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from argot.graph.run_context import RunContext
from argot.languages.catalogues import format_local_day, join_with_or, quote_name, translate
from argot.tools.reading.library_questions import find_library_topic
from argot.tools.retrieval.topic_documents import TopicDocuments, find_topic_documents
from argot.types import Document, DocumentField, QuestionScope

MAX_VALUES = 8
"""Number of a field's values that are offered if none matches the one asked for."""


def read_scope(turn: Mapping[str, Any]) -> QuestionScope:
    """Return the scope that the turn was asked with."""
    fields = tuple(DocumentField(name, value) for name, value in turn.get("fields", []))
    return QuestionScope(tuple(turn.get("tags", [])), turn.get("since", ""), fields)


def list_asked_documents(turn: Mapping[str, Any], run: RunContext) -> list[Document]:
    """Return the documents that the turn was limited to: those named, else those in its scope."""
    store, scope, named = run.corpus.store, read_scope(turn), turn.get("scope", [])
    inside = frozenset(named) or (store.documents_within(run.principal, scope) if scope else None)
    return [one for one in store.documents(run.principal) if inside is None or one.id in inside]


def find_asked_topic(turn: Mapping[str, Any], run: RunContext) -> tuple[str, TopicDocuments]:
    """Return the topic about which the turn asks for documents, and those about it; ("", none) if it asks no such thing
    or none has the topic's words.
    """
    topic = find_library_topic(turn["question"])
    if not topic:
        return "", TopicDocuments([], [])
    inside = {one.id for one in list_asked_documents(turn, run)}
    ways = list(dict.fromkeys((topic, run.abbreviate(topic))))
    found = find_topic_documents(ways, run.corpus.store, run.principal, inside)
    return (topic if found else ""), found


def group_values_by_name(scope: QuestionScope) -> dict[str, list[str]]:
    """Return the values asked for, by the names of the fields."""
    by_name = groupby(sorted(scope.fields), key=lambda one: one.name)
    return {name: [one.value for one in some] for name, some in by_name}


def write_searched_note(scope: QuestionScope) -> list[str]:
    """Return the note that names the documents searched, if not all were."""
    if not scope:
        return []
    return [translate("Only documents %(conditions)s were searched.", conditions=_describe_scope(scope))]


def describe_empty_scope(scope: QuestionScope, run: RunContext) -> str:
    """Return the text shown instead of an answer if no document falls into the scope; empty if some do."""
    store, principal = run.corpus.store, run.principal
    if not scope or store.documents_within(principal, scope):
        return ""
    text = "You may read no document %(conditions)s, so nothing was searched."
    sentences = [translate(text, conditions=_describe_scope(scope))]
    for name, wanted in group_values_by_name(scope).items():
        only = QuestionScope(fields=tuple(DocumentField(name, value) for value in wanted))
        # An existing value fails only together with the other conditions.
        if not store.documents_within(principal, only):
            values = store.field_values(principal, name, MAX_VALUES + 1)
            listed = ", ".join(values[:MAX_VALUES])
            more = len(values) > MAX_VALUES
            text = "Values of %(name)s: %(values)s and others." if more else "Values of %(name)s: %(values)s."
            sentences.append(translate(text, name=name, values=listed))
    return " ".join(sentences)


def _describe_scope(scope: QuestionScope) -> str:
    """Return the conditions of a scope in words, as in "tagged “HR” and dated 2025-01-01 or later"."""
    conditions = [translate("tagged %(tags)s", tags=_join_quoted(scope.tags))] if scope.tags else []
    conditions += [translate("dated %(day)s or later", day=format_local_day(scope.since))] if scope.since else []
    conditions += [
        translate("with %(name)s %(values)s", name=name, values=_join_quoted(values))
        for name, values in group_values_by_name(scope).items()
    ]
    return translate(" and ").join(conditions)


def _join_quoted(names: Sequence[str]) -> str:
    return join_with_or([quote_name(name) for name in names])
