"""One streamed request for text: the request, its pieces as they arrive, its counts and its end."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from argot.protocols import RETRACTION
from argot.tools.llm.chunks import Chunk, read_chunk
from argot.tools.llm.faults import WrongAnswer
from argot.tools.llm.limits import BodyTooLarge, Clock
from argot.tools.llm.reasoning_filter import ReasoningFilter
from argot.tools.llm.structured_output import strip_unprintable
from argot.tools.llm.tool_calls import write_form
from argot.tools.llm.writing_systems import MAX_CHARS_PER_TOKEN

if TYPE_CHECKING:
    from argot.tools.llm.model_client import ModelClient, ServerSentEvents

TRAILER_SECONDS = 2.0
"""Timeout for data after the end of a reply, which are only its counts."""
EMPTY_REPLY_CLAUSES = {
    "length": "used up its longest answer before it wrote one: raise ARGOT_MODEL_ANSWER_TOKENS, or let it think less",
    "content_filter": "held its answer back by a filter of its own",
}
"""The clause about a reply without text, by the server's finish reason."""
Messages = Sequence[tuple[str, str]]


@dataclass(repr=False)
class ModelCompletion:
    """One streamed reply. No repr: it would show the prompt.

    `body`: the fields of the request except the messages (OpenAI interface).
    `max_tokens`: the longest reply; the body has it too, under the name that this server uses. `by_words`: the messages
    ask for JSON, and nothing makes the model stop after it. `expects_thought`: earlier replies began with a thought
    that no mark announced; `thought_unannounced`: this one did. `usage`: the server is asked for token counts;
    `usage_throughout`: with every piece, which vLLM can, so that the counts of a stopped reply are known too. `calls`:
    the name and the arguments of each tool call so far, by its place. `pictures`: data URLs that follow the text of the
    last message.
    """

    model: str
    messages: Messages
    body: dict[str, Any]
    max_tokens: int
    usage: bool = True
    usage_throughout: bool = False
    by_words: bool = False
    expects_thought: bool = False
    pictures: Sequence[str] = ()
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    finish: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    received: bool = False
    thought_unannounced: bool = False
    calls: dict[int, tuple[str, str]] = field(default_factory=dict)
    _begun: bool = False
    _chars: int = 0
    _goes_on: bool = False

    @property
    def sent_fields(self) -> set[str]:
        """The names of the fields that were sent with the messages."""
        return {*self.body, *self._build_stream_options()}

    async def pieces(self, client: ModelClient, clock: Clock) -> AsyncGenerator[str, None]:
        """Yield the reply as it arrives, without thoughts; tool calls last, as one JSON object (`write_form`). However
        this ends, the server's work on it ends too.

        Raises:
            TooLate: a time limit was reached.
            BodyTooLarge: more arrived than the requested tokens can hold.
            WrongAnswer: the stream ended before the reply did.
            Exception: any error of the client (`faults.build_fault` explains it).
        """
        is_text = not {"response_format", "tools"} & self.body.keys() and not self.by_words
        # Nobody reads JSON before it is whole, so it is not gathered: the sooner it ends the better.
        stream = await clock.wait(client.stream(self._build_request(), self.id, gathers=is_text))
        visible = ReasoningFilter(expects_thought=self.expects_thought)
        try:
            while not visible.is_over and (chunk := await self._read_next(stream, clock)):
                text = self._take(chunk)
                # A thought in a separate field shows that the server works: the limit on the first token is met.
                if text or chunk.thinks or chunk.calls:
                    clock.mark_token()
                # Tokens that arrive together are passed on together: each piece costs as much as ten of them.
                while stream.holds_more:
                    text += self._take(read_chunk(await anext(stream)))
                for rest in visible.feed(text):
                    yield self._mark_received(rest)
            for rest in visible.rest(cut_short=self.cut_short or not self.finish):
                yield self._mark_received(rest)
            if self.calls:
                yield RETRACTION  # words beside the calls are no part of them
                yield self._mark_received(write_form(self.calls.values(), self.body.get("tools", ())))
        finally:
            await stream.aclose()
        self.thought_unannounced = visible.unannounced
        if not self.finish and not visible.is_over:
            raise WrongAnswer("broke off its answer" if self._begun else "sent an empty answer")
        if not self.received:
            raise WrongAnswer(EMPTY_REPLY_CLAUSES.get(self.finish, "sent an empty answer"))

    @property
    def cut_short(self) -> bool:
        """True if the reply ended at a limit or filter of the server before the model was done."""
        return self.finish in {"length", "content_filter"}

    def _mark_received(self, piece: str) -> str:
        # Retracted text was not received: the call may be made once more.
        self.received = piece is not RETRACTION
        return piece

    async def _read_next(self, stream: ServerSentEvents, clock: Clock) -> Chunk | None:
        """Return the next chunk; None at the end. Data after the end of the reply neither spoil it nor delay it for
        long.

        A server that marks every piece as the last is detected by the text that still arrives.
        """
        is_done = self.finish and not self._goes_on
        try:
            if not stream.is_waiting:
                # Already here: no timeout to set up for each token.
                return read_chunk(await anext(stream))
            if not is_done:
                return read_chunk(await clock.next(stream))
            async with asyncio.timeout(TRAILER_SECONDS):
                return read_chunk(await clock.next(stream))
        except StopAsyncIteration:
            return None
        except Exception:
            if is_done:
                return None
            raise

    def _build_request(self) -> dict[str, Any]:
        messages: list[dict[str, Any]] = [{"role": role, "content": text} for role, text in self.messages]
        if self.pictures:
            messages[-1]["content"] = build_parts(messages[-1]["content"], self.pictures)
        return {
            "model": self.model,
            "messages": messages,
            "temperature": 0,
            **self.body,
            **self._build_stream_options(),
        }

    def _build_stream_options(self) -> dict[str, Any]:
        throughout = {"continuous_usage_stats": True} if self.usage_throughout else {}
        return {"stream_options": {"include_usage": True, **throughout}} if self.usage else {}

    def _take(self, chunk: Chunk) -> str:
        self._begun = True
        if chunk.usage:
            self.prompt_tokens, self.completion_tokens = chunk.usage
        self._goes_on = self._goes_on or bool(self.finish and chunk.text)
        self.finish = chunk.finish or self.finish
        for piece in chunk.calls if "tools" in self.body else ():
            name, arguments = self.calls.get(piece.place, ("", ""))
            self.calls[piece.place] = name + piece.name, arguments + piece.arguments
        # One more each: a piece of a call may be empty, and still needs memory.
        self._chars += len(chunk.text) + sum(len(one.name) + len(one.arguments) + 1 for one in chunk.calls)
        # A server that ignores `max_tokens` would continue for ever.
        if self._chars > self.max_tokens * MAX_CHARS_PER_TOKEN:
            raise BodyTooLarge
        return strip_unprintable(chunk.text)


def build_parts(text: str, pictures: Sequence[str]) -> list[dict[str, Any]]:
    """Return the content of a message with pictures (data URLs), as OpenAI's interface has it: a list of parts."""
    return [
        {"type": "text", "text": text},
        *({"type": "image_url", "image_url": {"url": address}} for address in pictures),
    ]
