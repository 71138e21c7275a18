"""A part of a document as inert HTML: with an anchor for each passage, and the cited place marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from argot.service.usecases.documents.passages import DocumentText, PassagePlace
from argot.ui.rendering.page_filters import load_renderer
from argot.ui.rendering.safe_markdown import highlight

if TYPE_CHECKING:
    from markdown_it.token import Token

OPEN, CLOSE = "\ue010", "\ue011"
"""Private characters around a cited piece until the text is HTML; `highlight` removes the text's own ones."""
CITED = "cited-place"
LEAVES = ("paragraph_open", "heading_open", "list_item_open", "tr_open", "fence", "code_block")
"""Blocks that can be the place of a passage."""


def render_document_text(
    read: DocumentText, passage: str = "", spans: Sequence[tuple[int, int]] = ()
) -> tuple[Markup, list[Markup]]:
    """Render the text of a part. Return the HTML, and the cited pieces that could not be marked in it.

    Args:
        passage: the id of the cited one, whose place is marked.
        spans: the cited pieces, [start, end) in characters of the document's Markdown.
    """
    inside = [(start - read.start, end - read.start) for start, end in spans]
    text, left = highlight(read.text, inside, (OPEN, CLOSE))
    renderer = load_renderer()
    tokens = renderer.parse(read.columns + text)
    above = read.columns.count("\n")
    blocks = [one for one in tokens if one.type in LEAVES and one.map and not one.hidden]
    # The cited one first, for a block has one anchor only.
    for one in sorted(read.passages, key=lambda place: place.id != passage):
        lines = _find_lines(read, one, above)
        _set_anchor(blocks, lines, one.id)
        if one.id == passage:
            _mark_blocks(blocks, lines)
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:  # the page's own heading is the first
            token.tag = f"h{min(int(token.tag[1:]) + 1, 6)}"
    html = renderer.renderer.render(tokens, renderer.options, {})
    marked = Markup(html.replace(OPEN, "<mark>").replace(CLOSE, "</mark>"))  # noqa: S704  all text is escaped
    return marked, [Markup(renderer.render(words)) for words in left]  # noqa: S704  as above


def _find_lines(read: DocumentText, one: PassagePlace, above: int) -> tuple[int, int]:
    """Return the first line of a passage in the rendered text, and the line behind its last."""
    start, end = (max(0, place - read.start) for place in (one.start, one.end))
    first = above + read.text.count("\n", 0, start)
    return first, first + read.text.count("\n", start, end) + 1


def _get_lines(block: Token) -> tuple[int, int]:
    first, end = block.map or (0, 0)
    return first, end


def _set_anchor(blocks: Sequence[Token], lines: tuple[int, int], anchor: str) -> None:
    """Give the passage's id to the block in which it begins, or else to the next."""
    around = [one for one in blocks if _get_lines(one)[0] <= lines[0] < _get_lines(one)[1]]
    after = [one for one in blocks if _get_lines(one)[0] > lines[0]]
    # The innermost block is the last one.
    if (block := next(iter([*around[-1:], *after[:1]]), None)) and not block.attrGet("id"):
        block.attrSet("id", anchor)


def _mark_blocks(blocks: Sequence[Token], lines: tuple[int, int]) -> None:
    for block in blocks:
        first, end = _get_lines(block)
        if first < lines[1] and end > lines[0]:
            block.attrSet("class", CITED)
