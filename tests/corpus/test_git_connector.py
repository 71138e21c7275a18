"""A git repository as a source: real repositories, on the local disk and behind a real git server."""

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from argot.corpus.connectors import public_network
from argot.corpus.connectors.git_connector import GitConnector, Repository
from argot.corpus.connectors.listing import Patterns, SourceDown
from argot.corpus.connectors.source_store import SourceRecord, SourceStore
from argot.corpus.connectors.synchronisation import Synchronisation
from argot.corpus.corpus import Corpus
from argot.settings import Settings
from argot.types import Principal

ROOT = Principal("root", sees_all=True)


def git(*arguments: str, cwd: Path) -> str:
    names = {f"GIT_{who}_{what}": "ann@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        ["git", *arguments], cwd=cwd, env={**os.environ, **names}, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def commit(repository: Path, **files: str | None) -> None:
    for name, text in files.items():
        path = repository / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            path.with_suffix(".md").unlink()
        else:
            path.with_suffix(".md").write_text(f"# About {text}\n\nThe {text} is here.\n")
    git("add", "--all", cwd=repository)
    git("commit", "--quiet", "--message", "as it is", cwd=repository)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Make a repository with a hook that would show if it ran, a link, a hidden file and a file of another kind."""
    made = tmp_path / "handbook"
    made.mkdir()
    git("init", "--quiet", "--initial-branch=main", cwd=made)
    for hook in ("post-checkout", "post-merge", "reference-transaction", "pre-auto-gc"):
        path = made / ".git" / "hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        path.chmod(0o755)
    (made / "program.xyz").write_text("none")
    (made / ".hidden.md").write_text("# Hidden\n")
    (made / "link.md").symlink_to("/etc/passwd")
    commit(made, docs__a="anvil", docs__b="bolt", c="clamp")
    (tmp_path / "ran").unlink(missing_ok=True)
    return made


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    opened = Corpus.open(tmp_path / "kb", Settings(threads=1))
    yield opened
    opened.close()


def sync(corpus: Corpus, repository: Repository, *include: str) -> Synchronisation:
    store = SourceStore(corpus.store.database)
    record = next(iter(store.list_sources()), None) or store.add(SourceRecord("docs", "git", "", {}))
    run = Synchronisation(corpus, record, lambda: GitConnector(repository, Patterns(include)), by=ROOT)
    list(run.run())
    return run


def counts(run: Synchronisation) -> dict[str, int]:
    return {kind: count for kind, count in run.counts.items() if count}


def test_only_files_changed_by_a_commit_are_read(
    corpus: Corpus, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    here = Repository(str(repository))
    assert counts(sync(corpus, here)) == {"added": 3, "skipped": 1}
    assert {one.uri for one in corpus.store.documents(ROOT)} == {
        (repository / name).as_uri() for name in ("docs/a.md", "docs/b.md", "c.md")
    }
    assert not (repository.parent / "ran").exists()
    calls: list[Any] = []
    started = GitConnector._start_git
    monkeypatch.setattr(GitConnector, "_start_git", lambda self, what: calls.append(what[0]) or started(self, what))
    assert counts(sync(corpus, here)) == {"unchanged": 3}
    assert calls == ["ls-remote"]
    git("mv", "c.md", "docs/d.md", cwd=repository)
    commit(repository, docs__a="another anvil", docs__b=None)
    calls.clear()
    assert counts(sync(corpus, here)) == {"updated": 1, "renamed": 1, "removed": 1, "skipped": 1}
    assert calls.count("cat-file") == 2
    assert list(scratch.iterdir()) == []


def test_a_branch_and_patterns_select_files(corpus: Corpus, repository: Path) -> None:
    git("switch", "--quiet", "--create", "draft", cwd=repository)
    commit(repository, docs__new="new")
    git("switch", "--quiet", "main", cwd=repository)
    assert counts(sync(corpus, Repository(str(repository), "draft"), "docs/")) == {"added": 3}
    run = sync(corpus, Repository(str(repository), "gone"))
    assert run.state == "failed" and len(corpus.store.documents(ROOT)) == 3


def test_a_missing_repository_fails_and_removes_no_document(corpus: Corpus, repository: Path) -> None:
    here = Repository(str(repository))
    sync(corpus, here)
    repository.rename(repository.with_name("away"))
    run = sync(corpus, here)
    assert run.state == "failed" and str(repository) in run.detail
    assert len(corpus.store.documents(ROOT)) == 3


# -- over the network -------------------------------------------------------------------------------------------------


class _Backend(BaseHTTPRequestHandler):
    """A server that runs `git http-backend`, as real git servers do."""

    root: Path
    password = ""
    asked: list[str]

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        self.asked.append(self.path)
        if self.path.startswith("/moved"):
            self.send_response(301)
            self.send_header("Location", self.path.replace("/moved", "", 1))
            self.end_headers()
            return
        if self.password and self.headers.get("Authorization") != self.password:
            self.send_error(401)
            return
        path, _, query = self.path.partition("?")
        told = {
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        done = subprocess.run(
            ["git", "http-backend"], input=body, capture_output=True, env={**os.environ, **told}, check=False
        )
        head, _, rest = done.stdout.partition(b"\r\n\r\n")
        lines = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self.send_response(int(lines.pop("Status", "200").split()[0]))
        for name, value in lines.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(rest)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def server(repository: Path, tmp_path: Path) -> Iterator[tuple[type[_Backend], str]]:
    git("clone", "--quiet", "--bare", str(repository), "served/handbook.git", cwd=tmp_path)
    handler = type("Backend", (_Backend,), {"root": tmp_path / "served", "asked": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield handler, f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()
        thread.join()


def test_a_repository_on_a_server_is_read_with_a_password(corpus: Corpus, server: tuple[type[_Backend], str]) -> None:
    handler, url = server
    there = Repository(f"{url}/handbook.git", private=True)
    assert counts(sync(corpus, there)) == {"added": 3, "skipped": 1}
    assert {one.uri for one in corpus.store.documents(ROOT)} >= {f"{url}/handbook/docs/a.md"}
    assert counts(sync(corpus, there)) == {"unchanged": 3}
    handler.password = "Basic YW5uOm9wZW4gc2VzYW1l"
    assert sync(corpus, there).state == "failed"
    with_password = Repository(f"{url}/handbook.git", user="ann", password="open sesame", private=True)
    assert counts(sync(corpus, with_password)) == {"unchanged": 3}


def test_a_private_network_and_redirects_are_refused(
    server: tuple[type[_Backend], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    handler, url = server
    with pytest.raises(SourceDown, match="lies in a private network"):
        GitConnector(Repository(f"{url}/handbook.git"), Patterns()).mark()
    assert handler.asked == []
    with pytest.raises(SourceDown, match="cannot be read"):
        GitConnector(Repository(f"{url}/moved/handbook.git", private=True), Patterns()).mark()
    # The checked address is used, even if the name resolves to another one by now.
    port = url.rpartition(":")[2]
    monkeypatch.setattr("argot.corpus.connectors.git_connector.resolve_public_addresses", lambda *_: ["127.0.0.1"])
    with closing(GitConnector(Repository(f"http://nowhere.invalid:{port}/handbook.git"), Patterns())) as there:
        assert len(there.mark()) == 40


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::a00:1", False),
        ("2002:0a00:0001::1", False),
    ],
)
def test_public_addresses_are_recognised(address: str, public: bool) -> None:
    assert public_network._is_public(address) is public


def test_a_name_that_resolves_to_a_private_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "socket.getaddrinfo", lambda *_, **__: [(2, 1, 6, "", ("93.184.216.34", 80)), (2, 1, 6, "", ("10.0.0.1", 80))]
    )
    with pytest.raises(SourceDown, match="lies in a private network"):
        public_network.resolve_public_addresses("example.org", 80)


def test_a_fetch_is_ended_when_cancelled_or_too_slow(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    slow = tmp_path / "bin" / "git"
    slow.write_text(f'#!/bin/sh\nif [ "$1" = fetch ]; then echo $$ > {tmp_path}/pid; sleep 600; fi\n')
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setattr("argot.corpus.connectors.git_connector.POLL_SECONDS", 0.05)
    with closing(GitConnector(Repository(str(repository)), Patterns())) as there:
        listing = there.list_documents({})
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
            assert next(listing) is None
        process = int((tmp_path / "pid").read_text())
        os.kill(process, 0)
        listing.close()  # type: ignore[attr-defined]
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)
        monkeypatch.setattr("argot.corpus.connectors.git_connector.FETCH_SECONDS", 0)
        with pytest.raises(SourceDown, match="did not answer within 0 s"):
            list(there.list_documents({}))
