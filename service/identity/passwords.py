"""Passwords: their requirements and their storage.

They are stored as argon2id hashes with the parameters of RFC 9106 (its second choice: 64 MiB, three passes), the
package's defaults. Length decides, not the mixture of characters (NIST SP 800-63B, 3.1.1.2).
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING

from argot.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from argon2 import PasswordHasher

SHORTEST = 10
LONGEST = 1024
"""Characters. Longer ones are refused before they are hashed."""
FEWEST_DIFFERENT = 5
_WELL_WORN = ("password", "passw0rd", "qwertyuiop", "1234567890", "letmein", "iloveyou", "changeme", "argot")
"""Prefixes that attackers try first. The rest must be a valid password by itself."""


def require_password(name: str, password: str) -> None:
    """Refuse a password that would be guessed.

    Raises:
        InvalidInput: it is too short, too long, too uniform, or made of the name. The password is never repeated.
    """
    plain = _normalize_password(password)
    if not SHORTEST <= len(plain) <= LONGEST:
        raise InvalidInput(
            f"A password must have {SHORTEST} to {LONGEST} characters. Four unusual words make a good one."
        )
    # The name counts among what is tried first.
    worn = next((one for one in (*_WELL_WORN, name.casefold()) if plain.casefold().startswith(one)), "")
    if len(set(plain)) < FEWEST_DIFFERENT or len(plain) - len(worn) < min(SHORTEST, FEWEST_DIFFERENT):
        raise InvalidInput("That password is easy to guess. Four unusual words make a good one.")


def hash_password(password: str) -> str:
    """Return the string that is stored for a password: algorithm, parameters, salt and hash.

    Raises:
        MissingExtra: argon2-cffi is not installed.
    """
    return _make_hasher().hash(_normalize_password(password))


def verify_password(kept: str | None, password: str) -> bool:
    """Return whether the password matches the stored hash. Without a hash, a refusal takes as long.

    It takes some 0.1 s of processor and 64 MiB: call it in a worker thread, and only a few at a time.
    """
    from argon2.exceptions import InvalidHashError, VerificationError

    # Hashing takes longer the longer the text is, and a caller must not choose how long. It still takes as long as a
    # wrong one.
    if len(password) > LONGEST:
        kept, password = None, ""
    try:
        # Without a stored hash a dummy is compared, so that the time does not reveal who has a password.
        return (
            _make_hasher().verify(kept or _hash_nobodys_password(), _normalize_password(password)) and kept is not None
        )
    except (VerificationError, InvalidHashError):
        return False


def is_outdated(kept: str) -> bool:
    """Return whether the password was hashed with outdated parameters."""
    return _make_hasher().check_needs_rehash(kept)


def _normalize_password(password: str) -> str:
    # Keyboards differ in how they compose a character. A lone surrogate, which no keyboard types, becomes `?`.
    return unicodedata.normalize("NFKC", password).encode("utf-8", "replace").decode("utf-8")


@cache
def _make_hasher() -> PasswordHasher:
    try:
        from argon2 import PasswordHasher
    except ImportError as error:
        raise MissingExtra("Signing in with a password", "chat") from error
    return PasswordHasher()


@cache
def _hash_nobodys_password() -> str:
    # Dummy hash for people without one, so that the response time does not reveal who has a password.
    return _make_hasher().hash("nobody's password")
