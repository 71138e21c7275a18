"""The pictures in documents: what there is in one, and one of them, each to those who may read its document."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field, fields

from argot.corpus.store.picture_rows import PassagePicture, list_passage_pictures, list_pictures
from argot.errors import NotFound
from argot.locations import link_picture
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.documents import make_document_reader
from argot.service.usecases.usecase_registry import Number, Text, usecase
from argot.types import Document, Picture, Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureShown(Picture):
    """A picture in a document, with its address and the passage (an id) in which it stands.

    `place`: its label and page, as people see them: "Figure 3, page 12". `description`: by a vision model; empty: none
    has described it.
    """

    place: str = field()  # of a picture it is put together
    address: str
    passage: str
    description: str


@dataclass(frozen=True, slots=True)
class PictureFile:
    """A picture as it is shown: PNG or JPEG, written by Argot."""

    document: Document
    number: int
    media_type: str
    base64: str


@usecase("asker")
async def document_pictures(kb: KnowledgeBase, principal: Principal, *, document: Text) -> list[PictureShown]:
    """List the pictures in a document (by id, name or URI), with captions and the text read in them."""
    reader = await make_document_reader(kb, principal)
    found = await kb.blocking(kb.document_store.document, reader, document)
    return [_show(one) for one in await kb.blocking(list_pictures, kb.document_store, reader, found.id)]


@usecase("asker")
async def passage_pictures(kb: KnowledgeBase, principal: Principal, *, passage_id: Text) -> list[PictureShown]:
    """List the pictures that stand in a passage; none if the caller may not read it."""
    reader = await make_document_reader(kb, principal)
    found = await kb.blocking(list_passage_pictures, kb.document_store, reader, [passage_id])
    return [_show(one) for one in found]


@usecase("asker")
async def document_picture(kb: KnowledgeBase, principal: Principal, *, document: Text, number: Number) -> PictureFile:
    """Return one picture (base64) of a document (by id, name or URI), by its number.

    Raises:
        NotFound: there is none, or the caller may not read the document.
    """
    reader = await make_document_reader(kb, principal)
    found = await kb.blocking(kb.document_store.document, reader, document)
    pictures = await kb.blocking(list_pictures, kb.document_store, reader, found.id)
    picture = next((one.picture for one in pictures if one.picture.number == number), None)
    if picture is None:
        raise NotFound(f"There is no picture {number} in '{found.name}'. It has {len(pictures)}.")
    data = await kb.blocking(kb.document_store.blobs.get, picture.content_hash)
    return PictureFile(found, number, picture.media_type, base64.b64encode(data).decode("ascii"))


def _show(found: PassagePicture) -> PictureShown:
    picture = found.picture
    values = {one.name: getattr(picture, one.name) for one in fields(picture)}
    return PictureShown(
        **values,
        place=picture.place,
        address=link_picture(found.document, picture.number),
        passage=found.passage,
        description=found.description,
    )
