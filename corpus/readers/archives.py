"""Office files and e-books are zip archives: looked over before any library opens them."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import dataclass

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.dates import date_of
from argot.corpus.readers.file_fields import said_fields
from argot.corpus.readers.titles import real_title
from argot.errors import UnreadableDocument
from argot.types import DocumentField

# Far more than Office programs write.
_MAX_MEMBERS = 20_000
_BYTES_AN_ELEMENT = 100
"""At most on average, text included, in files that are not made to be slow."""
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# `<!DOCTYPE` and `<!ENTITY`; in UTF-16 there is a zero byte between letters.
_DECLARATIONS = re.compile(rb"<\0?!\0?(?:D\0?O\0?C\0?T\0?Y\0?P\0?E|E\0?N\0?T\0?I\0?T\0?Y)")
_CHUNK = 1 << 20
_PAGES = (".xhtml", ".html", ".htm")
_BEFORE_XML = b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"
"""Marks of the encoding and blanks."""


def check_archive(
    data: bytes, name: str, limits: ReadLimits, *, elements_a_second: int, kind: str = "Office file", html: bool = False
) -> None:
    """Refuses bombs, encrypted and damaged archives, and XML with declarations (no Office program writes any).

    Every member is unpacked once, counting, so that a header that lies about sizes is found out too. A few kilobytes
    can hold more XML than any time is enough for: so its elements are counted before anything reads them.

    Args:
        elements_a_second: about how many elements the format's library reads. A number and not a clock, so that the
            same file is read or refused on every machine.
        kind: what it should be, for the refusal.
        html: its pages may begin with a document type: they are read as HTML, which resolves none.

    Raises:
        UnreadableDocument: any of these.
    """
    if data.startswith(_OLE):
        raise UnreadableDocument(name, "encrypted, or in the old Office format", "Save it without a password as OOXML.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_members(archive, name, limits, elements_a_second, html=html)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError) as error:
        raise UnreadableDocument(name, f"damaged or cut off: not a complete {kind}") from error
    except Exception as error:
        # `zlib.error` and the like share no base class but Exception.
        if type(error).__module__ in ("zlib", "lzma", "bz2", "_lzma"):
            raise UnreadableDocument(name, "damaged: its archive cannot be unpacked") from error
        raise


def _check_members(
    archive: zipfile.ZipFile, name: str, limits: ReadLimits, elements_a_second: int, *, html: bool
) -> None:
    members = archive.infolist()
    if len(members) > _MAX_MEMBERS:
        raise UnreadableDocument(name, f"suspicious: an archive of {len(members):,} parts")
    if any(member.flag_bits & 1 for member in members):
        raise UnreadableDocument(name, "encrypted", "Save it without a password.")
    # Checking the sizes the headers claim is cheap; the true sizes are counted below.
    if sum(member.file_size for member in members) > limits.max_unpacked_bytes:
        raise _too_large(name, limits)
    unpacked = elements = xml_bytes = 0
    for member in members:
        with archive.open(member) as stream:
            tail, is_xml = b"", False
            while chunk := stream.read(_CHUNK):
                # `tail` is empty only for a member's first chunk.
                is_xml = is_xml or (not tail and _is_xml(member.filename, chunk))
                unpacked += len(chunk)
                if unpacked > limits.max_unpacked_bytes:
                    raise _too_large(name, limits)
                may_declare = html and member.filename.lower().endswith(_PAGES)
                if is_xml and not may_declare and _DECLARATIONS.search(tail + chunk):
                    raise UnreadableDocument(name, "unsafe: its XML declares entities", "Save it again in Office.")
                # Closing tags have a `<` too, and are subtracted.
                elements += chunk.count(b"<") - chunk.count(b"</") if is_xml else 0
                xml_bytes += len(chunk) if is_xml else 0
                limits.check_elements(elements, elements_a_second, "XML", name)
                limits.check_markup(xml_bytes, elements_a_second * _BYTES_AN_ELEMENT, "XML", name)
                # A declaration may be split across two chunks.
                tail = chunk[-32:]


def _is_xml(name: str, beginning: bytes) -> bool:
    # Not by name alone: a package can name any part as its document.
    return name.lower().endswith((".xml", ".rels", ".vml")) or beginning.lstrip(_BEFORE_XML).startswith(b"<")


def _too_large(name: str, limits: ReadLimits) -> UnreadableDocument:
    allowed = limits.max_unpacked_bytes // 1_000_000
    return UnreadableDocument(name, f"too large: it unpacks to more than {allowed:,} MB", limits.remedy("MAX_FILE_MB"))


@dataclass(frozen=True, slots=True)
class CoreProperties:
    """What an Office file's properties say. `title`: empty where nobody gave one."""

    title: str = ""
    date: str | None = None
    fields: tuple[DocumentField, ...] = ()


def core_properties(data: bytes) -> CoreProperties:
    """The properties in `docProps/core.xml`, as far as there are any."""
    from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if "docProps/core.xml" not in archive.namelist():
            return CoreProperties()
        root = fromstring(archive.read("docProps/core.xml"))
    said = {element.tag.rpartition("}")[2]: (element.text or "").strip() for element in root}
    wanted = ("creator", "keywords", "category", "contentStatus")
    return CoreProperties(
        real_title(said.get("title", "")),
        date_of(said.get("modified"), said.get("created")),
        said_fields((name, said[name]) for name in wanted if name in said),
    )
