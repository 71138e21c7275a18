"""Fields of documents: filters for a question, answered by indexes before anything is ranked or cut."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from argot.corpus.store.change_counter import count_change
from argot.databases import Connection
from argot.types import TAG, Document, DocumentField, QuestionScope

MAX_FIELDS = 40
"""Maximum stored for one document; a file may have any number of properties."""
MAX_VALUE_CHARS = 200
"""Characters. A longer value is no label but a text."""


def filter_usable(fields: Iterable[DocumentField]) -> list[DocumentField]:
    """Return the fields that can be stored, each once: short, not empty, their names in lower case."""
    tidy = (DocumentField(_join_lines(one.name).lower(), _join_lines(one.value)) for one in fields)
    fit = (one for one in tidy if one.name and one.value and len(one.name) <= 60 and len(one.value) <= MAX_VALUE_CHARS)
    return list(dict.fromkeys(fit))[:MAX_FIELDS]


# -- writing, inside the caller's transaction -----------------------------------------------------------------------


def replace_read_fields(connection: Connection, document: Document) -> None:
    """Replace the fields read from the file; those that a manager set stay."""
    connection.execute("DELETE FROM document_fields WHERE document = ? AND origin = 'file'", (document.id,))
    rows = connection.execute(
        "SELECT DISTINCT name FROM document_fields WHERE document = ? AND origin = 'given'", (document.id,)
    )
    given_names = {name for (name,) in rows}
    _insert(connection, document.id, [one for one in document.fields if one.name not in given_names], "file")
    put_tags(connection, document.id, document.tags)


def put_missing_field(connection: Connection, document: str, field: DocumentField) -> None:
    """Add a field that was found out about a document, unless it has one of this name."""
    known = "SELECT 1 FROM document_fields WHERE document = ? AND name = ?"
    if connection.execute(known, (document, field.name)).fetchone() is None:
        _insert(connection, document, [field], "file")


def put_tags(connection: Connection, document: str, tags: Sequence[str]) -> None:
    connection.execute("DELETE FROM document_fields WHERE document = ? AND origin = 'tag'", (document,))
    _insert(connection, document, [DocumentField(TAG, tag) for tag in tags], "tag")


def replace_given_fields(connection: Connection, document: str, fields: Sequence[DocumentField]) -> None:
    """Replace the fields that a manager set; they hide those of the same names from the file."""
    connection.execute("DELETE FROM document_fields WHERE document = ? AND origin = 'given'", (document,))
    names = json.dumps([one.name for one in fields])
    connection.execute(
        "DELETE FROM document_fields WHERE document = ? AND origin = 'file' "
        "AND name IN (SELECT value FROM json_each(?))",
        (document, names),
    )
    _insert(connection, document, fields, "given")
    count_change(connection)


def _insert(connection: Connection, document: str, fields: Iterable[DocumentField], origin: str) -> None:
    connection.executemany(
        "INSERT INTO document_fields (document, name, value, folded, origin) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        [(document, one.name, one.value, one.value.casefold(), origin) for one in fields],
    )


# -- reading --------------------------------------------------------------------------------------------------------


def find_documents(connection: Connection, scope: QuestionScope, audiences: Sequence[int] | None) -> frozenset[str]:
    """Return ids of the documents in the scope. `audiences`: numbers of those to search; None: all."""
    clauses, values = _build_clauses(scope)
    if audiences is not None:
        clauses.append(_READABLE)
        values.append(json.dumps(list(audiences)))
    sql = f"SELECT d.id FROM documents AS d WHERE {' AND '.join(clauses) or 'true'}"  # noqa: S608  our own words only
    return frozenset(id_ for (id_,) in connection.execute(sql, values))


def read_given_fields(connection: Connection, document: str) -> list[DocumentField]:
    """Return the fields that managers set for a document (id), without those read from its file."""
    sql = "SELECT name, value FROM document_fields WHERE document = ? AND origin = 'given' ORDER BY name, value"
    return [DocumentField(*row) for row in connection.execute(sql, (document,))]


def list_field_names(connection: Connection, audiences: Sequence[int] | None) -> list[str]:
    """Return the names of all fields of readable documents."""
    sql = "SELECT DISTINCT f.name FROM document_fields AS f"
    values: list[str] = []
    if audiences is not None:
        sql += f" JOIN documents AS d ON d.id = f.document WHERE {_READABLE}"
        values.append(json.dumps(list(audiences)))
    return sorted(name for (name,) in connection.execute(sql, values))


def list_field_values(connection: Connection, name: str, audiences: Sequence[int] | None, limit: int) -> list[str]:
    """Return the most common values of the field among readable documents, in alphabetical order."""
    sql = "SELECT min(f.value) FROM document_fields AS f JOIN documents AS d ON d.id = f.document WHERE f.name = ?"
    values: list[str | int] = [name]
    if audiences is not None:
        sql += f" AND {_READABLE}"
        values.append(json.dumps(list(audiences)))
    sql += " GROUP BY f.folded ORDER BY count(*) DESC, f.folded LIMIT ?"
    return sorted((value for (value,) in connection.execute(sql, [*values, limit])), key=str.casefold)


_READABLE = "d.audience IN (SELECT CAST(value AS INTEGER) FROM json_each(?))"


def _build_clauses(scope: QuestionScope) -> tuple[list[str], list[str]]:
    clauses, values = [], []
    for name, wanted in _group_by_name(scope):
        clauses.append(
            "d.id IN (SELECT document FROM document_fields WHERE name = ? "
            "AND folded IN (SELECT value FROM json_each(?)))"
        )
        values += [name, json.dumps([value.casefold() for value in wanted])]
    if scope.since:
        # A document's date may be less precise: one of "2025" is not known to be older than "2025-03-01".
        clauses.append("(d.date >= ? OR d.date IN (SELECT value FROM json_each(?)))")
        values += [scope.since, json.dumps([scope.since[:4], scope.since[:7]])]
    return clauses, values


def _group_by_name(scope: QuestionScope) -> Iterator[tuple[str, list[str]]]:
    if scope.tags:
        yield TAG, list(scope.tags)
    for name, some in groupby(sorted(scope.fields), key=lambda one: one.name):
        yield name, [one.value for one in some]


def _join_lines(text: str) -> str:
    return " ".join(text.split())
