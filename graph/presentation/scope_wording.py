"""The scope of a question in words: which documents were searched, and that none matches it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from argot.graph.run_context import RunContext
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


def group_values_by_name(scope: QuestionScope) -> dict[str, list[str]]:
    """Return the values asked for, by the names of the fields."""
    by_name = groupby(sorted(scope.fields), key=lambda one: one.name)
    return {name: [one.value for one in some] for name, some in by_name}


def write_searched_note(scope: QuestionScope) -> list[str]:
    """Return the note that names the documents searched, if not all were."""
    return [f"Only documents {_describe_scope(scope)} were searched."] if scope else []


def describe_empty_scope(scope: QuestionScope, run: RunContext) -> str:
    """Return the text shown instead of an answer if no document falls into the scope; empty if some do."""
    store, principal = run.corpus.store, run.principal
    if not scope or store.documents_within(principal, scope):
        return ""
    told = [f"None of the documents that you may read {_describe_lack(scope)}, so nothing was searched."]
    for name, wanted in group_values_by_name(scope).items():
        only = QuestionScope(fields=tuple(DocumentField(name, value) for value in wanted))
        # An existing value fails only together with the other conditions.
        if not store.documents_within(principal, only):
            values = store.field_values(principal, name, MAX_VALUES + 1)
            end = " and others." if len(values) > MAX_VALUES else "."
            told.append(f"Values of {name}: {', '.join(values[:MAX_VALUES])}{end}")
    return " ".join(told)


def _describe_scope(scope: QuestionScope) -> str:
    with_fields = (f"with {name} {_join_with_or(values)}" for name, values in group_values_by_name(scope).items())
    return " and ".join([*_describe_tags_and_date(scope), *with_fields])


def _describe_lack(scope: QuestionScope) -> str:
    be = " and ".join(_describe_tags_and_date(scope))
    have = " and ".join(f"{name} {_join_with_or(values)}" for name, values in group_values_by_name(scope).items())
    return " and ".join(filter(None, [be and f"is {be}", have and f"has {have}"]))


def _describe_tags_and_date(scope: QuestionScope) -> list[str]:
    tagged = [f"tagged {_join_with_or(scope.tags)}"] if scope.tags else []
    return [*tagged, *([f"dated {scope.since} or later"] if scope.since else [])]


def _join_with_or(names: Sequence[str]) -> str:
    return " or ".join(f"“{name}”" for name in names)
