"""Keys for the API: made for a person, shown once, revoked at any time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from argot.errors import NotAllowed, NotFound
from argot.service.identity.keys import MOST_DAYS, Key
from argot.service.json_values import read_dataclass_fields
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.usecase_registry import Text, usecase
from argot.types import LOCAL_NAME, Principal

__all__ = ["Key"]

KeyName = Annotated[Text, Field(max_length=1000)]
Days = Annotated[int, Field(ge=1, le=MOST_DAYS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey(Key):
    """A new key; the secret (`key`) is shown only once."""

    key: str = field(repr=False)


@usecase("asker")
async def key_add(
    kb: KnowledgeBase, principal: Principal, *, name: KeyName, user: Text | None = None, days: Days | None = None
) -> NewKey:
    """Create a key for the caller, or as an admin for any user.

    `name` is its label, `user` the user. `key` is returned only now. It expires after `days`; without `days` it is
    valid until revoked. The person at this machine can have keys too; they work as long as nobody has a password.

    Raises:
        NotAllowed: it is for somebody else, or for somebody who is suspended.
    """
    owner = await _find_owner(kb, principal, user)
    if owner != LOCAL_NAME:
        # Only for its errors. The local user is no row among the users.
        await kb.blocking(kb.people.principal, owner)
    made, token = await kb.blocking(kb.people.keys.make, owner, name, days)
    return NewKey(**read_dataclass_fields(made), key=token)


@usecase("asker")
async def key_list(kb: KnowledgeBase, principal: Principal, *, user: Text | None = None) -> list[Key]:
    """List the keys that are not revoked, without their secrets.

    They are the caller's own, those of a `user`, or those of everybody (`*`, for admins).
    """
    # No user can have this name (`require_name`).
    if user == "*" and principal.sees_all:
        return await kb.blocking(kb.people.keys.of)
    owner = await _find_owner(kb, principal, user)
    return await kb.blocking(kb.people.keys.of, owner)


@usecase("asker")
async def key_revoke(kb: KnowledgeBase, principal: Principal, *, key: Text) -> Key:
    """Revoke a key by its id: the caller's own, or for an admin anybody's. Open connections that use it are closed."""
    # Somebody else's key is reported as not found, rather than forbidden, so that its existence is not revealed.
    of = None if principal.sees_all else principal.name
    return await kb.blocking(lambda: kb.people.keys.revoke(key, user=of))


async def _find_owner(kb: KnowledgeBase, principal: Principal, user: str | None) -> str:
    """Return the owner of the requested keys.

    Raises:
        NotAllowed: somebody else's, and this is no admin.
        NotFound: there is no such user.
    """
    if user is None or user == principal.name:
        return principal.name
    if not principal.sees_all:
        raise NotAllowed(f"{principal.name} may only see and make keys of their own. Ask an administrator.")
    if user != LOCAL_NAME and await kb.blocking(kb.people.find, user) is None:
        raise NotFound(f"There is no user '{user}'. Make one with: argot user add NAME --group GROUP")
    return user
