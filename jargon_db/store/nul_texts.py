"""U+0000 in texts, of which PostgreSQL keeps none: there they stand escaped, and come back as they were given.

The escape is U+FDD0, which Unicode keeps free for the use of programs; where a text has it, it is escaped as well.
"""

from __future__ import annotations

_ESCAPE = "\ufdd0"
_NUL, _ITSELF = f"{_ESCAPE}0", f"{_ESCAPE}1"


def escape(text: str) -> str:
    """The text as PostgreSQL takes it."""
    if _ESCAPE not in text and "\0" not in text:
        return text
    return text.replace(_ESCAPE, _ITSELF).replace("\0", _NUL)


def unescape(text: str) -> str:
    """The text as it was given."""
    return text if _ESCAPE not in text else text.replace(_NUL, "\0").replace(_ITSELF, _ESCAPE)
