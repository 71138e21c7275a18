"""The pages that need nobody to be signed in, and the one that says why not: templates of `ui/templates`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from fastapi import Response
from fastapi.responses import HTMLResponse

from argot.ui.web.authorization import Visitor

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def _templates() -> Environment:
    # Imported and made at the first page: most commands of the command line show none.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("argot.ui"),
        autoescape=True,  # in every file: by default Jinja escapes nothing
        undefined=StrictUndefined,  # a misspelt name fails in the tests, and does not show as nothing
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render_page(template: str, status: int = 200, headers: dict[str, str] | None = None, **values: Any) -> HTMLResponse:
    return HTMLResponse(
        _templates().get_template(template).render(values),
        status_code=status,
        headers={"Cache-Control": "no-store", **(headers or {})},
    )


def refused(status: int, reason: str, who: Visitor | None) -> Response:
    """The page that says why somebody may not see another."""
    heading = {401: "Not allowed", 403: "Not allowed", 404: "Not found"}.get(status, "That was not done")
    return render_page("refused.html", status, reason=reason, who=who, heading=heading)
