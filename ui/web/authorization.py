"""Authorization: the role that each address requires, and the check that a form was sent by a page of ours.

An endpoint declares its role below the line that makes it a route:

    @router.post("/terms/{term}")
    @needs("manager")
    async def save(who: Who, ...) -> Response: ...

An endpoint that declares none is refused. Rights beyond the role (which context, which document) are checked by the
use cases, with `who.principal`.

Requests that change something are checked against forgery (CSRF) before the endpoint runs: their page puts `who.csrf`
into a hidden field named `csrf`, or into the header `X-CSRF-Token`; for HTMX once, on the body:

    <input type="hidden" name="csrf" value="{{ who.csrf }}">
    <body hx-headers='{"X-CSRF-Token": "{{ who.csrf }}"}'>

Programs send a key (`Authorization: Bearer argot_...`), which a foreign page does not have: such requests need neither
an origin nor that token. A key opens addresses declared with `program=True` and no others; a request with a cookie and
no key is checked there as everywhere.
"""

from __future__ import annotations

import hmac
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar

from fastapi import Depends
from starlette.requests import HTTPConnection, Request  # FastAPI reads the annotations of dependencies

from argot.errors import NotAllowed
from argot.languages.catalogues import translate
from argot.service.identity.people import RANKS, Role, role_of
from argot.types import Principal

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import Scope

logger = logging.getLogger(__name__)
F = TypeVar("F", bound=Callable[..., Any])

Access: TypeAlias = Literal["anonymous"] | Role
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
CSRF_FIELD = "csrf"
CSRF_HEADER = "x-csrf-token"
VISITOR_KEY = "argot.visitor"
"""The key of the visitor in a request's scope; its value is None for somebody who is not signed in."""
ENTRY_KEY = "argot.entry"
_ACCESS_KEY = "__argot_access__"
PROGRAM_ROOTS = ("/v1/", "/api/", "/scim/", "/mcp/")
"""The roots of addresses for programs, where refusals and errors are JSON."""
PAGE_ROOTS = (
    "/documents",
    "/library",
    "/terms",
    "/glossary",
    "/ratings",
    "/verified",
    "/insight",
    "/workbench",
    "/administration",
    "/people",
    "/account",
    "/shared",
)
"""The roots of our own pages, each with a page of its own. All other addresses belong to the chat window."""
NO_KEY = (
    "This address requires a key: send it as 'Authorization: Bearer argot_...'. Make one with: argot key add NAME, "
    "or on the"
    " page /account."
)
WRONG_KEY = (
    "This key is unknown, was revoked, or belongs to a suspended user. Make another with: argot key add NAME,"
    " or on the page /account."
)


@dataclass(frozen=True, slots=True)
class Visitor:
    """The person or program that asks. `session` is the id of the session or key they came in by, if any.

    `language`: that of the pages, as the account keeps it; empty: the browser's. `framed`: they are signed in in a
    frame of another site, which opens the chat window alone. `client`: the id at the provider of the program that has
    their access token.
    """

    name: str
    display_name: str
    principal: Principal
    csrf: str
    auth_method: Literal["local", "password", "provider", "header", "key", "token"]
    session: str | None = None
    language: str = ""
    framed: bool = False
    client: str = ""

    @property
    def is_program(self) -> bool:
        """Tell whether a program asks, with a key or an access token, neither of which a browser adds by itself."""
        return self.auth_method in ("key", "token")

    @property
    def role(self) -> Role:
        return role_of(self.principal)


def needs(
    access: Access, *, csrf: bool = True, program: bool = False, framed: bool = False, case: str = ""
) -> Callable[[F], F]:
    """Declare the role an endpoint requires. Without `csrf` only the origin of a request is checked, not its token.

    `program`: programs may use it with a key. `framed`: the chat window needs it, also in a frame of another site
    (`web/frames.py`). `case`: the use case that it runs, under whose name the audit records a refusal.
    """

    def declare(function: F) -> F:
        setattr(function, _ACCESS_KEY, (access, csrf, program, framed, case))
        return function

    return declare


def get_visitor(connection: HTTPConnection) -> Visitor:
    """Return the visitor of this request, as a dependency.

    Raises:
        NotAllowed: nobody is signed in (on addresses open to the anonymous).
    """
    found = connection.scope.get(VISITOR_KEY)
    if not isinstance(found, Visitor):
        raise NotAllowed(translate("You are not signed in. Reload the page."))
    return found


Who = Annotated[Visitor, Depends(get_visitor)]
"""The dependency through which an endpoint learns who is asking."""


async def refuse_forgery(request: Request) -> None:
    """Refuse a request that changes something and was not sent by a page of ours. A dependency of the application.

    Raises:
        HTTPException: 403; OutdatedForm where what was typed can be given back.
    """
    who, entry = request.scope.get(VISITOR_KEY), request.scope.get(ENTRY_KEY)
    if (
        # Without a sign-in there are no rights that a foreign page could borrow, and no browser adds a key by itself.
        request.method in SAFE_METHODS
        or who is None
        or who.is_program
        or (isinstance(entry, AddressRule) and not entry.csrf)
    ):
        return
    token = request.headers.get(CSRF_HEADER)
    # Forms only: reading another body as a form would fail, or use it up.
    if token is None and request.headers.get("content-type", "").startswith(("application/x-www-form", "multipart/")):
        value = (await request.form()).get(CSRF_FIELD)
        token = value if isinstance(value, str) else None
    # As bytes: `compare_digest` raises on strings that are not ASCII.
    if token is None or not hmac.compare_digest(token.encode(), who.csrf.encode()):
        from argot.ui.web.form_recovery import OutdatedForm, may_be_kept, read_fields

        kept = may_be_kept(request.url.path, request.headers.get("content-type", ""))
        raise OutdatedForm(await read_fields(request) if kept else [])


