"""Access tokens with which a person's assistant comes to `/mcp`: Argot as a resource server of OAuth 2.1, as the
authorization of the Model Context Protocol has it.

The provider's signed tokens (JWT) are accepted, if all of this holds (RFC 9068, section 4; RFC 8725): signed by a key
that the provider publishes now and by an algorithm of `ALGORITHMS`, of this issuer, for this Argot, not expired, and
made as an access token. Who may come in, and with which groups, is decided as at a sign-in at the provider.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from cachetools import LRUCache

from argot.clock import format_utc
from argot.errors import NotAllowed
from argot.service.audit.audit_events import DONE, Outcome
from argot.service.identity.people import SUSPENDED, User
from argot.service.identity.provider_links import ProviderLink
from argot.service.observability.instrumentation import credential
from argot.service.sign_in.openid_connect import (
    SKEW_SECONDS,
    Claims,
    OpenIdProvider,
    ProviderRefusal,
    ProviderUnreachable,
    describe_reason,
)
from argot.service.sign_in.provider_accounts import confirm_account, find_account
from argot.service.sign_in.provider_claims import read_name

if TYPE_CHECKING:
    from argot.service.knowledge_base import KnowledgeBase
    from argot.settings import Settings

logger = logging.getLogger(__name__)

MCP_PATH = "/mcp"
METADATA_PATH = "/.well-known/oauth-protected-resource"
"""The address of the metadata of a protected resource (RFC 9728, section 3)."""
ACCESS_TOKEN = "access_token"  # noqa: S105  the name of an operation
RETRY_SECONDS = 30.0
"""Keys that fit no token are fetched again, but not more often than this: anybody can send a wrong token."""
MAX_SUBJECT_CHARS = 255
MAX_PROGRAM_CHARS = 100
MAX_SEEN_TOKENS = 10_000
"""Tokens of which the first use is known; those used longest ago are forgotten, and recorded again."""

_JWT_DOTS = 2
"""In a signed JWT (RFC 7515, section 7.1). An encrypted one has four, and one that only the provider can read any."""
_TOKEN_TYPES = ("", "jwt", "at+jwt")
_OTHER_PURPOSES = ("nonce", "at_hash", "c_hash", "events", "cnf")
"""Claims of tokens that are no access tokens (ID tokens, sign-outs), or that are of no use without another proof."""

INVALID = "This access token is not valid here ({}). Sign in again in your assistant (docs/api.md)."
OPAQUE = (
    "This access token is no signed JWT, so that Argot cannot check it. An administrator has to let the provider issue"
    " JWT access tokens for {} (docs/administrators.md)."
)
NAMELESS = (
    "The provider's access token does not have your name ('{}'). Sign in once in Argot's chat window, which learns it"
    " from the ID token, or ask an administrator to add it to access tokens (docs/administrators.md)."
)
LAPSED = "Your organisation's provider no longer confirms who you are. Sign in again in your assistant."
UNCHECKED = "Your organisation's provider does not answer, so that the access token cannot be checked. Try again later."


class AccessRefusal(NotAllowed):
    """Refusal of an access token, with the HTTP status. The message says why, without any part of the token."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class TokenHolder:
    """A person, and the client at the provider (its id) to which the token was given; empty: it does not say."""

    user: User
    program: str


def find_resource(settings: Settings) -> str:
    """Return the address of `/mcp` as an OAuth resource; empty: access tokens are not accepted.

    It is that of the settings, never that of a request, whose sender chooses it: a token for another service under an
    address that leads here, too, would be for this one.
    """
    # In lower case, as clients write a scheme and a host, which is all that it is.
    public = settings.web.public_url.rstrip("/").lower()
    return f"{public}{MCP_PATH}" if settings.oidc.issuer and public else ""


def describe_resource(settings: Settings) -> dict[str, Any]:
    """Return the metadata by which assistants find the provider (RFC 9728, section 2)."""
    scopes = settings.oidc.mcp_scopes.split()
    return {
        "resource": find_resource(settings),
        # As it is set: the SDK's model would add a slash, and an issuer is compared character by character.
        "authorization_servers": [settings.oidc.issuer],
        "bearer_methods_supported": ["header"],
        "resource_name": "Argot",
        **({"scopes_supported": scopes} if scopes else {}),
    }


