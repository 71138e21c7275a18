"""Secrets that we give out: random, and kept as a hash, so that whoever reads people.db can use none of them."""

from __future__ import annotations

import hashlib
import secrets


def make_token() -> str:
    """256 random bits, 43 characters fit for a URL."""
    return secrets.token_urlsafe(32)


def hash_token(token: str) -> bytes:
    """The hash under which a token is kept, 32 bytes."""
    # With 256 random bits nothing can be guessed, so neither a salt nor a slow function is needed.
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
