"""The guard before every request: which pages may ask, who is asking, and what a browser may do with the response.

The service answers pages of its own origin alone. That takes three checks, because a browser sends our cookies along
with every page's requests: the Host header (DNS rebinding: a foreign name that leads to this machine), the Origin
header of every request and every websocket (Chainlit's socket server checks none), and headers that keep a page from
loading or sending anything elsewhere.

Then `authentication.py` finds out who is asking, and the table of addresses whether they may (`authorization.py`).
Chainlit never sees a cookie of ours: a signed cookie of its own, which does not leave this process, tells it who is
asking.
"""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import logging
import re
import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from argot.errors import NotAllowed, StoreUnavailable, asked_from_elsewhere
from argot.languages.catalogues import page_language
from argot.service.observability.instrumentation import credential
from argot.service.sign_in.access_tokens import MCP_PATH, AccessRefusal
from argot.service.sign_in.account import note_wrong_key
from argot.service.sign_in.embedding import parse_origins
from argot.service.usecases.audited_cases import note_refusal
from argot.ui.translation.page_language import choose_language
from argot.ui.web.api_errors import answer_program
from argot.ui.web.asker_identity import asker
from argot.ui.web.assistant_pages import NOT_ALLOWED, PATHS, AssistantPages
from argot.ui.web.authentication import (
    NOTICE_SECONDS,
    Authenticator,
    WrongKey,
    find_proxy_header,
    read_bearer,
    read_key,
)
from argot.ui.web.authorization import (
    ENTRY_KEY,
    SAFE_METHODS,
    VISITOR_KEY,
    Addresses,
    AddressRule,
    Visitor,
    check_access,
    is_for_programs,
)
from argot.ui.web.chainlit_guard import FILE_PATH, MAX_JSON_BYTES
from argot.ui.web.frames import EMBED_PATH, NO_ANCESTORS, Frames
from argot.ui.web.kept_forms import answer_signed_out
from argot.ui.web.open_connections import (
    INERT_POLICY,
    SECURITY_HEADERS,
    OpenConnections,
    Refusal,
    limit_receive,
    refuse_connection,
)

logger = logging.getLogger(__name__)

EXTENSION_SCHEMES = ("chrome-extension", "moz-extension")
"""Origins of browser extensions (deploy/extension)."""
LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")
INNER_COOKIE = "argot_inner"
"""The cookie that tells Chainlit who is asking. It is added and removed here."""
SIGN_IN_PATH = "/sign-in"
SIGN_IN_SUFFIX = "_in"
"""The suffix of the cookie of somebody who is signing in at the provider, and its key in the scope."""
SIGN_OUT_SUFFIX = "_out"
"""The suffix of the cookie of somebody who is signing out, and is sent on to sign out at the provider."""
MAX_ANONYMOUS_BYTES = 64 * 1024
"""Bytes of a body of somebody who is not signed in."""
MAX_FILE_BYTES = 27 * 1024 * 1024
"""Bytes of a file put into a conversation, with its form."""
SIGNED_PATH = "/slack/events"
"""Slack's requests come from no page: a signature, which is checked before anything else, proves their sender."""
NO_SUCH_ADDRESS = (
    "There is nothing at this address. /api/openapi.json lists all addresses; of OpenAI's there are"
    " /v1/chat/completions, /v1/responses, /v1/embeddings and /v1/models, and MCP is at /mcp."
)
NO_SUCH_ROOT = "There is nothing at this address for a program: API addresses begin with /v1/ or /api/."
PROXY_REFUSAL = (
    "Nobody has a password yet, so Argot answers only the person at its own machine, and this request came through "
    "a proxy ({})."
    " Let people sign in: argot user add NAME --password. Then start Argot with 'public_url' and 'trusted_proxies' set"
    " (docs/administrators.md)."
)
MAX_SIGNED_BYTES = 2 * 1024 * 1024
"""Bytes of a signed body: a pressed button is sent with its whole message, which may be a long answer."""

_INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


