"""Pages of a space that Confluence exported as XML: `entities.xml` contains the rows of its database.

Pages, blog posts and attachments count in their newest version; drafts, former versions, deleted pages and comments do
not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape, unescape
from pathlib import Path
from typing import IO, Any

from argot.corpus.connectors.export_dates import parse_date
from argot.corpus.connectors.listing import SourceDown
from argot.corpus.store.source_metadata import SourceMetadata

_PAGE_KINDS = ("Page", "BlogPost")
_ROW_KINDS = (*_PAGE_KINDS, "BodyContent", "Labelling", "Label", "ConfluenceUserImpl", "Attachment")
_CODE_MACRO = re.compile(r'<ac:structured-macro\b[^>]*ac:name="(?:code|noformat)".*?</ac:structured-macro>', re.DOTALL)
_LANGUAGE_PARAMETER = re.compile(r'<ac:parameter\s+ac:name="language">([\w+#-]{1,30})</ac:parameter>')
# Within the CDATA of entities.xml, Confluence splits the end of an inner one: "]] >".
_CDATA_SECTION = re.compile(r"<!\[CDATA\[(.*?)\]\]\s?>", re.DOTALL)
_PLAIN_BODY = re.compile(r"<ac:plain-text-body>\s*<!\[CDATA\[(.*?)\]\]\s?>\s*</ac:plain-text-body>", re.DOTALL)
_ELEMENT_REPLACEMENTS = (
    (re.compile(r'<ac:parameter\s+ac:name="title">(.*?)</ac:parameter>', re.DOTALL), r"<p><b>\1</b></p>"),
    (re.compile(r"<ac:parameter\b[^>]*(?:/>|>.*?</ac:parameter>)", re.DOTALL), ""),
    (re.compile(r"<ac:placeholder\b.*?</ac:placeholder>", re.DOTALL), ""),
    (re.compile(r"<ac:task-id>.*?</ac:task-id>", re.DOTALL), ""),
    (re.compile(r"<ac:task-status>\s*complete\s*</ac:task-status>\s*<ac:task-body>"), "<li>[x] "),
    (re.compile(r"<ac:task-status>.*?</ac:task-status>\s*<ac:task-body>", re.DOTALL), "<li>[ ] "),
    (re.compile(r"</ac:task-body>"), "</li>"),
    (re.compile(r"<(/?)ac:task-list\b[^>]*>"), r"<\1ul>"),
    # A link without its own text shows the title of its target.
    (re.compile(r'<ac:link\b[^>]*>\s*<ri:page\b[^>]*ri:content-title="([^"]*)"[^>]*/>\s*</ac:link>'), r"\1"),
    (re.compile(r'<time\b[^>]*datetime="([^"]*)"[^>]*/>'), r"\1"),
    (re.compile(r"</?(?:ac|ri):[^>]*>"), ""),
)


@dataclass(frozen=True, slots=True)
class ExportedPage:
    """A page in its newest version; its text is in `body`, as HTML."""

    number: str
    version: str
    metadata: SourceMetadata
    body: Path


@dataclass(frozen=True, slots=True)
class ExportedAttachment:
    """Its bytes are at `attachments/PAGE/NUMBER/VERSION` in the export."""

    number: str
    version: str
    page: str
    name: str


@dataclass(slots=True)
class _Rows:
    """The wanted rows, by kind and number, and the bodies by the number of their owner."""

    rows: dict[str, dict[str, Mapping[str, str]]] = field(default_factory=lambda: {kind: {} for kind in _ROW_KINDS})
    bodies: dict[str, Path] = field(default_factory=dict)


class Entities:
    """The rows of `entities.xml`. Bodies are written into a folder: together they may be larger than the memory."""

    def __init__(self, stream: IO[bytes], spool: Path) -> None:
        """
        Raises:
            SourceDown: it is damaged, cut off, or declares entities.
        """
        from defusedxml.common import DefusedXmlException  # type: ignore[import-untyped]
        from defusedxml.ElementTree import ParseError, iterparse  # type: ignore[import-untyped]

        self._found = _Rows()
        try:
            for element in _iter_objects(iterparse(stream, events=("start", "end"), forbid_dtd=True)):
                self._take(element, spool)
        except (ParseError, DefusedXmlException) as error:
            raise SourceDown(
                f"The export's entities.xml is damaged or cut off: {error or type(error).__name__}."
            ) from error

    def iter_pages(self) -> Iterator[ExportedPage]:
        labels = self._collect_labels()
        users = self._found.rows["ConfluenceUserImpl"]
        for kind in _PAGE_KINDS:
            for number, row in self._found.rows[kind].items():
                if not _is_current(row) or number not in self._found.bodies:
                    continue
                who = row.get("lastModifier") or row.get("creator") or row.get("lastModifierName", "")
                author = users[who].get("fullName") or users[who].get("name", "") if who in users else who
                date = parse_date(row.get("lastModificationDate") or row.get("creationDate", ""))
                metadata = SourceMetadata(row.get("title", ""), date, author, tuple(sorted(labels.get(number, ()))))
                yield ExportedPage(number, row.get("version", ""), metadata, self._found.bodies[number])

    def iter_attachments(self) -> Iterator[ExportedAttachment]:
        pages = {one.number for one in self.iter_pages()}
        for number, row in self._found.rows["Attachment"].items():
            page = row.get("containerContent") or row.get("content", "")
            name = row.get("title") or row.get("fileName", "")
            if _is_current(row) and page in pages and name:
                version = row.get("version") or row.get("attachmentVersion", "1")
                yield ExportedAttachment(number, version, page, name)

    def _collect_labels(self) -> dict[str, set[str]]:
        names = {number: row.get("name", "") for number, row in self._found.rows["Label"].items()}
        found: dict[str, set[str]] = {}
        for row in self._found.rows["Labelling"].values():
            if name := names.get(row.get("label", "")):
                found.setdefault(row.get("content", ""), set()).add(name)
        return found

    def _take(self, element: Any, spool: Path) -> None:
        kind = element.get("class", "")
        if kind not in _ROW_KINDS:
            return
        row = {one.get("name", ""): _read_value(one) for one in element.findall("property")}
        number = (element.findtext("id") or "").strip()
        if kind == "BodyContent":
            # Comments, templates and former versions have bodies as well: the wanted ones are known only at the end.
            owner = row.get("content", "")
            if owner.isdigit():
                self._found.bodies[owner] = spool / owner
                (spool / owner).write_text(convert_page_html(row.get("body", "")), encoding="utf-8")
            return
        self._found.rows[kind][number] = row


def convert_page_html(storage: str) -> str:
    """Convert a page's body, which is XHTML with elements of Confluence's own, to HTML."""
    text = _CODE_MACRO.sub(_convert_code, storage)
    text = _PLAIN_BODY.sub(lambda found: f"<pre>{escape(found[1])}</pre>", text)
    text = _CDATA_SECTION.sub(lambda found: escape(found[1]), text)
    for pattern, instead in _ELEMENT_REPLACEMENTS:
        text = pattern.sub(instead, text)
    return f'<html><head><meta charset="utf-8"></head><body>{text}</body></html>\n'


def _convert_code(found: re.Match[str]) -> str:
    language, body = _LANGUAGE_PARAMETER.search(found[0]), _PLAIN_BODY.search(found[0])
    named = f' class="language-{language[1]}"' if language else ""
    return f"<pre{named}>{escape(body[1])}</pre>" if body else ""


def _iter_objects(events: Iterator[tuple[str, Any]]) -> Iterator[Any]:
    root = None
    for event, element in events:
        if root is None:
            root = element
        if event == "end" and element.tag == "object":
            yield element
            root.clear()  # otherwise the whole file would be kept in memory


def _read_value(element: Any) -> str:
    """Return the text of an element, or the number or key of the row that it points to."""
    pointed = element.findtext("id")
    return unescape(pointed).strip() if pointed else (element.text or "").strip()


def _is_current(row: Mapping[str, str]) -> bool:
    return not row.get("originalVersion") and row.get("contentStatus", "current") in ("", "current")
