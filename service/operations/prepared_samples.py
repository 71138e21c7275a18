"""The sample knowledge base as `sample_preparation` has built it in the cache.

The first start with the samples copies it, in the place of reading and embedding the documents while somebody waits.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import tempfile
from importlib import resources
from pathlib import Path

from argot import __version__
from argot.files import flush_folder
from argot.service.storage import home_folder
from argot.settings import Settings

logger = logging.getLogger(__name__)

FOLDER = "samples"
MAKERS = ("argot.samples", "argot.corpus", "argot.jargon_db", "argot.languages")
"""Packages whose content determines what is in the sample knowledge base."""


def copy_prepared(home: Path, settings: Settings) -> bool:
    """Make `home` a copy of the prepared sample knowledge base, if there is one and no `home` yet; return whether that
    was done. If it is cut off, there is still none.
    """
    home = home.expanduser().absolute()
    if home.exists() or home.is_symlink() or not is_stored_in_folder(settings):
        return False
    prepared = locate_prepared(settings)
    if not prepared.is_dir():
        return False
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        # Beside it, so that it can be renamed.
        with tempfile.TemporaryDirectory(prefix=f".{home.name}.", dir=home.parent) as scratch:
            made = Path(scratch) / "kb"
            shutil.copytree(prepared, made, ignore=_list_scratch, copy_function=_copy_durably)
            made.chmod(0o700)  # as `home_folder.create` makes it
            home_folder.write_marker(made)
            made.rename(home)
        flush_folder(home.parent)
    except OSError as error:  # then it is built, which says what is wrong
        logger.info("the prepared samples could not be copied to %s: %s", home, error)
        return False
    return True


def locate_prepared(settings: Settings) -> Path:
    """Return the folder of the sample knowledge base as this version makes it under these settings, whether or not it
    exists.
    """
    digest = hashlib.blake2b(__version__.encode(), digest_size=16)
    for group in (settings.search, settings.reading, settings.limits):
        digest.update(group.model_dump_json().encode())
    for package in MAKERS:
        with resources.as_file(resources.files(package)) as folder:
            for path in sorted(folder.rglob("*")):
                if path.is_file() and path.suffix != ".pyc":
                    digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return settings.cache / FOLDER / digest.hexdigest()


def is_stored_in_folder(settings: Settings) -> bool:
    """Return whether a knowledge base under these settings is all in its folder."""
    return not (settings.storage.database or settings.storage.chroma_url)


def _list_scratch(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if home_folder.is_scratch(name)]


def _copy_durably(source: str, target: str) -> None:
    shutil.copy2(source, target)
    with Path(target).open("rb+") as copied:
        os.fsync(copied.fileno())
