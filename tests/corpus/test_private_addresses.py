"""No web source reaches our own network (check 16): a listener counts 0 hits."""

import os
import socket
from contextlib import closing
from typing import Any

import httpx
import pytest
from network_listener import Listener

from argot.corpus.connectors import public_network, web_fetch
from argot.corpus.connectors.git_connector import GitConnector, Repository
from argot.corpus.connectors.imap_connector import ImapConnector, parse_mailbox
from argot.corpus.connectors.listing import Patterns, SourceDown
from argot.corpus.connectors.public_network import resolve_public_addresses
from argot.corpus.connectors.web_connector import WebConnector, WebSite
from argot.corpus.connectors.web_fetch import FetchFailed, WebFetcher

PUBLIC = "93.184.215.14"

HOSTS = [
    *("127.0.0.1", "localhost", "127.1", "127.0.1", "127.255.255.254", "0.0.0.0", "0"),
    *("2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001", "127.0.0.1."),
    *("[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]"),
    *("[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fe80::1]", "[fc00::1]", "[fd12:3456::1]"),
    *("169.254.169.254", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "[::ffff:169.254.169.254]"),
    *("10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "192.0.2.1", "224.0.0.1", "255.255.255.255"),
    *("\u2460\u2461\u2466.0.0.1", "１２７.0.0.1", "127。0。0。1"),
]


@pytest.mark.parametrize("host", HOSTS)
def test_a_private_address_is_not_fetched_in_any_spelling(host: str, listener: Listener) -> None:
    url = f"http://{host}:{listener.port}/"
    with pytest.raises((SourceDown, FetchFailed)), closing(WebConnector(WebSite(url), Patterns())) as there:
        list(there.list_documents({}))
    with pytest.raises(SourceDown):
        GitConnector(Repository(f"{url}x.git"), Patterns()).mark()
    box = parse_mailbox(f"imap://{host}:{listener.port}/INBOX", "ann", "x", encrypted=False, private=False)
    with pytest.raises(SourceDown):
        ImapConnector(box, Patterns()).mark()
    assert listener.hits == []


@pytest.mark.parametrize("address", ["file:///etc/hostname", "gopher://127.0.0.1:{port}/", "ftp://127.0.0.1:{port}/"])
def test_other_schemes_are_not_fetched(address: str, listener: Listener) -> None:
    with pytest.raises((SourceDown, FetchFailed)):
        WebConnector(WebSite(address.format(port=listener.port)), Patterns())
    with WebFetcher("http://public.example", most_bytes=1000) as fetcher, pytest.raises((SourceDown, FetchFailed)):
        fetcher.get(address.format(port=listener.port), allowed=lambda _: True)
    assert listener.hits == []


def resolved(monkeypatch: pytest.MonkeyPatch, *answers: str) -> list[str]:
    """Resolve `public.example` to these addresses, one after the other, and other names as usual."""
    asked, left, real = [], list(answers), socket.getaddrinfo

    def answer(host: Any, port: Any, *more: Any, **named: Any) -> Any:
        if host != "public.example":
            return real(host, port, *more, **named)
        asked.append(host)
        address = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(public_network.socket, "getaddrinfo", answer)
    return asked


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "2130706433", "localhost", "169.254.169.254"])
def test_a_redirect_to_a_private_network_is_not_followed(
    host: str, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Simulate the public server; a request to any other server would really be sent."""
    resolved(monkeypatch, PUBLIC)
    target = f"http://{host}:{listener.port}/"

    class Played(httpx.BaseTransport):
        def __init__(self) -> None:
            self._real = httpx.HTTPTransport()

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            if request.url.host == PUBLIC:
                return httpx.Response(302, headers={"Location": target})
            return self._real.handle_request(request)

    with WebFetcher("http://public.example", most_bytes=1000) as fetcher:
        transport: Any = fetcher._client._transport
        assert isinstance(transport, web_fetch._PublicTransport)
        transport._inner = Played()
        with pytest.raises((SourceDown, FetchFailed)):
            fetcher.get("http://public.example/", allowed=lambda _: True)
        # Like the crawler, which does not follow links out of the site.
        assert fetcher.get("http://public.example/", allowed=lambda url: "public.example" in url) is None
    assert listener.hits == []


def test_a_name_that_changes_its_address_reaches_no_private_network(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = resolved(monkeypatch, PUBLIC, "127.0.0.1")
    connected: list[str] = []

    class Noting(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            connected.append(request.url.host)
            return httpx.Response(200, text="x")

    with WebFetcher("http://public.example", most_bytes=1000) as fetcher:
        transport: Any = fetcher._client._transport
        transport._inner = Noting()
        url = f"http://public.example:{listener.port}/"
        assert fetcher.get(url, allowed=lambda _: True) is not None
        # The name is resolved once per request, and that address is used; the next request is refused.
        assert (asked, connected) == (["public.example"], [PUBLIC])
        with pytest.raises(SourceDown, match="private network"):
            fetcher.get(url, allowed=lambda _: True)
    assert listener.hits == []


def test_one_private_address_among_public_ones_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, 80)) for one in (PUBLIC, "10.0.0.5")]
    monkeypatch.setattr(public_network.socket, "getaddrinfo", lambda *_, **__: found)
    with pytest.raises(SourceDown, match="lies in a private network") as refused:
        resolve_public_addresses("public.example", 80)
    assert "10.0.0.5" not in str(refused.value)  # who names a host does not learn what stands behind it


def test_a_proxy_set_in_the_environment_is_not_used(listener: Listener, monkeypatch: pytest.MonkeyPatch) -> None:
    resolved(monkeypatch, PUBLIC)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{listener.port}")
    monkeypatch.setattr(web_fetch, "CONNECT_SECONDS", 0.2)
    with WebFetcher("http://public.example", most_bytes=1000) as fetcher:
        transport: Any = fetcher._client._transport
        transport._inner = httpx.MockTransport(lambda _: httpx.Response(200, text="x"))
        assert fetcher.get("http://public.example/", allowed=lambda _: True) is not None
        assert not [one for one in fetcher._client._mounts.values() if one is not None]
    assert os.environ["http_proxy"] and listener.hits == []
