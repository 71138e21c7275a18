"""Checks of Office files and e-books, which are zip archives, before any library opens them."""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.dates import find_date
from argot.corpus.readers.document_types import has_declaration, is_xml, remove_document_type
from argot.corpus.readers.file_fields import build_fields
from argot.corpus.readers.file_kinds import name_other_kind
from argot.corpus.readers.titles import clean_title
from argot.errors import UnreadableDocument
from argot.types import DocumentField

# Far more than Office programs write.
_MAX_MEMBERS = 20_000
_BYTES_PER_ELEMENT = 100
"""Maximum average, text included, in files that are not made to be slow."""
_CHUNK_BYTES = 1 << 20
_PAGE_SUFFIXES = (".xhtml", ".html", ".htm")
_PICTURE_SUFFIXES = (".svg", ".png", ".jpg", ".jpeg", ".gif", ".emf", ".wmf", ".tif", ".tiff", ".bmp")
_NEEDED_PARTS = frozenset(
    {
        *("[Content_Types].xml", "_rels/.rels", "word/document.xml", "ppt/presentation.xml", "xl/workbook.xml"),
        *("ppt/_rels/presentation.xml.rels", "xl/_rels/workbook.xml.rels"),
        *("META-INF/container.xml", "META-INF/encryption.xml", "content.xml", "xl/workbook.bin"),
    }
)
_MAX_NAMED_PARTS = 5


@dataclass(frozen=True, slots=True)
class CheckedArchive:
    """An archive that is safe to open. `data`: without the parts that `warnings` name."""

    data: bytes
    warnings: tuple[str, ...] = ()


def check_archive(
    data: bytes, name: str, limits: ReadLimits, *, elements_a_second: int, kind: str = "Office file", html: bool = False
) -> CheckedArchive:
    """Return the archive without parts that are unsafe or cannot be unpacked; none of its parts has a document type any
    more.

    Every member is unpacked once, counting, so that a header that lies about sizes is detected too. A few kilobytes can
    contain more XML than any time limit allows, so its elements are counted before anything reads them. A document type
    is removed, as it could name files and addresses; a part that declares its own entities is left out.

    Args:
        elements_a_second: about how many elements the format's library reads. A number and not a clock, so that the
            same file is read or refused on every machine.
        kind: the expected kind, for the refusal.
        html: its pages keep their document types: they are read as HTML, which resolves none.

    Raises:
        UnreadableDocument: a bomb, encrypted, no archive of this kind, or unreadable in a part that all others need.
    """
    if other := name_other_kind(data, kind):
        raise UnreadableDocument(name, *other)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check = _Check(archive, name, limits, elements_a_second, html)
            check.read_members()
            return check.rewrite() if check.is_changed() else CheckedArchive(data)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError) as error:
        raise UnreadableDocument(name, f"damaged or cut off: not a complete {kind}") from error


