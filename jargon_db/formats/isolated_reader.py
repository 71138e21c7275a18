"""Reads an untrusted glossary file in a process with limits on time and memory, which is ended when it exceeds them.

Each file has its own process. The result is JSON in many messages, so that this process is never blocked by a long one.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from argot.errors import InvalidGlossary, RowProblem
from argot.jargon_db.formats.column_use import ColumnUse
from argot.jargon_db.formats.duplicates import Place
from argot.jargon_db.formats.glossary_file import ContextInput, GlossaryFile, ReadOptions, RejectedRow, refuse
from argot.jargon_db.store.details import list_values
from argot.jargon_db.store.inputs import SenseInput
from argot.subprocesses import Child, ChildFailed
from argot.types import Label, Relation

_GRACE_SECONDS = 5
"""Wall-clock limit, in multiples of the process's CPU seconds: other work may run beside it."""
_REMEDY = "Save it as CSV or JSON, which take far less, split it, or"


def read_glossary_in_child(data: bytes, name: str, format: str, options: ReadOptions) -> GlossaryFile:
    """Read a glossary file in a child process with limits.

    Raises:
        InvalidGlossary: as the readers do; and when the file exceeds its limit of time or memory.
    """
    job = {"name": name, "format": format, "options": asdict(options)}
    found = _ChildOutput()
    try:
        with Child("argot.jargon_db.formats.reading_process") as child:
            # Wall-clock time; the child limits its own processor time.
            child.send(json.dumps(job).encode(), data, seconds=_GRACE_SECONDS * options.seconds)
            while not (found.ended or found.exhausted):
                # Message by message: parsing one long JSON would block every other thread.
                found.take(json.loads(child.receive()[0]))
    except ChildFailed as failure:
        raise _explain_failure(failure, name, options) from failure
    # Before the problems: an aborted child has not reported all of them.
    if found.exhausted:
        raise _build_size_error(f"reading it took more than {options.memory_mb} MB of memory", name)
    if found.is_refused:
        raise InvalidGlossary(name, found.problems)
    return GlossaryFile(
        found.senses, found.contexts, found.ignored, found.places, found.columns, found.notices, found.problems,
        found.rejected,
    )  # fmt: skip


class _ChildOutput:
    """The child's output so far; `ended` once it is complete."""

    def __init__(self) -> None:
        self.senses: list[SenseInput] = []
        self.contexts: list[ContextInput] = []
        self.ignored: dict[str, int] = {}
        self.places: list[Place] = []
        self.columns: list[ColumnUse] = []
        self.notices: list[RowProblem] = []
        self.problems: list[RowProblem] = []
        self.rejected: list[RejectedRow] = []
        self.is_refused = False
        self.exhausted = False
        self.ended = False

    def take(self, line: dict[str, Any]) -> None:
        self.senses += [parse_sense_list(one) for one in line.get("senses", ())]
        self.contexts += [_parse_context(*one) for one in line.get("contexts", ())]
        self.places += line.get("places", ())
        self.columns += [ColumnUse(one[0], one[1], one[2], tuple(one[3]), one[4]) for one in line.get("columns", ())]
        self.notices += [RowProblem(*one) for one in line.get("notices", ())]
        self.problems += [RowProblem(*one) for one in line.get("problems", ())]
        self.rejected += [
            RejectedRow(place, reason, tuple(cells), sense and parse_sense_list(sense))
            for place, reason, cells, sense in line.get("rejected", ())
        ]
        self.is_refused = self.is_refused or "refused" in line
        self.ignored |= line.get("ignored", {})
        self.exhausted = self.exhausted or "exhausted" in line
        self.ended = self.ended or "end" in line


def _explain_failure(failure: ChildFailed, name: str, options: ReadOptions) -> InvalidGlossary:
    if failure.how == "time":
        why = f"reading it took longer than {options.seconds:g} seconds"
        return refuse(name, f"{why}. {_REMEDY} set ARGOT_PARSE_SECONDS to allow more")
    return _build_size_error("its reader ended before it was done", name)


def _build_size_error(why: str, name: str) -> InvalidGlossary:
    return refuse(name, f"{why}. {_REMEDY} set ARGOT_PARSE_MEMORY_MB to allow more")


def parse_sense_list(values: list[Any]) -> SenseInput:
    """Parse the output of `list_of_sense`."""
    term, context, expansion, description, notes, aliases, owner, status, audience, review_by, *details = values
    labels, relations, source, example, concept = details or (None,) * 5
    return SenseInput(
        term,
        context,
        expansion,
        description,
        notes,
        # None differs from empty: it leaves the glossary's value unchanged.
        None if aliases is None else tuple(aliases),
        owner,
        status,
        None if audience is None else frozenset(audience),
        review_by,
        None if labels is None else tuple(Label(*one) for one in labels),
        None if relations is None else tuple(Relation(*one) for one in relations),
        source,
        example,
        concept,
    )


def list_of_sense(sense_input: SenseInput) -> list[Any]:
    details: list[Any] = [
        None if sense_input.labels is None else [list_values(one) for one in sense_input.labels],
        None if sense_input.relations is None else [list_values(one) for one in sense_input.relations],
        sense_input.source,
        sense_input.example,
        sense_input.concept,
    ]
    return [
        sense_input.term,
        sense_input.context,
        sense_input.expansion,
        sense_input.description,
        sense_input.notes,
        sense_input.aliases,
        sense_input.owner,
        sense_input.status,
        None if sense_input.audience is None else sorted(sense_input.audience),
        sense_input.review_by,
        *(details if any(one is not None for one in details) else ()),
    ]


def _parse_context(name: str, description: str | None, contact: str | None, audience: list[str] | None) -> ContextInput:
    return ContextInput(name, description, contact, None if audience is None else frozenset(audience))
