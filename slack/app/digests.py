"""Digests of suggestions, as direct messages to the contacts of contexts that Slack knows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from argot.service.glossary_review.suggestion_digest import find_addresses, list_due, mark_sent, write_text
from argot.slack.app.mrkdwn import plain

if TYPE_CHECKING:
    from argot.slack.app.slack_answers import Answering

DIGEST_SECONDS = 1800.0
_MENTION = re.compile(r"<@(\w+)>")


async def send_digests(answering: Answering) -> int:
    """Send the digests that are due, except those that go by mail; return how many were sent."""
    kb, sent = answering.kb, 0
    if not kb.settings.mail.digest_hours or not (team := await answering.people.find_home()):
        return 0
    for digest in await kb.blocking(list_due, kb):
        if kb.settings.mail.server and find_addresses(digest.contact):
            continue
        people = _MENTION.findall(await answering.people.find_contact(team, digest.contact))
        lines = [
            await answering.calls.try_call(
                answering.calls.client.chat_postMessage,
                channel=person, text=plain(write_text(kb, digest)), parse="none", unfurl_links=False,
            )
            for person in people
        ]  # fmt: skip
        # If none of them was reached, it is tried again.
        if any(lines):
            await kb.blocking(mark_sent, kb, digest)
            sent += 1
    return sent
