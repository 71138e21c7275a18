"""Pictures that lie beside a Markdown file or a page in an archive, put into the file itself.

So they are read with it, and a picture that changes changes the document. Only files of the same archive are taken.
"""

from __future__ import annotations

import base64
import posixpath
import re
from collections.abc import Callable
from pathlib import PurePosixPath
from urllib.parse import unquote

MAX_EMBEDDED_BYTES = 20_000_000
"""Bytes of all pictures of one file; those after them stay names."""
_MEDIA_TYPES = {
    ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
    ".avif": "image/avif", ".jp2": "image/jp2", ".bmp": "image/bmp", ".tif": "image/tiff", ".tiff": "image/tiff",
    ".svg": "image/svg+xml",
}  # fmt: skip
_UNSAFE = re.compile(r"[^A-Za-z0-9.-]")
_MAX_NAME_CHARS = 30
_FENCE = re.compile(rb" {0,3}(`{3,20}|~{3,20})")
_PICTURE = re.compile(
    rb"(?P<before>!\[[^\]\n]{0,300}\]\(\s{0,5}<?|<img\b[^<>]{0,500}?\bsrc\s?=\s?[\"']"
    rb"|<object\b[^<>]{0,500}?\bdata\s?=\s?[\"'])"
    rb"(?P<path>[^()<>\"'\n:]{1,500}?\.(?:png|jpe?g|gif|webp|avif|jp2|bmp|tiff?|svg))(?=[>)\"'\s])",
    re.IGNORECASE,
)


def has_pictures_beside(path: str) -> bool:
    """Return whether a file is of a kind that names its pictures."""
    return _is_markdown(path) or PurePosixPath(path).suffix.lower() in (".html", ".htm", ".xhtml")


def embed_pictures(text: bytes, path: str, load: Callable[[str], bytes | None]) -> bytes:
    """Return Markdown or HTML with the pictures that it names written out as base64; those in code stay names.

    Args:
        path: of the file in its archive.
        load: returns the file at a path of the archive; None: there is none, or it cannot be unpacked.
    """
    left = MAX_EMBEDDED_BYTES

    def embed(found: re.Match[bytes]) -> bytes:
        nonlocal left
        if not _is_markdown(path) and found["before"].startswith(b"!"):  # text of a page
            return found[0]
        wanted = _resolve(path, found["path"].decode("utf-8", "replace"))
        data = load(wanted) if wanted else None
        if data is None or len(data) > left:
            return found[0]
        left -= len(data)
        media_type = _MEDIA_TYPES[PurePosixPath(wanted).suffix.lower()]
        # The page's reader recognises a logo by its name.
        name = "" if _is_markdown(path) else f";name={_UNSAFE.sub('-', PurePosixPath(wanted).name)[-_MAX_NAME_CHARS:]}"
        return found["before"] + f"data:{media_type}{name};base64,".encode() + base64.b64encode(data)

    if not _is_markdown(path):
        return _PICTURE.sub(embed, text)
    lines, fence = [], b""
    for line in text.split(b"\n"):
        ticks = _FENCE.match(line)
        if ticks and (not fence or ticks[1].startswith(fence)):
            fence = b"" if fence else ticks[1]
        lines.append(line if fence else _PICTURE.sub(embed, line))
    return b"\n".join(lines)


def _is_markdown(path: str) -> bool:
    return PurePosixPath(path).suffix.lower() in (".md", ".markdown")


def _resolve(path: str, named: str) -> str:
    """Return the path in the archive of a file that another names; empty if it leads outside."""
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(named).replace("\\", "/").strip()))
    return "" if joined.startswith(("../", "/")) else joined
