"""The location of a passage in its document, in words for people, and the address of a picture."""

from __future__ import annotations

from pathlib import PurePosixPath
from urllib.parse import quote

from argot.languages.catalogues import translate

_KINDS = {
    **dict.fromkeys((".pptx", ".odp"), "slide"),
    **dict.fromkeys((".xlsx", ".xlsb", ".xls", ".ods"), "sheet"),
}


def place(document: str, page: int | None, page_kind: str | None = None) -> str:
    """Return the page, slide or sheet as the end of a phrase (`, page 3`); empty if there is none.

    `page_kind`: the kind recorded by the reader, such as "scanned page"; None: the usual kind for documents of this
    name.
    """
    kind = page_kind or _KINDS.get(PurePosixPath(document).suffix.casefold(), "page")
    return f", {translate(kind)} {page}" if page else ""


def link_picture(document: str, number: int) -> str:
    """Build the address of a picture: the document by its id, the picture by its number in it."""
    return f"/api/documents/{quote(document, safe='')}/pictures/{number}"
