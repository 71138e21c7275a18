"""A git repository as a source: a file is read if the hash of its content has changed.

The system's `git` fetches the newest commit of one branch into a temporary bare repository: nothing is checked out, no
hook is run, no submodule or large-file store is followed, and network access ignores the machine's settings. The
branch's commit is requested first; if it is unchanged, nothing is fetched.
"""

from __future__ import annotations

import base64
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urlsplit, urlunsplit

from argot.corpus.connectors.listing import ListedDocument, Patterns, SourceDown
from argot.corpus.connectors.public_network import is_address, normalize_host, resolve_public_addresses
from argot.corpus.ingestion.source import Source
from argot.corpus.readers import SUFFIXES
from argot.document_names import find_leftover_kind
from argot.files import NotAFile

LOOKUP_SECONDS = 60
FETCH_SECONDS = 1800
POLL_SECONDS = 0.5
_FILE_MODES = ("100644", "100755")
"""Regular files: a link would be its target's path, and a submodule is another repository."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository at a URL (http, https) or a path of this machine. An empty `branch` is its default branch."""

    address: str
    branch: str = ""
    user: str = ""
    password: str = ""
    private: bool = False
    """True if it may be at an address of a private network."""

    @property
    def is_local(self) -> bool:
        return not self.address.startswith(("http://", "https://"))


