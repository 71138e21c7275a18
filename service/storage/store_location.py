"""Check of a knowledge base's location, so that one stored elsewhere is never mistaken for a new, empty one."""

from __future__ import annotations

from pathlib import Path

from argot.databases import Stores
from argot.errors import InvalidSettings, NotFound
from argot.remedies import init_command, quote_shell
from argot.service.storage import home_folder as layout

_STORES = (*(Path(name).stem for name in layout.DATABASES), "files")


def place_home(home: Path, stores: Stores, place: str, *, create: bool) -> None:
    """Check that this PostgreSQL has the knowledge base, or may begin one, and create the folder of this process.

    Args:
        place: the PostgreSQL's name for messages.

    Raises:
        InvalidSettings: the folder has databases, and the PostgreSQL has none.
        NotFound: neither has, and `create` is not given.
        InvalidInput: the folder has other content, or cannot be created.
        StoreUnavailable
    """
    if not any(stores.holds(name) for name in _STORES):
        own = [name for name in layout.DATABASES if (home / name).exists()]
        if own:
            raise InvalidSettings(
                f"The knowledge base lies in {home} ('{own[0]}'), and {place}, which the setting 'store' names, holds "
                f"none. Move it with: argot move --to postgresql://... --home {quote_shell(home)}; leave 'store' "
                "empty to keep using the folder; or give an empty folder as --home."
            )
        if not create:
            raise NotFound(f"There is no knowledge base in {place}. Make one with: {init_command(home)}")
    if layout.is_knowledge_base(home):
        layout.require(home)
    else:
        layout.create(home)
    layout.note_place(home, place)


def refuse_if_elsewhere(home: Path) -> None:
    """Refuse a folder whose knowledge base is in PostgreSQL, if the settings name none.

    Raises:
        InvalidSettings
    """
    if place := layout.read_noted_place(home):
        raise InvalidSettings(
            f"The knowledge base of {home} is kept by {place}, and the setting 'store' is empty. Name that PostgreSQL "
            "in ARGOT_STORE (and its schema in ARGOT_STORE_SCHEMA), or give another --home."
        )
