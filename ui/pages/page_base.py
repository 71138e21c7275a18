"""The base of all pages: templates, forms, redirects, and the limit on the size of requests."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from fastapi import HTTPException
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from argot.clock import format_time_left
from argot.errors import Conflict, NotAllowed
from argot.languages.catalogues import join_with_or, quote_name, translate
from argot.service.json_values import read_dataclass_fields
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.listing import describe_validity
from argot.service.usecases.documents.read_faults import translate_read_fault
from argot.service.usecases.glossary.contexts import context_list
from argot.service.usecases.glossary.impact import CombinedImpact
from argot.service.usecases.glossary.import_texts import translate_place, translate_reason
from argot.service.usecases.glossary.sense_results import flatten_markdown
from argot.types import Context
from argot.ui.translation.page_errors import translate_error
from argot.ui.web.authorization import Visitor
from argot.ui.web.open_connections import describe_limit, is_said_larger
from argot.ui.web.page_links import list_page_links
from argot.ui.web.page_templates import build_environment
from argot.wings import wings

if TYPE_CHECKING:
    from jinja2 import Environment

HOME = "/glossary"
MAX_BODY_BYTES = 64 * 1024 * 1024
"""The largest request: a glossary of 100,000 senses is about 20 MiB."""
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self'",
            "connect-src 'self'",
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        )
    ),
}
"""Response headers of the pages, stricter than the chat window's: no inline scripts or styles at all."""


# The address names one of these messages and holds no text, so that no link can put words into our pages.
DONE_MESSAGES = {
    "draft": "Saved as a draft. Answers use it once it is approved.",
    "saved": "Saved.",
    "saved-unknown": "Saved. One of these names belongs to no group or person, so it gives nobody access.",
    "approved": "Approved. Answers use it from now on.",
    "retired": "Retired. Answers no longer use it, and it can be approved again.",
    "alias": "Added as another name.",
    "conflict-accepted": "Accepted. It is listed under Accepted, and comes back when one of its meanings changes.",
    "conflict-reopened": "Reopened. It is in the list below.",
    "dismissed": "Dismissed for good. It will not be proposed or queued again.",
    "rolled-back": "Rolled back. History keeps both, so this can be rolled back too.",
    "context": "Context saved.",
    "imported": "Imported.",
    "found": "Your documents were searched. The meanings that they give are below.",
    "not-found": "Your documents were searched. None that you may read says what it means.",
    "suggested": "Thank you. Those who look after the glossary see it now, and you find their answer below.",
    "confirmed": "Thank you. Those who look after the glossary see that you confirm it.",
    "commented": "Your comment is below the suggestion.",
    "reviewer": "Saved. The people who suggested it see who looks at it.",
    "none-ticked": "Nothing selected. Select proposals first.",
    "person": "Saved.",
    "password": "The password is changed, and every session of theirs has ended.",
    "suspended": "Suspended: they are signed out everywhere, and cannot sign in.",
    "restored": "Restored: they may sign in again.",
    "signed-out": "Signed out everywhere.",
    "removed": "Removed. Answers no longer use it.",
    "brought-back": "Brought back. Answers use it again.",
    "erased": "Erased for good.",
    "hidden": "Saved. You are no longer one of its readers, and cannot see it any more.",
    "reread": "Read again.",
    "replaced": "Replaced. The revision before it is kept, and can be brought back.",
    "revision-back": "Brought back. The revision that was current until now is kept.",
    "source-added": "Added.",
    "source-named": "Added. It will be read for the first time when its turn comes.",
    "source-removed": "Removed. Its documents stay, and are no longer synced.",
    "source-erased": "Removed, with its documents. They can be brought back under Removed.",
    "all-tag": "Tagged.",
    "all-untag": "The tag is removed.",
    "all-audience": "Saved. Documents of which you are no longer a reader are not shown any more.",
    "all-audience-unknown": "Saved. One of these names belongs to no group or person, so it gives nobody access to "
    "them.",
    "all-reread": "Read again.",
    "all-remove": "Removed. Answers no longer use them. They can be brought back under Removed.",
    "profile-saved": "Saved. Ask with it: argot ask --profile NAME, or choose it in the settings of a conversation.",
    "link-withdrawn": "Withdrawn. Nobody reads the conversation by this link any more.",
    "verified": "Verified. It is given first to the same question from now on.",
    "verified-dropped": "Dropped. Its question is answered like any other from now on.",
    "all-approved": "Approved. Answers use them from now on.",
}
"""The message of a page after a redirect, by the value of `done` in its address."""


class BoundedRoute(APIRoute):
    """A route that refuses requests that are too large before reading them."""

    # `authorization.py` reads this: the guard leaves the size of bodies to these routes.
    bounds_bodies = True
    most = MAX_BODY_BYTES

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle, most = super().get_route_handler(), self.most

        async def handle_bounded(request: Request) -> Response:
            # Browsers always send the length of a form. A body in chunks would have to be counted while it is read.
            if request.method == "POST" and not request.headers.get("content-length", "").isdigit():
                raise HTTPException(411, translate("The request does not say its length."))
            if is_said_larger(request, most):
                text = translate("That is too large: at most %(limit)s can be sent.", limit=describe_limit(most))
                raise HTTPException(413, text)
            return await handle(request)

        return handle_bounded


