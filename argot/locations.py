"""The place of a passage in its document, in words for people."""

from __future__ import annotations

from pathlib import PurePosixPath

_KINDS = {".pptx": "slide", ".xlsx": "sheet"}


def place(document: str, page: int | None, page_kind: str | None = None) -> str:
    """The page, slide or sheet as the end of a phrase (`, page 3`); empty where there is none.

    `page_kind`: what it is as it was read, as "scanned page"; None: what documents of this name have.
    """
    kind = page_kind or _KINDS.get(PurePosixPath(document).suffix.casefold(), "page")
    return f", {kind} {page}" if page else ""
