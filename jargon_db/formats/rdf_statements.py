"""The statements of an RDF file in plain lists: rdflib's own store would keep three indexes of every statement."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from sys import intern
from urllib.parse import urljoin

from argot.jargon_db.formats.skos_words import RDF

BASE = "urn:argot:file:"
"""Base that completes relative addresses of a file."""
MAX_STATEMENTS = 5_000_000
MAX_DEPTH = 64
TYPE = f"{RDF}type"
FIRST = f"{RDF}first"
REST = f"{RDF}rest"
NIL = f"{RDF}nil"

Value = tuple[str, str | None]
"""(text, language) of a literal, the language "" if it names none; (address, None) of a resource."""
Statement = tuple[str, str, str | None]
"""(property, then the value)."""
Statements = dict[str, list[Statement]]
"""The statements about each subject, in the order of the file."""
Add = Callable[[str, str, str, str | None], None]
"""Takes subject, property and the two parts of a value."""

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*+:")
_JOINED = ("http:", "https:", "ftp:", "file:")
_COUNT = itertools.count()


class MalformedFile(Exception):
    """The file is invalid in its declared format."""

    def __init__(self, why: str, where: str = "") -> None:
        super().__init__(why)
        self.where = where


class LimitExceeded(Exception):
    """The file exceeds a limit of a glossary; the message names it."""


def build_depth_error() -> LimitExceeded:
    return LimitExceeded("it is nested too deeply to be a thesaurus; flatten it")


def collect_into(found: Statements) -> Add:
    """Return a function that adds statements to `found`, up to a limit."""
    count = 0

    def add(subject: str, said: str, value: str, language: str | None) -> None:
        nonlocal count
        count += 1
        # While reading, so that not only the result but also the memory is bounded.
        if count > MAX_STATEMENTS:
            raise LimitExceeded(f"it holds more than {MAX_STATEMENTS:,} statements; split it")
        known = found.get(subject)
        if known is None:
            known = found[subject] = []
        # Millions of statements use a few properties: each name is stored once.
        known.append((intern(said), value, language))

    return add


def name_blank() -> str:
    """Return a name for a blank node; no file can contain the same."""
    return f"_:#{next(_COUNT)}"


def complete_iri(base: str, address: str) -> str:
    """Return an address of a file in full. It is only a name: nothing is ever opened."""
    if _ABSOLUTE.match(address):
        return address
    # `urljoin` can complete only some schemes, and would drop Argot's.
    if not base.startswith(_JOINED):
        return base + address
    try:
        return urljoin(base, address)
    # For example "http://[": a malformed name is still a name.
    except ValueError:
        return base + address
