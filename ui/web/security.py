"""The guard before every request: which pages may ask, who is asking, and what a browser may do with the response.

The service answers pages of its own origin alone. That takes three checks, because a browser sends our cookies along
with every page's requests: the Host header (DNS rebinding: a foreign name that leads to this machine), the Origin
header of every request and every websocket (Chainlit's socket server checks none; both in `request_origin.py`), and
headers that keep a page from loading or sending anything elsewhere (`response_headers.py`).

Then `visitor_lookup.py` finds out who is asking, and the table of addresses whether they may (`authorization.py`); whom
it refuses, `refusal_answers.py` answers.
Chainlit never sees a cookie of ours: a signed cookie of its own, which does not leave this process, tells it who is
asking.
"""

from __future__ import annotations

from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from argot.errors import asked_from_elsewhere
from argot.languages.catalogues import page_language
from argot.service.sign_in.embedding import parse_origins
from argot.service.usecases.audited_cases import note_refusal
from argot.ui.translation.page_language import choose_language
from argot.ui.web.asker_identity import asker
from argot.ui.web.assistant_pages import AssistantPages
from argot.ui.web.authentication import SIGN_IN_PATH, SIGN_IN_SUFFIX, SIGN_OUT_SUFFIX, Authenticator, read_key
from argot.ui.web.authorization import (
    ENTRY_KEY,
    VISITOR_KEY,
    Addresses,
    AddressRule,
    Visitor,
    check_access,
    is_for_programs,
)
from argot.ui.web.body_limits import get_max_body
from argot.ui.web.frames import Frames
from argot.ui.web.host_names import HostNames
from argot.ui.web.open_connections import OpenConnections, Refusal, limit_receive, refuse_connection
from argot.ui.web.refusal_answers import RefusalAnswers
from argot.ui.web.request_origin import OriginCheck
from argot.ui.web.response_headers import ResponseHeaders
from argot.ui.web.visitor_lookup import VisitorLookup

INNER_COOKIE = "argot_inner"
"""The cookie that tells Chainlit who is asking. It is added and removed here."""
NO_SUCH_ADDRESS = (
    "There is nothing at this address. /api/openapi.json lists all addresses; of OpenAI's there are"
    " /v1/chat/completions, /v1/responses, /v1/embeddings and /v1/models, and MCP is at /mcp."
)
NO_SUCH_ROOT = "There is nothing at this address for a program: API addresses begin with /v1/ or /api/."


