"""What the side panel of the chat window shows of a cited source, as elements of Chainlit."""

from __future__ import annotations

from typing import Any

from argot.errors import ArgotError
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.documents import read_passage
from argot.ui.rendering.chat_markdown import format_title, is_pdf
from argot.ui.rendering.source_addresses import CitedSource
from argot.ui.web.asker_identity import get_current_principal


async def build_elements(kb: KnowledgeBase, source: CitedSource, thread: str) -> tuple[str, list[dict[str, Any]]]:
    """The title of the side panel and what it shows: for a PDF the page with the place marked, then the words."""
    import chainlit as cl

    page = False
    try:
        found = await read_passage(kb, await get_current_principal(kb), passage_id=source.passage_id)
        title, page = format_title(found), is_pdf(found)
    except ArgotError:
        # Alike for one that is gone and one that may not be read; the text below says it in a sentence.
        title = "No longer there"
    common = {"name": title, "display": "side", "thread_id": thread}
    if source.original:
        return title, [cl.Pdf(page=source.page, url=source.address, **common).to_dict()]
    elements: list[Any] = []
    if page:
        path, _, spans = source.address.partition("?")
        address = f"{path}/page.png{'?' * bool(spans)}{spans}"
        elements.append(cl.Image(mime="image/png", url=address, size="large", **common))
    # Chainlit's page fetches the text at this address: with the rights its reader has by then.
    elements.append(cl.Text(mime="text/plain", url=source.address, **common))
    return title, [element.to_dict() for element in elements]
