"""The small files of a knowledge base that backups and moves include: profiles, and adopted models."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from argot.service.storage import home_folder as layout

MEMBER = (
    r"profiles/[a-z0-9-]{1,60}\.toml"
    # Models in use, and the trainings' records and results; not their pairs, checkpoints and models, which are large.
    r"|learning/adopted\.json|learning/models/[A-Za-z0-9_-]{1,60}(?:/[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}){1,4}"
    r"|learning/runs/r[0-9]{1,9}/(?:request|state|card)\.json|learning/runs/r[0-9]{1,9}/progress\.jsonl"
    r"|learning/tunings/t[0-9]{1,9}\.json"
)
_MEMBER = re.compile(MEMBER)


def list_kept_members(home: Path) -> Iterator[str]:
    """Return their names, as paths below the folder, in order."""
    folders = (layout.PROFILES, layout.LEARNING_FOLDER)
    for path in sorted(path for folder in folders for path in (home / folder).rglob("*")):
        name = path.relative_to(home).as_posix()
        # Links are left out, because they would add files from elsewhere.
        if path.is_file() and not path.is_symlink() and _MEMBER.fullmatch(name) and not _is_of_unfinished(path):
            yield name


def _is_of_unfinished(path: Path) -> bool:
    """Return whether the file belongs to an unfinished training, which could not continue without its pairs."""
    return path.parent.parent.name == "runs" and not (path.parent / "card.json").exists()
