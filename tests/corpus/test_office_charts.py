"""Charts of every kind in Office files, and the boxes of SmartArt."""

import contextlib

import pptx
import pytest
from pptx.chart.data import BubbleChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from argot.corpus.readers.office_charts import read_chart
from argot.corpus.readers.office_diagrams import read_diagram

C = "http://schemas.openxmlformats.org/drawingml/2006/chart"
C_STRICT = "http://purl.oclc.org/ooxml/drawingml/chart"
CX = "http://schemas.microsoft.com/office/drawing/2014/chartex"
A = "http://schemas.openxmlformats.org/drawingml/2006/main"
DGM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"


def points(*texts: str | None) -> str:
    made = (f'<c:pt idx="{n}"><c:v>{text}</c:v></c:pt>' for n, text in enumerate(texts) if text is not None)
    return f'<c:ptCount val="{len(texts)}"/>{"".join(made)}'


def numbers(*texts: str | None, code: str = "General") -> str:
    return f"<c:numRef><c:numCache><c:formatCode>{code}</c:formatCode>{points(*texts)}</c:numCache></c:numRef>"


def strings(*texts: str | None) -> str:
    return f"<c:strRef><c:strCache>{points(*texts)}</c:strCache></c:strRef>"


def series(name: str, cat: str, val: str, more: str = "") -> str:
    return f"<c:ser><c:tx>{strings(name)}</c:tx>{more}<c:cat>{cat}</c:cat><c:val>{val}</c:val></c:ser>"


def titled(text: str) -> str:
    return f'<c:title><c:tx><c:rich><a:p xmlns:a="{A}"><a:r><a:t>{text}</a:t></a:r></a:p></c:rich></c:tx></c:title>'


def chart(plots: str, title: str = "", namespace: str = C) -> bytes:
    inner = f"<c:chart>{titled(title) if title else ''}<c:plotArea>{plots}</c:plotArea></c:chart>"
    return f'<?xml version="1.0"?><c:chartSpace xmlns:c="{namespace}">{inner}</c:chartSpace>'.encode()


@pytest.mark.parametrize("namespace", [C, C_STRICT])
@pytest.mark.parametrize(
    "kind",
    [
        *("barChart", "bar3DChart", "lineChart", "line3DChart", "pieChart", "pie3DChart", "ofPieChart", "areaChart"),
        *("area3DChart", "doughnutChart", "radarChart", "stockChart", "surfaceChart", "surface3DChart"),
    ],
)
def test_every_chart_over_categories_becomes_a_table(kind: str, namespace: str) -> None:
    one = series("Revenue", strings("Q1", "Q2"), numbers("11.5", "12.25"))
    read = read_chart(chart(f"<c:{kind}>{one}</c:{kind}>", "Sales of boats", namespace))
    assert read == "**Sales of boats**\n\n|  | Revenue |\n| --- | --- |\n| Q1 | 11.5 |\n| Q2 | 12.25 |"


def test_errors_and_empty_values_of_a_chart_are_kept() -> None:
    one = series("Revenue", strings("Q1", "Q2", "Q3", "Q4"), numbers("1", "#N/A", "", None))
    rows = read_chart(chart(f"<c:lineChart>{one}</c:lineChart>")).splitlines()[2:]
    assert rows == ["| Q1 | 1 |", "| Q2 | #N/A |", "| Q3 |  |", "| Q4 |  |"]


def test_combined_charts_share_one_table_and_name_their_axes() -> None:
    cat = strings("Spring", "Autumn")
    plots = (
        f'<c:barChart>{series("Trips", cat, numbers("4", "6"))}<c:axId val="1"/><c:axId val="2"/></c:barChart>'
        f'<c:lineChart>{series("Share", cat, numbers("0.4", "0.6", code="0%"))}<c:axId val="1"/><c:axId val="3"/>'
        f'</c:lineChart><c:catAx><c:axId val="1"/>{titled("Season")}</c:catAx>'
        f'<c:valAx><c:axId val="2"/>{titled("Number")}</c:valAx>'
        f'<c:valAx><c:axId val="3"/>{titled("Part of all")}</c:valAx>'
    )
    read = read_chart(chart(plots))
    assert "| Season | Trips | Share |" in read and "| Spring | 4 | 40% |" in read
    assert read.endswith("Axes: Number, Part of all")


def test_multi_level_categories_keep_every_level() -> None:
    levels = f"<c:lvl>{points('Jan', 'Feb', 'Jan')}</c:lvl><c:lvl>{points('2024', None, '2025')}</c:lvl>"
    cat = f"<c:multiLvlStrRef><c:multiLvlStrCache>{levels}</c:multiLvlStrCache></c:multiLvlStrRef>"
    read = read_chart(chart(f"<c:barChart>{series('Cost', cat, numbers('7', '8', '9'))}</c:barChart>"))
    assert read.splitlines()[2:] == ["| 2024 | Jan | 7 |", "| 2024 | Feb | 8 |", "| 2025 | Jan | 9 |"]


def test_date_categories_become_dates_and_data_labels_are_kept() -> None:
    label = (
        f'<c:dLbls><c:dLbl><c:idx val="1"/><c:tx><c:rich><a:p xmlns:a="{A}"><a:r><a:t>strike</a:t></a:r></a:p></c:rich>'
        "</c:tx></c:dLbl></c:dLbls>"
    )
    one = series("Load", numbers("45000", "45001", code="dd/mm/yyyy"), numbers("3", "1"), label)
    rows = read_chart(chart(f"<c:lineChart>{one}</c:lineChart>")).splitlines()[2:]
    assert rows == ["| 2023-03-15 | 3 |", "| 2023-03-16 | 1 (strike) |"]


