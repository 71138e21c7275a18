"""Tables as Markdown pipe tables."""

from __future__ import annotations

from collections.abc import Sequence


def render_pipe_table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a pipe table with the first as header, padded to one width and without empty columns."""
    width = max((len(row) for row in rows), default=0)
    full = [[cell(text) for text in row] + [""] * (width - len(row)) for row in rows]
    used = [column for column in range(width) if any(row[column] for row in full)]
    lines = [_render_line([row[column] for column in used]) for row in full]
    if not used or not lines:
        return ""
    return "\n".join([lines[0], _render_line(["---"] * len(used)), *lines[1:]])


def join_headers(rows: Sequence[Sequence[str]], headers: int) -> list[Sequence[str]]:
    """Join the first `headers` rows into one, each column named from top to bottom."""
    if headers <= 1 or headers >= len(rows):
        return list(rows)
    width = max(len(row) for row in rows)
    names = []
    for column in range(width):
        parts = [row[column] for row in rows[:headers] if column < len(row) and row[column]]
        names.append(" ".join(dict.fromkeys(parts)))
    return [names, *rows[headers:]]


def cell(text: str) -> str:
    """Return the text on one line, with its bars escaped."""
    # A cell that is Markdown already has its bars escaped: not twice.
    return " ".join(text.replace("\\|", "|").replace("|", "\\|").split())


def _render_line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
