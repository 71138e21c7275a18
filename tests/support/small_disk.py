"""A disk of a few megabytes that a test fills and empties: a tmpfs, which only root can mount."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


class SmallDisk:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filling = folder / "filling"

    def fill(self, leave_bytes: int = 0) -> None:
        """Fill the disk except for this much space."""
        size = max(0, shutil.disk_usage(self.folder).free - leave_bytes)
        with self._filling.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, size)

    def make_room(self) -> None:
        self._filling.unlink(missing_ok=True)


@contextmanager
def small_disk(folder: Path, megabytes: int = 200) -> Iterator[SmallDisk]:
    """Mount a small disk at a new folder; skip the test where that is not allowed."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here: that takes root")
    try:
        yield SmallDisk(folder)
    finally:
        # Lazily, so that a process that has not ended yet does not block other tests.
        subprocess.run(["umount", "-l", str(folder)], check=False)