# -- the table of addresses ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AddressRule:
    """One address. `access` is None where no role was declared. `own` tells our addresses from the chat window's.

    `program`: keys open it. `bounded`: its route limits the size of bodies itself. `framed`: it belongs to the chat
    window, which sites of the settings may show in a frame. `case`: the one use case that it runs; empty: none, or
    several.
    """

    method: str
    path: str
    access: Access | None
    own: bool
    csrf: bool = True
    program: bool = False
    bounded: bool = False
    framed: bool = False
    case: str = ""

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"


class Addresses:
    """All addresses of the application, in the order in which requests are matched with them."""

    def __init__(self, entries: Iterable[AddressRule]) -> None:
        from starlette.routing import compile_path

        self.entries: Sequence[AddressRule] = tuple(entries)
        self._found: list[tuple[re.Pattern[str], AddressRule]] = [
            (compile_path(one.path)[0], one) for one in self.entries
        ]
        for one in self.entries:
            if one.own and one.access is None:
                logger.error("%s is refused: it declares no role (argot.ui.web.authorization.needs)", one.name)

    @classmethod
    def of(cls, app: FastAPI) -> Addresses:
        return cls(_list_entries(app))

    def find(self, scope: Scope) -> AddressRule | None:
        """Return the address this request goes to."""
        method = "WEBSOCKET" if scope["type"] == "websocket" else scope["method"]
        for pattern, entry in self._found:
            if entry.method == method and pattern.match(scope["path"]):
                return entry
        return None

    def read_parameters(self, entry: AddressRule, path: str) -> dict[str, str]:
        """Return the parameters in a path of this address; never those of its query, which may be a question."""
        found = next((pattern.match(path) for pattern, one in self._found if one is entry), None)
        return found.groupdict() if found else {}

    def list_methods(self, path: str) -> list[str]:
        """List the methods of an address for programs."""
        return sorted({entry.method for pattern, entry in self._found if entry.program and pattern.match(path)})


def _list_entries(app: FastAPI) -> Iterator[AddressRule]:
    from fastapi.routing import iter_route_contexts
    from starlette.routing import Mount

    for route in iter_route_contexts(app.routes):
        if isinstance(route.original_route, Mount):
            yield from _list_window_entries(route.original_route.app)
            continue
        # Without a declared role `access` is `None`, which is answered with 404: a forgotten role closes an address.
        access, csrf, program, framed, case = getattr(route.endpoint, _ACCESS_KEY, (None, True, False, False, ""))
        bounded = getattr(route.original_route, "bounds_bodies", False)
        # A websocket's route has no methods.
        for method in sorted(route.methods or {"WEBSOCKET"}):
            yield AddressRule(method, str(route.path), access, True, csrf, program, bounded, framed, case)


def _list_window_entries(window: Any) -> Iterator[AddressRule]:
    """List Chainlit's addresses. `chainlit_guard.py` declares which are open; the mounted one is its websocket."""
    from fastapi.routing import iter_route_contexts
    from starlette.routing import Mount

    access: Mapping[str, Access] = getattr(window, "open", {})
    for route in iter_route_contexts(getattr(window, "routes", ())):
        mounted = isinstance(route.original_route, Mount)
        for method in ("WEBSOCKET",) if mounted else sorted(route.methods or {"WEBSOCKET"}):
            name = f"{method} {route.path}"
            path = f"{route.path}/{{rest:path}}" if mounted else str(route.path)
            yield AddressRule(method, path, access.get(name), own=False, framed=True)


def is_for_programs(path: str) -> bool:
    """Tell whether an address belongs to the API."""
    # The slash includes /api itself and excludes /apiary.
    return f"{path}/".startswith(PROGRAM_ROOTS)


def check_access(entry: AddressRule | None, who: Visitor | None) -> tuple[int, str] | None:
    """Return None if this visitor may go there, else the status and the reason."""
    if entry is None or entry.access is None:
        return 404, translate("There is nothing here.")
    # Before the role: even an administrator's key must not open the pages.
    if who is not None and who.is_program and not entry.program and entry.access != "anonymous":
        text = "A key does not open this page: it is for people who sign in. Keys are for the API (docs/api.md)."
        return 403, translate(text)
    if entry.access == "anonymous" or (who is not None and RANKS[who.role] >= RANKS[entry.access]):
        return None
    if who is None:
        return 401, NO_KEY if entry.program else translate("You are not signed in. Reload the page.")
    return 403, _describe_access(entry)


def _describe_access(entry: AddressRule) -> str:
    """Say for whom an address is: of a page in the language of its reader, of the API in English."""
    of = "documents" if "/documents" in entry.path else "the glossary"
    if is_for_programs(entry.path):
        takes = "an administrator" if entry.access == "admin" else f"a manager of {of}"
        return f"This address is for {takes}. Ask an administrator for the role '{entry.access}'."
    if entry.access == "admin":
        return translate("This page is for an administrator. Ask an administrator for the role 'admin'.")
    if of == "documents":
        return translate("This page is for a manager of documents. Ask an administrator for the role 'manager'.")
    return translate("This page is for a manager of the glossary. Ask an administrator for the role 'manager'.")
