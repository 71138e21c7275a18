"""Writes answers with a language model, from fenced passages, in pieces as they come (`AnswerWriter`)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from argot.errors import ModelUnavailable
from argot.prompts.loader import number_lines, prompt
from argot.protocols import RETRACTION, AnswerRequest
from argot.tools.answering.citation_marks import MarkFilter
from argot.tools.llm.completion import Messages
from argot.tools.llm.faults import ContextOverflow
from argot.tools.llm.limits import TAIL_CHARS, is_repeating
from argot.tools.llm.passage_fences import wrap_passages
from argot.tools.llm.prompt_echo import EchoStop
from argot.tools.llm.refusal import RefusalGate
from argot.tools.llm.token_budget import PIECE_SEPARATOR
from argot.tools.llm.unusable_replies import find_reply_fault
from argot.types import Hit

if TYPE_CHECKING:
    from argot.tools.llm.session import Model

PROMPT = "cited_answer"


class ModelWriter:
    """One run's writer. Closing the iterator of `write` stops the server's work.

    The text is a draft: its marks only say which passage the model had in mind, and `match_references` decides.
    """

    def __init__(self, model: Model, *, product: str = "", forbidden_words: str = "") -> None:
        """
        Args:
            model: one run's use of the server.
            product: the subject of the documents, as the prompt may name it.
            forbidden_words: words the answer shall not use, between commas.
        """
        self._model = model
        self._product = product
        self._forbidden_words = forbidden_words

    async def write(self, request: AnswerRequest) -> AsyncGenerator[str]:
        """Yield the answer's pieces; none if the passages do not contain it.

        A prompt that turns out too long for the model is tried once more with half the passages.

        Raises:
            ModelUnavailable: the server failed, or its model repeated itself. Some pieces may have been yielded before.
        """
        hits = list(request.hits)
        sent = False
        while hits:
            try:
                async with aclosing(self._write_once(request, hits)) as pieces:
                    async for piece in pieces:
                        sent = True
                        yield piece
                return
            except ContextOverflow:
                # Not after a piece, which cannot be taken back; not twice, since each attempt costs the asker seconds.
                if sent or len(hits) < len(request.hits) or len(hits) == 1:
                    raise
                hits = hits[: len(hits) // 2]

    async def _write_once(self, request: AnswerRequest, hits: Sequence[Hit]) -> AsyncGenerator[str]:
        """Make one attempt; refusals, echoes and marks without a passage are filtered while it streams."""
        question, definitions = _split_question(request)
        inputs = {
            "question": question,
            "definitions": definitions,
            "product": self._product,
            "forbidden_words": self._forbidden_words,
            "parts": number_lines(request.parts),
            "compared": number_lines(request.compared),
        }
        fenced = wrap_passages(hits, request.cut_lists)
        passages = await self._model.fit(PROMPT, "passages", fenced, **inputs)
        shown = _count_fitted(fenced, passages)
        texts = [hit.passage.text for hit in hits]
        reply = _ReplyFilter(shown, texts)
        async with aclosing(self._model.text(PROMPT, passages=passages, **inputs)) as pieces:
            async for piece in pieces:
                if piece is RETRACTION:
                    reply = _ReplyFilter(shown, texts)  # the answer begins again, and may still be a refusal
                    yield piece
                elif out := reply.feed(piece):
                    yield out
                # Ends the server's work. A first echo is read to its end: it may be a thought about the prompt.
                if reply.refused or (reply.echoes and self._model.quirks.echoes):
                    break
        self._model.quirks.echoes |= reply.echoes
        reply.refuse_if_useless()
        if out := reply.rest():
            yield out


class _ReplyFilter:
    """The part of a reply that is passed on: no refusal, no echo of the prompt, no mark without a passage."""

    def __init__(self, shown: int, passages: Sequence[str]) -> None:
        """
        Args:
            shown: how many passages the prompt has.
            passages: their texts.
        """
        self._refusal = RefusalGate()
        self._echo = EchoStop(prompt(PROMPT).inputs + prompt(PROMPT).optional)
        self._marks = MarkFilter(shown)
        self._passages = passages
        self._reply = ""
        self._said = False

    @property
    def refused(self) -> bool:
        return self._refusal.refused

    @property
    def echoes(self) -> bool:
        """True if the reply continues with its own prompt; only its end shows whether that was a thought about it."""
        return self._echo.found

    def feed(self, piece: str) -> str:
        self._reply += piece
        # In this order: refusals are detected in the raw reply, and marks last, in the text that is sent.
        return self._out(self._echo.feed(self._refusal.feed(piece)))

    def rest(self) -> str:
        held = self._echo.feed(self._refusal.rest()) + self._echo.rest()
        return self._out(held) + self._marks.rest()

    def _out(self, text: str) -> str:
        self._said = self._said or bool(text.strip())
        return self._marks.feed(text)

    def refuse_if_useless(self) -> None:
        """Refuse a reply that is no answer.

        Raises:
            ModelUnavailable: the reply repeated itself, or was nothing but its own prompt, or claimed nothing.
        """
        # Detected only by the end: the session stops such a text, and does not report it here.
        is_loop = not (self.refused or self.echoes) and is_repeating(self._reply[-TAIL_CHARS:])
        fault = "repeated itself and was stopped" if is_loop else ""
        if self._echo.found and not self._said:
            fault = "sent its own prompt instead of an answer"
        fault = fault or ("" if self.refused else find_reply_fault(self._reply, self._passages))
        if fault:
            raise ModelUnavailable(f"The language model server {fault}.")


def build_answer_messages(question: str, passages: Sequence[str]) -> Messages:
    """Return the messages for a question and its passages in their fences, in the form in which a tuned model is
    trained.
    """
    return prompt(PROMPT).messages(passages=PIECE_SEPARATOR.join(passages), question=question)


def _split_question(request: AnswerRequest) -> tuple[str, str]:
    """Return the question, and the additions of the augmented one (Golden-Retriever 3.5): its context and its terms."""
    if request.augmented.startswith(request.question):
        return request.question, request.augmented[len(request.question) :].strip()
    return request.augmented or request.question, ""


def _count_fitted(fenced: Sequence[str], fitted: str) -> int:
    """Return how many passages are in the prompt: the first ones, since the weakest are dropped."""
    return sum(f'<passage n="{n}"' in fitted for n in range(1, len(fenced) + 1))
