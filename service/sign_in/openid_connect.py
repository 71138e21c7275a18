"""The OpenID Connect provider: its description, its addresses for people, and its statements about them.

Authorization code with PKCE (RFC 7636), as a client with a secret. An ID token counts only if all of this holds (OpenID
Connect Core, 3.1.3.7): signed by a key the provider publishes now and by an algorithm of `ALGORITHMS`, of this issuer,
for this client, not expired, made just now, with the nonce of this sign-in.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

import httpx

from argot.errors import ArgotError, MissingExtra, NotAllowed
from argot.settings import Settings
from argot.shown_addresses import hide_secrets

if TYPE_CHECKING:
    from joserfc.jwk import KeySet

DISCOVERY = "/.well-known/openid-configuration"
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
"""Only with a public key: with the others, a person who knows only published data, or anybody, could sign."""
SKEW_SECONDS = 180
"""Maximum difference of the two clocks."""
BACKDATED_SECONDS = 300
"""Entra dates a token earlier by this much."""
KEPT_SECONDS = 3600.0
"""The provider's description is fetched again after this time; an unknown key triggers that at once."""
SECONDS = 10.0
"""The longest wait for an answer."""
DOWN_SECONDS = 5.0
"""How long a provider that did not answer is considered down."""
MAX_BYTES = 4_000_000
"""Maximum bytes of one answer: a token with 5,000 groups has some 300,000."""
OFFLINE = "offline_access"
"""The scope that requests a token for refreshing groups while the person is away."""
WANTED_SCOPES = ("openid", "profile", "email", OFFLINE)
_REQUIRED = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")

Claims = Mapping[str, Any]


class ProviderUnreachable(ArgotError):
    """The provider does not answer, or not correctly: it may do so later."""


class ProviderRefusal(NotAllowed):
    """Refusal: the provider's answer does not prove a person's identity, or it no longer confirms them."""


class UnprovenToken(ProviderRefusal):
    """Its token is invalid: possibly because a clock is wrong, so that it is no evidence against the person."""


@dataclass(frozen=True, slots=True)
class ProviderStatement:
    """Statement of the provider on somebody. `refresh_token` None: it issued none."""

    claims: Claims
    refresh_token: str | None
    id_token: str


