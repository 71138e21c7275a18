"""Forms refused because their sender was signed out meanwhile, or signed in again: what was typed is given back.

Our pages are sent with `no-store`, so the browser's back button loads them anew, and what was typed would be lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.requests import Request

if TYPE_CHECKING:
    pass

PAGES = ("/glossary/", "/people", "/documents/", "/ratings/", "/workbench/")
"""Forms at these addresses are given back."""
SECRET_FIELD = "password"  # noqa: S105  the name of a field
"""Fields with this in their names are not: they are typed again."""
# Of names and values: the given-back page holds every field twice, once to be read and once to be sent again.
MAX_FORM_CHARS = 64 * 1024
# A form with files comes as multipart/form-data: files cannot be put back into a page, so it is not kept.
FORM_TYPE = "application/x-www-form-urlencoded"

Fields = Sequence[tuple[str, str]]


class OutdatedForm(HTTPException):
    """The page that sent this form was made for another session; `form` is what was typed."""

    def __init__(self, form: Fields) -> None:
        super().__init__(403, "This page is out of date. Go back, reload it, and send it again.")
        self.form = form


def may_be_kept(path: str, content_type: str) -> bool:
    return path.startswith(PAGES) and content_type.startswith(FORM_TYPE)


async def read_fields(request: Request) -> Fields:
    """The fields that were typed, without secret ones; none of a form that is too large.

    Raises:
        HTTPException: the body is larger than may be read of this sender.
    """
    return _keep_typed(
        ((name, value) for name, value in (await request.form()).multi_items() if isinstance(value, str))
    )


def _keep_typed(items: Iterable[tuple[str, str]]) -> Fields:
    # The page's token is left out: it belongs to the session that has ended, and the new page brings its own.
    found = [(name, value) for name, value in items if name != "csrf" and SECRET_FIELD not in name]
    # All or nothing: a form given back with some fields missing would be saved like that.
    return found if sum(len(name) + len(value) for name, value in found) <= MAX_FORM_CHARS else []
