"""Cells with several values: aliases, labels and relations as one text, and statuses and dates as people write them."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from dataclasses import fields
from typing import TypeVar, cast
from urllib.parse import quote, unquote

from argot.jargon_db.formats.word_lists import read_word_list
from argot.jargon_db.store.inputs import STATUSES
from argot.types import LABEL_STATUSES, RELATION_KINDS, Label, LabelStatus, Relation, RelationKind, SenseStatus

# The text between bars; `\|` and `\\` do not end it. A lone backslash at the end is kept.
_ALIAS_PART = re.compile(r"(?:\\.|[^|\\]|\\$)+", re.DOTALL)
_PROPERTIES = re.compile(r"^(?P<text>.*?)\s*\{(?P<said>[^{}]*)\}$", re.DOTALL)
_LABEL_FIELDS = tuple(one.name for one in fields(Label) if one.name != "text")
_SAFE = " /:.,+-_'\u00e4\u00f6\u00fc\u00df\u00e9"
_WORDS = read_word_list("status_words.txt")
_Status = TypeVar("_Status", bound=str)
_DATES = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d %B %Y", "%B %d, %Y", "%d %b %Y", "%d-%m-%Y")


def join_aliases(aliases: Iterable[str]) -> str:
    return "|".join(alias.replace("\\", "\\\\").replace("|", "\\|") for alias in aliases)


def split_aliases(cell: str) -> tuple[str, ...]:
    return tuple(re.sub(r"\\([|\\])", r"\1", part) for part in _ALIAS_PART.findall(cell))


def split_names(cell: str) -> tuple[str, ...]:
    """Split the names in a cell of any organisation: at bars, semicolons and line ends, else at commas."""
    separator = r"[|;\n]" if re.search(r"[|;\n]", cell) else r",\s"
    return tuple(part.strip() for part in re.split(separator, cell) if part.strip())


def write_labels(labels: Iterable[Label]) -> str:
    """Return labels as `Zugstange {language=de; gender=feminine}|tension bar {status=deprecated}`."""
    return join_aliases(write_label(one) for one in labels)


def write_label(label: Label) -> str:
    said = [
        f"{name.replace('_', ' ')}={quote(value, safe=_SAFE)}"
        for name in _LABEL_FIELDS
        if (value := getattr(label, name))
    ]
    return f"{label.text} {{{'; '.join(said)}}}"


def parse_label(text: str) -> Label:
    found = _PROPERTIES.match(text)
    if found is None:
        return Label(text.strip())
    values: dict[str, str] = {}
    for part in found["said"].split(";"):
        name, _, value = (one.strip() for one in part.partition("="))
        if name.replace(" ", "_") in _LABEL_FIELDS:
            values[name.replace(" ", "_")] = unquote(value)
    return Label(found["text"], **values)  # type: ignore[arg-type]


def write_relations(relations: Iterable[Relation]) -> str:
    """Return relations as `broader: rod|related: bolt {context=Mechanics}`."""
    return join_aliases(write_relation(one) for one in relations)


def write_relation(relation: Relation) -> str:
    # Braces also where a term ends in one, so that its own are not read as properties.
    context = (
        f" {{context={quote(relation.context, safe=_SAFE)}}}" if relation.context or relation.term[-1:] == "}" else ""
    )
    return f"{relation.kind}: {relation.term}{context}"


def parse_relation(text: str) -> Relation | None:
    """Return a relation; None if the text names no kind of relation."""
    kind, between, rest = text.partition(":")
    if not between or kind.strip().casefold() not in RELATION_KINDS:
        return None
    found = _PROPERTIES.match(rest.strip())
    term, said = (found["text"], found["said"]) if found else (rest.strip(), "")
    context = unquote(said.partition("=")[2]) if said.startswith("context=") else ""
    return Relation(cast(RelationKind, kind.strip().casefold()), term.strip(), context)


def parse_status(cell: str) -> SenseStatus | None:
    """Return the status of a sense that a word means in any organisation; None if it means none."""
    return _find_word(STATUSES, cell)


def parse_label_status(cell: str) -> LabelStatus | None:
    """Return the status of a label, also in the words of TBX ("deprecatedTerm-admn-sts"); None if it means none."""
    bare = cell.removesuffix("-admn-sts").removesuffix("-adm-sts")
    return _find_word(LABEL_STATUSES, bare)


def parse_date(cell: str) -> str | None:
    """Return a date as the glossary writes it; None if it is none."""
    text = cell.strip().split("T")[0].split(" 00:00")[0]
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError:
        pass
    for form in _DATES:
        try:
            return datetime.datetime.strptime(text, form).replace(tzinfo=datetime.UTC).date().isoformat()
        except ValueError:
            continue
    return None


def _find_word(statuses: tuple[_Status, ...], cell: str) -> _Status | None:
    folded = re.sub(r"[^a-z0-9]", "", cell.casefold().translate(str.maketrans("äöüéè", "aouee")))
    return next((status for status in statuses if folded == status or folded in _WORDS[status]), None)
