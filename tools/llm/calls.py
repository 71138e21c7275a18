"""One call of the model: its attempts, each recorded, until one returns the reply or no more are allowed."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from argot.errors import ModelUnavailable
from argot.prompts.loader import Prompt
from argot.protocols import RETRACTION
from argot.results import ModelCall
from argot.tools.llm.completion import Messages, ModelCompletion
from argot.tools.llm.endpoint import Endpoint
from argot.tools.llm.faults import Fault, describe_unserved
from argot.tools.llm.limits import Clock, has_blank_tail
from argot.tools.llm.structured_output import is_whole, parse_object
from argot.tools.llm.tool_calls import build_tools
from argot.tools.llm.writing_systems import is_wide, limit_texts
from argot.tracing import Noted, current_trace, trace_call

SCHEMA_IN_WORDS = "\n\nReply with one JSON object and nothing else. It fits this JSON schema:\n"
MAX_INVALID_REPLIES = 2
"""After this many replies without valid JSON the rest of the run continues without the model."""
PAUSE_SECONDS = 0.2
"""Pause before a second attempt: a restarting server needs a moment."""


@dataclass
class Run:
    """State shared by the calls of one run. `failed`: why the model is not asked any more."""

    server: Endpoint
    calls: list[ModelCall]
    failed: str | None = None
    invalid: int = 0

    def refuse_if_failed(self) -> None:
        """Refuse a call if the run has given the model up.

        Raises:
            ModelUnavailable: an earlier call failed.
        """
        if self.failed:
            raise Fault(self.failed, subject=self.server.subject).error()

    def give_up(self, fault: Fault) -> ModelUnavailable:
        """Return the error to raise; the run keeps the model only if the fault was not the server's."""
        self.invalid += fault.invalid
        # A prompt that is too long, or one reply that is no JSON, predicts nothing about the next call.
        if not fault.overflow and (not fault.invalid or self.invalid >= MAX_INVALID_REPLIES):
            self.failed = fault.clause
        return fault.error()


