"""Secrets that Argot issues: random, and stored as a hash, so that a reader of people.db can use none of them."""

from __future__ import annotations

import hashlib
import secrets


def make_token() -> str:
    """Return 256 random bits, as 43 characters suitable for a URL."""
    return secrets.token_urlsafe(32)


def hash_token(token: str) -> bytes:
    """Return the hash under which a token is stored, 32 bytes."""
    # 256 random bits cannot be guessed, so neither a salt nor a slow function is needed.
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
