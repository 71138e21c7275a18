"""Document types of XML: harmless ones are removed, and files that declare entities are not read at all.

No program needs them to read a file, and the parsers of the many libraries differ in what they do with them.
"""

from __future__ import annotations

import codecs
import re

# `<!DOCTYPE` and `<!ENTITY`; in UTF-16 there is a zero byte between letters.
_DECLARATIONS = re.compile(rb"<\0?!\0?(?:D\0?O\0?C\0?T\0?Y\0?P\0?E|E\0?N\0?T\0?I\0?T\0?Y)", re.IGNORECASE)
_BYTES_BEFORE_XML = b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"
"""Marks of the encoding and blanks."""
_PLAIN_DOCUMENT_TYPE = re.compile(
    r"""<!DOCTYPE\s+[\w:.-]+(?:\s+(?:PUBLIC|SYSTEM|"[^"<>]*"|'[^'<>]*'))*\s*>""", re.IGNORECASE
)
"""A document type that declares nothing itself."""
_ENCODING = re.compile(rb"""^[\s\xef\xbb\xbf]*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']""")
_ASCII_BASED_ENCODINGS = re.compile(
    rb"utf-?8|utf-?16(?:le|be)?|(?:us-)?ascii|iso-?8859-\d{1,2}|windows-125\d|koi8-[ru]|gb2312|gbk|gb18030|big5"
    rb"|shift_jis|euc-(?:jp|kr)",
    re.IGNORECASE,
)
"""Encodings under which the bytes of a declaration are found; UTF-7 and EBCDIC could hide one."""


def is_xml(name: str, beginning: bytes) -> bool:
    """Return True for a part that may be XML. Its name alone does not tell: a package can name any part as its text."""
    return name.lower().endswith((".xml", ".rels", ".vml")) or beginning.lstrip(_BYTES_BEFORE_XML).startswith(b"<")


def has_declaration(chunk: bytes) -> bool:
    """Return True if a document type or an entity may be declared, or if the encoding could hide one."""
    encoding = _ENCODING.search(chunk[:400])
    return _DECLARATIONS.search(chunk) is not None or (
        encoding is not None and not _ASCII_BASED_ENCODINGS.fullmatch(encoding[1])
    )


def remove_document_type(xml: bytes) -> bytes | None:
    """Return the part without its document type; None if that declares something, or could do so unseen."""
    encoding = "utf-8"
    if xml.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif b"\0" in xml[:4]:
        # UTF-16 without a mark, or UTF-32.
        return None
    try:
        # In every other accepted encoding, `<` and letters are single bytes as in ASCII.
        text = xml.decode(encoding if encoding == "utf-16" else "latin-1")
    except UnicodeDecodeError:
        return None
    plain = _PLAIN_DOCUMENT_TYPE.sub("", text)
    cleaned = plain.encode("utf-16" if encoding == "utf-16" else "latin-1")
    return cleaned if plain != text and not has_declaration(cleaned) else None
