"""The kind of an Office file by its content: many files have the name of another kind.

Programs export web pages and tables named ".xls", and texts in RTF named ".doc"; people rename files by hand.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from types import MappingProxyType

from argot.corpus.readers.ole_files import OLE_MAGIC

DOC_TYPE = "application/msword"
DOCX_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
EPUB_TYPE = "application/epub+zip"
MSG_TYPE = "application/vnd.ms-outlook"
ODP_TYPE = "application/vnd.oasis.opendocument.presentation"
ODS_TYPE = "application/vnd.oasis.opendocument.spreadsheet"
ODT_TYPE = "application/vnd.oasis.opendocument.text"
PPTX_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
RTF_TYPE = "application/rtf"
VSDX_TYPE = "application/vnd.ms-visio.drawing"
WEB_ARCHIVE_TYPE = "multipart/related"
XLS_TYPE = "application/vnd.ms-excel"
XLSB_TYPE = "application/vnd.ms-excel.sheet.binary.macroEnabled.12"
XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

OFFICE_SUFFIXES: Mapping[str, str] = MappingProxyType(
    {
        ".docx": DOCX_TYPE, ".docm": DOCX_TYPE, ".dotx": DOCX_TYPE, ".dotm": DOCX_TYPE, ".doc": DOC_TYPE,
        ".dot": DOC_TYPE, ".rtf": RTF_TYPE, ".odt": ODT_TYPE, ".ott": ODT_TYPE,
        ".pptx": PPTX_TYPE, ".pptm": PPTX_TYPE, ".odp": ODP_TYPE, ".otp": ODP_TYPE,
        ".xlsx": XLSX_TYPE, ".xlsm": XLSX_TYPE, ".xlsb": XLSB_TYPE, ".xls": XLS_TYPE, ".xlt": XLS_TYPE,
        ".ods": ODS_TYPE, ".ots": ODS_TYPE, ".msg": MSG_TYPE, ".vsdx": VSDX_TYPE, ".vsdm": VSDX_TYPE,
        ".mht": WEB_ARCHIVE_TYPE, ".mhtml": WEB_ARCHIVE_TYPE,
    }
)  # fmt: skip
_OFFICE_TYPES = frozenset(OFFICE_SUFFIXES.values())
_ZIP_MAGIC = b"PK\x03\x04"
_OLE_STREAMS = (
    ("WordDocument", DOC_TYPE), ("Workbook", XLS_TYPE), ("Book", XLS_TYPE), ("__properties_version1.0", MSG_TYPE),
)  # fmt: skip
_ZIP_PARTS = (
    ("word/document.xml", DOCX_TYPE), ("ppt/presentation.xml", PPTX_TYPE), ("xl/workbook.xml", XLSX_TYPE),
    ("xl/workbook.bin", XLSB_TYPE), ("visio/document.xml", VSDX_TYPE),
)  # fmt: skip
_OPEN_DOCUMENT = re.compile(rb"mimetypeapplication/vnd\.(?:oasis\.opendocument|sun\.xml)\.([a-z]+)")
_OPEN_DOCUMENT_TYPES = {
    b"text": ODT_TYPE, b"writer": ODT_TYPE, b"spreadsheet": ODS_TYPE, b"calc": ODS_TYPE, b"presentation": ODP_TYPE,
    b"impress": ODP_TYPE,
}  # fmt: skip
_WEB_PAGE = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,2000}?-->\s*)?<(?:!doctype html|html|table|head|body|meta)\b",
    re.IGNORECASE | re.DOTALL,
)
_MIME_HEADER = re.compile(rb"(?:[\w-]{1,60}:[^\n]{0,500}\n(?:[^\n]{0,500}\n){0,30}?)?MIME-Version:", re.IGNORECASE)
_OLDEST_WORKBOOKS = (b"\x09\0\4\0", b"\x09\2\6\0", b"\x09\4\6\0", b"\x09\x08\x08\0", b"\x09\x08\x10\0")
"""First bytes of workbooks that are nothing but records."""
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_SAMPLE_BYTES = 4096


def find_actual_type(data: bytes, claimed: str) -> str:
    """Return the media type of the content of a file whose name claims this one; the claimed one if it is not known."""
    if claimed not in _OFFICE_TYPES:
        return claimed
    found = detect_office_type(data) or _detect_other_type(data)
    if found is None and claimed in (XLS_TYPE, DOC_TYPE, RTF_TYPE) and _is_text(data):
        return "text/csv" if claimed == XLS_TYPE else "text/plain"
    return found or claimed


def detect_office_type(data: bytes) -> str | None:
    """Return the media type of an Office file of any kind; None for other files."""
    if data.startswith(OLE_MAGIC):
        return _detect_ole_type(data)
    if data.startswith(_ZIP_MAGIC):
        return _detect_zip_type(data)
    if data[:100].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{\\rtf"):
        return RTF_TYPE
    return XLS_TYPE if data.startswith(_OLDEST_WORKBOOKS) else None


def _detect_ole_type(data: bytes) -> str | None:
    import olefile  # type: ignore[import-untyped]

    try:
        with olefile.OleFileIO(io.BytesIO(data)) as file:
            return next((kind for stream, kind in _OLE_STREAMS if file.exists(stream)), None)
    except Exception:  # a damaged file: the reader of the kind in its name says so
        return None


def _detect_zip_type(data: bytes) -> str | None:
    # The first member of an OpenDocument file or an e-book is not compressed, and tells its kind.
    if data[30:70].startswith(b"mimetype" + EPUB_TYPE.encode()):
        return EPUB_TYPE
    if found := _OPEN_DOCUMENT.search(data[30:120]):
        return _OPEN_DOCUMENT_TYPES.get(found[1])
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = {name.replace("\\", "/").removeprefix("/") for name in archive.namelist()}
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return None
    return next((kind for part, kind in _ZIP_PARTS if part in names), None)


def _detect_other_type(data: bytes) -> str | None:
    head = _decode_head(data)
    if b"%PDF-" in head[:1024]:
        return "application/pdf"
    if _WEB_PAGE.match(head):
        return "text/html"
    return WEB_ARCHIVE_TYPE if _MIME_HEADER.match(head) else None


def _decode_head(data: bytes) -> bytes:
    """Return the beginning without a byte order mark, and as one byte a character where it is UTF-16."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data[: 2 * _SAMPLE_BYTES].decode("utf-16", "ignore").encode("utf-8")
    return data[:_SAMPLE_BYTES].removeprefix(b"\xef\xbb\xbf").lstrip()


def _is_text(data: bytes) -> bool:
    head = data[:_SAMPLE_BYTES]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    # XML that Office 2003 wrote is no table and no text.
    return bool(start) and not start.startswith(b"<?xml") and not _CONTROL.search(head)
