"""The cells of a workbook that contain words. Numbers are not counted: a program formats them, such as 0.075 as 7.5%.

The walk through a workbook's other parts finds the text of charts, notes and text boxes.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator
from typing import IO, Any

from argot.corpus.readers.ledger import source_text as rules
from argot.corpus.readers.ledger.budget import Budget
from argot.corpus.readers.ledger.source_text import SourceText
from argot.corpus.readers.ledger.xml_walk import read_local_name

_ROWS_PER_CHECK = 200


def read_cell_texts(archive: zipfile.ZipFile, names: list[str], budget: Budget) -> Iterator[SourceText]:
    """Give the text of each cell, and that of printed headers and footers."""
    strings = _read_shared_strings(archive, names, budget)
    for path, title, is_hidden in _list_sheets(archive, names):
        rule = rules.HIDDEN_CELL if is_hidden else ""
        texts = _read_sheet_texts(archive.open(path), path, rule, strings, budget)
        first = next(texts, None)
        # A sheet without text has nothing to which its name could be a heading.
        yield SourceText(path, "cell", title, rule or (rules.TECHNICAL if first is None else first.rule))
        if first is not None:
            yield first
        yield from texts


def _iter_elements(stream: IO[bytes], *kinds: str) -> Any:
    from lxml import etree  # type: ignore[import-untyped]

    return etree.iterparse(
        stream, events=kinds, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True,
        recover=True, tag=("{*}row", "{*}si", "{*}cols", "{*}sheet", "{*}oddHeader", "{*}oddFooter", "{*}evenHeader",
        "{*}evenFooter", "{*}firstHeader", "{*}firstFooter"),
    )  # fmt: skip


def _read_shared_strings(archive: zipfile.ZipFile, names: list[str], budget: Budget) -> list[str]:
    if "xl/sharedStrings.xml" not in names:
        return []
    strings = []
    for number, (_, element) in enumerate(_iter_elements(archive.open("xl/sharedStrings.xml"), "end")):
        if number % 2_000 == 0:
            budget.check()
        strings.append(_read_rich_text(element))
        element.clear(keep_tail=False)
    return strings


def _read_rich_text(element: Any) -> str:
    """Return the text of a string, without its phonetic guide."""
    if len(element) == 1 and read_local_name(element[0].tag) == "t":
        return element[0].text or ""
    texts = (
        node.text or ""
        for node in element.iter("{*}t")
        if node.getparent() is None or read_local_name(node.getparent().tag) != "rPh"
    )
    return "".join(texts)


def _list_sheets(archive: zipfile.ZipFile, names: list[str]) -> list[tuple[str, str, bool]]:
    """Return path and name of each sheet, and whether it is hidden; only sheets that the workbook names are shown."""
    links = {}
    if "xl/_rels/workbook.xml.rels" in names:
        from lxml import etree

        parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
        root = etree.fromstring(archive.read("xl/_rels/workbook.xml.rels"), parser)
        links = {one.get("Id"): posixpath.normpath(posixpath.join("xl", one.get("Target", ""))) for one in root}
    found = []
    for _, sheet in _iter_elements(archive.open("xl/workbook.xml"), "end") if "xl/workbook.xml" in names else ():
        identity = next((value for key, value in sheet.attrib.items() if read_local_name(key) == "id"), "")
        path = links.get(identity, "").lstrip("/")
        path = path.removeprefix("xl/xl/").removeprefix("xl//") if path not in names else path
        if path in names:
            found.append((path, sheet.get("name", ""), sheet.get("state", "visible") != "visible"))
    return found


def _read_sheet_texts(
    sheet: IO[bytes], path: str, rule: str, strings: list[str], budget: Budget
) -> Iterator[SourceText]:
    hidden: set[str] = set()
    for number, (_, element) in enumerate(_iter_elements(sheet, "end")):
        if number % _ROWS_PER_CHECK == 0:
            budget.check()
        name = read_local_name(element.tag)
        if name == "cols":
            hidden = _find_hidden_columns(element)
        elif name == "row":
            why = rule or (rules.HIDDEN_CELL if element.get("hidden") in ("1", "true") else "")
            # A row at once: a workbook has a hundred times as many cells as a text has paragraphs.
            shown: list[str] = []
            unseen: list[str] = []
            for cell in element:
                if text := _read_cell(cell, strings):
                    column = cell.get("r", "").rstrip("0123456789") if hidden else ""
                    (unseen if column in hidden else shown).append(text)
            if shown:
                yield SourceText(path, "cell", "\n".join(shown), why)
            if unseen:
                yield SourceText(path, "cell", "\n".join(unseen), why or rules.HIDDEN_CELL)
        elif name.endswith(("Header", "Footer")) and element.text:
            text = re.sub(r'&(?:"[^"]*"|K[0-9A-F]{6}|\d+|[A-Z])', " ", element.text)
            yield SourceText(path, "header", text, rules.RUNNING)
        element.clear(keep_tail=False)


def _read_cell(cell: Any, strings: list[str]) -> str:
    match cell.get("t"):
        case "s":
            value = cell.findtext("{*}v") or ""
            return strings[int(value)] if value.isdigit() and int(value) < len(strings) else ""
        case "inlineStr":
            return _read_rich_text(cell)
        case "str":
            return cell.findtext("{*}v") or ""
        case _:
            return ""


def _find_hidden_columns(columns: Any) -> set[str]:
    hidden: set[str] = set()
    for one in columns:
        if one.get("hidden") in ("1", "true") and one.get("min", "").isdigit() and one.get("max", "").isdigit():
            hidden.update(
                _name_column(number) for number in range(int(one.get("min")), min(int(one.get("max")), 16_384) + 1)
            )
    return hidden


def _name_column(number: int) -> str:
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