@cache
def load_templates() -> Environment:
    """Load the templates of `ui/pages/templates` and of the wings' pages, with the filters they use."""
    from argot.ui.rendering import page_filters, page_labels
    from argot.ui.rendering.label_lines import group_relations

    made = build_environment("argot.ui.pages", *(package for wing in wings() for package in wing.templates))
    made.globals.update(
        list_page_links=list_page_links,
        WORKBENCH=[page for wing in wings() for page in wing.workbench],
        HOME=HOME,
        link=link_glossary,
        person_link=link_person,
        label=page_labels.translate_label,
        change_kind=page_labels.translate_change_kind,
        column_label=page_labels.translate_column_field,
        quote_name=quote_name,
        interval_heading=page_labels.write_interval_heading,
        span_gains=page_labels.span_gains,
        bars=page_filters.draw_bars,
        differences=page_filters.mark_differences,
        stored_fields=page_filters.list_fields,
        place_of=page_filters.format_place,
        group_relations=group_relations,
        validity=describe_validity,
        join_with_or=join_with_or,
    )
    made.filters.update(
        sentence=page_filters.capitalize,
        file_kind=page_filters.get_file_kind,
        count=page_labels.count_things,
        time_left=format_time_left,
        laid_out=page_filters.render_text,
        one_line=flatten_markdown,
        read_fault=translate_read_fault,
        import_place=translate_place,
        import_reason=translate_reason,
    )
    return made


def show_page(
    template: str,
    request: Request,
    who: Visitor,
    code: int = 200,
    /,
    *,
    error: Exception | None = None,
    **values: Any,
) -> HTMLResponse:
    """Show a whole page, with the message that `done` in its address names, or with an `error`, which also sets its
    status.
    """
    shown = {
        "done": DONE_MESSAGES.get(request.query_params.get("done", ""), ""),
        "error": translate_error(error) if error else "",
    }
    html = load_templates().get_template(template).render(who=who, path=request.url.path, **shown, **values)
    return HTMLResponse(html, status_code=code if error is None else _get_status(error), headers=HEADERS)


def _get_status(error: Exception) -> int:
    return 409 if isinstance(error, Conflict) else 403 if isinstance(error, NotAllowed) else 400


def render_part(template: str, headers: Mapping[str, str] | None = None, **values: Any) -> HTMLResponse:
    """Render a part of a page, for HTMX to insert."""
    html = load_templates().get_template(template).render(values)
    return HTMLResponse(html, headers={**HEADERS, **(headers or {})})


def show_effects(request: Request, who: Visitor, effects: CombinedImpact, *, back: str) -> HTMLResponse:
    """Show the combined effect of several changes: as a part of a page for HTMX, else as a page of its own."""
    if "hx-request" in request.headers:
        return render_part("effects_together.html", effects=effects)
    return show_page("effects_together_page.html", request, who, effects=effects, back=back)


def redirect(path: str, **query: str | int) -> RedirectResponse:
    """Redirect the browser after a change, so that reloading does not repeat it."""
    return RedirectResponse(link_glossary(path, **query), status_code=303)


def link_glossary(path: str, **query: str | int | None) -> str:
    """Build an address under the glossary. Parameters are quoted; empty ones are left out."""
    parameters = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{HOME}{path}" + (f"?{urlencode(parameters, quote_via=quote)}" if parameters else "")


def link_person(name: str, **query: str) -> str:
    """Build the address of a person's page."""
    return f"/people/{quote(name, safe='')}" + (f"?{urlencode(query, quote_via=quote)}" if query else "")


def redirect_to_address(address: str) -> RedirectResponse:
    """Do the same as `redirect`, for pages outside the glossary."""
    return RedirectResponse(address, status_code=303)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRow(Context):
    """A context, with the right to change it."""

    may_manage: bool


class Pages:
    """Access to use cases on behalf of a visitor."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb

    async def contexts(self, who: Visitor) -> list[ContextRow]:
        """List the contexts that the visitor may know."""
        found = await context_list(self.kb, who.principal)
        return [
            ContextRow(**read_dataclass_fields(one), may_manage=who.principal.may_manage(one.name)) for one in found
        ]


async def read_form(request: Request) -> dict[str, str]:
    """Read the texts of a form, with plain line feeds; of fields with the same name, the first."""
    texts: dict[str, str] = {}
    for name, value in (await request.form()).multi_items():
        if isinstance(value, str) and name not in texts:
            # Browsers send CRLF: stored like that, every text would differ from the same text typed elsewhere.
            texts[name] = value.replace("\r\n", "\n").replace("\r", "\n")
    return texts


def parse_share(text: str | float) -> float:
    """Parse a share between 0 and 1 from a form or an address; 0 for anything else."""
    try:
        found = float(text)
    except ValueError:
        return 0.0
    # `float` also reads NaN, the only number that is not equal to itself.
    return min(max(found, 0.0), 1.0) if found == found else 0.0  # noqa: PLR0124  not a number


def parse_integer(text: str | None) -> int:
    """Parse a whole number from a form or an address; -1, which is no valid value anywhere, for anything else."""
    plain = (text or "").strip()
    # At most 15 digits, which SQLite can store as an integer; `isdigit` alone is also true of "²".
    return int(plain) if plain.isascii() and plain.isdigit() and len(plain) < 16 else -1