class AccessTokens:
    """The sign-in by access tokens. One for a service: it keeps the provider's keys."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self._provider = OpenIdProvider(kb.settings)
        self._confirming = asyncio.Lock()
        self._seen: LRUCache[bytes, bool] = LRUCache(MAX_SEEN_TOKENS)
        self._audience = kb.settings.oidc.audience or find_resource(kb.settings)

    def make_challenge(self, *, is_wrong: bool) -> str:
        """Make the header `WWW-Authenticate` of the answer to a request without a valid key or token (RFC 9728, 5.1).

        `is_wrong`: it had one that is not valid (RFC 6750, 3.1).
        """
        settings = self.kb.settings
        named = {"resource_metadata": f"{settings.web.public_url.rstrip('/')}{METADATA_PATH}{MCP_PATH}"}
        if settings.oidc.mcp_scopes:
            named["scope"] = settings.oidc.mcp_scopes
        if is_wrong:
            named["error"] = "invalid_token"
        return ", ".join(['Bearer realm="Argot"', *(f'{name}="{value}"' for name, value in named.items())])

    async def sign_in(self, token: str, address: str) -> TokenHolder:
        """Return the person whose token this is.

        Args:
            address: where the request comes from, for the audit.

        Raises:
            AccessRefusal
        """
        try:
            claims = await self._prove_claims(token)
            program = _read_program(claims)
            credential.set(("token", program))
            user = await self.kb.look_up(self._find_confirmed_user, claims) or await self._take_news(claims)
            _require_in(user)
        except (AccessRefusal, ProviderRefusal, ProviderUnreachable) as error:
            refusal = _make_refusal(error)
            if refusal is not error:
                logger.warning("an assistant could not sign in: %s", error)
            self._record("", address, Outcome(str(refusal.status), _describe_for_audit(error)))
            raise refusal from error
        self._record_first_use(token, user.name, address)
        return TokenHolder(user, program)

    async def _prove_claims(self, text: str) -> Claims:
        """Return the claims of a token that is valid here.

        Raises:
            AccessRefusal, ProviderUnreachable
        """
        from joserfc.errors import ExpiredTokenError, JoseError

        claims: dict[str, Any] = {}
        if text.count(".") != _JWT_DOTS:
            # Anybody may send one: in the log it is of a kind of its own (`logs.py`: `MALFORMED`).
            opaque = AccessRefusal(401, OPAQUE.format(self._audience))
            logger.warning("an assistant sent no signed JWT: %s", opaque)
            raise opaque
        try:
            token = await self._provider.verify_signature(text, RETRY_SECONDS)
            claims = token.claims
            self._require_claims(claims, (await self._provider.fetch_description())["issuer"])
            _require_access_token(token.header, claims)
        # ValueError, TypeError: headers or claims of other types than in the specification.
        except (AccessRefusal, JoseError, ValueError, TypeError) as error:
            invalid = AccessRefusal(401, INVALID.format(describe_reason(error)))
            refusal = error if isinstance(error, AccessRefusal) else invalid
            # For the operator, who has to set the same audience here and there. Anybody may send unsigned tokens, and
            # assistants send one until it is refused as expired.
            if claims and not isinstance(error, ExpiredTokenError):
                message = "an assistant could not sign in: %s The token is for %.200s, and has to be for '%s'."
                logger.warning(message, refusal, repr(claims.get("aud")), self._audience)
            raise refusal from error
        return claims

    def _require_claims(self, claims: dict[str, Any], issuer: str) -> None:
        from joserfc.errors import ExpiredTokenError, InvalidClaimError
        from joserfc.jwt import JWTClaimsRegistry

        required: dict[str, Any] = {name: {"essential": True} for name in ("iss", "aud", "sub", "iat", "exp")}
        required["iss"]["value"] = issuer
        required["aud"]["value"] = self._audience
        JWTClaimsRegistry(leeway=SKEW_SECONDS, **required).validate(claims)
        if not 0 < len(claims["sub"]) <= MAX_SUBJECT_CHARS or not claims["sub"].isprintable():
            raise InvalidClaimError("sub")
        # As long as a sign-in is valid without the provider's confirmation, and no longer.
        if claims["iat"] < time.time() - self.kb.settings.oidc.hours * 3600:
            raise ExpiredTokenError("iat")

    def _find_confirmed_user(self, claims: Claims) -> User | None:
        """Find the person whom the provider has confirmed by this token or since it made this token."""
        link = self.kb.people.links.find(self._provider.issuer, claims["sub"])
        return None if link is None or self._is_news(link, claims) else self.kb.people.user(link.user)

    async def _take_news(self, claims: Claims) -> User:
        # One at a time: an assistant may send several requests at once with a token that is new here.
        async with self._confirming:
            if known := await self.kb.look_up(self._find_confirmed_user, claims):
                return known
            return await self.kb.blocking(self._confirm, claims)

    def _confirm(self, claims: Claims) -> User:
        """Take the token as the provider's newest statement on a person; return them with the groups that it names."""
        name_claim = self.kb.settings.oidc.name_claim
        if not self.kb.people.links.find(self._provider.issuer, claims["sub"]) and not read_name(claims, name_claim):
            raise ProviderRefusal(NAMELESS.format(name_claim))
        link, user = find_account(self.kb, claims)
        if self._is_news(link, claims):
            # What Argot asks about the person with, if they have signed in here, stays as it is.
            confirm_account(self.kb, link, claims, link.refresh_token, format_utc(_read_issue(claims)))
        return self.kb.people.user(user.name)

    def _is_news(self, link: ProviderLink, claims: Claims) -> bool:
        """Tell whether the token says something newer on a person than what the provider has said before."""
        issued = _read_issue(claims)
        if link.lapsed_at:
            # A token from before must not let somebody in again, if the clocks differ.
            return (issued - datetime.fromisoformat(link.lapsed_at)).total_seconds() > SKEW_SECONDS
        if link.confirmed_at is None:
            return True
        # A token without groups must not take those which Argot itself regularly asks the provider for.
        is_silent = link.refresh_token is not None and self.kb.settings.oidc.groups_claim not in claims
        return not is_silent and issued > datetime.fromisoformat(link.confirmed_at)

    def _record_first_use(self, token: str, name: str, address: str) -> None:
        # Of every token, also of one that says nothing new on its person: another program may have it.
        digest = hashlib.sha256(token.encode()).digest()
        if digest not in self._seen:
            self._record(name, address, DONE)
        self._seen[digest] = True

    def _record(self, name: str, address: str, outcome: Outcome) -> None:
        if self.kb.audit:
            self.kb.audit.record_sign_in(ACCESS_TOKEN, name, address, outcome)


