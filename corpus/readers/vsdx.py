"""Drawings of Visio (.vsdx): each page with the text of its shapes, their data, and what connectors connect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.archives import check_archive, read_core_properties
from argot.corpus.readers.odf_package import parse_xml
from argot.corpus.readers.office_package import OfficePackage, find_reference_id
from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.plain_text import name_without_suffix
from argot.corpus.readers.visio_shapes import ShapeTree, read_masters
from argot.errors import UnreadableDocument
from argot.types import PageMark, ParsedDocument

MEDIA_TYPE = "application/vnd.ms-visio.drawing"
_ELEMENTS_PER_SECOND = 60_000
_MAX_CONNECTIONS = 5_000


@dataclass(frozen=True, slots=True)
class _Page:
    identity: str
    title: str
    part: str
    is_background: bool


def read_vsdx(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read a drawing. Every page is a heading and a page mark; shapes follow each other from top to bottom.

    Backgrounds, which several pages share, come once, after the pages.
    """
    checked = check_archive(data, name, limits, elements_a_second=_ELEMENTS_PER_SECOND, kind="Visio drawing")
    package, omissions = OfficePackage(checked.data), Omissions()
    main = package.find_main_part() or "visio/document.xml"
    masters = read_masters(package, main)
    pages = list(_list_pages(package, main))
    if not pages:
        raise UnreadableDocument(name, "damaged: it holds no pages", "Open it in Visio and save it again.")
    comments = _read_comments(package, main)
    parts: list[str] = []
    marks: list[PageMark] = []
    length = 0
    for number, page in enumerate(sorted(pages, key=lambda one: one.is_background), start=1):
        root = parse_xml(package.read(page.part)) if package.has_part(page.part) else None
        tree = ShapeTree(root, masters, omissions)
        blocks = [*tree.read_blocks(), *_write_connections(tree), *comments.pop(page.identity, [])]
        if not blocks:
            continue
        text = "\n\n".join([f"# {page.title or f'Page {number}'}", *blocks]) + "\n\n"
        marks.append(PageMark(length, number, "page"))
        parts.append(text)
        length += len(text)
        limits.check_chars(length, name)
    rest = [block for blocks in comments.values() for block in blocks]
    core = read_core_properties(checked.data)
    return ParsedDocument(
        core.title or name_without_suffix(name),
        "".join(parts) + "\n\n".join(rest),
        MEDIA_TYPE,
        pages=tuple(marks),
        date=core.date,
        warnings=(*checked.warnings, *omissions.warnings()),
        fields=core.fields,
    )


def _list_pages(package: OfficePackage, main: str) -> Iterator[_Page]:
    for listed in package.find_related(main, "pages")[:1]:
        root, related = parse_xml(package.read(listed)), package.read_relationships(listed)
        for page in root.iter("{*}Page") if root is not None else ():
            relation = page.find("{*}Rel")
            target = related.get(find_reference_id(relation)) if relation is not None else None
            title = " ".join(str(page.get("Name") or page.get("NameU") or "").split())
            if target is not None:
                yield _Page(str(page.get("ID")), title, target.target, page.get("Background") in ("1", "true"))


def _write_connections(tree: ShapeTree) -> Iterator[str]:
    """Yield a list of the connections between shapes, in the words of these."""
    lines = dict.fromkeys(
        f"- {begin} → {end}{f' ({label})' if label else ''}" for begin, end, label in tree.list_connections()
    )
    if lines:
        yield "Connections:\n\n" + "\n".join(list(lines)[:_MAX_CONNECTIONS])


def _read_comments(package: OfficePackage, main: str) -> dict[str, list[str]]:
    """Return the comments by the id of their page."""
    found: dict[str, list[str]] = {}
    for part in package.find_related(main, "comments"):
        root = parse_xml(package.read(part))
        if root is None:
            continue
        authors = {str(one.get("ID")): str(one.get("Name") or "") for one in root.iter("{*}AuthorEntry")}
        for one in root.iter("{*}CommentEntry"):
            text = " ".join("".join(one.itertext()).split())
            author = authors.get(str(one.get("AuthorID")), "")
            if text:
                line = f"Comment{f' by {author}' if author else ''}: {text}"
                found.setdefault(str(one.get("PageID")), []).append(line)
    return found
