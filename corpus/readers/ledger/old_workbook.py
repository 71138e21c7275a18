"""The words in the cells of .xls workbooks, from their records (MS-XLS), and in those of .xlsb (MS-XLSB).

Numbers are not counted, as in other workbooks: a program formats them.
"""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Iterator

from argot.corpus.readers import biff12
from argot.corpus.readers.ledger import source_text as rules
from argot.corpus.readers.ledger.budget import Budget
from argot.corpus.readers.ledger.source_text import SourceText

_OLE_MAGIC = b"\xd0\xcf\x11\xe0"
_BOF, _EOF, _CONTINUE, _SHEET, _STRINGS, _SHARED_CELL, _LABELS, _FORMULA_TEXT = (
    0x809, 0x0A, 0x3C, 0x85, 0xFC, 0xFD, (0x204, 0xD6), 0x207,
)  # fmt: skip
_ROW, _COLUMNS, _OBJECT, _BOX, _RUNNING, _FORMULA = 0x208, 0x7D, 0x5D, 0x1B6, (0x14, 0x15), 0x06
_RECORDS_PER_CHECK = 5_000


def read_xls_texts(data: bytes, budget: Budget) -> Iterator[SourceText]:
    """Give the text of the cells, notes and boxes of a workbook."""
    if data.startswith(_OLE_MAGIC):
        import olefile  # type: ignore[import-untyped]

        with olefile.OleFileIO(io.BytesIO(data)) as file:
            name = next((one for one in ("Workbook", "Book") if file.exists(one)), "")
            stream = file.openstream(name).read() if name else b""
    else:
        stream = data
    yield from _Records(stream, budget).read()


class _Records:
    """The records of a workbook, read once from first to last."""

    def __init__(self, stream: bytes, budget: Budget) -> None:
        self._stream, self._budget = stream, budget
        self._strings: list[str] = []
        self._sheets: dict[int, tuple[str, bool]] = {}
        self._rows: set[int] = set()
        self._columns: set[int] = set()
        self._cell = (0, 0)

    def read(self) -> Iterator[SourceText]:
        place, rule, box = "workbook", "", 0
        shared: list[bytes] = []
        previous = 0
        for number, (at, code, content) in enumerate(self._iter_records()):
            if number % _RECORDS_PER_CHECK == 0:
                self._budget.check()
            if code == _CONTINUE and previous == _STRINGS:
                shared.append(content)
                continue
            if previous == _STRINGS:
                self._strings = list(_split_strings(shared))
            if code != _CONTINUE:
                previous = code
            if code == _STRINGS:
                shared = [content]
            elif code == _SHEET and len(content) > 8:
                self._add_sheet(content)
            elif code == _BOF and at in self._sheets:
                name, is_hidden = self._sheets[at]
                place, rule = name, rules.HIDDEN_CELL if is_hidden else ""
                self._rows, self._columns = set(), set()
                yield SourceText(place, "cell", name, rule or rules.TECHNICAL)
            elif code == _BOX:
                box = int.from_bytes(content[10:12], "little")
            elif code == _CONTINUE and previous == _BOX and box and content:
                yield SourceText(place, "text box", _decode(content[1:], content[0])[:box], rule)
                box = 0
            elif code in _RUNNING and len(content) > 3:
                yield SourceText(place, "header", _decode(content[3:], content[2]), rules.RUNNING)
            elif text := self._read_cell(code, content):
                row, column = self._cell
                is_hidden = row in self._rows or column in self._columns
                yield SourceText(place, "cell", text, rule or (rules.HIDDEN_CELL if is_hidden else ""))

    def _iter_records(self) -> Iterator[tuple[int, int, bytes]]:
        at = 0
        while at + 4 <= len(self._stream):
            code, size = struct.unpack_from("<HH", self._stream, at)
            yield at, code, self._stream[at + 4 : at + 4 + size]
            at += 4 + size

    def _add_sheet(self, content: bytes) -> None:
        start, state = struct.unpack_from("<IB", content)
        self._sheets[start] = _decode(content[8:], content[7])[: content[6]], bool(state & 3)

    def _read_cell(self, code: int, content: bytes) -> str:
        """Return the text of a cell; note rows and columns that are hidden."""
        if code == _ROW and len(content) >= 14 and content[12] & 0x20:
            self._rows.add(struct.unpack_from("<H", content)[0])
        elif code == _COLUMNS and len(content) >= 10 and content[8] & 1:
            first, last = struct.unpack_from("<HH", content)
            self._columns.update(range(first, min(last, 255) + 1))
        elif code in (_SHARED_CELL, _FORMULA, *_LABELS) and len(content) >= 6:
            self._cell = struct.unpack_from("<HH", content)
            if code == _SHARED_CELL and len(content) >= 10:
                (index,) = struct.unpack_from("<I", content, 6)
                return self._strings[index] if index < len(self._strings) else ""
            return _read_label(content) if code in _LABELS else ""
        elif code == _FORMULA_TEXT and len(content) > 3:
            return _decode(content[3:], content[2])[: int.from_bytes(content[:2], "little")]
        return ""


