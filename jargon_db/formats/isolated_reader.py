"""Reads a glossary file of strangers in a process with bounds on time and memory, which is ended when it exceeds them.

One process for one file. It is started by the interpreter's own command line and not by `multiprocessing`, which would
run the caller's main module again. What comes back are lines of JSON, so that this process never stands still over
a long one; nothing is unpickled.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from argot.errors import InvalidGlossary, RowProblem
from argot.jargon_db.formats.glossary_file import ContextInput, GlossaryFile, ReadOptions, refuse
from argot.jargon_db.store.inputs import SenseInput

_START_SECONDS = 60.0
_PATIENCE = 5
"""The process may take so many times its seconds of the processor's time by the clock, where others work beside it."""
_REMEDY = "Save it as CSV or JSON, which take far less, split it, or"


def read_glossary_in_child(data: bytes, name: str, format: str, options: ReadOptions) -> GlossaryFile:
    """Raises:
    InvalidGlossary: as the readers do; and when the file takes more time or memory than it may.
    """
    job = {"name": name, "format": format, "size": len(data), "options": asdict(options)}
    # -P: a file named like a library, in the folder Argot is started in, must not be imported.
    command = [sys.executable, "-P", "-m", "argot.jargon_db.formats.reading_process"]
    process = subprocess.Popen(  # noqa: S603  (no shell, nothing of the user's in it)
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    watch = _Watch(process)
    try:
        found = _Found()
        with suppress(BrokenPipeError):
            for line in _answers(process, watch, job, data, options.seconds):
                found.take(line)
        return _outcome(found, process, watch, name, options)
    finally:
        watch.cancel()
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                pipe.close()  # type: ignore[union-attr]


class _Watch:
    """Ends a process when its time is up."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._timer: threading.Timer | None = None
        self.rang = False

    def set(self, seconds: float) -> None:
        self.cancel()
        self._timer = threading.Timer(seconds, self._ring)
        self._timer.daemon = True
        self._timer.start()

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _ring(self) -> None:
        self.rang = True
        self._process.kill()


class _Found:
    """What the process has told so far; `ended` when it has told all."""

    def __init__(self) -> None:
        self.senses: list[SenseInput] = []
        self.contexts: list[ContextInput] = []
        self.ignored: dict[str, int] = {}
        self.problems: list[RowProblem] = []
        self.exhausted = False
        self.ended = False

    def take(self, line: dict[str, Any]) -> None:
        self.senses += [sense_of_list(one) for one in line.get("senses", ())]
        self.contexts += [_context(*one) for one in line.get("contexts", ())]
        self.problems += [RowProblem(*one) for one in line.get("problems", ())]
        self.ignored |= line.get("ignored", {})
        self.exhausted = self.exhausted or "exhausted" in line
        self.ended = self.ended or "end" in line


def _answers(
    process: subprocess.Popen[bytes], watch: _Watch, job: dict[str, Any], data: bytes, seconds: float
) -> Iterator[dict[str, Any]]:
    assert process.stdin is not None and process.stdout is not None
    watch.set(_START_SECONDS)
    process.stdout.readline()  # it is ready; what comes now counts
    watch.set(_PATIENCE * seconds)
    process.stdin.write(json.dumps(job).encode() + b"\n")
    process.stdin.write(data)
    process.stdin.close()
    for line in process.stdout:
        yield json.loads(line)


def _outcome(
    found: _Found, process: subprocess.Popen[bytes], watch: _Watch, name: str, options: ReadOptions
) -> GlossaryFile:
    if not found.ended and (watch.rang or process.wait() == -signal.SIGXCPU):
        why = f"reading it took longer than {options.seconds:g} seconds"
        raise refuse(name, f"{why}. {_REMEDY} set ARGOT_PARSE_SECONDS to allow more")
    if not found.ended:
        why = f"reading it took more than {options.memory_mb} MB of memory"
        if not found.exhausted:
            why = "its reader ended before it was done"
        raise refuse(name, f"{why}. {_REMEDY} set ARGOT_PARSE_MEMORY_MB to allow more")
    if found.problems:
        raise InvalidGlossary(name, found.problems)
    return GlossaryFile(found.senses, found.contexts, found.ignored)


def sense_of_list(values: list[Any]) -> SenseInput:
    """The other way round of `list_of_sense`."""
    term, context, expansion, description, notes, aliases, owner, status, audience, review_by = values
    return SenseInput(
        term,
        context,
        expansion,
        description,
        notes,
        None if aliases is None else tuple(aliases),
        owner,
        status,
        None if audience is None else frozenset(audience),
        review_by,
    )


def list_of_sense(given: SenseInput) -> list[Any]:
    return [
        given.term,
        given.context,
        given.expansion,
        given.description,
        given.notes,
        given.aliases,
        given.owner,
        given.status,
        None if given.audience is None else sorted(given.audience),
        given.review_by,
    ]


def _context(name: str, description: str | None, contact: str | None, audience: list[str] | None) -> ContextInput:
    return ContextInput(name, description, contact, None if audience is None else frozenset(audience))
