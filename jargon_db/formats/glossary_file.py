"""The content of a glossary file of any format, before any of it is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from typing import Any

from argot.errors import InvalidGlossary, RowProblem
from argot.jargon_db.formats.column_use import ColumnUse
from argot.jargon_db.formats.control_characters import remove_control_characters
from argot.jargon_db.formats.duplicates import (
    Place,
    describe_contradiction,
    tell_duplicate_definitions,
    unite_entries,
)
from argot.jargon_db.lookup.normalise import normalise
from argot.jargon_db.store.inputs import (
    MAX_TERM_CHARS,
    SenseInput,
    find_problems,
    is_context_name,
    is_storable,
    join_texts,
    trim,
)
from argot.types import Audience

DEFAULT_MAX_BYTES = 100 * 1024 * 1024
DEFAULT_LANGUAGE = "en"
DEFAULT_SECONDS = 60.0
DEFAULT_MEMORY_MB = 2048
MAX_SENSES = 100_000
"""Maximum senses and contexts of one file, unless a setting differs: they are kept in memory until they are stored, and
nobody reviews more.
"""


class ProcessRequired(Exception):
    """Only a process with its own limits may read this file, because it can take unbounded time and memory."""


@dataclass(frozen=True, slots=True)
class ContextInput:
    """A file's entry about a context. `None` leaves an existing value unchanged."""

    name: str
    description: str | None = None
    contact: str | None = None
    audience: Audience | None = None

    @property
    def says_something(self) -> bool:
        return (self.description, self.contact, self.audience) != (None, None, None)


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Choices of the importer where a file leaves something open.

    `context` applies to terms for which the file names none (empty: the format decides). `language` is preferred if a
    file has several. A file of more than `max_bytes` or `most_senses` is refused, and one that takes more than
    `seconds` or `memory_mb` to read. `bounded`: this process was started to read this file, and has these limits.
    `columns`: fields by the name of their column, which take precedence over what is recognised; `remembered`: they are
    those of an earlier file, and may name columns that this one lacks. `partial`: what is
    right is read, and the rest is returned with a reason each; otherwise one problem refuses the file.
    """

    context: str = ""
    language: str = DEFAULT_LANGUAGE
    max_bytes: int = DEFAULT_MAX_BYTES
    seconds: float = DEFAULT_SECONDS
    memory_mb: int = DEFAULT_MEMORY_MB
    most_senses: int = MAX_SENSES
    bounded: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    partial: bool = False
    remembered: bool = False


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """An entry of a file that was left out: its place, the reason, and its cells in a table, or else its `sense`."""

    place: str
    reason: str
    cells: tuple[str, ...] = ()
    sense: SenseInput | None = None


@dataclass(frozen=True, slots=True)
class GlossaryFile:
    """Checked senses and contexts in the order of the file; `ignored` counts entries that the glossary cannot hold.

    Attributes:
        places: where each sense is in the file.
        columns: those of a table, with the field that each holds.
        notices: what was understood differently from what is written.
        problems, rejected: what is wrong, and the entries left out for it; a file with problems is only returned if
            it is read in part.
        unchanged: number of senses that are stored as the file has them, and need no right to change them.
    """

    senses: list[SenseInput]
    contexts: list[ContextInput] = field(default_factory=list)
    ignored: Mapping[str, int] = field(default_factory=dict)
    places: list[Place] = field(default_factory=list)
    columns: list[ColumnUse] = field(default_factory=list)
    notices: list[RowProblem] = field(default_factory=list)
    problems: list[RowProblem] = field(default_factory=list)
    rejected: list[RejectedRow] = field(default_factory=list)
    unchanged: int = 0


class GlossaryFileBuilder:
    """Collects a file's entries and problems, so that every problem is reported at once.

    Entries about the same sense or context extend each other; where they contradict, the first counts.
    """

    def __init__(self, name: str, options: ReadOptions) -> None:
        self.name = name
        self.most = options.most_senses
        self.problems: list[RowProblem] = []
        self.notices: list[RowProblem] = []
        self.rejected: list[RejectedRow] = []
        self.senses: list[SenseInput] = []
        self.contexts: dict[str, ContextInput] = {}
        self.columns: list[ColumnUse] = []
        self.ignored: Counter[str] = Counter()
        self._partial = options.partial
        self._places: list[Place] = []
        self._named: dict[str, Place] = {}

    def problem(self, where: Place, message: str, column: str = "", cells: Sequence[str] = ()) -> None:
        found = make_problem(where, message, column)
        self.problems.append(found)
        self.reject(found, cells)

    def notice(self, where: Place, message: str, column: str = "") -> None:
        self.notices.append(make_problem(where, message, column))

    def reject(self, found: RowProblem, cells: Sequence[str] = (), sense: SenseInput | None = None) -> None:
        """Return an entry to the person who imports the file, with the reason."""
        reason = f"{found.column}: {found.message}" if found.column else found.message
        place = found.where or (f"row {found.row}" if found.row else "")
        self.rejected.append(RejectedRow(place, reason, tuple(cells), sense))

    def unite_rejected(self, first: int, sense: SenseInput) -> None:
        """Return one entry with all its reasons instead of one for each, from the entry number `first`."""
        found = self.rejected[first:]
        if found:
            reason = "; ".join(one.reason for one in found)
            self.rejected[first:] = [RejectedRow(found[0].place, reason, sense=sense)]

    def add_sense(self, where: Place, sense_input: SenseInput, cells: Sequence[str] = ()) -> None:
        sense_input, removed = remove_control_characters(sense_input)
        for column, message in removed:
            self.notice(where, message, column)
        found = find_problems(sense_input)
        for column, message in found:
            self.problems.append(make_problem(where, message, column))
        if found:
            reason = "; ".join(f"{column}: {message}" if column else message for column, message in found)
            self.reject(make_problem(where, reason, ""), cells, None if cells else sense_input)
            return
        self.senses.append(trim(sense_input))
        self._places.append(where)
        # After each one, rather than at the end: a file that is far too large must not be gathered first.
        refuse_many(self.senses, self.name, self.most)

    def add_context(self, where: Place, context_input: ContextInput) -> None:
        context_input, removed = remove_control_characters(context_input)
        for column, message in removed:
            self.notice(where, message, column)
        name = context_input.name.strip()
        if not is_context_name(name) or len(name) > MAX_TERM_CHARS:
            rule = f"use 1 to {MAX_TERM_CHARS} characters, and not '*', which stands for every context"
            self.problem(where, f"{name[:80]!r} cannot name a context; {rule}", "name")
        elif not all(
            map(
                is_storable,
                (name, context_input.description or "", context_input.contact or "", *(context_input.audience or ())),
            )
        ):
            self.problem(where, f"the context {name!r} holds half of a surrogate pair, which is no character")
        elif context_input.says_something:
            self._take_context(where, replace(context_input, name=name))

    def _take_context(self, where: Place, context_input: ContextInput) -> None:
        """Merge an entry's fields of a context into those of earlier entries."""
        key = normalise(context_input.name)
        known = self.contexts.get(key)
        if known is None:
            self.contexts[key], self._named[key] = context_input, where
            refuse_many(self.contexts, self.name, self.most)
            return
        values: dict[str, Any] = {}
        for name in ("description", "contact", "audience"):
            before, value = getattr(known, name), getattr(context_input, name)
            if None not in (before, value) and before != value:
                if name == "description":
                    before = join_texts((before, value))
                else:
                    there = (before, self._named[key])
                    self.notices.append(describe_contradiction(name, (value, where), there, "context"))
            # None: the earlier entries do not mention it.
            values[name] = value if before is None else before
        self.contexts[key] = replace(known, **values)

    def finish(self) -> GlossaryFile:
        """Return the glossary that was gathered.

        Raises:
            InvalidGlossary: there were problems, and the file is not read in part.
        """
        if self.problems and not self._partial:
            raise InvalidGlossary(self.name, self.problems)
        senses, places, contradictions = unite_entries(self.senses, self._places)
        notices = [*self.notices, *contradictions, *tell_duplicate_definitions(senses, places)]
        return GlossaryFile(
            senses, list(self.contexts.values()), dict(self.ignored.most_common()), places, self.columns, notices,
            self.problems, self.rejected,
        )  # fmt: skip


def make_problem(where: Place, message: str, column: str = "") -> RowProblem:
    return RowProblem(where, column, message) if isinstance(where, int) else RowProblem(0, column, message, where)


def refuse(name: str, message: str, where: str = "") -> InvalidGlossary:
    """Return the error that refuses a file for one reason."""
    return InvalidGlossary(name, [RowProblem(0, "", message, where)])


def refuse_many(found: Sized, name: str, most: int) -> None:
    """Refuse a file that has more senses or contexts than `most`.

    Raises:
        InvalidGlossary: a file may not contain this many senses or contexts.
    """
    if len(found) > most:
        raise refuse(name, f"it holds more than {most:,} entries; split it, or raise the setting max_glossary_senses")


def decode_utf8(data: bytes, name: str) -> str:
    """Return the text of a file that has to be UTF-8; UTF-16 with its mark is accepted as well.

    Raises:
        InvalidGlossary: it is neither.
    """
    # Windows programs save "Unicode" as UTF-16.
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte {error.start + 1} is not {encoding.removesuffix('-sig').upper()}; save the file as UTF-8"
        raise refuse(name, message, f"line {line}") from error
