"""The senses and contexts in the rows of a table, whose columns are recognised."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from argot.jargon_db.formats.cell_texts import (
    join_aliases,
    parse_date,
    parse_label,
    parse_label_status,
    parse_relation,
    parse_status,
    split_aliases,
    split_names,
    write_labels,
    write_relations,
)
from argot.jargon_db.formats.column_use import ColumnUse
from argot.jargon_db.formats.glossary_file import ContextInput
from argot.jargon_db.formats.names import clean_language, split_brackets, unite_labels
from argot.jargon_db.store.inputs import SenseInput, join_texts
from argot.types import Label, Relation, RelationKind, SenseStatus

_RELATION_COLUMNS: dict[str, RelationKind] = {
    "broader": "broader",
    "narrower": "narrower",
    "related": "related",
    "see_also": "see also",
}
_PLAIN_FIELDS = (
    "term", "context", "expansion", "description", "notes", "owner", "status", "review_by", "source", "example",
    "concept",
)  # fmt: skip
_OTHER_MEANING = re.compile(r";\s*or\s", re.IGNORECASE)
_LABEL_COLUMNS = ("labels", "deprecated", "forbidden", "term_status", "part_of_speech", "gender", "language")


@dataclass(slots=True)
class RowReader:
    """Builds senses from rows.

    Args:
        columns: in the order of the cells.
        context: of rows that name none.
        language: the preferred one, if the terms stand in columns of several.
        strict: the file is one that Argot wrote, whose cells are taken as they are.
    """

    columns: Sequence[ColumnUse]
    context: str
    language: str
    strict: bool = False
    notes: list[tuple[str, str]] = field(default_factory=list)
    _at: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    _main: str = ""

    def __post_init__(self) -> None:
        for at, one in enumerate(self.columns):
            self._at.setdefault(one.kind, []).append((at, one.language))
        languages = [language for kind in ("term", "abbreviation") for _, language in self._at.get(kind, ())]
        wanted = self.language.lower()
        # A column without a language holds the list's own terms.
        alike = next((one for one in languages if one.split("-")[0] == wanted.split("-")[0]), None)
        self._main = "" if "" in languages or not languages else alike or languages[0]

    def has(self, *kinds: str) -> bool:
        return any(kind in self._at for kind in kinds)

    def read_sense(self, cells: Sequence[str]) -> SenseInput:
        """Build the sense of a row: a missing column leaves existing values, an empty cell clears them.

        `notes` receives the (column, message) of what was understood differently from what is written.
        """
        self.notes = []
        term, expansion, more = self._read_names(cells)
        labels = self._read_labels(cells, term, expansion) if self._may_have_labels() else None
        aliases = [*more, *self._read_aliases(cells)] if more or self.has("aliases") else None
        status = self._read_status(cells)
        audience = self._texts(cells, "audience")
        return SenseInput(
            term=term,
            context=self._first(cells, "context") or self.context,
            expansion=expansion,
            description=self._join(cells, "description"),
            notes=self._read_notes(cells),
            aliases=None if aliases is None else tuple(aliases),
            owner=self._only(cells, "owner"),
            status=status,
            audience=frozenset(split_aliases(audience[0])) if audience else None,
            review_by=self._read_date(cells),
            labels=labels,
            relations=self._read_relations(cells),
            source=self._join(cells, "source"),
            example=self._join(cells, "example"),
            concept=self._only(cells, "concept"),
        )

    def read_context(self, cells: Sequence[str]) -> ContextInput | None:
        """Build the context that a row describes; None if it says nothing."""
        name = self._first(cells, "context")
        audience = self._first(cells, "context_audience")
        context_input = ContextInput(
            name,
            self._first(cells, "context_description") or None,
            self._first(cells, "context_contact") or None,
            frozenset(split_aliases(audience)) if audience else None,
        )
        return context_input if name and context_input.says_something else None

    # -- names ----------------------------------------------------------------------------------------------------

    def _read_names(self, cells: Sequence[str]) -> tuple[str, str, list[str]]:
        """Return term, expansion and further names."""
        if self.strict:
            return self._first(cells, "term"), self._first(cells, "expansion"), []
        long, expansion = self._first(cells, "term"), self._first(cells, "expansion")
        short, *more = split_names(self._first(cells, "abbreviation")) or ("",)
        if not short:
            term = long
        else:
            # Beside an abbreviation, the term is what it stands for.
            term, expansion, spare = short, expansion or long, long if expansion else ""
            more += [spare] if spare not in ("", term, expansion) else []
        if not expansion:
            term, expansion = split_brackets(term)
        # A list often repeats the term where an abbreviation stands for nothing.
        described = any(self._texts(cells, "description"))
        return term, "" if expansion == term and described else expansion, more

    def _read_aliases(self, cells: Sequence[str]) -> list[str]:
        if self.strict:
            return [name for cell in self._raw(cells, "aliases") for name in split_aliases(cell)]
        return [name for cell in self._texts(cells, "aliases", every_language=True) for name in split_names(cell)]

    def _may_have_labels(self) -> bool:
        return bool(self._main) or self.has(*_LABEL_COLUMNS) or bool(self._list_other_languages())

    def _list_other_languages(self) -> list[tuple[int, str]]:
        kinds = ("term", "abbreviation", "expansion", "aliases")
        return [(at, language) for kind in kinds for at, language in self._at.get(kind, ()) if language != self._main]

    def _read_labels(self, cells: Sequence[str], term: str, expansion: str) -> tuple[Label, ...]:
        language = clean_language(self._first(cells, "language")) or self._main
        labels = [parse_label(one) for cell in self._texts(cells, "labels") for one in split_aliases(cell)]
        status_text = self._first(cells, "term_status") or self._first(cells, "status")
        main = Label(
            term,
            parse_label_status(status_text) or "preferred",
            language,
            self._first(cells, "part_of_speech"),
            self._first(cells, "gender"),
        )
        labels.append(main)
        labels += [Label(expansion, "preferred", language)] if expansion and language else []
        for at, other in self._list_other_languages():
            labels += [Label(name, "admitted", other) for name in split_names(_cell(cells, at))]
        for status in ("deprecated", "forbidden"):
            for cell in self._texts(cells, status):
                labels += [Label(name, status, language) for name in split_names(cell)]
        return unite_labels([one for one in labels if one.text])

    def _read_relations(self, cells: Sequence[str]) -> tuple[Relation, ...] | None:
        if not self.has("relations", *_RELATION_COLUMNS):
            return None
        written = [one for cell in self._texts(cells, "relations") for one in split_aliases(cell)]
        found = [relation for one in written if (relation := parse_relation(one)) is not None]
        for column, kind in _RELATION_COLUMNS.items():
            found += [Relation(kind, name) for cell in self._texts(cells, column) for name in split_names(cell)]
        return tuple(found)

    # -- other fields ---------------------------------------------------------------------------------------------

    def _read_status(self, cells: Sequence[str]) -> SenseStatus | None:
        status_text = self._first(cells, "status")
        if self.strict or not status_text:
            # Not checked here: an invalid status is reported as a problem with the other fields of the sense.
            return cast(SenseStatus, status_text.casefold()) if status_text else None
        status = parse_status(status_text)
        if status is None and parse_label_status(status_text) is None:
            self.notes.append(("status", f"the status {status_text[:60]!r} is not known: the meaning becomes a draft"))
            return "draft"
        return status

    def _read_date(self, cells: Sequence[str]) -> str | None:
        date_text = self._only(cells, "review_by")
        if not date_text or self.strict:
            return date_text
        found = parse_date(date_text)
        if found is None:
            self.notes.append(
                ("review_by", f"{date_text[:60]!r} is no date, and is left out; write it like 2027-01-31")
            )
        return found

    def _read_notes(self, cells: Sequence[str]) -> str | None:
        others = [
            f"[{language}] {text}"
            for at, language in self._at.get("description", ())
            if language not in ("", self._main) and (text := _cell(cells, at))
        ]
        if not self.has("notes") and not others:
            return None
        raw = self._raw(cells, "notes")
        return raw[0] if len(raw) == 1 and not others else join_texts([*raw, *others])

    # -- cells ----------------------------------------------------------------------------------------------------

    def _raw(self, cells: Sequence[str], kind: str) -> list[str]:
        return [cells[at] for at, _ in self._at.get(kind, ()) if at < len(cells)]

    def _texts(self, cells: Sequence[str], kind: str, *, every_language: bool = False) -> list[str]:
        """Return the cells of a field that hold something, in the list's own language."""
        found = self._at.get(kind, ())
        return [
            text
            for at, language in found
            if (every_language or language in ("", self._main)) and (text := _cell(cells, at))
        ]

    def _first(self, cells: Sequence[str], kind: str) -> str:
        return next(iter(self._texts(cells, kind)), "")

    def _only(self, cells: Sequence[str], kind: str) -> str | None:
        if not self.has(kind):
            return None
        return (self._raw(cells, kind) or [""])[0] if self.strict else self._first(cells, kind)

    def _join(self, cells: Sequence[str], kind: str) -> str | None:
        if not self.has(kind):
            return None
        raw = self._raw(cells, kind)
        # One column: the text as it was typed, with its spaces.
        return raw[0] if len(raw) == 1 else join_texts(self._texts(cells, kind))


