"""U+0000 in texts, which PostgreSQL cannot store: it is stored escaped there, and restored on reading.

The escape is U+FDD0, which Unicode reserves for programs; if a text contains it, it is escaped as well.
"""

from __future__ import annotations

_ESCAPE = "\ufdd0"
_NUL, _ITSELF = f"{_ESCAPE}0", f"{_ESCAPE}1"


def escape(text: str) -> str:
    """Return the text in a form that PostgreSQL accepts."""
    if _ESCAPE not in text and "\0" not in text:
        return text
    return text.replace(_ESCAPE, _ITSELF).replace("\0", _NUL)


def unescape(text: str) -> str:
    """Return the original text."""
    return text if _ESCAPE not in text else text.replace(_NUL, "\0").replace(_ITSELF, _ESCAPE)
