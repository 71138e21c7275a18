"""Lists of the files of a SharePoint library: `Manifest.xml` of an export package, or a CSV of the list.

A package stores the bytes of `Shared Documents/limits.docx` in a file like `00000012.dat` and identifies people by
numbers, which `UserGroup.xml` resolves. A CSV is the result of "Export to CSV" for a view, with its columns.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import IO, Any

from argot.corpus.connectors.export_dates import is_day_first, parse_date
from argot.corpus.connectors.listing import SourceDown
from argot.corpus.readers.plain_text import decode_text
from argot.corpus.store.source_metadata import SourceMetadata
from argot.errors import UnreadableDocument

_LABEL_FIELDS = frozenset({"keywords", "taxkeyword", "tags", "labels", "enterprise keywords", "category", "categories"})
_PATH_COLUMNS = ("path", "item path", "encoded absolute url", "url path", "server relative url")
_TERM_ID = re.compile(r"\|[0-9a-fA-F-]{36}$")
_NUMBERED_USER = re.compile(r"^(\d+);#(.*)$")
_SCHEMA_PREFIX = "ListSchema="
"""The beginning of the first line where the list was exported with its schema."""


@dataclass(frozen=True, slots=True)
class LibraryFile:
    """`path`: in the library; `stored`: the location of its bytes in the export."""

    path: str
    stored: str
    metadata: SourceMetadata


def read_package_files(manifest: IO[bytes], users: Mapping[str, str]) -> list[LibraryFile]:
    """Return the files that a manifest lists.

    Args:
        users: names of people by their numbers.

    Raises:
        SourceDown: it is damaged, cut off, or declares entities.
    """
    files: dict[str, LibraryFile] = {}
    items: dict[str, SourceMetadata] = {}
    for element in _iter_elements(manifest, "Manifest.xml", {"SPObject"}):
        for one in element:
            attributes = one.attrib
            if _read_tag_name(one) == "File" and attributes.get("Url"):
                metadata = SourceMetadata(_read_property(one, "vti_title"), *_read_change(attributes, users))
                files[attributes["Url"]] = LibraryFile(
                    attributes["Url"], attributes.get("FileValue") or attributes["Url"], metadata
                )
            elif _read_tag_name(one) == "ListItem" and attributes.get("FileUrl"):
                items[attributes["FileUrl"]] = _read_item(one, users)
    return [_merge_metadata(file, items.get(path)) for path, file in files.items()]


def read_users(stream: IO[bytes]) -> dict[str, str]:
    """Return the names of people by their numbers, from a `UserGroup.xml`.

    Raises:
        SourceDown
    """
    found = _iter_elements(stream, "UserGroup.xml", {"User"})
    return {one.get("Id", ""): one.get("Name") or one.get("Login", "") for one in found}


def read_listed_files(data: bytes, paths: Sequence[str]) -> list[LibraryFile] | None:
    """Return the files that a CSV of an export lists; None if it is a table of something else.

    Return the files that a CSV of an export lists; None if it is a different table.
        paths: those of the export's files, which identify the rows: by path, or by name if that is unique.
    """
    try:
        text = decode_text(data, "a list")
    except UnreadableDocument:
        return None
    if text.startswith(_SCHEMA_PREFIX):
        text = text.partition("\n")[2]
    rows = csv.DictReader(io.StringIO(text))
    columns = {(name or "").strip().lstrip("\ufeff").casefold() for name in rows.fieldnames or ()}
    if "name" not in columns or not columns & {"modified", "modified by", "title", "created by"}:
        return None
    by_name: dict[str, list[str]] = {}
    for path in paths:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    read = [{(k or "").strip().casefold(): v for k, v in row.items() if isinstance(v, str)} for row in _iter_rows(rows)]
    day_first = is_day_first(row.get("modified") or row.get("created", "") for row in read)
    found = (_read_row(row, by_name, day_first) for row in read)
    return [one for one in found if one is not None]


def _iter_rows(rows: csv.DictReader[str]) -> Iterator[dict[str, Any]]:
    try:
        yield from rows
    except csv.Error as error:
        raise SourceDown(f"The list of the library is damaged: {error}.") from error


def _read_row(
    row: Mapping[str, str], by_name: Mapping[str, Sequence[str]], day_first: bool | None
) -> LibraryFile | None:
    name = row.get("name", "").strip()
    candidates = by_name.get(name, ())
    stated = next((row[column].strip().strip("/") for column in _PATH_COLUMNS if row.get(column)), "")
    if stated and len(candidates) > 1:
        whole = stated if stated.endswith(f"/{name}") else f"{stated}/{name}"
        candidates = [path for path in candidates if whole.endswith(f"/{path}") or whole == path]
    if len(candidates) != 1:
        return None
    labels = tuple(label for column in sorted(_LABEL_FIELDS) for label in _split_terms(row.get(column, "")))
    author = row.get("modified by") or row.get("created by", "")
    dated = (row.get("modified") or row.get("created", "")).partition(" ")[0].strip(",")
    date = parse_date(dated, day_first)
    metadata = SourceMetadata(row.get("title", "").strip(), date, author.strip(), tuple(dict.fromkeys(labels)))
    return LibraryFile(candidates[0], candidates[0], metadata)


def _read_item(element: Any, users: Mapping[str, str]) -> SourceMetadata:
    fields = {
        one.get("Name", "").casefold(): one.get("Value", "") for one in element.iter() if _read_tag_name(one) == "Field"
    }
    labels = (label for name in sorted(_LABEL_FIELDS & fields.keys()) for label in _split_terms(fields[name]))
    return SourceMetadata(
        fields.get("title", "").strip(), *_read_change(element.attrib, users), tuple(dict.fromkeys(labels))
    )


def _merge_metadata(file: LibraryFile, item: SourceMetadata | None) -> LibraryFile:
    """Return the file with the list's metadata, which takes precedence over the file's own properties."""
    if item is None:
        return file
    own = file.metadata
    return replace(
        file,
        metadata=SourceMetadata(item.title or own.title, item.date or own.date, item.author or own.author, item.labels),
    )


def _read_change(attributes: Mapping[str, str], users: Mapping[str, str]) -> tuple[str, str]:
    who = attributes.get("ModifiedBy") or attributes.get("Author", "")
    if named := _NUMBERED_USER.match(who):
        return parse_date(attributes.get("TimeLastModified", "")), named[2]
    return parse_date(attributes.get("TimeLastModified", "")), users.get(who, "" if who.isdigit() else who)


def _read_property(element: Any, name: str) -> str:
    found = (
        one.get("Value", "") for one in element.iter() if _read_tag_name(one) == "Property" and one.get("Name") == name
    )
    return next(found, "").strip()


def _split_terms(text: str) -> Iterator[str]:
    """`Valves|GUID;Limits|GUID`, `12;#Valves;#13;#Limits`, or `Valves; Limits`."""
    for one in re.split(r";#|[;\n]", text):
        term = _TERM_ID.sub("", one).strip().lstrip("#")
        if term and not term.isdigit():
            yield term


def _iter_elements(stream: IO[bytes], name: str, wanted: set[str]) -> Iterator[Any]:
    from defusedxml.common import DefusedXmlException  # type: ignore[import-untyped]
    from defusedxml.ElementTree import ParseError, iterparse  # type: ignore[import-untyped]

    root = None
    try:
        for event, element in iterparse(stream, events=("start", "end"), forbid_dtd=True):
            root = element if root is None else root
            if event == "end" and _read_tag_name(element) in wanted:
                yield element
                root.clear()  # otherwise the whole file would be kept in memory
    except (ParseError, DefusedXmlException) as error:
        raise SourceDown(f"The export's {name} is damaged or cut off: {error or type(error).__name__}.") from error


def _read_tag_name(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]
