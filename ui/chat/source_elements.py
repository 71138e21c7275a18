"""Chainlit elements that show a cited source in the chat window's side panel."""

from __future__ import annotations

from typing import Any

from argot.errors import ArgotError
from argot.languages.catalogues import translate
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.documents import read_passage
from argot.service.usecases.documents.pictures import PictureShown, passage_pictures
from argot.ui.rendering.passage_panel import format_title, is_pdf
from argot.ui.rendering.source_addresses import CitedSource
from argot.ui.web.asker_identity import get_current_principal


async def build_elements(kb: KnowledgeBase, source: CitedSource, thread: str) -> tuple[str, list[dict[str, Any]]]:
    """Build the title and content of the side panel: for a PDF the page with the place marked, then the
    pictures in the passage, then the words.
    """
    import chainlit as cl

    page = False
    pictures: list[PictureShown] = []
    try:
        principal = await get_current_principal(kb)
        found = await read_passage(kb, principal, passage_id=source.passage_id)
        title, page = format_title(found), is_pdf(found)
        pictures = await passage_pictures(kb, principal, passage_id=source.passage_id)
    except ArgotError:
        # The same title for a passage that is gone and one that may not be read; the text below explains it.
        title = translate("No longer there")
    common = {"name": title, "display": "side", "thread_id": thread}
    if source.original:
        return title, [cl.Pdf(page=source.page, url=source.address, **common).to_dict()]
    elements: list[Any] = []
    if page:
        path, _, spans = source.address.partition("?")
        address = f"{path}/page.png{'?' * bool(spans)}{spans}"
        elements.append(cl.Image(mime="image/png", url=address, size="large", **common))
    for one in pictures:
        shared = {**common, "name": one.place}
        elements.append(cl.Image(mime=one.media_type, url=one.address, size="medium", **shared))
    # Chainlit's page fetches the text at this address, with the rights its reader has at that time.
    elements.append(cl.Text(mime="text/plain", url=source.address, **common))
    return title, [element.to_dict() for element in elements]
