"""The pages that need no sign-in, and the page that explains a refusal: templates of `ui/templates`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from fastapi import Response
from fastapi.responses import HTMLResponse

from argot.languages.catalogues import translate
from argot.ui.translation.template_texts import install_translations
from argot.ui.web.authorization import Visitor
from argot.ui.web.page_links import list_page_links

if TYPE_CHECKING:
    from jinja2 import Environment

OTHER_HEADING = "This was not done"
HEADINGS = {401: "Not allowed", 403: "Not allowed", 404: "Not found", 500: "Something went wrong"}


def build_environment(*packages: str) -> Environment:
    """Load the templates of these packages now, so that an update of the files shows as a whole from the next start."""
    # Imported and built for the first page: most commands show no page.
    from jinja2 import DictLoader, Environment, PackageLoader, StrictUndefined

    made = Environment(
        autoescape=True,  # in every file; by default Jinja escapes nothing
        auto_reload=False,
        undefined=StrictUndefined,  # a misspelt name fails in the tests instead of showing as nothing
        trim_blocks=True,
        lstrip_blocks=True,
    )
    install_translations(made)
    loaders = [PackageLoader(package) for package in packages]
    made.loader = DictLoader(
        {name: files.get_source(made, name)[0] for files in loaders for name in files.list_templates()}
    )
    return made


@cache
def _load_own_templates() -> Environment:
    return build_environment("argot.ui")


def render_page(template: str, status: int = 200, headers: dict[str, str] | None = None, **values: Any) -> HTMLResponse:
    return HTMLResponse(
        _load_own_templates().get_template(template).render(values),
        status_code=status,
        headers={"Cache-Control": "no-store", **(headers or {})},
    )


def show_refusal(status: int, reason: str, who: Visitor | None, back: str = "") -> Response:
    """Show the page that says why another is not shown. `back`: the address of a page to continue with."""
    heading = translate(HEADINGS.get(status, OTHER_HEADING))
    # Who came through a frame may open the chat window alone.
    pages = list_page_links(who) if who and status == 404 and not who.framed else []
    return render_page("refused.html", status, reason=reason, who=who, heading=heading, back=back, pages=pages)
