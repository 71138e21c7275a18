"""Tests that nothing leaves the machine: commands, services and their child processes connect to this machine only."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving import PATIENCE, Served, argot

WATCH = """
import json, os, sys

def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg"):
        place = arguments[-1] if event in ("socket.connect", "socket.sendto", "socket.sendmsg") else arguments[0]
        with open(os.environ["CONNECTIONS"], "a") as log:
            log.write(json.dumps([event, place if isinstance(place, str) else repr(place)]) + "\\n")

sys.addaudithook(watch)
"""
"""Python looks for this module at every start, also of children (readers, the export of the embedder)."""

TRACKER = "tracker.invalid"
PAGE = f"""<html><head><link rel="stylesheet" href="http://{TRACKER}/s.css">
<script src="//{TRACKER}/x.js"></script></head>
<body><h1>Remote</h1><p>The remote picture is here <img src="http://{TRACKER}/p.png">.</p>
<iframe src="http://{TRACKER}/f"></iframe></body></html>"""
RST = f"""Remote
======

.. csv-table:: t
   :url: http://{TRACKER}/t.csv

.. raw:: html
   :url: http://{TRACKER}/r.html

.. include:: /etc/hostname

.. image:: http://{TRACKER}/i.png

The remote table is here.
"""


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Record every connection of every Python process started in the test, as one line of JSON each."""
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch" / "sitecustomize.py").write_text(WATCH)
    log = tmp_path / "connections"
    log.touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "watch"))
    monkeypatch.setenv("CONNECTIONS", str(log))
    return log


def outward(log: Path) -> list[Any]:
    """Return the connections to other machines; loopback addresses and Unix sockets are local."""
    made = [json.loads(line) for line in log.read_text().splitlines()]
    own = re.compile(r"(?:\('(?:127\.0\.0\.1|::1|localhost)'.*|'?/.*|b'/.*|127\.0\.0\.1|::1|localhost)")
    return [one for one in made if not own.fullmatch(one[1])]


def test_no_connection_leaves_the_machine(watched: Path, tiny_home: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "page.html").write_text(PAGE)
    (folder / "remote.rst").write_text(RST)
    argot("add", folder, "--home", home)
    assert "Word Line" in argot("ask", "What is the WL voltage during a read?", "--home", home)
    with Served(home) as server:
        headers = {"Accept": "text/html", "Origin": server.url}
        browser = httpx.Client(base_url=server.url, headers=headers, timeout=PATIENCE)
        assert browser.get("/").status_code == 200
        assert browser.post("/project/threads", json={"pagination": {"first": 9}, "filter": {}}).status_code == 200
        assert "remote table" in argot("ask", "Where is the remote table?", "--home", home)
    assert outward(watched) == []
    # The audit hook was active: a socket was used.
    assert any("socket" in one for one in watched.read_text().splitlines())


def test_the_audit_hook_sees_a_connection(watched: Path) -> None:
    script = f"import socket\ntry: socket.create_connection(('{TRACKER}', 80), 1)\nexcept OSError: pass"
    subprocess.run([sys.executable, "-c", script], check=True)
    assert outward(watched)[0] == ["socket.getaddrinfo", TRACKER]  # some resolvers return an address for any name
