"""The environment of a terminal."""

from __future__ import annotations

import pytest


def set_terminal(patch: pytest.MonkeyPatch, locale: str = "de_DE.UTF-8", **settings: str) -> None:
    """Set the environment of a terminal in a locale, with further variables."""
    for name, value in {"LC_ALL": locale, "LANGUAGE": "", **settings}.items():
        patch.setenv(name, value)
