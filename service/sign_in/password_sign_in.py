"""Signing in with name and password: the limits, the check, and a session on success."""

from __future__ import annotations

import asyncio
from math import ceil
from typing import TYPE_CHECKING

from argot.errors import NotAllowed
from argot.service.audit.audit_actions import ACCOUNT
from argot.service.audit.audit_events import DONE, Deed, Outcome
from argot.service.identity.people import SUSPENDED, User
from argot.service.identity.sign_in_attempts import Attempts, CountedAttempts

if TYPE_CHECKING:
    from argot.service.knowledge_base import KnowledgeBase

PARALLEL_HASHES = 2
"""Number of passwords checked at the same time; each takes 64 MiB."""
MAX_WAITING = 40
"""Number of sign-ins that may wait; further ones are asked to try again."""
UNCONFIRMED = "Type your own password too, so that nobody else can do this in your name. Nothing was done."
_REASONS = {
    401: "name or password is wrong",
    403: "the account is suspended",
    429: "too many attempts",
    503: "too many people are signing in",
}
"""Why somebody was refused, as the audit says it, by the status."""
SIGN_IN_OPERATION = "sign_in_with_password"
WRONG = "Name or password is wrong. Check capital letters, and try again."


class SignInRefused(NotAllowed):
    """The sign-in was refused. `status` is that of HTTP; `wait` is the number of seconds until the next try."""

    def __init__(self, message: str, status: int, wait: int = 0) -> None:
        self.status = status
        self.wait = wait
        super().__init__(message)


class SignIn:
    """One for a service. Attempts of the last minutes count for all services on the same stores together."""

    def __init__(self, kb: KnowledgeBase, attempts: Attempts | None = None) -> None:
        self.kb = kb
        self.attempts: CountedAttempts = attempts or (kb.shared.attempts if kb.shared else Attempts())
        self._places = asyncio.Semaphore(PARALLEL_HASHES)
        self._waiting = 0

    async def with_password(self, name: str, password: str, address: str, agent: str = "") -> str:
        """Return the token of a new session.

        Raises:
            SignInRefused: wrong (401; the same for a name that does not exist), suspended (403, and only reported with
                the right password), too many attempts (429), too many at once (503).
        """
        name = name.strip()
        try:
            user = await self._check(name, password, address)
        except SignInRefused as refusal:
            await self._record(
                SIGN_IN_OPERATION, name, address, Outcome(str(refusal.status), _REASONS.get(refusal.status, "refused"))
            )
            raise
        await self._record(SIGN_IN_OPERATION, user.name, address, DONE)
        return await self.kb.blocking(self.kb.people.sessions.begin, user.name, address, agent)

    async def change_password(self, name: str, old: str, new: str, address: str) -> None:
        """Change the person's own password; every session ends.

        Raises:
            SignInRefused: the old one is wrong, or there were too many attempts.
            InvalidInput: the new one would be guessed.
        """
        if self.kb.audit:
            self.kb.audit.require_writable()
        await self._check(name, old, address, wrong="The current password is wrong. Try again.")
        await self.kb.blocking(self.kb.people.set_password, name, new)
        if self.kb.audit:
            deed = Deed(ACCOUNT, "password change", "change_password", user=name, address=address)
            self.kb.audit.record(deed, await self.kb.look_up(self.kb.principal, name))

    async def _record(self, operation: str, name: str, address: str, outcome: Outcome) -> None:
        if self.kb.audit:
            # Only a name that is known here: people type their password into the field for the name.
            known = await self.kb.look_up(self.kb.people.find, name)
            self.kb.audit.record_sign_in(operation, known.name if known else "", address, outcome)

    async def confirm(self, name: str, password: str, address: str) -> None:
        """Verify the password of a signed-in person before a dangerous action.

        Raises:
            SignInRefused: the password is missing or wrong, or there were too many attempts.
        """
        if not password:
            raise SignInRefused(UNCONFIRMED, 403)
        await self._check(name, password, address, wrong="Your own password is wrong. Nothing was done. Try again.")

    async def _check(self, name: str, password: str, address: str, wrong: str = WRONG) -> User:
        # Counted before the password is checked, so that concurrent attempts do not all get through.
        wait = await self.kb.look_up(self.attempts.begin, name, address)
        if wait > 0:
            minutes = ceil(wait / 60)
            text = f"Too many attempts. Try again in {minutes} minute{'s' * (minutes > 1)}, or ask an administrator."
            raise SignInRefused(text, 429, ceil(wait))
        user = await self._check_in_turn(name, password)
        if user is None:
            raise SignInRefused(wrong, 401)
        # The password was right, so this was no guess, even if the account is suspended.
        await self.kb.look_up(self.attempts.note_success, name, address)
        if user.suspended_at:
            raise SignInRefused(SUSPENDED, 403)
        return user

    async def _check_in_turn(self, name: str, password: str) -> User | None:
        if self._waiting >= MAX_WAITING:
            raise SignInRefused("Many people are signing in at the moment. Try again in a minute.", 503, 60)
        self._waiting += 1
        try:
            async with self._places:
                return await self.kb.blocking(self.kb.people.check_password, name, password)
        finally:
            self._waiting -= 1