class HostNames:
    """The names and addresses under which the service answers.

    Args:
        host, port: the address it listens on.
        secluded: only this machine can reach it. Otherwise every numeric address is accepted: rebinding needs a name.
        public_url: the address that people open, if a proxy stands before it.
    """

    def __init__(self, host: str, port: int, *, secluded: bool = True, public_url: str = "") -> None:
        self.port = port
        self.secluded = secluded
        self.hosts = frozenset(list_own_hosts(host, port))
        origins = {f"http://{name}" for name in self.hosts}
        if public_url:
            scheme, _, rest = public_url.rstrip("/").casefold().partition("://")
            self.hosts |= {rest}
            origins.add(f"{scheme}://{rest}")
        self.origins = frozenset(origins)

    def is_own(self, host: str) -> bool:
        host = host.casefold()
        return host in self.hosts or (not self.secluded and self._is_address(host))

    def is_own_origin(self, origin: str, host: str) -> bool:
        origin = origin.casefold()
        return origin in self.origins or (origin == f"http://{host.casefold()}" and self.is_own(host))

    def _is_address(self, host: str) -> bool:
        # "[::1]" ends in a bracket and has no port, despite its colons.
        name, _, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
        if not name:
            name, port = host, "80"
        try:
            ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
        except ValueError:
            return False
        return (port or "80") == str(self.port)


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
        self.names = names
        self.authenticator = authenticator
        self.addresses = addresses
        self.inner = inner
        self.refused = refused
        self.connections = OpenConnections()
        self.frames = Frames(parse_origins(authenticator.kb.settings.embed.origins))
        self.assistant_pages = AssistantPages(parse_origins(authenticator.kb.settings.web.mcp_origins, "mcp_origins"))
        # One policy for each Host header, which the sender chooses, so the cache is bounded.
        self.policy = lru_cache(64)(lambda host, ancestors: build_content_policy(page, host, ancestors))
        self._told_again = 0.0
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
        if refusal := self.find_refusal(scope, headers):
            if is_for_programs(scope["path"]):
                await self._turn_away(refusal, None, headers)(scope, receive, send)
            else:
                await refuse_connection(refusal, scope, receive, send)
            return
        if preflight := self.assistant_pages.answer_preflight(scope, headers):
            await preflight(scope, receive, send)
            return
        entry = self._find_entry(scope)
        who, ticket, unwelcome = await self._identify(scope, headers)
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
            await self._turn_away(refusal, who, headers)(scope, receive, send)
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
                await app(scope, body, self._add_headers(send, scope, entry, headers, ticket))
        finally:
            asker.reset(token)

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

    async def _identify(self, scope: Scope, headers: Headers) -> tuple[Visitor | None, str, Refusal | None]:
        """Return the visitor, the ticket of a newcomer at this machine, and why a known visitor is refused."""
        try:
            return await self._look_up(scope, headers)
        except WrongKey as error:
            note_wrong_key(self.authenticator.kb, self.authenticator.find_address(scope, headers))
            return None, "", (401, str(error))
        except AccessRefusal as error:
            return None, "", (error.status, str(error))
        except NotAllowed as error:
            return None, "", (403, str(error))
        except StoreUnavailable as error:
            self._tell(error)
            return None, "", (503, error.elsewhere)

    def _tell(self, error: StoreUnavailable) -> None:
        # Every request meets this error as long as it lasts.
        if time.monotonic() >= self._told_again:
            self._told_again = time.monotonic() + NOTICE_SECONDS
            logger.error("nobody can be let in: %s", error.args[0])

    async def _look_up(self, scope: Scope, headers: Headers) -> tuple[Visitor | None, str, Refusal | None]:
        # As long as sitting at this machine is enough, a proxy would let everybody behind it in as that person.
        # Signs of a proxy are checked first: that needs no store.
        sign = "" if read_key(headers) else self._find_proxy_sign(scope, headers)
        if sign and await self.authenticator.is_open():
            return None, "", (403, PROXY_REFUSAL.format(sign))
        who = await self.authenticator.identify(scope, headers)
        if who is not None:
            credential.set((who.auth_method, (who.session or "") if who.auth_method == "key" else who.client))
        wants_page = _is_page_request(scope, headers) and not is_for_programs(scope["path"])
        if who is None and wants_page and await self.authenticator.is_open():
            ticket = self.authenticator.ticket()
            return self.authenticator.make_local(ticket), ticket, None
        return who, "", None

    def _find_proxy_sign(self, scope: Scope, headers: Headers) -> str:
        """Find a sign that a request came through a proxy although its Host names this machine; empty if there is
        none.

        A proxy that sends our own address as the Host (nginx's plain `proxy_pass`) may add no header, but speaks
        HTTP/1.0, as no browser does; and a page that it serves sends an Origin other than ours.
        """
        if name := find_proxy_header(headers):
            return f"it sent {name}"
        if scope.get("http_version") == "1.0":
            return "it speaks HTTP/1.0"
        page = urlsplit(headers.get("referer", ""))
        origin = f"{page.scheme}://{page.netloc}"
        same = headers.get("sec-fetch-site") == "same-origin" and page.netloc
        return f"its page is of {origin}" if same and not self.names.is_own_origin(origin, page.netloc) else ""

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

    def _turn_away(self, refusal: Refusal, who: Visitor | None, headers: Headers) -> ASGIApp:
        """Refuse a visitor: with a page in a browser, or by redirecting to the sign-in page."""
        status, reason = refusal

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "websocket":
                await refuse_connection(refusal, scope, receive, send)
                return
            sign_in = f"{SIGN_IN_PATH}?next={quote(_find_page(scope, headers), safe='')}"
            if self.frames.is_framed(headers):  # the page with the form for passwords is not shown in a frame
                sign_in = EMBED_PATH
            response: Response = PlainTextResponse(reason, status_code=status)
            if is_for_programs(scope["path"]):
                response = answer_program(status, reason, path=scope["path"])
                if status == 401 and scope["path"] == MCP_PATH and self.authenticator.tokens:
                    is_wrong = bool(read_bearer(headers))
                    response.headers["WWW-Authenticate"] = self.authenticator.tokens.make_challenge(is_wrong=is_wrong)
                if status == 405:
                    response.headers["Allow"] = ", ".join(self.addresses.list_methods(scope["path"]))
            elif status == 401 and (back := await self._give_back(scope, receive)) is not None:
                response = back
            elif status == 401 and headers.get("hx-request"):
                # HTMX would follow a 303 itself and put the sign-in page into a part of this page.
                response.headers["HX-Redirect"] = sign_in
            elif _is_page_request(scope, headers):
                response = RedirectResponse(sign_in, 303) if status == 401 else self.refused(status, reason, who)
            await response(scope, receive, self._add_headers(send, scope, None, headers, ""))

        return answer

    async def _give_back(self, scope: Scope, receive: Receive) -> Response | None:
        """Return the form of somebody who has been signed out, ready to be sent again."""
        if scope["type"] != "http" or scope["method"] != "POST":
            return None
        return await answer_signed_out(Request(scope, limit_receive(receive, MAX_ANONYMOUS_BYTES)))

    def _add_headers(
        self, send: Send, scope: Scope, entry: AddressRule | None, request_headers: Headers, ticket: str
    ) -> Send:
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
                policy = self.policy(request_headers.get("host", "").casefold(), ancestors)
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


