"""The knowledge bases that suites measure: temporary ones, new ones to keep, and existing ones."""

from __future__ import annotations

import csv
import io
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from typing import get_args

from argot.corpus.store.revision_reads import list_underived_kinds
from argot.errors import InvalidInput
from argot.evaluate.temporary_base import TemporaryBase
from argot.files import read_text
from argot.profile import Profile
from argot.remedies import derive_command
from argot.service.storage.adopted_models import apply_adopted
from argot.service.storage.home_folder import is_knowledge_base, read_noted_place, require, write_marker
from argot.service.storage.home_lock import HomeLock
from argot.settings import Settings
from argot.types import DerivedKind

Fill = Callable[[TemporaryBase], None]
"""Adds the documents and the glossary of a suite to an empty knowledge base."""


@contextmanager
def open_base(home: Path | None, settings: Settings, fill: Fill | None = None) -> Iterator[TemporaryBase]:
    """Open the knowledge base to measure.

    Args:
        home: the folder of a knowledge base. It is asked but not changed, with its derived texts and triples, if it has
            any, and with its adopted models, unless the settings name others. If it does not exist, it is made with
            `fill` and kept, so that derived texts can be added and the measurement repeated. None: a temporary
            knowledge base, which holds no other documents or terms.

    Raises:
        InvalidInput: the folder holds other things.
        KnowledgeBaseBusy: a service uses it.
    """
    if home is None:
        with tempfile.TemporaryDirectory(prefix="argot-") as folder, TemporaryBase(Path(folder), settings) as base:
            if fill:
                fill(base)
            yield base
        return
    home = home.expanduser().absolute()
    if fill and not is_knowledge_base(home):
        _make(home, settings, fill)
    require(home)
    if place := read_noted_place(home):
        raise InvalidInput(
            f"The knowledge base of {home} is kept by {place}, and only one in a folder can be measured. Carry it into "
            "an empty folder with argot move, and give that one as --home."
        )
    lock = HomeLock(home)
    try:
        # With its adopted models, as the service answers.
        with TemporaryBase(home, apply_adopted(home, settings).replace(home=home)) as base:
            yield base
    finally:
        lock.release()


def require_derived(base: TemporaryBase, profile: Profile) -> None:
    """Refuse to measure a search of derived texts that are missing: the result would be taken for theirs.

    Raises:
        InvalidInput: a kind that the profile names is missing, or only derived texts are searched and there are none.
    """
    if not profile.search_derived:
        return
    kinds = profile.derived_kinds
    missing = list_underived_kinds(base.corpus.store, kinds)
    # All kinds, the default, means: whichever there are.
    some = set(kinds) == set(get_args(DerivedKind)) and (profile.search_passages or len(missing) < len(kinds))
    if missing and not some:
        raise InvalidInput(
            f"'{profile.name}' searches texts of the kind {' and '.join(missing)}, and the knowledge base has none."
            f" Make them with: {derive_command(missing)}; then name it as --home."
        )


def _make(home: Path, settings: Settings, fill: Fill) -> None:
    if home.exists() and (not home.is_dir() or any(home.iterdir())):
        raise InvalidInput(f"{home} is not a knowledge base, and not empty. Give another --home.")
    home.parent.mkdir(parents=True, exist_ok=True)
    # Fill it under another name and rename it when it is complete: otherwise a partly filled base would be measured
    # the next time as if it held everything.
    making = Path(tempfile.mkdtemp(prefix=f".{home.name}-", dir=home.parent))
    try:
        with TemporaryBase(making, settings) as base:
            fill(base)
        write_marker(making)
        making.rename(home)
    except BaseException:
        shutil.rmtree(making, ignore_errors=True)
        raise


@contextmanager
def sample_folder() -> Iterator[Path]:
    # A package may be installed as an archive; then its files are unpacked only while they are used.
    with as_file(files("argot.samples")) as folder:
        yield folder


def add_folder(base: TemporaryBase, folder: Path, progress: Callable[[str, int, int], None]) -> None:
    """Add the documents, contexts and glossary of a quiz folder or of the samples; both have the same layout."""
    from argot.corpus.ingestion.sources import list_sources

    base.add(list_sources([folder / "documents"]), progress)
    add_glossary(base, folder)


def add_glossary(base: TemporaryBase, folder: Path) -> None:
    if (folder / "glossary.csv").exists():
        add_glossary_file(base, folder / "glossary.csv")


def add_glossary_file(base: TemporaryBase, path: Path) -> None:
    """Add a glossary file, and a contexts.csv beside it if there is one."""
    contexts = path.with_name("contexts.csv")
    if contexts.exists():
        for row in read_contexts(read_input(contexts)):
            base.add_context(row["name"], row["description"], row["contact"])
    base.import_glossary(read_input(path), path.name)


def read_contexts(text: str) -> list[dict[str, str]]:
    """Read contexts from CSV text.

    Raises:
        InvalidInput: the column `name` is missing, or empty in a row.
    """
    rows = [
        {key: (row.get(key) or "").strip() for key in ("name", "description", "contact")}
        for row in csv.DictReader(io.StringIO(text))
    ]
    # Row 1 is the header, as in a spreadsheet.
    for number, row in enumerate(rows, start=2):
        if not row["name"]:
            raise InvalidInput(f"contexts.csv, row {number}: no name. The columns are name,description,contact.")
    return rows


def read_input(path: Path) -> str:
    """Read a text file.

    Raises:
        InvalidInput: it cannot be read.
    """
    try:
        return read_text(path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} cannot be read: byte {error.start + 1} is not UTF-8 text.") from error
