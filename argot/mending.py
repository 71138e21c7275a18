"""The commands that messages tell people to type: whole, and with paths as a shell takes them."""

from __future__ import annotations

import shlex
from pathlib import Path

from argot.errors import DamagedStore

_AGAIN = {
    "corpus.db": "argot add --home {home} PATHS",
    "glossary.db": "argot glossary import --home {home} FILE.csv",
    "people.db": "argot user add --home {home} NAME",
}
"""What fills a store again from nothing. Threads cannot be, and begin anew by themselves."""


def init_command(home: Path) -> str:
    return f"argot init --home {quoted(home)}"


def reindex_command(home: Path) -> str:
    return f"argot reindex --home {quoted(home)}"


def restore_command(home: Path) -> str:
    return f"argot restore --force --home {quoted(home)} BACKUP.tar"


def damaged_store(path: Path, detail: str) -> DamagedStore:
    """The error for a SQLite store that cannot be used, ending with the commands that mend it."""
    reason = " ".join(detail.split())
    return DamagedStore(
        f"{path} is damaged: {reason}. Mend it from a backup with: {restore_command(path.parent)}; "
        f"or, without one, with: {_begin_anew(path)}"
    )


def _begin_anew(path: Path) -> str:
    """Out of the way with the file, and with the vectors that belong to it; then fill it again."""
    steps = [f"mv {quoted(path)} {quoted(f'{path}.damaged')}"] if path.exists() else []
    if path.name == "corpus.db":
        steps.append(f"rm -rf {quoted(path.parent / 'vectors')}")
    if path.name in _AGAIN:
        steps.append(_AGAIN[path.name].format(home=quoted(path.parent)))
    return " && ".join(steps)


def quoted(path: Path | str) -> str:
    """As one word of a shell's command line."""
    return shlex.quote(str(path))
