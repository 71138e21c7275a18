"""The shapes of a slide as blocks of Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from argot.corpus.readers.drawing_text import (
    EMU_PER_POINT,
    MIN_PICTURE_EMU,
    read_alternative,
    read_paragraph,
    read_paragraphs,
    read_user_shapes,
)
from argot.corpus.readers.office_charts import read_chart
from argot.corpus.readers.office_diagrams import read_diagram
from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.pictures import ShelvedPicture, get_shelf
from argot.corpus.readers.pipe_tables import join_headers, render_pipe_table

# A file can nest groups of shapes without end.
_MAX_DEPTH = 20
_MAX_MERGED_COLUMNS = 500
_TRUE_VALUES = ("1", "true")
_EMBEDDED_OBJECT = "embedded object"


def read_title(slide: Any, omissions: Omissions) -> str:
    """Return the title of a slide on one line; "" where it has none."""
    shape = slide.shapes.title
    if shape is None or not shape.has_text_frame or _is_hidden(shape):
        return ""
    return " ".join(read_paragraphs(shape.text_frame._txBody, omissions))


class SlideShapes:
    """The shapes of one slide."""

    def __init__(self, slide: Any, omissions: Omissions) -> None:
        self._slide, self._omissions = slide, omissions
        self._kept: list[tuple[ShelvedPicture, bytes]] = []
        self._without_words: list[ShelvedPicture | None] = []

    @property
    def pictures_without_words(self) -> int:
        """The number of pictures without a description, and without words in them; known once blocks are read."""
        return sum(kept is None or not kept.is_told for kept in self._without_words)

    def read_blocks(self) -> Iterator[str]:
        """Yield the text of every shape except the title, in the order of the file."""
        title = self._slide.shapes.title
        yield from self._read_shapes(self._slide.shapes, 0, 1.0, None if title is None else title.shape_id)

    def find_pictures(self) -> Iterator[bytes]:
        """Yield the pictures of the slide, those in groups too."""
        yield from _find_pictures(self._slide.shapes, 0)

    def _read_shapes(self, shapes: Any, depth: int, scale: float, title_id: int | None) -> Iterator[str]:
        for shape in shapes:
            # python-pptx makes a new object at each access; the id tells that it is the same shape.
            if _is_hidden(shape) or (title_id is not None and shape.shape_id == title_id and depth == 0):
                continue
            if hasattr(shape, "shapes"):
                if depth < _MAX_DEPTH:
                    yield from self._read_shapes(shape.shapes, depth + 1, scale * _read_scale(shape), None)
                else:
                    self._omissions.add("group of shapes")
            else:
                yield from self._read_shape(shape, scale)

    def _read_shape(self, shape: Any, scale: float) -> Iterator[str]:
        words = read_alternative(_find_properties(shape))
        if getattr(shape, "has_table", False):
            yield render_pipe_table(join_headers(self._read_rows(shape.table), _count_header_rows(shape.table)))
        elif shape._element.tag.endswith("}graphicFrame"):
            yield self._read_frame(shape, words)
        elif shape.has_text_frame and not _is_furniture(shape):
            yield self._read_text(shape.text_frame)
        elif shape._element.tag.endswith("}pic"):
            yield from self._read_picture(shape, words, scale)
        elif not shape.has_text_frame and words:
            yield f"Picture: {words}"

    def _read_picture(self, shape: Any, words: str, scale: float) -> Iterator[str]:
        """Yield the description of a picture, with its mark if it is kept."""
        data, shelf = _read_picture(shape), get_shelf()
        kept = None
        if data and shelf is not None:
            shown = _read_shown_size(shape, scale)
            # Read later: a slide without other text is read as one page.
            kept = shelf.add(data, alternative=words, shown=shown, is_read=False)
        if kept:
            self._kept.append((kept, data or b""))
        mark = kept.mark if kept else ""
        if words or mark:
            yield f"Picture: {words} {mark}".strip() if words else mark
        is_reported = data is not None and shelf is not None and shelf.is_undrawn(data)
        if not words and _is_large(shape, scale) and not is_reported:
            self._without_words.append(kept)

    def read_kept_pictures(self) -> None:
        """Look for words in the pictures that were kept."""
        for kept, data in self._kept:
            if (shelf := get_shelf()) is not None:
                kept.words = shelf.read_words(data)

    def _read_frame(self, shape: Any, words: str) -> str:
        """Return the chart, the SmartArt or the description of an object in a frame."""
        described = f"Picture: {words}" if words else ""
        for kind, path, read in (("chart", "{*}chart", self._read_chart), ("diagram", "{*}relIds", self._read_diagram)):
            element = next(shape._element.iterfind(f".//{{*}}graphicData/{path}"), None)
            if element is None:
                continue
            try:
                return "\n\n".join(part for part in (read(element), described) if part)
            except (KeyError, ValueError, AttributeError):
                self._omissions.add(kind)
                return described
        if not described:
            self._omissions.add(_EMBEDDED_OBJECT)
        return described

    def _read_chart(self, element: Any) -> str:
        part = self._slide.part.related_part(_find_reference(element, "id"))
        written = [
            line
            for one in part.rels.values()
            if not one.is_external and one.reltype.endswith("/chartUserShapes")
            for line in read_user_shapes(one.target_part.blob, self._omissions)
        ]
        return "\n\n".join(part for part in (read_chart(part.blob), *written) if part)

    def _read_diagram(self, element: Any) -> str:
        return read_diagram(self._slide.part.related_part(_find_reference(element, "dm")).blob)

    def _read_text(self, frame: Any) -> str:
        """Return a single paragraph as it is; several become bullets, indented by their levels."""
        lines = [(one.level or 0, read_paragraph(one._p, self._omissions)) for one in frame.paragraphs]
        lines = [(level, text) for level, text in lines if text]
        if len(lines) <= 1:
            return "".join(text for _, text in lines)
        depth, result = -1, []
        for level, text in lines:
            depth = min(level, depth + 1)  # an item cannot be two levels under the one above it
            result.append(f"{'  ' * depth}- {text}")
        return "\n".join(result)

    def _read_rows(self, table: Any) -> list[list[str]]:
        rows: list[list[str]] = []
        origins: dict[tuple[int, int], str] = {}
        for i, row in enumerate(table.rows):
            texts = []
            for j, each in enumerate(row.cells):
                body = each._tc.txBody
                text = " ".join(read_paragraphs(body, self._omissions)) if body is not None else ""
                # Every cell under a merge repeats the text of the merged one: a pipe table has no spans.
                if each.is_merge_origin:
                    for down in range(min(each.span_height, _MAX_MERGED_COLUMNS)):
                        for right in range(min(each.span_width, _MAX_MERGED_COLUMNS)):
                            origins[i + down, j + right] = text
                texts.append(origins.get((i, j), text))
            rows.append(texts)
        return rows


def _find_pictures(shapes: Any, depth: int) -> Iterator[bytes]:
    for shape in shapes:
        if _is_hidden(shape):
            continue
        if hasattr(shape, "shapes"):
            if depth < _MAX_DEPTH:
                yield from _find_pictures(shape.shapes, depth + 1)
        elif (data := _read_picture(shape)) is not None:
            yield data


def _read_picture(shape: Any) -> bytes | None:
    try:
        return bytes(shape.image.blob)
    except (AttributeError, ValueError, KeyError):  # no picture, or one that is linked to and not in the file
        return None


def _find_properties(shape: Any) -> Any:
    return next(shape._element.iter("{*}cNvPr"), None)


def _is_hidden(shape: Any) -> bool:
    properties = _find_properties(shape)
    return properties is not None and properties.get("hidden") in _TRUE_VALUES


def _is_large(shape: Any, scale: float) -> bool:
    try:
        return min(shape.width or 0, shape.height or 0) * scale >= MIN_PICTURE_EMU
    except (ValueError, AttributeError):
        return True


def _read_shown_size(shape: Any, scale: float) -> tuple[float, float]:
    try:
        return (shape.width or 0) * scale / EMU_PER_POINT, (shape.height or 0) * scale / EMU_PER_POINT
    except (ValueError, AttributeError):
        return 0.0, 0.0


def _read_scale(group: Any) -> float:
    """Return by how much a group draws its shapes smaller or larger than they say of themselves."""
    inner = next(group._element.iterfind("{*}grpSpPr/{*}xfrm/{*}chExt"), None)
    outer = next(group._element.iterfind("{*}grpSpPr/{*}xfrm/{*}ext"), None)
    if inner is None or outer is None:
        return 1.0
    try:
        return float(outer.get("cx")) / float(inner.get("cx"))
    except (TypeError, ValueError, ZeroDivisionError):
        return 1.0


def _is_furniture(shape: Any) -> bool:
    from pptx.enum.shapes import PP_PLACEHOLDER

    # Slide number, date and footer stand on every slide.
    return shape.is_placeholder and shape.placeholder_format.type in (
        PP_PLACEHOLDER.SLIDE_NUMBER,
        PP_PLACEHOLDER.DATE,
        PP_PLACEHOLDER.FOOTER,
    )


def _count_header_rows(table: Any) -> int:
    """Return how many rows name the columns: two or more where a cell of the first one reaches over several of them."""
    if not len(table.rows):
        return 1
    first = [cell for cell in table.rows[0].cells if cell.is_merge_origin]
    wide = any(1 < cell.span_width < len(table.columns) for cell in first)
    return max([1 + wide, *(int(cell.span_height) for cell in first if wide)])


def _find_reference(element: Any, name: str) -> str:
    """Return the id of a relationship, whichever version of the format names it."""
    for attribute, value in element.attrib.items():
        if attribute.startswith("{") and attribute.endswith(f"}}{name}"):
            return str(value)
    raise KeyError(name)
