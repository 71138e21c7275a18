"""The address for Slack's events (HTTP mode), and the one where a channel's conversation continues here."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import PlainTextResponse, RedirectResponse

from argot.locations import place
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.documents import PassageShown, read_passage
from argot.slack.usecases.slack_channels import slack_continue
from argot.ui.rendering.passage_panel import is_pdf
from argot.ui.rendering.source_addresses import PASSAGES, parse_spans
from argot.ui.web.authorization import Visitor, get_visitor, needs
from argot.ui.web.page_templates import render_page
from argot.ui.web.routers import make_router

if TYPE_CHECKING:
    from argot.slack.app.lifecycle import Slack

logger = logging.getLogger(__name__)
_OBJECTS = ("event", "user", "team", "channel", "view", "container", "message", "enterprise")
"""Parts of Slack's payloads, each an object."""
_TIMESTAMP = re.compile(r"[0-9]{1,12}")


def build_slack_routes(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix="/slack")

    @router.post("/events", include_in_schema=False)
    @needs("anonymous", csrf=False)
    async def events(request: Request) -> Response:
        """Take what Slack sends (events, buttons, forms, shortcuts) if its signature is right, and fresh."""
        from argot.slack.app.lifecycle import find_running

        slack = find_running(kb)
        # Without a secret forgeries could not be detected: Socket Mode needs no address.
        if slack is None or not slack.secret:
            return PlainTextResponse("Slack is not set up here over HTTP.", 404)
        body = await request.body()
        if not is_signed(slack, request, body):
            return PlainTextResponse("This was not signed by Slack, or too long ago.", 401)
        return await _dispatch(slack, request)

    @router.get("/threads/{thread}", include_in_schema=False)
    @needs("asker")
    async def go_on(thread: str, who: Annotated[Visitor, Depends(get_visitor)]) -> Response:
        """Open the conversation of a link in a channel as one's own, in the window."""
        # A copy: the channel's conversation is unchanged, and nobody there sees the further questions.
        mine = await slack_continue(kb, who.principal, thread=thread)
        return RedirectResponse(f"/thread/{quote(mine.thread, safe='')}", 303)

    @router.get("/sources/{passage_id}", include_in_schema=False)
    @needs("asker")
    async def source(request: Request, passage_id: str, who: Annotated[Visitor, Depends(get_visitor)]) -> Response:
        """Show the passage behind a number in an answer as a page, with the cited sentences marked, and its place."""
        found = await read_passage(kb, who.principal, passage_id=passage_id)
        spans = parse_spans(request.query_params.getlist("span"))
        address = f"{PASSAGES}/{quote(found.id, safe='')}"
        marks = "&".join(f"span={first}-{last}" for first, last in spans)
        return render_page(
            "source.html",
            found=found,
            about=describe_place(found),
            parts=_split_marked(found.text, [(first - found.start, last - found.start) for first, last in spans]),
            picture=f"{address}/page.png{'?' * bool(marks)}{marks}" if is_pdf(found) else "",
            original=f"{address}/original#page={found.page}",
        )

    return router


def describe_place(found: PassageShown) -> list[str]:
    """Describe the location of a passage: title, heading and page, without repetitions."""
    title = found.title if found.title not in found.heading and found.title != found.document else ""
    where = place(found.document, found.page, found.page_kind).removeprefix(", ")
    return [one for one in (title, found.heading, where, found.freshness) if one]


def _split_marked(text: str, spans: list[tuple[int, int]]) -> list[tuple[str, bool]]:
    """Split the text into pieces, each with whether it is marked. Spans outside of it are left out."""
    parts: list[tuple[str, bool]] = []
    at = 0
    for first, last in sorted((max(0, first), min(last, len(text))) for first, last in spans):
        if first >= last or last <= at:
            continue
        parts += [(text[at : max(first, at)], False), (text[max(first, at) : last], True)]
        at = last
    return [one for one in (*parts, (text[at:], False)) if one[0]]


def is_signed(slack: Slack, request: Request, body: bytes) -> bool:
    """Tell whether Slack sent this, within the last five minutes."""
    # Bolt verifies again, but raises where the timestamp is no number or the body no text, and parses the body first.
    from slack_sdk.signature import SignatureVerifier

    timestamp = request.headers.get("x-slack-request-timestamp", "")
    signature = request.headers.get("x-slack-signature", "")
    if not (_TIMESTAMP.fullmatch(timestamp) and signature.isascii()):
        return False
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return SignatureVerifier(slack.secret).is_valid(text, timestamp, signature)


async def _dispatch(slack: Slack, request: Request) -> Response:
    from slack_bolt.adapter.starlette.async_handler import AsyncSlackRequestHandler
    from slack_bolt.request.internals import parse_body

    try:
        sent = parse_body((await request.body()).decode(), request.headers.get("content-type", "").partition(";")[0])
    except (ValueError, RecursionError) as error:  # signed, and yet no JSON
        return _refuse_body(type(error).__name__)
    # Bolt searches its input for these objects.
    inner = (sent.get(name) for name in _OBJECTS) if isinstance(sent, dict) else ("no object",)
    if any(not isinstance(one, dict | None) for one in inner):
        return _refuse_body("no object")
    return await AsyncSlackRequestHandler(slack.bolt).handle(request)


def _refuse_body(reason: str) -> Response:
    logger.warning("Slack sent something that cannot be read: %s", reason)
    return PlainTextResponse("This cannot be read.", 400)
