"""Jupyter notebooks: text cells as they are, code and what it printed as blocks of code. Pictures are left out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.html import convert_html
from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.plain_text import decode_text, file_stem
from argot.corpus.readers.titles import first_heading
from argot.errors import UnreadableDocument
from argot.types import ParsedDocument

CELLS_A_SECOND = 2_000
_MOST_PRINTED = 4_000
"""Characters of what one cell printed: the rest of a long log answers no question."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_FENCE = re.compile(r"`{3,}")


def read_notebook(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Title: the first heading, else the file name.

    Raises:
        UnreadableDocument: it is no notebook.
    """
    try:
        notebook = json.loads(decode_text(data, name))
    except (ValueError, RecursionError) as error:
        raise UnreadableDocument(name, "damaged: not the JSON of a notebook") from error
    cells = _cells(notebook)
    if cells is None:
        raise UnreadableDocument(name, "no notebook: it holds no cells")
    limits.check_elements(len(cells), CELLS_A_SECOND, "notebook", name)
    language, omissions = _language(notebook), Omissions()
    parts = (part for cell in cells for part in _parts(cell, language, omissions))
    markdown = "\n\n".join(part for part in parts if part.strip()) + "\n"
    said = "\n\n".join(_joined(cell, "source") for cell in cells if cell.get("cell_type") == "markdown")
    title = first_heading(said) or file_stem(name)
    return ParsedDocument(title, markdown, "application/x-ipynb+json", warnings=omissions.warnings())


def _cells(notebook: Any) -> list[dict[str, Any]] | None:
    if not isinstance(notebook, dict):
        return None
    sheets = notebook.get("worksheets")  # of format 3
    held = sheets[0].get("cells") if isinstance(sheets, list) and sheets else notebook.get("cells")
    return [cell for cell in held if isinstance(cell, dict)] if isinstance(held, list) else None


def _language(notebook: Mapping[str, Any]) -> str:
    about = notebook.get("metadata") or {}
    said = about.get("language_info") or about.get("kernelspec") or {}
    name = str(said.get("name") or said.get("language") or "")
    return name if re.fullmatch(r"[\w+#-]{1,20}", name) else ""


def _parts(cell: Mapping[str, Any], language: str, omissions: Omissions) -> Iterator[str]:
    match cell.get("cell_type"):
        # A raw cell is text for the program that prints the notebook.
        case "markdown" | "raw":
            yield _joined(cell, "source")
        case "heading":  # of format 3
            yield f"{'#' * min(6, int(cell.get('level', 1)))} {_joined(cell, 'source')}"
        case "code":
            code = _joined(cell, "source") or _joined(cell, "input")
            yield _block(code, language)
            yield from (_printed(one, omissions) for one in cell.get("outputs") or () if isinstance(one, dict))


def _printed(output: Mapping[str, Any], omissions: Omissions) -> str:
    if output.get("output_type") in ("error", "pyerr"):
        return _block(f"{output.get('ename', '')}: {output.get('evalue', '')}")
    shown = output.get("data") or output
    # A data frame: its text form would lose the columns.
    if isinstance(shown, dict) and "<table" in (page := _joined(shown, "text/html") or _joined(shown, "html")):
        return convert_html(page)
    text = _joined(shown, "text/plain") or _joined(shown, "text") if isinstance(shown, dict) else ""
    text = _COLOURS.sub("", text)
    if len(text) <= _MOST_PRINTED:
        return _block(text)
    omissions.add("end of a long printout")
    return _block(f"{text[:_MOST_PRINTED]}\n...")


def _joined(held: Mapping[str, Any], key: str) -> str:
    """Text that stands there as one, or line by line."""
    value = held.get(key, "")
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _block(code: str, language: str = "") -> str:
    if not code.strip():
        return ""
    # Longer than any fence in the code itself.
    fence = "`" * max([3, *(len(found) + 1 for found in _FENCE.findall(code))])
    return f"{fence}{language}\n{code.rstrip()}\n{fence}"
