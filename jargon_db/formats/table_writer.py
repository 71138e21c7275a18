"""The rows of a glossary as a table: for CSV files and workbooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from argot.jargon_db.formats.cell_texts import join_aliases, write_labels, write_relations
from argot.jargon_db.formats.table_format import COLUMNS, MORE_COLUMNS
from argot.types import Context, Sense

CONTEXT_COLUMNS = ("name", "description", "contact", "audience")
_CELLS: dict[str, Callable[[Sense], str]] = {
    "aliases": lambda sense: join_aliases(sense.aliases),
    "audience": lambda sense: join_aliases(sorted(sense.audience)),
    "review_by": lambda sense: sense.review_by or "",
    "labels": lambda sense: write_labels(sense.labels),
    "relations": lambda sense: write_relations(sense.relations),
}


def make_rows(senses: Iterable[Sense], contexts: Iterable[Context] = ()) -> tuple[list[str], Iterator[list[str]]]:
    """Return the header and the rows of a table of senses, after rows about contexts of which something is known.

    The columns beyond `COLUMNS` are those that a sense or context needs.
    """
    kept = list(senses)
    known = [one for one in contexts if one.description or one.contact or one.audience]
    needed = {name for name in MORE_COLUMNS for sense in kept if _get_cell(sense, name)}
    needed |= {
        f"context_{name}" for one in known for name in ("description", "contact", "audience") if getattr(one, name)
    }
    header = [*COLUMNS, *(name for name in MORE_COLUMNS if name in needed)]
    return header, _iterate(header, kept, known)


def describe_context(context: Context) -> dict[str, str]:
    return {
        "name": context.name,
        "description": context.description,
        "contact": context.contact,
        "audience": join_aliases(sorted(context.audience)),
    }


def _iterate(header: list[str], senses: list[Sense], contexts: list[Context]) -> Iterator[list[str]]:
    for one in contexts:
        cells = {f"context_{name}": text for name, text in describe_context(one).items()} | {"context": one.name}
        yield [cells.get(name, "") for name in header]
    for sense in senses:
        yield [_get_cell(sense, name) for name in header]


def _get_cell(sense: Sense, name: str) -> str:
    if name.startswith("context_"):
        return ""
    return _CELLS[name](sense) if name in _CELLS else str(getattr(sense, name))
