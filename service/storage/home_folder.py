"""The folder of a knowledge base: its layout, its recognition, its creation."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from argot import __version__
from argot.clock import timestamp
from argot.errors import DamagedStore, InvalidInput, NotFound
from argot.files import write_atomically
from argot.kept_files import PROFILES_FOLDER
from argot.remedies import UPDATE, init_command, quote_shell, restore_command

MARKER = "knowledge_base.json"
FORMAT = 1
CORPUS = "corpus.db"
GLOSSARY = "glossary.db"
PEOPLE = "people.db"
THREADS = "threads.db"
RATINGS = "ratings.db"
LEARNING = "learning.db"
EVALUATIONS = "evaluations.db"
DATABASES = (CORPUS, GLOSSARY, PEOPLE, THREADS, RATINGS, LEARNING, EVALUATIONS)
BLOBS = "blobs"
PROFILES = PROFILES_FOLDER
MAX_PATH = 440
"""Bytes of the folder's path: SQLite takes 512 for a file's, and those of the vectors add a few."""
VECTORS = "vectors"
LEARNING_FOLDER = "learning"
RESTORING, RESTORED = ".restoring", ".restored"
"""A backup that is being restored, and one that has been (`argot.service.storage.restore`)."""
RUNS = f"{LEARNING_FOLDER}/runs"
"""The trainings, each a folder (`argot.learn.run_folder`)."""
TUNINGS = f"{LEARNING_FOLDER}/tunings"
"""The tunings, each a file (`argot.learn.tuning_plan`)."""


def is_knowledge_base(home: Path) -> bool:
    """Return whether the marker or any of the stores exists; a lost marker alone must not hide a knowledge base."""
    return any((home / name).exists() for name in (MARKER, *DATABASES))


def is_scratch(name: str) -> bool:
    """Return whether a file or folder belongs to a process that has the folder, or had it and was killed."""
    return name in ("lock", "owner.json", RESTORING, RESTORED) or name.startswith((".owner.json.", f".{MARKER}."))


def require(home: Path) -> None:
    """Refuse a folder without a knowledge base, or with one of a newer Argot.

    Raises:
        NotFound, InvalidInput, DamagedStore
    """
    if home.exists() and not home.is_dir():
        raise InvalidInput(f"{home} is a file. A knowledge base is a folder: give another --home.")
    for name in (MARKER, *DATABASES):
        if (home / name).exists() and not (home / name).is_file():
            raise DamagedStore(f"{home / name} is not a file. Move it away: {restore_command(home)}")
    if not is_knowledge_base(home):
        raise NotFound(f"There is no knowledge base in {home}. Make one with: {init_command(home)}")
    _check_format(home)


def create(home: Path) -> bool:
    """Create the folder (readable only by its owner) and its marker. Return True if it is new; an existing one is
    unchanged.

    Raises:
        InvalidInput: the folder has other content, or cannot be created.
    """
    # Before other files in it are reported: an existing one is no foreign folder.
    if is_knowledge_base(home):
        _check_format(home)
        return False
    _check_path(home)
    try:
        # Only for its owner: it contains everybody's questions and documents.
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Remains of another process that was killed while creating one here are not foreign.
        foreign = [path.name for path in home.iterdir() if not is_scratch(path.name)]
    except OSError as error:
        raise InvalidInput(f"{home} cannot hold a knowledge base: {error.strerror}. Give another --home.") from error
    if foreign:
        raise InvalidInput(
            f"{home} is not a knowledge base, and not empty ('{foreign[0]}'). Give an empty folder as --home."
        )
    write_marker(home)
    return True


def write_marker(home: Path) -> None:
    content = {"format": FORMAT, "created": timestamp(), "argot": __version__}
    write_atomically(home / MARKER, json.dumps(content) + "\n")


def read_noted_stores(home: Path) -> set[str]:
    """Return the databases that existed when the knowledge base was last opened or closed."""
    return set(_read_marker(home).get("stores", ()))


def note_stores(home: Path) -> None:
    """Record the existing databases, so that a lost one is not mistaken for one never needed."""
    there = [name for name in DATABASES if (home / name).exists()]
    # Nearly every opening finds the recorded ones, and then writes nothing.
    if set(there) != read_noted_stores(home):
        made = {"format": FORMAT, "created": timestamp(), "argot": __version__}
        write_atomically(home / MARKER, json.dumps({**made, **_read_marker(home), "stores": there}) + "\n")


def read_noted_place(home: Path) -> str:
    """Return the PostgreSQL with the knowledge base of this folder, as named in messages; empty: the folder itself."""
    return str(_read_marker(home).get("kept_by", ""))


def note_place(home: Path, place: str) -> None:
    """Record its PostgreSQL, so that without that setting it is not mistaken for a new, empty one."""
    if place != read_noted_place(home):
        made = {"format": FORMAT, "created": timestamp(), "argot": __version__}
        write_atomically(home / MARKER, json.dumps({**made, **_read_marker(home), "kept_by": place}) + "\n")


def read_noted_backup(home: Path) -> str:
    """Return when the last backup was written; empty if none is known of."""
    return str(_read_marker(home).get("backed_up", ""))


def note_backup(home: Path) -> None:
    """Record that a backup was written just now."""
    made = {"format": FORMAT, "created": timestamp(), "argot": __version__}
    write_atomically(home / MARKER, json.dumps({**made, **_read_marker(home), "backed_up": timestamp()}) + "\n")


def _read_marker(home: Path) -> dict[str, Any]:
    """Return the marker's content; empty if it is missing, or unreadable (which `_check_format` reports)."""
    try:
        content = json.loads((home / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    # Users may have edited it.
    return content if isinstance(content, dict) else {}


def _check_path(home: Path) -> None:
    if len(os.fsencode(home)) > MAX_PATH:
        raise InvalidInput(f"{home} is longer than {MAX_PATH} bytes. Give a --home with a shorter path.")
    try:
        # The system accepts any bytes as a path; SQLite and Chroma accept only UTF-8.
        str(home).encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{home} is not valid UTF-8. Give a --home with another path.") from None


def _check_format(home: Path) -> None:
    marker = home / MARKER
    # Without it the stores are identified by their names, and each checks its own version.
    if not marker.exists():
        return
    try:
        found = int(json.loads(marker.read_text(encoding="utf-8"))["format"])
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedStore(
            f"{marker} cannot be read. It holds only the format's number. Repair it with: rm {quote_shell(marker)}"
        ) from error
    if found > FORMAT:
        raise DamagedStore(f"{home} has format {found}, this Argot knows {FORMAT}. {UPDATE}")
