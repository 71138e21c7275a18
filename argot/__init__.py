"""Argot answers questions about an organisation's documents in the organisation's own language."""

from typing import TYPE_CHECKING

from argot.lazy import build_lazy_getattr

if TYPE_CHECKING:
    from argot.errors import ArgotError
    from argot.profile import Profile, find_profile
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
    "find_profile",
    "load_settings",
]

__version__ = "0.4.0"

# Type checkers read the imports above; a `__getattr__` would tell them that every name is there.
if not TYPE_CHECKING:
    __getattr__ = build_lazy_getattr(
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
            "find_profile": "profile",
        },
    )
