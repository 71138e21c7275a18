"""The addresses of the API."""

from __future__ import annotations

from functools import cache

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from argot.service.owner import KnowledgeBase
from argot.ui.access import needs
from argot.ui.api import truth
from argot.ui.api.asking import asking_routes
from argot.ui.api.completions import completion_routes
from argot.ui.api.files import file_routes
from argot.ui.api.route import ApiRoute, Who
from argot.ui.api.shapes import Me
from argot.ui.api.table import table_routes

OPENAPI = "/api/openapi.json"


def api_routes(kb: KnowledgeBase) -> APIRouter:
    router = APIRouter(route_class=ApiRoute, generate_unique_id_function=truth.operation_id)
    for part in (completion_routes, asking_routes, file_routes, table_routes):
        router.include_router(part(kb))

    @router.get("/api/me", response_model=None, tags=["Asking"], responses={200: {"model": Me}, **truth.ERRORS(401)})
    @needs("asker", program=True)
    async def me(who: Who) -> Response:
        """Whose key it is, and what they may do."""
        groups, manages = sorted(who.principal.groups), sorted(who.principal.manages)
        named = {"name": who.name, "display_name": who.display_name, "role": who.role}
        return JSONResponse({**named, "groups": groups, "manages": manages}, headers={"Cache-Control": "no-store"})

    document = cache(lambda: truth.document(router.routes))

    @router.get(OPENAPI, include_in_schema=False)
    @needs("anonymous", program=True)
    async def openapi() -> Response:
        """This document."""
        return JSONResponse(document())

    return router
