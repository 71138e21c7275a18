"""Charts of Office files: the title, the titles of the axes and the cached numbers as small tables.

No library reads every kind: python-pptx refuses 3-D charts and `#N/A`, and nothing reads the kinds of 2016 (waterfall,
treemap and so on). All of them store their points alike, so the points are read and the kind of chart does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from argot.corpus.readers.number_formats import format_number
from argot.corpus.readers.pipe_tables import render_pipe_table

_GENERAL_FORMAT = "General"
_MAX_LEVELS = 10
_XY_CHARTS = ("scatterChart", "bubbleChart")
_EPOCH_1904_DAYS = 1462

Labels = Mapping[int, tuple[str, ...]]
"""The category of each point by its index; several texts if categories have levels, the outermost first."""


@dataclass(frozen=True, slots=True)
class _Series:
    """One series of numbers of a chart. `size`: those of the bubbles."""

    name: str
    labels: Labels
    values: Mapping[int, str]
    size: Mapping[int, str] = field(default_factory=dict)


def read_chart(xml: bytes) -> str:
    """Return a chart's title and its cached numbers as Markdown; "" if it shows nothing.

    Args:
        xml: a chart part (`c:chartSpace`), or one of the kinds of 2016 (`cx:chartSpace`).

    Raises:
        ValueError: it is no chart.
    """
    from lxml import etree  # type: ignore[import-untyped]

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(xml, parser)
    except etree.XMLSyntaxError as error:
        raise ValueError(f"a damaged chart: {error}") from error
    chart = root.find("{*}chart")
    if chart is None:
        raise ValueError(f"no chart: its outermost element is '{etree.QName(root).localname}'")
    is_newer_kind = root.find("{*}chartData") is not None
    parts = _read_newer_chart(root, chart) if is_newer_kind else _read_older_chart(root, chart)
    title = _read_title(chart)
    return "\n\n".join(part for part in (f"**{title}**" if title else "", *parts) if part)


# -- charts of all kinds but those of 2016 ----------------------------------------------------------------------------


def _read_older_chart(root: Any, chart: Any) -> Iterator[str]:
    area = chart.find("{*}plotArea")
    if area is None:
        return
    since_1904 = _is_on(root.find("{*}date1904"))
    axes = {
        str(_read_attribute(axis, "{*}axId")): axis
        for axis in area
        if axis.find("{*}axId") is not None and _is_axis(axis)
    }
    tables: dict[Any, list[_Series]] = {}
    corner = ""
    shared: Labels = {}
    for plot in (one for one in area if _name(one).endswith("Chart")):
        is_xy = _name(plot) in _XY_CHARTS
        across = [axes[one.get("val", "")] for one in plot.findall("{*}axId") if one.get("val", "") in axes][:1]
        corner = corner or "".join(map(_read_title, across))
        for number, element in enumerate(plot.findall("{*}ser"), start=1):
            series = _read_series(plot, element, number, is_xy=is_xy, since_1904=since_1904)
            if is_xy:
                yield render_pipe_table(list(_make_point_rows(series, corner)))
                continue
            # A series without categories uses those of the first one.
            shared = shared or series.labels
            own = series.labels or shared
            tables.setdefault(tuple(own.items()), []).append(_Series(series.name, own, series.values))
    for group in tables.values():
        yield render_pipe_table(list(_make_category_rows(group, corner)))
    yield _list_axes(
        _read_title(axis) for axis in axes.values() if _name(axis) == "valAx" and _read_title(axis) != corner
    )
    yield "\n".join(
        f"Trend line: {name}" for one in area.iterfind(".//{*}trendline/{*}name") if (name := _clean(one.text))
    )


def _read_series(plot: Any, element: Any, number: int, *, is_xy: bool, since_1904: bool) -> _Series:
    name = _read_name(element.find("{*}tx")) or f"Series {number}"
    label_format = _read_label_format(plot, element)
    labels = _read_labels(element.find("{*}xVal" if is_xy else "{*}cat"), since_1904)
    values = dict(_read_numbers(element.find("{*}yVal" if is_xy else "{*}val"), label_format, since_1904))
    for index, text in _read_point_labels(element):
        values[index] = f"{values.get(index, '')} ({text})".strip()
    return _Series(name, labels, values, dict(_read_numbers(element.find("{*}bubbleSize"), "", since_1904)))


def _read_name(element: Any) -> str:
    if element is None:
        return ""
    return " ".join(filter(None, (_clean(one.text) for one in element.iterfind(".//{*}v"))))


def _read_labels(element: Any, since_1904: bool) -> Labels:
    if element is None:
        return {}
    levels = element.findall(".//{*}lvl")
    if levels:
        return _join_levels(
            [{_read_index(point): _read_point_text(point) for point in level.iterfind("{*}pt")} for level in levels]
        )
    if element.find(".//{*}strCache") is not None or element.find("{*}strLit") is not None:
        return {_read_index(point): (_read_point_text(point),) for point in element.iterfind(".//{*}pt")}
    return {index: (text,) for index, text in _read_numbers(element, "", since_1904)}


def _join_levels(levels: Sequence[Mapping[int, str]]) -> Labels:
    """Return the texts of all levels for each point; the file names the innermost level first.

    An outer level names only the first point of each of its groups.
    """
    innermost, *outer = levels[:_MAX_LEVELS]
    last = [""] * len(outer)
    joined: dict[int, tuple[str, ...]] = {}
    indices = sorted(set(innermost).union(*outer))
    for index in indices:
        last = [level.get(index, text) for level, text in zip(outer, last, strict=True)]
        joined[index] = (*reversed(last), innermost.get(index, ""))
    return joined


def _read_numbers(element: Any, label_format: str, since_1904: bool) -> Iterator[tuple[int, str]]:
    if element is None:
        return
    own = _clean(element.findtext(".//{*}formatCode"))
    for point in element.iterfind(".//{*}pt"):
        shown_as = point.get("formatCode") or (own if own and own != _GENERAL_FORMAT else label_format)
        yield _read_index(point), _format_value(_read_point_text(point), shown_as, since_1904)


def _format_value(text: str, number_format: str, since_1904: bool = False) -> str:
    """Return a cached value as displayed. Errors such as `#N/A`, and other non-numbers, stay unchanged."""
    from openpyxl.styles.numbers import is_date_format
    from openpyxl.utils.datetime import from_excel

    try:
        value = float(text)
    except ValueError:
        return text
    if number_format and is_date_format(number_format):
        try:
            return str(from_excel(value + (_EPOCH_1904_DAYS if since_1904 else 0))).removesuffix(" 00:00:00")
        except (ValueError, OverflowError):
            return text
    return format_number(int(value) if value.is_integer() and "." not in text else value, number_format)


def _read_label_format(plot: Any, element: Any) -> str:
    """Return the format of the labels that show the numbers, for numbers that have none of their own."""
    for labels in (element.find("{*}dLbls"), plot.find("{*}dLbls")):
        if labels is not None and (found := labels.find("{*}numFmt")) is not None:
            return str(found.get("formatCode") or "")
    return ""


def _read_point_labels(element: Any) -> Iterator[tuple[int, str]]:
    """Yield the words that someone wrote on a point, or took for it from cells."""
    for label in element.iterfind("{*}dLbls/{*}dLbl"):
        # Fields such as [VALUE] repeat the table.
        text = "".join(one.text or "" for one in label.iterfind("{*}tx/{*}rich/{*}p/{*}r/{*}t"))
        if _clean(text) and label.find("{*}idx") is not None:
            yield int(_read_attribute(label, "{*}idx") or 0), _clean(text)
    for point in element.iterfind(".//{*}dlblRangeCache/{*}pt"):
        if text := _read_point_text(point):
            yield _read_index(point), text


def _make_category_rows(group: Sequence[_Series], corner: str) -> Iterator[list[str]]:
    labels = group[0].labels
    levels = max(map(len, labels.values()), default=1)
    yield [corner, *[""] * (levels - 1), *(series.name for series in group)]
    for index in sorted(set(labels).union(*(series.values for series in group))):
        own = labels.get(index) or (("" if labels else str(index + 1)),)
        yield [*own, *[""] * (levels - len(own)), *(series.values.get(index, "") for series in group)]


def _make_point_rows(series: _Series, corner: str) -> Iterator[list[str]]:
    """Yield the rows of a series whose points have two numbers each, or three."""
    yield [corner or "x", series.name, "size"] if series.size else [corner or "x", series.name]
    for index in sorted({*series.labels, *series.values}):
        yield [" ".join(series.labels.get(index, ())), series.values.get(index, ""), series.size.get(index, "")]


# -- charts of 2016 ---------------------------------------------------------------------------------------------------


def _read_newer_chart(root: Any, chart: Any) -> Iterator[str]:
    """Yield the tables of a waterfall, treemap, sunburst, funnel, box plot, histogram, Pareto chart or map."""
    data = {one.get("id"): one for one in root.iterfind("{*}chartData/{*}data")}
    for number, series in enumerate(chart.iterfind(".//{*}series"), start=1):
        source = data.get(_read_attribute(series, "{*}dataId"))
        # A Pareto chart draws its line over the numbers of another series.
        if source is None or series.get("hidden") in ("1", "true"):
            continue
        labels: Labels = {}
        columns: list[tuple[str, dict[int, str]]] = []
        for dimension in source:
            levels = [dict(_read_newer_points(level)) for level in dimension.iterfind("{*}lvl")]
            if _name(dimension) == "strDim" and levels:
                labels = labels or _join_levels(levels)
            elif _name(dimension) == "numDim" and levels:
                columns.append((str(dimension.get("type") or ""), levels[0]))
        name = _read_name(series.find("{*}tx")) or f"Series {number}"
        rows = [_Series(name if not at else f"{name} ({kind})", labels, one) for at, (kind, one) in enumerate(columns)]
        if labels or rows:
            yield render_pipe_table(list(_make_category_rows(rows or [_Series(name, labels, {})], "")))
    yield _list_axes(_read_title(axis) for axis in chart.iterfind(".//{*}axis"))


def _read_newer_points(level: Any) -> Iterator[tuple[int, str]]:
    for point in level.iterfind("{*}pt"):
        yield _read_index(point), _format_value(_clean(point.text), str(level.get("formatCode") or ""))


# -- parts of both ----------------------------------------------------------------------------------------------------


def _read_title(element: Any) -> str:
    text = element.find("{*}title/{*}tx")
    if text is None:
        return ""
    paragraphs = text.findall("{*}rich/{*}p")
    lines = ["".join(one.text or "" for one in paragraph.iterfind(".//{*}t")) for paragraph in paragraphs]
    return _clean(" ".join(lines)) or _read_name(text)


def _list_axes(titles: Iterator[str]) -> str:
    named = list(dict.fromkeys(title for title in titles if title))
    return f"{'Axes' if len(named) > 1 else 'Axis'}: {', '.join(named)}" if named else ""


def _is_axis(element: Any) -> bool:
    return _name(element) in ("catAx", "valAx", "dateAx", "serAx")


def _is_on(element: Any) -> bool:
    return element is not None and element.get("val", "1") not in ("0", "false")


def _read_attribute(element: Any, path: str) -> str | None:
    found = element.find(path)
    return None if found is None else found.get("val")


def _read_index(point: Any) -> int:
    text = str(point.get("idx") or "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _read_point_text(point: Any) -> str:
    return _clean(point.findtext("{*}v"))


def _clean(text: str | None) -> str:
    return " ".join((text or "").split())


def _name(element: Any) -> str:
    # A comment or an instruction between elements has no name.
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
