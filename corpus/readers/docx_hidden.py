"""Text that Word hides: it stands in the file and is not shown, so it is nothing that its author tells everybody."""

from __future__ import annotations

import io
import zipfile
from typing import Any

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_NO = ("0", "false", "off")


def without_hidden_text(data: bytes) -> tuple[bytes, bool]:
    """The file without the runs that are formatted as hidden, and whether any of them held text."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {part: archive.read(part) for part in archive.namelist() if part.endswith(".xml")}
        changed = {part: shown for part, xml in parts.items() if b"vanish" in xml and (shown := _shown(xml))}
        if not changed:
            return data, False
        rewritten = io.BytesIO()
        with zipfile.ZipFile(rewritten, "w", zipfile.ZIP_DEFLATED) as copy:
            for part in archive.namelist():
                copy.writestr(part, changed.get(part) or archive.read(part))
    return rewritten.getvalue(), True


def _shown(xml: bytes) -> bytes | None:
    """The part without hidden runs; None where no hidden run holds text."""
    from lxml import etree  # type: ignore[import-untyped]

    root = etree.fromstring(xml, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True))
    hidden = [run for run in root.iter(f"{_W}r") if _is_hidden(run)]
    for run in hidden:
        run.getparent().remove(run)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8") if hidden else None


def _is_hidden(run: Any) -> bool:
    vanish = run.find(f"{_W}rPr/{_W}vanish")
    return vanish is not None and vanish.get(f"{_W}val") not in _NO and run.find(f"{_W}t") is not None