def _read_label(content: bytes) -> str:
    """Return a text within its cell: in two bytes or one a character, or, before Excel 97, in one without a flag."""
    count = int.from_bytes(content[6:8], "little")
    rest = content[8:]
    if len(rest) == count:
        return rest.decode("cp1252", "replace")
    return _decode(rest[1:], rest[0])[:count] if rest else ""


def _decode(data: bytes, flags: int) -> str:
    return data.decode("utf-16-le", "replace") if flags & 1 else data.decode("latin-1")


def _split_strings(parts: list[bytes]) -> Iterator[str]:
    """Yield the shared strings; one that goes on in the next record says anew how wide its characters are."""
    number, at = 0, 8
    while number < len(parts):
        part = parts[number]
        if at + 3 > len(part):
            number, at = number + 1, 0
            continue
        count, flags = struct.unpack_from("<HB", part, at)
        at += 3
        runs = int.from_bytes(part[at : at + 2], "little") if flags & 8 else 0
        at += 2 if flags & 8 else 0
        extra = int.from_bytes(part[at : at + 4], "little") if flags & 4 else 0
        at += 4 if flags & 4 else 0
        text = ""
        while len(text) < count and number < len(parts):
            width = 2 if flags & 1 else 1
            taken = parts[number][at : at + (count - len(text)) * width]
            text += _decode(taken, flags)
            at += len(taken)
            if len(text) < count:
                number, at = number + 1, 1
                flags = parts[number][0] if number < len(parts) and parts[number] else 0
        yield text
        rest = 4 * runs + extra
        while number < len(parts) and at + rest > len(parts[number]):
            rest -= len(parts[number]) - at
            number, at = number + 1, 0
        at += rest


def read_xlsb_texts(data: bytes, budget: Budget) -> Iterator[SourceText]:
    """Give the text of the cells of a binary workbook, and of its notes."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        strings = "xl/sharedStrings.bin"
        shared = biff12.read_shared_strings(archive.read(strings)) if strings in names else []
        relations = archive.read("xl/_rels/workbook.bin.rels") if "xl/_rels/workbook.bin.rels" in names else b""
        entries = biff12.read_sheet_list(archive.read("xl/workbook.bin"))[0] if "xl/workbook.bin" in names else []
        hidden = {_find_target(relations, one.relation) for one in entries if one.is_hidden}
        for name in names:
            budget.check()
            if name.startswith("xl/worksheets/") and name.endswith(".bin"):
                part = archive.read(name)
                unseen = biff12.read_sheet_records(part)
                for row, column, value, _ in biff12.iter_cells(part, shared):
                    is_hidden = name in hidden or row in unseen.hidden_rows or column in unseen.hidden_columns
                    if isinstance(value, str):
                        yield SourceText(name, "cell", value, rules.HIDDEN_CELL if is_hidden else "")
            elif "/comments" in name and name.endswith(".bin"):
                for _, _, _, text in biff12.read_notes(archive.read(name)):
                    yield SourceText(name, "comment", text, "")


def _find_target(relations: bytes, identity: str) -> str:
    from lxml import etree  # type: ignore[import-untyped]

    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
    root = etree.fromstring(relations, parser) if relations else None
    found = next((one for one in root if one.get("Id") == identity), None) if root is not None else None
    target = str(found.get("Target") or "") if found is not None else ""
    return target.lstrip("/") if target.startswith("/") else f"xl/{target}"
