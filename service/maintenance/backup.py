"""A backup: one tar file with the stores as of one moment and the original files; vectors are rebuilt from them.

The first member is a manifest with the size and hash of every other, so that a truncated or altered file is refused
before anything is touched.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import os
import re
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from argot import __version__
from argot.clock import timestamp
from argot.disk_space import is_no_room
from argot.errors import Conflict, DamagedStore, InvalidInput, StoreUnavailable
from argot.files import NotAFile, replace_atomically, require_file
from argot.remedies import UPDATE, restore_command
from argot.service.audit.audit_actions import RESOURCES
from argot.service.audit.audit_events import Deed, Resource
from argot.service.audit.audit_trail import record_command
from argot.service.identity import people
from argot.service.storage import home_folder as layout
from argot.service.storage import restore
from argot.service.storage.damage import check_database
from argot.service.storage.home_lock import take_lock
from argot.service.storage.kept_members import MEMBER, list_kept_members
from argot.service.threads import thread_store
from argot.settings import Settings
from argot.sqlite import convert_sqlite_errors, open_connection, open_database
from argot.wings import wing_migrations

logger = logging.getLogger(__name__)

MANIFEST = "manifest.json"
FORMAT = 1
MAX_MANIFEST = 256 * 1024 * 1024
CHUNK = 1024 * 1024
COPIES = ".backup-"
_MEMBER = re.compile(
    rf"{'|'.join(map(re.escape, layout.DATABASES))}"
    r"|blobs/(?:[A-Za-z0-9_-]{1,128}/){0,3}[A-Za-z0-9_.-]{1,128}"
    rf"|{MEMBER}"
)


@dataclass(frozen=True, slots=True)
class Backup:
    """Backup that was written or restored. `bytes` is the size of the contents."""

    path: Path
    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Member:
    name: str
    size: int
    hash: str


# -- writing --------------------------------------------------------------------------------------------------------


def write_backup(home: Path, path: Path) -> Backup:
    """Write the backup beside its place and move it there when it is complete. No document may change meanwhile.

    Raises:
        InvalidInput: the file cannot be written there, or the place is in the knowledge base's own folder.
        DamagedStore, StoreUnavailable: a store cannot be read, or its copy not be written.
    """
    refuse_place(home, path)
    return write_stores(home, path)


def refuse_place(home: Path, path: Path) -> None:
    """Check that a backup may be written there, and remove the remains of a killed one from `home`.

    Raises:
        InvalidInput
    """
    if path.resolve().is_relative_to(home.resolve()):
        raise InvalidInput(f"{path} lies in the knowledge base itself, and would be lost with it. Give another folder.")
    if path.exists() and not path.is_file():
        raise InvalidInput(f"{path} exists and is not a file, so it is not replaced. Give another file.")
    for left in home.glob(f"{COPIES}*"):
        restore.remove_path(left)


def write_stores(home: Path, path: Path) -> Backup:
    """Write the stores of a folder and their files into one file. It raises the errors of `write_backup`."""
    try:
        with tempfile.TemporaryDirectory(prefix=COPIES, dir=home) as copies, replace_atomically(path) as file:
            members = _write(home, Path(copies), file)
    except OSError as error:
        raise InvalidInput(f"The backup cannot be written to {path}: {error.strerror}. Give another file.") from error
    return Backup(path, len(members), sum(member.size for member in members))


def _write(home: Path, copies: Path, file: IO[bytes]) -> list[Member]:
    sources = {name: _copy_database(home / name, copies / name) for name in layout.DATABASES if (home / name).exists()}
    for found in sorted((home / layout.BLOBS).rglob("*")):
        name = found.relative_to(home).as_posix()
        # Links are left out, because they would add files from elsewhere to the backup.
        if found.is_file() and not found.is_symlink() and _MEMBER.fullmatch(name):
            sources[name] = found
    sources |= {name: home / name for name in list_kept_members(home)}
    members = [Member(name, source.stat().st_size, _hash_file(source)) for name, source in sources.items()]
    manifest = {
        "format": FORMAT,
        "argot": __version__,
        "created": timestamp(),
        "files": [{"name": member.name, "size": member.size, "hash": member.hash} for member in members],
    }
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
        content = json.dumps(manifest, indent=1).encode()
        tar.addfile(_make_entry(MANIFEST, len(content)), io.BytesIO(content))
        for member in members:
            with sources[member.name].open("rb") as source:
                tar.addfile(_make_entry(member.name, member.size), source)
    return members


def _copy_database(source: Path, copy: Path) -> Path:
    """Copy by SQLite's online backup: consistent while others read and write."""
    with (
        convert_sqlite_errors(source),
        closing(open_connection(source)) as reading,
        closing(open_connection(copy, mode="rwc")) as writing,
    ):
        reading.backup(writing)
        # A copy in WAL mode would need a log beside it, which the tar lacks.
        writing.execute("PRAGMA journal_mode = DELETE")
    return copy


