"""Word documents: mammoth gives HTML by the styles, which become headings, lists and tables. Pictures are left out."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.archives import check_archive, read_core_properties
from argot.corpus.readers.docx_comments import insert_comments
from argot.corpus.readers.docx_embedded import count_form_controls, insert_text_parts, read_embedded_files
from argot.corpus.readers.docx_graphics import read_graphics
from argot.corpus.readers.docx_headers import list_header_fields, put_headers_into, read_headers
from argot.corpus.readers.docx_headings import mark_headings
from argot.corpus.readers.docx_insertions import Insertions
from argot.corpus.readers.docx_labels import mark_labels, write_labels
from argot.corpus.readers.docx_package import W, WordPackage, is_switched_on
from argot.corpus.readers.docx_text import prepare_text
from argot.corpus.readers.docx_text_boxes import show_all_text
from argot.corpus.readers.file_fields import build_fields
from argot.corpus.readers.header_fields import HeaderText
from argot.corpus.readers.html import convert_tree, parse_body
from argot.corpus.readers.office_package import warn_of_missing
from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.plain_text import name_without_suffix
from argot.corpus.readers.titles import find_first_heading
from argot.types import DocumentField, ParsedDocument

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
"""What mammoth reads: 60 seconds are enough for some 25 MB of ordinary text (unpacked)."""
_ID_PREFIX = "n-"
_NOTE_REFERENCE = re.compile(r"(?:foot|end)note-ref-.+")


def read_docx(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Title: of the properties, else the first top heading, else the file name. Word files know no pages."""
    checked = check_archive(data, name, limits, elements_a_second=_ELEMENTS_PER_SECOND)
    data = checked.data
    package, omissions, insertions = WordPackage(data), Omissions(), Insertions(data)
    has_hidden = remove_hidden_text(package)
    headers: list[HeaderText] = []
    changes: tuple[str, ...] = ()
    embedded = ""
    # mammoth says what is wrong with a text that is no XML.
    if (document := package.parse_tree(package.document)) is not None:
        changes = describe_changes(document)
        # Before fields lose their instructions, which tell a page's number from text.
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
    # Check boxes stand in the text already, as `prepare_text` wrote them.
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
    """Put each footnote and endnote behind the paragraph, list or table with its mark: one is not read without it."""
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
        # Behind the notes that were joined to it before.
        last.get(id(block), block).insert_after(joined)
        last[id(block)] = joined
        note.decompose()


_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


# -- docx changes ------------------------------------------------------------------------------------------------------
# Tracked changes of Word files: what is inserted is read and what is deleted is not, as if all were accepted.


_INSERTION_TAGS = (f"{W}ins", f"{W}moveTo")
_DELETION_TAGS = (f"{W}del", f"{W}moveFrom")
_MAX_NAMED_AUTHORS = 3


def describe_changes(root: Any) -> tuple[str, ...]:
    """Return one warning such as "3 tracked changes by Ann Lee are not accepted yet"; none where there are none."""
    authors: Counter[str] = Counter()
    for change in root.iter(*_INSERTION_TAGS, *_DELETION_TAGS):
        # A mark without text is that of a paragraph's end or of formatting.
        if next(change.iter(f"{W}t", f"{W}delText"), None) is not None:
            authors[" ".join(str(change.get(f"{W}author") or "").split())] += 1
    number = authors.total()
    if not number:
        return ()
    named = [author for author, _ in authors.most_common() if author]
    others = len(named) - _MAX_NAMED_AUTHORS
    listed = [*named[:_MAX_NAMED_AUTHORS], *([f"{others} more"] if others > 0 else [])]
    by = f" by {', '.join(listed[:-1])}{' and ' if len(listed) > 1 else ''}{listed[-1]}" if listed else ""
    return (
        f"{number:,} tracked change{'s' if number > 1 else ''}{by} {'are' if number > 1 else 'is'} not accepted yet",
    )


# -- docx hidden -------------------------------------------------------------------------------------------------------
# Text that Word hides: it stands in the file and is not shown, so it is nothing that its author tells everybody.


def remove_hidden_text(package: WordPackage) -> bool:
    """Remove the runs that are formatted as hidden; tell whether any of them held text."""
    has_hidden = False
    for part in package.list_xml_parts():
        if b"vanish" not in (package.read_content(part) or b""):
            continue
        root = package.parse_tree(part)
        hidden = [run for run in root.iter(f"{W}r") if _is_hidden(run)] if root is not None else []
        for run in hidden:
            run.getparent().remove(run)
        has_hidden = has_hidden or bool(hidden)
    return has_hidden


def _is_hidden(run: Any) -> bool:
    return is_switched_on(run.find(f"{W}rPr/{W}vanish")) and run.find(f"{W}t") is not None


# -- docx notes --------------------------------------------------------------------------------------------------------
# Marks of footnotes and endnotes whose note is missing: mammoth would give up the whole file for one.


def remove_marks_without_notes(package: WordPackage, root: Any, omissions: Omissions) -> None:
    for kind in ("footnote", "endnote"):
        marks = list(root.iter(f"{W}{kind}Reference"))
        notes = package.parse_tree(package.find_related_part(f"{kind}s")) if marks else None
        known = {one.get(f"{W}id") for one in notes.iter(f"{W}{kind}")} if notes is not None else set()
        for mark in marks:
            if mark.get(f"{W}id") not in known:
                mark.getparent().remove(mark)
                omissions.add(kind)


# -- docx properties ---------------------------------------------------------------------------------------------------
# Properties that people give a Word file beyond the usual ones ("Document number", "Owner"), as fields.


_PROPERTIES_PART = "docProps/custom.xml"
_PLAIN_NAME = re.compile(r"[^\W\d_][\w .-]{0,59}")
_PROGRAM_PROPERTIES = re.compile(
    r"(?:msip_label|kso|ics?v|gramm?arly|mendeley|zotero|ctversion|docid|contenttype|mediaservice|workbook|appversion"
    r"|sharedoc|hyperlinkbase|hyperlinkschanged|linksuptodate|scalecrop|docsecurity|template|xd_|eid_|sourcemodified).*"
    r"|.*(?:id|guid|hash|version_?id)$",
    re.IGNORECASE,
)
_MAX_VALUE_CHARS = 200


def read_custom_fields(package: WordPackage) -> tuple[DocumentField, ...]:
    """Return the properties under names of people's own; what programs note for themselves is left out."""
    return build_fields(_read_named_values(package))


def _read_named_values(package: WordPackage) -> Iterator[tuple[str, str]]:
    root = package.parse_tree(_PROPERTIES_PART)
    for one in root if root is not None else ():
        name = " ".join(str(one.get("name") or "").split())
        value = " ".join("".join(one.itertext()).split())
        if re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", value):
            value = value[:10]
        if (
            value
            and len(value) <= _MAX_VALUE_CHARS
            and _PLAIN_NAME.fullmatch(name)
            and not _PROGRAM_PROPERTIES.fullmatch(name)
        ):
            yield name, value
