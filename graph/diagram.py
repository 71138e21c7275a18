"""Draws the journey from the compiled graph into docs/journey.md: `python -m argot.graph.diagram`."""

from __future__ import annotations

import sys
from pathlib import Path

BEGIN, END = "<!-- drawn by: python -m argot.graph.diagram -->", "<!-- end of the drawing -->"


def draw_mermaid() -> str:
    """Return the compiled graph in Mermaid's language, in wiring order. A dotted edge is one of several ways."""
    from argot.graph.build import build_graph

    graph = build_graph()
    # LangGraph returns the edges in its own order; sorted, the drawing changes only where the wiring does.
    order = {
        "__start__": 0,
        **{node: place for place, node in enumerate(graph.nodes, 1)},
        "__end__": len(graph.nodes) + 1,
    }
    edges = sorted(graph.get_graph().edges, key=lambda edge: (order[edge.source], order[edge.target]))
    lines = ["graph TD", "    START((start))", "    END((end))"]
    for edge in edges:
        arrow = "-.->" if edge.conditional else "-->"
        lines.append(f"    {_name_node(edge.source)} {arrow} {_name_node(edge.target)}")
    return "\n".join(lines)


def _name_node(node: str) -> str:
    # Mermaid takes a lower-case "end" for a keyword.
    return {"__start__": "START", "__end__": "END"}.get(node, node)


def insert_drawing(page: str, drawing: str) -> str:
    """Return the page with this drawing between its two marks.

    Raises:
        ValueError: the page lacks a mark.
    """
    before, found, rest = page.partition(BEGIN)
    _, closed, after = rest.partition(END)
    if not found or not closed:
        raise ValueError(f"The page needs the lines '{BEGIN}' and '{END}' around the drawing.")
    return f"{before}{BEGIN}\n```mermaid\n{drawing}\n```\n{END}{after}"


def main(path: Path) -> None:
    path.write_text(insert_drawing(path.read_text("utf-8"), draw_mermaid()), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("docs/journey.md"))
