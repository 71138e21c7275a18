"""Pages of untrusted web servers, fetched with limits on size and time and never from a private network."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import urljoin, urlsplit, urlunsplit

import httpx

from argot import __version__
from argot.corpus.connectors.public_network import resolve_public_addresses

USER_AGENT = "Argot"
"""Argot's name in robots.txt."""
CONNECT_SECONDS = 10
READ_SECONDS = 30
PAGE_SECONDS = 120
MAX_REDIRECTS = 5


class FetchFailed(Exception):
    """One address returned nothing usable; the message is the reason. The next attempt may succeed."""


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """The response of an address; `url` is the final one after redirects. `status` 304: unchanged."""

    url: str
    status: int
    media_type: str = ""
    etag: str = ""
    modified: str = ""
    data: bytes = b""


class WebFetcher:
    """A context manager. It sends the name and password only to their origin."""

    def __init__(
        self, origin: str, *, most_bytes: int, private: bool = False, auth: tuple[str, str] | None = None
    ) -> None:
        self._origin = origin
        self._most_bytes = most_bytes
        self._auth = auth
        self._client = httpx.Client(
            transport=httpx.HTTPTransport() if private else _PublicTransport(),
            headers={"User-Agent": f"{USER_AGENT}/{__version__}", "Accept-Encoding": "gzip, deflate"},
            timeout=httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
            # A proxy of the environment would fetch forbidden addresses.
            trust_env=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._client.close()

    def get(
        self, url: str, *, allowed: Callable[[str], bool], etag: str = "", modified: str = ""
    ) -> FetchedPage | None:
        """Return the page at an address; None if a redirect leads to an address that is not `allowed`.

        With the `etag` or the time of a known version, the status is 304 while the page is unchanged.

        Raises:
            FetchFailed: it does not answer, or exceeds the limit.
            SourceDown: its host is in a private network, or does not exist.
        """
        known = {name: value for name, value in (("If-None-Match", etag), ("If-Modified-Since", modified)) if value}
        end = time.monotonic() + PAGE_SECONDS
        for _ in range(MAX_REDIRECTS + 1):
            if not allowed(url):
                return None
            found = self._fetch_once(url, known, end)
            if isinstance(found, FetchedPage):
                return found
            url = normalize_url(urljoin(url, found))
        raise FetchFailed(f"more than {MAX_REDIRECTS} redirects")

    def _fetch_once(self, url: str, headers: dict[str, str], end: float) -> FetchedPage | str:
        """Return the page, or the address that a redirect leads to."""
        auth = self._auth if self._auth and parse_origin(url) == self._origin else None
        try:
            with self._client.stream("GET", url, headers=headers, auth=auth, follow_redirects=False) as response:
                if response.has_redirect_location:
                    return response.headers["Location"]
                data = self._read_body(response, end) if response.status_code == httpx.codes.OK else b""
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise FetchFailed(str(error) or type(error).__name__) from error
        told = response.headers
        media_type = told.get("Content-Type", "").partition(";")[0].strip().lower()
        return FetchedPage(
            url, response.status_code, media_type, told.get("ETag", ""), told.get("Last-Modified", ""), data
        )

    def _read_body(self, response: httpx.Response, end: float) -> bytes:
        data = bytearray()
        for some in response.iter_bytes():
            data += some
            if len(data) > self._most_bytes:
                raise FetchFailed(f"it is larger than {self._most_bytes // 1_000_000} MB")
            if time.monotonic() > end:
                raise FetchFailed(f"it took longer than {PAGE_SECONDS} s")
        return bytes(data)


class _PublicTransport(httpx.BaseTransport):
    """Connects to the checked address itself: a name may resolve differently a moment later."""

    def __init__(self) -> None:
        self._inner = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        # `host` is in Unicode, for people to read.
        host, port = (
            request.url.raw_host.decode("ascii"),
            request.url.port or (443 if request.url.scheme == "https" else 80),
        )
        address = resolve_public_addresses(host, port)[0]
        # The certificate is still checked for the name, and the header `Host` is already set to it.
        request.extensions["sni_hostname"] = host
        request.url = request.url.copy_with(host=address)
        return self._inner.handle_request(request)

    def close(self) -> None:
        self._inner.close()


def parse_origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def normalize_url(url: str) -> str:
    """Return the canonical form of an address: without fragment, name, password and default port.

    Raises:
        FetchFailed: it is no web address.
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError as error:
        raise FetchFailed(f"no address: {error}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise FetchFailed("no address of the web")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    stated = "" if port in (None, 443 if parts.scheme == "https" else 80) else f":{port}"
    return urlunsplit((parts.scheme, f"{host}{stated}", parts.path or "/", parts.query, ""))
