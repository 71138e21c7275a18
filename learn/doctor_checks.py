"""Checks of the trainings, for `argot doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from argot.learn.run_folder import list_damaged_runs, list_run_folders
from argot.remedies import quote_shell
from argot.service.maintenance.findings import Finding, make_bad_finding, make_good_finding
from argot.service.storage.home_folder import LEARNING_FOLDER, RUNS


def check_trainings(home: Path) -> Iterator[Finding]:
    """Tell how much room the trainings of a knowledge base take up, and which of them cannot be read."""
    if (folder := home / LEARNING_FOLDER).is_dir():
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
        yield make_good_finding(
            "trainings", f"{len(list_run_folders(home / RUNS))} with their models, {size / 1e6:.1f} MB in {folder}"
        )
    for run in list_damaged_runs(home / RUNS):
        remedy = (
            f"mend the file, or: mv {quote_shell(run.path)} {quote_shell(run.path.with_name(f'.damaged-{run.id}'))}"
        )
        yield make_bad_finding(f"training {run.id}", run.fault, remedy)
