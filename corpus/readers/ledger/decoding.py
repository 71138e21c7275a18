"""Bytes to text as browsers decode them: by mark, by declaration, as UTF-8, else as Windows does."""

from __future__ import annotations

import codecs
import re

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# The WHATWG's standard reads all three as windows-1252.
_WINDOWS_ENCODINGS = frozenset({"iso-8859-1", "latin-1", "latin1", "us-ascii", "ascii", "iso8859-1", "l1"})
_ENCODING_DECLARATION = re.compile(rb"(?:charset|encoding)\s*=\s*[\"']?([\w.:-]{2,40})", re.IGNORECASE)
_CANDIDATE_ENCODINGS = ("cp1252", "cp1251", "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr")
_SAMPLE_BYTES = 50_000


def find_declared_encoding(data: bytes) -> str:
    """Return the encoding that a page of HTML or XML names at its beginning; empty if it names none."""
    found = _ENCODING_DECLARATION.search(data[:4096])
    return found[1].decode("ascii") if found else ""


def decode_text(data: bytes, declared: str = "") -> str:
    """Return the text of a file of any encoding; undecodable bytes become replacement characters."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    if wide := _detect_wide_encoding(data):
        return data.decode(wide, "replace")
    for encoding in filter(None, (declared.lower(), "utf-8")):
        if encoding in _WINDOWS_ENCODINGS:
            continue
        try:
            return data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    if declared.lower() in _WINDOWS_ENCODINGS:
        return _decode_windows_text(data)
    return _guess_text(data)


def _detect_wide_encoding(data: bytes) -> str:
    sample = data[:_SAMPLE_BYTES]
    half = max(1, len(sample) // 2)
    even, odd = sample[0::2].count(0) / half, sample[1::2].count(0) / half
    if odd > 0.4 and even < 0.05:
        return "utf-16-le"
    return "utf-16-be" if even > 0.4 and odd < 0.05 else ""


def _decode_windows_text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _guess_text(data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    damaged = text.count("\ufffd")
    # UTF-8 with a few stray bytes: at most one in four characters beyond ASCII is damaged.
    if 4 * damaged <= sum(char > "\x7f" for char in text):
        return text
    sample = data[:_SAMPLE_BYTES]
    high = sum(byte > 127 for byte in sample)
    if high <= sum(byte < 128 and chr(byte).isalpha() for byte in sample):
        return data.decode("cp1252", "replace")
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=list(_CANDIDATE_ENCODINGS)).best()
    return data.decode(best.encoding if best else "cp1252", "replace")
