"""Authentication: finds out for every request who is asking.

There are five ways in: the key of a program, the access token of an assistant (`/mcp` alone), the session of somebody
who signed in (with a password, at a provider, or in a frame of another site), the name in a header of a trusted proxy,
and sitting at this machine, as long as nobody has a password and only this machine can reach the window.

A program on this machine needs a key too. Without one it could not be told from a stranger's page that is open in a
browser here: only headers tell them apart, and old browsers do not send those.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import logging
import re
import time
from collections.abc import Callable, Coroutine
from http.cookies import CookieError, SimpleCookie
from typing import Any, Literal, TypeAlias, TypeVar

from starlette.datastructures import Headers
from starlette.types import Scope

from argot.errors import InvalidInput, InvalidSettings, NotAllowed, StoreUnavailable
from argot.languages.catalogues import translate
from argot.service.identity.keys import PREFIX, Key
from argot.service.identity.people import SUSPENDED, Ended, User, make_local_principal
from argot.service.identity.sessions import FRAME_PREFIX, Session
from argot.service.knowledge_base import KnowledgeBase
from argot.service.sign_in.access_tokens import MCP_PATH, AccessTokens, TokenHolder, find_resource
from argot.service.sign_in.account import sign_in_required
from argot.service.sign_in.provider_claims import map_groups
from argot.types import LOCAL_NAME
from argot.ui.web.asker_identity import get_local_display_name
from argot.ui.web.authorization import WRONG_KEY, Visitor
from argot.ui.web.frames import COOKIE_ATTRIBUTES

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
T = TypeVar("T")

logger = logging.getLogger(__name__)

NOTICE_SECONDS = 60.0
"""Seconds between two log entries about a fault that every request meets."""
SIGN_IN_PATH = "/sign-in"
SIGN_IN_SUFFIX = "_in"
"""The suffix of the cookie of somebody who is signing in at the provider, and its key in the scope."""
SIGN_OUT_SUFFIX = "_out"
"""The suffix of the cookie of somebody who is signing out, and is sent on to sign out at the provider."""
FRAME_SUFFIX = "_frame"
"""The suffix of the cookie of a session in a frame of another site."""
FORWARDED_HEADER = "x-forwarded-for"
PROXY_HEADER_PATTERN = re.compile(
    r"forward|client-?ip|^via$|(?:real|connecting)-ip|original-(?:for|host|url)|^x-host$|proxy-?user", re.IGNORECASE
)
"""Names of the headers that a proxy adds to a request that it passes on."""
ENDED_KEY = "The key {} ended on {} UTC. Make another one: argot key add NAME, or on the page /account."

LAPSED_OWNER = (
    "The owner of this key has to sign in again: the organisation's provider no longer confirms who they are."
)


class WrongKey(NotAllowed):
    """An error: the key of a request is not valid (HTTP 401)."""


class Authenticator:
    """The authentication of requests.

    Args:
        kb: the knowledge base.
        port: the service's port; it is part of the cookie's name, for browsers share cookies between ports. Services
            on one PostgreSQL have one cookie, whatever ports they are served on.
        secluded: only this machine can reach the window.
        key: a secret of this knowledge base, from which tokens against forgery are derived.
        ticket, read_ticket: make, and read, the signed cookie of the person at this machine.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        *,
        port: int,
        secluded: bool,
        key: bytes,
        ticket: Callable[[], str],
        read_ticket: Callable[[str], str | None],
    ) -> None:
        self.kb = kb
        self.secure = kb.settings.web.public_url.startswith("https:")
        # Browsers accept a cookie with this prefix from its own host over https only: no other subdomain can plant one.
        name = f"argot_{kb.shared.schema if kb.shared else port}"
        self.cookie = f"__Host-{name}" if self.secure else name
        self.proxies = parse_networks(kb.settings.web.trusted_proxies)
        self.ticket = ticket
        self._secluded = secluded
        self._read_ticket = read_ticket
        self._header = kb.settings.sign_in.header.lower()
        self._groups_header = kb.settings.sign_in.groups_header.lower()
        self._embedding = bool(kb.settings.embed.origins)
        self.key = key
        self.tokens = AccessTokens(kb) if find_resource(kb.settings) else None
        self._told_again = 0.0

    async def is_open(self) -> bool:
        """Tell whether everyone who can reach the window counts as the person at this machine."""
        return self._secluded and not await self.kb.look_up(sign_in_required, self.kb)

    @property
    def max_session_seconds(self) -> float:
        """The longest time, in seconds, that a session stays valid."""
        return self.kb.people.sessions.lifetimes.most

    def watch(self, ended: Callable[[Ended], None], check_again: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Call `ended` whenever sessions or keys end, in whatever thread that happens; call `check_again`, in the event
        loop, when some may have ended at another service without a message to this one.
        """
        self.kb.people.watchers.append(ended)
        if self.kb.shared:
            self.kb.shared.on_gap(check_again)

    async def identify(self, scope: Scope, headers: Headers) -> Visitor | None:
        """Identify the asker; None if nobody known is asking.

        Raises:
            WrongKey: the request has a key that is not valid; the message says when it ended, if it did. Other ways of
                signing in are then not tried.
            AccessRefusal: the same, of an access token.
            NotAllowed: the proxy names somebody who is not allowed in; the message says why.
            StoreUnavailable: a store does not answer.
        """
        # First, and alone: a request with a wrong key must not be answered on behalf of its cookie.
        if key := read_key(headers):
            return await self._admit_key(key)
        if self.tokens and (token := self._read_token(scope, headers)):
            return _make_token_visitor(await self.tokens.sign_in(token, self.find_address(scope, headers)))
        if self._header and self._header in headers and self.from_proxy(scope):
            user = await self._find_named_user(headers.getlist(self._header))
            return self._admit_header(await self._update_groups(user, headers))
        if (token := self.read_cookie(headers)) and (found := await self._identify_by_cookie(token)):
            return found
        # Second: where both come, because the page around the frame is of the same site, the ordinary one opens more.
        framed = self.read_cookie(headers, FRAME_SUFFIX) if self._embedding else ""
        return await self._identify_by_cookie(framed) if framed else None

    def has_credential(self, scope: Scope, headers: Headers) -> bool:
        """Tell whether a request is to be answered by its key or access token alone, valid or not."""
        return bool(read_key(headers) or self._read_token(scope, headers))

    def _read_token(self, scope: Scope, headers: Headers) -> str:
        """Read the access token of a request; empty if there is none, or none is accepted at this address."""
        return read_bearer(headers) if self.tokens and scope["path"] == MCP_PATH else ""

    async def _identify_by_cookie(self, token: str) -> Visitor | None:
        # A cookie holds a session or, before anybody has a password, the signed ticket of this machine.
        session, holder = await self.kb.look_up(self._find_session, token)
        if session is not None:
            return await self._admit_session(session, holder, token)
        return self.make_local(token) if await self.is_open() and self._read_ticket(token) == LOCAL_NAME else None

    def make_local(self, ticket: str) -> Visitor:
        """Return the person at this machine, who holds this ticket."""
        return Visitor(LOCAL_NAME, get_local_display_name(), make_local_principal(), self._csrf(ticket), "local")

    async def may_stay(self, who: Visitor, used: bool) -> bool:
        """Tell whether a visitor with an open connection may stay; `used`: the visitor has just done something."""
        try:
            if who.auth_method == "local":
                return await self.is_open()
            user, session = await self.kb.look_up(self._look_up, who)
        except StoreUnavailable:
            # Without the shared PostgreSQL nothing can be read or asked anyway, so the window stays until it is back.
            if self.kb.shared is None:
                raise
            return True
        if user is None or user.shut_out:
            return False
        if who.session is None:  # signed in by a proxy's header: there is no session that could end
            return True
        if who.auth_method == "key":
            return await self.kb.look_up(self._has_key, who)
        if session and used and self.kb.people.sessions.due(session):
            await self._record_use(self.kb.people.sessions.note, session)
        return session is not None

    def _has_key(self, who: Visitor) -> bool:
        return any(key.id == who.session and not key.has_ended for key in self.kb.people.keys.of(who.name))

    def _look_up(self, who: Visitor) -> tuple[User | None, Session | None]:
        people = self.kb.people
        return people.find(who.name), people.sessions.find_session(who.session) if who.session else None

    def find_address(self, scope: Scope, headers: Headers) -> str:
        """Return the address that a request comes from, by the trusted proxies or else by its connection."""
        peer = str(scope["client"][0]) if scope.get("client") else ""
        if not self.from_proxy(scope):
            return peer
        named = [one.strip() for line in headers.getlist(FORWARDED_HEADER) for one in line.split(",")]
        # From the right: each proxy appends the address it saw; the sender may have made up the entries on the left.
        return next((one for one in reversed(named) if one and not is_within(one, self.proxies)), peer)

    def read_cookie(self, headers: Headers, more: str = "") -> str:
        """Read the session's cookie, or the one beside it with the suffix `more`."""
        name = self.cookie + more
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return ""
        return cookies[name].value if name in cookies else ""

    def set_cookie(self, token: str, *, seconds: int | None = None, strict: bool = False, more: str = "") -> str:
        """Build a Set-Cookie line; `seconds` 0 removes the cookie. Lax, so that a link in a message opens signed in."""
        age = "" if seconds is None else f"; Max-Age={seconds}"
        site = "Strict" if strict else "Lax"
        return f"{self.cookie}{more}={token}; Path=/; HttpOnly; SameSite={site}{age}{'; Secure' if self.secure else ''}"

    def set_frame_cookie(self, token: str) -> str:
        """Build a Set-Cookie line for a session in a frame of another site, until the browser is closed; an empty token
        removes the cookie.
        """
        age = "" if token else "; Max-Age=0"
        return f"{self.cookie}{FRAME_SUFFIX}={token}; {COOKIE_ATTRIBUTES}{age}"

    async def _record_use(self, note: Callable[[T], None], used: T) -> None:
        """Record a use. Where nothing can be written (a full disk), people can still get in and read."""
        try:
            await self.kb.blocking(note, used)
        except StoreUnavailable as error:
            if time.monotonic() >= self._told_again:
                self._told_again = time.monotonic() + NOTICE_SECONDS
                logger.error("a use of a key or session could not be recorded: %s", error)

    def _find_session(self, token: str) -> tuple[Session | None, User | None]:
        session = self.kb.people.sessions.find(token)
        user = self.kb.people.find(session.user) if session else None
        return session, user

    async def _admit_session(self, session: Session, user: User | None, token: str) -> Visitor | None:
        framed = token.startswith(FRAME_PREFIX)
        if user is None or user.shut_out or (framed and not self._embedding):
            return None
        if self.kb.people.sessions.due(session):
            await self._record_use(self.kb.people.sessions.note, session)
        method: Literal["provider", "password"] = "provider" if user.linked else "password"
        name, csrf = user.display_name or user.name, self._csrf(token)
        return Visitor(user.name, name, user.principal, csrf, method, session.id, user.language, framed)

    def _find_key(self, token: str) -> tuple[Key | None, User | None]:
        key = self.kb.people.keys.find(token)
        return key, self.kb.people.find(key.user) if key else None

    async def _admit_key(self, token: str) -> Visitor:
        keys = self.kb.people.keys
        key, user = await self.kb.look_up(self._find_key, token)
        # The key of the person at this machine ends with the first password, when sitting there is no longer enough.
        if key is None or (user is None and not (key.user == LOCAL_NAME and await self.is_open())):
            raise WrongKey(WRONG_KEY)
        # The same message as for an unknown key: its holder, who may have found it, learns nothing about its owner.
        if user is not None and user.suspended_at:
            raise WrongKey(WRONG_KEY)
        if user is not None and user.lapsed_at:
            raise WrongKey(LAPSED_OWNER)
        if key.ends_at and key.has_ended:
            raise WrongKey(ENDED_KEY.format(key.id, key.ends_at[:16].replace("T", " ")))
        if keys.due(key):
            await self._record_use(keys.note, key)
        return self._make_key_visitor(key, user)

    def _make_key_visitor(self, key: Key, user: User | None) -> Visitor:
        if user is None:
            # No token against forgery (""): no page is shown to a key.
            return Visitor(LOCAL_NAME, get_local_display_name(), make_local_principal(), "", "key", key.id)
        return Visitor(user.name, user.display_name or user.name, user.principal, "", "key", key.id)

    def _admit_header(self, user: User) -> Visitor:
        if user.lapsed_at:
            raise NotAllowed(
                translate("Your organisation's provider no longer confirms who you are. Ask an administrator.")
            )
        if user.suspended_at:
            raise NotAllowed(translate(SUSPENDED))
        csrf = self._csrf(f"header:{user.name}")
        name = user.display_name or user.name
        return Visitor(user.name, name, user.principal, csrf, "header", language=user.language)

    async def _find_named_user(self, values: list[str]) -> User:
        """Find the user of this name; if a setting says so, create the user as an asker."""
        name = _decode_header(values[0]).strip()
        # Two values: the proxy added its own to one that the browser sent, and either may be the false one.
        if len(values) != 1 or not name:
            raise NotAllowed("The proxy does not say clearly who you are. Ask its administrator.")
        user = await self.kb.look_up(self.kb.people.find, name)
        if user is not None:
            return user
        if self.kb.settings.sign_in.unknown_people == "refuse":
            raise NotAllowed(f"Argot does not know '{name}'. Ask an administrator: argot user add NAME")
        try:
            return await self.kb.blocking(self.kb.people.add, name)
        except InvalidInput as error:
            raise NotAllowed(str(error)) from error

    async def _update_groups(self, user: User, headers: Headers) -> User:
        """Set the user's groups to those that the proxy names now, which may be none."""
        # Groups from the provider hold, however the user came in.
        if not self._groups_header or user.linked:
            return user
        named = [_decode_header(line) for line in headers.getlist(self._groups_header)]
        # Two headers: as above, either may be the false one.
        theirs = {one.strip() for one in named[0].split(",")} if len(named) == 1 else set()
        groups = map_groups(theirs, self.kb.settings)
        if groups == await self.kb.look_up(self.kb.people.links.list_groups, user.name):
            return user
        await self.kb.blocking(self.kb.people.links.take_groups, user.name, groups)
        return await self.kb.look_up(self.kb.people.user, user.name)

    def from_proxy(self, scope: Scope) -> bool:
        return bool(scope.get("client")) and is_within(str(scope["client"][0]), self.proxies)

    def _csrf(self, proof: str) -> str:
        """Compute the token for forms of the holder of this proof. Computed, not stored, it survives a restart."""
        return hmac.new(self.key, proof.encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def find_proxy_header(headers: Headers) -> str:
    """Find a header that shows that a proxy passed the request on; empty if there is none."""
    return next((name for name in headers if PROXY_HEADER_PATTERN.search(name)), "")


def read_key(headers: Headers) -> str:
    """Read the key of a request; empty if there is none, or the header holds something else."""
    token = read_bearer(headers)
    return token if token.startswith(PREFIX) else ""


def read_bearer(headers: Headers) -> str:
    """Read the key or access token of a request; empty if there is none."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.casefold() == "bearer" else ""


def _make_token_visitor(holder: TokenHolder) -> Visitor:
    user = holder.user
    name = user.display_name or user.name
    return Visitor(user.name, name, user.principal, "", "token", client=holder.program)


def parse_networks(text: str, setting: str = "trusted_proxies") -> tuple[Network, ...]:
    """Parse addresses and networks separated by commas.

    Raises:
        InvalidSettings
    """
    found = []
    for one in filter(None, (part.strip() for part in text.split(","))):
        try:
            found.append(ipaddress.ip_network(one))
        except ValueError as error:
            raise InvalidSettings(
                f"Setting '{setting}' cannot hold '{one}': {error}. Use addresses or networks between commas,"
                " as in 127.0.0.1, 10.1.0.0/16."
            ) from error
    return tuple(found)


def is_within(address: str, found: tuple[Network, ...]) -> bool:
    try:
        # fe80::1%eth0: the part behind the percent sign names an interface of this machine.
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    # A socket for both IPv4 and IPv6 shows 10.1.2.3 as ::ffff:10.1.2.3.
    mapped = getattr(parsed, "ipv4_mapped", None)
    return any((mapped or parsed) in network for network in found)


def _decode_header(value: str) -> str:
    # ASGI decodes headers as Latin-1; proxies send names in UTF-8.
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value
