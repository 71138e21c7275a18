"""The sample knowledge base: documents and glossary of our own writing, put into a home with a progress bar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from argot.errors import InvalidInput
from argot.remedies import REINSTALL
from argot.service.operations.prepared_samples import copy_prepared
from argot.service.usecases.documents.documents import add
from argot.service.usecases.glossary.contexts import context_add
from argot.service.usecases.glossary.files import glossary_import
from argot.settings import Settings

Progress = Callable[[int, int, str], None]

PACKAGE = "argot.samples"
BASE_URI = "samples://argot"
"""Documents keep their identity wherever the package is installed."""


@dataclass(frozen=True, slots=True)
class SampleReport:
    """Counts of added samples; on a second run everything is `unchanged`."""

    added: int
    updated: int
    unchanged: int
    senses: int

    def __str__(self) -> str:
        new = f"{self.added + self.updated} documents put in, " if self.added + self.updated else ""
        return f"{new}{self.added + self.updated + self.unchanged} documents and {self.senses} senses"


def build(home: Path, settings: Settings, progress: Progress | None = None) -> SampleReport:
    """Put the samples into `home`, making it if need be: as a copy of the prepared sample knowledge base, if there is
    one. Idempotent: what is there already costs a hash per file.

    Raises:
        InvalidInput: a sample could not be read, or the package holds none.
    """
    from argot.service.transport.knowledge_base_client import connect

    def on_event(event: dict[str, Any]) -> None:
        if progress:
            progress(event["done"], event["total"], event["name"])

    copy_prepared(home, settings)
    with resources.as_file(resources.files(PACKAGE)) as folder, connect(home, settings, create=True) as client:
        documents = folder / "documents"
        if not documents.is_dir():
            raise InvalidInput(f"{PACKAGE} holds no documents: {REINSTALL}.")
        _add_contexts(client, folder / "contexts.csv")
        glossary = client.call(glossary_import, text=_read_text(folder / "glossary.csv"), name="glossary.csv")
        # Our own files; some installers lay a package out as links.
        paths = [str(documents)]
        added = client.watch(on_event).call(add, paths=paths, base_uri=BASE_URI, follow_links=True)
    if added.failed:
        names = ", ".join(one.name for one in added.problems if one.kind == "failed")
        raise InvalidInput(f"Samples could not be read: {names}. See what is wrong with: argot doctor")
    senses = glossary.added + glossary.updated + glossary.unchanged
    return SampleReport(added.added, added.updated, added.unchanged + added.duplicate, senses)


def _add_contexts(client: Any, path: Path) -> None:
    """contexts.csv: name,description,contact."""
    import csv

    for row in csv.DictReader(_read_text(path).splitlines()):
        client.call(context_add, **{key: row.get(key) or "" for key in ("name", "description", "contact")})


def _read_text(path: Path) -> str:
    # With or without the byte order mark that Excel writes.
    return path.read_text(encoding="utf-8-sig")
