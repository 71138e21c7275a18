"""Addresses as they may be shown, printed, logged or recorded: without the passwords and tokens in them."""

from __future__ import annotations

import re

STARS = "***"
PEM_BEGINNING = "-----BEGIN "
HIDDEN_KEY = f"a key ({STARS})"
"""Shown in place of a key."""
_PEM_CHARS = 30
"""Characters of a key in PEM that are shown: they name its kind."""
_SCHEME = re.compile(r"\s*(?:\w[\w+.-]*:)?//")
_MORE = re.compile(r"[?#;].*", re.DOTALL)
"""The parameters of a path, the query and the fragment of an address."""
_FILE_NAME = re.compile(r"[/~.][^\n{}]*|[^\n{}]*\.\w{1,6}|[A-Za-z]:[\\/][^\n{}]*")
"""The path of a file: absolute, or with a suffix. A key in base64 has neither."""


def hide_secrets(address: str) -> str:
    """Return an address with stars in place of what may be secret: its user and password; and parameters, query and
    fragment, in which servers take tokens. Of one with an @ behind those only the scheme is left: nobody can tell
    whether they belong to a password.
    """
    found = _SCHEME.match(address)
    scheme = found.group() if found else ""
    # A password that is not encoded may have an @ or a slash.
    sign_in, at, place = address[len(scheme) :].rpartition("@")
    if _MORE.search(sign_in):
        return f"{scheme}{STARS}"
    return scheme + (f"{STARS}@" if at else "") + _MORE.sub(f"?{STARS}", place)


def hide_key(value: str) -> str:
    """Return where a key is, or the kind of one in PEM. Any other text may be a private key by mistake, as JSON or
    base64, and is not shown.
    """
    if PEM_BEGINNING in value:
        return shorten_key(value[value.index(PEM_BEGINNING) :])
    if _SCHEME.match(value):
        return hide_secrets(value)
    return value if _FILE_NAME.fullmatch(value) else HIDDEN_KEY


def shorten_key(key: str) -> str:
    """Return the beginning of a key in PEM, which may be the private one by mistake."""
    return f"{key.strip():.{_PEM_CHARS}} ..."
