"""Argot answers questions about an organisation's documents in the organisation's own language."""

from typing import TYPE_CHECKING

from argot.lazy import lazily

if TYPE_CHECKING:
    from argot.errors import ArgotError
    from argot.profile import Profile, profile_named
    from argot.results import AskEvent, AskResult
    from argot.settings import Settings, load_settings
    from argot.types import Passage, Principal

__all__ = [
    "ArgotError",
    "AskEvent",
    "AskResult",
    "Passage",
    "Principal",
    "Profile",
    "Settings",
    "__version__",
    "load_settings",
    "profile_named",
]

__version__ = "0.3.1"

# Type checkers read the imports above; a `__getattr__` would tell them that every name is there.
if not TYPE_CHECKING:
    __getattr__ = lazily(
        __name__,
        {
            "ArgotError": "errors",
            "AskEvent": "results",
            "AskResult": "results",
            "Passage": "types",
            "Principal": "types",
            "Profile": "profile",
            "Settings": "settings",
            "load_settings": "settings",
            "profile_named": "profile",
        },
    )
