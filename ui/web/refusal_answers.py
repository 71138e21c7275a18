"""The response to a refused request: a page, the sign-in page, a form to send again, or an error for a program."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import Receive, Scope

from argot.service.sign_in.access_tokens import MCP_PATH
from argot.ui.web.api_errors import answer_program
from argot.ui.web.authentication import SIGN_IN_PATH, Authenticator, read_bearer
from argot.ui.web.authorization import Addresses, Visitor, is_for_programs
from argot.ui.web.body_limits import MAX_ANONYMOUS_BYTES
from argot.ui.web.frames import EMBED_PATH, Frames
from argot.ui.web.kept_forms import answer_signed_out
from argot.ui.web.open_connections import Refusal, limit_receive
from argot.ui.web.visitor_lookup import is_page_request


class RefusalAnswers:
    """Answers refused requests.

    Args:
        authenticator: makes the challenge for assistants.
        addresses: the methods that each address takes.
        frames: the pages of other sites that may show the window.
        refused: builds the page that explains a refusal.
    """

    def __init__(
        self,
        authenticator: Authenticator,
        addresses: Addresses,
        frames: Frames,
        refused: Callable[[int, str, Visitor | None], Response],
    ) -> None:
        self.authenticator = authenticator
        self.addresses = addresses
        self.frames = frames
        self.refused = refused

    async def build_response(
        self, refusal: Refusal, who: Visitor | None, headers: Headers, scope: Scope, receive: Receive
    ) -> Response:
        """Refuse a visitor: with a page in a browser, or by redirecting to the sign-in page."""
        status, reason = refusal
        if is_for_programs(scope["path"]):
            return self._answer_program(refusal, headers, scope)
        if status == 401 and (back := await self._give_back(scope, receive)) is not None:
            return back
        response = PlainTextResponse(reason, status_code=status)
        if status == 401 and headers.get("hx-request"):
            # HTMX would follow a 303 itself and put the sign-in page into a part of this page.
            response.headers["HX-Redirect"] = self._find_sign_in(scope, headers)
        elif is_page_request(scope, headers):
            sign_in = self._find_sign_in(scope, headers)
            return RedirectResponse(sign_in, 303) if status == 401 else self.refused(status, reason, who)
        return response

    def _answer_program(self, refusal: Refusal, headers: Headers, scope: Scope) -> Response:
        status, reason = refusal
        response = answer_program(status, reason, path=scope["path"])
        if status == 401 and scope["path"] == MCP_PATH and self.authenticator.tokens:
            is_wrong = bool(read_bearer(headers))
            response.headers["WWW-Authenticate"] = self.authenticator.tokens.make_challenge(is_wrong=is_wrong)
        if status == 405:
            response.headers["Allow"] = ", ".join(self.addresses.list_methods(scope["path"]))
        return response

    def _find_sign_in(self, scope: Scope, headers: Headers) -> str:
        """Return the address to sign in at. The page with the form for passwords is not shown in a frame."""
        if self.frames.is_framed(headers):
            return EMBED_PATH
        return f"{SIGN_IN_PATH}?next={quote(_find_page(scope, headers), safe='')}"

    async def _give_back(self, scope: Scope, receive: Receive) -> Response | None:
        """Return the form of somebody who has been signed out, ready to be sent again."""
        if scope["type"] != "http" or scope["method"] != "POST":
            return None
        return await answer_signed_out(Request(scope, limit_receive(receive, MAX_ANONYMOUS_BYTES)))


def _find_page(scope: Scope, headers: Headers) -> str:
    """Find the page to return to after signing in: the page that was opened, or the one a script asked from."""
    if headers.get("hx-request"):
        return urlsplit(headers.get("hx-current-url", "")).path or "/"
    query = scope.get("query_string", b"").decode("latin-1")
    return f"{quote(scope['path'])}{'?' * bool(query)}{query}"
