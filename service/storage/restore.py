"""Restoring a backup over a knowledge base, such that a crash leaves either the old or the new one.

Everything is unpacked and checked beside the old stores first; a marker then says that it is complete, and from there
on the next process that opens the folder repeats the exchange until it is done. The unpacked folder is renamed then, so
that its remains are not mistaken for a restore that never began.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection
from pathlib import Path

from argot.files import flush_folder, write_atomically
from argot.remedies import reindex_command
from argot.service.storage import home_folder as layout
from argot.service.storage.home_lock import PATIENCE_SECONDS, take_lock

SCRATCH = layout.RESTORING
ENDED = layout.RESTORED
COMPLETE = "complete"
PARTS = (*layout.DATABASES, layout.BLOBS, layout.PROFILES, layout.LEARNING_FOLDER)


def make_staging_folder(home: Path) -> Path:
    """Create an empty folder on the same file system, to unpack into."""
    scratch = home / SCRATCH
    # From a restore that was killed while unpacking.
    if scratch.exists():
        shutil.rmtree(scratch)
    scratch.mkdir(mode=0o700)
    return scratch


def mark_complete(home: Path, parts: Collection[str]) -> None:
    """Make the new stores count from here on. `parts` are those in the backup; the others will be removed."""
    write_atomically(home / SCRATCH / COMPLETE, json.dumps(sorted(parts)))


def cut_off(home: Path) -> bool:
    """Return whether a restore was begun here and not completed; it may be running now."""
    return (home / SCRATCH).exists() or (home / ENDED).exists()


def finish_restore(home: Path) -> str:
    """Complete an interrupted restore if everything was unpacked, else undo it.

    Call it with the lock held; it returns which of the two it was. The vectors are not part of a backup: they are
    removed, and the corpus reports that at its next start.
    """
    scratch, ended = home / SCRATCH, home / ENDED
    completed = ended.exists()
    if (complete := scratch / COMPLETE).exists():
        remove_path(ended)
        _exchange_parts(home, scratch, set(json.loads(complete.read_text(encoding="utf-8"))))
        # Written again: the marker of the old knowledge base records stores that the backup may not have.
        layout.write_marker(home)
        # One rename ends the restore: from here on a crash leaves only files to remove.
        scratch.rename(ended)
        flush_folder(home)
        completed = True
    remove_path(scratch)
    remove_path(ended)
    return _COMPLETED.format(home=home, reindex=reindex_command(home)) if completed else _TAKEN_BACK.format(home=home)


_COMPLETED = "A restore that was cut off was completed: {home} holds the backup. If vectors are missing: {reindex}"
_TAKEN_BACK = "A restore that was cut off was undone: {home} is as it was before. Start it again"


def finish_interrupted_restore(home: Path, patience: float = PATIENCE_SECONDS) -> str:
    """Complete an interrupted restore, and report its outcome; empty if there was none.

    Raises:
        KnowledgeBaseBusy
    """
    if not cut_off(home):
        return ""
    lock = take_lock(home, patience)
    try:
        return finish_restore(home)
    finally:
        lock.release()


def _exchange_parts(home: Path, scratch: Path, parts: set[str]) -> None:
    """Replace the old parts by the new ones; repeatable after a crash, until it is done."""
    # They belong to the old documents; if kept, searches would find deleted passages.
    remove_path(home / layout.VECTORS)
    for name in PARTS:
        # A part that is neither here nor missing from the backup was moved into place before a crash: it stays.
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
