"""Filters for the pages' templates: labels for stored values, small bar charts, and the difference of two texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from markupsafe import Markup

from argot.locations import place
from argot.service.json_values import read_dataclass_fields
from argot.types import Context, Sense
from argot.ui.rendering.safe_markdown import quote_markdown

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

MAX_COMPARED_WORDS = 3000
"""Words on each side. Comparing takes time with the product of both; longer texts are shown whole."""
BAR, GAP, TALL = 9, 3, 30
DELETED, INSERTED = Markup("<del>{}</del>"), Markup("<ins>{}</ins>")

LABELS = {
    "approved": "approved",
    "draft": "draft",
    "retired": "retired",
    "miss": "drafted for a missed term",
    "mined": "found in the documents",
    "person": "proposed by a person",
    "model": "written by the language model",
    "sure": "sure",
    "likely": "likely",
    "unsure": "unsure",
    "unrated": "",
    "sure_up": "Sure",
    "likely_up": "Likely or sure",
    "duplicate": "Duplicate",
    "conflicting_expansion": "Two meanings in one context",
    "same_elsewhere": "Same meaning elsewhere",
    "alias_collides": "Alias collides",
    "ordinary_word": "Ordinary word",
    "expansion_is_term": "Says no more than the term",
    "alias_is_term": "Alias of itself",
    "review_due": "Review due",
    "no_document": "Not in the documents",
    "term": "Term",
    "context": "Context",
    "expansion": "Stands for",
    "description": "Description",
    "notes": "Notes",
    "aliases": "Other names",
    "owner": "Owner",
    "status": "Status",
    "audience": "Who may read it",
    "review_by": "Review by",
    "contact": "Contact",
    "name": "Name",
    "let stand": "conflict accepted",  # a change of this kind, as the glossary stores it
}

FILE_KINDS = {
    "text/markdown": "Markdown",
    "text/plain": "text",
    "text/html": "web page",
    "text/x-rst": "reStructuredText",
    "application/pdf": "PDF",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "Word",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "slides",
    "text/csv": "table",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "spreadsheet",
    "message/rfc822": "mail",
    "application/mbox": "mailbox",
    "application/epub+zip": "e-book",
    "application/json": "JSON",
    "application/jsonl": "JSON lines",
    "application/x-ipynb+json": "notebook",
}
"""What people call a file of each media type that Argot reads; of pictures the first part says it."""


def get_file_kind(media_type: str) -> str:
    return FILE_KINDS.get(media_type) or ("picture" if media_type.startswith("image/") else media_type)


def format_moment(text: str | None) -> str:
    """An ISO time for people: 2027-01-31 12:00."""
    return (text or "")[:16].replace("T", " ")


def format_day(text: str | None) -> str:
    return (text or "")[:10]


def capitalize(text: str) -> str:
    """With a capital letter in front, and the rest as it is."""
    return text[:1].upper() + text[1:]


class PlacedText(Protocol):
    """What stands on a page of a document: a passage, or a piece of evidence."""

    @property
    def document(self) -> str: ...

    @property
    def page(self) -> int | None: ...


def format_place(passage: PlacedText) -> str:
    """Where in its document a passage stands: ", page 3", ", sheet 1", or nothing."""
    return place(passage.document, passage.page, getattr(passage, "page_kind", None))


def count(number: int, one: str, many: str = "") -> str:
    """A number with its noun: 1 question, 3 questions, 12,000 questions."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


@cache
def _load_renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Lines of a document stay lines: a scan or a mail has no empty ones between them.
    made = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table")
    return made.disable(["image", "link", "autolink", "reference", "html_block", "html_inline"])


def render_text(markdown: str) -> Markup:
    """Markdown of a document as HTML that does nothing: no link, no picture, no HTML of its own."""
    return Markup(_load_renderer().render(quote_markdown(markdown)))  # noqa: S704  the renderer escapes all text


def draw_bars(counts: Sequence[int], weeks: Sequence[str], of: str) -> Markup:
    """A picture of counts by week, as inline SVG; read aloud it says the same in words."""
    most = max(counts, default=0) or 1
    told = ", ".join(f"{week}: {number}" for week, number in zip(weeks, counts, strict=True) if number) or "none"
    drawn = Markup("").join(
        Markup('<rect x="{}" y="{}" width="{}" height="{}"{}><title>{}: {}</title></rect>').format(
            place * (BAR + GAP),
            # SVG counts from the top. At least one unit high, so that a week without any still shows as a week.
            TALL - (height := max(round(number / most * TALL), 1)),
            BAR,
            height,
            Markup("") if number else Markup(' class="none"'),
            week,
            number,
        )
        for place, (week, number) in enumerate(zip(weeks, counts, strict=True))
    )
    wide = len(counts) * (BAR + GAP) - GAP
    frame = Markup('<svg class="bars" role="img" aria-label="{}" viewBox="0 0 {} {}" width="{}" height="{}">{}</svg>')
    return frame.format(f"{of}, by week: {told}", wide, TALL, wide, TALL, drawn)


def mark_differences(before: object, after: object) -> tuple[Markup, Markup]:
    """Both texts, what only one of them has marked as deleted or inserted."""
    old, new = _split_words(before), _split_words(after)
    if max(len(old), len(new)) > MAX_COMPARED_WORDS or not old or not new:
        whole_old, whole_new = "".join(old), "".join(new)
        return _tag_text(DELETED, whole_old), _tag_text(INSERTED, whole_new)
    left, right = Markup(""), Markup("")
    # `autojunk` would leave words out of the comparison that occur often, such as "the" and blanks.
    for kind, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            left += "".join(old[i1:i2])
            right += "".join(new[j1:j2])
        else:
            left += _tag_text(DELETED, "".join(old[i1:i2]))
            right += _tag_text(INSERTED, "".join(new[j1:j2]))
    return left, right


def _split_words(value: object) -> list[str]:
    # Blanks and signs too are pieces of their own: joined again they give the text as it was.
    return re.findall(r"\s+|\w+|[^\w\s]", format_value(value))


def _tag_text(frame: Markup, text: str) -> Markup:
    # `Markup.format` escapes what it fills in.
    return frame.format(text) if text else Markup("")


def list_fields(stored: Sense | Context | Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The fields of a sense or context as it is, or as it was, by name; of None none. Readers are in order."""
    if stored is None or isinstance(stored, Mapping):
        return stored or {}
    told = read_dataclass_fields(stored)
    return {**told, "audience": sorted(told["audience"])}


def format_value(value: object) -> str:
    """A field's value as it stands in a form: lists one a line."""
    if isinstance(value, list | tuple):
        return "\n".join(map(str, value))
    return "" if value is None else str(value)
