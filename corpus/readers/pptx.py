"""Slides: the title as heading, text by its levels as bullets, tables, the numbers of charts, and the notes.

Of pictures the alternative text; where a slide says nothing else, what tesseract reads in them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.archives import check_archive, core_properties
from argot.corpus.readers.image import text_in_picture
from argot.corpus.readers.number_formats import shown_number
from argot.corpus.readers.ocr import is_installed
from argot.corpus.readers.pipe_tables import pipe_table, with_one_header
from argot.corpus.readers.plain_text import file_stem
from argot.types import PageMark, ParsedDocument

_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
# A file can nest groups of shapes without end.
_MAX_DEPTH = 20
_MOST_NAMED = 10  # slides in a warning
_NOT = ("0", "false")
_FILE_NAME = re.compile(r"\S*\.(?:png|jpe?g|gif|bmp|tiff?|emf|wmf|svg)", re.IGNORECASE)
ONLY_PICTURES = "This slide holds only pictures, without words."
_ELEMENTS_A_SECOND = 30_000
"""What python-pptx reads."""


def read_pptx(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Title: of the properties, else of the first slide, else the file name. Every slide is one page mark.

    Hidden slides are left out: what an author hid is not for everybody who may ask.
    """
    import pptx

    check_archive(data, name, limits, elements_a_second=_ELEMENTS_A_SECOND)
    deck = pptx.Presentation(io.BytesIO(data))
    parts: list[str] = []
    pages: list[PageMark] = []
    unread: list[int] = []
    hidden: list[int] = []
    has_text, first_title, length, scans = False, "", 0, limits.ocr_pages
    for number, slide in enumerate(deck.slides, start=1):
        if slide._element.get("show") in _NOT:
            hidden.append(number)
            continue
        title = _title(slide)
        # Only of the slide that the deck begins with: any other title is that of a part.
        first_title = first_title if pages else title
        said = [block for block in (*_blocks(slide.shapes, 0), *_notes(slide)) if block.strip()]
        if not said and (pictures := list(_pictures(slide.shapes, 0))):
            said, scans = _read_in(pictures, scans, name, limits), scans - len(pictures)
            unread += [] if said else [number]
        # "Slide 3" is a heading of ours: without any text of its own the deck is empty.
        has_text = has_text or bool(title or said)
        if number in unread:
            said = [ONLY_PICTURES]
        text = "\n\n".join([f"# {title or f'Slide {number}'}", *said]) + "\n\n"
        pages.append(PageMark(length, number, "slide"))
        parts.append(text)
        length += len(text)
        limits.check_chars(length, name)
    core = core_properties(data)
    title = core.title or first_title or file_stem(name)
    markdown = "".join(parts) if has_text else ""
    return ParsedDocument(
        title,
        markdown,
        _MEDIA_TYPE,
        pages=tuple(pages),
        date=core.date,
        warnings=_warnings(unread, hidden),
        fields=core.fields,
    )


def _warnings(unread: list[int], hidden: list[int]) -> tuple[str, ...]:
    said = {"only pictures, and no text read in them: slide": unread, "hidden slides were left out:": hidden}
    return tuple(f"{what} {_listed(numbers)}" for what, numbers in said.items() if numbers)


def _listed(numbers: list[int]) -> str:
    return f"{', '.join(map(str, numbers[:_MOST_NAMED]))}{' ...' if len(numbers) > _MOST_NAMED else ''}"


def _read_in(pictures: list[bytes], scans: int, name: str, limits: ReadLimits) -> list[str]:
    """What the first `scans` pictures say; nothing where scans are not read."""
    if not limits.ocr_languages or not is_installed():
        return []
    texts = (text_in_picture(one, name, limits) for one in pictures[: max(0, scans)])
    return [text for text in texts if text.strip()]


def _pictures(shapes: Any, depth: int) -> Iterator[bytes]:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            if depth < _MAX_DEPTH:
                yield from _pictures(shape.shapes, depth + 1)
        elif (data := _picture(shape)) is not None:
            yield data


def _picture(shape: Any) -> bytes | None:
    try:
        return bytes(shape.image.blob)
    except (AttributeError, ValueError, KeyError):  # no picture, or one that is linked to and not in the file
        return None


def _alternative(shape: Any) -> str:
    """The words that stand for a picture, unless a program only put the file's name there."""
    properties = getattr(shape._element, "_nvXxPr", None)
    text = " ".join(str(properties.cNvPr.get("descr") or "").split()) if properties is not None else ""
    return "" if _FILE_NAME.fullmatch(text) else text


def _title(slide: Any) -> str:
    shape = slide.shapes.title
    return " ".join(shape.text_frame.text.split()) if shape is not None and shape.has_text_frame else ""