class OpenIdProvider:
    """One for a service: it caches the provider's description for an hour."""

    def __init__(self, settings: Settings) -> None:
        self.issuer = settings.oidc.issuer
        self._shown = hide_secrets(self.issuer)
        self.client_id = settings.oidc.client_id
        self._secret = settings.oidc.client_secret.get_secret_value()
        self._scopes = settings.oidc.scopes.split()
        self._prompt = settings.oidc.prompt
        self._groups_claim = settings.oidc.groups_claim
        self._published: tuple[float, dict[str, Any]] | None = None
        self._keys: tuple[float, KeySet] | None = None
        self._down_until = 0.0
        self._asking = asyncio.Lock()

    async def fetch_description(self) -> dict[str, Any]:
        """Return the provider's description of itself (OpenID Connect Discovery, 4).

        Raises:
            ProviderUnreachable: it does not answer, or is another one.
        """
        if self._published is not None and time.monotonic() - self._published[0] <= KEPT_SECONDS:
            return self._published[1]
        # One requests, the others wait for its answer.
        async with self._asking:
            if self._published is None or time.monotonic() - self._published[0] > KEPT_SECONDS:
                self._published = (time.monotonic(), await self._fetch_description_now())
            return self._published[1]

    async def _fetch_description_now(self) -> dict[str, Any]:
        found = await self._fetch_published(self.issuer.rstrip("/") + DISCOVERY)
        if missing := [name for name in _REQUIRED if not isinstance(found.get(name), str)]:
            raise ProviderUnreachable(f"The provider {self._shown} does not publish its {missing[0]}.")
        if found["issuer"].rstrip("/") != self.issuer.rstrip("/"):
            raise ProviderUnreachable(f"{self._shown} calls itself {found['issuer']:.200}: set 'oidc_issuer' to that.")
        for name in _REQUIRED[1:]:
            _require_encrypted(found[name], self.issuer)
        return found

    async def _fetch_published(self, url: str) -> dict[str, Any]:
        """Fetch one of the documents that the provider publishes; only for a caller that holds `_asking`."""
        # While it is down, not every visitor of the page has to wait for it.
        if time.monotonic() < self._down_until:
            raise ProviderUnreachable(f"The provider {self._shown} does not answer.")
        try:
            return await request_json("GET", url)
        except (ProviderRefusal, ProviderUnreachable):
            # From now, not from the beginning: those who have waited for this answer must not each wait as long.
            self._down_until = time.monotonic() + DOWN_SECONDS
            raise

    async def make_sign_in_address(self, back: str, *, state: str, nonce: str, verifier: str) -> str:
        """Return the address where a person signs in; from there they return to `back`, with the state."""
        from authlib.oauth2.rfc7636 import create_s256_code_challenge

        found = await self.fetch_description()
        asked = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": back,
            "scope": " ".join(self._list_scopes(found)),
            "state": state,
            "nonce": nonce,
            "code_challenge": create_s256_code_challenge(verifier),
            "code_challenge_method": "S256",
            **({"prompt": self._prompt} if self._prompt else {}),
        }
        return _add_query(found["authorization_endpoint"], asked)

    async def withholds_refresh(self, told: ProviderStatement) -> bool:
        """Tell whether the provider issued no refresh token although `offline_access` asked for one."""
        return told.refresh_token is None and OFFLINE in self._list_scopes(await self.fetch_description())

    def _list_scopes(self, found: Mapping[str, Any]) -> Sequence[str]:
        offered = found.get("scopes_supported")
        # Google refuses unknown scopes; a provider that lists none gets the common ones.
        known = offered if isinstance(offered, list) else WANTED_SCOPES[:3]
        return self._scopes or [one for one in WANTED_SCOPES if one in known]

    async def exit(self, back: str, id_token: str | None) -> str | None:
        """Return the address where a person signs out at the provider; None: it has none (RP-Initiated Logout, 2)."""
        where = (await self.fetch_description()).get("end_session_endpoint")
        if not isinstance(where, str):
            return None
        asked = {"client_id": self.client_id, "post_logout_redirect_uri": back}
        # With thousands of groups a token is longer than an address may be.
        if id_token and len(id_token) < 4000:
            asked["id_token_hint"] = id_token
        return _add_query(where, asked)

    async def ask_about_code(self, code: str, back: str, *, nonce: str, verifier: str) -> ProviderStatement:
        """Ask the provider for its statement on the person who arrives with this code.

        Raises:
            ProviderRefusal: it does not accept the code, or its answer proves nothing.
            ProviderUnreachable
        """
        answer = await self._request_token(
            {"grant_type": "authorization_code", "code": code, "redirect_uri": back, "code_verifier": verifier}
        )
        if not isinstance(answer.get("id_token"), str):
            raise ProviderRefusal("The provider did not say who you are. Is 'openid' among 'oidc_scopes'?")
        claims = await self._prove_claims(answer, nonce=nonce)
        return await self._make_statement(answer, claims)

    async def ask_again(self, refresh_token: str, subject: str) -> ProviderStatement:
        """Ask the provider for its present statement on somebody.

        Raises:
            ProviderRefusal: it no longer confirms them.
            ProviderUnreachable
        """
        answer = await self._request_token({"grant_type": "refresh_token", "refresh_token": refresh_token})
        claims: Claims = {}
        if isinstance(answer.get("id_token"), str):
            try:
                claims = await self._prove_claims(answer)
            except UnprovenToken as error:
                raise ProviderUnreachable(str(error)) from error
            _require_subject(claims, subject)
        # A provider need not rotate the token, nor repeat an unchanged one.
        return await self._make_statement({"refresh_token": refresh_token, **answer}, claims, subject)

    async def _make_statement(self, answer: Mapping[str, Any], claims: Claims, subject: str = "") -> ProviderStatement:
        """Build the statement; the userinfo endpoint adds its own data, if the groups are not in the token."""
        where = (await self.fetch_description()).get("userinfo_endpoint")
        if self._groups_claim not in claims and isinstance(where, str) and isinstance(answer.get("access_token"), str):
            _require_encrypted(where, self.issuer)
            bearer = {"Authorization": f"Bearer {answer['access_token']}"}
            more = await request_json("GET", where, headers=bearer)
            # Core, 5.3.2: the answer may be another person's, through a swapped token.
            _require_subject(more, str(claims.get("sub") or subject))
            claims = {**more, **claims}
            # It knows them, but if no token lists groups, they may be somewhere else.
            if "id_token" not in answer and self._groups_claim not in claims:
                raise ProviderUnreachable(f"The provider's userinfo says nothing of '{self._groups_claim}'.")
        if not claims:
            raise ProviderUnreachable("The provider's answer says nothing of the person: no ID token, no userinfo.")
        token = answer.get("refresh_token")
        return ProviderStatement(claims, token if isinstance(token, str) else None, str(answer.get("id_token") or ""))

    # -- the ID token --------------------------------------------------------------------------------------------------

    async def _prove_claims(self, answer: Mapping[str, Any], nonce: str | None = None) -> Claims:
        """Return the claims of the ID token, if it is valid.

        Raises:
            UnprovenToken, ProviderUnreachable
        """
        from authlib.oidc.core import CodeIDToken
        from joserfc.errors import ExpiredTokenError, InvalidTokenError, JoseError

        try:
            token = await self.verify_signature(str(answer["id_token"]))
            issuer = (await self.fetch_description())["issuer"]
            claims = CodeIDToken(
                token.claims,
                token.header,
                {"iss": {"essential": True, "value": issuer}, "aud": {"essential": True, "value": self.client_id}},
                {"nonce": nonce, "client_id": self.client_id, "access_token": answer.get("access_token")},
            )
            claims.validate(leeway=SKEW_SECONDS)
            # Core, 2: at most 255 characters.
            if not isinstance(claims["sub"], str) or not 0 < len(claims["sub"]) <= 255:
                raise UnprovenToken("The provider's token names nobody ('sub').")
        except (ExpiredTokenError, InvalidTokenError) as error:
            raise UnprovenToken(CLOCKS) from error
        # ValueError, TypeError: claims of other types than in the specification.
        except (JoseError, ValueError, TypeError) as error:
            raise UnprovenToken(
                f"The provider's token is not valid ({describe_reason(error)}). Sign in again."
            ) from error
        if nonce is not None and time.time() - claims["iat"] > SKEW_SECONDS + BACKDATED_SECONDS:
            raise UnprovenToken(CLOCKS)
        return dict(claims)

    async def verify_signature(self, text: str, retry_seconds: float = 0.0) -> Any:
        """Return header and claims of a token (a `joserfc.jwt.Token`) that a key of the provider has signed.

        Args:
            retry_seconds: keys that fit no token are fetched again, but not more often than this.

        Raises:
            JoseError, ValueError, TypeError: it is not signed so, or is no token at all.
            ProviderUnreachable
        """
        from joserfc import jwt
        from joserfc.errors import BadSignatureError, InvalidKeyIdError

        try:
            return jwt.decode(text, await self._load_key_set(KEPT_SECONDS), algorithms=ALGORITHMS)
        except (BadSignatureError, InvalidKeyIdError):
            # The keys may have changed since they were fetched; a second failure is final.
            return jwt.decode(text, await self._load_key_set(retry_seconds), algorithms=ALGORITHMS)

    async def require_keys(self) -> None:
        """Check that the provider's keys can be loaded.

        Raises:
            ProviderUnreachable: it does not answer, or publishes no usable key.
        """
        await self._load_key_set(KEPT_SECONDS)

    async def _load_key_set(self, kept_seconds: float) -> KeySet:
        oldest = time.monotonic() - kept_seconds
        # Checked before waiting, too: a token with a new key must not delay those whose keys are known.
        if self._keys is not None and self._keys[0] >= oldest:
            return self._keys[1]
        where = (await self.fetch_description())["jwks_uri"]
        async with self._asking:
            # Another token may have had them fetched while this one waited.
            if self._keys is None or self._keys[0] < oldest:
                self._keys = (time.monotonic(), _read_key_set(await self._fetch_published(where), where))
            return self._keys[1]

    # -- asking --------------------------------------------------------------------------------------------------------

    async def _request_token(self, given: dict[str, str]) -> dict[str, Any]:
        """Return the answer of the token endpoint.

        Raises:
            ProviderRefusal: `invalid_grant`: the code or token is invalid, used up, or its owner is blocked.
            ProviderUnreachable
        """
        found = await self.fetch_description()
        ways = found.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        if "client_secret_basic" in ways:
            # RFC 6749, 2.3.1: each is form-encoded before the two are joined.
            basic = httpx.BasicAuth(quote(self.client_id, ""), quote(self._secret, ""))
            return await request_json("POST", found["token_endpoint"], auth=basic, data=given)
        posted = {**given, "client_id": self.client_id, "client_secret": self._secret}
        return await request_json("POST", found["token_endpoint"], data=posted)


