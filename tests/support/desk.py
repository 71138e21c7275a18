"""Somebody at pages of ours, signed in, with no browser and no network between."""

from typing import Any

import httpx
from fastapi import APIRouter, Depends, FastAPI

from argot.types import Principal
from argot.ui.web.authorization import ENTRY, VISITOR, Visitor, unforged
from argot.ui.web.error_pages import put_errors_in_words

CSRF = "token"


def at_desk(router: APIRouter, who: Principal) -> httpx.AsyncClient:
    """A client whose requests reach these pages as this person's; what is posted needs `CSRF`."""
    app = FastAPI(dependencies=[Depends(unforged)])
    put_errors_in_words(app)
    app.include_router(router)
    visitor = Visitor(who.name, who.name.title(), who, CSRF, "password")

    async def seated(scope: Any, receive: Any, send: Any) -> None:
        await app({**scope, VISITOR: visitor, ENTRY: None}, receive, send)

    headers = {"Accept": "text/html"}
    return httpx.AsyncClient(transport=httpx.ASGITransport(seated), base_url="http://localhost", headers=headers)
