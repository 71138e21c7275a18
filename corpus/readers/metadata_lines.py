"""Lines at the top of a text that describe the document, as people type them: "Owner: Ann | Version 4 | In force from
1 December 2024 | Supersedes version 3".
"""

from __future__ import annotations

import re

_SEPARATOR = re.compile(r"[ \t]+\|[ \t]+")
_NEXT_LABEL = re.compile(r"[.;,][ \t]+(?=[A-Z][\w ()&/-]{0,30}:[ \t])")
_LABEL = re.compile(r"[\s*_>#-]*(?P<label>[^\W\d_][\w ()&/-]{0,38}):[\s*_]")
_DATED = re.compile(
    r"[\s*_>#-]*(?:v(?:ersion|\.)? ?\d|(?:\d{1,2} )?(?:[A-Za-z]{3,9}\.? )?(?:19|20)\d\d\b)", re.IGNORECASE
)
"""A part without a label that describes a document: "v4, Jan 2025", "June 2023"."""
_MARKS = " \t*_>#-"


def split_metadata_line(line: str) -> list[str]:
    """Return the parts of a line that describes a document; only the line itself if it is any other text."""
    if line.lstrip().startswith("|"):
        return [line]
    parts = [part for cell in _SEPARATOR.split(line) for part in _NEXT_LABEL.split(cell)]
    return [part.strip(_MARKS) for part in parts] if _describes_document(parts) else [line]


def is_metadata_line(line: str) -> bool:
    """Return whether a line has several parts that describe a document, between bars."""
    return _SEPARATOR.search(line) is not None and len(split_metadata_line(line)) > 1


def read_label(part: str) -> str:
    """Return what a part of such a line is about: "Owner" of "Owner: Ann", "Version" of "Version 4"; empty if it does
    not say.
    """
    if labelled := _LABEL.match(part):
        return labelled["label"]
    return part.split(maxsplit=1)[0] if _DATED.match(part) else ""


def _describes_document(parts: list[str]) -> bool:
    return len(parts) > 1 and any(_LABEL.match(part) or _DATED.match(part) for part in parts)
