"""The addresses that pages of other sites may show in a frame, or load a script from: those of the chat window alone.

All other pages (for managers and administrators, for reading, for signing in with a password) stay out of every frame.
Without the setting `embed_origins`, so does the window.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.datastructures import Headers
from starlette.types import Scope

from argot.ui.web.authorization import SAFE_METHODS, AddressRule

NO_ANCESTORS = "'none'"
EMBED_PATH = "/embed"
"""The page that a frame begins with, where people are signed in."""
OWN_WINDOW_PATH = f"{EMBED_PATH}/sign-in"
"""The page of a window of its own, where people sign in who cannot in a frame."""
SCRIPT_PATH = "/embed.js"
"""The script that other sites load."""
POPUP_PATHS = (OWN_WINDOW_PATH, "/sign-in", "/sign-in/provider", "/sign-in/provider/return")
"""The pages on the way to that window's end. They stay connected with the frame that opened it, to which it hands a
code (`Cross-Origin-Opener-Policy`).
"""


class Frames:
    """Frames and scripts of Argot's in pages of other sites.

    Args:
        origins: those of the pages that may show the window.
    """

    def __init__(self, origins: Sequence[str]) -> None:
        self._open = bool(origins)
        self.ancestors = " ".join(origins) or NO_ANCESTORS

    def may_show(self, entry: AddressRule | None) -> bool:
        """Tell whether an address belongs to the window, and sites may show it in a frame."""
        return self._open and entry is not None and entry.framed

    def is_framed(self, headers: Headers) -> bool:
        """Tell whether a browser opens this page in a frame, which sites may do."""
        return self._open and headers.get("sec-fetch-dest") in ("iframe", "frame")

    def is_script(self, scope: Scope) -> bool:
        """Tell whether this loads the script that pages of any site may load: it holds no data of anybody."""
        asked = scope["type"] == "http" and scope["path"] == SCRIPT_PATH
        return self._open and asked and scope["method"] in SAFE_METHODS

    def list_exceptions(self, scope: Scope) -> Mapping[str, str]:
        """List the security headers that are different for this address, by name."""
        if self.is_script(scope):
            return {"Cross-Origin-Resource-Policy": "cross-origin", "Access-Control-Allow-Origin": "*"}
        if self._open and scope["path"] in POPUP_PATHS:
            return {"Cross-Origin-Opener-Policy": "unsafe-none"}
        return {}
