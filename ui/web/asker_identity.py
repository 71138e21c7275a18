"""The identity on whose behalf a request or a connection acts."""

from __future__ import annotations

import getpass
import secrets
from contextvars import ContextVar
from pathlib import Path

from argot.errors import NotAllowed
from argot.files import write_atomically
from argot.languages.catalogues import translate
from argot.service.knowledge_base import KnowledgeBase
from argot.service.sign_in.account import sign_in_required
from argot.types import LOCAL_NAME, Principal

SECRET_FILE = "secret"  # noqa: S105  the name of a file

asker: ContextVar[str | None] = ContextVar("asker", default=None)
"""The name of the visitor of the current request or connection. The guard sets it before anything else."""


async def get_current_principal(kb: KnowledgeBase) -> Principal:
    """Return the principal on whose behalf this request or connection acts.

    Raises:
        NotAllowed: nobody is signed in, or the person is suspended.
        NotFound: the person is no longer known.
    """
    name = asker.get()
    # The first password ends this: a window that was open before it no longer acts for the person at this machine.
    if name is None or (name == LOCAL_NAME and await kb.look_up(sign_in_required, kb)):
        raise NotAllowed(translate("You are not signed in. Reload the page."))
    return await kb.blocking(kb.principal, None if name == LOCAL_NAME else name)


def get_local_display_name() -> str:
    """Return the operating system's name for the person at this machine."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a process without an entry in the password file
        return LOCAL_NAME


def load_signing_secret(folder: Path) -> str:
    """Load the key that signs this knowledge base's cookies: made once, readable by its owner alone."""
    path = folder / SECRET_FILE
    if not path.exists():
        write_atomically(path, secrets.token_urlsafe(48))
    return path.read_text(encoding="ascii").strip()
