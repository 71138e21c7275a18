"""The scope of a question in words: what was searched, and that nothing falls into it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from argot.graph.run_context import RunContext
from argot.types import Document, DocumentField, QuestionScope


def scope_of(turn: Mapping[str, Any]) -> QuestionScope:
    """The scope that the turn was asked with."""
    fields = tuple(DocumentField(name, value) for name, value in turn.get("fields", []))
    return QuestionScope(tuple(turn.get("tags", [])), turn.get("since", ""), fields)


def documents_asked(turn: Mapping[str, Any], run: RunContext) -> list[Document]:
    """The documents that the turn was asked of: those named alone, else those in its scope."""
    store, scope, named = run.corpus.store, scope_of(turn), turn.get("scope", [])
    inside = frozenset(named) or (store.documents_within(run.principal, scope) if scope else None)
    return [one for one in store.documents(run.principal) if inside is None or one.id in inside]


def values_by_name(scope: QuestionScope) -> dict[str, list[str]]:
    """The values asked for, by the names of the fields."""
    by_name = groupby(sorted(scope.fields), key=lambda one: one.name)
    return {name: [one.value for one in some] for name, some in by_name}


def searched_note(scope: QuestionScope) -> list[str]:
    """Which documents alone were searched, where not all were."""
    return [f"Only documents {_told(scope)} were searched."] if scope else []


def empty_scope(scope: QuestionScope, run: RunContext) -> str:
    """What is said instead of an answer where no document falls into the scope; nothing where some do."""
    if not scope or run.corpus.store.documents_within(run.principal, scope):
        return ""
    return f"No document that you may read is {_told(scope).replace('with ', 'one with ')}, so nothing was searched."


def _told(scope: QuestionScope) -> str:
    parts = [f"tagged {_or(scope.tags)}"] if scope.tags else []
    if scope.since:
        parts.append(f"dated {scope.since} or later")
    parts += [f"with {name} {_or(values)}" for name, values in values_by_name(scope).items()]
    return " and ".join(parts)


def _or(names: Sequence[str]) -> str:
    return " or ".join(f"“{name}”" for name in names)