def get_max_body(entry: AddressRule | None, who: Visitor | None) -> int | None:
    """Return the largest body of a request in bytes; None if the route limits it itself."""
    # First: Slack is not signed in, and would get the small limit of a stranger.
    if entry is not None and entry.path == SIGNED_PATH:
        return MAX_SIGNED_BYTES
    if who is None or entry is None:
        return MAX_ANONYMOUS_BYTES
    if entry.path == FILE_PATH:
        return MAX_FILE_BYTES
    return None if entry.bounded else MAX_JSON_BYTES


def refuse_unwelcome(entry: AddressRule | None, refusal: Refusal | None) -> Refusal | None:
    """Return the refusal of a known visitor who is not let in, except at addresses open to everybody."""
    # A style sheet or /health is served even to a wrong key. The sign-in page shows the reason.
    return refusal if entry is None or entry.access != "anonymous" or entry.path == SIGN_IN_PATH else None


def list_own_hosts(host: str, port: int) -> Iterable[str]:
    """List the Host headers under which the window answers; a browser leaves the standard port out."""
    named = f"[{host}]" if ":" in host else host
    for name in (*LOCAL_HOSTS, named.casefold()):
        yield f"{name}:{port}"
        if port == 80:
            yield name


def _is_extension(origin: str | None, scope: Scope, headers: Headers) -> bool:
    """Return whether a browser extension sends this with a key, as programs do. No page has such an origin, and a
    browser sends no page's request with a key unless the service agrees, which it never does.
    """
    scheme = (origin or "").partition("://")[0]
    own = scope["type"] == "http" and is_for_programs(scope["path"]) and "cookie" not in headers
    return own and scheme in EXTENSION_SCHEMES and bool(read_key(headers))


def build_content_policy(page: str, host: str, ancestors: str = NO_ANCESTORS) -> str:
    """Build a Content-Security-Policy under which a page of this host reaches only its own origin.

    `ancestors`: the sites whose pages may show it in a frame.

    Inline styles are allowed, because Chainlit's components set them. Scripts are our own files and the page's own
    inline scripts, by their digests.
    """
    scripts = " ".join(f"'sha256-{_hash_script(script)}'" for script in _INLINE_SCRIPT.findall(page))
    # 'self' covers websockets in newer browsers only, and a bracketed IPv6 address is not a valid source.
    sockets = "" if host.startswith("[") or not re.fullmatch(r"[\w.:-]+", host) else f" ws://{host} wss://{host}"
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'self' {scripts}",
            "style-src 'self' 'unsafe-inline'",
            # No outside images: the address of one could carry words of the answer away.
            "img-src 'self'",
            "font-src 'self' data:",
            f"connect-src 'self'{sockets}",
            "worker-src 'self' blob:",
            f"frame-ancestors {ancestors}",
            "base-uri 'none'",
            "form-action 'self'",
            "object-src 'none'",
        )
    )


def _hash_script(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")


def _is_page_request(scope: Scope, headers: Headers) -> bool:
    """Tell whether somebody opens a page in a browser, rather than a script requesting something."""
    return scope["type"] == "http" and scope["method"] == "GET" and "text/html" in headers.get("accept", "")


def _find_page(scope: Scope, headers: Headers) -> str:
    """Find the page to return to after signing in: the page that was opened, or the one a script asked from."""
    if headers.get("hx-request"):
        return urlsplit(headers.get("hx-current-url", "")).path or "/"
    query = scope.get("query_string", b"").decode("latin-1")
    return f"{quote(scope['path'])}{'?' * bool(query)}{query}"
