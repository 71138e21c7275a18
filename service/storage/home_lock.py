"""One process owns a knowledge base. Two writers on one vector index silently damage it (Chroma 1.5).

The kernel drops a `flock` with its process, so nothing has to be cleaned up after a `kill -9`. `owner.json` serves
messages and finding the owner's socket; it never decides who owns.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from argot.errors import KnowledgeBaseBusy
from argot.files import write_atomically

LOCK = "lock"
OWNER = "owner.json"
PATIENCE_SECONDS = 10.0
"""How long to wait for a command to finish before reporting that the knowledge base is busy: as long as a question that
quotes the documents takes on a busy machine, so that two questions asked at once are both answered.
"""


@dataclass(frozen=True, slots=True)
class Owner:
    """Owner of the lock, and its Unix socket (empty: it has none)."""

    pid: int
    socket: str = ""


class HomeLock:
    """An exclusive lock on the folder, held until `release` or the end of the process."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._descriptor = os.open(home / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._descriptor)
            raise KnowledgeBaseBusy(_busy(home)) from None
        # A forked child would share the lock and keep it beyond the end of its parent.
        self._pid = os.getpid()
        os.register_at_fork(after_in_child=self._drop_in_child)
        self.announce("")

    def announce(self, socket: str) -> None:
        """Record the owner of the folder and its socket."""
        write_atomically(self.home / OWNER, json.dumps(asdict(Owner(os.getpid(), socket))) + "\n")

    def release(self) -> None:
        if self._descriptor >= 0:
            # While the lock is still held: afterwards it may be the next owner's.
            (self.home / OWNER).unlink(missing_ok=True)
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            os.close(self._descriptor)
            self._descriptor = -1

    def _drop_in_child(self) -> None:
        # Closed and not unlocked: unlocking here would take the lock from the parent as well.
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def read_owner(home: Path) -> Owner | None:
    """Read the note of the last owner; None if nothing readable."""
    try:
        content = json.loads((home / OWNER).read_text(encoding="utf-8"))
        return Owner(int(content["pid"]), str(content["socket"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _busy(home: Path) -> str:
    owner = read_owner(home)
    if owner is None:
        return (
            f"The knowledge base in {home} is in use by another process. Wait until it is done, or stop that process, "
            "and try again."
        )
    return (
        f"The knowledge base in {home} is in use by process {owner.pid}. Wait until it is done, or stop it "
        f"(kill {owner.pid}), and try again."
    )


def take_lock(home: Path, patience: float) -> HomeLock:
    """Return the lock, waiting some seconds for its holder to finish; not for a service, which stays.

    Raises:
        KnowledgeBaseBusy
    """
    deadline = time.monotonic() + patience
    while True:
        try:
            return HomeLock(home)
        except KnowledgeBaseBusy:
            owner = read_owner(home)
            # An owner with a socket is a service, which does not end soon.
            if (owner and owner.socket) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
