"""How large the body of a request may be, by its address and who sends it."""

from __future__ import annotations

from argot.ui.web.authorization import AddressRule, Visitor
from argot.ui.web.chainlit_guard import FILE_PATH, MAX_JSON_BYTES
from argot.ui.web.request_origin import SIGNED_PATH

MAX_ANONYMOUS_BYTES = 64 * 1024
"""Bytes of a body of somebody who is not signed in."""
MAX_FILE_BYTES = 27 * 1024 * 1024
"""Bytes of a file put into a conversation, with its form."""
MAX_SIGNED_BYTES = 2 * 1024 * 1024
"""Bytes of a signed body: a pressed button is sent with its whole message, which may be a long answer."""


def get_max_body(entry: AddressRule | None, who: Visitor | None) -> int | None:
    """Return the largest body of a request in bytes; None if the route limits it itself."""
    # First: Slack is not signed in, and would get the small limit of a stranger.
    if entry is not None and entry.path == SIGNED_PATH:
        return MAX_SIGNED_BYTES
    if who is None or entry is None:
        return MAX_ANONYMOUS_BYTES
    if entry.path == FILE_PATH:
        return MAX_FILE_BYTES
    return None if entry.bounded else MAX_JSON_BYTES