def _require_access_token(header: Mapping[str, Any], claims: Claims) -> None:
    """Refuse a token that was made for something else, even if its audience is the one of the settings.

    That is above all an ID token: where the audience is Argot's own client at the provider, it has the same one.

    Raises:
        AccessRefusal
    """
    kind = str(header.get("typ", "")).casefold().removeprefix("application/")
    # Keycloak writes the type of a token among its claims.
    is_bearer = str(claims.get("typ", "bearer")).casefold() == "bearer"
    if kind not in _TOKEN_TYPES or not is_bearer or any(name in claims for name in _OTHER_PURPOSES):
        raise AccessRefusal(401, INVALID.format("it is a token of another kind"))
    if kind != "at+jwt" and not (claims.get("scope") or claims.get("scp")):
        raise AccessRefusal(401, INVALID.format("it has neither the type at+jwt nor a scope"))


def _read_issue(claims: Claims) -> datetime:
    # In whole seconds, so that it is the same when it is read from the store.
    return datetime.fromtimestamp(int(claims["iat"]), UTC)


def _read_program(claims: Claims) -> str:
    """Read the id of the client to which the token was given: RFC 9068, OpenID Connect, and Entra's first version."""
    named = (claims.get(name) for name in ("client_id", "azp", "appid"))
    return next((one[:MAX_PROGRAM_CHARS] for one in named if isinstance(one, str)), "")


def _require_in(user: User) -> None:
    if user.suspended_at:
        raise ProviderRefusal(SUSPENDED)
    if user.lapsed_at:
        raise AccessRefusal(401, LAPSED)


def _make_refusal(error: AccessRefusal | ProviderRefusal | ProviderUnreachable) -> AccessRefusal:
    if isinstance(error, AccessRefusal):
        return error
    return AccessRefusal(503, UNCHECKED) if isinstance(error, ProviderUnreachable) else AccessRefusal(403, str(error))


def _describe_for_audit(error: Exception) -> str:
    # The message of a refusal may repeat what the provider says about a person.
    return "not admitted here" if isinstance(error, ProviderRefusal) else str(error)
