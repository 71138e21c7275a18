"""The live generation of the vectors, and the consistency of one in a folder.

`vectors/CURRENT` names the live one; a local one is the Chroma folder `vectors/<generation>/`.
"""

from __future__ import annotations

import re
import secrets
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from argot.disk_space import build_no_room_error
from argot.errors import ArgotError, DamagedStore, StoreUnavailable
from argot.files import write_atomically
from argot.remedies import find_remedy, reindex_command
from argot.sqlite import check_header, open_connection

CURRENT = "CURRENT"
CHROMA_FILE = "chroma.sqlite3"
PANIC_MODULE = "pyo3_runtime"
"""The module of panics of Chroma's Rust code; they derive from `BaseException`."""
SMALL_BYTES = 32 * 1024 * 1024
"""Up to this size Chroma's database is checked at every start (about 5 ms for each megabyte)."""
LARGE_TABLES = ("embedding_", "embeddings")
"""Name prefixes of Chroma's tables that grow with the vectors."""

_ON_SERVER = re.compile(r"[0-9a-f]{16}s\d+")
_CODE = re.compile(r"\(code: (\d+)\)")  # Chroma's wording of SQLite's error


def require_in_folder(root: Path, generation: str) -> None:
    """Check that the files of a generation are in this folder.

    Raises:
        DamagedStore: the generation is on a server; or its folder or its database file is missing or truncated.
    """
    if is_on_server(generation):
        raise build_damage_error(root, "its vectors are on a Chroma server, and the setting 'chroma_url' names none")
    check_folder(root, generation)


def read_pointer(root: Path) -> str | None:
    """Return the name in CURRENT; None if there is no such file."""
    pointer = root / CURRENT
    if not pointer.exists():
        return None
    name = pointer.read_text("utf-8", "replace").strip()
    # The name becomes a path, and must not lead out of the folder.
    if not name.isalnum():
        raise build_damage_error(root, f"{CURRENT} names no generation")
    return name


def is_on_server(generation: str) -> bool:
    return _ON_SERVER.fullmatch(generation) is not None


def check_folder(root: Path, generation: str) -> None:
    file = root / generation / CHROMA_FILE
    if not file.exists() or file.stat().st_size == 0:
        raise build_damage_error(root, f"{file.relative_to(root)} is missing")
    try:
        check_header(file)  # Chroma's own store is SQLite too
    except DamagedStore as error:
        raise build_damage_error(root, str(error).partition(": ")[2].partition(". ")[0]) from error


def check_pages(root: Path, generation: str, *, thoroughly: bool = False) -> None:
    """Check that Chroma's own database is intact, and that each graph that was ever saved still exists.

    Chroma panics at a damaged page. In a large database only the small tables are checked, and those of the vectors on
    request. Opened for writing, so that work that a killed process left is rolled back first.

    Without its list of ids Chroma treats a graph as never saved, and refills it only from its log, which was shortened
    when the graph was saved: up to a thousand vectors are found then, and the others no longer.

    Raises:
        DamagedStore, StoreUnavailable
    """
    file = root / generation / CHROMA_FILE
    try:
        with closing(open_connection(file)) as connection:
            whole = thoroughly or file.stat().st_size <= SMALL_BYTES
            for fault in _find_page_faults(connection, whole=whole):
                raise build_damage_error(root, f"{generation}/{CHROMA_FILE}: {fault}")
            saved = connection.execute(
                "SELECT id FROM segments JOIN max_seq_id ON segment_id = id WHERE scope = 'VECTOR'"
            ).fetchall()
    except sqlite3.DatabaseError as error:
        raise explain_error(root, error) from error
    # `max_seq_id` has a row for each graph that Chroma saved.
    for (segment,) in saved:
        if not (root / generation / segment / "index_metadata.pickle").exists():
            raise build_damage_error(root, f"a file of {generation}/{segment} is missing")


def _find_page_faults(connection: sqlite3.Connection, *, whole: bool) -> Iterator[str]:
    tables = [
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage")
        if not name.startswith(LARGE_TABLES)
    ]
    for check in ["PRAGMA quick_check(1)"] if whole else [f'PRAGMA quick_check("{name}")' for name in tables]:
        yield from (line for (line,) in connection.execute(check) if line != "ok")


def blank_unsaved(root: Path, generation: str) -> None:
    """Zero the space allocated by graphs that were never saved: it contains earlier contents of memory.

    Chroma allocates space for 100 vectors on the disk uninitialised, and fills it when it saves the graph for the first
    time (after 1,000); until then nobody reads it.
    """
    for name in ("data_level0.bin", "length.bin"):
        for allocated in (root / generation).glob(f"*/{name}"):
            if not (allocated.parent / "index_metadata.pickle").exists():
                with allocated.open("r+b") as file:
                    file.write(bytes(allocated.stat().st_size))


def name_next_generation(root: Path) -> str:
    """Return a name that sorts after all existing ones, also of unfinished rebuilds."""
    numbers = [int(folder.name[1:]) for folder in root.glob("g*") if folder.name[1:].isdigit()]
    # Never reuse a name: the remains of an unfinished rebuild must not mix with this one.
    return f"g{max(numbers, default=0) + 1:06d}"


def name_unique_generation() -> str:
    """Return a name that no other machine has assigned: the name alone identifies the content, wherever it is
    stored.
    """
    return f"g{secrets.token_hex(10)}"


def make_current(root: Path, generation: str) -> None:
    """Make this the live generation, durably: a crash after this returns changes nothing."""
    write_atomically(root / CURRENT, generation)


def remove_generations(root: Path, *, but: str | None) -> None:
    """Delete the folders of earlier generations and of unfinished rebuilds."""
    for folder in root.glob("g*"):
        # A crash in between leaves some of them, which the next call removes.
        if folder.name != but and folder.is_dir():
            shutil.rmtree(folder)


def build_damage_error(root: Path, reason: str) -> DamagedStore:
    text = " ".join(reason.replace("*** in database main ***", "").split())
    return DamagedStore(
        f"The vector index in {root} is damaged: {text}. Rebuild it with: {reindex_command(root.parent)}"
    )


@contextmanager
def convert_errors(root: Path) -> Iterator[None]:
    """Turn Chroma's errors within the block into Argot's, including its panics, which are no `Exception`.

    Raises:
        DamagedStore, StoreUnavailable, OSError
    """
    try:
        yield
    except (ArgotError, OSError):
        raise
    except BaseException as error:
        # Of the errors that are no `Exception`, only panics are Chroma's; others, such as Ctrl+C, propagate.
        if not isinstance(error, Exception) and type(error).__module__ != PANIC_MODULE:
            raise
        raise explain_error(root, error) from error


def explain_error(root: Path, error: BaseException) -> ArgotError:
    """Return Argot's error for one of Chroma or its SQLite: damage, or a refusal of the system."""
    code = getattr(error, "sqlite_errorcode", None)
    if "disk is full" in str(error) or code == sqlite3.SQLITE_FULL:
        return build_no_room_error(f"The vector index in {root}", "the disk is full")
    database_error = sqlite3.DatabaseError(str(error))
    found = _CODE.search(str(error))
    # Without a code it is no refusal of the system, so that only damage remains.
    database_error.sqlite_errorcode = code or (int(found[1]) if found else sqlite3.SQLITE_CORRUPT)
    remedy = find_remedy(database_error)
    if remedy is not None:
        return StoreUnavailable(f"The vector index in {root} cannot be used: {error}. {remedy}, and try again.")
    return build_damage_error(root, str(error))
