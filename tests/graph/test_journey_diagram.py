"""The diagram in docs/journey.md is the compiled graph, and the page describes every stage."""

import pytest
from repository import ROOT

from argot.graph.build import build_graph
from argot.graph.diagram import draw_mermaid, insert_drawing

PAGE = ROOT / "docs" / "journey.md"


def test_the_diagram_equals_the_compiled_graph() -> None:
    page = PAGE.read_text("utf-8")
    assert insert_drawing(page, draw_mermaid()) == page, "draw it anew: python -m argot.graph.diagram"


def test_the_page_describes_every_stage() -> None:
    page = PAGE.read_text("utf-8")
    nodes = set(build_graph().nodes) - {"__start__"}
    assert len(nodes) > 10
    assert {node for node in nodes if f"| `{node}` |" not in page} == set()


def test_node_names_equal_function_names() -> None:
    for node in set(build_graph().nodes) - {"__start__"}:
        module = __import__(f"argot.graph.nodes.{node}", fromlist=[node])
        assert getattr(module, node).__name__ == node


def test_a_page_without_diagram_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="needs the lines"):
        insert_drawing("# nothing here", "graph TD;")
