"""Posts messages into Slack: in a form that the workspace takes, to all or to one, and so that they are known again."""

from __future__ import annotations

import logging

from argot.slack.app.block_kit import Message, replace_native_feedback
from argot.slack.app.channel_history import fetch_thread_messages
from argot.slack.app.event_filter import SlackJob
from argot.slack.app.web_api import Calls, SlackRefused

logger = logging.getLogger(__name__)

ANSWER = "argot_answer"
"""The kind of metadata by which an answer of Argot's is recognised."""
NOT_THERE = ("user_not_in_channel", "not_in_channel", "channel_not_found", "is_archived")
BAD_BLOCKS = ("invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "invalid_attachments")


class Posting:
    """Posts into one workspace."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.native = True
        """Slack's own feedback buttons are taken."""

    async def post(self, job: SlackJob, message: Message) -> None:
        """Post a message in the thread of a job.

        Raises:
            SlackUnreachable
        """
        payload = dict(message) if self.native else replace_native_feedback(message)
        only = payload.pop("only", "")
        try:
            await self._post(job, payload, only)
        except SlackRefused as error:
            if error.code not in BAD_BLOCKS:
                logger.warning("Slack did not take an answer: %s", error)
                return
            await self._post_plainer(job, payload, only, error)

    async def _post_plainer(self, job: SlackJob, given: Message, only: str, error: SlackRefused) -> None:
        """Post with buttons that every workspace takes; if that is refused too, as text."""
        plainer = replace_native_feedback(given)
        for message in (plainer, {name: value for name, value in given.items() if name != "blocks"}):
            try:
                await self._post(job, message, only)
                if message is plainer and plainer != given:
                    # Only if plain buttons helped: blocks may be refused for another reason.
                    self.native = False
                return
            except SlackRefused as again:
                error = again
        logger.warning("Slack did not take an answer: %s", error)

    async def _post(self, job: SlackJob, message: Message, only: str) -> None:
        client = self.calls.client
        if only and not job.direct:
            # A message for one person alone takes no metadata, and cannot be found again.
            await self.post_to_one(job, only, {name: value for name, value in message.items() if name != "metadata"})
            return
        await self.calls(
            client.chat_postMessage,
            channel=job.channel,
            thread_ts=job.thread_ts,
            parse="none",
            unfurl_links=False,
            unfurl_media=False,
            **message,
        )

    async def post_to_one(self, job: SlackJob, user: str, message: Message) -> None:
        """Show one person a message where they asked; a person outside the channel gets it as a direct message.

        Raises:
            SlackUnreachable, SlackRefused
        """
        client = self.calls.client
        # In a thread that has no messages yet Slack would not show it.
        thread = {"thread_ts": job.thread_ts} if job.threaded else {}
        try:
            await self.calls(
                client.chat_postEphemeral, channel=job.channel, user=user, parse="none", **thread, **message
            )
        except SlackRefused as error:
            if error.code not in NOT_THERE:
                raise
            await self.calls(
                client.chat_postMessage, channel=user, parse="none", unfurl_links=False, unfurl_media=False, **message
            )


def add_metadata(message: Message, job: SlackJob, part: int) -> Message:
    """Mark the message as this part of the answer to a job."""
    return {**message, "metadata": {"event_type": ANSWER, "event_payload": {"for": job.ts, "part": part}}}


async def find_posted_parts(calls: Calls, job: SlackJob) -> set[int]:
    """Find the parts of the answer that an earlier try posted, and was ended before it could note that."""
    # "#" and the text after it distinguish presses on one message; Slack knows only the part before it.
    messages = await fetch_thread_messages(calls, job, oldest=job.ts.partition("#")[0], include_all_metadata=True)
    kept = [(one.get("metadata") or {}) for one in messages]
    payloads = [one.get("event_payload") or {} for one in kept if one.get("event_type") == ANSWER]
    return {int(one["part"]) for one in payloads if one.get("for") == job.ts and "part" in one}
