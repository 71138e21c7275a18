"""A person's own account: sessions and keys, and whether sign-in is required at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from argot.service.audit.audit_actions import AUTHENTICATION, ENTITY
from argot.service.audit.audit_events import Deed, Outcome, Resource
from argot.service.identity.keys import Key
from argot.service.identity.people import User
from argot.service.identity.sessions import Session
from argot.types import LOCAL_NAME, Principal

if TYPE_CHECKING:
    from argot.service.knowledge_base import KnowledgeBase


@dataclass(frozen=True, slots=True)
class Account:
    """Account of a person. `user` is None for the local user."""

    user: User | None
    sessions: list[Session]
    keys: list[Key]


def sign_in_required(kb: KnowledgeBase) -> bool:
    """Return whether people sign in by name: if anybody has a password, or a proxy, provider or page signs them in."""
    settings = kb.settings
    return bool(settings.sign_in.header or settings.oidc.issuer or settings.embed.token_key) or has_passwords(kb)


def has_passwords(kb: KnowledgeBase) -> bool:
    return kb.people.has_passwords()


def has_password(kb: KnowledgeBase, name: str) -> bool:
    """Return whether a person of this name can sign in with a password of Argot's."""
    user = kb.people.find(name)
    return user is not None and user.has_password


def get_account(kb: KnowledgeBase, name: str) -> Account:
    return Account(kb.people.find(name), kb.people.sessions.of(name), kb.people.keys.of(name))


async def begin_session(kb: KnowledgeBase, name: str, address: str, agent: str) -> str:
    """Return the token of a new session of somebody who has just signed in."""
    return await kb.blocking(kb.people.sessions.begin, name, address, agent)


async def keep_language(kb: KnowledgeBase, name: str, language: str) -> None:
    """Keep the language of a person's pages with the account; the local user has none."""
    if name != LOCAL_NAME:
        await kb.blocking(kb.people.set_language, name, language)


async def end_sessions(kb: KnowledgeBase, name: str, *, only: str | None = None) -> None:
    """End all sessions of a person, or only the one with this id."""
    await kb.blocking(lambda: kb.people.sessions.end(name, only=only))
    if kb.audit:
        operation = "sign_out" if only else "sign_out_everywhere"
        owner = await _find_owner(kb, name)
        kb.audit.record(Deed(AUTHENTICATION, "logoff", operation, user=name), owner)


async def _find_owner(kb: KnowledgeBase, name: str) -> Principal:
    return await kb.look_up(kb.principal, name if name != LOCAL_NAME else None)


def note_wrong_key(kb: KnowledgeBase, address: str) -> None:
    """Record that a request came with a key that is not valid."""
    if kb.audit:
        kb.audit.record_sign_in("key", "", address, Outcome("401", "the key is not valid"))


async def revoke_own_key(kb: KnowledgeBase, name: str, key: str) -> None:
    """Revoke a key of this person's and of nobody else, whatever other rights they have.

    Raises:
        NotFound: they have no such key.
    """
    if kb.audit:
        kb.audit.require_writable()
    revoked = await kb.blocking(lambda: kb.people.keys.revoke(key, user=name))
    if kb.audit:
        owner = await _find_owner(kb, name)
        about = (Resource("key", revoked.id, revoked.name),)
        kb.audit.record(Deed(ENTITY, "delete", "key_revoke", resources=about), owner)
