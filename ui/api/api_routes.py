"""The router of all API addresses."""

from __future__ import annotations

from functools import cache

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from argot.service.knowledge_base import KnowledgeBase
from argot.ui.api import openapi as truth
from argot.ui.api.api_route import ApiRoute
from argot.ui.api.completions import build_completion_routes
from argot.ui.api.embeddings import build_embedding_routes
from argot.ui.api.file_routes import build_file_routes
from argot.ui.api.mcp_routes import build_mcp_routes
from argot.ui.api.question_routes import build_question_routes
from argot.ui.api.response_models import Me
from argot.ui.api.responses import build_response_routes
from argot.ui.api.text_check_routes import build_text_check_routes
from argot.ui.api.usecase_routes import build_usecase_routes
from argot.ui.web.authorization import Who, needs
from argot.ui.web.routers import add_routes, make_router

OPENAPI_PATH = "/api/openapi.json"


def build_api_routes(kb: KnowledgeBase) -> APIRouter:
    router = make_router(route_class=ApiRoute, generate_unique_id_function=truth.get_operation_id)
    # The order is that of the OpenAPI document.
    openai = (build_completion_routes, build_response_routes, build_embedding_routes)
    parts = (*openai, build_question_routes, build_file_routes, build_text_check_routes)
    for part in (*parts, build_usecase_routes, build_mcp_routes):
        add_routes(router, part(kb))

    @router.get(
        "/api/me", response_model=None, tags=["Asking"], responses={200: {"model": Me}, **truth.declare_errors(401)}
    )
    @needs("asker", program=True)
    async def me(who: Who) -> Response:
        """Show whose key this is, and what its owner may do."""
        groups, manages = sorted(who.principal.groups), sorted(who.principal.manages)
        named = {"name": who.name, "display_name": who.display_name, "role": who.role}
        return JSONResponse({**named, "groups": groups, "manages": manages}, headers={"Cache-Control": "no-store"})

    # Built at the first request: it needs every route's models, and most processes never serve it.
    document = cache(lambda: truth.build_document(router.routes))

    @router.get(OPENAPI_PATH, include_in_schema=False)
    @needs("anonymous", program=True)
    async def openapi() -> Response:
        """Return this OpenAPI document."""
        return JSONResponse(document())

    return router