CLOCKS = (
    "The provider's token has ended already, or is not valid yet. Sign in again; if that does not help, the clock of"
    " this machine or the provider's is wrong by minutes."
)


def _read_key_set(published: Mapping[str, Any], where: str) -> KeySet:
    from joserfc.errors import JoseError
    from joserfc.jwk import KeySet, import_key

    given = published.get("keys")
    keys = []
    for one in given if isinstance(given, list) else []:
        # A secret (`oct`) is no key to check signatures with; unknown kinds may be present as well.
        if isinstance(one, dict) and one.get("kty") in ("RSA", "EC") and one.get("use", "sig") == "sig":
            try:
                keys.append(import_key(one))
            except (JoseError, ValueError, TypeError, KeyError):
                continue
    if not keys:
        raise ProviderUnreachable(f"The provider publishes no key at {where:.200} to check signatures with.")
    return KeySet(keys)


async def request_json(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    data: dict[str, str] | None = None,
    auth: httpx.Auth | None = None,
) -> dict[str, Any]:
    """Return the JSON object at this address; no redirect is followed."""
    where = f"{urlsplit(url).scheme}://{urlsplit(url).netloc.rpartition('@')[2]}"
    try:
        async with (
            httpx.AsyncClient(timeout=SECONDS, verify=_make_tls_context()) as client,
            client.stream(
                method, url, headers={"Accept": "application/json", **(headers or {})}, data=data, auth=auth
            ) as got,
        ):
            body = bytearray()
            async for piece in got.aiter_bytes():
                body += piece
                if len(body) > MAX_BYTES:
                    raise ProviderUnreachable(f"The provider's answer is too long ({where}).")
            answer = _parse_object(bytes(body))
    # InvalidURL is no HTTPError.
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ProviderUnreachable(f"The provider at {where} does not answer ({type(error).__name__}).") from error
    if answer is not None and answer.get("error") == "invalid_grant":
        raise ProviderRefusal("The provider no longer accepts this sign-in. Sign in again.")
    if answer is None or got.status_code != httpx.codes.OK:
        code = f", {answer['error']:.60}" if answer and isinstance(answer.get("error"), str) else ""
        raise ProviderUnreachable(f"The provider at {where} answers with status {got.status_code}{code}.")
    return answer


