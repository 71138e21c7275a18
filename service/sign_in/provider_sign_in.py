"""Signing in at an OpenID Connect provider, and asking it regularly whether it still confirms people.

A sign-in that began in a browser ends in that browser: a signed ticket in a cookie, from which state, nonce and PKCE's
verifier are derived, and which is valid once.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import secrets
import time
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from cachetools import LRUCache, TTLCache

from argot.clock import utc_now
from argot.service.audit.audit_events import DONE, Outcome
from argot.service.identity.people import User
from argot.service.identity.provider_links import ProviderLink
from argot.service.identity.sessions import SKEW_SECONDS
from argot.service.sign_in.openid_connect import OpenIdProvider, ProviderRefusal, ProviderStatement, ProviderUnreachable
from argot.service.sign_in.provider_accounts import confirm_account, find_account
from argot.work.schedule import schedule_work

if TYPE_CHECKING:
    from argot.service.knowledge_base import KnowledgeBase

logger = logging.getLogger(__name__)

BEGUN_SECONDS = 15 * 60
"""Time limit for signing in at the provider."""
LEAVING_SECONDS = 60
PROVIDER_SIGN_IN = "sign_in_at_provider"
MAX_KEPT = 10_000
CHECK_SECONDS = 20.0
AT_ONCE = 4
"""People the provider is asked about at the same time."""
NO_REFRESH = (
    "the provider gave no refresh token, so that Argot cannot update the person's groups, and locks the person out"
    " after 'oidc_hours'. Let the provider give refresh tokens to Argot; if it does so with consent alone, set"
    " 'oidc_prompt' to consent (docs/administrators.md)"
)
OLD = "This sign-in was started too long ago or in another browser, or was used already. Sign in again."


class ProviderSignIn:
    """One for a service.

    Args:
        kb: the knowledge base, whose settings name a provider.
        key: a secret of this knowledge base that signs the tickets.
    """

    def __init__(self, kb: KnowledgeBase, key: bytes, provider: OpenIdProvider | None = None) -> None:
        self.kb = kb
        self.provider = provider or OpenIdProvider(kb.settings)
        self._key = hashlib.sha256(b"argot sign-in " + key).digest()
        # Bounded, and lost with the process: a lost entry shows one page more at signing out.
        self._used: TTLCache[str, bool] = TTLCache(MAX_KEPT, BEGUN_SECONDS)
        self._id_tokens: LRUCache[str, str] = LRUCache(1000)
        self._leaving: TTLCache[str, str] = TTLCache(1000, LEAVING_SECONDS)

    async def begin(self, back: str) -> tuple[str, str]:
        """Return the address at the provider, and the ticket to be kept in the browser.

        Raises:
            ProviderUnreachable, MissingExtra
        """
        seed = f"{secrets.token_urlsafe(24)}.{int(time.time())}"
        ticket = f"{seed}.{self._derive_value('ticket', seed)}"
        entrance = await self.provider.make_sign_in_address(
            back,
            state=self._derive_value("state", seed),
            nonce=self._derive_value("nonce", seed),
            verifier=self._derive_value("verifier", seed),
        )
        return entrance, ticket

    async def end(self, ticket: str, state: str, code: str, back: str) -> tuple[User, str]:
        """Sign in the person who returned with this code; return them and the ID token.

        Raises:
            ProviderRefusal: it is no proof, or the person may not sign in; the message is the reason.
            ProviderUnreachable
        """
        seed = self._read_seed(ticket, state)
        # Before anything is awaited: a ticket must not be used twice concurrently.
        self._used[seed] = True
        if self.kb.shared and not await self.kb.shared.run(self.kb.shared.places.first, seed, BEGUN_SECONDS):
            raise ProviderRefusal(OLD)
        nonce, verifier = self._derive_value("nonce", seed), self._derive_value("verifier", seed)
        try:
            statement = await self.provider.ask_about_code(code, back, nonce=nonce, verifier=verifier)
            if await self.provider.withholds_refresh(statement):
                logger.warning(NO_REFRESH)
            return await self.kb.blocking(self._accept_statement, statement), statement.id_token
        except (ProviderRefusal, ProviderUnreachable) as error:
            # For the operator: the person sees the same, and often cannot fix it.
            logger.warning("somebody could not sign in at the provider: %s", error)
            if self.kb.audit:
                # The reason stands in the log: it may repeat what the provider says about a person.
                refusal = Outcome(type(error).__name__, "not signed in by the provider, or not admitted here")
                self.kb.audit.record_sign_in(PROVIDER_SIGN_IN, "", "", refusal)
            raise

    async def token(self, user: User, id_token: str, address: str, agent: str) -> str:
        """Return the token of a new session of somebody who has just returned."""
        token = await self.kb.blocking(self.kb.people.sessions.begin, user.name, address, agent)
        if self.kb.audit:
            self.kb.audit.record_sign_in(PROVIDER_SIGN_IN, user.name, address, DONE)
        session = await self.kb.look_up(self.kb.people.sessions.find, token)
        if session is not None:
            self._id_tokens[session.id] = id_token
        return token

    def make_leaving_ticket(self, session: str | None) -> str:
        """Return a ticket with which somebody whose session ends here is signed out at the provider too."""
        ticket = secrets.token_urlsafe(16)
        if id_token := self._id_tokens.pop(session or "", ""):
            self._leaving[ticket] = id_token
        return ticket

    async def exit(self, ticket: str, back: str) -> str | None:
        """Return the address where somebody signs out at the provider; None: it has none, or is down."""
        try:
            return await self.provider.exit(back, self._leaving.pop(ticket, None))
        except ProviderUnreachable as error:
            logger.warning("somebody is signed out only here: %s", error)
            return None

    def _derive_value(self, what: str, seed: str) -> str:
        found = hmac.new(self._key, f"{what}:{seed}".encode(), hashlib.sha256).digest()
        return urlsafe_b64encode(found).rstrip(b"=").decode("ascii")

    def _read_seed(self, ticket: str, state: str) -> str:
        seed, _, signature = ticket.rpartition(".")
        began = seed.rpartition(".")[2]
        # As bytes: `compare_digest` raises on strings that are not ASCII.
        ours = hmac.compare_digest(signature.encode(), self._derive_value("ticket", seed).encode())
        same = hmac.compare_digest(state.encode("utf-8", "replace"), self._derive_value("state", seed).encode())
        # It may have been begun at a service whose clock is ahead of this one.
        fresh = -SKEW_SECONDS <= time.time() - int(began or 0) <= BEGUN_SECONDS if ours else False
        if not same or seed in self._used or not fresh:
            raise ProviderRefusal(OLD)
        return seed

    def _accept_statement(self, statement: ProviderStatement) -> User:
        """Return the person whose account this is, updated with the provider's present statement."""
        link, user = find_account(self.kb, statement.claims)
        confirm_account(self.kb, link, statement.claims, statement.refresh_token)
        return self.kb.people.user(user.name)


