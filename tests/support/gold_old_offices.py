"""Files of older Office programs, each with structures that are easily lost: most are written byte by byte.

Their gold standards are in tests/corpus/gold.
"""

from __future__ import annotations

import datetime
import io
import struct
from dataclasses import dataclass, field
from typing import Any

from gold_open_documents import relations, zip_parts
from ole_writer import write_ole

# -- Excel ------------------------------------------------------------------------------------------------------------


def old_workbook() -> bytes:
    """Make a workbook of Excel 97 with formats, merged headings, and a hidden row, column and sheet."""
    import xlwt

    book = xlwt.Workbook()
    sheet = book.add_sheet("Bud get")
    sheet.write_merge(0, 1, 0, 0, "Item")
    sheet.write_merge(0, 0, 1, 2, "Costs")
    for column, text in enumerate(["Planned", "Share", "Hidden column"], start=1):
        sheet.write(1, column, text)
    sheet.write(2, 0, "Nuts <b>")
    sheet.write(2, 1, 1234.5, xlwt.easyxf(num_format_str="#,##0.00"))
    sheet.write(2, 2, 0.075, xlwt.easyxf(num_format_str="0.0%"))
    sheet.write(2, 3, "never shown")
    sheet.write(3, 0, "=cmd|' /C calc'!A0")
    sheet.write(3, 1, datetime.datetime(2024, 5, 1), xlwt.easyxf(num_format_str="DD/MM/YYYY"))
    sheet.write(3, 2, True)
    sheet.write(4, 0, "a hidden row")
    sheet.row(4).hidden = True
    sheet.col(3).hidden = True
    other = book.add_sheet("Off")
    other.visibility = 1
    other.write(0, 0, "a hidden sheet")
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def record(code: int, content: bytes = b"") -> bytes:
    """Return a record of a binary workbook."""
    head = bytes([code & 0x7F | 0x80, code >> 7]) if code > 0x7F else bytes([code])
    size, lengths = len(content), b""
    while True:
        lengths += bytes([size & 0x7F | (0x80 if size > 0x7F else 0)])
        size >>= 7
        if not size:
            return head + lengths + content


