"""PDFs from their objects, for what reportlab cannot write: annotations, forms without appearances, attached files."""

from collections.abc import Mapping, Sequence

FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def stream(content: str | bytes, entries: str = "") -> bytes:
    data = content.encode("latin-1") if isinstance(content, str) else content
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), entries.encode(), data)


def text(words: str, x: float, y: float, size: float = 12) -> str:
    return f"BT /F1 {size} Tf {x} {y} Td ({words}) Tj ET\n"


def turned(words: str, x: float, y: float, matrix: str, size: float = 12) -> str:
    """Return text whose letters are rotated by `matrix`, such as "0 1 -1 0" for upwards."""
    return f"BT /F1 {size} Tf {matrix} {x} {y} Tm ({words}) Tj ET\n"


def write_pdf(
    pages: Sequence[str],
    annotations: Sequence[str] = (),
    catalog: str = "",
    page: str = "",
    more: Mapping[int, str | bytes] | None = None,
) -> bytes:
    """Return a PDF of these contents; `annotations` of the first page become the objects 50, 51 ... `more`: others."""
    numbers = [10 + 2 * number for number in range(len(pages))]
    objects: dict[int, str | bytes] = {
        1: f"<< /Type /Catalog /Pages 2 0 R {catalog} >>",
        2: f"<< /Type /Pages /Count {len(pages)} /Kids [{' '.join(f'{number} 0 R' for number in numbers)}] >>",
        3: FONT,
    }
    for number, content in zip(numbers, pages, strict=True):
        pinned = " ".join(f"{50 + place} 0 R" for place in range(len(annotations))) if number == numbers[0] else ""
        objects[number] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {number + 1} 0 R /Annots [{pinned}] "
            f"/Resources << /Font << /F1 3 0 R >> >> {page} >>"
        )
        objects[number + 1] = stream(content)
    objects |= {50 + place: one for place, one in enumerate(annotations)} | dict(more or {})
    return _joined(objects)


def _joined(objects: Mapping[int, str | bytes]) -> bytes:
    out = bytearray(b"%PDF-1.7\n")
    places = {}
    for number in sorted(objects):
        places[number] = len(out)
        body = objects[number]
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body.encode("latin-1") if isinstance(body, str) else body)
    start = len(out)
    out += b"xref\n0 1\n0000000000 65535 f \n"
    for number, place in places.items():
        out += b"%d 1\n%010d 00000 n \n" % (number, place)
    out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (max(objects) + 1, start)
    return bytes(out)
