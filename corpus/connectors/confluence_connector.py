"""An export of a Confluence space as a source: each page is a document, and each of its attachments.

A page is identified by its number, which stays when it is renamed or moved. The text that Confluence adds around a page
(breadcrumbs, author, footer) is metadata and not read as text: `argot.corpus.readers.html` leaves it out.
"""

from __future__ import annotations

import posixpath
import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from shutil import rmtree
from urllib.parse import quote, unquote

from argot.corpus.connectors.confluence_entities import Entities
from argot.corpus.connectors.confluence_html import PageFrame, list_linked_pages, parse_page_frame, parse_page_number
from argot.corpus.connectors.export_files import ExportedFile, ExportFiles, read_place_mark
from argot.corpus.connectors.listing import ListedDocument, Patterns, SourceDown
from argot.corpus.ingestion.source import Source, SourceMetadata
from argot.corpus.readers import SUFFIXES

_ENTITIES_FILE = "entities.xml"


class ConfluenceConnector:
    """`place`: a ZIP archive from Confluence, the folder it was unpacked to, or a folder of such archives.

    If two archives contain the same page, the newer one counts.
    """

    def __init__(self, place: Path, patterns: Patterns, base_uri: str | None = None) -> None:
        """`base_uri`: the wiki's address, for citations that lead to its pages."""
        self._place = place
        self._patterns = patterns
        self._base_uri = base_uri.rstrip("/") if base_uri else ""
        self._exports: list[ExportFiles] = []
        self._spool = Path(tempfile.mkdtemp(prefix="argot-confluence-"))

    def close(self) -> None:
        for export in self._exports:
            export.close()
        rmtree(self._spool, ignore_errors=True)

    def mark(self) -> str:
        return read_place_mark(self._place)

    def list_documents(self, known: Mapping[str, str]) -> Iterator[ListedDocument | None]:
        uris = _Uris(self._base_uri or self._place.absolute().as_uri(), bool(self._base_uri), known)
        for export in self._open_exports():
            entities = next((path for path in export.files if PurePosixPath(path).name == _ENTITIES_FILE), "")
            listed = self._list_entities(export, entities, uris) if entities else self._list_pages(export, uris)
            for one in listed:
                if one is None or self._patterns.accept(one.source.name):
                    yield one

    def _open_exports(self) -> Iterator[ExportFiles]:
        places = [self._place]
        if self._place.is_dir():
            # Newest first: pages already listed are not listed again.
            archives = sorted(self._place.glob("*.zip"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
            places = archives or places
        for place in places:
            export = ExportFiles(place)
            self._exports.append(export)
            if not any(parse_page_number(path) or PurePosixPath(path).name == _ENTITIES_FILE for path in export.files):
                raise SourceDown(f"{place} is no export of Confluence: it holds neither pages nor {_ENTITIES_FILE}.")
            yield export

    # -- exported as HTML -------------------------------------------------------------------------------------------

    def _list_pages(self, export: ExportFiles, uris: _Uris) -> Iterator[ListedDocument | None]:
        pages = {
            path: file for path, file in export.files.items() if parse_page_number(path) and "attachments/" not in path
        }
        for path, file in pages.items():
            number = parse_page_number(path)
            try:
                data = file.load()
            except OSError as error:
                yield self._report_unread(
                    uris.build_page_uri(number, path), path, error.strerror or "it cannot be read"
                )
                continue
            frame = parse_page_frame(data)
            # The title and not the file's name, which Confluence shortens and strips of signs.
            name = f"{frame.metadata.title.replace('/', ' ') or PurePosixPath(path).stem}.html"
            uri = uris.build_page_uri(number, name)
            yield ListedDocument(Source(uri, name, file.load, file.size, metadata=frame.metadata), file.stamp)
            yield from self._list_attachments(export, posixpath.dirname(path), number, frame, uris)
        yield None
        yield from self._list_missing_pages(export, pages, uris)

    def _list_attachments(
        self, export: ExportFiles, folder: str, page: str, frame: PageFrame, uris: _Uris
    ) -> Iterator[ListedDocument]:
        for one in frame.attachments:
            uri = uris.build_attachment_uri(page, one.name)
            file = export.files.get(posixpath.join(folder, one.path))
            if file is None:
                yield self._report_unread(uri, one.name, "the page names it, but it is not in the export")
            else:
                yield _describe_attachment(uri, one.name, file, frame.metadata)

    def _list_missing_pages(
        self, export: ExportFiles, pages: Mapping[str, ExportedFile], uris: _Uris
    ) -> Iterator[ListedDocument]:
        """Yield the pages that the index names and the export lacks: it was cut off, or unpacked in part."""
        for index in (path for path in export.files if PurePosixPath(path).name == "index.html"):
            for name in list_linked_pages(export.files[index].load()):
                if posixpath.join(posixpath.dirname(index), name) not in pages:
                    uri = uris.build_page_uri(parse_page_number(name), name)
                    yield self._report_unread(uri, name, "the index names it, but it is not in the export")

    # -- exported as XML --------------------------------------------------------------------------------------------

    def _list_entities(self, export: ExportFiles, path: str, uris: _Uris) -> Iterator[ListedDocument | None]:
        spool = Path(tempfile.mkdtemp(dir=self._spool))
        with export.open_file(path) as stream:
            entities = Entities(stream, spool)
        yield None
        folder = posixpath.dirname(path)
        about: dict[str, SourceMetadata] = {}
        for page in entities.iter_pages():
            about[page.number] = page.metadata
            name = f"{page.metadata.title.replace('/', ' ') or page.number}.html"
            data = page.body.read_bytes()
            stamp = blake2b(data + repr(page.metadata).encode(), digest_size=16).hexdigest()
            source = Source(
                uris.build_page_uri(page.number, name), name, page.body.read_bytes, len(data), metadata=page.metadata
            )
            yield ListedDocument(source, stamp)
        for one in entities.iter_attachments():
            uri = uris.build_attachment_uri(one.page, one.name)
            file = export.files.get(posixpath.join(folder, "attachments", one.page, one.number, one.version))
            if file is None:
                yield self._report_unread(uri, one.name, "it is named, but not in the export")
            else:
                yield _describe_attachment(uri, PurePosixPath(one.name).name, file, about[one.page])

    def _report_unread(self, uri: str, name: str, reason: str) -> ListedDocument:
        return ListedDocument(Source(uri, PurePosixPath(name).name, bytes), "", reason)


class _Uris:
    """The URIs of pages: Confluence's own where its address is known, else below the export, by page numbers."""

    def __init__(self, base: str, at_wiki: bool, known: Mapping[str, str]) -> None:
        self._base = base
        self._at_wiki = at_wiki
        # The title is the last part, which people see as the name; Confluence uses only the number.
        self._before, self._between = ("/pages/viewpage.action?pageId=", "&title=") if at_wiki else ("!/pages/", "/")
        self._pages: dict[str, str] = {}
        for uri in known:
            number, between, _ = uri.removeprefix(f"{base}{self._before}").partition(self._between)
            if between and uri.startswith(f"{base}{self._before}"):
                self._pages[number] = uri

    def build_page_uri(self, number: str, name: str) -> str:
        """Return the URI of a page; a renamed page keeps its former one."""
        shown = PurePosixPath(name).stem if self._at_wiki else PurePosixPath(name).name
        return self._pages.get(number) or f"{self._base}{self._before}{number}{self._between}{quote(shown, safe='')}"

    def build_attachment_uri(self, page: str, name: str) -> str:
        inside = "/download" if self._at_wiki else "!"
        return f"{self._base}{inside}/attachments/{page}/{quote(name, safe='')}"


def _describe_attachment(uri: str, name: str, file: ExportedFile, page: SourceMetadata) -> ListedDocument:
    suffix = PurePosixPath(name).suffix
    skip = "" if not suffix or suffix.casefold() in SUFFIXES else f"unknown kind of file ({suffix})"
    # Date and author are the page's: an export lists none for its attachments.
    metadata = SourceMetadata(date=page.date, author=page.author, labels=page.labels)
    source = Source(uri, unquote(name), partial(file.load), file.size, skip, metadata)
    return ListedDocument(source, f"{file.stamp}.{blake2b(repr(metadata).encode(), digest_size=8).hexdigest()}")
