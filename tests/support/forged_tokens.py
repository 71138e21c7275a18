"""Tokens that no honest library makes: without a signature, or signed with a public key as if it were a secret."""

import base64
import hmac
import json
from typing import Any

from joserfc.jwk import RSAKey


def encode_part(what: bytes) -> str:
    return base64.urlsafe_b64encode(what).rstrip(b"=").decode()


def make_unsigned_token(claims: dict[str, Any], alg: str = "none", **header: Any) -> str:
    return ".".join(encode_part(json.dumps(one).encode()) for one in ({"alg": alg, **header}, claims)) + "."


def sign_with_public_key(claims: dict[str, Any], key: RSAKey) -> str:
    """Sign by hand with the public key, because libraries refuse to."""
    named = {"kid": key.kid} if key.kid else {}
    told = make_unsigned_token(claims, "HS256", **named).rstrip(".")
    return f"{told}.{encode_part(hmac.digest(key.as_pem(private=False), told.encode(), 'sha256'))}"
