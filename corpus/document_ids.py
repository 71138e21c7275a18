"""Ids that depend only on the thing they identify, so that adding twice changes nothing.

Each is blake2b, 16 hexadecimal digits after a letter: `d` document, `r` revision, `p` passage.
"""

from __future__ import annotations

from hashlib import blake2b

# Enough against accidental collisions among millions of passages; `content_hash` protects against forging.
_DIGEST_BYTES = 8


def build_document_id(uri: str, taken: int = 0) -> str:
    """Build the id; `taken`: how many ids of this URI belong to other documents, which were renamed and kept theirs."""
    return _build_id("d", uri, str(taken)) if taken else _build_id("d", uri)


def build_revision_id(document: str, content: str) -> str:
    """`content` is the `content_hash` of the original bytes."""
    return _build_id("r", document, content)


def build_passage_id(revision: str, start: int, end: int) -> str:
    return _build_id("p", revision, str(start), str(end))


def hash_content(data: bytes) -> str:
    """Return 64 hexadecimal digits, which also name the stored original and are therefore long enough against
    forging.
    """
    return blake2b(data, digest_size=32).hexdigest()


def _build_id(prefix: str, *parts: str) -> str:
    # Lengths are part of the hashed data, so that ("ab", "c") and ("a", "bc") differ.
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    # A file name that is no valid UTF-8 arrives with surrogates, and its document needs an id as well.
    return prefix + blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).hexdigest()
