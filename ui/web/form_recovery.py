"""Recovery of forms whose sender was signed out, or signed in again, before sending: the form is shown again.

Our pages are sent with `no-store`, so the browser's back button loads them anew, and everything typed would be lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.requests import Request

from argot.languages.catalogues import translate

if TYPE_CHECKING:
    pass

PAGES = ("/glossary/", "/people", "/documents/", "/ratings/", "/workbench/")
"""The roots of the addresses whose forms are recovered."""
SECRET_FIELD = "password"  # noqa: S105  the name of a field
"""Fields with this in their names are not recovered: they have to be typed again."""
# Names and values together: the recovery page holds every field twice, once to read and once to send again.
MAX_FORM_CHARS = 64 * 1024
# A form with files comes as multipart/form-data: files cannot be put back into a page, so it is not kept.
FORM_TYPE = "application/x-www-form-urlencoded"

Fields = Sequence[tuple[str, str]]


class OutdatedForm(HTTPException):
    """An error: the page of this form was made for another session; `form` holds the fields that were typed."""

    def __init__(self, form: Fields) -> None:
        super().__init__(403, translate("This page is out of date. Go back, reload it, and send it again."))
        self.form = form


def may_be_kept(path: str, content_type: str) -> bool:
    return path.startswith(PAGES) and content_type.startswith(FORM_TYPE)


async def read_fields(request: Request) -> Fields:
    """Read the fields that were typed, without secret ones; none of a form that is too large.

    Raises:
        HTTPException: the body is larger than this sender may send.
    """
    return _keep_typed(
        ((name, value) for name, value in (await request.form()).multi_items() if isinstance(value, str))
    )


def _keep_typed(items: Iterable[tuple[str, str]]) -> Fields:
    # Without the page's token: it belongs to the session that has ended, and the new page has its own.
    found = [(name, value) for name, value in items if name != "csrf" and SECRET_FIELD not in name]
    # All or nothing: a form that is recovered with fields missing would be saved like that.
    return found if sum(len(name) + len(value) for name, value in found) <= MAX_FORM_CHARS else []
