"""The rows of pictures in corpus.db. Their bytes are with the originals, and go with the last row that names them."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from argot.corpus.store.document_store import CorpusStore
from argot.corpus.store.row_mapping import load_audience
from argot.databases import Connection
from argot.types import Box, Passage, Picture, Principal

_COLUMNS = (
    "number", "start", "label", "content_hash", "media_type", "width", "height", "size", "caption", "alternative",
    "words", "page", "page_kind", "box",
)  # fmt: skip
_SELECTED = ", ".join(f"i.{column}" for column in _COLUMNS)
_DESCRIPTION = (
    "(SELECT t.text FROM derived AS t WHERE t.document = i.document AND t.picture = i.number ORDER BY t.n DESC LIMIT 1)"
)
_TABLES = "pictures AS i JOIN documents AS d ON d.id = i.document JOIN audiences AS a ON a.n = d.audience"


@dataclass(frozen=True, slots=True)
class PassagePicture:
    """A picture and the passage (its id) in which it stands. `description`: by a model; empty: there is none."""

    document: str
    passage: str
    picture: Picture
    description: str = ""


def list_pictures(store: CorpusStore, principal: Principal, document: str) -> list[PassagePicture]:
    """Return the pictures of a document in their order; none if the principal may not read it."""
    sql = (
        f"SELECT a.tokens, i.document, i.passage, {_DESCRIPTION}, {_SELECTED} FROM {_TABLES} "  # noqa: S608
        "WHERE i.document = ? ORDER BY i.number"
    )
    return _read_rows(store, principal, sql, document)


def list_passage_pictures(store: CorpusStore, principal: Principal, passages: Sequence[str]) -> list[PassagePicture]:
    """Return the pictures in these passages that the principal may read, document by document."""
    sql = (
        f"SELECT a.tokens, i.document, i.passage, {_DESCRIPTION}, {_SELECTED} FROM {_TABLES} "  # noqa: S608
        "WHERE i.passage IN (SELECT value FROM json_each(?)) ORDER BY i.document, i.number"
    )
    return _read_rows(store, principal, sql, json.dumps(list(passages)))


def _read_rows(store: CorpusStore, principal: Principal, sql: str, condition: str) -> list[PassagePicture]:
    return [
        PassagePicture(document, passage, _build_picture(columns), description or "")
        for tokens, document, passage, description, *columns in store.database.rows_for(principal, sql, (condition,))
        if principal.may_read(load_audience(tokens))
    ]


def _build_picture(columns: Sequence[Any]) -> Picture:
    row = dict(zip(_COLUMNS, columns, strict=True))
    box = json.loads(row.pop("box"))
    return Picture(**row, box=Box(*box) if box else None)


# -- within the caller's transaction ----------------------------------------------------------------------------------


def replace_pictures(
    connection: Connection, document: str, pictures: Iterable[Picture], passages: Sequence[Passage]
) -> None:
    """Make these the pictures of a document. The bytes of those before them are queued for deletion."""
    queue_pictures(connection, document)
    connection.execute("DELETE FROM pictures WHERE document = ?", (document,))
    starts = [passage.start for passage in passages]
    rows = []
    for one in pictures:
        # A picture in no passage, such as one between two of them, belongs to the one before.
        passage = passages[max(0, bisect_right(starts, one.start) - 1)].id
        box = [one.box.page, one.box.x0, one.box.y0, one.box.x1, one.box.y1] if one.box else None
        values = [json.dumps(box) if name == "box" else getattr(one, name) for name in _COLUMNS]
        rows.append((document, passage, *values))
    columns = ("document", "passage", *_COLUMNS)
    marks = ", ".join("?" * len(columns))
    connection.executemany(f"INSERT INTO pictures ({', '.join(columns)}) VALUES ({marks})", rows)  # noqa: S608


def queue_pictures(connection: Connection, document: str) -> None:
    """Queue the bytes of a document's pictures for deletion; those that some row still names then stay."""
    connection.execute(
        "INSERT INTO ledger (document, content_hash) SELECT DISTINCT document, content_hash FROM pictures "
        "WHERE document = ? ON CONFLICT DO NOTHING",
        (document,),
    )
