"""Template filters of the pages: kinds of files, small bar charts, and the differences of two texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from difflib import SequenceMatcher
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from markupsafe import Markup

from argot.languages.catalogues import format_local_day, translate
from argot.locations import place
from argot.service.json_values import read_dataclass_fields
from argot.types import Context, Label, Relation, Sense
from argot.ui.rendering.label_lines import format_label, format_relation
from argot.ui.rendering.safe_markdown import quote_markdown

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

MAX_COMPARED_WORDS = 3000
"""Words on each side. The time to compare grows with their product; longer texts are shown whole."""
BAR, GAP, TALL = 9, 3, 30
DELETED, INSERTED = Markup("<del>{}</del>"), Markup("<ins>{}</ins>")

FILE_KINDS = {
    "text/markdown": "Markdown",
    "text/plain": "text",
    "text/html": "web page",
    "text/x-rst": "reStructuredText",
    "application/pdf": "PDF",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "Word",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "slides",
    "application/msword": "Word",
    "application/rtf": "rich text",
    "application/vnd.oasis.opendocument.text": "OpenDocument text",
    "application/vnd.oasis.opendocument.presentation": "slides",
    "application/vnd.ms-visio.drawing": "Visio drawing",
    "text/csv": "table",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "spreadsheet",
    "application/vnd.ms-excel": "spreadsheet",
    "application/vnd.ms-excel.sheet.binary.macroEnabled.12": "spreadsheet",
    "application/vnd.oasis.opendocument.spreadsheet": "spreadsheet",
    "message/rfc822": "mail",
    "application/vnd.ms-outlook": "mail",
    "multipart/related": "web page",
    "application/mbox": "mailbox",
    "application/epub+zip": "e-book",
    "application/json": "JSON",
    "application/jsonl": "JSON lines",
    "application/x-ipynb+json": "notebook",
    "application/xml": "XML",
}
"""People's names for the media types that Argot reads; pictures are named by the first part of the type."""


def get_file_kind(media_type: str) -> str:
    # Source code has the name of its language.
    named = FILE_KINDS.get(media_type) or media_type.removeprefix("text/x-")
    return "picture" if media_type.startswith("image/") else named


def capitalize(text: str) -> str:
    """Capitalize the first letter, and leave the rest as it is."""
    return text[:1].upper() + text[1:]


class PlacedText(Protocol):
    """A text with a place in a document: a passage, or a piece of evidence."""

    @property
    def document(self) -> str: ...

    @property
    def page(self) -> int | None: ...


def format_place(passage: PlacedText) -> str:
    """Format the place of a passage in its document: ", page 3", ", sheet 1", or nothing."""
    return place(passage.document, passage.page, getattr(passage, "page_kind", None))


@cache
def load_renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Line breaks are kept: a scan or a mail has no empty lines between its lines.
    made = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table")
    return made.disable(["image", "link", "autolink", "reference", "html_block", "html_inline"])


def render_text(markdown: str) -> Markup:
    """Render a document's Markdown as inert HTML: no links, no pictures, no HTML of its own."""
    return Markup(load_renderer().render(quote_markdown(markdown)))  # noqa: S704  the renderer escapes all text


def draw_bars(counts: Sequence[int], weeks: Sequence[str], of: str) -> Markup:
    """Draw counts by week as inline SVG, with the same in words for screen readers."""
    most = max(counts, default=0) or 1
    days = [format_local_day(week) for week in weeks]
    told = ", ".join(f"{day}: {number}" for day, number in zip(days, counts, strict=True) if number)
    drawn = Markup("").join(
        Markup('<rect x="{}" y="{}" width="{}" height="{}"{}><title>{}: {}</title></rect>').format(
            place * (BAR + GAP),
            # SVG counts from the top. At least one unit high, so that an empty week still shows as a week.
            TALL - (height := max(round(number / most * TALL), 1)),
            BAR,
            height,
            Markup("") if number else Markup(' class="none"'),
            day,
            number,
        )
        for place, (day, number) in enumerate(zip(days, counts, strict=True))
    )
    wide = len(counts) * (BAR + GAP) - GAP
    frame = Markup('<svg class="bars" role="img" aria-label="{}" viewBox="0 0 {} {}" width="{}" height="{}">{}</svg>')
    label = translate("%(what)s, by week: %(counts)s", what=of, counts=told or translate("none"))
    return frame.format(label, wide, TALL, wide, TALL, drawn)


def mark_differences(before: object, after: object) -> tuple[Markup, Markup]:
    """Return both texts, with the words that only one of them has marked as deleted or inserted."""
    old, new = _split_words(before), _split_words(after)
    if max(len(old), len(new)) > MAX_COMPARED_WORDS or not old or not new:
        whole_old, whole_new = "".join(old), "".join(new)
        return _tag_text(DELETED, whole_old), _tag_text(INSERTED, whole_new)
    left, right = Markup(""), Markup("")
    # `autojunk` would leave frequent words, such as "the" and blanks, out of the comparison.
    for kind, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            left += "".join(old[i1:i2])
            right += "".join(new[j1:j2])
        else:
            left += _tag_text(DELETED, "".join(old[i1:i2]))
            right += _tag_text(INSERTED, "".join(new[j1:j2]))
    return left, right


def _split_words(value: object) -> list[str]:
    # Blanks and signs are pieces too, so that the pieces joined give the original text.
    return re.findall(r"\s+|\w+|[^\w\s]", format_value(value))


def _tag_text(frame: Markup, text: str) -> Markup:
    # `Markup.format` escapes its arguments.
    return frame.format(text) if text else Markup("")


def list_fields(stored: Sense | Context | Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the fields, by name, of a sense or context, stored or former; of None, no fields. Readers are sorted."""
    if stored is None or isinstance(stored, Mapping):
        return stored or {}
    values = read_dataclass_fields(stored)
    return {**values, "audience": sorted(values["audience"])}


def _format_item(item: object) -> str:
    """Format one item of a field. History keeps labels and relations as the lists of their values."""
    if isinstance(item, list | tuple):
        item = Label(*item) if len(item) == len(fields(Label)) else Relation(*item)
    if isinstance(item, dict):
        item = Label(**item) if "status" in item else Relation(**item)
    if isinstance(item, Label):
        return format_label(item)
    return format_relation(item) if isinstance(item, Relation) else str(item)


def format_value(value: object) -> str:
    """Format a field's value as a form shows it: lists one item a line."""
    if isinstance(value, list | tuple):
        return "\n".join(map(_format_item, value))
    return "" if value is None else str(value)