def _make_entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    # Neither owner nor time: only content that is restored.
    entry.size, entry.mode = size, 0o600
    return entry


def _hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=32)).hexdigest()


# -- restoring ------------------------------------------------------------------------------------------------------


def record_restore(settings: Settings, path: Path) -> None:
    """Record in the audit trail that a knowledge base was replaced by a backup."""
    about = (Resource("knowledge base", name=str(path)),)
    record_command(settings, Deed(RESOURCES, "import", "restore", resources=about))


def restore_backup(home: Path, path: Path, *, force: bool = False) -> Backup:
    """Replace the content of `home` by a backup. The vectors have to be rebuilt afterwards (`reindex`).

    Nothing is touched before every file of the backup has been unpacked, checked, and migrated to the current form.
    Everybody has to sign in again: a session that ended since must not return.

    Raises:
        InvalidInput: the file is no backup, incomplete, or of a newer Argot.
        StoreUnavailable: there is no space to unpack it.
        Conflict: `home` is not empty, and `force` is not given.
        KnowledgeBaseBusy: another process has it open.
    """
    home = home.expanduser().absolute()
    if home.exists() and not home.is_dir():
        raise InvalidInput(f"{home} is a file. A knowledge base is a folder: give another --home.")
    if remark := restore.finish_interrupted_restore(home, 0):
        logger.warning("%s", remark)
    _require_free(home, force=force)
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Without patience: the user is informed at once that another process uses the folder.
    lock = take_lock(home, patience=0)
    try:
        scratch = restore.make_staging_folder(home)
        try:
            members = unpack_checked(path, scratch)
        except BaseException:
            restore.finish_restore(home)
            raise
        restore.mark_complete(home, {PurePosixPath(member.name).parts[0] for member in members})
        restore.finish_restore(home)
    finally:
        lock.release()
    return Backup(path, len(members), sum(member.size for member in members))


def unpack_checked(path: Path, scratch: Path) -> list[Member]:
    """Unpack a backup into an empty folder, checked, and its stores in the form that this Argot reads.

    Raises:
        InvalidInput, StoreUnavailable
    """
    members = _unpack(path, scratch)
    _make_ready(path, scratch)
    return members


def _require_free(home: Path, *, force: bool) -> None:
    # A lock file alone is no content: taking the lock creates it.
    found = sorted(entry.name for entry in home.iterdir() if not layout.is_scratch(entry.name)) if home.exists() else []
    if not found:
        return
    if not layout.is_knowledge_base(home):
        raise InvalidInput(f"{home} is not a knowledge base, but holds '{found[0]}'. Give an empty folder as --home.")
    if not force:
        raise Conflict(f"There is a knowledge base in {home}. To replace it: {restore_command(home)}")


def _unpack(path: Path, scratch: Path) -> list[Member]:
    """Unpack every member by the names and hashes of the manifest; never links, devices or paths out of the folder."""
    try:
        # A pipe or a device might never end.
        require_file(path.stat().st_mode)
        # Uncompressed only: a small compressed file could fill the disk.
        with tarfile.open(path, mode="r:") as tar:
            entries = iter(tar)
            members = _read_manifest(tar, next(entries, None))
            expected = {member.name: member for member in members}
            for entry in entries:
                # Removed from the expected names, so that the same name twice is refused.
                _unpack_one(tar, entry, expected.pop(entry.name, None), scratch)
    except FileNotFoundError:
        raise InvalidInput(f"There is no file {path}.") from None
    except (tarfile.TarError, EOFError) as error:
        raise InvalidInput(f"{path} is not a complete backup: {error}. Nothing was changed.") from error
    except NotAFile as error:
        raise InvalidInput(f"{path} is {error.strerror}. Nothing was changed.") from error
    except OSError as error:
        if is_no_room(error):
            text = f"There is no room in {scratch.parent} to unpack {path}. Free some, and try again."
            raise StoreUnavailable(f"{text} Nothing was changed.") from error
        raise InvalidInput(f"{path} cannot be read: {error.strerror}. Nothing was changed.") from error
    if expected:
        raise InvalidInput(f"{path} is incomplete: '{next(iter(expected))}' is missing. Nothing was changed.")
    return members


