"""Loads the SQL templates of `sql/`. Values reach them as bound parameters only."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def load_statement(name: str) -> str:
    """Return the text of `sql/<name>.sql`."""
    return resources.files("argot.jargon_db").joinpath("sql", f"{name}.sql").read_text(encoding="utf-8")
