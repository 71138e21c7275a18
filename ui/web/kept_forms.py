"""The pages that show a recovered form, with everything that was typed into it."""

from __future__ import annotations

from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from argot.languages.catalogues import translate
from argot.ui.web.authorization import Visitor
from argot.ui.web.form_recovery import Fields, may_be_kept, read_fields
from argot.ui.web.page_templates import render_page

SIGNED_OUT_REASON = (
    'You were signed out. Nothing you typed is lost: <a href="/sign-in" target="_blank" rel="noopener">sign in in '
    "another tab</a>, and continue here."
)
"""The response to a script that asked while somebody was typing. It is shown in the page, which stays."""
_HIDDEN_FIELDS = ("version", "sense_id", "id", "token", "sense", "change", "kind")
"""Hidden fields, which nobody typed: they are sent again, but not shown."""


def show_kept_form(status: int, path: str, query: str, fields: Fields, who: Visitor | None) -> Response:
    """Show the fields that were typed, with a button that sends them again."""
    action = quote(path) + (f"?{query}" if query else "")
    shown = [(name.replace("_", " "), value) for name, value in fields if value.strip() and name not in _HIDDEN_FIELDS]
    return render_page("kept_form.html", status, action=action, fields=fields, shown=shown, who=who)


async def answer_signed_out(request: Request) -> Response | None:
    """Answer the form of somebody who is no longer signed in; None if there is nothing to recover."""
    # HTMX puts the response into the page that asked: a whole page would replace the text being typed.
    if request.headers.get("hx-request"):
        message = f'<p class="error" role="alert">{translate(SIGNED_OUT_REASON)}</p>'
        return HTMLResponse(message, 401, headers={"Cache-Control": "no-store"})
    if not may_be_kept(request.url.path, request.headers.get("content-type", "")):
        return None
    try:
        fields = await read_fields(request)
    # The form is larger than somebody who is not signed in may send, so it is refused like any other request.
    except HTTPException:
        return None
    return show_kept_form(401, request.url.path, request.url.query, fields, None)
