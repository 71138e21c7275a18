"""The status of a question and the title of its thread, as Slack shows them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from argot.slack.app.event_filter import SlackJob
from argot.slack.app.web_api import Calls

MAX_TITLE_CHARS = 80
"""Characters."""


@asynccontextmanager
async def show_working(calls: Calls, job: SlackJob, reaction: str) -> AsyncIterator[SlackJob]:
    """Show that a question is worked on: in a direct message by a status, where the workspace's plan has it, else by a
    reaction. Yields the job, which records whether a status is shown.
    """
    is_shown = job.direct and job.kind != "news" and await show_status(calls, job, "Working")
    # A press has no message of its own to react to.
    name = reaction if job.kind == "message" and not is_shown else ""
    where = {"name": name, "channel": job.channel, "timestamp": job.ts}
    if name:
        await calls.try_call_at_once(calls.client.reactions_add, **where)
    try:
        yield replace(job, status=is_shown)
    finally:
        if name:
            # Not `at_once`: a reaction that stays would say that it is still being worked on.
            await calls.try_call(calls.client.reactions_remove, **where)
        if is_shown:
            await show_status(calls, job, "")


async def show_status(calls: Calls, job: SlackJob, stage: str) -> bool:
    """Show the present stage; an empty one removes the status. False: Slack does not show it."""
    status = f"is {stage[0].lower()}{stage[1:]} …" if stage else ""
    taken = await calls.try_call_at_once(
        calls.client.assistant_threads_setStatus,
        channel_id=job.channel, thread_ts=job.thread_ts, status=status,
    )  # fmt: skip
    return taken is not None


async def show_title(calls: Calls, job: SlackJob, question: str) -> None:
    title = " ".join(question.split())
    await calls.try_call_at_once(
        calls.client.assistant_threads_setTitle,
        channel_id=job.channel, thread_ts=job.thread_ts,
        title=title if len(title) <= MAX_TITLE_CHARS else f"{title[: MAX_TITLE_CHARS - 1]}…",
    )  # fmt: skip
