"""The address of the model server: the URL that people give, and the URLs of its endpoints."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from argot.errors import InvalidSettings

EXAMPLE_URL = "http://127.0.0.1:8011/v1"


@dataclass(frozen=True, slots=True)
class ModelAddress:
    """`api` is the OpenAI interface's URL, ending in /v1; `root` is the server's own, for /tokenize."""

    api: str
    root: str
    host: str
    local: bool

    def __str__(self) -> str:
        return self.host


def parse_address(url: str) -> ModelAddress:
    """Return the address, from a URL with or without /v1 and a slash at its end.

    Raises:
        InvalidSettings: this is no http(s) URL with a host, or it carries a password, a query or a fragment.
    """
    try:
        parts = urlsplit(url.strip())
        _ = parts.port  # read to validate it
    except ValueError:
        raise _refuse("no URL") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise _refuse("no http:// or https:// URL with a host")
    if parts.username or parts.password:
        raise _refuse("a URL with a password; the key belongs into ARGOT_MODEL_KEY")
    if parts.query or parts.fragment or any(letter.isspace() for letter in parts.netloc + parts.path):
        raise _refuse("a URL with more than an address and a path")
    path = parts.path.rstrip("/")
    for endpoint in ("/chat/completions", "/models"):  # people copy URLs from a browser
        path = path.removesuffix(endpoint)
    path = path.removesuffix("/v1").rstrip("/")
    root = f"{parts.scheme}://{parts.netloc}{path}"
    return ModelAddress(f"{root}/v1", root, parts.netloc, is_local(parts.hostname))


def _refuse(what: str) -> InvalidSettings:
    # Never with the URL itself: it may contain a password.
    return InvalidSettings(
        f"Setting 'model_url' (ARGOT_MODEL_URL) is {what}. Give it as {EXAMPLE_URL}, or leave it empty."
    )


def is_local(host: str) -> bool:
    """Return whether a host is this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
