"""Users and groups."""

from __future__ import annotations

from typing import Any

from argot.service.owner import KnowledgeBase
from argot.service.registry import Text, case
from argot.service.shapes import jsonable
from argot.types import Principal


@case("admin")
async def user_add(
    kb: KnowledgeBase, principal: Principal, *, name: Text, groups: list[Text] | None = None, display_name: Text = ""
) -> dict[str, Any]:
    """Make a user, or put an existing one into more groups."""
    plain: dict[str, Any] = jsonable(await kb.blocking(kb.people.add, name, tuple(groups or ()), display_name))
    return plain


@case("admin")
async def user_list(kb: KnowledgeBase, principal: Principal) -> list[dict[str, Any]]:
    """Every user with its groups."""
    return [jsonable(user) for user in await kb.blocking(kb.people.users)]