@dataclass(repr=False)
class Call:
    """`schema` None: the reply is text. `pictures`: data URLs, which no trace holds. `value`: the valid reply to a
    schema. `stopped`: why its reader closed it. `_no_tools`: how the attempt with tools failed, if the next ones are
    made without.

    Without a repr, which would show the prompt in logs of errors.
    """

    run: Run
    prompt: Prompt
    messages: Messages
    schema: dict[str, Any] | None = None
    pictures: Sequence[str] = ()
    value: dict[str, Any] = field(default_factory=dict)
    stopped: str = "was stopped by its reader"
    _again: bool = False
    _in_words: bool = False
    _no_tools: Fault | None = None
    _schema_ignored: bool = False
    _completion: ModelCompletion | None = None
    _clock: Clock = field(init=False)

    @property
    def cut_short(self) -> bool:
        """True if the reply ended at a limit or filter of the server before the model was done."""
        return self._completion is not None and self._completion.cut_short

    async def pieces(self) -> AsyncGenerator[str, None]:
        """Yield the pieces of the first attempt that succeeds, as they arrive. With a schema: one piece, once it is
        valid.

        Raises:
            ModelUnavailable: no attempt succeeds.
        """
        self.run.refuse_if_failed()
        await self.run.server.load()
        self._clock = Clock.of(self.run.server.settings)
        while True:
            try:
                # Closed here rather than later by the garbage collector, because closing stops the server's work.
                async with aclosing(self._record_attempt()) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            except Exception as error:
                fault = await self._name_models(self.run.server.fault(error))
                if not await self._is_worth_another(fault):
                    raise self.run.give_up(fault) from None
            self._clock.again()

    async def _record_attempt(self) -> AsyncGenerator[str, None]:
        """Make one attempt, which is recorded however it ends."""
        started = time.monotonic()
        failed = ""
        trace = current_trace()
        reply: list[str] = []
        try:
            async with aclosing(self._attempt()) as pieces:
                async for piece in pieces:
                    if trace is not None and trace.contents:
                        reply.append(piece)
                    yield piece
        except Exception as error:
            failed = self.run.server.fault(error).clause
            raise
        except asyncio.CancelledError:
            failed = "was cancelled"
            raise
        # The reader closed it, which is no fault but ends the call early.
        except GeneratorExit:
            failed = self.stopped
            raise
        finally:
            self._record(time.monotonic() - started, failed, "".join(reply))

    async def _attempt(self) -> AsyncGenerator[str, None]:
        self._completion = None
        # A second attempt is made although the first could not connect (`_is_worth_another`).
        if not self._again:
            self.run.server.refuse_if_down()
        self._completion = await self._prepare()
        async with aclosing(self._completion.pieces(self.run.server.connection(), self._clock)) as pieces:
            if self.schema is None:
                async for piece in pieces:
                    yield piece
                self.run.server.mark_reached()
                # Each text shows again whether the model thinks aloud; a reply held to a schema cannot.
                self.run.server.quirks.thinks = self._completion.thought_unannounced
                return
            reply = ""
            async for piece in pieces:
                reply = "" if piece is RETRACTION else reply + piece
                # With instructions in words only, a model may continue after its JSON. The check for the brace saves a
                # parse of every other piece.
                if has_blank_tail(reply) or (self._completion.by_words and "}" in piece and is_whole(reply)):
                    break
        self.run.server.mark_reached()
        self.run.server.quirks.thinks |= self._completion.thought_unannounced
        self.value = parse_object(reply, self.schema)
        self.run.server.quirks.in_words |= self._schema_ignored
        # After a further failure it is unknown whether the tools were the reason.
        if self.prompt.tools and not self._again:
            self.run.server.quirks.note_tools(self._no_tools)
        yield reply

    async def _prepare(self) -> ModelCompletion:
        """Return the request in the form that this server accepts."""
        server = self.run.server
        served = await self._clock.wait(server.served_model())
        quirks = server.quirks
        tokens = server.settings.model_server.answer_tokens if self.schema is None else self.prompt.max_tokens
        body: dict[str, Any] = {
            quirks.max_tokens: tokens,
            **quirks.thinking(served.is_vllm),
        }
        messages = self.messages
        by_words = False
        if self.schema is not None:
            # A longest text of characters that take a token each would not fit into `max_tokens`.
            schema = limit_texts(self.schema) if is_wide(messages) else self.schema
            if self.prompt.tools and quirks.tools and not self._no_tools:
                body |= {"tools": build_tools(self.prompt.tools, schema), "tool_choice": "required"}
            else:
                messages = add_form(messages, self.prompt.form)
                by_schema = self.prompt.name not in quirks.no_schema
                if by_schema:
                    body["response_format"] = build_response_format(self.prompt.name, schema)
                by_words = not by_schema or quirks.in_words or self._in_words
            if by_words:
                messages = add_schema(messages, schema)
        expects_thought = quirks.thinks and (self.schema is None or by_words)
        return ModelCompletion(
            served.model, messages, body, tokens, quirks.usage, served.is_vllm, by_words, expects_thought, self.pictures
        )

    async def _is_worth_another(self, fault: Fault) -> bool:
        """Return whether to ask again: only while the reader has received nothing, so that nothing is repeated."""
        completion = self._completion
        # No reader saw an invalid reply.
        if completion and completion.received and not fault.invalid:
            return False
        if completion and self.run.server.quirks.learn(self.prompt.name, fault, completion.sent_fields):
            return True
        if completion and "tools" in completion.body and fault.concerns_tools:
            self._no_tools = fault
            return True
        # A local connection is made at once or refused: the delay was in this process, not in the server.
        late_ourselves = fault.refused and self.run.server.address.local
        if self._again or not (fault.again or late_ourselves):
            return False
        self._again = True
        self._in_words, self._schema_ignored = fault.invalid, fault.schema_ignored
        if not fault.invalid:
            # Only if the server failed; after an invalid reply there is nothing to wait for.
            await asyncio.sleep(PAUSE_SECONDS)
        return True

    async def _name_models(self, fault: Fault) -> Fault:
        """Return, for an unknown model, a fault that lists those served; `again` if the server has changed its model
        since.
        """
        completion = self._completion
        if fault.status != 404 or completion is None:
            return fault
        try:
            served = await self._clock.wait(self.run.server.served_model(fresh=True))
        except Exception as error:
            return self.run.server.fault(error)
        # The server was restarted with another model since the list was read.
        if served.model != completion.model:
            return replace(fault, again=True)
        if served.listed and served.model not in served.listed:
            return replace(fault, clause=describe_unserved(served.model, served.listed))
        return fault

    def _record(self, seconds: float, failed: str, reply: str) -> None:
        completion = self._completion
        call = ModelCall(
            prompt=self.prompt.name,
            seconds=seconds,
            first_token_seconds=self._clock.first_token or 0.0,
            prompt_tokens=completion.prompt_tokens if completion else 0,
            completion_tokens=completion.completion_tokens if completion else 0,
            failed=failed,
        )
        self.run.calls.append(call)
        if self.run.server.told is not None:
            self.run.server.told(call)
        if current_trace() is not None:
            self._trace(call, reply)

    def _trace(self, call: ModelCall, reply: str) -> None:
        """Record the call with the attributes of OpenTelemetry's conventions for generative AI."""
        noted: dict[str, Noted] = {"gen_ai.operation.name": "chat", "argot.prompt": call.prompt}
        completion = self._completion
        if completion is not None:
            noted |= {
                "gen_ai.provider.name": "vllm" if completion.usage_throughout else "openai",
                "gen_ai.request.model": completion.model,
                "gen_ai.request.max_tokens": completion.max_tokens,
                "gen_ai.usage.input_tokens": call.prompt_tokens,
                "gen_ai.usage.output_tokens": call.completion_tokens,
                "argot.first_token_seconds": call.first_token_seconds,
            }
        messages = completion.messages if completion is not None else self.messages
        contents = {
            "gen_ai.input.messages": _dump_messages(messages),
            "gen_ai.output.messages": _dump_messages([("assistant", reply)]),
        }
        if call.failed:
            contents["argot.failed"] = call.failed
        trace_call(call.seconds, call.prompt, "ModelCallFailed" if call.failed else "", noted, contents)


def _dump_messages(messages: Messages) -> str:
    parts = [{"role": role, "parts": [{"type": "text", "content": text}]} for role, text in messages]
    return json.dumps(parts, ensure_ascii=False)


def build_response_format(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": True}}


def add_form(messages: Messages, form: str) -> Messages:
    """Return the messages with the prompt's `form`, if it has one, after the system text."""
    (role, text), *rest = messages
    return [(role, f"{text}\n\n{form}"), *rest] if form else messages


def add_schema(messages: Messages, schema: dict[str, Any]) -> Messages:
    """Return the messages with the schema at the end of the system text, which is constant for a prompt, so that a
    prefix cache still works.
    """
    (role, text), *rest = messages
    return [(role, text + SCHEMA_IN_WORDS + json.dumps(schema, ensure_ascii=False)), *rest]
