"""Hidden text in Word files: it is in the file and not shown, so its author did not mean it for readers."""

from __future__ import annotations

from typing import Any

from argot.corpus.readers.docx_package import W, WordPackage, is_switched_on


def remove_hidden_text(package: WordPackage) -> bool:
    """Remove the runs that are formatted as hidden; return whether any of them had text."""
    has_hidden = False
    for part in package.list_xml_parts():
        if b"vanish" not in (package.read_content(part) or b""):
            continue
        root = package.parse_tree(part)
        hidden = [run for run in root.iter(f"{W}r") if _is_hidden(run)] if root is not None else []
        for run in hidden:
            run.getparent().remove(run)
        has_hidden = has_hidden or bool(hidden)
    return has_hidden


def _is_hidden(run: Any) -> bool:
    return is_switched_on(run.find(f"{W}rPr/{W}vanish")) and run.find(f"{W}t") is not None
