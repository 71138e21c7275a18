"""Stores of originals: one suite for every place where they can be kept."""

import hashlib
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from argot.corpus.store import database_blobs
from argot.corpus.store.blobs import Blobs
from argot.corpus.store.database_blobs import DatabaseBlobs
from argot.corpus.store.filesystem_blobs import FilesystemBlobs, open_blobs
from argot.databases import Stores
from argot.errors import DamagedStore, InvalidSettings, StoreUnavailable

KEEPERS = ("folder", "sqlite", "postgresql", "memory", "files")


@pytest.fixture(params=KEEPERS)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Blobs]:
    """Return a function that opens the store, each time as another process does."""
    kind = request.param
    if kind == "folder":
        return lambda: open_blobs((tmp_path / "a b").as_uri())
    if kind in ("sqlite", "postgresql"):
        stores = stores_on(kind, request, tmp_path)
        return lambda: DatabaseBlobs(stores)
    from fsspec.implementations.local import LocalFileSystem

    if kind == "memory":
        return lambda: open_blobs(f"memory://{tmp_path.name}/originals")
    return lambda: FilesystemBlobs(LocalFileSystem(), str(tmp_path / "files"), whole_at_once=False)


def stores_on(engine: str, request: pytest.FixtureRequest, folder: Path) -> Stores:
    if engine == "sqlite":
        from argot.sqlite_database import SqliteStores

        return SqliteStores(folder)
    from argot.postgresql.stores import PostgresqlStores

    opened = PostgresqlStores(request.getfixturevalue("postgresql_url"))
    request.addfinalizer(opened.close)
    return opened


def original(data: bytes) -> tuple[str, bytes]:
    return hashlib.sha256(data).hexdigest(), data


def test_a_stored_original_is_available_to_every_process_until_removed(opened: Callable[[], Blobs]) -> None:
    first, second = original(b"\x00\xff first"), original(b"")
    blobs = opened()
    assert list(blobs) == [] and first[0] not in blobs
    for one in (first, second, first):
        blobs.put(*one)
    other = opened()
    assert list(other) == sorted([first[0], second[0]]) and first[0] in other
    assert (other.get(first[0]), other.get(second[0])) == (first[1], b"")
    other.remove(first[0])
    other.remove(first[0])
    other.remove_drafts()
    assert list(blobs) == [second[0]] and first[0] not in blobs
    with pytest.raises(DamagedStore, match=first[0][2:]):
        blobs.get(first[0])


def test_a_large_original_is_read_back_unchanged(opened: Callable[[], Blobs]) -> None:
    large = original(bytes(range(256)) * 4 * 1024 * 2 + b"and a last piece")
    assert len(large[1]) > 2 * database_blobs.PIECE_BYTES
    opened().put(*large)
    assert opened().get(large[0]) == large[1]


def test_concurrent_writes_of_one_original_store_it_once(opened: Callable[[], Blobs]) -> None:
    one, faults = original(b"the same" * 1000), []

    def put() -> None:
        try:
            opened().put(*one)
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=put) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (faults, list(opened()), opened().get(one[0])) == ([], [one[0]], one[1])


def test_the_location_of_originals_is_shown_without_a_password(opened: Callable[[], Blobs]) -> None:
    assert opened().place and "secret-of-tests" not in opened().place


# -- what one of them can meet ----------------------------------------------------------------------------------------


def test_a_missing_piece_of_an_original_is_damage(tmp_path: Path) -> None:
    from argot.sqlite_database import SqliteStores

    stores = SqliteStores(tmp_path)
    blobs, large = DatabaseBlobs(stores), original(b"x" * (database_blobs.PIECE_BYTES + 1))
    blobs.put(*large)
    stores.open("blobs", database_blobs.MIGRATIONS).write("DELETE FROM blob_pieces WHERE piece = 1")
    with pytest.raises(DamagedStore, match=large[0]):
        blobs.get(large[0])


def test_partly_written_files_are_not_originals_and_are_removed(tmp_path: Path) -> None:
    from fsspec.implementations.local import LocalFileSystem

    blobs = FilesystemBlobs(LocalFileSystem(), str(tmp_path), whole_at_once=False)
    (tmp_path / "ab").mkdir()
    (tmp_path / "ab" / ".cd").write_bytes(b"half")
    assert list(blobs) == []
    blobs.remove_drafts()
    assert not list(tmp_path.rglob("*.cd")) and not (tmp_path / "ab" / ".cd").exists()


def test_a_storage_error_is_reported_with_a_remedy() -> None:
    class Refusing:
        protocol = "s3"

        def exists(self, path: str) -> bool:
            raise RuntimeError("AccessDenied")

    with pytest.raises(StoreUnavailable, match=r"s3://bucket/kb.*AccessDenied.*may write there"):
        FilesystemBlobs(Refusing(), "bucket/kb", whole_at_once=True).put("ab" * 32, b"")


def test_a_missing_bucket_is_reported_and_not_created(tmp_path: Path) -> None:
    from fsspec.implementations.local import LocalFileSystem

    missing = tmp_path / "misspelt"
    blobs = FilesystemBlobs(LocalFileSystem(), str(missing), whole_at_once=True)
    with pytest.raises(StoreUnavailable, match=r"misspelt cannot be read or written.*may write there"):
        blobs.put(*original(b"first"))
    assert list(blobs) == [] and not missing.exists()


@pytest.mark.parametrize(("url", "said"), [("bucket/prefix", "no address"), ("nothing://x/y", "does not know")])
def test_an_invalid_address_is_refused(url: str, said: str) -> None:
    with pytest.raises(InvalidSettings, match=said):
        open_blobs(url)
