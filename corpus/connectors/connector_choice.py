"""The connector of a source, made of what is stored of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from argot.corpus.connectors.folder_connector import FolderConnector
from argot.corpus.connectors.listing import Connector, Patterns, SourceDown
from argot.corpus.connectors.source_store import SourceRecord

OPTIONS: Mapping[str, frozenset[str]] = {
    "folder": frozenset({"base_uri", "follow_links"}),
}
"""Beside `include` and `exclude`, which paths all but loaders have."""


def connector_for(record: SourceRecord) -> Connector:
    """
    Raises:
        SourceDown: an environment variable that it names is not set.
    """
    options = {name: _value(value) for name, value in record.options.items()}
    patterns = Patterns(tuple(options.pop("include", ())), tuple(options.pop("exclude", ())))
    base_uri = options.get("base_uri")
    return FolderConnector(
        Path(record.address), patterns, base_uri, follow_links=is_yes(options.get("follow_links", "no"))
    )


def is_yes(value: str) -> bool:
    return value.casefold() in ("yes", "true", "1")


def _value(option: Any) -> Any:
    if not isinstance(option, dict):
        return option
    name = option["variable"]
    value = os.environ.get(name)
    if not value:
        raise SourceDown(f"The environment variable {name}, which the source needs, is not set here.")
    return value
