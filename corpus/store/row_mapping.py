"""Conversion between the rows of corpus.db and the types of argot.types."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from argot.corpus.keyword.index_terms import build_passage_words, build_text_words
from argot.types import Audience, Box, DerivedText, Document, DocumentField, Passage, Triple

# In the order of the arguments of `build_document`.
DOCUMENT_COLUMNS = """
    d.id, d.uri, d.title, r.media_type, d.revision, r.content_hash, r.added_at, d.date, d.tags, a.tokens,
    d.passages, r.size, r.warnings,
    (SELECT json_group_array(json_array(f.name, f.value)) FROM document_fields AS f
     WHERE f.document = d.id AND f.origin != 'tag')"""
DOCUMENT_TABLES = "documents AS d JOIN revisions AS r ON r.id = d.revision JOIN audiences AS a ON a.n = d.audience"

# In the order of the arguments of `build_passage`; `CorpusStore.passages` relies on there being 13.
PASSAGE_COLUMNS = """
    p.id, p.document, p.revision, p.ordinal, p.start, p.end, p.text, p.header, p.heading_path, p.page, p.page_kind,
    p.boxes, p.language"""


@dataclass(frozen=True, slots=True)
class Revision:
    """One state of a document's content. Superseded ones are kept to explain citations, and are never searched."""

    id: str
    document_id: str
    content_hash: str
    state: str
    superseded_by: str | None
    media_type: str
    size: int
    added_at: str


def dump_audience(audience: Audience) -> str:
    """Return one spelling per set of readers."""
    return json.dumps(sorted(audience), ensure_ascii=False)


# Many rows, few distinct sets of readers: each is parsed once.
@lru_cache(maxsize=1_000)
def load_audience(text: str) -> Audience:
    return frozenset(json.loads(text))


@lru_cache(maxsize=2_000)
def build_document(row: tuple[Any, ...]) -> Document:
    """Cached by the whole row, as `build_passage` is: one question reads the same few a dozen times."""
    id_, uri, title, media_type, revision, content_hash, added_at, date, tags, tokens, *more = row
    passages, size, warnings, fields = more
    return Document(
        id=id_,
        uri=uri,
        title=title,
        media_type=media_type,
        revision_id=revision,
        content_hash=content_hash,
        added_at=added_at,
        date=date,
        tags=tuple(json.loads(tags)),
        audience=load_audience(tokens),
        passages=passages,
        size=size,
        fields=tuple(sorted(DocumentField(name, value) for name, value in json.loads(fields))),
        warnings=tuple(json.loads(warnings)),
    )


@lru_cache(maxsize=4_000)
def build_passage(row: tuple[Any, ...]) -> Passage:
    id_, document, revision, ordinal, start, end, text, header, path, page, page_kind, boxes, language = row
    return Passage(
        id=id_,
        document_id=document,
        revision_id=revision,
        ordinal=ordinal,
        start=start,
        end=end,
        text=text,
        header=header,
        heading_path=tuple(json.loads(path)),
        page=page,
        page_kind=page_kind,
        boxes=tuple(Box(*box) for box in json.loads(boxes)),
        language=language,
    )


def build_passage_row(passage: Passage, title: str, audience: int) -> dict[str, Any]:
    return {
        "id": passage.id,
        "document": passage.document_id,
        "revision": passage.revision_id,
        "audience": audience,
        "ordinal": passage.ordinal,
        "start": passage.start,
        "end": passage.end,
        "text": passage.text,
        "header": passage.header,
        "heading_path": json.dumps(passage.heading_path, ensure_ascii=False),
        "page": passage.page,
        "page_kind": passage.page_kind,
        "boxes": json.dumps([[box.page, box.x0, box.y0, box.x1, box.y1] for box in passage.boxes]),
        "language": passage.language,
        **build_passage_words(title, passage.heading_path, passage.text, passage.language),
    }


def build_derived_row(derived: DerivedText, document: str, audience: int, language: str) -> dict[str, Any]:
    return {
        "id": derived.id,
        "document": document,
        "audience": audience,
        "kind": derived.kind,
        "text": derived.text,
        "prompt": derived.prompt,
        "model": derived.model,
        "picture": derived.picture,
        **build_text_words(derived.text, language),
    }


def build_triple_row(triple: Triple, document: str, audience: int, language: str) -> dict[str, Any]:
    return {
        "id": triple.id,
        "document": document,
        "audience": audience,
        "source": triple.source,
        "action": triple.action,
        "target": triple.target,
        "passage": triple.passage_id,
        "text": triple.text,
        **build_text_words(triple.text, language),
    }
