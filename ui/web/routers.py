"""The routers of our addresses: each refuses forged requests, and builds its routes only once."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, FastAPI
from fastapi.routing import APIRoute

from argot.ui.web.authorization import refuse_forgery


def make_router(**options: Any) -> APIRouter:
    """Make a router whose endpoints refuse forged requests; the options are those of `fastapi.APIRouter`."""
    return APIRouter(dependencies=[Depends(refuse_forgery)], **options)


def add_routes(target: FastAPI | APIRouter, part: APIRouter) -> None:
    """Add the routes of a router as they are: `target` adds no prefix, tag or dependency of its own.

    Raises:
        ValueError: One of the routes does not refuse forged requests.
    """
    for route in part.routes:
        if not (isinstance(route, APIRoute) and any(one.dependency is refuse_forgery for one in route.dependencies)):
            raise ValueError(f"{route} does not refuse forged requests: make its router by `make_router`")
    # `include_router` would build every route a second time, and those of a router within a router a third time: two
    # thirds of the time that building the application takes.
    target.routes.extend(part.routes)
