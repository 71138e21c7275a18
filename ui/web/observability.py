"""The outermost layer: each request gets a number, is counted, and an error in it is logged once.

The number is in the log entries and in the response header `X-Request-Id`, so that people who meet an error can name
it. Neither paths nor queries are logged: they hold names of documents and people's searches.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.utils import ClientDisconnected

from argot.service.observability.instrumentation import make_request_id, request_id, surface
from argot.ui.web.authentication import find_proxy_header, is_within, parse_networks
from argot.ui.web.authorization import PAGE_ROOTS
from argot.ui.web.open_connections import SECURITY_HEADERS

if TYPE_CHECKING:
    from argot.service.knowledge_base import KnowledgeBase
    from argot.ui.web.authentication import Authenticator

logger = logging.getLogger(__name__)

METRICS_PATH = "/metrics"
# The labels of the metrics. Few and fixed: a label for every path would make a time series for every path.
SURFACES = (
    ("/v1/", "openai"),
    ("/api/", "api"),
    ("/mcp/", "mcp"),
    ("/scim/", "scim"),
    ("/slack/", "slack"),
    (f"{METRICS_PATH}/", "api"),
)
ASSISTANT_AGENT = "argot-mcp/"
"""The user agent of `argot mcp` on another machine, so that its questions are counted apart."""


class RequestObserver:
    """ASGI middleware, the outermost layer.

    Args:
        app: the application.
        kb: the knowledge base whose metrics count the requests.
        authenticator: finds the address a request comes from.
    """

    def __init__(self, app: ASGIApp, kb: KnowledgeBase, authenticator: Authenticator) -> None:
        self.app = app
        self.kb = kb
        self.authenticator = authenticator
        self._scrapers = parse_networks(kb.settings.telemetry.metrics_networks, "metrics_networks")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        request_id.set(make_request_id())
        surface.set(get_surface(scope["path"], Headers(scope=scope).get("user-agent", "")))
        if scope["type"] == "websocket":
            await self._observe_connection(scope, receive, send)
        elif self._is_scraper(scope) and self.kb.metrics is not None:
            await show_metrics(self.kb)(scope, receive, send)
        else:
            await self._observe_request(scope, receive, send)

    async def _observe_connection(self, scope: Scope, receive: Receive, send: Send) -> None:
        metrics = self.kb.metrics
        if metrics is not None:
            metrics.connections.inc()
        try:
            await self.app(scope, receive, send)
        except ClientDisconnected:  # leaving is not an error, not even before the connection stands
            raise
        except Exception:
            # The error ends here: uvicorn would log it again, without the request's number.
            logger.exception("a connection failed")
        finally:
            if metrics is not None:
                metrics.connections.dec()

    async def _observe_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        status, began = 0, time.perf_counter()

        async def send_with_number(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-Id"] = request_id.get()
            await send(message)

        try:
            await self.app(scope, receive, send_with_number)
        except Exception:
            logger.exception("a request failed")
            # Once a status is sent, no other can follow, so the response breaks off.
            if not status:
                text = f"Something went wrong. An administrator can find it in the log as {request_id.get()}."
                response = PlainTextResponse(
                    text, status_code=500, headers={**SECURITY_HEADERS, "Cache-Control": "no-store"}
                )
                await response(scope, receive, send_with_number)
        finally:
            if self.kb.metrics is not None:
                self.kb.metrics.requests.labels(surface.get(), f"{status // 100}xx" if status else "none").inc()
            seconds = round(time.perf_counter() - began, 3)
            logger.info("request", extra={"fields": {"method": scope["method"], "status": status, "seconds": seconds}})

    def _is_scraper(self, scope: Scope) -> bool:
        """Tell whether this request may read the metrics without signing in.

        That depends on the address it comes from. A request passed on by a proxy counts only if the proxy is trusted,
        and scripts of pages in a browser are refused.
        """
        if not self._scrapers or scope["path"] != METRICS_PATH or scope["method"] != "GET":
            return False
        headers = Headers(scope=scope)
        # A script in a page sends one of these headers. An address that somebody types arrives as "navigate".
        if "origin" in headers or headers.get("sec-fetch-mode", "navigate") != "navigate":
            return False
        # An untrusted proxy may be in these networks: its own address says nothing about who asks.
        if find_proxy_header(headers) and not self.authenticator.from_proxy(scope):
            return False
        return is_within(self.authenticator.find_address(scope, headers), self._scrapers)


def show_metrics(kb: KnowledgeBase) -> PlainTextResponse:
    """Return the metrics in Prometheus' text format; 404 where nothing is counted."""
    from argot.service.observability.metrics import CONTENT_TYPE

    if kb.metrics is None:
        return PlainTextResponse("Nothing is counted here.", status_code=404)
    headers = {**SECURITY_HEADERS, "Cache-Control": "no-store", "Content-Type": CONTENT_TYPE}
    return PlainTextResponse(kb.metrics.text(), headers=headers)


def get_surface(path: str, agent: str = "") -> str:
    """Return the surface an address belongs to. `agent`: the request's User-Agent."""
    for beginning, name in SURFACES:
        if f"{path}/".startswith(beginning):
            return "mcp" if name in ("api", "openai") and agent.startswith(ASSISTANT_AGENT) else name
    return "pages" if path.startswith(PAGE_ROOTS) else "chat"