# -- while the service runs -------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Asking:
    """The provider that is asked about people, which knows for a while what it published."""

    provider: OpenIdProvider | None = None


@schedule_work("keep people confirmed", every=20.0)
async def keep_confirmed(kb: KnowledgeBase) -> None:
    """Ask the provider about everybody again, by the interval of the settings."""
    asking = kb.part(_Asking)
    if kb.settings.oidc.issuer and asking.provider is None:
        asking.provider = OpenIdProvider(kb.settings)
    await confirm_due(kb, asking.provider)


async def confirm_due(kb: KnowledgeBase, provider: OpenIdProvider | None, now: datetime | None = None) -> None:
    """Ask about everybody who is due. People it no longer confirms, or has not for too long, are signed out at once."""
    now = now or utc_now()
    places = asyncio.Semaphore(AT_ONCE)
    due = now - timedelta(minutes=kb.settings.oidc.refresh_minutes)
    stale = now - timedelta(hours=kb.settings.oidc.hours)

    async def look(link: ProviderLink) -> None:
        confirmed = datetime.fromisoformat(link.confirmed_at or link.linked_at)
        if confirmed > due:
            return
        async with places:
            if await _ask_again(kb, provider, link) or confirmed > stale:
                return
        await _lapse(kb, link, "it has not answered for them for too long")

    await asyncio.gather(*(look(link) for link in await kb.blocking(kb.people.links.in_force)))


async def _ask_again(kb: KnowledgeBase, provider: OpenIdProvider | None, link: ProviderLink) -> bool:
    """Ask the provider again about somebody; return False if there was no answer."""
    if provider is None or link.refresh_token is None or link.issuer != provider.issuer:
        return False
    try:
        statement = await provider.ask_again(link.refresh_token, link.subject)
        await kb.blocking(confirm_account, kb, link, statement.claims, statement.refresh_token)
    except ProviderRefusal as refusal:
        await _lapse(kb, link, str(refusal))
    except ProviderUnreachable as error:
        logger.warning("the provider could not be asked about '%s': %s", link.user, error)
        return False
    return True


async def _lapse(kb: KnowledgeBase, link: ProviderLink, why: str) -> None:
    if await kb.blocking(lambda: kb.people.lapse(link.user, expecting=link)):
        logger.warning("'%s' is signed out, and has to sign in at the provider again: %s", link.user, why)
