"""A form that could not be taken, given back with all that was typed: its sender was signed out meanwhile, or in anew.

Browsers load pages of ours again when one goes back to them, for nothing of them may be stored; what was typed into one
would be gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

if TYPE_CHECKING:
    from argot.ui.web.authorization import Visitor

PAGES = ("/glossary/", "/people")
"""Forms at these addresses are given back."""
SECRET = "password"  # noqa: S105  the name of a field
"""Fields with this in their names are not: they are typed again."""
MOST_CHARS = 64 * 1024
TYPED = "application/x-www-form-urlencoded"
SIGNED_OUT = (
    '<p class="error" role="alert">You were signed out. Nothing you typed is lost:'
    ' <a href="/sign-in" target="_blank" rel="noopener">sign in in another tab</a>, and go on here.</p>'
)
"""For a script that asked while somebody was typing. It goes into the page, which stays."""

Fields = Sequence[tuple[str, str]]


class OutOfDate(HTTPException):
    """The page that sent this form was made for another session; `form` is what was typed."""

    def __init__(self, form: Fields) -> None:
        super().__init__(403, "This page is out of date. Go back, reload it, and send it again.")
        self.form = form


def may_be_kept(path: str, content_type: str) -> bool:
    return path.startswith(PAGES) and content_type.startswith(TYPED)


async def fields_of(request: Request) -> Fields:
    """What was typed, without what is secret; nothing at all of a form that is too large.

    Raises:
        HTTPException: the body is larger than may be read of this sender.
    """
    return typed(((name, value) for name, value in (await request.form()).multi_items() if isinstance(value, str)))


def typed(items: Iterable[tuple[str, str]]) -> Fields:
    """These fields without the token of their page and what is secret."""
    found = [(name, value) for name, value in items if name != "csrf" and SECRET not in name]
    return found if sum(len(name) + len(value) for name, value in found) <= MOST_CHARS else []


def given_back(status: int, path: str, query: str, fields: Fields, who: Visitor | None) -> Response:
    """The page that shows what was typed, with a button that sends it again."""
    from argot.ui.web.page_templates import page

    action = quote(path) + (f"?{query}" if query else "")
    shown = [(name.replace("_", " "), value) for name, value in fields if value.strip() and name not in _UNSEEN]
    return page("kept_form.html", status, action=action, fields=fields, shown=shown, who=who)


_UNSEEN = ("version", "sense_id", "id", "token", "sense", "change", "kind")
"""Fields nobody typed."""


async def signed_out(request: Request) -> Response | None:
    """The answer to a form of somebody who is signed in no more; None where there is nothing to give back."""
    if request.headers.get("hx-request"):
        return HTMLResponse(SIGNED_OUT, 401, headers={"Cache-Control": "no-store"})
    if not may_be_kept(request.url.path, request.headers.get("content-type", "")):
        return None
    try:
        fields = await fields_of(request)
    except HTTPException:
        return None
    return given_back(401, request.url.path, request.url.query, fields, None)
