"""The check that a request comes from a page or a program of ours, before anything is known of who sends it."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import Scope

from argot.ui.web.assistant_pages import NOT_ALLOWED, PATHS, AssistantPages
from argot.ui.web.authentication import Authenticator, read_key
from argot.ui.web.authorization import SAFE_METHODS, is_for_programs
from argot.ui.web.frames import Frames
from argot.ui.web.host_names import HostNames
from argot.ui.web.open_connections import Refusal

EXTENSION_SCHEMES = ("chrome-extension", "moz-extension")
"""Origins of browser extensions (deploy/extension)."""
SIGNED_PATH = "/slack/events"
"""Slack's requests come from no page: a signature, which is checked before anything else, proves their sender."""


class OriginCheck:
    """Refuses requests of foreign pages and under foreign names.

    Args:
        names: the names under which the service answers.
        authenticator: tells whether a request has a credential of its own.
        frames: the pages of other sites that may show the window, or load its script.
        assistant_pages: the pages of other sites that may ask `/mcp`.
    """

    def __init__(
        self, names: HostNames, authenticator: Authenticator, frames: Frames, assistant_pages: AssistantPages
    ) -> None:
        self.names = names
        self.authenticator = authenticator
        self.frames = frames
        self.assistant_pages = assistant_pages

    def find_refusal(self, scope: Scope, headers: Headers) -> Refusal | None:
        """Return status and reason if this request does not come from a page or program of ours, else None."""
        if refusal := self._refuse_host(headers):
            return refusal
        if self.frames.is_script(scope):
            return None
        # Browsers send it with each websocket and each request that changes something.
        origin = headers.get("origin")
        welcome = _is_extension(origin, scope, headers) or self.assistant_pages.has_sent(scope, headers)
        foreign = NOT_ALLOWED if scope["path"] in PATHS else "Argot answers its own pages only."
        if origin is not None and not welcome and not self.names.is_own_origin(origin, headers.get("host", "")):
            return 403, foreign
        # Another port of this machine is the "same site": browsers send it our cookie, and no Origin with a plain GET.
        site = headers.get("sec-fetch-site")
        if site in ("cross-site", "same-site") and not welcome and headers.get("sec-fetch-mode") != "navigate":
            return 403, foreign
        changes = scope["type"] == "http" and scope["method"] not in SAFE_METHODS
        # Programs have no page. A key, token or signature proves who they are, and a browser adds none by itself.
        proven = "cookie" not in headers and (scope["path"] == SIGNED_PATH or is_for_programs(scope["path"]))
        proven = proven or self.authenticator.has_credential(scope, headers)
        if changes and origin is None and site != "same-origin" and not proven:
            return 403, "Argot answers its own pages only: the request does not say which page sent it."
        return None

    def _refuse_host(self, headers: Headers) -> Refusal | None:
        if len(headers.getlist("host")) > 1:  # a proxy before us may have used the other
            return 400, "The request names two hosts."
        if not self.names.is_own(headers.get("host", "")):
            return (
                # Misdirected Request: the name leads to the wrong server.
                421,
                "Argot does not answer under this name. Open it as localhost, or as the address it is served on.",
            )
        return None


def _is_extension(origin: str | None, scope: Scope, headers: Headers) -> bool:
    """Return whether a browser extension sends this with a key, as programs do. No page has such an origin, and a
    browser sends no page's request with a key unless the service agrees, which it never does.
    """
    scheme = (origin or "").partition("://")[0]
    own = scope["type"] == "http" and is_for_programs(scope["path"]) and "cookie" not in headers
    return own and scheme in EXTENSION_SCHEMES and bool(read_key(headers))
