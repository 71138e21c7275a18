"""Putting a backup in the place of a knowledge base, such that a crash leaves either the old or the new one.

Everything is unpacked and checked beside the old stores first; a marker then says that it is complete, and from there
on the exchange is repeated by whoever opens the folder next, until it is done. The unpacked folder is renamed then, so
that what is left of it to remove is not taken for a restore that never began.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection
from pathlib import Path

from argot.files import flush_folder, write_atomically
from argot.remedies import reindex_command
from argot.service.storage import home_folder as layout

SCRATCH = layout.RESTORING
ENDED = layout.RESTORED
COMPLETE = "complete"
PARTS = (*layout.DATABASES, layout.BLOBS, layout.PROFILES, layout.LEARNING_FOLDER)


def make_staging_folder(home: Path) -> Path:
    """An empty folder on the same file system, to unpack into."""
    scratch = home / SCRATCH
    # Of a restore that was killed while it unpacked.
    if scratch.exists():
        shutil.rmtree(scratch)
    scratch.mkdir(mode=0o700)
    return scratch


def mark_complete(home: Path, parts: Collection[str]) -> None:
    """Have the new stores count from here on. `parts` are those the backup holds; the others will be gone."""
    write_atomically(home / SCRATCH / COMPLETE, json.dumps(sorted(parts)))


def cut_off(home: Path) -> bool:
    """Return whether a restore was begun here and not brought to its end; it may be going on just now."""
    return (home / SCRATCH).exists() or (home / ENDED).exists()


def finish_restore(home: Path) -> str:
    """Bring a restore to its end that was cut off: all the way if everything was unpacked, else as if never begun.

    To be called with the lock held; says which of the two it was. The vectors are not part of a backup: they are gone
    afterwards, and the corpus says so at its next start.
    """
    scratch, ended = home / SCRATCH, home / ENDED
    completed = ended.exists()
    if (complete := scratch / COMPLETE).exists():
        remove_path(ended)
        _exchange_parts(home, scratch, set(json.loads(complete.read_text(encoding="utf-8"))))
        # Written anew: the marker of the old knowledge base notes stores that the backup may not have.
        layout.write_marker(home)
        # With one rename the restore is over: from here on a crash leaves only something to remove.
        scratch.rename(ended)
        flush_folder(home)
        completed = True
    remove_path(scratch)
    remove_path(ended)
    return _COMPLETED.format(home=home, reindex=reindex_command(home)) if completed else _TAKEN_BACK.format(home=home)


_COMPLETED = "A restore that was cut off was completed: {home} holds the backup. If vectors are missing: {reindex}"
_TAKEN_BACK = "A restore that was cut off was undone: {home} is as it was before. Start it again"


def _exchange_parts(home: Path, scratch: Path, parts: set[str]) -> None:
    """Put the new parts in the place of the old ones; may be repeated after a crash, until it is done."""
    # They belong to the old documents; kept, searches would find passages that are gone.
    remove_path(home / layout.VECTORS)
    for name in PARTS:
        # What is neither here nor missing from the backup was moved into place before a crash: it stays.
        if (scratch / name).exists() or name not in parts:
            # With its log: SQLite would apply the old store's to the new file.
            for old in (name, f"{name}-wal", f"{name}-shm"):
                remove_path(home / old)
        if (scratch / name).exists():
            (scratch / name).rename(home / name)
    flush_folder(home)


def remove_path(path: Path) -> None:
    """Remove a file or folder, or do nothing if it is not there."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
