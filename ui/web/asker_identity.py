"""On whose behalf a request or a connection acts."""

from __future__ import annotations

import getpass
import secrets
from contextvars import ContextVar
from pathlib import Path

from argot.errors import NotAllowed
from argot.files import write_atomically
from argot.service.knowledge_base import KnowledgeBase
from argot.service.sign_in.account import sign_in_required
from argot.types import LOCAL_NAME, Principal

SECRET_FILE = "secret"  # noqa: S105  the name of a file

asker: ContextVar[str | None] = ContextVar("asker", default=None)
"""The name of the visitor of the request or connection at hand. Set by the guard before anything else."""


async def get_current_principal(kb: KnowledgeBase) -> Principal:
    """The principal on whose behalf this request or connection acts.

    Raises:
        NotAllowed: nobody is signed in, or the person is suspended.
        NotFound: the person is no longer known.
    """
    name = asker.get()
    # The first password ends this: a window that was open before it is no longer "the person at this machine".
    if name is None or (name == LOCAL_NAME and await kb.look_up(sign_in_required, kb)):
        raise NotAllowed("You are not signed in. Reload the page.")
    return await kb.blocking(kb.principal, None if name == LOCAL_NAME else name)


def get_local_display_name() -> str:
    """The name that this machine has for the person at it: that of the account."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a process without an entry in the password file
        return LOCAL_NAME


def load_signing_secret(folder: Path) -> str:
    """The key that cookies of this knowledge base are signed with: made once, readable by its owner alone."""
    path = folder / SECRET_FILE
    if not path.exists():
        write_atomically(path, secrets.token_urlsafe(48))
    return path.read_text(encoding="ascii").strip()
