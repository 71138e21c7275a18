"""The columns that Argot adds to the file of rows left out of an import, which hold no part of the glossary."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

PLACE, REASON = "place", "reason"
_MIN_OTHER_COLUMNS = 2


def find_reason_columns(rows: Sequence[Sequence[str]], columns: Collection[str] = ()) -> tuple[int, ...]:
    """Return the positions of the columns of places and reasons; empty if the table is no file of rows left out. A
    person who says what such a column holds (`columns` are the names) knows better.
    """
    if {PLACE, REASON} & {one.strip().casefold() for one in columns}:
        return ()
    first = next((row for row in rows if any(map(str.strip, row))), ())
    names = [cell.strip().casefold() for cell in first]
    # The last pair: the source may have had columns of these names itself.
    for at in range(len(names) - 2, -1, -1):
        if names[at : at + 2] == [PLACE, REASON]:
            return at, at + 1
    # Somebody took the places out. A list of codes and reasons is something else.
    is_rest = names.count(REASON) == 1 and sum(map(bool, names)) > _MIN_OTHER_COLUMNS
    return (names.index(REASON),) if is_rest else ()


def drop_columns(rows: Iterator[tuple[int, list[str]]], dropped: Collection[int]) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table without the columns in these positions."""
    for number, cells in rows:
        yield number, [cell for at, cell in enumerate(cells) if at not in dropped]