def _cell(cells: Sequence[str], at: int) -> str:
    return cells[at].strip() if at < len(cells) else ""


def split_meanings(sense_input: SenseInput) -> list[SenseInput]:
    """Return the senses of a row that gives several: "Article Processing Charge; or Academic Programmes Committee"
    used by "Library; or Registry".
    """
    meanings = [part.strip() for part in _OTHER_MEANING.split(sense_input.expansion) if part.strip()]
    if len(meanings) < 2:
        return [sense_input]
    contexts = [part.strip() for part in _OTHER_MEANING.split(sense_input.context) if part.strip()]
    if len(contexts) != len(meanings):
        contexts = [sense_input.context] * len(meanings)
    labels = tuple(one for one in sense_input.labels or () if one.text != sense_input.expansion)
    return [
        replace(sense_input, expansion=meaning, context=context, labels=None if sense_input.labels is None else labels)
        for meaning, context in zip(meanings, contexts, strict=True)
    ]


def describe_row(sense_input: SenseInput, columns: Sequence[ColumnUse]) -> list[str]:
    """Return a sense as the row of a table with these columns."""
    texts = {name: getattr(sense_input, name) or "" for name in _PLAIN_FIELDS} | {
        "abbreviation": sense_input.term,
        "aliases": join_aliases(sense_input.aliases or ()),
        "audience": join_aliases(sorted(sense_input.audience or ())),
        "labels": write_labels(sense_input.labels or ()),
        "relations": write_relations(sense_input.relations or ()),
    }
    if any(one.kind == "abbreviation" for one in columns):
        texts["term"] = sense_input.expansion
    # Once: several columns may hold a field, and together they gave its value.
    return [texts.pop(one.kind, "") for one in columns]


def merge_labels(sense_input: SenseInput, other: SenseInput) -> SenseInput:
    """Return a sense with the names of another one, which is the same concept in another language."""
    names = [Label(one.term) for one in (other,)] + ([Label(other.expansion)] if other.expansion else [])
    labels = unite_labels((*(sense_input.labels or ()), *(other.labels or ()), *names))
    aliases = (*(sense_input.aliases or ()), *(other.aliases or ()))
    notes = join_texts([sense_input.notes or "", other.notes or "", _tag(other)])
    return replace(sense_input, labels=labels, aliases=aliases or None, notes=notes or None)


def _tag(other: SenseInput) -> str:
    language = next((one.language for one in other.labels or () if one.text == other.term), "")
    return f"[{language}] {other.description}" if other.description and language else other.description or ""
