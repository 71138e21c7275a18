"""Users: groups, roles, passwords, sessions, and suspension."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field, SecretStr

from argot.errors import Conflict, InvalidInput, InvalidSettings
from argot.jargon_db.glossary import Glossary
from argot.service.identity.people import EVERY_CONTEXT, ROLES, Role, User
from argot.service.identity.sessions import Session
from argot.service.json_values import read_dataclass_fields
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.usecase_registry import Text, usecase
from argot.types import Principal

__all__ = ["EVERY_CONTEXT", "ROLES", "Role"]

Contexts = Annotated[list[Text] | None, Field(max_length=1000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserShown(User):
    """A user with the role that follows from what they manage."""

    role: Role = field()  # computed for a user


@dataclass(frozen=True, slots=True, kw_only=True)
class UserWithPassword(UserShown):
    """A user with their generated password, which is shown only once."""

    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class SessionShown:
    """Session of a user. Times are UTC, ISO 8601; `agent` is how the browser calls itself."""

    id: str
    user: str
    created_at: str
    seen_at: str
    address: str
    agent: str


@dataclass(frozen=True, slots=True)
class EndedSessions:
    """Number of sessions of a user that were ended."""

    name: str
    ended: int


@usecase("admin")
async def user_add(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    name: Text,
    groups: list[Text] | None = None,
    display_name: Text = "",
    password: SecretStr | None = None,
    make_password: bool = False,
    role: Role | None = None,
    manages: Contexts = None,
    new: bool = False,
    in_window: bool = False,
) -> UserWithPassword | UserShown:
    """Create a user, or give an existing one more groups, another role or another password. `new`: only create one.

    With `make_password` a password is generated and returned only now, as `password`. `in_window`: the caller is using
    the window, and must be able to come back.

    Raises:
        InvalidInput: a name, group, context or password is not valid; or callers would lock themselves out.
        Conflict: there is such a user, and a `new` one is wanted.
    """
    contexts = await _check_contexts(kb.glossary, principal, manages)
    known = await kb.blocking(kb.people.find, name)
    if new and known is not None:
        raise Conflict(f"There is a user '{name}' already. Choose another name, or change that one.")
    new_password = (
        password.get_secret_value() if password is not None else generate_password() if make_password else None
    )
    if new_password is not None:
        from argot.service.identity.passwords import require_password

        require_password(name, new_password)  # before anything is stored
        await _require_way_back(kb, name, role, in_window)
    await kb.blocking(kb.people.add, name, tuple(groups or ()), display_name)
    if role or contexts:
        await kb.blocking(kb.people.set_role, name, role or "manager", contexts)
    if new_password is not None:
        await kb.blocking(kb.people.set_password, name, new_password)
    # A given password is not returned.
    return _show_new_user(
        await kb.blocking(kb.people.user, name), new_password if make_password and password is None else None
    )


@usecase("admin")
async def user_list(kb: KnowledgeBase, principal: Principal) -> list[UserShown]:
    """List every user with groups and role."""
    return [show_user(user) for user in await kb.blocking(kb.people.users)]


@usecase("admin")
async def user_roles(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    name: Text,
    role: Role | None = None,
    manages: Contexts = None,
    leave: list[Text] | None = None,
) -> UserShown:
    """Show the rights of a user; if a role or contexts are given, set all of them. `leave` names groups to leave."""
    contexts = await _check_contexts(kb.glossary, principal, manages)
    if role or contexts:
        # The last administrator could otherwise leave nobody who can restore the role.
        _require_other(principal, name, _OWN_ROLE, unless=role == "admin")
        # A user who is given contexts, and no role, becomes their manager.
        await kb.blocking(kb.people.set_role, name, role or "manager", contexts)
    if leave:
        await kb.blocking(kb.people.leave, name, leave)
    return show_user(await kb.blocking(kb.people.user, name))


@usecase("admin")
async def user_set(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    name: Text,
    role: Role,
    manages: Contexts = None,
    groups: list[Text] | None = None,
    display_name: Text = "",
) -> UserShown:
    """Set the role, contexts and groups of a user. Groups that are not named are left; an empty display name stays."""
    found = await kb.blocking(kb.people.user, name)
    if role == "manager" and not manages:
        raise InvalidInput(f"Choose the contexts that {name} manages: some, or '{EVERY_CONTEXT}' for all.")
    _require_other(principal, name, _OWN_ROLE, unless=role == "admin")
    wanted = list(dict.fromkeys(groups or []))
    contexts = await _check_contexts(kb.glossary, principal, manages if role == "manager" else None)
    await kb.blocking(kb.people.add, name, tuple(wanted), display_name)
    await kb.blocking(kb.people.leave, name, [group for group in found.groups if group not in wanted])
    await kb.blocking(kb.people.set_role, name, role, contexts)
    return show_user(await kb.blocking(kb.people.user, name))


@usecase("admin")
async def user_password(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    name: Text,
    password: SecretStr | None = None,
    in_window: bool = False,
) -> UserWithPassword | UserShown:
    """Change a user's password; all of their sessions end.

    Without one, a password is generated and returned only now.
    """
    user = await kb.blocking(kb.people.user, name)
    new_password = generate_password() if password is None else password.get_secret_value()
    await _require_way_back(kb, name, user.role, in_window)
    return _show_new_user(
        await kb.blocking(kb.people.set_password, name, new_password), new_password if password is None else None
    )


@usecase("admin")
async def user_suspend(kb: KnowledgeBase, principal: Principal, *, name: Text) -> UserShown:
    """Suspend a user: lock them out at once and everywhere. Nothing of theirs is deleted."""
    _require_other(principal, name, _OWN_ACCOUNT)
    return show_user(await kb.blocking(kb.people.suspend, name))


@usecase("admin")
async def user_restore(kb: KnowledgeBase, principal: Principal, *, name: Text) -> UserShown:
    """Restore a suspended user. They have to sign in again."""
    return show_user(await kb.blocking(kb.people.restore, name))


@usecase("admin")
async def user_link(
    kb: KnowledgeBase, principal: Principal, *, name: Text, subject: Annotated[Text, Field(max_length=255)] = ""
) -> UserShown:
    """Make a user sign in at the OpenID Connect provider from now on, and no longer by a password.

    `subject` is the id of their account there (`sub`); without it, the first account that signs in under exactly this
    name is used.

    Raises:
        InvalidSettings: the settings name no provider.
        Conflict: that account is linked with somebody else.
    """
    issuer = kb.settings.oidc.issuer
    if not issuer:
        raise InvalidSettings("There is no provider to sign in at: set 'oidc_issuer' (docs/administrators.md).")
    return show_user(await kb.blocking(kb.people.link, name, issuer, subject.strip()))


@usecase("admin")
async def user_unlink(kb: KnowledgeBase, principal: Principal, *, name: Text) -> UserShown:
    """Stop a user from signing in at the provider.

    They lose the provider's groups, and their sessions and keys end.
    """
    return show_user(await kb.blocking(kb.people.unlink, name))


@usecase("admin")
async def user_sessions(kb: KnowledgeBase, principal: Principal, *, name: Text) -> list[SessionShown]:
    """List the sessions of a user."""
    await kb.blocking(kb.people.user, name)
    return [show_session(one) for one in await kb.blocking(kb.people.sessions.of, name)]


@usecase("admin")
async def user_end_sessions(kb: KnowledgeBase, principal: Principal, *, name: Text) -> EndedSessions:
    """Sign a user out everywhere."""
    await kb.blocking(kb.people.user, name)
    return EndedSessions(name, await kb.blocking(kb.people.sessions.end, name))


LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
"""Characters that cannot be confused with each other."""


def generate_password() -> str:
    """Return a password for somebody's first day: 79 bits, in groups that can be read out."""
    return "-".join("".join(secrets.choice(LETTERS) for _ in range(4)) for _ in range(4))


