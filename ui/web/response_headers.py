"""The headers of every response that keep a page from loading, sending or storing anything elsewhere."""

from __future__ import annotations

from functools import lru_cache

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Scope, Send

from argot.ui.web.assistant_pages import AssistantPages
from argot.ui.web.authentication import Authenticator
from argot.ui.web.authorization import AddressRule
from argot.ui.web.content_policy import build_content_policy
from argot.ui.web.frames import NO_ANCESTORS, Frames
from argot.ui.web.open_connections import INERT_POLICY, SECURITY_HEADERS


class ResponseHeaders:
    """Adds the headers to responses.

    Args:
        page: Chainlit's HTML page; only the inline scripts in it may run.
        authenticator: makes the cookie of a newcomer at this machine.
        frames: the pages of other sites that may show the window.
        assistant_pages: the pages of other sites that may ask `/mcp`.
    """

    def __init__(
        self, page: str, authenticator: Authenticator, frames: Frames, assistant_pages: AssistantPages
    ) -> None:
        self.authenticator = authenticator
        self.frames = frames
        self.assistant_pages = assistant_pages
        # One policy for each Host header, which the sender chooses, so the cache is bounded.
        self._policy = lru_cache(64)(lambda host, ancestors: build_content_policy(page, host, ancestors))

    def add(self, send: Send, scope: Scope, entry: AddressRule | None, request_headers: Headers, ticket: str) -> Send:
        """Return a `send` that adds the headers to the response.

        Args:
            send: the server's.
            scope: the request.
            entry: the rule of its address; None if it is refused.
            request_headers: those of the request.
            ticket: of a newcomer at this machine, for a cookie; "" without one.
        """

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if entry is None or not entry.own:
                    # Chainlit sets cookies of its own, with the identity that would let their holder in.
                    del headers["Set-Cookie"]
                saved = headers.get("content-disposition", "").startswith("attachment")
                # Only what has no policy of its own: of files that people uploaded, none is shown in a frame.
                shown = self.frames.may_show(entry) and not saved and "Content-Security-Policy" not in headers
                ancestors = self.frames.ancestors if shown else NO_ANCESTORS
                policy = self._policy(request_headers.get("host", "").casefold(), ancestors)
                # `setdefault`: an address may set a policy of its own.
                headers.setdefault("Content-Security-Policy", INERT_POLICY if saved else policy)
                # A page shown to a signed-in person must not come out of the browser's cache after they signed out.
                if entry is None or entry.access != "anonymous":
                    headers.setdefault("Cache-Control", "no-store")
                readable = self.assistant_pages.list_headers(scope, request_headers)
                for name, value in {**SECURITY_HEADERS, **self.frames.list_exceptions(scope), **readable}.items():
                    headers[name] = value
                if shown:
                    del headers["X-Frame-Options"]  # it cannot name sites
                if ticket:
                    headers.append("Set-Cookie", self.authenticator.set_cookie(ticket, strict=True))
            await send(message)

        return send_with_headers
