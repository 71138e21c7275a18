"""The address of the form by which a manager verifies an answer."""

from __future__ import annotations

from urllib.parse import quote

from argot.languages.catalogues import translate

VERIFIED = "/verified"


def link_verification(thread: str, turn: int) -> str:
    """Format a link to the form for the answer of a turn."""
    address = f"{VERIFIED}/new?thread={quote(thread, safe='')}&turn={turn}"
    text = "[Verify this answer](%(address)s): you may edit it before. [All verified answers](%(list)s)"
    return translate(text, address=address, list=VERIFIED)
