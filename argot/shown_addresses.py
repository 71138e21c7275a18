"""Addresses as they may be shown, printed, logged or recorded: without the passwords and tokens in them."""

from __future__ import annotations

import re

STARS = "***"
PEM_BEGINNING = "-----BEGIN "
_PEM_CHARS = 30
"""Characters of a key in PEM that are shown: they name its kind."""
_SIGN_IN = re.compile(r"(?<=//).*@|^(?!\w+://).*@", re.DOTALL)
"""The user and password of an address; one that is wrong may have an @ or a slash in its password."""
_MORE = re.compile(r"[?#].*", re.DOTALL)
"""The query and fragment of an address."""


def hide_secrets(address: str) -> str:
    """Return an address with stars in place of what may be secret: its user and password, query and fragment, in
    which servers take tokens.
    """
    return _MORE.sub(f"?{STARS}", _SIGN_IN.sub(f"{STARS}@", address))


def shorten_key(key: str) -> str:
    """Return the beginning of a key in PEM, which may be the private one by mistake."""
    return f"{key.strip():.{_PEM_CHARS}} ..."
