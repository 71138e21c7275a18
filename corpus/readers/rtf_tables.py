"""Rows of tables in RTF: the definition of a row's cells, and the text that fills them."""

from __future__ import annotations

from dataclasses import dataclass, field

from argot.corpus.readers.paragraph_html import Block, TableRow

_MAX_CELLS = 500


@dataclass(slots=True)
class RowBuilder:
    """The row that is being read. A definition may stand before the cells or behind them."""

    in_table: bool = False
    after: list[str] = field(default_factory=list)
    _cells: list[str] = field(default_factory=list)
    _text: list[str] = field(default_factory=list)
    _edges: list[int] = field(default_factory=list)
    _below: set[int] = field(default_factory=set)
    _beside: set[int] = field(default_factory=set)
    _is_header: bool = False
    _merges_below: bool = False
    _merges_beside: bool = False

    def read_word(self, word: str, number: int | None) -> bool:
        """Read a control word about a row; return whether it was one."""
        match word:
            case "trowd":
                self._edges, self._below, self._beside, self._is_header = [], set(), set(), False
            case "intbl":
                self.in_table = True
            case "trhdr":
                self._is_header = True
            case "clvmrg":
                self._merges_below = True
            case "clmrg":
                self._merges_beside = True
            case "cellx":
                self._end_definition(number or 0)
            case _:
                return False
        return True

    def _end_definition(self, edge: int) -> None:
        if len(self._edges) < _MAX_CELLS:
            if self._merges_below:
                self._below.add(len(self._edges))
            if self._merges_beside:
                self._beside.add(len(self._edges))
            self._edges.append(edge)
        self._merges_below = self._merges_beside = False

    def add_text(self, html: str, *, is_end: bool) -> None:
        """Add text to the cell that is open. `is_end`: a paragraph ends with it, and another may follow."""
        self._text.append(f"<p>{html}</p>" if is_end and html.strip() else html)

    def end_cell(self) -> None:
        if len(self._cells) < _MAX_CELLS:
            self._cells.append("".join(self._text))
        elif self._text:
            self._cells[-1] += " ".join(self._text)
        self._text = []

    def end_row(self, blocks: list[Block]) -> None:
        """Add the row to the blocks, if it has any cell."""
        if "".join(self._text).strip():
            self.end_cell()
        self._text = []
        if self._cells:
            kept = [number for number in range(len(self._cells)) if number not in self._beside or self._cells[number]]
            edges = self._edges if len(self._edges) >= len(self._cells) else []
            blocks.append(
                TableRow(
                    [self._cells[number] for number in kept],
                    _join_edges(edges, kept),
                    self._is_header,
                    frozenset(at for at, number in enumerate(kept) if number in self._below),
                    self.after,
                )
            )
            self._cells, self.after = [], []


def _join_edges(edges: list[int], kept: list[int]) -> list[int]:
    """Return the right edge of each kept cell: where the next one begins."""
    if not edges:
        return []
    following = [*kept[1:], len(edges)]
    return [edges[after - 1] for after in following]
