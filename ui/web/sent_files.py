"""Files of multipart forms."""

from __future__ import annotations

from starlette.datastructures import UploadFile


def read_sent_name(file: UploadFile) -> str:
    """Return a file's name as its sender wrote it: HTML makes browsers escape these three characters (4.10.21.8)."""
    name = file.filename or ""
    for escaped, character in (("%22", '"'), ("%0D", "\r"), ("%0A", "\n")):
        name = name.replace(escaped, character)
    return name
