"""Word documents: mammoth gives HTML by the styles, which become headings, lists and tables."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.archives import check_archive, read_core_properties
from argot.corpus.readers.docx_changes import describe_changes
from argot.corpus.readers.docx_comments import insert_comments
from argot.corpus.readers.docx_embedded import count_form_controls, insert_text_parts, read_embedded_files
from argot.corpus.readers.docx_graphics import read_graphics
from argot.corpus.readers.docx_headers import list_header_fields, put_headers_into, read_headers
from argot.corpus.readers.docx_headings import mark_headings
from argot.corpus.readers.docx_hidden import remove_hidden_text
from argot.corpus.readers.docx_insertions import Insertions
from argot.corpus.readers.docx_labels import mark_labels, write_labels
from argot.corpus.readers.docx_notes import remove_marks_without_notes
from argot.corpus.readers.docx_package import WordPackage
from argot.corpus.readers.docx_properties import read_custom_fields
from argot.corpus.readers.docx_text import prepare_text
from argot.corpus.readers.docx_text_boxes import show_all_text
from argot.corpus.readers.header_fields import HeaderText
from argot.corpus.readers.html import convert_tree, parse_body
from argot.corpus.readers.office_package import warn_of_missing
from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.plain_text import name_without_suffix
from argot.corpus.readers.titles import find_first_heading
from argot.types import ParsedDocument

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

# Added to mammoth's own map: Word has nine levels of headings, HTML only six; lists may be nested by style alone.
_STYLE_MAP = """
p[style-name='Title'] => h1.title:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name='Heading 7'] => h6:fresh
p[style-name='Heading 8'] => h6:fresh
p[style-name='Heading 9'] => h6:fresh
p[style-name='Caption'] => p:fresh
p[style-name='caption'] => p:fresh
p[style-name='List Bullet 2'] => ul|ol > li > ul > li:fresh
p[style-name='List Bullet 3'] => ul|ol > li > ul|ol > li > ul > li:fresh
p[style-name='List Number 2'] => ul|ol > li > ol > li:fresh
p[style-name='List Number 3'] => ul|ol > li > ul|ol > li > ol > li:fresh
"""
_ELEMENTS_PER_SECOND = 10_000
"""mammoth's speed: 60 seconds are enough for some 25 MB of ordinary text (unpacked)."""
_ID_PREFIX = "n-"
_NOTE_REFERENCE = re.compile(r"(?:foot|end)note-ref-.+")


def read_docx(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read a Word file. The title comes from the properties, else the first top heading, else the file name. Word files
    know no pages.
    """
    checked = check_archive(data, name, limits, elements_a_second=_ELEMENTS_PER_SECOND)
    data = checked.data
    package, omissions, insertions = WordPackage(data), Omissions(), Insertions(data)
    has_hidden = remove_hidden_text(package)
    headers: list[HeaderText] = []
    changes: tuple[str, ...] = ()
    embedded = ""
    # mammoth reports the error of a text that is no XML.
    if (document := package.parse_tree(package.document)) is not None:
        changes = describe_changes(document)
        # Before fields lose their instructions, which distinguish a page number from text.
        headers = read_headers(package, document)
        prepare_text(package, omissions)
        show_all_text(document)
        remove_marks_without_notes(package, document, omissions)
        mark_labels(package)
        read_graphics(package, document, insertions, omissions)
        insert_comments(package, document, omissions)
        insert_text_parts(package, document, limits, insertions, omissions)
        count_form_controls(package, document, omissions)
        embedded = read_embedded_files(package, document, limits, omissions)
    tree = parse_body(_convert(package))
    # Check boxes are already text, as `prepare_text` wrote them.
    for box in tree.find_all("input"):
        box.decompose()
    write_labels(tree)
    _join_notes(tree)
    markdown = insertions.fill_marks(convert_tree(tree))
    core = read_core_properties(data)
    title = core.title or find_first_heading(markdown) or name_without_suffix(name)
    markdown = put_headers_into(markdown, headers, title) + embedded
    hidden = ("hidden text was left out",) if has_hidden else ()
    missing = warn_of_missing(package.find_missing_parts(), checked.warnings)
    warnings = (*checked.warnings, *hidden, *changes, *omissions.warnings(), *package.warnings(), *missing)
    fields = tuple(dict.fromkeys([*core.fields, *read_custom_fields(package), *list_header_fields(headers)]))
    return ParsedDocument(title, markdown, _MEDIA_TYPE, date=core.date, warnings=warnings, fields=fields)


def _convert(package: WordPackage) -> str:
    """Return the text as HTML; parts beside it that are damaged are left out."""
    import mammoth

    package.drop_damaged_parts()
    # By default pictures become base64, megabytes of text that nobody searches for.
    result = mammoth.convert_to_html(
        io.BytesIO(package.pack()),
        style_map=_STYLE_MAP,
        convert_image=mammoth.images.img_element(lambda image: {}),
        id_prefix=_ID_PREFIX,
        transform_document=mark_headings,
    )
    return str(result.value)


def _join_notes(tree: BeautifulSoup) -> None:
    """Put each footnote and endnote after the paragraph, list or table with its mark: one is not understood without
    it.
    """
    last: dict[int, Tag] = {}
    for number, mark in enumerate(tree.find_all("a", id=re.compile(_ID_PREFIX + _NOTE_REFERENCE.pattern)), start=1):
        note = tree.find("li", id=str(mark["id"]).replace("-ref-", "-", 1))
        around = [mark, *mark.parents]
        raised = [one for one in around if one.name == "sup"]
        block = next((one for one in reversed(around) if one.parent is tree.body), None)
        if note is None or block is None:
            continue
        for back in note.find_all("a", href=f"#{mark['id']}"):
            back.decompose()
        joined = tree.new_tag("p")
        joined.string = f"^{number} {' '.join(note.get_text(' ').split())}"
        (raised[-1] if raised else mark).replace_with(f"^{number}")
        # After the notes that were already added to it.
        last.get(id(block), block).insert_after(joined)
        last[id(block)] = joined
        note.decompose()


_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
