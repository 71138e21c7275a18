"""Tests of the example configurations of reverse proxies, where nginx or Caddy is installed."""

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from repository import ROOT
from reverse_proxies import INSTALLED, NAME, ORIGIN, Front, front
from serving import Served, argot
from websockets.sync.client import connect

PASSWORD = "tilted copper llama 9"
ELSEWHERE = "203.0.113.9"
QUESTION = "How do I trim the drive?"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def served(tiny_home: Path, shared_model: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Provide a service that trusts a proxy on this machine, also when the proxy names the user."""
    home = Path(shutil.copytree(tiny_home, tmp_path_factory.mktemp("behind") / "kb"))
    argot("user", "add", "ann", "--password", "--home", home, typed=f"{PASSWORD}\n")
    port = free_port()
    with Served(
        home, "--port", str(port), ARGOT_PUBLIC_URL=ORIGIN, ARGOT_TRUSTED_PROXIES="127.0.0.1",
        ARGOT_SIGN_IN_HEADER="X-Remote-User", ARGOT_MODEL_URL=shared_model.url,
    ) as server:  # fmt: skip
        server.port = port
        yield server


@pytest.fixture(scope="module", params=INSTALLED or [pytest.param("", marks=pytest.mark.skip("no proxy installed"))])
def opened(request: pytest.FixtureRequest, served: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    with front(request.param, tmp_path_factory.mktemp(request.param), served.port) as opened:
        yield opened


def sign_in(client: httpx.Client) -> str:
    """Return the cookie of a session. Callers send it by hand: it is bound to the public name, unknown to httpx."""
    answer = client.post("/sign-in", data={"name": "ann", "password": PASSWORD})
    assert answer.status_code == 303 and "Secure" in answer.headers["set-cookie"]
    return answer.headers["set-cookie"].partition(";")[0]


def test_http_redirects_to_https(opened: Front) -> None:
    answer = httpx.get(f"http://127.0.0.1:{opened.http}/glossary?x=1", headers={"Host": NAME})
    assert answer.status_code == 308
    assert answer.headers["location"].replace(f":{opened.https}", "") == f"{ORIGIN}/glossary?x=1"


def test_people_sign_in_and_open_a_window_through_the_proxy(opened: Front) -> None:
    with opened.client(Accept="text/html") as client:
        cookie = sign_in(client)
        assert client.get("/account", headers={"Cookie": cookie}).status_code == 200
    with opened.connect() as raw, connect(
        f"ws://{NAME}/ws/socket.io/?EIO=4&transport=websocket", sock=raw,
        origin=ORIGIN, additional_headers={"Cookie": cookie},  # type: ignore[arg-type]
        # The first window of a service loads the chat, which is slow on a busy machine.
        open_timeout=120,
    ) as window:  # fmt: skip
        assert str(window.recv()).startswith("0")


def test_forwarding_headers_of_a_browser_are_ignored(opened: Front, served: Served) -> None:
    claims = {"X-Forwarded-For": ELSEWHERE, "Forwarded": f"for={ELSEWHERE}", "X-Remote-User": "ann"}
    direct = httpx.get(served.url.replace("localhost", "127.0.0.1") + "/account", headers={**claims, "Host": NAME})
    assert direct.status_code == 200, "the service itself believes this machine"
    with opened.client(Accept="text/html", **claims) as client:
        assert client.get("/account").headers["location"].startswith("/sign-in")
        sign_in(client)
        assert ELSEWHERE not in argot("user", "sessions", "ann", "--home", served.home)


def test_an_answer_is_streamed_through_the_proxy(opened: Front, served: Served, shared_model: Any) -> None:
    key = argot("key", "add", "ann", "--home", served.home).strip()
    shared_model.reset()
    shared_model.fault("hang", prompt="cited_answer")
    asking = {"Authorization": f"Bearer {key}", "Accept": "text/event-stream"}
    with opened.client(**asking) as client, client.stream("POST", "/api/ask", json={"question": QUESTION}) as answer:
        lines = answer.iter_lines()
        assert next(line for line in lines if line.startswith("event: stage"))
        assert not any(line.startswith("event: result") for line in [next(lines)])


def test_an_oversized_file_is_refused_at_once_by_nginx(opened: Front, request: pytest.FixtureRequest) -> None:
    if "nginx" not in request.node.callspec.id:
        pytest.skip("Caddy counts what it passes on, and Argot refuses it")
    head = f"POST /documents HTTP/1.1\r\nHost: {NAME}\r\nContent-Length: 120000000\r\n\r\n"
    with opened.connect() as connection:
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 413")


def test_the_examples_name_argots_port_and_file_size_limit() -> None:
    from argot.settings import SETTING_FIELDS

    port, most = SETTING_FIELDS["port"].default, SETTING_FIELDS["max_file_mb"].default
    for name, size in (("nginx.conf", "110m;"), ("Caddyfile", "110MB")):
        text = (ROOT / "deploy" / "proxy" / name).read_text("utf-8")
        assert f"127.0.0.1:{port}" in text and size in text and most < 110
        for setting in ("X-Forwarded-For", "Forwarded", "X-Remote-User"):
            assert setting in text
