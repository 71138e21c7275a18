"""Messages between a reading process and its parent, sent by `argot.subprocesses`.

The Markdown goes as data, followed by the bytes of the pictures, and the passages several to a line: JSON is parsed
without letting other threads run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from argot.corpus.chunking.passages import PassageCut
from argot.corpus.read_limits import ReadLimits
from argot.errors import NoText, UnreadableDocument
from argot.types import Box, DocumentField, ParsedDocument, Picture

_CUTS_PER_LINE = 200


@dataclass(frozen=True, slots=True)
class CutDocument:
    """A file as Markdown, the positions of its passages, and its pictures with their bytes by hash."""

    title: str
    markdown: str
    media_type: str
    cuts: tuple[PassageCut, ...]
    date: str | None = None
    warnings: tuple[str, ...] = ()
    fields: tuple[DocumentField, ...] = ()
    pictures: tuple[Picture, ...] = ()
    picture_data: Mapping[str, bytes] = field(default_factory=dict)


def job(name: str, limits: ReadLimits, max_chars: int) -> bytes:
    """Encode the job; `max_chars`: that of a passage."""
    return json.dumps({"name": name, "limits": asdict(limits), "max_chars": max_chars}).encode()


def decode_job(message: bytes) -> tuple[str, ReadLimits, int]:
    values = json.loads(message)
    return values["name"], ReadLimits(**values["limits"]), values["max_chars"]


def encode_answer(parsed: ParsedDocument, cuts: list[PassageCut]) -> tuple[bytes, bytes]:
    """Return lines of JSON, and the Markdown with the bytes of the pictures behind it.

    Headings that several passages share are sent once in a line.
    """
    markdown = parsed.markdown.encode()
    # The head is a line of its own, and says whether there is a document at all.
    head = {
        "title": parsed.title,
        "media_type": parsed.media_type,
        "date": parsed.date,
        "warnings": parsed.warnings,
        "fields": [(one.name, one.value) for one in parsed.fields],
        "pictures": [asdict(one) for one in parsed.pictures],
        "bytes": [len(markdown), *((name, len(data)) for name, data in parsed.picture_data.items())],
    }
    # Several lines, so that the receiving side parses, and blocks other threads, only briefly for each.
    lines = (_encode_line(cuts[start : start + _CUTS_PER_LINE]) for start in range(0, len(cuts), _CUTS_PER_LINE))
    return b"\n".join([json.dumps(head).encode(), *lines]), b"".join([markdown, *parsed.picture_data.values()])


def refusal(error: UnreadableDocument) -> bytes:
    no_text = isinstance(error, NoText)
    return json.dumps({"reason": error.reason, "remedy": error.remedy, "no_text": no_text}).encode()


def decode_answer(message: bytes, data: bytes, name: str) -> CutDocument:
    """Return the document that an answer holds.

    Raises:
        UnreadableDocument: the answer contains it.
    """
    # JSON escapes line ends within texts, so that each one here parts two lines.
    first, *lines = message.split(b"\n")
    head = json.loads(first)
    if "reason" in head:
        kind = NoText if head["no_text"] else UnreadableDocument
        raise kind(name, head["reason"], head["remedy"])
    length, *sizes = head["bytes"]
    cuts = tuple(cut for line in lines for cut in _decode_cuts(json.loads(line)))
    return CutDocument(
        title=head["title"],
        markdown=data[:length].decode(),
        media_type=head["media_type"],
        cuts=cuts,
        date=head["date"],
        warnings=tuple(head["warnings"]),
        fields=tuple(DocumentField(name, value) for name, value in head["fields"]),
        pictures=tuple(_decode_picture(one) for one in head["pictures"]),
        picture_data=dict(_split_pictures(data, length, sizes)),
    )


def _decode_picture(values: dict[str, Any]) -> Picture:
    return Picture(**{**values, "box": Box(**values["box"]) if values["box"] else None})


def _split_pictures(data: bytes, start: int, sizes: list[tuple[str, int]]) -> Iterator[tuple[str, bytes]]:
    for content_hash, size in sizes:
        yield content_hash, data[start : start + size]
        start += size


def _encode_line(cuts: list[PassageCut]) -> bytes:
    # Passages of one section share path and columns: they go once, with a number.
    headings = {pair: number for number, pair in enumerate(dict.fromkeys((cut.path, cut.columns) for cut in cuts))}
    rows = [
        [
            *(cut.start, cut.end, headings[cut.path, cut.columns], cut.page, cut.page_kind),
            [[box.page, box.x0, box.y0, box.x1, box.y1] for box in cut.boxes],
        ]
        for cut in cuts
    ]
    return json.dumps({"headings": list(headings), "cuts": rows}, ensure_ascii=False).encode()


def _decode_cuts(line: dict[str, Any]) -> Iterator[PassageCut]:
    headings = [(tuple(path), columns) for path, columns in line["headings"]]
    for start, end, heading, page, kind, boxes in line["cuts"]:
        path, columns = headings[heading]
        yield PassageCut(start, end, path, columns, page, kind, tuple(Box(*box) for box in boxes))