def wide(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def binary_row(number: int, cells: list[tuple[int, bytes]], *, hidden: bool = False) -> bytes:
    """Return a row of cells, each with the code of its record and all that follows column and style."""
    head = struct.pack("<IIHBB", number, 0, 300, 0, 0x10 if hidden else 0) + b"\0" * 5
    return record(0, head) + b"".join(
        record(code, struct.pack("<II", column, content[0]) + content[1:])
        for column, (code, content) in enumerate(cells)
        if code
    )


def binary_workbook() -> bytes:
    """Make a binary workbook with shared strings, formats, a merged cell, a note, and a hidden row and sheet."""

    def shared(number: int) -> tuple[int, bytes]:
        return 7, b"\0" + struct.pack("<I", number)

    strings = ["Item", "Amount", "When", "Bowl <i>", "hidden words", "secret"]
    rows = [
        binary_row(0, [shared(0), shared(1), shared(2)]),
        binary_row(
            1, [shared(3), (5, b"\1" + struct.pack("<d", 0.25)), (2, b"\2" + struct.pack("<I", 45413 << 2 | 2))]
        ),
        binary_row(2, [(1, b"\0"), (8, b"\0" + wide("sum of it")), (4, b"\0\1")]),
        binary_row(4, [shared(4)], hidden=True),
    ]
    sheet = record(129) + record(145) + b"".join(rows) + record(146)
    sheet += record(176, struct.pack("<IIII", 1, 2, 0, 0)) + record(130)
    notes = record(632, wide("Ann")) + record(635, struct.pack("<IIIII", 0, 1, 1, 1, 1) + b"\0" * 16)
    notes += record(637, b"\0" + wide("Ann:\nhalf of it?"))
    book = b"".join(
        record(156, struct.pack("<II", hidden, number) + wide(f"rId{number}") + wide(name))
        for number, name, hidden in ((1, "Stock", 0), (2, "Off", 2))
    )
    styles = record(44, struct.pack("<H", 164) + wide("0.0%")) + record(617)
    styles += b"".join(record(47, struct.pack("<HH", 0, number)) for number in (0, 164, 14)) + record(618)
    off = record(145) + binary_row(0, [shared(5)]) + record(146)
    return zip_parts({
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": relations(("rId1", "officeDocument", "xl/workbook.bin")),
        "xl/workbook.bin": book,
        "xl/_rels/workbook.bin.rels": relations(
            ("rId1", "worksheet", "worksheets/sheet1.bin"), ("rId2", "worksheet", "worksheets/sheet2.bin"),
            ("rId3", "sharedStrings", "sharedStrings.bin"), ("rId4", "styles", "styles.bin"),
        ),
        "xl/worksheets/sheet1.bin": sheet,
        "xl/worksheets/_rels/sheet1.bin.rels": relations(("rId1", "comments", "../comments1.bin")),
        "xl/worksheets/sheet2.bin": off,
        "xl/comments1.bin": notes,
        "xl/sharedStrings.bin": b"".join(record(19, b"\0" + wide(text)) for text in strings),
        "xl/styles.bin": styles,
    })  # fmt: skip


# -- rich text --------------------------------------------------------------------------------------------------------


def rich_text() -> bytes:
    """Make rich text with a heading, code pages, lists, a table, a note, a comment, and hidden and deleted text."""
    return rb"""{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial Cyr;}{\f2\fcharset2
Wingdings;}}{\stylesheet{\s0 Normal;}{\s15\outlinelevel0 My heading;}{\s2 heading 2;}}
{\info{\title Kiln rules}{\author Bo Berg}{\revtim\yr2024\mo3\dy5}}{\header \pard Document no. K-17\par}
\pard\s15 Rules of the kiln\par
\pard\s2 Before {\v secretly }firing\par
\pard\plain Caf\'e9 at 900\~\'b0C{\footnote \chftn {\pard Measured at the \emdash  door.}}, \u8364?5, {\f1\'cf\'f0\'e8}
 and \u55357?\u56832?. {\deleted A deleted sentence. }H{\sub 2}O <b>{\field{\*\fldinst HYPERLINK "http://x.example"}{\fldrslt
steams}}</b>.{\*\atnid BB}{\*\atnauthor Bo Berg}\chatn{\*\annotation {\pard Does it?}}\par
\pard{\listtext\tab 1.\tab}\ilvl0 Open the flap\par
\pard{\listtext\f2\'a7\tab}\ilvl1 slowly\par
\pard{\listtext\tab 2.\tab}\ilvl0 Light it\par
\pard{\listtext (b)\tab}Wait\par
\trowd\trhdr\cellx1000\cellx3000\pard\intbl Ware\cell Days\cell\row
\trowd\cellx1000\cellx2000\cellx3000\pard\intbl Bowls\par and jugs\cell 2\cell 3\cell\row
\pard {\*\unknown lost words}{\object\objemb{\*\objdata 0105}{\result Last line}}\par}
"""


# -- Word -------------------------------------------------------------------------------------------------------------


@dataclass
class WordMaker:
    """A Word file of the years 1997 to 2003, put together from paragraphs with their properties (MS-DOC)."""

    text: str = ""
    paragraphs: list[tuple[int, bytes]] = field(default_factory=list)
    """End of each paragraph in the text, and its style with the changes to that."""
    runs: list[tuple[int, int, bytes]] = field(default_factory=list)
    tables: dict[int, bytes] = field(default_factory=dict)

    def add(self, text: str, style: int = 0, changes: bytes = b"", mark: str = "\r") -> None:
        self.text += text + mark
        self.paragraphs.append((len(self.text), struct.pack("<H", style) + changes))

    def mark(self, text: str, changes: bytes) -> str:
        """Give the text, which must be added next as a whole, the looks of characters."""
        self.runs.append((len(self.text), len(self.text) + len(text), changes))
        return text

    def write(self, counts: dict[int, int]) -> bytes:
        """Return the file.

        Args:
            counts: the characters of each part after the text, by the number of the part.
        """
        start = 0x800
        raw = self.text.encode("utf-16-le", "surrogatepass")
        body = raw.ljust(-(-len(raw) // 512) * 512, b"\0")
        first_page = (start + len(body)) // 512
        ends = [start + 2 * end for end, _ in self.paragraphs]
        pages = fkp([start, *ends], [papx(raw) for _, raw in self.paragraphs], 13)
        places, looks, last = [start], list[bytes](), 0
        for begin, end, changes in self.runs:
            if begin > last:
                places.append(start + 2 * begin)
                looks.append(b"")
            places.append(start + 2 * end)
            looks.append(bytes([len(changes)]) + changes)
            last = end
        places.append(ends[-1])
        looks.append(b"")
        pages += fkp(places, looks, 1)
        piece = struct.pack("<II", 0, len(self.text)) + struct.pack("<HIH", 0, start, 0)
        tables = {
            0x1A2: b"\2" + struct.pack("<I", len(piece)) + piece,
            0x102: struct.pack("<III", start, ends[-1], first_page),
            0xFA: struct.pack("<III", start, ends[-1], first_page + 1),
            **self.tables,
        }
        head = bytearray(start)
        struct.pack_into("<HH", head, 0, 0xA5EC, 0x00C1)
        struct.pack_into("<H", head, 0x0A, 0x200)
        for number in range(8):
            others = sum(counts.values())
            struct.pack_into(
                "<i", head, 0x4C + 4 * number, counts.get(number, 0) if number else len(self.text) - others
            )
        table = bytearray()
        for place, content in tables.items():
            struct.pack_into("<II", head, place, len(table), len(content))
            table += content + (self.levels if place == 0x2E2 else b"")
        return write_ole({"WordDocument": bytes(head) + body + pages, "1Table": bytes(table)})

    levels: bytes = b""
    """What follows the table of lists."""


def papx(raw: bytes) -> bytes:
    raw += b"\0" * (len(raw) % 2 == 0)
    return bytes([(len(raw) + 1) // 2]) + raw


def fkp(places: list[int], properties: list[bytes], size: int) -> bytes:
    """Return a page of properties: places, then where each one's properties are, which fill the page from its end."""
    page, at = bytearray(512), 510
    struct.pack_into(f"<{len(places)}I", page, 0, *places)
    for number, raw in enumerate(properties):
        if raw:
            at = (at - len(raw)) // 2 * 2
            page[at : at + len(raw)] = raw
            page[4 * len(places) + size * number] = at // 2
    page[511] = len(properties)
    assert at > 4 * len(places) + size * len(properties)
    return bytes(page)


def old_word_file() -> bytes:
    """Make a Word file with headings, a numbered list, a table, a note, a comment, a field, hidden and deleted text."""
    maker = WordMaker()
    maker.add("Rules of the kiln", 1)
    start = len(maker.text)
    note_at, comment_at = start + len("Heat it"), start + len("Heat it\x02 to 900 °C")
    maker.text += "Heat it"
    maker.mark("\x02", b"\x55\x08\x01")
    maker.text += "\x02 to 900 °C"
    maker.mark("\x05", b"\x55\x08\x01")
    maker.text += "\x05. "
    maker.text += maker.mark("secretly ", b"\x3c\x08\x01")
    maker.text += maker.mark("a deleted word ", b"\x00\x08\x01")
    maker.text += "\x13 HYPERLINK x \x14H\x15"
    maker.text += maker.mark("2", b"\x48\x2a\x02")
    maker.add("O <b>steams</b> \ud83d\ude00.")
    maker.add("Open the flap", 0, b"\x0b\x46\x01\x00\x0a\x26\x00")
    maker.add("slowly", 0, b"\x0b\x46\x01\x00\x0a\x26\x01")
    maker.add("Light it", 0, b"\x0b\x46\x01\x00\x0a\x26\x00")
    in_table, row = b"\x16\x24\x01", b"\x16\x24\x01\x17\x24\x01"
    cells = [["Ware", "Days"], ["Bowls", "2", "3"]]
    for number, texts in enumerate(cells):
        edges = (0, 1000, 3000) if number == 0 else (0, 1000, 2000, 3000)
        for text in texts:
            maker.add(text, 0, in_table, "\x07")
        operand = bytes([len(texts)]) + struct.pack(f"<{len(edges)}h", *edges) + b"\0" * 20 * len(texts)
        maker.add("", 0, row + b"\x08\xd6" + struct.pack("<H", len(operand) + 1) + operand, "\x07")
    maker.add("The end.")
    maker.add("\x02 Measured at the door.")
    maker.add("\x05Is that enough?")
    note, comment = len("\x02 Measured at the door.\r"), len("\x05Is that enough?\r")
    length = len(maker.text) - note - comment
    maker.tables = {
        0xAA: struct.pack("<iiH", note_at, length, 1),
        0xB2: struct.pack("<iii", 0, note - 1, note),
        0xBA: struct.pack("<ii", comment_at, length) + struct.pack("<H18sH8x", 2, "AL".encode("utf-16-le"), 0),
        0xC2: struct.pack("<iii", 0, comment - 1, comment),
        0x1BA: struct.pack("<H", 7) + "Ann Lee".encode("utf-16-le"),
        0x2E2: struct.pack("<Hi22xBB", 1, 77, 0, 0),
        0x2EA: struct.pack("<Ii12x", 1, 77),
    }
    level = [("\0.", 0), ("(\1)", 4), *[("", 255)] * 7]
    maker.levels = b"".join(
        struct.pack("<iB23x", 1, kind) + struct.pack("<H", len(text)) + text.encode("utf-16-le") for text, kind in level
    )
    return maker.write({1: note, 4: comment})


# -- Outlook ----------------------------------------------------------------------------------------------------------


def properties(entries: dict[int, tuple[int, bytes]], head: int) -> bytes:
    return b"\0" * head + b"".join(
        struct.pack("<HHI", kind, number, 6) + value.ljust(8, b"\0") for number, (kind, value) in entries.items()
    )


def message_streams(subject: str, body: str, prefix: str = "", **more: Any) -> dict[str, bytes]:
    """Return the streams of a message."""
    moment = datetime.datetime(2024, 3, 5, 10, tzinfo=datetime.UTC) - datetime.datetime(1601, 1, 1, tzinfo=datetime.UTC)
    ticks = struct.pack("<q", int(moment.total_seconds()) * 10_000_000)
    head = 24 if prefix else 32
    texts = {
        0x0037: subject,
        0x1000: body,
        0x0C1A: "Bo Berg",
        0x5D01: "bo@example.org",
        0x0E04: "Ann Lee",
        **more.get("texts", {}),
    }
    streams = {
        f"{prefix}__properties_version1.0": properties({0x0039: (0x40, ticks), **more.get("fixed", {})}, head),
        **{f"{prefix}__substg1.0_{number:04X}001F": text.encode("utf-16-le") for number, text in texts.items()},
    }
    for number, (name, data) in enumerate(more.get("files", {}).items()):
        at = f"{prefix}__attach_version1.0_#{number:08X}/"
        streams[f"{at}__properties_version1.0"] = properties({}, 8)
        streams[f"{at}__substg1.0_3707001F"] = name.encode("utf-16-le")
        if isinstance(data, bytes):
            streams[f"{at}__substg1.0_37010102"] = data
        else:
            streams |= message_streams(*data, prefix=f"{at}__substg1.0_3701000D/")
    return streams


def outlook_message() -> bytes:
    """Make a message with a person copied, a file and another message attached, the latter with markup in it."""
    files = {"prices.csv": b"Item;Price\nBowl;7\nJug;9\n", "fwd": ("Earlier", "Please <i>send</i> the prices.")}
    streams = message_streams("Prices – März", "Here are the prices.\r\n\r\nBo", files=files)
    for number, (name, kind) in enumerate((("Ann Lee", 1), ("Cy Dahl", 2))):
        at = f"__recip_version1.0_#{number:08X}/"
        streams[f"{at}__properties_version1.0"] = properties({0x0C15: (3, struct.pack("<i", kind))}, 8)
        streams[f"{at}__substg1.0_3001001F"] = name.encode("utf-16-le")
        streams[f"{at}__substg1.0_39FE001F"] = f"{name.split()[0].lower()}@example.org".encode("utf-16-le")
    return write_ole(streams)
