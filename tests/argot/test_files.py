"""Links, pipes, devices and system files: reported with a reason, never followed out of a folder or waited for."""

import errno
import os
import socket
import stat
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from serving import run

from argot.corpus.ingestion.source import Source
from argot.corpus.ingestion.sources import list_sources
from argot.corpus.store.blobs import FolderBlobs
from argot.errors import DamagedStore
from argot.files import NotAFile, flush_folder, read_below, read_bytes, replace_atomically, write_atomically

HANGS = 300
"""Seconds after which a command is taken to hang; no measure of anything."""
SECRET = "The canary is zweiundvierzigfach."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a folder with documents, beside a folder with a secret file."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "shadow.txt").write_text(SECRET)
    (tmp_path / "docs" / "inner").mkdir(parents=True)
    (tmp_path / "docs" / "inner" / "a.md").write_text("one")
    return tmp_path / "docs"


def skipped(paths: list[Path], *, follow_links: bool = False) -> dict[str, str]:
    return {one.name: one.skip for one in list_sources(paths, follow_links=follow_links)}


def only(found: Iterator[Source]) -> Source:
    (one,) = found
    return one


# -- in a folder ------------------------------------------------------------------------------------------------------


def test_pipes_sockets_and_devices_are_reported_and_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "endless.txt").symlink_to("/dev/zero")
    (tmp_path / "gone.md").symlink_to("nowhere.md")
    (tmp_path / "circle.md").symlink_to("circle.md")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket.md"))
        found = {one.name: one for one in list_sources([tmp_path])}
    assert {name: one.skip for name, one in found.items()} == {
        "pipe.md": "a pipe, and no file",
        "socket.md": "a socket, and no file",
        "endless.txt": "/dev/zero is the system's own, and no document",
        "gone.md": "",
        "circle.md": "",
    }
    for name in ("gone.md", "circle.md"):
        with pytest.raises(OSError, match=r"No such file|Too many levels"):
            found[name].load()


def test_only_links_that_stay_in_the_folder_are_followed_by_default(folder: Path) -> None:
    (folder / "shadow.txt").symlink_to(folder.parent / "secret" / "shadow.txt")
    (folder / "relative.txt").symlink_to("../secret/shadow.txt")
    (folder / "secret").symlink_to("../secret")
    (folder / "same.md").symlink_to("inner/a.md")
    found = {one.name: one for one in list_sources([folder])}
    for name in ("shadow.txt", "relative.txt"):
        assert found[name].skip.startswith(f"a link that leaves the folder, to {folder.parent / 'secret'}")
        assert "--follow-links" in found[name].skip
        with pytest.raises(NotAFile, match="leaves its folder"):
            found[name].load()
    assert found["secret"].skip.startswith("a link to a folder; ")
    assert found["same.md"].load() == found["a.md"].load() == b"one"
    followed = [one for one in list_sources([folder], follow_links=True) if not one.skip]
    assert sorted(one.name for one in followed) == ["a.md", "relative.txt", "same.md", "shadow.txt", "shadow.txt"]
    assert {one.load() for one in followed} == {b"one", SECRET.encode()}


def test_a_file_replaced_by_a_link_after_listing_is_not_read(folder: Path) -> None:
    (folder / "b.md").write_text("two")
    listed = {one.name: one for one in list_sources([folder])}
    (folder / "b.md").unlink()
    (folder / "b.md").symlink_to(folder.parent / "secret" / "shadow.txt")
    (folder / "inner").rename(folder / "was")
    (folder / "inner").symlink_to(folder.parent / "secret")
    (folder.parent / "secret" / "a.md").write_text(SECRET)
    for name in ("a.md", "b.md"):
        with pytest.raises(NotAFile, match="leaves its folder"):
            listed[name].load()


