"""Headings of Word documents without heading styles, recognised by bold or large lines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

_MAX_HEADING_CHARS = 100
_MIN_HEADING_POINTS = 12.5
"""Points: body text is usually 10 to 12."""
_MAX_LEVELS = 6


def mark_headings(document: Any) -> Any:
    """Return mammoth's document with headings; unchanged if styles mark some already, or if nothing looks like one."""
    paragraphs = [one for one in document.children if hasattr(one, "style_name")]
    if any((one.style_name or "").lower().startswith(("heading", "title")) for one in paragraphs):
        return document
    sizes = {id(one): size for one, after in pairwise(document.children) if (size := _measure_heading(one, after))}
    levels = sorted(set(sizes.values()), reverse=True)[:_MAX_LEVELS]

    def restyle(one: Any) -> Any:
        level = levels.index(sizes[id(one)]) + 1 if sizes.get(id(one)) in levels else 0
        if not level:
            return one
        # Its heading style says that it is bold.
        children = [run.copy(is_bold=False) if hasattr(run, "is_bold") else run for run in one.children]
        return one.copy(style_id=f"Heading{level}", style_name=f"Heading {level}", children=children)

    return document.copy(children=[restyle(one) for one in document.children]) if levels else document


def _measure_heading(one: Any, after: Any) -> float | None:
    """Return the size in points of a paragraph that looks like a heading; 0.1 for bold text of the body's size."""
    if getattr(one, "numbering", None) is not None or not hasattr(one, "style_name") or not hasattr(after, "children"):
        return None
    runs = [run for run in _iter_runs(one) if "".join(_iter_texts(run)).strip()]
    text = "".join(_iter_texts(one)).strip()
    if (
        not runs
        or not text
        or len(text) > _MAX_HEADING_CHARS
        or text[-1] in ".,;:"
        or not all(run.is_bold for run in runs)
    ):
        return None
    size = min(run.font_size or 0.0 for run in runs)
    return float(size) if size > _MIN_HEADING_POINTS else 0.1


def _iter_runs(element: Any) -> Iterator[Any]:
    for child in getattr(element, "children", ()):
        if hasattr(child, "is_bold"):
            yield child
        else:
            yield from _iter_runs(child)


def _iter_texts(element: Any) -> Iterator[str]:
    if hasattr(element, "value"):
        yield str(element.value)
    for child in getattr(element, "children", ()):
        yield from _iter_texts(child)
