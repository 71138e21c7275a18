"""The process of `isolated_reader`: reads one glossary file, reports its content, and ends."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from argot.errors import InvalidGlossary, RowProblem
from argot.jargon_db.formats.format_registry import read_file
from argot.jargon_db.formats.glossary_file import GlossaryFile, ReadOptions, RejectedRow
from argot.jargon_db.formats.isolated_reader import list_of_sense
from argot.subprocesses import Parent, limit_resources

# Small enough that the parent parses one in a moment.
_BATCH = 500
_MEGABYTE = 1_000_000


def main() -> None:
    parent = Parent()

    def tell(**line: Any) -> None:
        parent.send(json.dumps(line, separators=(",", ":")).encode())

    for message, data in parent.messages():
        job = json.loads(message)
        # With limits: here readers that may take unbounded time and memory can be used.
        options = ReadOptions(**{**job["options"], "bounded": True})
        try:
            with limit_resources(options.seconds, options.memory_mb * _MEGABYTE):
                for line in _report_lines(data, job["name"], job["format"], options):
                    tell(**line)
        except MemoryError:
            # The limits are lifted by now, so that this can be reported.
            tell(exhausted=True)


def _report_lines(data: bytes, name: str, format: str, options: ReadOptions) -> Iterator[dict[str, Any]]:
    try:
        found = read_file(data, name, format, options)
    except InvalidGlossary as error:
        for problems in _split_batches(error.problems):
            yield {"problems": [_encode_problem(one) for one in problems], "refused": True}
    else:
        yield from _report_contents(found)
    # Also after problems: the parent reads until this message.
    yield {"end": True}


def _report_contents(found: GlossaryFile) -> Iterator[dict[str, Any]]:
    for senses in _split_batches(found.senses):
        yield {"senses": [list_of_sense(one) for one in senses]}
    for one in found.contexts:
        audience = None if one.audience is None else sorted(one.audience)
        yield {"contexts": [[one.name, one.description, one.contact, audience]]}
    yield {"ignored": found.ignored}
    yield {"columns": [[one.header, one.field, one.how, one.samples, one.sheet] for one in found.columns]}
    for places in _split_batches(found.places):
        yield {"places": places}
    for name in ("notices", "problems"):
        for some in _split_batches(getattr(found, name)):
            yield {name: [_encode_problem(one) for one in some]}
    for rows in _split_batches(found.rejected):
        yield {"rejected": [_encode_row(one) for one in rows]}


def _encode_row(one: RejectedRow) -> list[Any]:
    return [one.place, one.reason, one.cells, one.sense and list_of_sense(one.sense)]


def _encode_problem(one: RowProblem) -> list[Any]:
    return [one.row, one.column, one.message, one.where]


def _split_batches(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (items[first : first + _BATCH] for first in range(0, len(items), _BATCH))


if __name__ == "__main__":
    main()
