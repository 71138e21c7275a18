"""A Chroma server: its address, the connection to it, and the meaning of its errors.

An address may contain a name and a password, for a proxy in front of the server. They are sent in a header and appear
in no message: `ServerAddress.url` is without them.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from argot.errors import ArgotError, InvalidSettings, VectorsUnavailable

if TYPE_CHECKING:
    from chromadb.api import ServerAPI
    from chromadb.config import System

CONNECT_SECONDS = 2.0
LONG_WAIT_SECONDS = 60.0
"""Timeout for work that no question waits for: writing, counting, copying."""
MIN_VERSION = 1
"""The first version whose servers use the same protocol."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """`url` is for people; `header` authorises, and is empty without credentials."""

    url: str
    host: str
    port: int
    ssl: bool
    header: str = field(default="", repr=False)

    @classmethod
    def of(cls, given: str) -> ServerAddress:
        """Return the address that the setting gives.

        Raises:
            InvalidSettings: it is no address. The message does not repeat it, because it may contain a password.
        """
        try:
            parts = urlsplit(given)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            host, port, parts = "", None, urlsplit("")
        if parts.scheme not in ("http", "https") or not host or parts.path.strip("/") or parts.query or parts.fragment:
            raise InvalidSettings(
                "The setting 'chroma_url' is no address of a Chroma server. "
                "Give it as http://HOST:PORT, https://HOST:PORT or https://NAME:PASSWORD@HOST:PORT."
            )
        ssl = parts.scheme == "https"
        port = port or (443 if ssl else 8000)
        shown = f"[{host}]" if ":" in host else host
        header = ""
        if parts.username is not None:
            pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            header = f"Basic {base64.b64encode(pair.encode()).decode()}"
        return cls(f"{parts.scheme}://{shown}:{port}", shown, port, ssl, header)


class ChromaServer:
    """A connection to it, made on first use. `quick` is for requests that a question waits for, `patient` for the rest.

    Args:
        search_seconds: the maximum duration of a request that a question waits for.
        mend: the command that rewrites all vectors of the knowledge base.
    """

    def __init__(self, address: ServerAddress, search_seconds: float, mend: str) -> None:
        self.address = address
        self._search_seconds = search_seconds
        self._mend = mend
        self._systems: dict[float, System] = {}

    @property
    def quick(self) -> ServerAPI:
        return self._api(self._search_seconds)

    @property
    def patient(self) -> ServerAPI:
        return self._api(LONG_WAIT_SECONDS)

    def version(self, *, quick: bool = False) -> str:
        """Return the version of the server.

        Raises:
            VectorsUnavailable: it cannot be reached, or is incompatible.
        """
        with self.errors_named():
            # Any program may answer there, with any JSON.
            version = str((self.quick if quick else self.patient).get_version())[:50]
        if not version.split(".")[0].isdecimal() or int(version.split(".")[0]) < MIN_VERSION:
            raise VectorsUnavailable(
                f"The Chroma server at {self.address.url} has version {version}, and {MIN_VERSION}.0 is the least "
                "that can be used. Bring it up to date: pip install --upgrade chromadb"
            )
        return version

    def build_lost_error(self, reason: str) -> VectorsUnavailable:
        """Return the error that the server answers but lacks the vectors of this knowledge base."""
        text = " ".join(reason.split())
        return VectorsUnavailable(
            f"The vectors that should be on the Chroma server at {self.address.url} are not as they should be: {text}. "
            f"Put them there with: {self._mend}",
            lost=True,
        )

    def close(self) -> None:
        for system in self._systems.values():
            system.stop()
        self._systems.clear()

    @contextmanager
    def errors_named(self) -> Iterator[None]:
        """Turn Chroma's errors within the block into Argot's.

        Raises:
            VectorsUnavailable
        """
        try:
            yield
        except ArgotError:
            raise
        except Exception as error:
            if _is_lost(error):
                raise self.build_lost_error(str(error)) from error
            import httpx

            broke_off = isinstance(error, httpx.TransportError) and not isinstance(error, httpx.TimeoutException)
            raise VectorsUnavailable(_explain(self.address.url, error), broke_off=broke_off) from error

    def _api(self, seconds: float) -> ServerAPI:
        from chromadb.api.fastapi import FastAPI
        from chromadb.config import System

        if seconds not in self._systems:
            import httpx

            system = System(self._settings())
            api = system.instance(FastAPI)
            # By default Chroma's client waits for ever.
            api._session.timeout = httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))
            system.start()
            self._systems[seconds] = system
        return self._systems[seconds].instance(FastAPI)

    def _settings(self) -> Any:
        from chromadb.config import Settings

        address = self.address
        return Settings(
            chroma_api_impl="chromadb.api.fastapi.FastAPI",
            chroma_server_host=address.host,
            chroma_server_http_port=address.port,
            chroma_server_ssl_enabled=address.ssl,
            chroma_server_headers={"Authorization": address.header} if address.header else {},
            # By default Chroma sends usage statistics to its makers.
            anonymized_telemetry=False,
        )


def _is_lost(error: Exception) -> bool:
    """Return whether the server answers but has lost the data written to it."""
    from chromadb.errors import InvalidDimensionException, NotFoundError

    return isinstance(error, NotFoundError | InvalidDimensionException)


def _explain(url: str, error: Exception) -> str:
    """Explain an error and its remedy in whole sentences."""
    import httpx
    from chromadb.errors import AuthorizationError, ChromaAuthError, ChromaError

    server = f"The Chroma server at {url}"
    if isinstance(error, httpx.TimeoutException):
        return f"{server} takes too long to answer. See its load and its log, or raise the setting 'chroma_seconds'."
    if isinstance(error, httpx.TransportError):
        return (
            f"{server} cannot be reached ({str(error) or type(error).__name__}). Start it (chroma run), or correct the "
            "setting 'chroma_url'."
        )
    text = " ".join(str(error).split())[:300]
    if isinstance(error, AuthorizationError | ChromaAuthError) or text.startswith(("401", "403")):
        return f"{server} refuses the name and password of the setting 'chroma_url'."
    if "disk is full" in text:
        return f"{server} has no room: {text}. Free some space on its disk."
    if isinstance(error, ChromaError):
        return f"{server} fails: {text}. Its log says more."
    return f"What answers at {url} is no Chroma server of version {MIN_VERSION}.0 or later. Correct 'chroma_url'."
