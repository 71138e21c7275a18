"""Bytes to text; and plain text, kept word for word."""

from __future__ import annotations

import codecs
import re
from pathlib import PurePosixPath

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.text_headings import mark_numbered_headings
from argot.corpus.readers.text_tables import render_text_tables
from argot.errors import UnreadableDocument
from argot.types import ParsedDocument

_BYTE_ORDER_MARKS = (  # the longer ones first: a UTF-32 mark begins like a UTF-16 one
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_MAGIC_BYTES = {
    b"%PDF-": "a PDF",
    b"PK\x03\x04": "a zip archive or Office file",
    b"\xd0\xcf\x11\xe0": "an old Office file",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
    b"GIF8": "an image",
    b"\x1f\x8b": "a gzip archive",
    b"\x7fELF": "a program",
}
# Some of the hundred encodings of charset_normalizer fit any bytes: only the likely ones are tried.
_CANDIDATE_ENCODINGS = ["cp1252", "cp1251", "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr"]
_SAMPLE_BYTES = 50_000
_MIN_GOOD_PER_BAD = 3
"""Characters beyond ASCII for each byte that is no UTF-8. In other encodings such bytes outnumber what passes for
characters by chance."""
_ALL_BYTES = bytes(range(256))
# Leaves out blanks, and ESC, which coloured logs contain.
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_HIGH_CONTROL = re.compile("[\x80-\x9f]")
_CHARACTERS_OF_WINDOWS = {code: bytes([code]).decode("cp1252", "ignore") or chr(code) for code in range(0x80, 0xA0)}
"""No text contains control characters of this range: they are the quotes, dashes and euro signs of windows-1252."""
# UTF-7 hides markup from every check; the others turn letters into escapes, and are no encodings of files.
_NO_TEXT_CODECS = frozenset({"utf-7", "unicode-escape", "raw-unicode-escape", "idna", "punycode"})


def read_text(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Plain text is read as Markdown: underlined headings, bullets and indented code mean the same there. Columns that
    are aligned by spaces become tables, and numbered lines in capitals headings.
    """
    markdown = mark_numbered_headings(render_text_tables(decode_text(data, name)))
    underlined = re.match(r"\s*(\S[^\n]{0,150})\n(?:=|-){3,}[ \t]*(?:\n|\Z)", markdown)
    return ParsedDocument(underlined[1].strip() if underlined else name_without_suffix(name), markdown, "text/plain")


def decode_text(data: bytes, name: str, declared: str | None = None) -> str:
    """Decode by byte order mark, UTF-16 without one, declaration, UTF-8, then a guess; line ends become line feeds.

    Raises:
        UnreadableDocument: it is no text.
    """
    for magic, what in _MAGIC_BYTES.items():
        if data.startswith(magic):
            raise UnreadableDocument(name, f"binary, not text: this is {what}", "Give the file its right suffix.")
    text = decode_bytes(data, declared)
    head = text[:_SAMPLE_BYTES]
    # Up to one stray control character in fifty is still text.
    if "\x00" in text or len(_CONTROL.findall(head)) > len(head) // 50:
        raise UnreadableDocument(name, "binary, not text", "Convert it to one of the formats Argot reads.")
    return restore_windows_characters(text).replace("\r\n", "\n").replace("\r", "\n")


def restore_windows_characters(text: str) -> str:
    """Return the text with the characters of windows-1252 that were decoded as control characters of ISO 8859-1."""
    return text.translate(_CHARACTERS_OF_WINDOWS) if _HIGH_CONTROL.search(text) else text


def is_utf16(data: bytes) -> bool:
    return data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or _detect_wide_encoding(data) is not None


def name_without_suffix(name: str) -> str:
    """Return the file name without folders and suffix: the title of last resort."""
    last = PurePosixPath(name.replace("\\", "/")).name
    return PurePosixPath(last).stem or last or "untitled"


def decode_bytes(data: bytes, declared: str | None) -> str:
    """Return the text by the same rules, even if it holds control characters."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    if (wide := _detect_wide_encoding(data)) is not None:  # before UTF-8, in which plain English in UTF-16 is valid
        return data.decode(wide, "replace")
    codec = _find_codec(declared) if declared else ""
    codecs_to_try = (codec, "utf-8") if codec and not _is_unlikely(codec, data) else ("utf-8", codec)
    for tried in filter(None, codecs_to_try):
        try:
            return data.decode(tried)
        except UnicodeDecodeError:
            continue
    text = data.decode("utf-8", "replace")
    return text if _is_damaged(text) else data.decode(_guess(data), "replace")


def _is_damaged(text: str) -> bool:
    """Return whether bytes decoded as UTF-8 are that but for a few: read as windows-1252, one stray byte in a log would
    garble each umlaut of it.
    """
    bad = text.count("\ufffd")
    good = len(text) - len(text.encode("ascii", "ignore")) - bad
    return 0 < bad * _MIN_GOOD_PER_BAD <= good


def _find_codec(label: str) -> str:
    """Return Python's name for the encoding that a page or mail declares; empty if none is usable.

    Labels mean what browsers take them to mean (WHATWG Encoding, 4.2): "iso-8859-1" and "us-ascii" are windows-1252.
    """
    import webencodings

    known = webencodings.lookup(label)
    try:
        name = codecs.lookup(known.codec_info.name if known and known.name != "replacement" else label.strip()).name
    except (LookupError, ValueError):  # none of that name, or a name that holds NUL
        return ""
    return name if name not in _NO_TEXT_CODECS and codecs.lookup(name)._is_text_encoding else ""


def _is_unlikely(codec: str, data: bytes) -> bool:
    """Return True if text that is valid UTF-8 is read as such, whatever the declared encoding.

    Short East Asian text can be valid in both encodings, so there the declaration counts.
    """
    if codec.startswith(("utf-16", "utf-32")):
        return True  # with zero bytes it would have been detected as UTF-16 before
    return not data.isascii() and len(_ALL_BYTES.decode(codec, "replace")) == len(_ALL_BYTES)


def _detect_wide_encoding(data: bytes) -> str | None:
    sample = data[:_SAMPLE_BYTES]
    # In UTF-16 every second byte of Western text is NUL.
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = max(1, len(sample) // 2)
    if odd > 0.4 * half and even < 0.05 * half:
        return "utf-16-le"
    if even > 0.4 * half and odd < 0.05 * half:
        return "utf-16-be"
    return None


def _guess(data: bytes) -> str:
    sample = data[:_SAMPLE_BYTES]
    high = sum(byte > 127 for byte in sample)
    letters = sum(chr(byte).isalpha() for byte in sample if byte < 128)
    # East Asian and Cyrillic text has mostly bytes over 127, Western text only a few.
    if high <= letters:
        return "cp1252"
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=_CANDIDATE_ENCODINGS).best()
    return best.encoding if best else "cp1252"
