"""Who sends a request, or why a visitor is not let in although the request is one of ours."""

from __future__ import annotations

import logging
import time
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

from argot.errors import NotAllowed, StoreUnavailable
from argot.service.observability.instrumentation import credential
from argot.service.sign_in.access_tokens import AccessRefusal
from argot.service.sign_in.account import note_wrong_key
from argot.ui.web.authentication import NOTICE_SECONDS, Authenticator, WrongKey, find_proxy_header, read_key
from argot.ui.web.authorization import Visitor, is_for_programs
from argot.ui.web.host_names import HostNames
from argot.ui.web.open_connections import Refusal

logger = logging.getLogger(__name__)

PROXY_REFUSAL = (
    "Nobody has a password yet, so Argot answers only the person at its own machine, and this request came through "
    "a proxy ({})."
    " Let people sign in: argot user add NAME --password. Then start Argot with 'public_url' and 'trusted_proxies' set"
    " (docs/administrators.md)."
)


class VisitorLookup:
    """Finds the visitor of a request.

    Args:
        names: the names under which the service answers.
        authenticator: finds out who is asking.
    """

    def __init__(self, names: HostNames, authenticator: Authenticator) -> None:
        self.names = names
        self.authenticator = authenticator
        self._told_again = 0.0

    async def identify(self, scope: Scope, headers: Headers) -> tuple[Visitor | None, str, Refusal | None]:
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
        wants_page = is_page_request(scope, headers) and not is_for_programs(scope["path"])
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


def is_page_request(scope: Scope, headers: Headers) -> bool:
    """Tell whether somebody opens a page in a browser, rather than a script requesting something."""
    return scope["type"] == "http" and scope["method"] == "GET" and "text/html" in headers.get("accept", "")