def require_extra() -> None:
    """
    Raises:
        MissingExtra: authlib is not installed.
    """
    try:
        import authlib.oidc.core  # noqa: F401
    except ImportError as error:
        raise MissingExtra("Signing in at a provider (OpenID Connect)", "sso") from error


def _add_query(url: str, query: Mapping[str, str]) -> str:
    return f"{url}{'&' if urlsplit(url).query else '?'}{urlencode(query)}"


def _require_encrypted(url: str, issuer: str) -> None:
    if urlsplit(url).scheme != "https" and urlsplit(issuer).scheme == "https":
        raise ProviderUnreachable(f"The provider names an address without https: {hide_secrets(url):.200}")


def _require_subject(claims: Claims, subject: str) -> None:
    if claims.get("sub") != subject:
        raise ProviderRefusal("The provider's answer is about somebody else.")


@cache
def _make_tls_context() -> ssl.SSLContext:
    # Made once: reading the certificates takes some 50 ms of processor.
    return httpx.create_ssl_context()


def _parse_object(body: bytes) -> dict[str, Any] | None:
    import json

    try:
        found = json.loads(body)
    # RecursionError: lists within lists.
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def describe_reason(error: Exception) -> str:
    """Shorten the reason of an error, without any part of the token."""
    claim = getattr(error, "claim", None)
    return f"{type(error).__name__}{f': {claim}' if claim else ''}"
