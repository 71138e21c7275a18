"""The messages of a Slack thread, fetched page by page."""

from __future__ import annotations

from typing import Any

from argot.slack.app.event_filter import SlackJob
from argot.slack.app.web_api import Calls

PAGE, MAX_PAGES = 200, 10
"""Messages of a thread that are fetched at once, and how often."""


async def fetch_thread_messages(calls: Calls, job: SlackJob, **which: Any) -> list[dict[str, Any]]:
    """Fetch the messages of the job's thread, oldest first: of a long thread only its last pages are kept.

    Args:
        calls: the workspace.
        job: something in that thread.
        which: further parameters of `conversations.replies`, as `oldest` and `latest`.
    """
    messages: list[dict[str, Any]] = []
    cursor = ""
    for _ in range(MAX_PAGES):
        found = await calls.try_call(
            calls.client.conversations_replies,
            channel=job.channel, ts=job.thread_ts, limit=PAGE, **which, **({"cursor": cursor} if cursor else {}),
        )  # fmt: skip
        # A page that cannot be fetched ends it: an answer with less context is better than none.
        messages += [one for one in (found or {}).get("messages", ()) if isinstance(one, dict)]
        cursor = str(((found or {}).get("response_metadata") or {}).get("next_cursor") or "")
        if not cursor:
            break
    return messages
