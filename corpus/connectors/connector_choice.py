"""The connector of a source, made of what is stored of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from argot.corpus.connectors.folder_connector import FolderConnector
from argot.corpus.connectors.listing import Connector, Patterns, SourceDown
from argot.corpus.connectors.source_store import SourceKind, SourceRecord

OPTIONS: Mapping[SourceKind, frozenset[str]] = {
    "folder": frozenset({"base_uri", "follow_links"}),
    "git": frozenset({"base_uri", "branch", "user", "password", "private"}),
    "web": frozenset({"pages", "user", "password", "private"}),
    "confluence": frozenset({"base_uri"}),
    "sharepoint": frozenset({"base_uri"}),
    "imap": frozenset({"user", "password", "private", "encrypted"}),
}
"""What each kind takes beside `include` and `exclude`. A loader takes whatever it is made with, and no patterns."""


def connector_for(record: SourceRecord) -> Connector:
    """
    Raises:
        SourceDown: an environment variable that it names is not set.
    """
    options = {name: _value(value) for name, value in record.options.items()}
    return _MADE_BY[record.kind](record, options)


def _folder(record: SourceRecord, options: dict[str, Any]) -> Connector:
    follow = is_yes(options.get("follow_links", ""))
    return FolderConnector(Path(record.address), _patterns(options), options.get("base_uri"), follow_links=follow)


def _git(record: SourceRecord, options: dict[str, Any]) -> Connector:
    from argot.corpus.connectors.git_connector import GitConnector, Repository

    repository = Repository(
        record.address,
        options.get("branch", ""),
        options.get("user", ""),
        options.get("password", ""),
        is_yes(options.get("private", "")),
    )
    return GitConnector(repository, _patterns(options), options.get("base_uri"))


def _web(record: SourceRecord, options: dict[str, Any]) -> Connector:
    from argot.corpus.connectors.web_connector import PAGES, WebConnector, WebSite

    auth = (options.get("user", ""), options["password"]) if "password" in options else None
    site = WebSite(record.address, int(options.get("pages", PAGES)), is_yes(options.get("private", "")), auth)
    return WebConnector(site, _patterns(options))


def _imap(record: SourceRecord, options: dict[str, Any]) -> Connector:
    from argot.corpus.connectors.imap_connector import ImapConnector, mailbox_of

    if missing := [name for name in ("user", "password") if not options.get(name)]:
        raise SourceDown(f"The mail of {record.address} takes a {missing[0]}, which the source was not given.")
    mailbox = mailbox_of(
        record.address,
        options["user"],
        options["password"],
        encrypted=is_yes(options.get("encrypted", "yes")),
        private=is_yes(options.get("private", "")),
    )
    return ImapConnector(mailbox, _patterns(options))


def _confluence(record: SourceRecord, options: dict[str, Any]) -> Connector:
    from argot.corpus.connectors.confluence_connector import ConfluenceConnector

    return ConfluenceConnector(Path(record.address), _patterns(options), options.get("base_uri"))


def _sharepoint(record: SourceRecord, options: dict[str, Any]) -> Connector:
    from argot.corpus.connectors.sharepoint_connector import SharePointConnector

    return SharePointConnector(Path(record.address), _patterns(options), options.get("base_uri"))


def _loader(record: SourceRecord, options: dict[str, Any]) -> Connector:
    from argot.corpus.connectors.langchain_loader import LoaderConnector

    return LoaderConnector(record.address, options, record.name)


_MADE_BY: Mapping[SourceKind, Callable[[SourceRecord, dict[str, Any]], Connector]] = {
    "folder": _folder,
    "git": _git,
    "web": _web,
    "imap": _imap,
    "confluence": _confluence,
    "sharepoint": _sharepoint,
    "loader": _loader,
}


def is_yes(value: str) -> bool:
    return value.casefold() in ("yes", "true", "1")


def _patterns(options: Mapping[str, Any]) -> Patterns:
    return Patterns(tuple(options.get("include", ())), tuple(options.get("exclude", ())))


def _value(option: Any) -> Any:
    if not isinstance(option, dict):
        return option
    name = option["variable"]
    value = os.environ.get(name)
    if not value:
        raise SourceDown(f"The environment variable {name}, which the source needs, is not set here.")
    return value
