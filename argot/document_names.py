"""Names of documents as people see them, derived from their addresses."""

from __future__ import annotations

import re
from urllib.parse import unquote

_CONTROL_CHARACTERS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_LEFTOVERS = (
    (re.compile(r"~\$.|\.~lock\..*#$"), "a lock file, which an Office program keeps while a document is open"),
    (
        re.compile(r"(?:eh)?thumbs(?:_\w+)?\.db$|desktop\.ini$|\.DS_Store$|\._.|Icon\r$", re.IGNORECASE),
        "a file of the desktop's own",
    ),
    (re.compile(r"~.*\.tmp$|.*~$|#.*#$|\..*\.sw[a-p]$|4913$", re.IGNORECASE), "a temporary file of an editor"),
)
ARCHIVE_SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_MEMBER = re.compile(rf"[^/]+(?:{'|'.join(map(re.escape, ARCHIVE_SUFFIXES))})!/.+$", re.IGNORECASE)


def plain_text(name: str) -> str:
    """Return a name without control characters, and without those that reverse the text direction: they make a file
    look like one of another kind.
    """
    return _CONTROL_CHARACTERS.sub("", name)


def find_leftover_kind(name: str) -> str:
    """Return the kind of temporary file that programs leave beside documents, such as "~$plan.docx"; empty for all
    others.
    """
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return next((kind for pattern, kind in _LEFTOVERS if pattern.match(last)), "")


def name_in(uri: str) -> str:
    """Return the last part of a URI, as people would write it: their name for the document."""
    # The address of a page may end in a slash ("https://wiki/plan/"), and a file's name contain "%20".
    last = uri.rstrip("/").rsplit("/", 1)[-1]
    # A page address of Confluence, which uses only the number.
    title = last.partition("&title=")[2] if last.startswith("viewpage.action?") else ""
    return plain_text(unquote(title or last))


def listed_name_in(uri: str) -> str:
    """Return the same; for a file in an archive preceded by the archive, as in "manuals.zip!/bilge.md"."""
    member = _MEMBER.search(uri)
    return plain_text(unquote(member[0])) if member else name_in(uri)
