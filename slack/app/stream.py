"""An answer that is shown while it is written, where the workspace's plan allows it.

Only words are streamed: citations and sources are known when the answer is complete, and then the message is replaced.
An answer that is available at once is never streamed.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from argot.slack.app.block_kit import Message
from argot.slack.app.event_filter import SlackJob
from argot.slack.app.mrkdwn import escape_streamed
from argot.slack.app.web_api import Calls, SlackRefused, SlackUnreachable

FIRST_SECONDS = 1.0
"""An answer that takes less is posted whole: one call instead of four."""
EACH_SECONDS = 1.0
"""Slack takes about one piece a second."""
MAX_PIECE_CHARS = 12_000
"""Characters of one piece."""
ASK_AGAIN_SECONDS = 3600.0
"""Pause after a workspace refused streaming."""
OF_THIS_PLACE = (
    "channel_not_found", "invalid_thread_ts", "is_archived", "message_not_found", "missing_recipient_team_id",
    "missing_recipient_user_id", "not_in_channel", "restricted_action", "team_not_found", "thread_not_found",
    "user_not_found",
)  # fmt: skip
"""Refusals that concern this channel or person only, and not streaming in the whole workspace."""


class Streaming:
    """The knowledge of whether this workspace takes streams."""

    def __init__(self) -> None:
        self._refused_at = float("-inf")

    @property
    def is_allowed(self) -> bool:
        return time.monotonic() - self._refused_at > ASK_AGAIN_SECONDS

    def refuse(self) -> None:
        self._refused_at = time.monotonic()


class Stream:
    """One answer's stream. `began` receives the timestamp of its message once it exists."""

    def __init__(self, calls: Calls, job: SlackJob, known: Streaming, began: Callable[[str], Awaitable[None]]) -> None:
        self.calls = calls
        self.job = job
        self.known = known
        self.began = began
        # A stream cannot be shown to one person alone.
        self.open = known.is_allowed and not job.ephemeral
        self._ts = ""
        self._waiting = ""
        self._at = 0.0

    async def add(self, piece: str) -> None:
        """Add a piece of the answer. Pieces are sent together, whole words at a time."""
        now = time.monotonic()
        self._at = self._at or now + FIRST_SECONDS
        self._waiting += piece
        # Half a word could be half of a link or a call, which is made safe only as a whole.
        end = max(self._waiting.rfind(" "), self._waiting.rfind("\n")) + 1
        if not self.open or not end or now < self._at:
            return
        words, self._waiting = self._waiting[:end], self._waiting[end:]
        self._at = now + EACH_SECONDS
        await self._send(words)

    async def retract(self) -> None:
        """Disown the words sent so far. The pieces stay until the end; the next words begin a new paragraph."""
        self._waiting = "\n\n" if self._ts else ""

    async def finish(self, message: Message) -> bool:
        """Replace the streamed text by the answer; return False if nothing of it is visible, so that it has to be
        posted.

        Raises:
            SlackUnreachable: it may be tried again.
        """
        if not self._ts:
            return False
        if message.get("only"):
            await self.take_away()
            return False
        return await replace_stream(self.calls, self.job.channel, self._ts, message)

    async def take_away(self) -> None:
        """Delete the streamed text."""
        if self._ts:
            await delete_stream(self.calls, self.job.channel, self._ts)

    async def _send(self, words: str) -> None:
        client, channel = self.calls.client, self.job.channel
        text = escape_streamed(words)
        parts = [text[at : at + MAX_PIECE_CHARS] for at in range(0, len(text), MAX_PIECE_CHARS)]
        chunks = [{"type": "markdown_text", "text": part} for part in parts]
        try:
            if self._ts:
                await self.calls(client.chat_appendStream, channel=channel, ts=self._ts, chunks=chunks)
                return
            begun = await self.calls(
                client.chat_startStream,
                channel=channel,
                thread_ts=self.job.thread_ts,
                recipient_team_id=self.job.sender or self.job.team,
                recipient_user_id=self.job.user,
                chunks=chunks,
            )
        except SlackRefused as error:
            self.open = False
            if not self._ts and error.code not in OF_THIS_PLACE:
                self.known.refuse()
            return
        except SlackUnreachable:
            self.open = False
            return
        self._ts = str(begun.get("ts") or "")
        self.open = bool(self._ts)
        # Recorded, so that after a crash the visible beginning can be removed.
        await self.began(self._ts)


async def replace_stream(calls: Calls, channel: str, ts: str, message: Message) -> bool:
    """Replace a streamed message by this one. False: Slack refused, and it was deleted.

    Raises:
        SlackUnreachable
    """
    await calls.try_call(calls.client.chat_stopStream, channel=channel, ts=ts)  # streamed text cannot be changed
    try:
        await calls(calls.client.chat_update, channel=channel, ts=ts, parse="none", **message)
        return True
    except SlackRefused:
        await calls.try_call(calls.client.chat_delete, channel=channel, ts=ts)
        return False


async def delete_stream(calls: Calls, channel: str, ts: str) -> None:
    """Delete a message that was streamed, or still is."""
    await calls.try_call(calls.client.chat_stopStream, channel=channel, ts=ts)
    await calls.try_call(calls.client.chat_delete, channel=channel, ts=ts)
