"""The pages that give a form back with all that was typed into it."""

from __future__ import annotations

from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from argot.ui.web.authorization import Visitor
from argot.ui.web.form_recovery import Fields, may_be_kept, read_fields
from argot.ui.web.page_templates import render_page

SIGNED_OUT_REASON = (
    '<p class="error" role="alert">You were signed out. Nothing you typed is lost:'
    ' <a href="/sign-in" target="_blank" rel="noopener">sign in in another tab</a>, and go on here.</p>'
)
"""For a script that asked while somebody was typing. It goes into the page, which stays."""
_HIDDEN_FIELDS = ("version", "sense_id", "id", "token", "sense", "change", "kind")
"""Hidden fields, which nobody typed: they are sent again, but not shown."""


def show_kept_form(status: int, path: str, query: str, fields: Fields, who: Visitor | None) -> Response:
    """The page that shows what was typed, with a button that sends it again."""
    action = quote(path) + (f"?{query}" if query else "")
    shown = [(name.replace("_", " "), value) for name, value in fields if value.strip() and name not in _HIDDEN_FIELDS]
    return render_page("kept_form.html", status, action=action, fields=fields, shown=shown, who=who)


async def answer_signed_out(request: Request) -> Response | None:
    """The answer to a form of somebody who is no longer signed in; None: there is nothing to give back."""
    # HTMX puts the answer into the page that asked: a whole page in its place would take the typed words away.
    if request.headers.get("hx-request"):
        return HTMLResponse(SIGNED_OUT_REASON, 401, headers={"Cache-Control": "no-store"})
    if not may_be_kept(request.url.path, request.headers.get("content-type", "")):
        return None
    try:
        fields = await read_fields(request)
    # The form is larger than somebody who is not signed in may send: it is answered as any other refusal is.
    except HTTPException:
        return None
    return show_kept_form(401, request.url.path, request.url.query, fields, None)