class _Check:
    """The check of one archive: its counts and its findings."""

    def __init__(
        self, archive: zipfile.ZipFile, name: str, limits: ReadLimits, elements_a_second: int, html: bool
    ) -> None:
        self._archive, self._name, self._limits, self._html = archive, name, limits, html
        self._elements_a_second = elements_a_second
        self._unpacked = self._elements = self._xml_bytes = 0
        self._typed: set[zipfile.ZipInfo] = set()
        self._damaged: list[str] = []
        self._unsafe: list[str] = []
        # An archive can hold several members of one name: the last one counts, as in all programs that unpack.
        self._members = {_clean_name(one.filename): one for one in archive.infolist()}

    def read_members(self) -> None:
        """Unpack every member and record its problems."""
        members = self._archive.infolist()
        if len(members) > _MAX_MEMBERS:
            raise UnreadableDocument(self._name, f"suspicious: an archive of {len(members):,} parts")
        if any(member.flag_bits & 1 for member in members):
            raise UnreadableDocument(self._name, "encrypted", "Save it without a password.")
        # Checking the sizes the headers claim is cheap; the true sizes are counted below.
        if sum(member.file_size for member in members) > self._limits.max_unpacked_bytes:
            raise _refuse_large(self._name, self._limits)
        for member in members:
            try:
                self._read_member(member)
            except UnreadableDocument:
                raise
            except Exception as error:
                # `zlib.error` and similar errors share no base class but Exception.
                if not _is_unpacking_error(error):
                    raise
                self._damaged.append(_clean_name(member.filename))

    def _read_member(self, member: zipfile.ZipInfo) -> None:
        keeps_type = self._html and member.filename.lower().endswith(_PAGE_SUFFIXES)
        with self._archive.open(member) as stream:
            tail, has_markup = b"", False
            while chunk := stream.read(_CHUNK_BYTES):
                # `tail` is empty only for a member's first chunk.
                has_markup = has_markup or (not tail and is_xml(member.filename, chunk))
                self._unpacked += len(chunk)
                if self._unpacked > self._limits.max_unpacked_bytes:
                    raise _refuse_large(self._name, self._limits)
                if has_markup:
                    self._count(chunk)
                    # A declaration may be split across two chunks.
                    if not keeps_type and has_declaration(tail + chunk):
                        self._typed.add(member)
                tail = chunk[-32:]

    def _count(self, chunk: bytes) -> None:
        # Closing tags have a `<` too, and are subtracted.
        self._elements += chunk.count(b"<") - chunk.count(b"</")
        self._xml_bytes += len(chunk)
        self._limits.check_elements(self._elements, self._elements_a_second, "XML", self._name)
        self._limits.check_markup(self._xml_bytes, self._elements_a_second * _BYTES_PER_ELEMENT, "XML", self._name)

    def is_changed(self) -> bool:
        """Return True if the archive cannot be passed on unchanged."""
        has_other_names = any(one.filename != name for name, one in self._members.items())
        is_doubled = len(self._members) < len(self._archive.infolist())
        return bool(self._typed or self._damaged) or has_other_names or is_doubled

    def rewrite(self) -> CheckedArchive:
        """Return the archive without document types, and without the parts that cannot be read safely."""
        written = io.BytesIO()
        with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as copy:
            for name, member in self._members.items():
                if name in self._damaged:
                    continue
                content: bytes | None = self._archive.read(member)
                if member in self._typed and content is not None:
                    content = remove_document_type(content)
                if content is None:
                    self._unsafe.append(name)
                else:
                    copy.writestr(name, content)
        return CheckedArchive(written.getvalue(), tuple(self._warn()))

    def _warn(self) -> Iterator[str]:
        for parts, reason in ((self._unsafe, "unsafe: it declares entities"), (self._damaged, "it cannot be unpacked")):
            needed = next((part for part in parts if part in _NEEDED_PARTS or part.endswith(".opf")), None)
            if needed:
                raise _refuse_needed_part(self._name, needed, reason)
            named = [part for part in dict.fromkeys(parts) if not part.lower().endswith(_PICTURE_SUFFIXES)]
            if named:
                more = " ..." if len(named) > _MAX_NAMED_PARTS else ""
                yield f"not read, because {reason}: {', '.join(named[:_MAX_NAMED_PARTS])}{more}"
        counts = Counter(_clean_name(one.filename) for one in self._archive.infolist())
        doubled = [part for part, count in counts.items() if count > 1]
        if doubled:
            named = doubled[:_MAX_NAMED_PARTS]
            yield f"it holds several parts of one name, of which the last was read: {', '.join(named)}"


def _refuse_needed_part(name: str, part: str, reason: str) -> UnreadableDocument:
    if reason.startswith("unsafe"):
        remedy = f"Take the document type (<!DOCTYPE ...>) out of '{part}', or export it from its program again."
        return UnreadableDocument(name, f"unsafe: its part '{part}' declares entities", remedy)
    return UnreadableDocument(name, f"damaged: its part '{part}' cannot be unpacked", "Get a complete copy of it.")


def _is_unpacking_error(error: Exception) -> bool:
    known = (zipfile.BadZipFile, EOFError, NotImplementedError, OSError, UnicodeDecodeError)
    return isinstance(error, known) or type(error).__module__ in ("zlib", "lzma", "bz2", "_lzma")


def _clean_name(name: str) -> str:
    # Some programs for Windows write the separators of that system.
    return name.replace("\\", "/").removeprefix("/")


def _refuse_large(name: str, limits: ReadLimits) -> UnreadableDocument:
    allowed = limits.max_unpacked_bytes // 1_000_000
    return UnreadableDocument(name, f"too large: it unpacks to more than {allowed:,} MB", limits.remedy("MAX_FILE_MB"))


@dataclass(frozen=True, slots=True)
class CoreProperties:
    """The properties of an Office file. `title` is empty where nobody gave one."""

    title: str = ""
    date: str | None = None
    fields: tuple[DocumentField, ...] = ()


def read_core_properties(data: bytes) -> CoreProperties:
    """Return the properties in `docProps/core.xml`; none where they are missing or damaged."""
    from xml.etree.ElementTree import ParseError

    from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if "docProps/core.xml" not in archive.namelist():
            return CoreProperties()
        try:
            root = fromstring(archive.read("docProps/core.xml"))
        except (ParseError, ValueError):
            return CoreProperties()
    properties = {element.tag.rpartition("}")[2]: (element.text or "").strip() for element in root}
    wanted = ("creator", "keywords", "category", "contentStatus")
    return CoreProperties(
        clean_title(properties.get("title", "")),
        find_date(properties.get("modified"), properties.get("created")),
        build_fields((name, properties[name]) for name in wanted if name in properties),
    )
