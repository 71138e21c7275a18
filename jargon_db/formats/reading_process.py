"""The process of `isolated_reader`: reads one glossary file, tells what it says, and ends."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from argot.errors import InvalidGlossary, RowProblem
from argot.jargon_db.formats.format_registry import read_file
from argot.jargon_db.formats.glossary_file import GlossaryFile, ReadOptions
from argot.jargon_db.formats.isolated_reader import list_of_sense

_BATCH = 500
_MEGABYTE = 1_000_000


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    # A library that prints must not write into the answers.
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)

    def tell(**line: Any) -> None:
        answers.write(json.dumps(line, separators=(",", ":")) + "\n")

    tell()
    answers.flush()
    job = json.loads(sys.stdin.buffer.readline())
    data = sys.stdin.buffer.read(job["size"])
    options = ReadOptions(**{**job["options"], "bounded": True})
    bound_time(options.seconds)
    bound_memory(options.memory_mb * _MEGABYTE)
    try:
        for line in _lines(data, job["name"], job["format"], options):
            tell(**line)
    except MemoryError:
        bound_memory(None)
        tell(exhausted=True)
    answers.flush()
    os._exit(0)  # taking everything apart would take seconds


def _lines(data: bytes, name: str, format: str, options: ReadOptions) -> Iterator[dict[str, Any]]:
    try:
        found = read_file(data, name, format, options)
    except InvalidGlossary as error:
        for problems in _batches(error.problems):
            yield {"problems": [_problem(one) for one in problems]}
    else:
        yield from _said(found)
    yield {"end": True}


def _said(found: GlossaryFile) -> Iterator[dict[str, Any]]:
    for senses in _batches(found.senses):
        yield {"senses": [list_of_sense(one) for one in senses]}
    for one in found.contexts:
        audience = None if one.audience is None else sorted(one.audience)
        yield {"contexts": [[one.name, one.description, one.contact, audience]]}
    yield {"ignored": found.ignored}


def _problem(one: RowProblem) -> list[Any]:
    return [one.row, one.column, one.message, one.where]


def _batches(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (items[first : first + _BATCH] for first in range(0, len(items), _BATCH))


def bound_time(seconds: float) -> None:
    """The kernel ends this process after so much of the processor's time: a busy machine makes no file too long."""
    try:
        import resource
    except ImportError:
        return
    spent = resource.getrusage(resource.RUSAGE_SELF)
    most = math.ceil(spent.ru_utime + spent.ru_stime + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))


def bound_memory(extra: int | None) -> None:
    """Bounds what is allocated from now on, in bytes; None lifts the bound. Systems without such bounds go without."""
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = hard
    if extra is not None:  # lifting the bound needs memory for nothing: there is none
        statm = Path("/proc/self/statm")
        used = int(statm.read_text().split()[0]) * resource.getpagesize() if statm.exists() else 0
        soft = used + extra
    if hard != resource.RLIM_INFINITY:
        soft = min(soft, hard)
    if sys.platform.startswith("linux"):
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


if __name__ == "__main__":
    main()
