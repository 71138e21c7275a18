"""Tables of LaTeX: rows and cells of the parsed content of `tabular` and its relatives."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from argot.corpus.readers.latex_grammar import RULES
from argot.corpus.readers.pipe_tables import join_headers, render_pipe_table

_ROW_ENDS = frozenset({"\\", "tabularnewline", "cr"})
_MAX_SPAN = 100
_MAX_HEADER_CHARS = 200
"""Characters of a text that each of the columns below it repeats; a longer one is no name."""
_RULE_PLACE = re.compile(r"(?:\[[^\]]*\])?(?:\((?:[lr]|\{[^{}]*\})*\)?)?(?P<columns>\{\d+-\d+\})?")
"""The options of `\\cmidrule`, or their beginning: `[1pt](lr){2-3}`."""
_CELL_CHARS = len(" | ")
Write = Callable[[Sequence[Any]], str]


@dataclass(slots=True)
class LatexTable:
    """A table while it is read. `spans`: for a column the text that continues below, and for how many rows.

    `count_chars` is called with the number of repeated characters, and raises once too much is repeated.
    """

    write: Write
    count_chars: Callable[[int], None]
    rows: list[list[str]] = field(default_factory=list)
    headers: int = 0
    captions: list[str] = field(default_factory=list)
    spans: dict[int, tuple[str, int]] = field(default_factory=dict)
    _cells: list[str] = field(default_factory=list)
    _nodes: list[Any] = field(default_factory=list)
    _last: list[list[str]] = field(default_factory=list)

    def read(self, nodes: Iterable[Any]) -> str:
        """Return the table as Markdown."""
        rule: str | None = None
        for node in nodes:
            name = getattr(node, "macroname", "")
            if getattr(node, "specials_chars", "") == "&":
                self._end_cell()
            elif name in _ROW_ENDS:
                self._end_row()
            elif name in ("caption", "captionof"):
                self.captions.append(self.write([node]))
            elif name in RULES:
                self._mark_rule(name)
            elif name in ("endfirsthead", "endhead", "endfoot", "endlastfoot"):
                self._end_part(name)
            elif rule is not None and (place := _RULE_PLACE.fullmatch(rule + node.latex_verbatim().strip())):
                rule = None if place["columns"] else place[0]
                continue
            else:
                self._nodes.append(node)
            rule = "" if name == "cmidrule" else None
        self._end_row()
        table = render_pipe_table(join_headers([*self.rows, *self._last], self.headers or 1))
        return "\n\n".join(filter(None, [*self.captions, table]))

    def _end_cell(self) -> None:
        nodes, self._nodes = self._nodes, []
        wide = next((one for one in nodes if getattr(one, "macroname", "") == "multicolumn"), None)
        tall = next((one for one in nodes if getattr(one, "macroname", "") == "multirow"), None)
        text = self.write(nodes)
        if tall is not None and (rows := _read_number(tall, 1)) > 1:
            self.spans[len(self._cells)] = (text, rows)
        self._cells.append(text)
        # What stands above several columns belongs to each of their names.
        repeated = "" if self.headers or len(text) > _MAX_HEADER_CHARS else text
        more = _read_number(wide, 0) - 1 if wide is not None else 0
        self.count_chars(more * (len(repeated) + _CELL_CHARS))
        self._cells += [repeated] * more

    def _end_row(self) -> None:
        self._end_cell()
        row, self._cells = self._cells, []
        if not any(row):
            return
        for column, (text, left) in list(self.spans.items()):
            if column < len(row) and not row[column]:
                self.count_chars(len(text))
                row[column] = text
            self.spans[column] = (text, left - 1)
            if left <= 1:
                del self.spans[column]
        self.rows.append(row)

    def _mark_rule(self, name: str) -> None:
        """Take the rows above the first rule below the top as the header; one below some columns is within it."""
        if not self.headers and name not in ("cmidrule", "cline"):
            self.headers = len(self.rows)

    def _end_part(self, name: str) -> None:
        """End the part of a long table that is repeated on each page; its second head says the same as its first."""
        self._end_row()
        if name in ("endfirsthead", "endhead"):
            self.rows = self.rows[: self.headers] if name == "endhead" and self.headers else self.rows
            self.headers = self.headers or len(self.rows)
        else:
            self._last += self.rows[self.headers :]
            self.rows = self.rows[: self.headers]


def _read_number(node: Any, argument: int) -> int:
    """Return the number of columns or rows that a cell spans; at least 1."""
    arguments = node.nodeargd.argnlist if node.nodeargd is not None else None
    found = re.search(r"\d{1,3}", arguments[argument].latex_verbatim()) if arguments else None
    return max(1, min(_MAX_SPAN, int(found[0]))) if found else 1
