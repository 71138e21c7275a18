"""Signed tokens with which a page of another site says who is using it (JWT, RFC 7519).

A token counts only if all of this holds: signed by the key of the settings and an algorithm of `ALGORITHMS`, of this
issuer, for this Argot and nobody else, valid for at most `MAX_TOKEN_SECONDS`, made while the service was running, and
with an id that was not used before. Groups in it are not read: rights come from the account here.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

from argot.errors import InvalidSettings, MissingExtra, NotAllowed
from argot.service.sign_in.openid_connect import DOWN_SECONDS, ProviderUnreachable, request_json
from argot.settings import Settings, hide_setting
from argot.shown_addresses import PEM_BEGINNING

if TYPE_CHECKING:
    from joserfc.jwk import ECKey, KeySet, OKPKey, RSAKey

    PublicKeys: TypeAlias = ECKey | KeySet | OKPKey | RSAKey

ALGORITHMS = ("RS256", "ES256", "EdDSA", "Ed25519")
"""Only with a public key, which can check a signature and make none. Ed25519 is the newer name of EdDSA (RFC 9864)."""
MAX_TOKEN_SECONDS = 300
"""The longest time for which a token may be valid."""
SKEW_SECONDS = 60
"""Maximum difference of the two clocks."""
MAX_TOKEN_CHARS = 8000
MAX_CLAIM_CHARS = 255
KEPT_SECONDS = 3600.0
"""The keys are read again after this time."""
RETRY_SECONDS = 30.0
"""Keys that fit no token are read again at once, but not more often than this: anybody can send a wrong token."""
_KEY_TYPES = ("RSA", "EC", "OKP")
_CLAIMS = ("iss", "aud", "sub", "jti", "iat", "exp")


class TokenRefusal(NotAllowed):
    """Refusal: a token proves nothing. The message says why, without any part of the token."""


class PageTokens:
    """The check of tokens. One for a service: it keeps the keys.

    Args:
        settings: name the key, the issuer and the audience.
        clock: seconds since 1970.
    """

    def __init__(self, settings: Settings, clock: Any = time.time) -> None:
        self._embed = settings.embed
        self._clock = clock
        self._keys: tuple[float, PublicKeys] | None = None
        self._down_until = 0.0
        self._loading = asyncio.Lock()

    async def read_claims(self, text: str) -> Mapping[str, Any]:
        """Return the claims of a valid token.

        Raises:
            TokenRefusal: it is not valid.
            ProviderUnreachable: the keys cannot be fetched.
        """
        from joserfc.errors import JoseError

        try:
            claims: Mapping[str, Any] = (await self._decode(text)).claims
            self._require_claims(claims)
        # ValueError, TypeError: claims or headers of other types than in the specification.
        except (JoseError, ValueError, TypeError, KeyError) as error:
            claim = getattr(error, "claim", None)
            raise TokenRefusal(f"{type(error).__name__}{f': {claim}' if claim else ''}") from error
        return claims

    async def require_keys(self) -> None:
        """Read the keys, as the first token does.

        Raises:
            InvalidSettings: the file or address holds no public key.
            ProviderUnreachable: the keys cannot be fetched.
        """
        await self._load_keys(KEPT_SECONDS)

    def _require_claims(self, claims: Mapping[str, Any]) -> None:
        from joserfc.jwt import JWTClaimsRegistry

        embed, now = self._embed, self._clock()
        required: dict[str, Any] = {name: {"essential": True} for name in _CLAIMS}
        required["iss"]["value"] = embed.token_issuer
        registry = JWTClaimsRegistry(now=int(now), leeway=SKEW_SECONDS, **required)
        registry.validate(dict(claims))
        # One for several services could be used here by each of the others.
        if claims["aud"] not in (embed.token_audience, [embed.token_audience]):
            raise TokenRefusal("'aud' names another service, or one more")
        for name in ("sub", "jti"):
            if not isinstance(claims[name], str) or not 0 < len(claims[name]) <= MAX_CLAIM_CHARS:
                raise TokenRefusal(f"'{name}' is no text of at most {MAX_CLAIM_CHARS} characters")
        begin, end = claims["iat"], claims["exp"]
        if not all(isinstance(one, int | float) and not isinstance(one, bool) for one in (begin, end)):
            raise TokenRefusal("'iat' or 'exp' is no number of seconds")
        if end - begin > MAX_TOKEN_SECONDS:
            raise TokenRefusal(f"it is valid for more than {MAX_TOKEN_SECONDS} seconds")

    async def _decode(self, text: str) -> Any:
        from joserfc import jwt
        from joserfc.errors import BadSignatureError, InvalidKeyIdError

        try:
            return jwt.decode(text, await self._load_keys(KEPT_SECONDS), algorithms=ALGORITHMS)
        except (BadSignatureError, InvalidKeyIdError):
            # The keys may have changed since they were read; a second failure is final.
            return jwt.decode(text, await self._load_keys(RETRY_SECONDS), algorithms=ALGORITHMS)

    async def _load_keys(self, kept_seconds: float) -> PublicKeys:
        # One loads them, the others wait.
        async with self._loading:
            if self._keys is None or time.monotonic() - self._keys[0] > kept_seconds:
                self._keys = (time.monotonic(), await self._load_keys_now())
            return self._keys[1]

    async def _load_keys_now(self) -> PublicKeys:
        place = self._embed.token_key
        if urlsplit(place).scheme not in ("https", "http"):
            return load_key_file(place)
        # While they cannot be fetched, not every token, which anybody can send, makes another attempt.
        if time.monotonic() < self._down_until:
            raise ProviderUnreachable("the keys cannot be fetched ('embed_token_key')")
        self._down_until = time.monotonic() + DOWN_SECONDS
        found = parse_keys(json.dumps(await request_json("GET", place)).encode(), place)
        self._down_until = 0.0
        return found


def load_key_file(place: str) -> PublicKeys:
    """Load the public keys of a file, or of the text of one in PEM, as containers get it.

    Raises:
        InvalidSettings: it cannot be read, or holds no public key.
    """
    if place.lstrip().startswith(PEM_BEGINNING):
        return parse_keys(place.encode(), place)
    try:
        data = Path(place).expanduser().read_bytes()
    except OSError as error:
        raise InvalidSettings(
            f"Setting 'embed_token_key' cannot be '{hide_setting('embed_token_key', place)}':"
            f" {error.strerror or type(error).__name__}. Name a file with a public key (PEM or JWKS), or the https"
            " address of a JWKS."
        ) from error
    return parse_keys(data, place)


def parse_keys(data: bytes, place: str) -> PublicKeys:
    """Parse public keys: one in PEM, or those of a JWKS.

    Raises:
        InvalidSettings: there is none, or a private one, which must stay where tokens are signed.
    """
    from joserfc.errors import JoseError
    from joserfc.jwk import ECKey, KeySet, OKPKey, RSAKey, import_key

    shown = hide_setting("embed_token_key", place)
    found: list[Any] = []
    if data.lstrip().startswith(b"{"):
        for one in _list_json_keys(data):
            try:
                found.append(import_key(one))
            except (JoseError, ValueError, TypeError, KeyError):
                continue
    else:
        for kind in (RSAKey, ECKey, OKPKey):
            try:
                found.append(kind.import_key(data))
            except (JoseError, ValueError, TypeError):
                continue
    if any(one.is_private for one in found):
        raise InvalidSettings(
            f"Setting 'embed_token_key' cannot be '{shown}': it holds a private key. Give Argot the public one; the"
            " private one stays where the tokens are signed."
        )
    if not found:
        raise InvalidSettings(
            f"Setting 'embed_token_key' cannot be '{shown}': it holds no public key for RS256, ES256 or EdDSA. Write"
            " one with: openssl pkey -in private.pem -pubout -out public.pem"
        )
    # A key of a PEM file has no id, so it is tried whatever id a token names.
    return KeySet(found) if data.lstrip().startswith(b"{") else found[0]


def _list_json_keys(data: bytes) -> list[dict[str, Any]]:
    try:
        parsed = json.loads(data)
    except (ValueError, RecursionError):
        return []
    listed = parsed.get("keys", [parsed])
    # A secret (`oct`) is no key to check signatures with.
    return [
        one
        for one in (listed if isinstance(listed, list) else [])
        if isinstance(one, dict) and one.get("kty") in _KEY_TYPES and one.get("use", "sig") == "sig"
    ]


def require_joserfc() -> None:
    """
    Raises:
        MissingExtra: joserfc is not installed.
    """
    try:
        import joserfc  # noqa: F401
    except ImportError as error:
        raise MissingExtra("Signing in by the token of a page", "sso") from error
