"""The command /term: what a term means, shown to the person who typed it, from what that person may read."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from argot.errors import ArgotError
from argot.languages.catalogues import speak, translate
from argot.service.usecases.glossary.terms import term_show
from argot.slack.app.mrkdwn import link, plain, read_question, split_text
from argot.slack.app.slack_answers import Answering
from argot.ui.rendering.term_text import format_entry
from argot.ui.translation.page_errors import translate_error

logger = logging.getLogger(__name__)

COMMAND = "/term"
"""The name of the command, as in the manifest."""
MAX_SECONDS = 2.5
"""Slack waits three seconds for the reply to a command."""
MAX_TERM_CHARS = 200
USAGE = "Type a term or an abbreviation behind the command, such as `%(command)s PUC`."
TOO_SLOW = "That took too long. Please try it once more, or ask me in a message."


async def answer_term(answering: Answering, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reply to the command: only the person who typed it sees it, wherever they did."""
    try:
        text = await asyncio.wait_for(_describe_term(answering, body), MAX_SECONDS)
    except TimeoutError:
        logger.warning("a reply to %s took too long", COMMAND)
        text = translate(TOO_SLOW)
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": part}} for part in split_text(text)[:10]]
    return {"response_type": "ephemeral", "text": text[:3000], "blocks": blocks}


async def _describe_term(answering: Answering, body: Mapping[str, Any]) -> str:
    """Describe the term, or say why that cannot be done, in the language of the person who typed it."""
    term = read_question(str(body.get("text") or ""))[:MAX_TERM_CHARS].strip()
    team, user = answering.people.team or str(body.get("team_id") or ""), str(body.get("user_id") or "")
    with speak((await answering.people.find_person(user)).language):
        if not term:
            return translate(USAGE, command=COMMAND)
        try:
            scope = await answering.people.own_scope(team, user)
            found = await term_show(answering.kb, scope.principal, term=term)
        except ArgotError as error:
            return plain(translate_error(error))
        site = answering.kb.settings.web.public_url.rstrip("/")
        page = link(f"{site}/terms/term?{urlencode({'t': found.term})}", translate("In the glossary")) if site else ""
        return "\n".join(filter(None, [format_entry(found, plain, bullet="•"), page]))
