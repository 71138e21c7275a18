"""A passage as the side panel of the chat window shows it: its text with marks, and links to its document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from urllib.parse import quote

from argot.languages.catalogues import translate
from argot.service.usecases.documents.documents import PassageShown
from argot.service.usecases.documents.pictures import PictureShown
from argot.ui.rendering.safe_markdown import MARKS, clean_text, escape_markdown, highlight
from argot.ui.rendering.source_addresses import PASSAGES
from argot.wrapped_lines import join_wrapped_lines


def format_passage(
    passage: PassageShown,
    spans: Sequence[tuple[int, int]],
    pictures: Sequence[PictureShown] = (),
    *,
    in_library: bool = False,
) -> str:
    """Format a passage for the side panel.

    Args:
        spans: the cited sentences, [start, end) in characters of the revision's Markdown.
        pictures: those in it, of which the descriptions are shown.
        in_library: the library has a page of its document.
    """
    start = passage.start
    # Spans count from the start of the document, the text from the start of the passage.
    source = join_wrapped_lines(passage.text) if _is_markdown(passage.document) else passage.text
    text, elsewhere = highlight(source, [(first - start, last - start) for first, last in spans])
    heading = [f"###### {escape_markdown(passage.heading)}"] if passage.heading else []
    parts = [*heading, *(f"> {words.join(MARKS)}".replace("\n", "\n> ") for words in elsewhere), text]
    parts += [
        f"*{translate('%(place)s, described by a model:', place=escape_markdown(one.place))}*"
        f" {escape_markdown(one.description)}"
        for one in pictures
        if one.description
    ]
    if is_pdf(passage):
        address = f"{PASSAGES}/{quote(passage.id, safe='')}/original#page={passage.page}"
        parts.append(f"[{translate('Open the document at page %(page)s', page=passage.page)}]({address})")
    if in_library:
        address = link_library(passage.document_id, passage.id, spans)
        parts.append(f"[{translate('Read it in the document')}]({address})")
    return "\n\n".join(parts)


def link_library(document: str, passage: str, spans: Iterable[tuple[int, int]]) -> str:
    """Build the address of the library's page that shows a passage, with these spans marked."""
    place = quote(passage, safe="")
    marked = "".join(f"&span={start}-{end}" for start, end in spans)
    return f"/library/{quote(document, safe='')}?passage={place}{marked}#{place}"


def is_pdf(passage: PassageShown) -> bool:
    """Tell whether the passage's page can be shown as a picture."""
    return bool(passage.page) and PurePosixPath(passage.document).suffix.casefold() == ".pdf"


def _is_markdown(document: str) -> bool:
    return PurePosixPath(document).suffix.casefold() in {".md", ".markdown"}


def format_title(passage: PassageShown) -> str:
    """Format the title of the side panel: the document, and the page in it."""
    page = f", {translate(passage.page_kind or 'page')} {passage.page}" if passage.page else ""
    fresh = f", {clean_text(passage.freshness)}" if passage.freshness else ""
    return f"{clean_text(passage.document)}{page}{fresh}"
