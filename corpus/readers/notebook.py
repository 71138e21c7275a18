"""Jupyter notebooks: text cells unchanged, code and its output as blocks of code, drawn output as pictures."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.html import convert_html
from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.pictures import shelve_picture
from argot.corpus.readers.plain_text import decode_text, name_without_suffix
from argot.corpus.readers.titles import find_first_heading
from argot.errors import UnreadableDocument
from argot.types import ParsedDocument

CELLS_PER_SECOND = 2_000
_MAX_OUTPUT_CHARS = 4_000
"""Characters of one cell's output: the rest of a long log answers no question."""
_COLOUR_CODE = re.compile(r"\x1b\[[0-9;]*m")
_FENCE = re.compile(r"`{3,}")


def read_notebook(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read a notebook. The title is the first heading, else the file name.

    Raises:
        UnreadableDocument: it is no notebook.
    """
    try:
        notebook = json.loads(decode_text(data, name))
    except (ValueError, RecursionError) as error:
        raise UnreadableDocument(name, "damaged: not the JSON of a notebook") from error
    cells = _list_cells(notebook)
    if cells is None:
        raise UnreadableDocument(name, "no notebook: it holds no cells")
    limits.check_elements(len(cells), CELLS_PER_SECOND, "notebook", name)
    language, omissions = _find_language(notebook), Omissions()
    parts = (part for cell in cells for part in _convert_cell(cell, language, omissions))
    markdown = "\n\n".join(part for part in parts if part.strip()) + "\n"
    prose = "\n\n".join(_join_text(cell, "source") for cell in cells if cell.get("cell_type") == "markdown")
    title = find_first_heading(prose) or name_without_suffix(name)
    return ParsedDocument(title, markdown, "application/x-ipynb+json", warnings=omissions.warnings())


def _list_cells(notebook: Any) -> list[dict[str, Any]] | None:
    if not isinstance(notebook, dict):
        return None
    sheets = notebook.get("worksheets")  # of format 3
    held = sheets[0].get("cells") if isinstance(sheets, list) and sheets else notebook.get("cells")
    return [cell for cell in held if isinstance(cell, dict)] if isinstance(held, list) else None


def _find_language(notebook: Mapping[str, Any]) -> str:
    about = notebook.get("metadata") or {}
    description = about.get("language_info") or about.get("kernelspec") or {}
    name = str(description.get("name") or description.get("language") or "")
    return name if re.fullmatch(r"[\w+#-]{1,20}", name) else ""


def _convert_cell(cell: Mapping[str, Any], language: str, omissions: Omissions) -> Iterator[str]:
    match cell.get("cell_type"):
        # A raw cell is text for the program that prints the notebook.
        case "markdown" | "raw":
            yield _join_text(cell, "source")
        case "heading":  # of format 3
            yield f"{'#' * min(6, int(cell.get('level', 1)))} {_join_text(cell, 'source')}"
        case "code":
            code = _join_text(cell, "source") or _join_text(cell, "input")
            yield _block(code, language)
            yield from (_convert_output(one, omissions) for one in cell.get("outputs") or () if isinstance(one, dict))


def _convert_output(output: Mapping[str, Any], omissions: Omissions) -> str:
    if output.get("output_type") in ("error", "pyerr"):
        return _block(f"{output.get('ename', '')}: {output.get('evalue', '')}")
    shown = output.get("data") or output
    if isinstance(shown, dict):
        # A picture is described by its text form: "<Figure size 640x480 with 1 Axes>".
        marks = (shelve_picture(picture)[0] for picture in _list_pictures(shown))
        if mark := next(filter(None, marks), ""):
            return mark
        page = _join_text(shown, "text/html") or _join_text(shown, "html")
        # A data frame: its text form would lose the columns.
        if "<table" in page or "<svg" in page:
            return convert_html(page)
    text = _join_text(shown, "text/plain") or _join_text(shown, "text") if isinstance(shown, dict) else ""
    text = _COLOUR_CODE.sub("", text)
    if len(text) <= _MAX_OUTPUT_CHARS:
        return _block(text)
    omissions.add("end of a long printout")
    return _block(f"{text[:_MAX_OUTPUT_CHARS]}\n...")


def _list_pictures(shown: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield the forms of an output as a picture; those of format 3 are named by their suffix."""
    for kind in ("image/png", "image/jpeg", "png", "jpeg"):
        with suppress(binascii.Error, ValueError):
            yield base64.b64decode(_join_text(shown, kind))
    for kind in ("image/svg+xml", "svg"):
        yield _join_text(shown, kind).encode()


def _join_text(held: Mapping[str, Any], key: str) -> str:
    """Return a text that is stored as one string or line by line."""
    value = held.get(key, "")
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _block(code: str, language: str = "") -> str:
    if not code.strip():
        return ""
    # Longer than any fence in the code itself.
    fence = "`" * max([3, *(len(found) + 1 for found in _FENCE.findall(code))])
    return f"{fence}{language}\n{code.rstrip()}\n{fence}"
