"""Where in a document a passage stands, as people say it."""

from __future__ import annotations

from pathlib import PurePosixPath

_KINDS = {".pptx": "slide", ".xlsx": "sheet"}


def place(document: str, page: int | None) -> str:
    """The page, slide or sheet as the end of a phrase (`, page 3`); empty where there is none."""
    kind = _KINDS.get(PurePosixPath(document).suffix.casefold(), "page")
    return f", {kind} {page}" if page else ""
