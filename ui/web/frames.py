"""The addresses that pages of other sites may show in a frame, or load a script from: those of the chat window alone.

All other pages (for managers and administrators, for reading, for signing in with a password) stay out of every frame.
Without the setting `embed_origins`, so does the window.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.datastructures import Headers
from starlette.types import Scope

from argot.ui.translation.page_language import FRAME_LANGUAGE_COOKIE
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

COOKIE_ATTRIBUTES = "Path=/; HttpOnly; SameSite=None; Secure; Partitioned"
"""Browsers send only SameSite=None from such a frame. Partitioned: and only below the site of the page around it."""


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


def make_frame_language_cookie(language: str) -> str:
    """Build the Set-Cookie line that keeps the language of the page around a frame, as the frame's session is kept."""
    return f"{FRAME_LANGUAGE_COOKIE}={language}; {COOKIE_ATTRIBUTES}"
