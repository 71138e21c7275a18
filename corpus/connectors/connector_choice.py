"""The connector of a source, built from its stored settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from argot.corpus.connectors.folder_connector import FolderConnector
from argot.corpus.connectors.listing import Connector, Patterns, SourceDown
from argot.corpus.connectors.source_store import SourceKind, SourceRecord

SOURCE_OPTIONS: Mapping[SourceKind, frozenset[str]] = {
    "folder": frozenset({"base_uri", "follow_links"}),
    "git": frozenset({"base_uri", "branch", "user", "password", "private"}),
    "web": frozenset({"pages", "user", "password", "private"}),
    "confluence": frozenset({"base_uri"}),
    "sharepoint": frozenset({"base_uri"}),
    "imap": frozenset({"user", "password", "private", "encrypted"}),
}
"""Options of each kind beside `include` and `exclude`. A loader takes any option, and no patterns."""


def make_connector(record: SourceRecord) -> Connector:
    """Return the connector of a source, by its kind.

    Raises:
        SourceDown: an environment variable that it names is not set.
    """
    options = {name: _resolve_option(value) for name, value in record.options.items()}
    return _CONNECTOR_FACTORIES[record.kind](record, options)


def _make_folder(record: SourceRecord, options: dict[str, Any]) -> Connector:
    follow = is_yes(options.get("follow_links", ""))
    return FolderConnector(Path(record.address), _build_patterns(options), options.get("base_uri"), follow_links=follow)


def _make_git(record: SourceRecord, options: dict[str, Any]) -> Connector:
    from argot.corpus.connectors.git_connector import GitConnector, Repository

    repository = Repository(
        record.address,
        options.get("branch", ""),
        options.get("user", ""),
        options.get("password", ""),
        is_yes(options.get("private", "")),
    )
    return GitConnector(repository, _build_patterns(options), options.get("base_uri"))


def _make_web(record: SourceRecord, options: dict[str, Any]) -> Connector:
    from argot.corpus.connectors.web_connector import DEFAULT_MAX_PAGES, WebConnector, WebSite

    auth = (options.get("user", ""), options["password"]) if "password" in options else None
    site = WebSite(
        record.address, int(options.get("pages", DEFAULT_MAX_PAGES)), is_yes(options.get("private", "")), auth
    )
    return WebConnector(site, _build_patterns(options))


def _make_imap(record: SourceRecord, options: dict[str, Any]) -> Connector:
    from argot.corpus.connectors.imap_connector import ImapConnector, parse_mailbox

    if missing := [name for name in ("user", "password") if not options.get(name)]:
        raise SourceDown(f"The mail of {record.address} takes a {missing[0]}, which the source was not given.")
    mailbox = parse_mailbox(
        record.address,
        options["user"],
        options["password"],
        encrypted=is_yes(options.get("encrypted", "yes")),
        private=is_yes(options.get("private", "")),
    )
    return ImapConnector(mailbox, _build_patterns(options))


def _make_confluence(record: SourceRecord, options: dict[str, Any]) -> Connector:
    from argot.corpus.connectors.confluence_connector import ConfluenceConnector

    return ConfluenceConnector(Path(record.address), _build_patterns(options), options.get("base_uri"))


def _make_sharepoint(record: SourceRecord, options: dict[str, Any]) -> Connector:
    from argot.corpus.connectors.sharepoint_connector import SharePointConnector

    return SharePointConnector(Path(record.address), _build_patterns(options), options.get("base_uri"))


def _make_loader(record: SourceRecord, options: dict[str, Any]) -> Connector:
    from argot.corpus.connectors.langchain_loader import LoaderConnector

    return LoaderConnector(record.address, options, record.name)


_CONNECTOR_FACTORIES: Mapping[SourceKind, Callable[[SourceRecord, dict[str, Any]], Connector]] = {
    "folder": _make_folder,
    "git": _make_git,
    "web": _make_web,
    "imap": _make_imap,
    "confluence": _make_confluence,
    "sharepoint": _make_sharepoint,
    "loader": _make_loader,
}


def is_yes(value: str) -> bool:
    return value.casefold() in ("yes", "true", "1")


def _build_patterns(options: Mapping[str, Any]) -> Patterns:
    return Patterns(tuple(options.get("include", ())), tuple(options.get("exclude", ())))


def _resolve_option(option: Any) -> Any:
    if not isinstance(option, dict):
        return option
    name = option["variable"]
    value = os.environ.get(name)
    if not value:
        raise SourceDown(f"The environment variable {name}, which the source needs, is not set here.")
    return value