_OWN_ROLE = "You cannot take the role of an administrator from yourself. Ask another administrator."
_OWN_ACCOUNT = "You cannot suspend yourself. Ask another administrator."


def _require_other(principal: Principal, name: str, refusal: str, *, unless: bool = False) -> None:
    if principal.name == name and not unless:
        raise InvalidInput(refusal)


async def _require_way_back(kb: KnowledgeBase, name: str, role: Role | None, in_window: bool) -> None:
    # From the first password on everybody signs in, including the person who issued it.
    if in_window and role != "admin" and not await kb.look_up(kb.people.has_passwords):
        raise InvalidInput(
            "The first person with a password has to be an administrator: from then on everybody signs in, "
            f"including you. Make yourself one before {name}."
        )


def show_session(session: Session) -> SessionShown:
    began, seen = (datetime.fromtimestamp(at, UTC).isoformat() for at in (session.created_at, session.seen_at))
    return SessionShown(session.id, session.user, began, seen, session.address, session.agent)


def show_user(user: User) -> UserShown:
    return UserShown(**read_dataclass_fields(user), role=user.role)


def _show_new_user(user: User, password: str | None) -> UserWithPassword | UserShown:
    shown = show_user(user)
    return shown if password is None else UserWithPassword(**read_dataclass_fields(shown), password=password)


async def _check_contexts(glossary: Glossary, principal: Principal, names: list[str] | None) -> list[str]:
    """These names without repetition, each seen to be that of a context or `*`."""
    wanted = list(dict.fromkeys(names or []))
    if not wanted or EVERY_CONTEXT in wanted:
        return wanted
    known = [context.name for context in await asyncio.to_thread(glossary.contexts.all, principal)]
    for name in wanted:
        # A misspelt one would silently let somebody manage nothing.
        if name not in known:
            there = ", ".join(known) or "none yet; make one with: argot context add NAME"
            raise InvalidInput(f"There is no context '{name}'. Contexts: {there}. '{EVERY_CONTEXT}' stands for all.")
    return wanted
