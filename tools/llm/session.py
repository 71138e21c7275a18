"""One run's use of the model server: replies in JSON, streamed text, and prompts that fit into the context."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from argot.prompts.loader import Prompt
from argot.prompts.loader import prompt as prompt_named
from argot.protocols import RETRACTION
from argot.results import ModelCall
from argot.tools.answering.citation_marks import CUT_SHORT
from argot.tools.llm.calls import Call, Run
from argot.tools.llm.endpoint import Endpoint, ServerQuirks
from argot.tools.llm.limits import Clock, LoopWatch
from argot.tools.llm.token_budget import fit_pieces

SCHEMA_TOKENS = 400  # more than the longest schema takes when it is written in words
RETRIED_PROMPT = "cited_answer"
"""The prompt whose writer tries again with fewer passages if the server finds it too long (`ModelWriter`)."""
TOOL_TOKENS = 600  # more than the tools of a prompt, or their description in words, take
LOOPED_CLAUSE = "repeated itself and was stopped"


class Model:
    """One run's use of the model. `failed` is the reason why the run no longer asks it, in one clause; None: it does.

    A server that fails is given up for the rest of the run, so that a run waits for at most one timeout. A prompt that
    is too long does not count, and a reply that is no valid JSON counts from the second on.
    """

    def __init__(self, server: Endpoint, calls: list[ModelCall]) -> None:
        self._server = server
        self._run = Run(server, calls)

    def __repr__(self) -> str:
        return f"Model({self._server.address}, failed={self.failed!r})"

    @property
    def failed(self) -> str | None:
        return self._run.failed

    @property
    def quirks(self) -> ServerQuirks:
        """Features that the server has refused."""
        return self._server.quirks

    @property
    def name(self) -> str:
        """Name of the model on the server; empty before it is known."""
        known = self._server.known
        return known.model if known else self._server.settings.model_server.name

    @property
    def context_tokens(self) -> int:
        """Length of the model's context; 0 before it is known."""
        known = self._server.known
        return known.context_tokens if known else self._server.settings.model_server.context_tokens

    async def json(
        self, prompt: str, *, choices: Mapping[str, Sequence[str]] | None = None, **inputs: str
    ) -> dict[str, Any]:
        """Return the reply to a prompt whose output is JSON, checked against its schema.

        Raises:
            ModelUnavailable: there is none within the limits; ContextOverflow if less input may help.
        """
        asked = prompt_named(prompt)
        schema = asked.schema(**(choices or {}))
        if schema is None:
            raise TypeError(f"Prompt '{prompt}' is replied to in text: use text().")
        call = Call(self._run, asked, asked.messages(**inputs), schema)
        async with aclosing(call.pieces()) as pieces:
            async for _ in pieces:
                pass
        return call.value

    async def text(self, prompt: str, pictures: Sequence[str] = (), **inputs: str) -> AsyncGenerator[str, None]:
        """Yield the reply to a prompt whose output is text, in pieces as they arrive; closing this stops the server's
        work. `pictures`: data URLs that the model sees after the inputs.

        A text that repeats itself ends where the repetition is detected, with a note in its `ModelCall`. One that
        reached its maximum length ends in "…": its last sentence may be incomplete. `RETRACTION` takes back the pieces
        before it.

        Raises:
            ModelUnavailable: also after some pieces, if the stream breaks off.
        """
        asked = prompt_named(prompt)
        call = Call(self._run, asked, asked.messages(**inputs), pictures=pictures)
        watch = LoopWatch()
        async with aclosing(call.pieces()) as pieces:
            async for piece in pieces:
                yield piece
                # Retracted text may occur in the answer again, which is no repetition.
                if piece is RETRACTION:
                    watch = LoopWatch()
                if watch.loops(piece):
                    call.stopped = LOOPED_CLAUSE
                    return
        # After the loop, so that a text stopped for repeating itself does not end in it.
        if call.cut_short:
            yield CUT_SHORT

    async def whole_text(self, prompt: str, pictures: Sequence[str] = (), **inputs: str) -> str:
        """Return the reply to a prompt whose output is text, once it is complete; `pictures` as of `text`.

        Raises:
            ModelUnavailable: there is none.
        """
        reply = ""
        async with aclosing(self.text(prompt, pictures, **inputs)) as pieces:
            async for piece in pieces:
                reply = "" if piece is RETRACTION else reply + piece
        return reply

    async def fit(self, prompt: str, data: str, pieces: Sequence[str], **inputs: str) -> str:
        """Return as many pieces, best first, as fit into the context beside everything else, with blank lines between
        them.

        Raises:
            ModelUnavailable: the server does not report its context length.
            ContextOverflow: not even the first fits.
        """
        self._run.refuse_if_failed()
        asked = prompt_named(prompt)
        asked.messages(**{**inputs, data: ""})  # a wrong input is the caller's fault, not the server's
        server = self._server
        await server.load()
        reserved = count_reserved_tokens(server, asked)
        clock = Clock.of(server.settings)
        try:
            server.refuse_if_down()
            return await clock.wait(
                fit_pieces(
                    server,
                    reserved,
                    pieces,
                    lambda joined: asked.messages(**{**inputs, data: joined}),
                    may_estimate=asked.name == RETRIED_PROMPT,
                )
            )
        except Exception as error:
            raise self._run.give_up(server.fault(error)) from None


def count_reserved_tokens(server: Endpoint, prompt: Prompt) -> int:
    """Return the tokens for the reply, and for the schema if this server needs it in words."""
    if prompt.output == "text":
        return server.settings.model_server.answer_tokens
    in_words = server.quirks.in_words or prompt.name in server.quirks.no_schema
    return prompt.max_tokens + (SCHEMA_TOKENS if in_words else 0) + (TOOL_TOKENS if prompt.tools else 0)
