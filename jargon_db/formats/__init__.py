"""Glossary files: CSV, JSON and SKOS, read and written, and previews of what an import would change."""

from typing import TYPE_CHECKING

from argot.lazy import build_lazy_getattr

if TYPE_CHECKING:
    from argot.jargon_db.formats.format_registry import FORMATS, GlossaryFormat, read_file
    from argot.jargon_db.formats.glossary_file import GlossaryFile, ReadOptions
    from argot.jargon_db.formats.import_export import GlossaryFiles, ImportReport
    from argot.jargon_db.formats.import_preview import ImportPreview

__all__ = [
    "FORMATS",
    "GlossaryFile",
    "GlossaryFiles",
    "GlossaryFormat",
    "ImportPreview",
    "ImportReport",
    "ReadOptions",
    "read_file",
]

if not TYPE_CHECKING:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "FORMATS": "format_registry",
            "GlossaryFiles": "import_export",
            "GlossaryFormat": "format_registry",
            "GlossaryFile": "glossary_file",
            "ImportPreview": "import_preview",
            "ImportReport": "import_export",
            "ReadOptions": "glossary_file",
            "read_file": "format_registry",
        },
    )
