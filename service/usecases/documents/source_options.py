"""Rules for new sources: their addresses, the people who may name them, and their options."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from argot.corpus.connectors.source_store import SourceKind, SourceRecord
from argot.errors import InvalidInput, NotAllowed
from argot.files import is_system, resolve_links
from argot.service.identity.people import role_of
from argot.settings import ENV_PREFIX
from argot.types import Principal

MAIL = ("imap", "imaps")
WEB = ("http", "https")
"""Schemes of addresses."""
_BY_SSH = re.compile(r"(ssh|git|git\+ssh)://|[\w.-]+@[\w.-]+:(?!//)", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_OF_THIS_MACHINE = re.compile(r"(.+\.)?localhost\.?|[\d.]+|.*:.*", re.IGNORECASE)
"""Hosts whose location is known without the network: names of this machine, and numbers."""
EXPORTS = ("confluence", "sharepoint")
"""Kinds that a ZIP archive can be, too."""
MIN_INTERVAL_SECONDS = 60
_UNITS = {"m": 60, "h": 3600, "d": 86_400}
_SECRET = re.compile(r"pass(word|wd)|secret|token|api_?key|credential", re.IGNORECASE)
_SAID = {
    "branch": (re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*"), "the name of a branch"),
    "pages": (re.compile(r"[1-9][0-9]{0,5}"), "a number from 1 to 999999"),
    "follow_links": (re.compile(r"yes|no"), "yes or no"),
    "private": (re.compile(r"yes|no"), "yes or no"),
    "encrypted": (re.compile(r"yes|no"), "yes or no"),
    "base_uri": (re.compile(r"[a-z][a-z0-9+.-]*:[^\s]+"), "a URI, as https://wiki.example.org/"),
}
"""Patterns of option values, for the machine and for people."""


def find_kind(address: str) -> SourceKind:
    parts = urlsplit(address)
    if parts.scheme in MAIL:
        return "imap"
    if parts.scheme in WEB:
        return "git" if parts.path.endswith(".git") else "web"
    # A bare repository is no folder of documents.
    return "git" if address.rstrip("/").endswith(".git") else "folder"


def name_of(kind: SourceKind, address: str) -> str:
    parts = urlsplit(address)
    last = (
        parts.hostname or "" if kind in ("web", "imap") else address.rstrip("/").rsplit("/", 1)[-1].removesuffix(".git")
    )
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", last).strip("-._")[:64]
    if not name:
        raise InvalidInput(f"No name can be made from '{address}'. Give the source one.")
    return name


def parse_seconds(every: str) -> int:
    """Return the seconds of an interval such as "6h"; 0 if it is empty.

    Raises:
        InvalidInput
    """
    if not every:
        return 0
    found = re.fullmatch(r"(\d{1,5})([mhd])", every)
    seconds = int(found[1]) * _UNITS[found[2]] if found else 0
    if seconds < MIN_INTERVAL_SECONDS:
        raise InvalidInput(f"A source cannot be synced every '{every}'. Write 30m, 6h or 1d; a minute is the least.")
    return seconds


def check_options(
    kind: SourceKind,
    include: list[str] | None,
    exclude: list[str] | None,
    options: Mapping[str, str],
    variables: Mapping[str, str],
) -> dict[str, Any]:
    """Return the checked options of a source, as they are stored.

    Raises:
        InvalidInput: an option is unknown or useless, or contains a secret.
    """
    _check_names(kind, [*options, *variables], patterns=bool(include or exclude))
    for name, value in options.items():
        _check_value(kind, name, value)
    for name, variable in variables.items():
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", variable) or variable.startswith(ENV_PREFIX):
            raise InvalidInput(
                f"'{variable:.80}' cannot be the environment variable of the option '{name}': take one with a name of "
                f"letters, digits and '_' that does not begin with {ENV_PREFIX}, which are Argot's own."
            )
    patterns = {"include": include, "exclude": exclude}
    return {
        **options,
        **{name: {"variable": variable} for name, variable in variables.items()},
        **{name: pattern for name, pattern in patterns.items() if pattern},
    }


def _check_names(kind: SourceKind, names: list[str], *, patterns: bool) -> None:
    from argot.corpus.connectors.connector_choice import SOURCE_OPTIONS

    if kind == "loader":
        if patterns:
            raise InvalidInput("A loader takes no patterns: give it what it has for that, with --with KEY=VALUE.")
        return
    for name in names:
        if name not in SOURCE_OPTIONS[kind]:
            valid = ", ".join(sorted(SOURCE_OPTIONS[kind]))
            raise InvalidInput(f"A source of kind '{kind}' has no option '{name}'. Its options: {valid}.")


def _check_value(kind: SourceKind, name: str, value: str) -> None:
    if _SECRET.search(name):
        raise InvalidInput(
            f"The option '{name}' looks like a secret, which is not to be stored. Put it into an environment "
            f"variable of the service, and name that one: --with-env {name}=VARIABLE"
        )
    if kind != "loader" and name in _SAID:
        pattern, meaning = _SAID[name]
        if not pattern.fullmatch(value):
            raise InvalidInput(f"The option '{name}' cannot be '{value:.80}': it is {meaning}.")


def require_admin(principal: Principal, record: SourceRecord) -> None:
    """Check that the principal may set up such a source.

    Raises:
        NotAllowed: it reaches this machine's own data, or its network.
    """
    here = record.kind not in ("git", "web") or urlsplit(record.address).scheme not in WEB
    reaches = here or "private" in record.options
    # A value of the service's environment must not be sent to an arbitrary address.
    reads = any(isinstance(value, dict) for value in record.options.values())
    if (reaches or reads) and role_of(principal) != "admin":
        raise NotAllowed(
            f"{principal.name} may not add this source: what lies on this machine, in its network or in its "
            "environment requires the role 'admin', or the person at this machine."
        )


def check_address(home: Path, record: SourceRecord) -> None:
    """Check the address of a source.

    Raises:
        InvalidInput: it is invalid, or does not exist.
    """
    if record.kind == "loader":
        _check_loader(record.address)
    elif _BY_SSH.match(record.address):
        raise InvalidInput(f"Repositories are read by https. Write '{record.address}' as https://HOST/PATH.git")
    elif "://" in record.address:
        _check_url(record)
    elif record.kind == "imap":
        raise InvalidInput(f"'{record.address}' is not a folder of mail. Write it as imaps://mail.example.org/INBOX")
    elif scheme := _SCHEME.match(record.address):
        raise InvalidInput(
            f"'{scheme[0]}' is not the beginning of a source's address. Give the path of a folder, or an address as https://..."
        )
    elif record.kind == "web":
        raise InvalidInput(
            f"'{record.address}' is not the address of a web site. Write it as https://wiki.example.org/"
        )
    else:
        _check_path(home, record)


def _check_url(record: SourceRecord) -> None:
    parts = urlsplit(record.address)
    schemes = {"web": WEB, "git": WEB, "imap": MAIL}.get(record.kind, ())
    if parts.scheme not in schemes or not parts.hostname:
        raise InvalidInput(f"'{record.address}' cannot be a source of kind '{record.kind}'.")
    if parts.username is not None or parts.password is not None:
        raise InvalidInput(
            "The address holds a name or a password, which is not to be stored. Give them as "
            "--with user=NAME --with-env password=VARIABLE"
        )
    if record.options.get("private") != "yes" and _OF_THIS_MACHINE.fullmatch(parts.hostname):
        _check_public(parts.hostname)
    if record.kind == "imap" and not {"user", "password"} <= record.options.keys():
        raise InvalidInput("Mail requires a user and a password: --with user=NAME --with-env password=VARIABLE")


def _check_public(host: str) -> None:
    from argot.corpus.connectors.listing import SourceDown
    from argot.corpus.connectors.public_network import resolve_public_addresses

    try:
        resolve_public_addresses(host, 443)
    except SourceDown as error:
        raise InvalidInput(str(error)) from error


def _check_path(home: Path, record: SourceRecord) -> None:
    folder = Path(record.address)
    if not folder.is_absolute():
        raise InvalidInput(f"'{folder}' is not an absolute path. Write it from the root on: /srv/{folder}")
    if folder.is_file() and record.kind not in EXPORTS:
        if folder.suffix.casefold() == ".zip":
            kinds = ", ".join(EXPORTS)
            raise InvalidInput(f"{folder} is a file. Add it with: argot add {folder}, or name its --kind: {kinds}")
        raise InvalidInput(f"{folder} is a file. Add it with: argot add {folder}")
    if not folder.is_dir() and (record.kind not in EXPORTS or not folder.is_file()):
        raise InvalidInput(f"There is no folder {folder}.")
    found, own = resolve_links(folder), resolve_links(home)
    if is_system(found):
        raise InvalidInput(f"{found} is the system's own, and no document.")
    if found.is_relative_to(own) or own.is_relative_to(found):
        raise InvalidInput(f"The folder {folder} and the knowledge base {home} must not contain each other.")


def _check_loader(name: str) -> None:
    from argot.corpus.connectors.langchain_loader import find_loader_class
    from argot.corpus.connectors.listing import SourceDown

    try:
        find_loader_class(name)
    except SourceDown as error:
        raise InvalidInput(str(error)) from error