@pytest.mark.parametrize("exchanged", ["inner", "inner/a.md"])
def test_a_path_replaced_by_a_link_between_check_and_open_is_not_read(
    folder: Path, exchanged: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder.parent / "secret" / "a.md").write_text(SECRET)
    opening = os.open

    def exchange_first(path: str | Path, flags: int, *args: int, dir_fd: int | None = None) -> int:
        monkeypatch.setattr(os, "open", opening)
        (folder / exchanged).rename(folder / "was")
        target = folder.parent / "secret" / ("a.md" if exchanged.endswith(".md") else "")
        (folder / exchanged).symlink_to(target)
        return opening(path, flags, *args, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", exchange_first)
    with pytest.raises(OSError, match=r"Not a directory|a link, and no file|Too many levels"):
        read_below(folder, folder / "inner" / "a.md")


def test_folders_with_circular_links_are_walked_once(folder: Path) -> None:
    (folder / "inner" / "up").symlink_to(folder)
    (folder / "over").symlink_to(folder.parent)
    found = list(list_sources([folder], follow_links=True))
    assert sorted(one.name for one in found if not one.skip) == ["a.md", "shadow.txt"]
    reasons = {one.uri.removeprefix(folder.as_uri()): one.skip for one in found if one.skip}
    assert reasons == {
        "/inner/up": "a link to a folder that is added anyhow",
        "/over/docs": "a folder that is added already; a link leads there",
    }


@pytest.mark.parametrize("follow_links", [False, True])
def test_files_under_proc_sys_and_dev_are_never_read(folder: Path, follow_links: bool) -> None:
    for number, name in enumerate(("/proc/version", "/proc/self/environ", "/dev/null", "/sys/kernel/notes")):
        (folder / f"{number}.txt").symlink_to(name)
        named = only(list_sources([Path(name)], follow_links=follow_links))
        with pytest.raises(NotAFile, match="the system's own"):
            named.load()
    (folder / "all").symlink_to("/proc")
    reasons = skipped([folder], follow_links=follow_links)
    assert all("the system's own" in reasons[name] for name in ("0.txt", "1.txt", "2.txt", "3.txt", "all"))
    for root in ("/proc", "/sys", "/dev"):
        with pytest.raises(NotAFile, match="the system's own"):
            only(list_sources([Path(root)], follow_links=follow_links)).load()


# -- named itself -----------------------------------------------------------------------------------------------------


def test_a_link_given_by_name_is_read_only_if_it_stays_in_its_folder(folder: Path) -> None:
    (folder / "shadow.txt").symlink_to("../secret/shadow.txt")
    (folder / "secret").symlink_to("../secret")
    (folder / "same.md").symlink_to("inner/a.md")
    for name in ("shadow.txt", "secret"):
        with pytest.raises(NotAFile, match="--follow-links"):
            only(list_sources([folder / name])).load()
        assert only(list_sources([folder / name], follow_links=True)).load() == SECRET.encode()
    assert only(list_sources([folder / "same.md"])).load() == b"one"


def test_reading_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    with pytest.raises(NotAFile, match="a pipe"):
        only(list_sources([tmp_path / "pipe.md"])).load()
    with pytest.raises(NotAFile, match="a pipe"):
        read_bytes(tmp_path / "pipe.md")


@pytest.fixture
def argot(tmp_path: Path) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Run a command, with a time limit so that it cannot hang."""

    def run_here(*arguments: object) -> "subprocess.CompletedProcess[str]":
        return run(*arguments, seconds=HANGS, ARGOT_HOME=str(tmp_path / "kb"))

    return run_here


def test_commands_refuse_pipes_and_links_without_hanging(
    folder: Path, argot: Callable[..., "subprocess.CompletedProcess[str]"]
) -> None:
    pipe = folder / "pipe.csv"
    os.mkfifo(pipe)
    (folder / "shadow.txt").symlink_to("../secret/shadow.txt")
    assert argot("init").returncode == 0
    for arguments in (
        ("glossary", "import", pipe),
        ("glossary", "import", "/dev/zero"),
        ("restore", pipe, "--force"),
        ("backup", pipe),
        ("evaluate", "retrieval", "--beir", "/dev/null"),
    ):
        done = argot(*arguments)
        assert done.returncode == 1, (arguments, done.stderr)
        assert str(arguments[1]) in done.stderr or str(arguments[-1]) in done.stderr
        assert "Traceback" not in done.stderr
    done = argot("add", folder, pipe)
    assert done.returncode == 1 and "pipe.csv: a pipe, and no file" in done.stderr
    assert "shadow.txt: a link that leaves the folder" in " ".join(done.stderr.split())
    assert "1 added" in done.stdout
    assert pipe.is_fifo()
    done = argot("add", folder / "shadow.txt", "--follow-links")
    assert done.returncode == 0 and "1 added" in done.stdout


def test_a_pipe_in_place_of_a_store_file_is_reported(
    tmp_path: Path, argot: Callable[..., "subprocess.CompletedProcess[str]"]
) -> None:
    assert argot("init").returncode == 0
    for name in ("glossary.db", "knowledge_base.json"):
        kept = (tmp_path / "kb" / name).rename(tmp_path / name) if (tmp_path / "kb" / name).exists() else None
        os.mkfifo(tmp_path / "kb" / name)
        done = argot("list")
        assert done.returncode == 1 and f"{name} is not a file" in " ".join(done.stderr.split())
        (tmp_path / "kb" / name).unlink()
        if kept:
            kept.rename(tmp_path / "kb" / name)


def test_a_pipe_in_place_of_an_original_counts_as_damage(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path / "blobs")
    (tmp_path / "blobs" / "ab").mkdir(parents=True)
    os.mkfifo(tmp_path / "blobs" / "ab" / "cd")
    with pytest.raises(DamagedStore, match="missing"):
        blobs.get("abcd")


# -- files of our own -------------------------------------------------------------------------------------------------


def test_an_atomic_write_flushes_then_renames_with_mode_600(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, steps = tmp_path / "marker", []
    flush, rename = os.fsync, Path.replace
    monkeypatch.setattr(
        os, "fsync", lambda handle: (steps.append(stat.S_IFMT(os.fstat(handle).st_mode)), flush(handle))
    )
    monkeypatch.setattr(Path, "replace", lambda draft, to: (steps.append("renamed"), rename(draft, to))[1])
    write_atomically(target, "größer\n")
    assert steps == [stat.S_IFREG, "renamed", stat.S_IFDIR]
    assert target.read_bytes() == "größer\n".encode()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_failed_replacement_keeps_the_old_file_and_leaves_no_draft(tmp_path: Path) -> None:
    target = tmp_path / "marker"
    write_atomically(target, b"old")

    def half() -> None:
        with replace_atomically(target) as file:
            file.write(b"ne")
            file.flush()
            (draft,) = tmp_path.glob(".marker.*")
            assert draft.read_bytes() == b"ne" and target.read_bytes() == b"old"
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        half()
    assert [path.name for path in tmp_path.iterdir()] == ["marker"]
    assert target.read_bytes() == b"old"


def test_concurrent_writes_of_one_file_do_not_mix(tmp_path: Path) -> None:
    texts = [str(n) * 100_000 for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda text: write_atomically(tmp_path / "marker", text), texts))
    assert (tmp_path / "marker").read_text() in texts
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(("code", "told"), [(errno.EINVAL, False), (errno.EIO, True)])
def test_flushing_a_folder_ignores_only_unsupported_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, told: bool
) -> None:
    def refused(_: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", refused)
    if told:
        with pytest.raises(OSError, match="Input/output"):
            flush_folder(tmp_path)
    else:
        flush_folder(tmp_path)
