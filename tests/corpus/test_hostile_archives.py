"""Hostile archives: each is unpacked in a bounded process and can only lose its own members."""

import gzip
import io
import os
import struct
import tarfile
import threading
import time
import zipfile
from functools import cache
from pathlib import Path

import pytest

from argot.corpus.ingestion import archive_process
from argot.corpus.ingestion.archive_formats import ArchiveLimits
from argot.corpus.ingestion.archive_members import list_members
from argot.corpus.ingestion.archive_process import UnpackedArchive
from argot.corpus.ingestion.source import Source
from argot.files import NotAFile
from argot.subprocesses import Child, ChildFailed

TEXT = b"# Valves\n\nThe valve opens at 12 bar.\n"


def members(data: bytes, name: str = "a.tar") -> dict[str, Source]:
    """Return the sources of an archive by name; an error of the archive is under its own name."""
    return {one.name: one for one in list_members(Source(f"upload://{name}", name, lambda: data, len(data)))}


def reason(source: Source) -> str:
    with pytest.raises(NotAFile) as caught:
        source.load()
    return str(caught.value.strerror)


def tar_of(*files: tuple[tarfile.TarInfo, bytes], pax: bool = True) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT if pax else tarfile.GNU_FORMAT) as archive:
        for info, data in files:
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def member(name: str, **pax_headers: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.pax_headers = pax_headers
    return info


MALFORMED = [
    {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "x"},
    {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "b.md", "GNU.sparse.realsize": "99999999999"},
    {"GNU.sparse.map": "0,x,1"},
    {"GNU.sparse.map": "0,1", "GNU.sparse.size": "x"},
    {"GNU.sparse.size": "-5", "GNU.sparse.numblocks": "99999999"},
    {"size": "-1"},
    {"size": "9" * 40},
    {"mtime": "nan", "uid": "x", "gid": "1e999", "path": ""},
    {"path": "\udcff.md"},
    {"hdrcharset": "BINARY", "path": "x" * 70_000},
]


@pytest.mark.parametrize("headers", MALFORMED, ids="-".join)
def test_a_malformed_tar_header_keeps_the_members_before_it(headers: dict[str, str]) -> None:
    data = tar_of((member("first.md"), TEXT), (member("bad.md", **headers), TEXT))
    found = members(data)
    assert found.pop("first.md").load() == TEXT
    for one in found.values():
        if not one.skip:
            # It is read as far as possible or refused with a reason; no other error is raised.
            try:
                one.load()
            except NotAFile as error:
                assert error.strerror


def test_a_damaged_end_of_an_archive_is_reported_after_its_readable_files() -> None:
    whole = tar_of(*((member(f"{number}.md"), os.urandom(2000)) for number in range(20)))
    found = members(gzip.compress(whole)[:-8000], "a.tar.gz")
    assert len(found) > 5 and found["0.md"].load() == whole[512:2512]
    assert "damaged behind its first" in reason(found["a.tar.gz"])


def test_long_names_are_read_and_links_and_devices_reported() -> None:
    link, device, hard = member("link.md"), member("device.md"), member("hard.md")
    link.type, device.type, hard.type = tarfile.SYMTYPE, tarfile.CHRTYPE, tarfile.LNKTYPE
    link.linkname = hard.linkname = "/etc/passwd"
    long = f"{'f' * 150}/{'n' * 150}.md"
    found = members(tar_of((member(long), TEXT), (link, b""), (device, b""), (hard, b""), pax=False))
    assert found[long.rpartition("/")[2]].load() == TEXT
    skips = {name: one.skip for name, one in found.items() if one.skip}
    assert skips == {"link.md": "a link", "device.md": "a device or a pipe", "hard.md": "a link"}


def test_a_streamed_zip_is_read_and_a_link_in_it_is_reported() -> None:
    class Pipe(io.RawIOBase):
        def __init__(self) -> None:
            self.data = bytearray()

        def writable(self) -> bool:
            return True

        def write(self, data: bytes) -> int:  # type: ignore[override]
            self.data += data
            return len(data)

    pipe, link = Pipe(), zipfile.ZipInfo("link.md")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("a.md", "w", force_zip64=True) as file:
            file.write(TEXT)
        archive.writestr(link, "/etc/passwd")
    found = members(bytes(pipe.data), "a.zip")
    assert found["a.md"].load() == TEXT and found["link.md"].skip == "a link"


def test_a_member_name_that_is_not_utf8_is_read() -> None:
    info = tarfile.TarInfo("plan-é.md")
    info.size = len(TEXT)
    data = info.tobuf(tarfile.GNU_FORMAT, "latin-1") + TEXT + b"\0" * (-len(TEXT) % 512) + b"\0" * 1024
    assert members(data)["plan-é.md"].load() == TEXT


@cache
def bomb(kind: str) -> bytes:
    buffer = io.BytesIO()
    quickly = {"preset": 0} if kind == "xz" else {"compresslevel": 1}
    with tarfile.open(fileobj=buffer, mode=f"w:{kind}", **quickly) as archive:  # type: ignore[call-overload]
        for number in range(5):
            info = tarfile.TarInfo(f"{number}.txt")
            info.size = 60_000_000
            archive.addfile(info, io.BytesIO(bytes(info.size)))
    return buffer.getvalue()


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz"])
def test_a_compression_bomb_is_refused_in_the_child_process(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(*_: object, **__: object) -> None:
        raise AssertionError("the service itself looked into it")

    packed = bomb(kind)
    monkeypatch.setattr(tarfile, "TarFile", opened)
    monkeypatch.setattr(zipfile, "ZipFile", opened)
    (found,) = members(packed, f"a.tar.{kind}").values()
    assert "unpacks to more than 100 times its size; unpack it, and add the folder" in reason(found)


def test_overlapping_zip_members_are_counted_each_time() -> None:
    data = bytearray()
    packed = zipfile.ZipFile(buffer := io.BytesIO(), "w", zipfile.ZIP_DEFLATED)
    packed.writestr("a.txt", bytes(10_000_000))
    packed.close()
    whole = buffer.getvalue()
    start = whole.index(b"PK\x01\x02")
    end = whole.index(b"PK\x05\x06")
    entries = whole[start:end] * 2000
    data += whole[:start] + entries
    data += struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 2000, 2000, len(entries), start, 0)
    (found,) = members(bytes(data), "a.zip").values()
    assert "it unpacks to more than" in reason(found)


def test_each_exceeded_limit_is_named() -> None:
    def listed(data: bytes, **bounds: float) -> str:
        found = UnpackedArchive(lambda: data, ArchiveLimits(**bounds)).list_entries()  # type: ignore[arg-type]
        assert found.is_refused and not found.entries
        return found.problem

    three = tar_of(*((member(f"{number}.md"), TEXT) for number in range(3)))
    assert listed(three, members=2) == "it holds more than 2 files"
    assert listed(three, unpacked_bytes=1000) == "it unpacks to more than 0 MB in all"
    assert listed(bomb("xz"), ratio=10**9, list_seconds=0.05) == "it takes more than 0.05 seconds to unpack"
    archive = UnpackedArchive(lambda: three, ArchiveLimits(member_bytes=10))
    with pytest.raises(NotAFile, match="unpacks to more than 0 MB"):
        archive.read(0)
    with pytest.raises(NotAFile, match="more than 0 seconds in all"):
        UnpackedArchive(lambda: three, ArchiveLimits(clock_seconds=0)).read(0)


def test_a_killed_child_is_replaced_until_the_archive_is_given_up() -> None:
    archive = UnpackedArchive(lambda: tar_of((member("a.md"), TEXT)))
    assert archive.read(0) == TEXT
    process = archive._child.process
    assert process is not None
    process.kill()
    process.wait()
    assert archive.read(0) == TEXT
    archive._failures = archive_process.MAX_FAILURES
    with pytest.raises(NotAFile, match="given up"):
        archive.read(0)


def test_a_thread_keeps_only_one_archive_process_open(tmp_path: Path) -> None:
    data = tar_of((member("a.md"), TEXT), (member("b.md"), b"2"))
    first, second = UnpackedArchive(lambda: data), UnpackedArchive(lambda: data)
    assert first.read(1) == b"2" and second.read(0) == TEXT
    assert first._child.process is None and second._child.process is not None
    # Opened again, also out of order.
    assert first.read(0) == TEXT and first.read(1) == b"2"
    process = first._child.process
    assert process is not None
    del first
    deadline = time.monotonic() + 10
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert process.poll() is not None


def test_other_threads_run_while_an_archive_is_listed() -> None:
    """Check that listing an archive does not block the interpreter: another thread runs meanwhile."""
    ticks, ended = [0], threading.Event()

    def tick() -> None:
        while not ended.wait(0.002):
            ticks[0] += 1

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(30_000):
            archive.writestr(f"{number}.txt", b"a")
    thread = threading.Thread(target=tick)
    thread.start()
    listed = UnpackedArchive(buffer.getvalue).list_entries()
    ended.set()
    thread.join()
    assert len(listed.entries) == 30_000 and ticks[0] > 10


def test_small_members_are_read_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check the number of messages: one for each of 70,000 files took minutes."""
    link = member("link.md")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    files = [(member(f"{number}.md"), f"file {number}".encode()) for number in range(600)]
    data = tar_of(*files[:300], (link, b""), (member("large.md"), b"l" * 50_000), *files[300:])
    sent: list[bytes] = []
    send = Child.send
    monkeypatch.setattr(Child, "send", lambda self, *given, **more: (sent.append(given[0]), send(self, *given, **more)))
    found = members(data)
    assert {name: one.load() for name, one in found.items() if not one.skip} == {
        **{info.name: text for info, text in files},
        "large.md": b"l" * 50_000,
    }
    assert len(sent) < 12
    # In any order, and repeatedly.
    assert [found[name].load() for name in ("5.md", "4.md", "599.md", "5.md")] == [
        b"file 5", b"file 4", b"file 599", b"file 5",
    ]  # fmt: skip


def test_a_member_does_not_fail_because_of_another_in_its_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    data = tar_of(*((member(f"{number}.md"), TEXT) for number in range(3)))
    archive = UnpackedArchive(lambda: data)
    archive.list_entries()
    send = Child.send

    def killed(self: Child, message: bytes, *given: bytes, **more: float) -> None:
        if b"[0, 1, 2]" in message:
            self.stop()
            raise ChildFailed("time", "it was ended")
        send(self, message, *given, **more)

    monkeypatch.setattr(Child, "send", killed)
    assert [archive.read(number) for number in range(3)] == [TEXT] * 3


def test_a_name_that_begins_with_nul_loses_only_its_member() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("0.md", b"nameless")
        archive.writestr("b.md", TEXT)
    found = members(buffer.getvalue().replace(b"0.md", b"\0.md"), "a.zip")
    assert {name: one.load() for name, one in found.items()} == {"b.md": TEXT}
