"""What stands before every request: whose page may ask, who is asking, and what a browser may do with the answer.

The window answers pages of its own origin alone. That takes three checks, since the browser is a confused deputy:
the Host header (a foreign name rebound to this machine), the Origin header of every request and every websocket
(Chainlit's socket server checks none), and headers that keep the page from loading or sending anything elsewhere.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from argot.ui.chat_people import asker

LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")

CLOSED = (
    "/mcp",
    "/copilot",
    "/docs",
    "/redoc",
    "/openapi.json",
    "/login/",
    "/auth/jwt",
    "/auth/oauth",
    "/project/file",
    "/project/element",
    "/project/share",
    "/project/thread/share",
)
"""Parts of Chainlit that Argot does not use: uploads, tool servers, sharing, foreign sign-in, its API pages."""

SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


class Guard:
    """ASGI middleware around the whole window.

    Args:
        app: the window.
        host: the address it is served on, beside the names of this machine.
        port: the port it is served on.
        page: its HTML page; the inline scripts in it, and no others, may run.
        cookie: the name of the cookie that holds the signed identity.
        identify: gives the identifier in such a cookie, or None.
        welcome: gives a signed identity for whoever opens the page without one; None where people have to sign in.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        host: str,
        port: int,
        page: str,
        cookie: str,
        identify: Callable[[str], str | None],
        welcome: Callable[[], str] | None = None,
    ) -> None:
        self.app = app
        self.hosts = frozenset(own_hosts(host, port))
        self.origins = frozenset(f"http://{name}" for name in self.hosts)
        self.policy = content_policy(page, self.hosts)
        self.cookie = cookie
        self.identify = identify
        self.welcome = welcome

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if refusal := self.refusal(scope, headers):
            await _refuse(refusal, scope, receive, send)
            return
        name = self._asker(headers)
        # Chainlit would also take a bearer token, and then two answers to who is asking could differ.
        scope = {**scope, "headers": [one for one in scope["headers"] if one[0] != b"authorization"]}
        token = asker.set(name)
        try:
            answer = self._with_headers(send, newcomer=name is None) if scope["type"] == "http" else send
            await self.app(scope, receive, answer)
        finally:
            asker.reset(token)

    def refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        """Status and reason if this request is none of ours, else None."""
        if headers.get("host", "").casefold() not in self.hosts:
            return (
                421,
                "Argot does not answer under this name. Open it as localhost, or as the address it is served on.",
            )
        origin = headers.get("origin")
        if origin is not None and origin.casefold() not in self.origins:
            return 403, "Argot answers its own pages only."
        # Another port of this machine is the "same site": browsers send it our cookie, and no Origin with a plain GET.
        foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
        if foreign and headers.get("sec-fetch-mode") != "navigate":
            return 403, "Argot answers its own pages only."
        path = scope["path"]
        if scope["type"] == "http" and any(path == closed.rstrip("/") or path.startswith(closed) for closed in CLOSED):
            return None if path in ("/login", "/login/callback") and scope["method"] == "GET" else (404, "Not found.")
        return None

    def _asker(self, headers: Headers) -> str | None:
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return None
        return self.identify(cookies[self.cookie].value) if self.cookie in cookies else None

    def _with_headers(self, send: Send, *, newcomer: bool) -> Send:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", self.policy)
                for name, value in SECURITY_HEADERS.items():
                    headers[name] = value
                if newcomer and self.welcome and headers.get("content-type", "").startswith("text/html"):
                    headers.append("Set-Cookie", f"{self.cookie}={self.welcome()}; Path=/; HttpOnly; SameSite=Strict")
            await send(message)

        return send_with_headers


def own_hosts(host: str, port: int) -> Iterable[str]:
    """The Host headers by which the window may be called; a browser leaves the standard port out."""
    named = f"[{host}]" if ":" in host else host
    for name in (*LOCAL_HOSTS, named.casefold()):
        yield f"{name}:{port}"
        if port == 80:
            yield name


def content_policy(page: str, hosts: Iterable[str]) -> str:
    """A Content-Security-Policy under which the page reaches its own origin alone.

    Styles may be inline, for the components set them so; scripts only those of our own files and the page's own.
    """
    scripts = " ".join(f"'sha256-{_digest(script)}'" for script in _INLINE_SCRIPT.findall(page))
    # 'self' covers websockets in newer browsers only; a bracketed IPv6 address is no valid source at all.
    sockets = " ".join(f"ws://{host}" for host in sorted(hosts) if not host.startswith("["))
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'self' {scripts}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            f"connect-src 'self' {sockets}",
            "worker-src 'self' blob:",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'self'",
            "object-src 'none'",
        )
    )


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")


async def _refuse(refusal: tuple[int, str], scope: Scope, receive: Receive, send: Send) -> None:
    status, reason = refusal
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": reason})
        return
    await PlainTextResponse(reason, status_code=status, headers=SECURITY_HEADERS)(scope, receive, send)
