"""Signing in at an OpenID Connect provider, and the code that it shares with signing in by a password."""

from __future__ import annotations

from math import floor
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from argot.errors import ArgotError, MissingExtra
from argot.languages.catalogues import translate
from argot.service.knowledge_base import KnowledgeBase
from argot.service.sign_in.account import end_sessions, has_passwords
from argot.service.sign_in.openid_connect import ProviderRefusal, ProviderUnreachable
from argot.service.sign_in.provider_sign_in import BEGUN_SECONDS, OLD, ProviderSignIn
from argot.ui.web.authentication import SIGN_IN_PATH, SIGN_IN_SUFFIX, Authenticator
from argot.ui.web.authorization import VISITOR_KEY, Visitor, needs
from argot.ui.web.page_templates import render_page
from argot.ui.web.routers import make_router

PROVIDER_PATH = f"{SIGN_IN_PATH}/provider"
RETURN_PATH = f"{PROVIDER_PATH}/return"
"""The address to register at the provider: people come back to it."""
MAX_NEXT_CHARS = 1500
PROVIDER_DOWN = (
    "Signing in at %(provider)s does not work at the moment. Try again in a minute; a password still works. "
    "(%(reason)s)"
)


def build_provider_pages(kb: KnowledgeBase, authenticator: Authenticator, provider: ProviderSignIn) -> APIRouter:
    router = make_router()

    @router.get(PROVIDER_PATH)
    @needs("anonymous")
    async def begin(request: Request, next: str = "/") -> Response:
        try:
            entrance, ticket = await provider.begin(get_own_address(kb, request) + RETURN_PATH)
        except (ProviderUnreachable, MissingExtra) as error:
            return await explain_unreachable(error, next)
        kept = f"{ticket}~{quote(choose_own_page(next)[:MAX_NEXT_CHARS], safe='')}"
        cookie = authenticator.set_cookie(kept, seconds=BEGUN_SECONDS, more=SIGN_IN_SUFFIX)
        return RedirectResponse(entrance, 303, headers={"Set-Cookie": cookie, "Cache-Control": "no-store"})

    @router.get(RETURN_PATH)
    @needs("anonymous")
    async def end(request: Request, state: str = "", code: str = "", error: str = "") -> Response:
        ticket, _, next = request.scope.get(SIGN_IN_SUFFIX, "").partition("~")
        next = unquote(next)
        try:
            if error or not code:
                reason = f" ({error:.60})" if error else ""
                raise ProviderRefusal(
                    translate("The provider did not sign you in%(reason)s. Try again.", reason=reason)
                )
            if not ticket:
                raise ProviderRefusal(OLD)
            user, id_token = await provider.end(ticket, state, code, get_own_address(kb, request) + RETURN_PATH)
        except ProviderRefusal as refusal:
            return drop_ticket(await sign_in_page(kb, 403, next=next, error=str(refusal)))
        except ProviderUnreachable as fault:
            return drop_ticket(await explain_unreachable(fault, next))
        await end_session(kb, request.scope.get(VISITOR_KEY))
        address = authenticator.find_address(request.scope, request.headers)
        token = await provider.token(user, id_token, address, request.headers.get("user-agent", ""))
        return drop_ticket(let_in(authenticator, token, choose_own_page(next)))

    async def explain_unreachable(error: ArgotError, next: str) -> Response:
        text = translate(PROVIDER_DOWN, provider=kb.settings.oidc.label, reason=error)
        return await sign_in_page(kb, 503, next=next, error=text)

    def drop_ticket(answer: Response) -> Response:
        answer.headers.append("Set-Cookie", authenticator.set_cookie("", seconds=0, more=SIGN_IN_SUFFIX))
        return answer

    return router


def get_own_address(kb: KnowledgeBase, request: Request) -> str:
    """Return the address under which a browser has opened Argot, without a slash at its end."""
    # The guard has checked that the Host is one of our own.
    return kb.settings.web.public_url.rstrip("/") or f"http://{request.headers['host']}"


async def sign_in_page(
    kb: KnowledgeBase,
    status: int = 200,
    headers: dict[str, str] | None = None,
    *,
    next: str,
    name: str = "",
    error: str = "",
) -> Response:
    where = choose_own_page(next)
    provider = kb.settings.oidc.label if kb.settings.oidc.issuer else ""
    entrance = f"{PROVIDER_PATH}?next={quote(where, safe='')}"
    shown: dict[str, Any] = {"next": where, "name": name, "error": error, "provider": provider, "entrance": entrance}
    passwords = await kb.look_up(has_passwords, kb)
    return render_page("sign_in.html", status, headers, **shown, passwords=passwords)


async def end_session(kb: KnowledgeBase, who: object) -> None:
    """End the session by which this visitor came in, if there is one."""
    if isinstance(who, Visitor) and who.session is not None:
        await end_sessions(kb, who.name, only=who.session)


def choose_own_page(address: str) -> str:
    """Return the address if it is a page of ours, else the first page, so that nobody is sent elsewhere after signing
    in.
    """
    # Browsers read "\" as "/" and skip tabs and line feeds: "/\example.org" would leave our site.
    parts = urlsplit(address) if address.isprintable() and "\\" not in address else urlsplit("")
    if parts.scheme or parts.netloc or not parts.path.startswith("/") or address.startswith("//"):
        return "/"
    # A way back to a sign-in page would be a loop.
    return "/" if f"{parts.path}/".startswith((f"{SIGN_IN_PATH}/", "/login/")) else address


def let_in(authenticator: Authenticator, token: str, where: str) -> Response:
    seconds = floor(authenticator.max_session_seconds)
    return RedirectResponse(
        where, status_code=303, headers={"Set-Cookie": authenticator.set_cookie(token, seconds=seconds)}
    )
