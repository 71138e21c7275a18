"""The chat window in a frame of another site: its script for that site's pages, and signing in there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from argot.languages.catalogues import LANGUAGE_NAMES, load_translations, page_language, translate
from argot.service.knowledge_base import KnowledgeBase
from argot.service.sign_in.embedding import parse_origins
from argot.service.sign_in.page_sign_in import PageRefusal, PageSignIn
from argot.service.sign_in.page_tokens import MAX_TOKEN_CHARS
from argot.ui.pages.provider_pages import end_session
from argot.ui.web.authentication import Authenticator
from argot.ui.web.authorization import VISITOR_KEY, Visitor, Who, needs
from argot.ui.web.frames import EMBED_PATH, OWN_WINDOW_PATH, SCRIPT_PATH, make_frame_language_cookie
from argot.ui.web.page_templates import render_page
from argot.ui.web.routers import make_router

SCRIPT_FILE = Path(__file__).parent.parent / "assets" / "embed.js"
SCRIPT_SECONDS = 300
"""The time for which a browser keeps the script."""
SCRIPT_TEXTS = ("Ask Argot", "Argot, a window to ask questions in")
"""The texts of embed.js, which runs in pages of other sites."""


class TokenSent(BaseModel):
    token: Annotated[str, Field(max_length=MAX_TOKEN_CHARS)]


class CodeSent(BaseModel):
    code: Annotated[str, Field(max_length=1000)]


def build_embed_pages(kb: KnowledgeBase, authenticator: Authenticator) -> APIRouter:
    router = make_router()
    sign_in = PageSignIn(kb, authenticator.key)
    script = format_script()

    @router.get(SCRIPT_PATH)
    @needs("anonymous")
    async def embed_script() -> Response:
        """Return the script for pages of other sites."""
        headers = {"Cache-Control": f"public, max-age={SCRIPT_SECONDS}"}
        return Response(script, media_type="text/javascript", headers=headers)

    @router.get(EMBED_PATH)
    @needs("anonymous", framed=True)
    async def begin(request: Request, language: str = "") -> Response:
        """Show the page that a frame begins with: it waits for a token, or offers to sign in."""
        who = request.scope.get(VISITOR_KEY)
        known = language in LANGUAGE_NAMES
        if known and not (isinstance(who, Visitor) and who.language):
            page_language.set(language)
        origins = " ".join(parse_origins(kb.settings.embed.origins))
        values = {"origins": origins, "tokens": sign_in.tokens is not None, "signed_in": who is not None}
        headers = {"Set-Cookie": make_frame_language_cookie(language)} if known else {}
        return render_page("embed.html", 200, headers, **values, entrance=OWN_WINDOW_PATH)

    # Nobody who signs in has a token against forgery yet. The guard checks the origin of these two.
    @router.post(f"{EMBED_PATH}/token")
    @needs("anonymous", csrf=False, framed=True)
    async def enter_by_token(request: Request, given: TokenSent) -> Response:
        who = request.scope.get(VISITOR_KEY)
        if not given.token:
            return await leave(who)
        name, framed = (who.name, who.framed) if isinstance(who, Visitor) else ("", True)
        address, agent = describe_sender(request)
        try:
            token = await sign_in.sign_in_by_token(given.token, address, agent, present=name, replace=framed)
        except PageRefusal as refusal:
            return refuse(refusal)
        return await let_in(token, who) if token else JSONResponse({"signed_in": True})

    @router.post(f"{EMBED_PATH}/code")
    @needs("anonymous", csrf=False, framed=True)
    async def enter_by_code(request: Request, given: CodeSent) -> Response:
        try:
            token = await sign_in.sign_in_by_code(given.code, *describe_sender(request))
        except PageRefusal as refusal:
            return refuse(refusal)
        return await let_in(token, request.scope.get(VISITOR_KEY))

    @router.get(OWN_WINDOW_PATH)
    @needs("asker")
    async def hand_over(who: Who) -> Response:
        """Show the end of signing in in a window of its own: its script hands a code to the frame that opened it."""
        return render_page("embed_signed_in.html", code=sign_in.make_code(who.name))

    async def let_in(token: str, who: object) -> Response:
        # A new session, never the one that the frame had.
        if isinstance(who, Visitor) and who.framed:
            await end_session(kb, who)
        return JSONResponse({"signed_in": True}, headers={"Set-Cookie": authenticator.set_frame_cookie(token)})

    async def leave(who: object) -> Response:
        """End the session of the frame, because the page says that nobody is signed in there."""
        if not (isinstance(who, Visitor) and who.framed):
            return JSONResponse({"signed_in": isinstance(who, Visitor)})
        await end_session(kb, who)
        return JSONResponse({"signed_in": False}, headers={"Set-Cookie": authenticator.set_frame_cookie("")})

    def describe_sender(request: Request) -> tuple[str, str]:
        address = authenticator.find_address(request.scope, request.headers)
        return address, request.headers.get("user-agent", "")

    return router


def refuse(refusal: PageRefusal) -> Response:
    return JSONResponse({"error": translate(str(refusal))}, 403, {"Cache-Control": "no-store"})


def format_script() -> str:
    """Return the script for pages of other sites, with its texts in all languages of the pages."""
    texts = {
        language: {text: load_translations(language).gettext(text) for text in SCRIPT_TEXTS}
        for language in LANGUAGE_NAMES
    }
    return SCRIPT_FILE.read_text(encoding="utf-8").replace("{/* texts */}", json.dumps(texts))
