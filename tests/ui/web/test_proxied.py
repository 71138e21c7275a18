"""Tests of local access while nobody has a password: a request passed on by a proxy does not get it."""

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from reverse_proxies import INSTALLED, front, nginx
from serving import Served, argot
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

PAGE = {"Accept": "text/html"}
SIGNS = [
    {"X-Forwarded-For": "192.0.2.7"},
    {"X-Forwarded-For": ""},
    {"X-Forwarded-Host": "argot.example.com"},
    {"X-Forwarded-Proto": "https"},
    {"x-forwarded-server": "edge"},
    {"X-Real-IP": "192.0.2.7"},
    {"Forwarded": "for=192.0.2.7"},
    {"Via": "1.1 edge"},
    {"CF-Connecting-IP": "192.0.2.7"},
    {"Client-IP": "192.0.2.7"},
    {"X-Original-Forwarded-For": "192.0.2.7"},
    {"Sec-Fetch-Site": "same-origin", "Referer": "http://argot.example.com/glossary"},
]
FOR_WINDOWS = """
proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade";
proxy_set_header X-Forwarded-For $remote_addr;
"""


@pytest.fixture(scope="module")
def served(tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = shutil.copytree(tiny_home, tmp_path_factory.mktemp("proxied") / "kb")
    with Served(home) as served:
        yield served


@pytest.fixture(scope="module")
def ticket(served: Served) -> dict[str, str]:
    """Provide the cookie of the local user, valid where no sign of a proxy is present."""
    cookies = dict(httpx.get(served.url, headers=PAGE).cookies)
    assert cookies and httpx.get(served.url + "/account", cookies=cookies).status_code == 200
    return cookies


def cookie_line(cookies: dict[str, str]) -> str:
    return "; ".join(f"{name}={value}" for name, value in cookies.items())


@pytest.mark.parametrize("sign", SIGNS, ids="-".join)
def test_a_proxied_request_is_not_taken_for_the_local_user(
    served: Served, ticket: dict[str, str], sign: dict[str, str]
) -> None:
    newcomer = httpx.get(served.url, headers={**PAGE, **sign})
    assert newcomer.status_code == 403 and "set-cookie" not in newcomer.headers
    for remedy in ("argot user add NAME --password", "public_url", "trusted_proxies"):
        assert remedy in newcomer.text
    known = {**sign, "Cookie": cookie_line(ticket), "Origin": served.url}
    for method, path in (("GET", "/account"), ("GET", "/glossary"), ("POST", "/project/threads"), ("GET", "/sign-in")):
        assert httpx.request(method, served.url + path, headers=known).status_code == 403, path
    assert httpx.get(served.url + "/api/documents", headers=known).status_code == 403
    assert httpx.get(served.url + "/health", headers=sign).status_code == 200


@pytest.mark.parametrize("sign", SIGNS[:1] + SIGNS[-1:], ids=["header", "referer"])
def test_a_local_window_cannot_be_opened_through_a_proxy(
    served: Served, ticket: dict[str, str], sign: dict[str, str]
) -> None:
    address = served.url.replace("http", "ws", 1) + "/ws/socket.io/?EIO=4&transport=websocket"
    headers = {"Cookie": cookie_line(ticket)}
    with connect(address, origin=served.url, additional_headers=headers) as window:  # type: ignore[arg-type]
        assert str(window.recv()).startswith("0")
    with pytest.raises(InvalidStatus) as refused:
        connect(address, origin=served.url, additional_headers={**headers, **sign})  # type: ignore[arg-type]
    assert refused.value.response.status_code == 403


def test_a_key_is_accepted_through_a_proxy(served: Served) -> None:
    key = argot("key", "add", "local", "--home", served.home).strip()
    headers = {"Authorization": f"Bearer {key}", **SIGNS[0]}
    assert httpx.get(served.url + "/api/documents", headers=headers).status_code == 200


@pytest.mark.skipif("nginx" not in INSTALLED, reason="nginx is not installed")
@pytest.mark.parametrize("more", ["", FOR_WINDOWS], ids=["plain", "named"])
def test_nginx_in_front_gives_nobody_local_access(
    served: Served, ticket: dict[str, str], tmp_path: Path, more: str
) -> None:
    place = tmp_path / "place"
    sites = f"server {{ listen unix:{place}; location / {{ proxy_pass http://127.0.0.1:{served.port}; {more} }} }}"
    with nginx(tmp_path, sites) as process:
        while not place.exists():
            assert process.poll() is None
        transport = httpx.HTTPTransport(uds=str(place))
        with httpx.Client(transport=transport, base_url="http://argot.example.com") as client:
            assert client.get("/health").status_code == 200
            newcomer = client.get("/", headers=PAGE)
            assert newcomer.status_code == 403 and "public_url" in newcomer.text
            assert client.get("/account", headers={"Cookie": cookie_line(ticket)}).status_code == 403


@pytest.mark.parametrize("program", INSTALLED)
def test_example_proxies_are_refused_until_the_public_name_is_set(
    served: Served, ticket: dict[str, str], tmp_path: Path, program: str
) -> None:
    with front(program, tmp_path, served.port) as opened, opened.client(Accept="text/html") as client:
        for path in ("/", "/account", "/glossary"):
            assert client.get(path, headers={"Cookie": cookie_line(ticket)}).status_code == 421, path


def test_a_request_with_two_host_headers_is_refused(served: Served) -> None:
    own = served.url.removeprefix("http://")
    with socket.create_connection((own.partition(":")[0], served.port), timeout=120) as connection:
        connection.sendall(f"GET /health HTTP/1.1\r\nHost: {own}\r\nHost: evil.example\r\n\r\n".encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 400")


def test_an_http_1_0_request_is_not_taken_for_a_browser(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port)) as connection:
        connection.sendall(f"GET / HTTP/1.0\r\nHost: 127.0.0.1:{served.port}\r\nAccept: text/html\r\n\r\n".encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.split(b"\r\n")[0].endswith(b"403 Forbidden") and b"HTTP/1.0" in answer
