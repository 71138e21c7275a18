"""Names of documents as people see them, derived from their addresses."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
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
_SAYS_NOTHING = re.compile(r"(?:_?index|readme|default|main|home)\.\w{1,8}$", re.IGNORECASE)
"""Names that many folders of a site or repository give to their first page."""
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


def find_telling_folders(uris: Iterable[str]) -> dict[str, str]:
    """Return for each URI as many of its folders as tell it from the others of the same listed name: "north/pumps" for
    "north/pumps/plan.md". If no other has its name: its folder if the name says nothing, as "index.html", else nothing.
    """
    by_name: defaultdict[str, list[str]] = defaultdict(list)
    for uri in dict.fromkeys(uris):
        by_name[listed_name_in(uri)].append(uri)
    return {uri: _find_folder(uri, alike) for alike in by_name.values() for uri in alike}


def _find_folder(uri: str, alike: list[str]) -> str:
    own, others = _list_folders(uri), [_list_folders(one) for one in alike if one != uri]
    if not others:
        return plain_text(unquote(own[-1])) if own and _SAYS_NOTHING.match(_get_last(uri)) else ""
    for depth in range(1, len(own) + 1):
        if all(one[-depth:] != own[-depth:] for one in others):
            return plain_text(unquote("/".join(own[-depth:])))
    return plain_text(unquote("/".join(own)))  # the folders of another continue these


def _list_folders(uri: str) -> list[str]:
    path = (uri.partition("://")[2] or uri).rstrip("/")
    return [one for one in path.removesuffix(_get_last(path)).split("/") if one]


def _get_last(path: str) -> str:
    member = _MEMBER.search(path)
    return member[0] if member else path.rsplit("/", 1)[-1]
