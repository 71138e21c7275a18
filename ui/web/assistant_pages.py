"""Pages of other sites that may ask `/mcp`: assistants that run in a browser (CORS: Fetch Standard, section 3.2).

Such a page sends a key or an access token, as every program does. A browser may add nothing of the person who opens the
page: a request with a cookie is refused, and the answers allow no credentials. Without the setting `mcp_origins` no
page of another site may ask.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from argot.service.sign_in.access_tokens import MCP_PATH, METADATA_PATH

PATHS = (MCP_PATH, METADATA_PATH, METADATA_PATH + MCP_PATH)
METHODS = "GET, POST"
REQUEST_HEADERS = (
    "Authorization, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id"
)
"""What clients send (MCP, "Transports": 2025-11-25, and `Mcp-Method` and `Mcp-Name` of its successor)."""
RESPONSE_HEADERS = "WWW-Authenticate, Retry-After"
"""What a page may read beyond the usual: the first one names the provider at which its person signs in."""
PREFLIGHT_SECONDS = 600
"""How long a browser keeps the answer to a preflight. Chromium keeps none longer than two hours."""
NOT_ALLOWED = (
    "Argot answers its own pages only. An administrator can let assistants in pages of another site ask, by the"
    " setting 'mcp_origins' (docs/administrators.md)."
)


class AssistantPages:
    """The pages that may ask.

    Args:
        origins: those of the setting `mcp_origins`.
    """

    def __init__(self, origins: Sequence[str]) -> None:
        self._origins = frozenset(origins)

    def has_sent(self, scope: Scope, headers: Headers) -> bool:
        """Tell whether such a page has sent this request, and the browser has added no cookie."""
        own = scope["type"] == "http" and scope["path"] in PATHS and "cookie" not in headers
        return own and headers.get("origin") in self._origins

    def answer_preflight(self, scope: Scope, headers: Headers) -> Response | None:
        """Return the answer to the question of a browser whether such a page may send a request; None: it is no such
        question.
        """
        asks = scope["type"] == "http" and scope["method"] == "OPTIONS" and "access-control-request-method" in headers
        if not asks or not self.has_sent(scope, headers):
            return None
        allowed = {
            "Access-Control-Allow-Methods": METHODS,
            "Access-Control-Allow-Headers": REQUEST_HEADERS,
            "Access-Control-Max-Age": str(PREFLIGHT_SECONDS),
        }
        return Response(status_code=204, headers={**allowed, **self.list_headers(scope, headers)})

    def list_headers(self, scope: Scope, headers: Headers) -> Mapping[str, str]:
        """List the headers of an answer that such a page may read, by name; none if no such page has asked."""
        if not self.has_sent(scope, headers):
            return {}
        origin = headers["origin"]
        return {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Expose-Headers": RESPONSE_HEADERS,
            "Vary": "Origin",
        }
