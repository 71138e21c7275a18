"""A signed-in client of Argot's pages, without a browser or a network."""

from typing import Any

import httpx
from fastapi import APIRouter, Depends, FastAPI

from argot.types import Principal
from argot.ui.web.authorization import ENTRY_KEY, VISITOR_KEY, Visitor, refuse_forgery
from argot.ui.web.error_pages import explain_errors
from argot.ui.web.routers import add_routes

CSRF = "token"


def at_desk(router: APIRouter, who: Principal) -> httpx.AsyncClient:
    """Return a client whose requests reach these pages as this person; a POST needs `CSRF`."""
    app = FastAPI(dependencies=[Depends(refuse_forgery)])
    explain_errors(app)
    add_routes(app, router)
    visitor = Visitor(who.name, who.name.title(), who, CSRF, "password")

    async def seated(scope: Any, receive: Any, send: Any) -> None:
        await app({**scope, VISITOR_KEY: visitor, ENTRY_KEY: None}, receive, send)

    headers = {"Accept": "text/html"}
    return httpx.AsyncClient(transport=httpx.ASGITransport(seated), base_url="http://localhost", headers=headers)