def _make_ready(path: Path, scratch: Path) -> None:
    """Open every unpacked store as the service will, so that its faults are detected before anything is replaced.

    Raises:
        InvalidInput: one of them is damaged, or of a newer Argot.
    """
    from argot.corpus.store.document_store import CorpusStore
    from argot.jargon_db.glossary import Glossary

    try:
        for name in layout.DATABASES:
            check_database(scratch / name, thoroughly=True)
        if (scratch / layout.CORPUS).exists():
            CorpusStore.open(scratch / layout.CORPUS).close()
        if (scratch / layout.GLOSSARY).exists():
            Glossary.open(scratch / layout.GLOSSARY).close()
        if (scratch / layout.THREADS).exists():
            open_database(scratch / layout.THREADS, thread_store.MIGRATIONS).close()
        for name, migrations in wing_migrations().items():
            if (path := scratch / f"{name}.db").exists():
                open_database(path, migrations).close()
        if (scratch / layout.PEOPLE).exists():
            with closing(open_database(scratch / layout.PEOPLE, people.MIGRATIONS)) as connection:
                # A session that ended since the backup must not return.
                connection.execute("DELETE FROM sessions")
    except DamagedStore as error:
        raise InvalidInput(f"{path} cannot be put in place. Nothing was changed. {error}") from error


def _read_manifest(tar: tarfile.TarFile, entry: tarfile.TarInfo | None) -> list[Member]:
    # Checked before it is read: its size is whatever the file declares.
    known = entry is not None and entry.isreg() and not entry.issparse() and entry.name == MANIFEST
    source = tar.extractfile(entry) if entry is not None and known and entry.size <= MAX_MANIFEST else None
    if source is None:
        raise InvalidInput(
            f"{tar.name!s} is not a backup of Argot: it does not begin with {MANIFEST}. Nothing was changed."
        )
    try:
        content: Any = json.loads(source.read())
        version = int(content["format"])
        members = [Member(str(one["name"]), int(one["size"]), str(one["hash"])) for one in content["files"]]
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise InvalidInput(f"{tar.name!s}: its {MANIFEST} cannot be read ({error}). Nothing was changed.") from error
    if version > FORMAT:
        raise InvalidInput(f"{tar.name!s} was written by a newer Argot. {UPDATE}")
    return members


def _unpack_one(tar: tarfile.TarFile, entry: tarfile.TarInfo, member: Member | None, scratch: Path) -> None:
    # A sparse member declares more than the size of its file: it would fill the disk with nothing.
    source = tar.extractfile(entry) if entry.isreg() and not entry.issparse() else None
    # By a pattern of known names, so that no member leaves the folder.
    if member is None or source is None or not _MEMBER.fullmatch(entry.name) or ".." in entry.name:
        raise InvalidInput(
            f"{tar.name!s} holds '{entry.name}', which is not part of a backup of Argot. Nothing was changed."
        )
    target = scratch / entry.name
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest = hashlib.blake2b(digest_size=32)
    # "x": an existing file is never overwritten, nor a link followed.
    with target.open("xb") as file:
        for chunk in _read_chunks(source):
            digest.update(chunk)
            file.write(chunk)
        file.flush()
        # `mark_complete` promises that everything is on the disk.
        os.fsync(file.fileno())
    if digest.hexdigest() != member.hash:
        raise InvalidInput(f"{tar.name!s}: '{entry.name}' has been altered or cut off. Nothing was changed.")


def _read_chunks(source: IO[bytes]) -> Iterator[bytes]:
    while chunk := source.read(CHUNK):
        yield chunk
