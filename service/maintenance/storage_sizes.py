"""The space that a knowledge base takes, and that its disk has left."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from argot.service.maintenance.findings import Finding, make_bad_finding, make_good_finding
from argot.service.storage import home_folder as layout

FREE_GB = 1.0
"""Less free space than this is a problem: an index is built beside the old one."""
FOLDERS = (layout.BLOBS, layout.VECTORS, layout.PROFILES, layout.LEARNING_FOLDER)


@dataclass(frozen=True, slots=True)
class StoreSize:
    """A store or a folder of a knowledge base, and its size."""

    name: str
    bytes: int


def measure_stores(home: Path) -> Iterator[StoreSize]:
    """Yield the databases and folders that exist in the folder of a knowledge base, with their sizes. Blocks."""
    for name in layout.DATABASES:
        # With the write-ahead log, and the index of that.
        files = [path for path in (home / name, home / f"{name}-wal", home / f"{name}-shm") if path.is_file()]
        if files:
            yield StoreSize(name, sum(_measure_file(path) for path in files))
    for name in FOLDERS:
        if (home / name).is_dir():
            files = [path for path in (home / name).rglob("*") if path.is_file() and not path.is_symlink()]
            yield StoreSize(f"{name}/", sum(_measure_file(path) for path in files))


def _measure_file(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # removed since it was listed
        return 0


def measure_free_space(home: Path) -> int:
    """Return the free bytes on the disk of a folder, which may not exist yet."""
    return shutil.disk_usage(_find_place(home)).free


def check_free_space(home: Path) -> Finding:
    place, free = _find_place(home), measure_free_space(home) / 1e9
    if free < FREE_GB:
        return make_bad_finding(
            "free space", f"{free:.1f} GB on the disk of {place}", f"free at least {FREE_GB:.0f} GB"
        )
    return make_good_finding("free space", f"{free:.1f} GB on the disk of {place}")


def _find_place(home: Path) -> Path:
    # The home may not exist yet; its nearest folder is on the same disk.
    return next((folder for folder in (home, *home.parents) if folder.is_dir()), Path("/"))
