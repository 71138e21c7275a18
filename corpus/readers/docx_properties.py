"""Properties that people give a Word file beyond the usual ones ("Document number", "Owner"), as fields."""

from __future__ import annotations

import re
from collections.abc import Iterator

from argot.corpus.readers.docx_package import WordPackage
from argot.corpus.readers.file_fields import build_fields
from argot.types import DocumentField

_PROPERTIES_PART = "docProps/custom.xml"
_PLAIN_NAME = re.compile(r"[^\W\d_][\w .-]{0,59}")
_PROGRAM_PROPERTIES = re.compile(
    r"(?:msip_label|kso|ics?v|gramm?arly|mendeley|zotero|ctversion|docid|contenttype|mediaservice|workbook|appversion"
    r"|sharedoc|hyperlinkbase|hyperlinkschanged|linksuptodate|scalecrop|docsecurity|template|xd_|eid_|sourcemodified).*"
    r"|.*(?:id|guid|hash|version_?id)$",
    re.IGNORECASE,
)
_MAX_VALUE_CHARS = 200


def read_custom_fields(package: WordPackage) -> tuple[DocumentField, ...]:
    """Return the properties with names that people chose; those that programs add for themselves are left out."""
    return build_fields(_read_named_values(package))


def _read_named_values(package: WordPackage) -> Iterator[tuple[str, str]]:
    root = package.parse_tree(_PROPERTIES_PART)
    for one in root if root is not None else ():
        name = " ".join(str(one.get("name") or "").split())
        value = " ".join("".join(one.itertext()).split())
        if re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", value):
            value = value[:10]
        if (
            value
            and len(value) <= _MAX_VALUE_CHARS
            and _PLAIN_NAME.fullmatch(name)
            and not _PROGRAM_PROPERTIES.fullmatch(name)
        ):
            yield name, value
