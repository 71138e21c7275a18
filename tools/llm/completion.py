"""One streamed request for text: what is sent, the pieces that come, and its counts and end."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from argot.protocols import TAKEN_BACK
from argot.tools.llm.chunks import Chunk, read_chunk
from argot.tools.llm.faults import WrongAnswer
from argot.tools.llm.limits import BodyTooLarge, Clock
from argot.tools.llm.reasoning_filter import ReasoningFilter
from argot.tools.llm.structured_output import strip_unprintable
from argot.tools.llm.writing_systems import MAX_CHARS_PER_TOKEN

if TYPE_CHECKING:
    from argot.tools.llm.model_client import ModelClient, ServerSentEvents

TRAILER_SECONDS = 2.0
"""To wait for what follows the end of a reply: only its counts."""
EMPTY_REPLY_CLAUSES = {
    "length": "used up its longest answer before it wrote one: raise ARGOT_MODEL_ANSWER_TOKENS, or let it think less",
    "content_filter": "held its answer back by a filter of its own",
}
"""The clause about a reply without text, by the reason the server gives for its end."""
Messages = Sequence[tuple[str, str]]


@dataclass(repr=False)
class ModelCompletion:
    """`body`: the fields of the request beside the messages (OpenAI interface). No repr: it would show the prompt.

    `max_tokens`: the longest reply; it is in the body, too, under the name this server has for it.
    `by_words`: the messages ask for JSON, and nothing makes the model stop after it.
    `expects_thought`: earlier replies began with a thought that no mark announced; `thought_unannounced`: this one did.
    `usage`: the server is asked for the tokens it counts; `usage_throughout`: with every piece, which vLLM can, so that
    they are known of a reply that was stopped too.
    """

    model: str
    messages: Messages
    body: dict[str, Any]
    max_tokens: int
    usage: bool = True
    usage_throughout: bool = False
    by_words: bool = False
    expects_thought: bool = False
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    finish: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    received: bool = False
    thought_unannounced: bool = False
    _begun: bool = False
    _chars: int = 0
    _goes_on: bool = False

    @property
    def sent(self) -> set[str]:
        """The names of the fields that were sent beside the messages."""
        return {*self.body, *self._build_stream_options()}

    async def pieces(self, client: ModelClient, clock: Clock) -> AsyncGenerator[str, None]:
        """Yield the reply as it comes, without thoughts. However this ends, the server's work on it ends too.

        Raises:
            TooLate: a bound in time was reached.
            BodyTooLarge: more came than the tokens that were asked for can hold.
            WrongAnswer: the stream ended before the reply did.
            Exception: whatever the client raises (`faults.build_fault` explains it).
        """
        is_text = "response_format" not in self.body and not self.by_words
        # JSON is read by nobody before it is whole, so it is not gathered: the sooner it ends the better.
        stream = await clock.wait(client.stream(self._build_request(), self.id, gathers=is_text))
        visible = ReasoningFilter(expects_thought=self.expects_thought)
        try:
            while not visible.is_over and (chunk := await self._read_next(stream, clock)):
                text = self._take(chunk)
                # A thought in a field of its own shows that the server works: the bound on the first token is met.
                if text or chunk.thinks:
                    clock.mark_token()
                # Tokens that have come together go on together: each piece costs as much as ten of them.
                while stream.holds_more:
                    text += self._take(read_chunk(await anext(stream)))
                for said in visible.feed(text):
                    yield self._mark_received(said)
            for said in visible.rest(cut_short=self.cut_short or not self.finish):
                yield self._mark_received(said)
        finally:
            await stream.aclose()
        self.thought_unannounced = visible.unannounced
        if not self.finish and not visible.is_over:
            raise WrongAnswer("broke off its answer" if self._begun else "sent an empty answer")
        if not self.received:
            raise WrongAnswer(EMPTY_REPLY_CLAUSES.get(self.finish, "sent an empty answer"))

    @property
    def cut_short(self) -> bool:
        """True if the reply ended at a limit or filter of the server, not where the model was done."""
        return self.finish in {"length", "content_filter"}

    def _mark_received(self, piece: str) -> str:
        # What was taken back was not received: the call may be made once more.
        self.received = piece is not TAKEN_BACK
        return piece

    async def _read_next(self, stream: ServerSentEvents, clock: Clock) -> Chunk | None:
        """Return the next chunk; None at the end. What follows the end of the reply neither spoils it nor delays it for
        long.

        A server that calls every piece the last is found out by the text that still comes.
        """
        is_done = self.finish and not self._goes_on
        try:
            if not stream.is_waiting:
                # Already here: no timeout to pay for with each token.
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
        said = [{"role": role, "content": text} for role, text in self.messages]
        return {"model": self.model, "messages": said, "temperature": 0, **self.body, **self._build_stream_options()}

    def _build_stream_options(self) -> dict[str, Any]:
        throughout = {"continuous_usage_stats": True} if self.usage_throughout else {}
        return {"stream_options": {"include_usage": True, **throughout}} if self.usage else {}

    def _take(self, chunk: Chunk) -> str:
        self._begun = True
        if chunk.usage:
            self.prompt_tokens, self.completion_tokens = chunk.usage
        self._goes_on = self._goes_on or bool(self.finish and chunk.text)
        self.finish = chunk.finish or self.finish
        self._chars += len(chunk.text)
        # A server that does not keep to `max_tokens` would go on for ever.
        if self._chars > self.max_tokens * MAX_CHARS_PER_TOKEN:
            raise BodyTooLarge
        return strip_unprintable(chunk.text)
