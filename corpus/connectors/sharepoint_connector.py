"""An export of a SharePoint document library as a source: its files, with the library's metadata of each."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from argot.corpus.connectors.export_files import ExportedFile, ExportFiles, read_place_mark
from argot.corpus.connectors.listing import ListedDocument, Patterns, SourceDown
from argot.corpus.connectors.sharepoint_manifest import LibraryFile, read_listed_files, read_package_files, read_users
from argot.corpus.ingestion.source import Source, SourceMetadata
from argot.corpus.readers import SUFFIXES

_PACKAGE_FILES = frozenset(
    {"exportsettings.xml", "lookuplistmap.xml", "manifest.xml", "requirements.xml", "rootobjectmap.xml"}
    | {"systemdata.xml", "usergroup.xml", "viewformslist.xml"}
)
MAX_LIST_BYTES = 50_000_000
"""Bytes of a CSV that may be the list of the library."""


class SharePointConnector:
    """`place`: a folder or a ZIP archive. Without manifest and list its files are still documents."""

    def __init__(self, place: Path, patterns: Patterns, base_uri: str | None = None) -> None:
        """`base_uri`: the site's address, for citations that lead to its files."""
        self._place = place
        self._patterns = patterns
        self._base = base_uri.rstrip("/") if base_uri else f"{place.absolute().as_uri()}!"
        self._export: ExportFiles | None = None

    def close(self) -> None:
        if self._export is not None:
            self._export.close()

    def mark(self) -> str:
        return read_place_mark(self._place)

    def list_documents(self, known: Mapping[str, str]) -> Iterator[ListedDocument]:
        export = self._export = ExportFiles(self._place)
        manifest = next((path for path in export.files if _name(path) == "manifest.xml"), "")
        listed = self._read_package(export, manifest) if manifest else self._read_list(export)
        for one in listed:
            if self._patterns.accept(one.path):
                yield self._list_document(one, export.files.get(one.stored))

    def _read_package(self, export: ExportFiles, manifest: str) -> Iterator[LibraryFile]:
        folder = posixpath.dirname(manifest)
        people = next((path for path in export.files if _name(path) == "usergroup.xml"), "")
        users: dict[str, str] = {}
        if people:
            with export.open_file(people) as stream:
                users = read_users(stream)
        with export.open_file(manifest) as stream:
            found = read_package_files(stream, users)
        if not found:
            raise SourceDown(f"The Manifest.xml of the export {self._place} names no file.")
        for one in found:
            # The files of the site's web parts and forms are no documents.
            if PurePosixPath(one.path).suffix.casefold() not in (".aspx", ".master", ".dwp", ".webpart", ".xoml"):
                stored = posixpath.normpath(posixpath.join(folder, one.stored))
                yield LibraryFile(one.path, stored, one.metadata)

    def _read_list(self, export: ExportFiles) -> Iterator[LibraryFile]:
        said: dict[str, LibraryFile] = {}
        lists: set[str] = set()
        for path, file in export.files.items():
            # A list is beside the library, not deep within it.
            if path.casefold().endswith(".csv") and path.count("/") <= 1 and file.size <= MAX_LIST_BYTES:
                found = read_listed_files(file.load(), [one for one in export.files if one != path])
                if found:
                    lists.add(path)
                    said |= {one.path: one for one in found}
        for path in export.files:
            if path not in lists and _name(path) not in _PACKAGE_FILES:
                yield said.get(path) or LibraryFile(path, path, SourceMetadata())

    def _list_document(self, one: LibraryFile, file: ExportedFile | None) -> ListedDocument:
        name = PurePosixPath(one.path.replace("\\", "/")).name
        uri = f"{self._base}/{quote(one.path.strip('/'))}"
        if file is None:
            return ListedDocument(Source(uri, name, bytes), "", "the manifest names it, but it is not in the export")
        suffix = PurePosixPath(name).suffix
        skip = "" if not suffix or suffix.casefold() in SUFFIXES else f"unknown kind of file ({suffix})"
        metadata_digest = blake2b(repr(one.metadata).encode(), digest_size=8).hexdigest()
        return ListedDocument(
            Source(uri, name, file.load, file.size, skip, one.metadata), f"{file.stamp}.{metadata_digest}"
        )


def _name(path: str) -> str:
    return PurePosixPath(path).name.casefold()
