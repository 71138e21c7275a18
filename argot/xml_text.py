"""Text for XML: without the characters that XML cannot contain, and escaped."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def drop_forbidden_characters(text: str) -> str:
    """Return the text without the characters that XML 1.0 cannot contain, not even escaped."""
    return _FORBIDDEN.sub("", text)


def escape_xml(text: str) -> str:
    """Return the text as the content of an element."""
    # XML readers turn a plain carriage return into a line feed.
    return escape(drop_forbidden_characters(text), {"\r": "&#13;"})
