"""A measurement of the words in a folder's files: read, left out by a rule, or lost, with or without a warning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.ledger import Ledger
from argot.errors import InvalidInput, UnreadableDocument
from argot.evaluate.ledger_process import LedgerProcess

Progress = Callable[[str, int, int], None]
LOSSES = {"reader": "told by its reader", "ledger": "told by the ledger", "": "without a warning"}
"""What warns about lost words -> its description in reports."""
_MAX_PLACES = 20
"""The most places of lost words that the JSON report lists for one file."""


@dataclass(frozen=True, slots=True)
class FileReading:
    """A file that was read, or that was refused for a reason.

    Attributes:
        name: its path below the folder.
        format: its suffix in lower case.
    """

    name: str
    format: str
    ledger: Ledger = field(default_factory=Ledger)
    warnings: tuple[str, ...] = ()
    refusal: str = ""

    @property
    def is_read(self) -> bool:
        return not self.refusal

    def to_json(self) -> dict[str, Any]:
        if self.refusal:
            return {"name": self.name, "format": self.format, "refusal": self.refusal}
        shown = sorted(self.ledger.lost, key=lambda one: -one.words)[:_MAX_PLACES]
        return {
            "name": self.name,
            "format": self.format,
            **WordCounts.of([self]).to_json(),
            "lost": [
                {"place": one.place, "kind": one.kind, "words": one.words, "told_by": one.told_by or None,
                 "examples": one.examples}
                for one in shown
            ],
            "warnings": list(self.warnings),
            "not_counted": self.ledger.shortfall or None,
        }  # fmt: skip


@dataclass(slots=True)
class WordCounts:
    """The numbers of words in some files. `held`, the words in the files, is the sum of all the others."""

    held: int = 0
    kept: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    """By what warns about them, a key of `LOSSES`."""

    @classmethod
    def of(cls, files: Sequence[FileReading]) -> WordCounts:
        """Return the sum of the words of files."""
        counts = cls()
        for one in files:
            counts.held += one.ledger.held
            counts.kept += one.ledger.kept
            counts.left_out.update(one.ledger.left_out)
            for lost in one.ledger.lost:
                counts.lost[lost.told_by] += lost.words
        return counts

    def to_json(self) -> dict[str, Any]:
        return {
            "words": self.held,
            "kept": self.kept,
            "left_out": dict(self.left_out.most_common()),
            "lost_words": {meaning: self.lost[teller] for teller, meaning in LOSSES.items()},
        }


@dataclass(frozen=True, slots=True)
class ReadingReport:
    """All files of a folder, in the order of their names."""

    name: str
    files: Sequence[FileReading]

    def group_by_format(self) -> dict[str, list[FileReading]]:
        """Return the files of each format, and all of them last."""
        formats = sorted({one.format for one in self.files})
        return {**{name: [one for one in self.files if one.format == name] for name in formats}, "all": [*self.files]}

    def list_worst(self, number: int) -> list[FileReading]:
        """Return the files that lost the largest share of their words."""
        lost = [one for one in self.files if one.ledger.lost_words]
        return sorted(lost, key=lambda one: -one.ledger.lost_words / max(1, one.ledger.held))[:number]

    def count_lost_by_kind(self) -> dict[tuple[str, str], Counter[str]]:
        """Return the lost words of each format and kind, by the warning about them."""
        counts: dict[tuple[str, str], Counter[str]] = {}
        for file in self.files:
            for lost in file.ledger.lost:
                counts.setdefault((file.format, lost.kind), Counter())[lost.told_by] += lost.words
        return dict(sorted(counts.items(), key=lambda one: -one[1].total()))

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "formats": {
                name: {
                    "files": len(files),
                    "refused": sum(not one.is_read for one in files),
                    **WordCounts.of(files).to_json(),
                }
                for name, files in self.group_by_format().items()
            },
            "files": [one.to_json() for one in self.files],
        }


def evaluate_reading(folder: Path, limits: ReadLimits, progress: Progress) -> ReadingReport:
    """Read every file of a folder and its subfolders, each in a process with limits. An unreadable file stops nothing.

    Raises:
        InvalidInput: the folder does not exist, or has no file.
    """
    paths = sorted(_list_files(folder))
    if not paths:
        raise InvalidInput(f"{folder} holds no file. Name a folder of the documents to measure.")
    files = []
    with LedgerProcess() as process:
        for number, path in enumerate(paths):
            progress("files", number, len(paths))
            files.append(_read_file(process, path, str(path.relative_to(folder)), limits))
    progress("files", len(paths), len(paths))
    return ReadingReport(folder.name, files)


def _list_files(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        raise InvalidInput(f"{folder} is no folder. Name a folder of the documents to measure.")
    for path in folder.rglob("*"):
        # A link could lead anywhere, and reading a named pipe would never end.
        if path.is_file() and not path.is_symlink() and not path.name.startswith("."):
            yield path


def _read_file(process: LedgerProcess, path: Path, name: str, limits: ReadLimits) -> FileReading:
    suffix = path.suffix.lower() or "(none)"
    try:
        # Check the size before loading: the file may be larger than the memory.
        limits.check_size(path.stat().st_size, path.name)
        ledger, warnings = process.build_ledger(path.read_bytes(), path.name, limits)
    except UnreadableDocument as error:
        return FileReading(name, suffix, refusal=error.reason)
    except OSError as error:
        return FileReading(name, suffix, refusal=f"cannot be opened: {error.strerror}")
    return FileReading(name, suffix, ledger, warnings)
