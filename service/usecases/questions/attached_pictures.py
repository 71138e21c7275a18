"""Pictures that people attach to a question: with a vision model each becomes a page with its description in words.

The page is a document like any other file of a conversation, so the answer quotes and cites the description.
"""

from __future__ import annotations

import base64
import re
from pathlib import PurePosixPath

from argot.corpus.readers import SUFFIXES
from argot.corpus.readers.reader_protocol import CutDocument
from argot.errors import InvalidInput, ModelUnavailable, UnreadableDocument
from argot.graph.presentation.model_troubles import translate_model_error
from argot.languages.catalogues import translate
from argot.service.knowledge_base import KnowledgeBase
from argot.types import Picture

PAGE_SUFFIX = ".md"
_MARKS = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~])")


def is_picture(name: str) -> bool:
    """Return whether a file is a picture, by its name."""
    return SUFFIXES.get(PurePosixPath(name).suffix.lower(), "").startswith("image/")


def explain_unread(kb: KnowledgeBase) -> str:
    """Return the remedy for a picture without words that could be read."""
    if kb.vision_server is not None:
        return translate("The vision model has not described it either.")
    return translate("Only the words in a picture can be read: no vision model is configured (ARGOT_VISION_URL).")


async def write_picture_page(kb: KnowledgeBase, name: str, data: bytes) -> bytes | None:
    """Return a page of Markdown with the picture and its description; None if there is no vision model or nothing can
    be described, so that only the words in the picture are read.

    Raises:
        InvalidInput: the vision model server does not answer, and no words were read in the picture.
    """
    from argot.service.usecases.documents.derivers import explain_terms, open_picture_deriver
    from argot.tools.llm.picture_deriver import PictureMaterial

    if kb.vision_server is None or not is_picture(name):
        return None
    read = await kb.blocking(_read_picture, kb, name, data)
    if read is None:
        return None
    picture = read.pictures[0]
    shown = read.picture_data[picture.content_hash]
    try:
        deriver = await open_picture_deriver(kb)
        assert deriver is not None
        terms = await kb.blocking(explain_terms, kb, picture.words)
        description = await deriver.describe(PictureMaterial(picture, shown, terms), title=name)
    except ModelUnavailable as error:
        if not picture.words:
            detail = translate_model_error(str(error))
            text = translate("%(name)s cannot be asked about: %(detail)s", name=name, detail=detail)
            raise InvalidInput(text) from error
        return None
    return _write_page(name, picture, shown, description) if description else None


def _read_picture(kb: KnowledgeBase, name: str, data: bytes) -> CutDocument | None:
    """Return a page with the picture alone, as it is read in a process of its own; None if it cannot be shown."""
    from argot.corpus.readers.reader_process import read_in_child

    corpus = kb.corpus
    page = _embed(name, SUFFIXES[PurePosixPath(name).suffix.lower()], data)
    limits, chars = corpus.limits_of("attachments"), kb.settings.reading.passage_chars
    try:
        read = read_in_child(page, f"{name}{PAGE_SUFFIX}", limits, chars)
    except UnreadableDocument:
        return None
    return read if read.pictures else None


def _write_page(name: str, picture: Picture, data: bytes, description: str) -> bytes:
    return _embed(name, picture.media_type, data) + b"\n\nDescribed by a model: " + description.encode() + b"\n"


def _embed(name: str, media_type: str, data: bytes) -> bytes:
    title = _MARKS.sub(r"\\\1", name)
    return f"# {title}\n\n![](data:{media_type};base64,{base64.b64encode(data).decode('ascii')})\n".encode()