def _blocks(shapes: Any, depth: int) -> Iterator[str]:
    title = getattr(shapes, "title", None)
    for shape in shapes:
        # python-pptx makes a new object at each access; the id tells that it is the same shape.
        if title is not None and shape.shape_id == title.shape_id:
            continue
        if hasattr(shape, "shapes"):
            if depth < _MAX_DEPTH:
                yield from _blocks(shape.shapes, depth + 1)
        elif getattr(shape, "has_table", False):
            yield pipe_table(with_one_header(_rows(shape.table), _header_rows(shape.table)))
        elif getattr(shape, "has_chart", False):
            yield _chart(shape.chart)
        elif shape.has_text_frame and not _is_furniture(shape):
            yield _text(shape.text_frame)
        elif not shape.has_text_frame and (words := _alternative(shape)):
            yield f"Picture: {words}"


def _is_furniture(shape: Any) -> bool:
    from pptx.enum.shapes import PP_PLACEHOLDER

    # Slide number, date and footer stand on every slide.
    return shape.is_placeholder and shape.placeholder_format.type in (
        PP_PLACEHOLDER.SLIDE_NUMBER,
        PP_PLACEHOLDER.DATE,
        PP_PLACEHOLDER.FOOTER,
    )


def _text(frame: Any) -> str:
    """A single paragraph stays one; several become bullets, indented by their levels."""
    lines = [(paragraph.level or 0, " ".join(paragraph.text.split())) for paragraph in frame.paragraphs]
    lines = [(level, text) for level, text in lines if text]
    if len(lines) <= 1:
        return "".join(text for _, text in lines)
    depth, result = -1, []
    for level, text in lines:
        depth = min(level, depth + 1)  # an item cannot be two levels under the one above it
        result.append(f"{'  ' * depth}- {text}")
    return "\n".join(result)


def _rows(table: Any) -> list[list[str]]:
    rows: list[list[str]] = []
    origins: dict[tuple[int, int], str] = {}
    for i, row in enumerate(table.rows):
        texts = []
        for j, each in enumerate(row.cells):
            # Every cell under a merge repeats the text of the merged one: a pipe table has no spans.
            if each.is_merge_origin:
                for down in range(each.span_height):
                    for right in range(each.span_width):
                        origins[i + down, j + right] = each.text
            texts.append(origins.get((i, j), each.text))
        rows.append(texts)
    return rows


def _header_rows(table: Any) -> int:
    """How many rows name the columns: where a cell of the first one reaches over several of them, two or more."""
    first = [cell for cell in table.rows[0].cells if cell.is_merge_origin]
    wide = any(1 < cell.span_width < len(table.columns) for cell in first)
    return max([1 + wide, *(int(cell.span_height) for cell in first if wide)])


def _chart(chart: Any) -> str:
    """Its title and numbers: a table for all series over the same categories, one for each series of points."""
    title = chart.chart_title.text_frame.text if chart.has_title and chart.chart_title.has_text_frame else ""
    tables: dict[tuple[str, ...], list[Any]] = {}
    parts = [f"**{title}**" if title else ""]
    for plot in chart.plots:
        categories = tuple(map(str, plot.categories))
        if categories:
            tables.setdefault(categories, []).extend(plot.series)
        else:
            parts += [pipe_table(list(_points(series))) for series in plot.series]
    parts += [pipe_table(list(_by_category(categories, series))) for categories, series in tables.items() if series]
    return "\n\n".join(part for part in parts if part)


def _by_category(categories: Sequence[str], series: Sequence[Any]) -> Iterator[list[str]]:
    yield ["", *(str(each.name) for each in series)]
    for index, category in enumerate(categories):
        values = [each.values[index] if index < len(each.values) else None for each in series]
        yield [category, *map(_number, values, map(_format, series))]


def _points(series: Any) -> Iterator[list[str]]:
    """Of a chart whose points have two numbers each."""
    yield ["x", str(series.name)]
    across = series._element.xpath("./c:xVal//c:pt/c:v")
    for x, y in zip(across, series.values, strict=False):
        yield [str(x.text), _number(y)]


def _number(value: float | None, number_format: str = "") -> str:
    return "" if value is None else shown_number(value, number_format)


def _format(series: Any) -> str:
    """That of its numbers, else that of the labels that show them."""
    codes = series._element.xpath("./c:val//c:formatCode")
    own = str(codes[0].text or "") if codes else ""
    if own and own != "General":
        return own
    labels = series._element.xpath("(./c:dLbls | ../c:dLbls)/c:numFmt/@formatCode")
    return str(labels[0]) if labels else ""


def _notes(slide: Any) -> list[str]:
    if not slide.has_notes_slide or slide.notes_slide.notes_text_frame is None:
        return []
    lines = [" ".join(line.split()) for line in slide.notes_slide.notes_text_frame.text.splitlines()]
    text = "\n\n".join(line for line in lines if line)
    return [f"**Notes:** {text}"] if text else []
