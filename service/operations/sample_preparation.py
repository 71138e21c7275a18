"""Preparation of the sample knowledge base ahead of the first start:
`python -m argot.service.operations.sample_preparation`.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from argot.errors import ArgotError
from argot.service.operations.prepared_samples import is_stored_in_folder, locate_prepared
from argot.service.operations.sample_base import build
from argot.settings import Settings, load_settings


def prepare_samples(settings: Settings) -> Path | None:
    """Build the sample knowledge base in the cache, unless it is there, and remove those of other versions; return its
    folder, or None if these settings store knowledge bases outside their folder.

    Raises:
        InvalidInput, InvalidSettings: it cannot be built.
    """
    if not is_stored_in_folder(settings):
        return None
    prepared = locate_prepared(settings)
    if prepared.is_dir():
        return prepared
    prepared.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".", dir=prepared.parent) as scratch:
        made = Path(scratch) / "kb"
        build(made, settings.replace(home=made))
        if not prepared.is_dir():  # another process may have been faster
            made.rename(prepared)
    for other in prepared.parent.iterdir():
        if other != prepared and not other.name.startswith("."):  # those are being made
            shutil.rmtree(other, ignore_errors=True)
    return prepared


if __name__ == "__main__":
    try:
        prepare_samples(load_settings())
    except ArgotError as error:
        sys.exit(f"argot: {error}")
