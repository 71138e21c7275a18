"""The sources of documents, for managers: the list with the last sync of each, adding and removing one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response

from argot.errors import ArgotError, Conflict, InvalidInput, NotAllowed
from argot.languages.catalogues import format_local_number, translate, translate_number
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.sources import (
    SourceKind,
    SourceRecord,
    SyncUnderWay,
    source_add,
    source_list,
    source_progress,
    source_remove,
    source_sync_start,
)
from argot.ui.pages.document_pages import DOCUMENTS
from argot.ui.pages.form_fields import split_commas
from argot.ui.pages.page_base import BoundedRoute, Pages, read_form, redirect_to_address, render_part, show_page
from argot.ui.translation.page_errors import translate_error
from argot.ui.web.authorization import Visitor, Who, needs
from argot.ui.web.routers import make_router

SOURCES = f"{DOCUMENTS}/sources"
KINDS: Mapping[SourceKind, str] = {
    "folder": "Folder",
    "git": "Git repository",
    "web": "Web site",
    "confluence": "Confluence export",
    "sharepoint": "SharePoint export",
    "imap": "Mail",
    "loader": "Loader",
}
INTERVALS: Mapping[str, str] = {
    "": "Only when asked", "30m": "Every 30 minutes", "6h": "Every 6 hours", "1d": "Every day", "7d": "Every week",
}  # fmt: skip
_EVERY = {
    86_400: ("every day", "every %(number)s days"),
    3600: ("every hour", "every %(number)s hours"),
    60: ("every minute", "every %(number)s minutes"),
    1: ("every second", "every %(number)s seconds"),
}
"""The words for an interval, by the seconds of its unit."""
_FIELDS = ("address", "name", "kind", "every", "include", "exclude", "tags", "audience", "branch", "options", "secrets")
_PAGE_TERMS = ((re.compile(r"--with-env (?=\w)"), "under Secrets "), (re.compile(r"--with (?=\w)"), "under Options "))
"""The command line's names in messages of use cases, and the page's names for the same."""
_CHANGES = ("added", "updated", "renamed", "removed", "failed")
"""The counts of a sync that are shown, in this order."""


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A source as its row shows it. `under_way`: its sync, while one is running."""

    source: SourceRecord
    under_way: SyncUnderWay | None

    @property
    def kind(self) -> str:
        return KINDS[self.source.kind]

    @property
    def every(self) -> str:
        """The interval, such as "every 6 hours"; empty for a source that is synced only on request."""
        every = self.source.every
        unit = next(seconds for seconds in _EVERY if every % seconds == 0)
        return translate_number(*_EVERY[unit], every // unit) if every else ""

    @property
    def changes(self) -> str:
        """The changes of the last sync: "2 added, 1 removed"."""
        counts = self.source.counts
        numbers = [(counts[kind], kind) for kind in _CHANGES if counts.get(kind)]
        return ", ".join(f"{format_local_number(number)} {translate(kind)}" for number, kind in numbers)

    @property
    def detail(self) -> str:
        return use_page_terms(self.source.detail)

    @property
    def is_cut_off(self) -> bool:
        """Tell whether a sync was begun and nobody is running it: its process ended, or the log has an error."""
        return self.source.state == "syncing" and self.under_way is None


def use_page_terms(text: str) -> str:
    """Replace command-line options in a message with the names of the page's fields."""
    for option, field in _PAGE_TERMS:
        text = option.sub(field, text)
    return text


def _parse_pairs(text: str) -> dict[str, str]:
    """Parse lines of key=value, as typed into one field.

    Raises:
        InvalidInput: a line has another form.
    """
    found = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        key, _, value = (part.strip() for part in line.partition("="))
        if not key or not value:
            told = translate("'%(line)s' is not an option with a value. Write one a line: key=value", line=line[:80])
            raise InvalidInput(told)
        found[key.replace("-", "_")] = value
    return found


def build_document_source_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=SOURCES, route_class=BoundedRoute)
    pages = Pages(kb)
    _add_list(router, pages)
    _add_changes(router, pages)
    return router


def _add_list(router: APIRouter, pages: Pages) -> None:
    @router.get("")
    @needs("manager")
    async def sources(request: Request, who: Who) -> Response:
        return await _render_sources(pages, request, who)

    @router.get("/rows")
    @needs("manager")
    async def rows(request: Request, who: Who) -> Response:
        """Render the list alone; the page requests it repeatedly while a sync is running."""
        if "hx-request" not in request.headers:
            return redirect_to_address(SOURCES)
        return render_part("source_rows.html", who=who, rows=await _list_rows(pages, who))


def _add_changes(router: APIRouter, pages: Pages) -> None:
    kb = pages.kb

    @router.post("")
    @needs("manager")
    async def add(request: Request, who: Who) -> Response:
        form = await read_form(request)
        fields = {name: form.get(name, "").strip() for name in _FIELDS}
        try:
            if not fields["address"]:
                raise InvalidInput("Where is it? Give the path of a folder, or an address.")
            made = await source_add(
                kb,
                who.principal,
                address=fields["address"],
                name=fields["name"] or None,
                kind=next((kind for kind in KINDS if kind == fields["kind"]), None),
                include=split_commas(fields["include"]) or None,
                exclude=split_commas(fields["exclude"]) or None,
                audience=split_commas(fields["audience"]) or None,
                tags=split_commas(fields["tags"]) or None,
                every=fields["every"],
                options=_parse_pairs(fields["options"]) | ({"branch": fields["branch"]} if fields["branch"] else {})
                or None,
                variables=_parse_pairs(fields["secrets"]) or None,
            )
            if not form.get("now"):
                return redirect_to_address(f"{SOURCES}?done=source-named")
            await source_sync_start(kb, who.principal, name=made.name)
        except (Conflict, InvalidInput, NotAllowed) as error:
            return await _render_sources(pages, request, who, error, fields)
        return redirect_to_address(f"{SOURCES}?done=source-added")

    @router.post("/{name}/sync")
    @needs("manager")
    async def sync(request: Request, who: Who, name: str) -> Response:
        """Sync a source; with `confirm`, remove even more documents than seems plausible."""
        confirm = bool((await read_form(request)).get("confirm"))
        try:
            await source_sync_start(kb, who.principal, name=name, confirm=confirm)
        except Conflict as error:
            return await _render_sources(pages, request, who, error)
        return redirect_to_address(SOURCES)

    @router.post("/{name}/remove")
    @needs("manager")
    async def remove(request: Request, who: Who, name: str) -> Response:
        with_documents = (await read_form(request)).get("documents") == "remove"
        try:
            await source_remove(kb, who.principal, name=name, with_documents=with_documents)
        except Conflict as error:
            return await _render_sources(pages, request, who, error)
        return redirect_to_address(f"{SOURCES}?done=source-{'erased' if with_documents else 'removed'}")


async def _render_sources(
    pages: Pages,
    request: Request,
    who: Visitor,
    error: ArgotError | None = None,
    fields: Mapping[str, str] | None = None,
) -> Response:
    shown: dict[str, Any] = {
        "given": {name: (fields or {}).get(name, "") for name in _FIELDS},
        "kinds": KINDS,
        "every": INTERVALS,
    }
    shown["refused"] = use_page_terms(translate_error(error)) if error else ""
    return show_page("sources.html", request, who, error=error, rows=await _list_rows(pages, who), **shown)


async def _list_rows(pages: Pages, who: Visitor) -> list[SourceRow]:
    under_way = {one.source: one for one in await source_progress(pages.kb, who.principal)}
    return [SourceRow(one, under_way.get(one.name)) for one in await source_list(pages.kb, who.principal)]