def test_a_series_without_categories_uses_those_of_the_first() -> None:
    bare = f"<c:ser><c:tx>{strings('Cost')}</c:tx><c:val>{numbers('5', '6')}</c:val></c:ser>"
    first = series("Price", strings("A", "B"), numbers("7", "8"))
    assert "| A | 7 | 5 |" in read_chart(chart(f"<c:barChart>{first}{bare}</c:barChart>"))
    assert "| 2 | 6 |" in read_chart(chart(f"<c:barChart>{bare}</c:barChart>"))


@pytest.mark.parametrize("kind", [XL_CHART_TYPE.XY_SCATTER, XL_CHART_TYPE.BUBBLE])
def test_scatter_and_bubble_charts_become_tables(kind: XL_CHART_TYPE) -> None:
    data = XyChartData() if kind is XL_CHART_TYPE.XY_SCATTER else BubbleChartData()
    one = data.add_series("Depth")
    one.add_data_point(*((1, 2.5) if kind is XL_CHART_TYPE.XY_SCATTER else (1, 2.5, 9)))
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    made = slide.shapes.add_chart(kind, 0, 0, Inches(4), Inches(4), data).chart
    read = read_chart(made.part.blob)
    assert ("| 1 | 2.5 | 9 |" if kind is XL_CHART_TYPE.BUBBLE else "| 1 | 2.5 |") in read


@pytest.mark.parametrize("kind", ["waterfall", "treemap", "sunburst", "funnel", "boxWhisker"])
def test_office_2016_charts_become_tables(kind: str) -> None:
    levels = (
        '<cx:lvl><cx:pt idx="0">Ropes</cx:pt><cx:pt idx="1">Sails</cx:pt></cx:lvl>'
        '<cx:lvl><cx:pt idx="0">Rigging</cx:pt></cx:lvl>'
    )
    xml = (
        f'<cx:chartSpace xmlns:cx="{CX}"><cx:chartData><cx:data id="0"><cx:strDim type="cat">{levels}</cx:strDim>'
        '<cx:numDim type="val"><cx:lvl formatCode="0%"><cx:pt idx="0">0.2</cx:pt><cx:pt idx="1">0.8</cx:pt></cx:lvl>'
        f"</cx:numDim></cx:data></cx:chartData><cx:chart>{titled('Costs').replace('c:', 'cx:')}"
        f'<cx:plotArea><cx:plotAreaRegion><cx:series layoutId="{kind}"><cx:tx><cx:txData><cx:v>Share</cx:v></cx:txData>'
        '</cx:tx><cx:dataId val="0"/></cx:series></cx:plotAreaRegion></cx:plotArea></cx:chart></cx:chartSpace>'
    )
    read = read_chart(xml.encode())
    assert read.startswith("**Costs**") and "| Rigging | Sails | 80% |" in read


@pytest.mark.parametrize("xml", [b"", b"<c:chart", b"<a/>", b'<!DOCTYPE x [<!ENTITY a "b">]><a>&a;</a>'])
def test_xml_that_is_not_a_chart_or_diagram_is_refused(xml: bytes) -> None:
    for read in (read_chart, read_diagram):
        with pytest.raises(ValueError, match=r"chart|diagram"):
            read(xml)


def test_entities_in_a_chart_are_not_expanded() -> None:
    plain = chart(f"<c:barChart>{series('Cost', strings('A'), numbers('7'))}</c:barChart>").decode()
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    said = plain.replace("?>", f'?><!DOCTYPE x [<!ENTITY l0 "ha">{laughs}]>').replace(">A<", ">&l11;<")
    with contextlib.suppress(ValueError):
        assert "ha" not in read_chart(said.encode())


def box(model_id: str, text: str, kind: str = "node") -> str:
    return f'<dgm:pt modelId="{model_id}" type="{kind}"><dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t></dgm:pt>'


def diagram(boxes: str, joined: str) -> bytes:
    lists = f"<dgm:ptLst>{boxes}</dgm:ptLst><dgm:cxnLst>{joined}</dgm:cxnLst>"
    return f'<dgm:dataModel xmlns:dgm="{DGM}" xmlns:a="{A}">{lists}</dgm:dataModel>'.encode()


def test_smartart_boxes_become_a_list_nested_by_connections() -> None:
    boxes = '<dgm:pt modelId="0" type="doc"/>' + box("1", "Unload") + box("2", "Check seals") + box("3", "Sort")
    joined = "".join(
        f'<dgm:cxn modelId="c{n}" srcId="{above}" destId="{below}" srcOrd="{place}" destOrd="0"/>'
        for n, (above, below, place) in enumerate([("0", "3", 1), ("0", "1", 0), ("1", "2", 0)])
    )
    assert read_diagram(diagram(boxes, joined)) == "- Unload\n  - Check seals\n- Sort"


def test_circular_and_unconnected_smartart_boxes_are_read_once() -> None:
    ring = "".join(f'<dgm:cxn srcId="{one}" destId="{other}"/>' for one, other in (("1", "2"), ("2", "1")))
    boxes = box("1", "Plan") + box("2", "Do") + box("3", "or", "sibTrans")
    assert read_diagram(diagram(boxes, ring)) == "- Plan\n  - Do\n- or"
    assert read_diagram(diagram(boxes, "")) == "- Plan\n- Do\n- or"