class Guard:
    """ASGI middleware around everything that is served.

    Args:
        app: the guarded application.
        names: the names under which it answers.
        page: Chainlit's HTML page; only the inline scripts in it may run.
        authenticator: finds out who is asking.
        addresses: the role that each address requires.
        inner: signs the identity that tells Chainlit who is asking.
        refused: builds the page that explains a refusal.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        names: HostNames,
        page: str,
        authenticator: Authenticator,
        addresses: Addresses,
        inner: Callable[[Visitor], str],
        refused: Callable[[int, str, Visitor | None], Response],
    ) -> None:
        self.app = app
        self.authenticator = authenticator
        self.addresses = addresses
        self.inner = inner
        self.connections = OpenConnections()
        self.frames = Frames(parse_origins(authenticator.kb.settings.embed.origins))
        self.assistant_pages = AssistantPages(parse_origins(authenticator.kb.settings.web.mcp_origins, "mcp_origins"))
        self.origins = OriginCheck(names, authenticator, self.frames, self.assistant_pages)
        self.visitors = VisitorLookup(names, authenticator)
        self.refusals = RefusalAnswers(authenticator, addresses, self.frames, refused)
        self.headers = ResponseHeaders(page, authenticator, self.frames, self.assistant_pages)
        authenticator.watch(
            self.connections.close_ended, lambda: self.connections.close_shut_out(authenticator.may_stay)
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        # So that errors of the stores name no folder of this machine.
        asked_from_elsewhere.set(True)
        headers = Headers(scope=scope)
        page_language.set(choose_language(headers))
        # Before the visitor is looked up: a foreign page gets the same refusal whether somebody is signed in or not.
        if refusal := self.origins.find_refusal(scope, headers):
            if is_for_programs(scope["path"]):
                await self._turn_away(refusal, None, scope, receive, send)
            else:
                await refuse_connection(refusal, scope, receive, send)
            return
        if preflight := self.assistant_pages.answer_preflight(scope, headers):
            await preflight(scope, receive, send)
            return
        entry = self._find_entry(scope)
        who, ticket, unwelcome = await self.visitors.identify(scope, headers)
        # A session in a frame opens the chat window alone: elsewhere, nobody is signed in.
        who = None if who and who.framed and not self.frames.may_show(entry) else who
        if who and who.language:
            page_language.set(who.language)
        # The order of refusals: a wrong key, an unknown address, an address that this visitor may not use.
        if (
            refusal := refuse_unwelcome(entry, unwelcome)
            or self._refuse_unknown(entry, scope)
            or check_access(entry, who)
        ):
            self._note_refusal(refusal, entry, who, scope)
            await self._turn_away(refusal, who, scope, receive, send)
            return
        scope = self._make_inner_scope(scope, entry, who)
        token = asker.set(who.name if who else None)
        try:
            if scope["type"] == "websocket" and who is not None:
                await self.connections.serve_websocket(self.app, who, self.authenticator.may_stay)(scope, receive, send)
            else:
                most = get_max_body(entry, who)
                body = receive if most is None else limit_receive(receive, most)
                # A key can be revoked while a long answer to its program is in progress.
                app = self.connections.serve_program(self.app, who) if who and who.is_program else self.app
                await app(scope, body, self.headers.add(send, scope, entry, headers, ticket))
        finally:
            asker.reset(token)

    def _find_entry(self, scope: Scope) -> AddressRule | None:
        # Chainlit's last route takes any path: a mistyped API address would get its page, with status 200.
        entry = self.addresses.find(scope)
        return None if entry and not entry.own and is_for_programs(scope["path"]) else entry

    def _refuse_unknown(self, entry: AddressRule | None, scope: Scope) -> Refusal | None:
        """Explain to a program that an address does not exist or does not take this method."""
        if entry is not None or scope["type"] != "http":
            return None
        if not is_for_programs(scope["path"]):
            return (404, NO_SUCH_ROOT) if read_key(Headers(scope=scope)) else None
        methods = self.addresses.list_methods(scope["path"])
        return (
            (405, f"This address takes {', '.join(methods)}, not {scope['method']}.")
            if methods
            else (404, NO_SUCH_ADDRESS)
        )

    def _note_refusal(self, refusal: Refusal, entry: AddressRule | None, who: Visitor | None, scope: Scope) -> None:
        """Record that somebody's role is not sufficient for an address: no use case learns of the request."""
        if refusal[0] == 403 and entry is not None and who is not None:
            parameters = self.addresses.read_parameters(entry, scope["path"])
            note_refusal(self.authenticator.kb, who.principal, entry.case or entry.name, parameters)

    def _make_inner_scope(self, scope: Scope, entry: AddressRule | None, who: Visitor | None) -> Scope:
        """Build the request as the application sees it: with the visitor, without cookies and keys."""
        # Nothing behind the guard needs them, and so nothing there can log them or pass them on.
        headers = [one for one in scope["headers"] if one[0] not in (b"authorization", b"cookie")]
        if who is not None and entry is not None and not entry.own:
            headers.append((b"cookie", f"{INNER_COOKIE}={self.inner(who)}".encode("latin-1")))
        inside = {**scope, "headers": headers, VISITOR_KEY: who, ENTRY_KEY: entry}
        if scope["path"].startswith(SIGN_IN_PATH):
            given = Headers(scope=scope)
            inside |= {one: self.authenticator.read_cookie(given, one) for one in (SIGN_IN_SUFFIX, SIGN_OUT_SUFFIX)}
        return inside

    async def _turn_away(
        self, refusal: Refusal, who: Visitor | None, scope: Scope, receive: Receive, send: Send
    ) -> None:
        if scope["type"] == "websocket":
            await refuse_connection(refusal, scope, receive, send)
            return
        headers = Headers(scope=scope)
        response = await self.refusals.build_response(refusal, who, headers, scope, receive)
        await response(scope, receive, self.headers.add(send, scope, None, headers, ""))


def refuse_unwelcome(entry: AddressRule | None, refusal: Refusal | None) -> Refusal | None:
    """Return the refusal of a known visitor who is not let in, except at addresses open to everybody."""
    # A style sheet or /health is served even to a wrong key. The sign-in page shows the reason.
    return refusal if entry is None or entry.access != "anonymous" or entry.path == SIGN_IN_PATH else None
