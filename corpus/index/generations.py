"""The folders of the vector index: which generation is live, and whether its files are whole.

`vectors/<generation>/` is one Chroma folder, and `vectors/CURRENT` names the live one.
"""

from __future__ import annotations

import shutil
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

from argot.corpus.store.blobs import write_atomically
from argot.corpus.store.database import check_header
from argot.errors import DamagedStore
from argot.remedies import reindex_command

CURRENT = "CURRENT"
CHROMA_FILE = "chroma.sqlite3"
HEADER_BYTES = 100
BUSY_SECONDS = 10.0


def current_generation(root: Path) -> str | None:
    """The live generation's name; None when no index was ever made here.

    Raises:
        DamagedStore: its folder or its database file is gone or truncated.
    """
    pointer = root / CURRENT
    if not pointer.exists():
        return None
    name = pointer.read_text("utf-8", "replace").strip()
    if not name.isalnum():
        raise damaged_vectors(root, f"{CURRENT} names no generation")
    check_folder(root, name)
    return name


def check_folder(root: Path, generation: str) -> None:
    file = root / generation / CHROMA_FILE
    if not file.exists() or file.stat().st_size == 0:
        raise damaged_vectors(root, f"{file.relative_to(root)} is missing")
    try:
        check_header(file)  # Chroma's own store is SQLite too
    except DamagedStore as error:
        raise damaged_vectors(root, str(error).partition(": ")[2].partition(". ")[0]) from error


def check_graphs(root: Path, generation: str) -> None:
    """Compare the files of each saved HNSW graph with what its header says. Chroma itself reads short ones as zeros.

    The header is hnswlib's: 4 bytes of version, then as 64-bit numbers the offset of level 0, the room for elements,
    how many there are, and the bytes of each.
    """
    for saved in sorted((root / generation).glob("*/index_metadata.pickle")):
        folder = saved.parent
        try:
            header = (folder / "header.bin").read_bytes()
            *_, elements, element_bytes = struct.unpack_from("<4Q", header, 4)
            sizes = [(folder / name).stat().st_size for name in ("data_level0.bin", "length.bin")]
            links = (folder / "link_lists.bin").read_bytes()
        except (OSError, struct.error) as error:
            raise damaged_vectors(root, f"a file of {generation}/{folder.name} is missing or too short") from error
        whole = len(header) == HEADER_BYTES and _link_bytes(links, elements) == len(links)
        if not whole or sizes != [elements * element_bytes, 4 * elements]:
            raise damaged_vectors(root, f"a file of {generation}/{folder.name} is truncated")


def check_saved(root: Path, generation: str) -> None:
    """See that each graph that was ever saved still is.

    Without its list of ids Chroma takes a graph for one never saved, and fills it again from its log alone, which it
    has shortened when it saved: up to a thousand vectors are found then, and the others no more.

    Raises:
        DamagedStore
    """
    address = f"{(root / generation / CHROMA_FILE).absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(address, timeout=BUSY_SECONDS, uri=True)) as connection:
            saved = connection.execute(
                "SELECT id FROM segments JOIN max_seq_id ON segment_id = id WHERE scope = 'VECTOR'"
            ).fetchall()
    except sqlite3.DatabaseError as error:
        raise damaged_vectors(root, str(error)) from error
    for (segment,) in saved:
        if not (root / generation / segment / "index_metadata.pickle").exists():
            raise damaged_vectors(root, f"a file of {generation}/{segment} is missing")


def saved_elements(root: Path, generation: str) -> int:
    """How many vectors the saved graphs hold, those deleted included; `check_graphs` has passed them."""
    headers = [saved.parent / "header.bin" for saved in (root / generation).glob("*/index_metadata.pickle")]
    return sum(struct.unpack_from("<4Q", header.read_bytes(), 4)[2] for header in headers)


def blank_unsaved(root: Path, generation: str) -> None:
    """Write zeros over the room that graphs never saved take up: it holds whatever stood in memory before.

    Chroma lays out room for 100 vectors on the disk as it comes, and fills it when it saves the graph for the first
    time (after 1,000); until then nobody reads it.
    """
    for level in (root / generation).glob("*/data_level0.bin"):
        if not (level.parent / "index_metadata.pickle").exists():
            with level.open("r+b") as file:
                file.write(bytes(level.stat().st_size))


def _link_bytes(links: bytes, elements: int) -> int:
    """Each element has a length in 4 bytes and as many bytes of links in the graph's upper levels, mostly none."""
    position = 0
    for _ in range(elements):
        position += 4 + int.from_bytes(links[position : position + 4], "little")
    return position


def next_generation(root: Path) -> str:
    """A name above all that are there, also those of unfinished rebuilds."""
    numbers = [int(folder.name[1:]) for folder in root.glob("g*") if folder.name[1:].isdigit()]
    return f"g{max(numbers, default=0) + 1:06d}"


def make_current(root: Path, generation: str) -> None:
    """From the moment this returns, also after a crash, this is the live generation."""
    write_atomically(root / CURRENT, generation)


def remove_generations(root: Path, *, but: str | None) -> None:
    """Delete the folders of earlier generations and of unfinished rebuilds."""
    for folder in root.glob("g*"):
        if folder.name != but and folder.is_dir():
            shutil.rmtree(folder)


def damaged_vectors(root: Path, reason: str) -> DamagedStore:
    return DamagedStore(
        f"The vector index in {root} is damaged: {reason}. Rebuild it with: {reindex_command(root.parent)}"
    )
