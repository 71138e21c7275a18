"""Pages for signing in and out, and for one's own account. They need no script."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse

from argot.errors import InvalidInput
from argot.languages.catalogues import LANGUAGE_NAMES
from argot.service.json_values import convert_to_json
from argot.service.knowledge_base import KnowledgeBase
from argot.service.sign_in.account import (
    begin_session,
    end_sessions,
    get_account,
    has_password,
    keep_language,
    revoke_own_key,
)
from argot.service.sign_in.password_sign_in import SignIn, SignInRefused
from argot.service.sign_in.provider_sign_in import LEAVING_SECONDS, ProviderSignIn
from argot.service.usecases.people.api_keys import key_add
from argot.service.usecases.people.personal_data import my_data
from argot.service.usecases.people.users import show_session
from argot.ui.pages.embed_pages import build_embed_pages
from argot.ui.pages.page_base import HEADERS, load_templates
from argot.ui.pages.provider_pages import (
    build_provider_pages,
    choose_own_page,
    end_session,
    get_own_address,
    let_in,
    sign_in_page,
)
from argot.ui.translation.page_errors import translate_error
from argot.ui.translation.page_language import make_language_cookie
from argot.ui.web.authentication import SIGN_IN_PATH, SIGN_OUT_SUFFIX, Authenticator
from argot.ui.web.authorization import VISITOR_KEY, Visitor, Who, needs
from argot.ui.web.page_templates import render_page
from argot.ui.web.routers import add_routes, make_router
from argot.wings import wings

ACCOUNT = "/account"
# The address holds a flag and no text, so that no link can put words into a page of ours.
CHANGED_NOTICE = "Your password is changed, and you are signed out everywhere else."
CONFIRMATION_FIELD = "your_password"
MAX_PASSWORD_CHARS = 2000
DIFFERENT_PASSWORDS = "The two new passwords differ. Type the same one twice."
Field = Annotated[str, Form(max_length=2000)]


class Confirmation:
    """The check of one's own password before an action that must not be done from an unattended window.

    Visitors without a password in Argot are not asked: the person at this machine before anybody signs in, and people
    whom a proxy signs in. Once they have a password (`argot user password NAME`), they are asked as well.
    """

    def __init__(self, kb: KnowledgeBase, sign_in: SignIn, address: Callable[[Request], str]) -> None:
        self.kb = kb
        self.sign_in = sign_in
        self.address = address

    def must_ask(self, who: Visitor) -> bool:
        return has_password(self.kb, who.name)

    async def require(self, request: Request, who: Visitor) -> None:
        """Check the password in the form's field `your_password`.

        Raises:
            SignInRefused
        """
        if self.must_ask(who):
            token = (await request.form()).get(CONFIRMATION_FIELD)
            # `Field` limits the other forms; this one is not read by FastAPI.
            password = token[:MAX_PASSWORD_CHARS] if isinstance(token, str) else ""
            await self.sign_in.confirm(who.name, password, self.address(request))


def sign_in_pages(
    kb: KnowledgeBase,
    authenticator: Authenticator,
    sign_in: SignIn,
    confirmation: Confirmation,
    provider: ProviderSignIn | None = None,
) -> APIRouter:
    router = make_router()
    _add_sign_in(router, kb, authenticator, sign_in, provider)
    _add_sign_out(router, kb, authenticator, provider)
    if provider:
        add_routes(router, build_provider_pages(kb, authenticator, provider))
    if kb.settings.embed.origins:
        add_routes(router, build_embed_pages(kb, authenticator))
    add_routes(router, build_account_pages(kb, authenticator, sign_in, confirmation))
    return router


def _add_sign_in(
    router: APIRouter,
    kb: KnowledgeBase,
    authenticator: Authenticator,
    sign_in: SignIn,
    provider: ProviderSignIn | None,
) -> None:
    @router.get(SIGN_IN_PATH)
    @needs("anonymous")
    async def form(request: Request, next: str = "/") -> Response:
        if request.scope.get(VISITOR_KEY) is not None:
            return RedirectResponse(choose_own_page(next), status_code=303)
        leaving = request.scope.get(SIGN_OUT_SUFFIX)
        if provider and leaving and (out := await provider.exit(leaving, get_own_address(kb, request) + SIGN_IN_PATH)):
            # A page and not a redirect: a form's redirects must stay here (Content-Security-Policy, form-action).
            gone = {"Set-Cookie": authenticator.set_cookie("", seconds=0, more=SIGN_OUT_SUFFIX)}
            return render_page("signed_out.html", 200, gone, out=out, provider=kb.settings.oidc.label)
        return await sign_in_page(kb, next=next)

    @router.post(SIGN_IN_PATH)
    @needs("anonymous", csrf=False)
    async def enter(request: Request, name: Field = "", password: Field = "", next: Field = "/") -> Response:
        # No token, because no session exists to hold one. The guard checks the origin of the page.
        address = authenticator.find_address(request.scope, request.headers)
        try:
            token = await sign_in.with_password(name, password, address, request.headers.get("user-agent", ""))
        except SignInRefused as refusal:
            headers = {"Retry-After": str(refusal.wait)} if refusal.wait else {}
            return await sign_in_page(kb, refusal.status, headers, next=next, name=name, error=str(refusal))
        await end_session(kb, request.scope.get(VISITOR_KEY))
        # A new session, never the one that the browser had: it may have been planted there (session fixation).
        return let_in(authenticator, token, choose_own_page(next))


def _add_sign_out(
    router: APIRouter, kb: KnowledgeBase, authenticator: Authenticator, provider: ProviderSignIn | None
) -> None:
    @router.get("/login")
    @needs("anonymous", framed=True)
    async def window_login() -> Response:
        # Chainlit's page goes here when nobody is signed in; the guard leads from / to our sign-in page.
        return RedirectResponse("/", status_code=303)

    @router.post("/logout")
    @needs("anonymous", csrf=False, framed=True)
    async def window_logout(request: Request) -> Response:
        # The sign-out of the chat window, whose script sends no token.
        await end_session(kb, request.scope.get(VISITOR_KEY))
        return _show_out(kb, authenticator, provider, JSONResponse({"success": True}), request.scope.get(VISITOR_KEY))

    @router.post("/sign-out")
    @needs("anonymous")
    async def sign_out(request: Request) -> Response:
        await end_session(kb, request.scope.get(VISITOR_KEY))
        return _show_out(
            kb, authenticator, provider, RedirectResponse(SIGN_IN_PATH, status_code=303), request.scope.get(VISITOR_KEY)
        )


def _show_out(
    kb: KnowledgeBase, authenticator: Authenticator, provider: ProviderSignIn | None, answer: Response, who: object
) -> Response:
    """Make the browser forget the session, and send it on to sign out at the provider."""
    if isinstance(who, Visitor) and who.framed:
        answer.headers.append("Set-Cookie", authenticator.set_frame_cookie(""))
        return answer
    answer.headers.append("Set-Cookie", authenticator.set_cookie("", seconds=0))
    if kb.settings.embed.origins:
        # Below one site, browsers send a frame's cookie here, too: without the ordinary one it would let them in.
        answer.headers.append("Set-Cookie", authenticator.set_frame_cookie(""))
    if provider and isinstance(who, Visitor) and who.auth_method == "provider":
        ticket = provider.make_leaving_ticket(who.session)
        answer.headers.append(
            "Set-Cookie", authenticator.set_cookie(ticket, seconds=LEAVING_SECONDS, more=SIGN_OUT_SUFFIX)
        )
    return answer


def build_account_pages(
    kb: KnowledgeBase, authenticator: Authenticator, sign_in: SignIn, confirmation: Confirmation
) -> APIRouter:
    router = make_router(prefix=ACCOUNT)
    _add_account(router, kb, authenticator)
    _add_password(router, kb, authenticator, sign_in)
    _add_keys(router, kb, confirmation)
    return router


def _add_account(router: APIRouter, kb: KnowledgeBase, authenticator: Authenticator) -> None:
    @router.get("")
    @needs("asker")
    async def show(who: Who, changed: bool = False) -> Response:
        return await _show_account(kb, who, done=CHANGED_NOTICE if changed else "")

    @router.post("/language")
    @needs("asker")
    async def language(who: Who, language: Field = "") -> Response:
        """Keep the language of the pages with the account, and in this browser, where the pages for signing in are to
        have it, too. An unknown one is like none, the browser's.
        """
        kept = language if language in LANGUAGE_NAMES else ""
        await keep_language(kb, who.name, kept)
        cookie = make_language_cookie(kept, secure=authenticator.secure)
        return RedirectResponse(ACCOUNT, status_code=303, headers={"Set-Cookie": cookie})

    @router.get("/data")
    @needs("asker")
    async def data(who: Who) -> Response:
        """Return everything that is stored about this person, as a file."""
        found = await my_data(kb, who.principal)
        headers = {"Content-Disposition": 'attachment; filename="argot-data.json"', "Cache-Control": "no-store"}
        return JSONResponse(convert_to_json(found), headers=headers)

    @router.post("/sign-out-everywhere")
    @needs("asker")
    async def everywhere(who: Who) -> Response:
        await end_sessions(kb, who.name)
        return RedirectResponse(
            SIGN_IN_PATH, status_code=303, headers={"Set-Cookie": authenticator.set_cookie("", seconds=0)}
        )


async def _show_account(kb: KnowledgeBase, who: Visitor, status: int = 200, **shown: str) -> Response:
    found = await kb.look_up(get_account, kb, who.name)
    sessions = [show_session(one) for one in found.sessions]
    values: dict[str, Any] = {
        "who": who,
        "path": ACCOUNT,
        "user": found.user,
        "keys": found.keys,
        "sessions": sessions,
    }
    values |= {"new_key": "", "links": [link for wing in wings() for link in wing.account_links]}
    values |= {"error": "", "done": "", **shown}
    html = load_templates().get_template("account.html").render(**values)
    return HTMLResponse(html, status_code=status, headers=HEADERS)


def _add_password(router: APIRouter, kb: KnowledgeBase, authenticator: Authenticator, sign_in: SignIn) -> None:
    @router.post("/password")
    @needs("asker")
    async def password(request: Request, who: Who, old: Field = "", new: Field = "", again: Field = "") -> Response:
        if new != again:
            return await _show_account(kb, who, 400, error=DIFFERENT_PASSWORDS)
        address = authenticator.find_address(request.scope, request.headers)
        try:
            await sign_in.change_password(who.name, old, new, address)
        except SignInRefused as refusal:
            return await _show_account(kb, who, refusal.status, error=str(refusal))
        except InvalidInput as error:
            return await _show_account(kb, who, 400, error=translate_error(error))
        # All sessions have ended with the old password, also this one: the browser gets a new one.
        agent = request.headers.get("user-agent", "")
        token = await begin_session(kb, who.name, address, agent)
        return let_in(authenticator, token, f"{ACCOUNT}?changed=1")


def _add_keys(router: APIRouter, kb: KnowledgeBase, confirmation: Confirmation) -> None:
    @router.post("/keys")
    @needs("asker")
    async def make_key(request: Request, who: Who, name: Field = "", days: Field = "") -> Response:
        try:
            await confirmation.require(request, who)
            # The response itself shows the key: only its digest is stored, so no later page could.
            made = await key_add(kb, who.principal, name=name, days=_parse_days(days))
        except SignInRefused as refusal:
            return await _show_account(kb, who, refusal.status, error=str(refusal))
        except InvalidInput as error:
            return await _show_account(kb, who, 400, error=translate_error(error))
        return await _show_account(kb, who, new_key=made.key)

    @router.post("/keys/{key}/revoke")
    @needs("asker")
    async def revoke_key(who: Who, key: str) -> Response:
        """Revoke a key of one's own. Administrators revoke other people's keys on the command line."""
        await revoke_own_key(kb, who.name, key)
        return RedirectResponse(f"{ACCOUNT}#keys", status_code=303)


def _parse_days(typed: str) -> int | None:
    """Parse the number of days; None if the field is empty.

    Raises:
        InvalidInput: it is not a number.
    """
    plain = typed.strip()
    # `isdigit` alone is also true of "²" and of digits in other scripts.
    if plain and not (plain.isascii() and plain.isdigit()):
        raise InvalidInput(f"Invalid number of days '{plain:.20}'. Give a number, or leave it empty.")
    return int(plain) if plain else None