class GitConnector:
    """The files of one branch of a repository."""

    def __init__(self, repository: Repository, patterns: Patterns, base_uri: str | None = None) -> None:
        self._repository = repository
        self._patterns = patterns
        self._base_uri = (base_uri or _build_uri(repository)).rstrip("/")
        self._commit = ""
        self._clone: Path | None = None

    def close(self) -> None:
        if self._clone is not None:
            shutil.rmtree(self._clone, ignore_errors=True)

    def mark(self) -> str:
        ref = f"refs/heads/{self._repository.branch}" if self._repository.branch else "HEAD"
        output = self._run_git(
            ["ls-remote", "--exit-code", "--", _pin_address(self._repository), ref], LOOKUP_SECONDS
        ).decode()
        # `refs/heads/main` is also the end of `refs/heads/x/refs/heads/main`.
        found = [commit for commit, _, name in (one.partition("\t") for one in output.splitlines()) if name == ref]
        if not found:
            raise SourceDown(f"The repository {self._repository.address} has no {ref}.")
        self._commit = found[0]
        return self._commit

    def list_documents(self, known: Mapping[str, str]) -> Iterator[ListedDocument | None]:
        yield from self._fetch()
        for entry in self._run_git(["ls-tree", "-r", "-z", "-l", "--full-tree", "FETCH_HEAD"], LOOKUP_SECONDS).split(
            b"\0"
        ):
            about, _, path = entry.partition(b"\t")
            if not about:
                continue
            mode, _, blob, size = about.decode().split()
            name = os.fsdecode(path)
            if mode in _FILE_MODES and not _is_hidden(name) and self._patterns.accept(name):
                yield ListedDocument(self._make_source(name, blob, int(size)), blob)

    def _make_source(self, path: str, blob: str, size: int) -> Source:
        suffix = PurePosixPath(path).suffix
        skip = "" if not suffix or suffix.casefold() in SUFFIXES else f"unknown kind of file ({suffix})"
        uri = f"{self._base_uri}/{quote(path, errors='surrogateescape')}"
        return Source(uri, PurePosixPath(path).name, partial(self._read_blob, blob), size, skip)

    def _read_blob(self, blob: str) -> bytes:
        try:
            return self._run_git(["cat-file", "blob", blob], LOOKUP_SECONDS)
        except SourceDown as error:
            raise NotAFile(str(error)) from error

    def _fetch(self) -> Iterator[None]:
        self._clone = Path(tempfile.mkdtemp(prefix="argot-git-"))
        self._run_git(["init", "--quiet", "--bare", "--template="], LOOKUP_SECONDS)
        branch = f"refs/heads/{self._repository.branch}" if self._repository.branch else "HEAD"
        options = ["--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance"]
        yield from self._run_git_stoppable(
            ["fetch", *options, "--", _pin_address(self._repository), branch], FETCH_SECONDS
        )

    def _run_git(self, arguments: Sequence[str], seconds: int) -> bytes:
        """Return the output of git.

        Raises:
            SourceDown: git is not installed, fails, or exceeds the time limit.
        """
        process = self._start_git(arguments)
        try:
            output, wrong = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as error:
            raise self._report_timeout(seconds) from error
        finally:
            _end(process)
        self._check_exit(process, wrong)
        return output

    def _run_git_stoppable(self, arguments: Sequence[str], seconds: int) -> Iterator[None]:
        """Run git for a longer time: it ends when the caller stops iterating."""
        process = self._start_git(arguments)
        end = time.monotonic() + seconds
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    _, wrong = process.communicate(timeout=POLL_SECONDS)
                    break
                if time.monotonic() > end:
                    raise self._report_timeout(seconds)
                yield
        finally:
            _end(process)
        self._check_exit(process, wrong)

    def _start_git(self, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(  # noqa: S603  (no shell; the address stands behind `--`)
                ["git", *arguments],  # noqa: S607
                cwd=self._clone or "/",
                env=_build_environment(self._repository),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # In one process group with the programs that it starts, to be ended together.
                start_new_session=True,
            )
        except FileNotFoundError as error:
            raise SourceDown("git is not installed here. On Debian: apt install git") from error

    def _report_timeout(self, seconds: int) -> SourceDown:
        return SourceDown(f"The repository {self._repository.address} did not answer within {seconds} s.")

    def _check_exit(self, process: subprocess.Popen[bytes], wrong: bytes) -> None:
        if process.returncode:
            lines = wrong.decode(errors="replace").strip().splitlines()
            # The last line is the error; warnings and hints precede it.
            reason = lines[-1].removeprefix("fatal: ") if lines else f"git ended with {process.returncode}"
            raise SourceDown(f"The repository {self._repository.address} cannot be read: {reason}")


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _build_environment(repository: Repository) -> dict[str, str]:
    """Return only the variables that git needs, and none of Argot's settings.

    Raises:
        SourceDown: the repository's host is in a private network.
    """
    settings = [
        ("core.hooksPath", "/dev/null"),
        ("credential.helper", ""),
        ("core.askPass", ""),
        # A redirect could lead to an unchecked address.
        ("http.followRedirects", "false"),
        # A proxy would resolve the name itself.
        ("http.proxy", ""),
    ]
    if not repository.is_local:
        parts = urlsplit(repository.address)
        host, port = normalize_host(parts.hostname or ""), parts.port or (443 if parts.scheme == "https" else 80)
        if not repository.private:
            # The checked address is the one that is used: a name may resolve differently a moment later.
            addresses = ",".join(f"[{one}]" if ":" in one else one for one in resolve_public_addresses(host, port))
            if not is_address(host):
                settings.append(("http.curloptResolve", f"{host}:{port}:{addresses}"))
        if repository.password:
            pair = base64.b64encode(f"{repository.user}:{repository.password}".encode()).decode()
            settings.append(("http.extraHeader", f"Authorization: Basic {pair}"))
    numbered = {f"GIT_CONFIG_KEY_{n}": key for n, (key, _) in enumerate(settings)}
    numbered |= {f"GIT_CONFIG_VALUE_{n}": value for n, (_, value) in enumerate(settings)}
    # On this machine git's settings decide whose repositories it may open.
    alone = {"HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C.UTF-8",
        **({"HOME": os.environ.get("HOME", "/")} if repository.is_local else alone),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": "file" if repository.is_local else "http:https",
        "GIT_CONFIG_COUNT": str(len(settings)),
        **numbered,
    }


def _pin_address(repository: Repository) -> str:
    """Return the address with its host as git's library looks it up, so that it finds the address that was pinned."""
    if repository.is_local:
        return repository.address
    parts = urlsplit(repository.address)
    host = normalize_host(parts.hostname or "")
    port = f":{parts.port}" if parts.port else ""
    return urlunsplit(parts._replace(netloc=f"[{host}]{port}" if ":" in host else f"{host}{port}"))


def _build_uri(repository: Repository) -> str:
    """Return the default beginning of the URIs of its files."""
    address = repository.address.removesuffix("/").removesuffix(".git")
    return Path(address).as_uri() if repository.is_local else address


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/")) or bool(find_leftover_kind(path))
