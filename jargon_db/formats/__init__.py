"""Glossary files: CSV, JSON and SKOS, read and written, and what taking one in would change."""

from typing import TYPE_CHECKING

from argot.lazy import lazily

if TYPE_CHECKING:
    from argot.jargon_db.formats.files import Files, ImportReport
    from argot.jargon_db.formats.glossary_file import GlossaryFile, ReadOptions
    from argot.jargon_db.formats.import_preview import ImportPreview
    from argot.jargon_db.formats.registry import FORMATS, Format, read_file

__all__ = [
    "FORMATS",
    "Files",
    "Format",
    "GlossaryFile",
    "ImportPreview",
    "ImportReport",
    "ReadOptions",
    "read_file",
]

if not TYPE_CHECKING:
    __getattr__ = lazily(
        __name__,
        {
            "FORMATS": "registry",
            "Files": "files",
            "Format": "registry",
            "GlossaryFile": "glossary_file",
            "ImportPreview": "import_preview",
            "ImportReport": "files",
            "ReadOptions": "glossary_file",
            "read_file": "registry",
        },
    )
