"""Signing in inside a frame of another site: by the token of its page, or by a code from a window of Argot's own.

Browsers keep the cookies of a frame apart, so somebody who signs in at the provider in a window of its own (providers
refuse to be framed) is not signed in in the frame. That window hands over a code, which the frame exchanges for a
session of its own. Such a session opens the chat window and nothing else (`ui/web/authorization.py`: `needs`).
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
import time
from typing import TYPE_CHECKING, Any

from cachetools import TTLCache

from argot.errors import InvalidInput, InvalidSettings, NotAllowed
from argot.service.audit.audit_events import DONE, Outcome
from argot.service.identity.people import SUSPENDED, User
from argot.service.sign_in.openid_connect import ProviderUnreachable
from argot.service.sign_in.page_tokens import MAX_TOKEN_SECONDS, SKEW_SECONDS, PageTokens, TokenRefusal
from argot.service.sign_in.provider_claims import read_display_name, read_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from argot.service.knowledge_base import KnowledgeBase

logger = logging.getLogger(__name__)

TOKEN_SIGN_IN = "sign_in_by_page_token"  # noqa: S105  the name of an operation
CODE_SIGN_IN = "sign_in_by_own_window"
CODE_SECONDS = 60
MAX_USED = 100_000
"""Tokens of the last minutes whose ids are remembered, so that none is used twice."""

INVALID = "The page around this window could not sign you in. Reload the page, or sign in here."
UNKNOWN = "Argot does not know you. Ask an administrator to add you."
LAPSED = "Your organisation's provider no longer confirms who you are. Ask an administrator."
OTHER_PERSON = "You are signed in to Argot under another name than on this page. Sign out of one of them."
OLD_CODE = "This sign-in was started too long ago, or was used already. Sign in again."


class PageRefusal(NotAllowed):
    """Refusal to sign somebody in. `reason` is for the log and the audit, and says nothing of the token itself."""

    def __init__(self, message: str, reason: str) -> None:
        self.reason = reason
        super().__init__(message)


class PageSignIn:
    """One for a service.

    Args:
        kb: the knowledge base, whose settings name the sites.
        key: a secret of this knowledge base that signs the codes.
    """

    def __init__(self, kb: KnowledgeBase, key: bytes) -> None:
        self.kb = kb
        self.tokens = PageTokens(kb.settings) if kb.settings.embed.token_key else None
        self._key = hashlib.sha256(b"argot embedding " + key).digest()
        self._used: TTLCache[str, bool] = TTLCache(MAX_USED, MAX_TOKEN_SECONDS + 2 * SKEW_SECONDS)
        self._began = int(time.time())

    # -- by a token ----------------------------------------------------------------------------------------------------

    async def sign_in_by_token(
        self, token: str, address: str, agent: str, *, present: str = "", replace: bool = True
    ) -> str:
        """Sign in the person for whom a page signed this token, which is used up thereby.

        Args:
            present: the name of who is signed in already, if anybody is.
            replace: that session may be replaced by another person's.

        Returns:
            The token of a new session; empty if it is the same person, whose session goes on.

        Raises:
            PageRefusal: the token proves nothing, or this person may not sign in.
        """
        try:
            claims = await self._use_token(token)
            user = await self.kb.blocking(self._admit, claims)
            if present and not replace and present != user.name:
                raise PageRefusal(OTHER_PERSON, "the browser is signed in as somebody else")
        except PageRefusal as refusal:
            self._note_refusal(TOKEN_SIGN_IN, address, refusal)
            raise
        self._record(TOKEN_SIGN_IN, user.name, address, DONE)
        return "" if present == user.name else await self._begin_session(user, address, agent)

    async def _use_token(self, token: str) -> Mapping[str, Any]:
        if self.tokens is None:
            raise PageRefusal(INVALID, "no key for tokens is set ('embed_token_key')")
        try:
            claims = await self.tokens.read_claims(token)
        except (TokenRefusal, ProviderUnreachable, InvalidSettings) as error:
            raise PageRefusal(INVALID, f"the token is not valid ({error})") from error
        # Which tokens were used is forgotten with the process, so none from before it is accepted.
        if self.kb.shared is None and claims["iat"] < self._began:
            raise PageRefusal(INVALID, "the token was made before this service was started")
        if not await self._is_first("token", f"{claims['iss']} {claims['jti']}"):
            raise PageRefusal(INVALID, "the token was used before")
        return claims

    def _admit(self, claims: Mapping[str, Any]) -> User:
        """Return the account of this person, by the same rules as for people who come from the provider."""
        people, settings = self.kb.people, self.kb.settings
        link = people.links.find(str(claims["iss"]), str(claims["sub"]))
        name = link.user if link else read_name(claims, settings.embed.token_name_claim)
        if not name:
            raise PageRefusal(UNKNOWN, f"the token gives no name ('{settings.embed.token_name_claim}')")
        user = people.find(name)
        if user is None:
            # Nobody is to be taken for somebody else whose name differs in capitals alone.
            if any(one.name.casefold() == name.casefold() for one in people.users()):
                raise PageRefusal(UNKNOWN, "an account of this name exists in other capitals")
            if settings.sign_in.unknown_people == "refuse":
                raise PageRefusal(UNKNOWN, "there is no account of this name ('unknown_people')")
            try:
                return people.add(name, (), read_display_name(claims))
            except InvalidInput as error:
                raise PageRefusal(UNKNOWN, "this can be no name of an account") from error
        if user.suspended_at:
            raise PageRefusal(SUSPENDED, "the account is suspended")
        if user.lapsed_at:
            raise PageRefusal(LAPSED, "the provider no longer confirms this account")
        return user

    # -- by a code -----------------------------------------------------------------------------------------------------

    def make_code(self, name: str) -> str:
        """Make a code with which a frame of the same browser begins a session of this person; valid once, for a
        minute.
        """
        seed = f"{secrets.token_urlsafe(24)}.{int(time.time())}.{name}"
        return f"{self._sign(seed)}.{seed}"

    async def sign_in_by_code(self, code: str, address: str, agent: str) -> str:
        """Return the token of a new session of the person for whom this code was made, which is used up thereby.

        Raises:
            PageRefusal
        """
        try:
            user = await self._use_code(code)
        except PageRefusal as refusal:
            self._note_refusal(CODE_SIGN_IN, address, refusal)
            raise
        self._record(CODE_SIGN_IN, user.name, address, DONE)
        return await self._begin_session(user, address, agent)

    async def _use_code(self, code: str) -> User:
        signature, _, seed = code.partition(".")
        # As bytes: `compare_digest` raises on strings that are not ASCII.
        if not hmac.compare_digest(signature.encode("utf-8", "replace"), self._sign(seed).encode()):
            raise PageRefusal(OLD_CODE, "the code is not valid")
        _, began, name = seed.split(".", 2)
        fresh = -SKEW_SECONDS <= time.time() - int(began) <= CODE_SECONDS
        if not fresh or not await self._is_first("code", seed):
            raise PageRefusal(OLD_CODE, "the code is too old, or was used before")
        user = await self.kb.look_up(self.kb.people.find, name)
        if user is None or user.shut_out:
            raise PageRefusal(UNKNOWN, "the account is removed or suspended")
        return user

    # -- both ----------------------------------------------------------------------------------------------------------

    async def _begin_session(self, user: User, address: str, agent: str) -> str:
        return await self.kb.blocking(lambda: self.kb.people.sessions.begin(user.name, address, agent, framed=True))

    def _note_refusal(self, operation: str, address: str, refusal: PageRefusal) -> None:
        logger.warning("somebody could not sign in in a frame: %s", refusal.reason)
        self._record(operation, "", address, Outcome("403", refusal.reason))

    def _record(self, operation: str, name: str, address: str, outcome: Outcome) -> None:
        if self.kb.audit:
            self.kb.audit.record_sign_in(operation, name, address, outcome)

    def _sign(self, seed: str) -> str:
        return hmac.new(self._key, seed.encode("utf-8", "replace"), hashlib.sha256).hexdigest()

    async def _is_first(self, kind: str, value: str) -> bool:
        """Tell whether this value is used for the first time; of all services on the same stores, if there are more."""
        key = hashlib.sha256(f"{kind} {value}".encode("utf-8", "replace")).hexdigest()
        # Before anything is awaited: one value must not be used twice concurrently.
        if key in self._used:
            return False
        self._used[key] = True
        shared = self.kb.shared
        return shared is None or await shared.run(shared.places.first, key, self._used.ttl)
