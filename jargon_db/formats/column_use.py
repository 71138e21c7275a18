"""A column of a list, and the field that it holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ColumnUse:
    """A column of a list and the field that it holds: "term", "term:de", or "-" if it is left out.

    `how`: recognised by its name, by its content, or given by a person. `sheet` is empty for a file without sheets.
    """

    header: str
    field: str
    how: str
    samples: tuple[str, ...] = ()
    sheet: str = ""

    @property
    def kind(self) -> str:
        return self.field.partition(":")[0]

    @property
    def language(self) -> str:
        return self.field.partition(":")[2]
