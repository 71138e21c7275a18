"""Rich text (.rtf): headings, lists, tables, notes and comments; hidden and deleted text is left out.

The control words are those of the Rich Text Format (RTF) Specification 1.9.1. Nothing embedded is run or opened.
"""

from __future__ import annotations

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.file_fields import build_fields
from argot.corpus.readers.furniture_fields import read_labelled_fields
from argot.corpus.readers.html import ELEMENTS_PER_SECOND, convert_tree, parse_body
from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.plain_text import name_without_suffix
from argot.corpus.readers.rtf_text import RichText
from argot.corpus.readers.titles import clean_title, find_first_heading
from argot.errors import UnreadableDocument
from argot.types import ParsedDocument

MEDIA_TYPE = "application/rtf"
_BYTES_PER_SECOND = 1_500_000
_RTF_MARK = b"{\\rtf"


def read_rtf(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read rich text. The title comes from its properties, else the first top heading, else the file name.

    Raises:
        UnreadableDocument: it does not begin as rich text, or is too large to be read in the time.
    """
    start = data[:1000].find(_RTF_MARK)
    if start < 0:
        raise UnreadableDocument(name, "no rich text (RTF)", "Give the file the suffix of its kind.")
    limits.check_markup(len(data), _BYTES_PER_SECOND, "rich text", name)
    omissions = Omissions()
    text = RichText(omissions)
    text.read(data[start:])
    limits.check_elements(text.count_elements(), ELEMENTS_PER_SECOND, "text", name)
    markdown = convert_rich_text(text, omissions)
    info = text.info
    hidden = ("hidden text was left out",) if text.has_hidden else ()
    deleted = ("text deleted by tracked changes was left out",) if text.has_deleted else ()
    named = ((key, info.get(key, "")) for key in ("author", "keywords", "category"))
    return ParsedDocument(
        clean_title(info.get("title", "")) or find_first_heading(markdown) or name_without_suffix(name),
        markdown,
        MEDIA_TYPE,
        date=text.find_date(),
        warnings=(*hidden, *deleted, *omissions.warnings()),
        fields=tuple(dict.fromkeys([*build_fields(named), *read_labelled_fields(text.running)])),
    )


def convert_rich_text(text: RichText, omissions: Omissions) -> str:
    """Return rich text that was read as Markdown."""
    html = f"<html><body>{text.write_html()}</body></html>"
    return convert_tree(parse_body(html), omissions, text.pictures.get)


def read_rich_text_part(data: bytes) -> str:
    """Return rich text within another file as Markdown."""
    omissions = Omissions()
    text = RichText(omissions)
    text.read(data)
    return convert_rich_text(text, omissions)
