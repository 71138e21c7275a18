"""A `Deriver` that asks a language model: triples, summaries, questions and descriptions of passages.

    triple          KaPQA 5, step 1: what acts, what a user wants to do, on what
    expert_summary  Golden-Retriever 3.1: what about 4,000 tokens of passages tell an expert of their field
    summary         RAIDD 2.2, S: the passage in other words, given the summary of the one before
    question        RAIDD 2.2, Q: what the passage answers, 32 questions for 1,024 tokens
    description     Trustworthy Answers, figure 12: slides and tables in sentences

Pictures need a vision model: `picture_deriver`.

A passage that is too long for the model's context is processed in parts. A reply is checked against the passage
(`plausibility`). Its words are data, and the model never decides which passage it belongs to.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, takewhile
from typing import Any

from argot.corpus.ingestion.derivation import DERIVABLE_KINDS, DerivedBatch, Recipe, cut_sections
from argot.corpus.store.derived_ids import stamp_derived, stamp_triples
from argot.errors import ModelUnavailable
from argot.prompts.loader import prompt
from argot.results import ModelCall
from argot.tools.llm.faults import ContextOverflow
from argot.tools.llm.limits import Clock
from argot.tools.llm.model_server import ModelServer
from argot.tools.llm.plausibility import filter_questions, filter_text, filter_triples
from argot.tools.llm.session import Model
from argot.tools.llm.writing_systems import USUAL_CHARS_PER_TOKEN
from argot.types import PICTURE, DerivableKind, DerivedText, Passage, Triple

PROMPTS: dict[DerivableKind, tuple[str, ...]] = {
    "triple": ("triples",),
    "expert_summary": ("expert_summary",),
    "summary": ("summary_after",),
    "question": ("questions",),
    "description": ("slide_description", "table_description"),
    "picture": ("picture_description",),
}
TEXT_KINDS: tuple[DerivableKind, ...] = tuple(kind for kind in DERIVABLE_KINDS if kind != PICTURE)
"""Kinds that a language model makes."""
MAX_PARALLEL_CALLS = 4
"""Passages sent to the server at a time: enough to fill its batches, few enough to leave room for questions."""

QUESTIONS_PER_TOKEN = 32 / 1024
MAX_QUESTIONS = 32
MAX_PARTS = 16  # parts of one passage: bounds the calls it may take
MAX_PIECE_CHARS = 1200  # paragraphs are cut to this, to be combined into parts
MIN_PIECE_CHARS = 200  # characters: if these do not fit, nothing will

_ROW = re.compile(r"[ \t]{0,3}\|.*\|[ \t]*")
_DIVIDER = re.compile(r"[ \t]{0,3}\|[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|[ \t]*")


def name_prompts(kind: DerivableKind) -> str:
    """Return the names and versions of the prompts that make a kind, as they are stored."""
    return "+".join(f"{name}@{prompt(name).version}" for name in PROMPTS[kind])


class PassageFailed(ModelUnavailable):
    """The server answers, but its reply to one passage is unusable, or the passage is too long for it."""


@dataclass
class Usage:
    """Calls, seconds and tokens so far; `seconds` are summed over calls, even if these ran in parallel."""

    calls: int = 0
    seconds: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def add(self, calls: Sequence[ModelCall]) -> None:
        self.calls += len(calls)
        self.seconds += sum(call.seconds for call in calls)
        self.prompt_tokens += sum(call.prompt_tokens for call in calls)
        self.completion_tokens += sum(call.completion_tokens for call in calls)

    def take(self) -> Usage:
        """Return the usage since the last call."""
        taken = replace(self)
        self.calls, self.seconds, self.prompt_tokens, self.completion_tokens = 0, 0.0, 0, 0
        return taken


@dataclass
class ModelDeriver:
    """Derives texts of the given kinds. `model` is the server's name for its model; it is stored with the texts.

    Each passage and kind has its own run of the model, so that one bad reply spoils nothing else.
    """

    server: ModelServer
    model: str
    kinds: Collection[DerivableKind] = TEXT_KINDS
    spent: Usage = field(default_factory=Usage)

    @classmethod
    async def open(cls, server: ModelServer, kinds: Collection[DerivableKind] = TEXT_KINDS) -> ModelDeriver:
        """Return a deriver that uses the model the server serves.

        Raises:
            ModelUnavailable: it does not report one.
        """
        try:
            server.refuse_if_down()
            served = await Clock.of(server.settings).wait(server.served_model())
        except Exception as error:
            raise server.fault(error).error() from None
        return cls(server, served.model, kinds)

    @property
    def name(self) -> str:
        return " ".join([*(self.recipe(kind).prompt for kind in TEXT_KINDS if kind in self.kinds), "by", self.model])

    def recipe(self, kind: DerivableKind) -> Recipe:
        return Recipe(kind, name_prompts(kind), self.model)

    # -- the protocol -------------------------------------------------------------------------------------------------

    async def triples(self, passages: Sequence[Passage]) -> list[Triple]:
        """Return at most 35 triples for each passage, each occurring in it word for word.

        Raises:
            ModelUnavailable: the server fails at one of them.
        """
        if "triple" not in self.kinds:
            return []
        made = await _gather_bounded([_bind_call(self.make, "triple", [passage]) for passage in passages])
        return [triple for one in made for triple in one.triples]

    async def derived_texts(self, passages: Sequence[Passage]) -> list[DerivedText]:
        """Return texts of the wanted kinds, kind by kind, each in the order of the passages.

        Raises:
            ModelUnavailable: the server fails at one of them.
        """
        texts: list[DerivedText] = []
        for kind in TEXT_KINDS:
            if kind == "triple" or kind not in self.kinds:
                continue
            if kind == "summary":
                made = await self._make_summaries(passages)
            else:
                made = await _gather_bounded(
                    [_bind_call(self.make, kind, part) for part in _split_sections(kind, passages)]
                )
            texts += [text for one in made for text in one.texts]
        return texts

    async def _make_summaries(self, passages: Sequence[Passage]) -> list[DerivedBatch]:
        # Sequential: each prompt contains the previous summary.
        made: list[DerivedBatch] = []
        document, previous = "", ""
        for passage in passages:
            previous = previous if passage.document_id == document else ""
            document = passage.document_id
            made.append(await self.make("summary", [passage], previous))
            previous = made[-1].texts[-1].text if made[-1].texts else previous
        return made

    # -- one task -----------------------------------------------------------------------------------------------------

    async def make(self, kind: DerivableKind, passages: Sequence[Passage], previous: str = "") -> DerivedBatch:
        """Return everything that one recipe makes from these passages; nothing, without a call, if it does not apply to
        them.

        Args:
            passages: consecutive passages of one document; several only for a kind in `SECTION_CHARS`.
            previous: for a `summary`: the summary of the previous passage.

        Raises:
            PassageFailed: other passages may still succeed.
            ModelUnavailable: the server fails.
        """
        calls: list[ModelCall] = []
        passage = _join_passages(passages)
        work = _DerivationTask(self.server.session(calls), kind, passage, self._build_inputs(kind, passage))
        try:
            triples, texts = await _MAKERS[kind](work, previous)
        except ModelUnavailable as error:
            if work.model.failed is None:
                raise PassageFailed(str(error)) from error
            raise
        finally:
            self.spent.add(calls)
        recipe, speaks_for = self.recipe(kind), tuple(one.id for one in passages)
        derived = [
            # Triples come without texts; the replacement of their kind only satisfies the type checker.
            DerivedText("", "summary" if kind == "triple" else kind, text, speaks_for, recipe.prompt, recipe.model)
            for text in texts
        ]
        return DerivedBatch(recipe, passages, stamp_derived(derived, passages), stamp_triples(triples, passages))

    def _build_inputs(self, kind: DerivableKind, passage: Passage) -> dict[str, str]:
        """Return the prompt's inputs beside the passage."""
        settings = self.server.settings
        heading = passage.heading or passage.header
        match kind:
            case "triple":
                return {"heading": heading, "product": settings.product, "forbidden_words": settings.forbidden_words}
            case "expert_summary":
                return {"title": passage.header, "product": settings.product}
            case _:
                return {"title": passage.header}


@dataclass
class _DerivationTask:
    """One kind of text to be made from one passage, or from several as one."""

    model: Model
    kind: DerivableKind
    passage: Passage
    inputs: dict[str, str]

    async def cut_parts(self, name: str, data: str, text: str, **more: str) -> list[str]:
        """Return the text in as few parts as the model's context accepts; usually one."""
        pieces = _cut_pieces(text, MAX_PIECE_CHARS)
        parts: list[str] = []
        while pieces and len(parts) < MAX_PARTS:
            try:
                part = await self.model.fit(name, data, pieces, **self.inputs, **more)
            except ContextOverflow:
                # A single paragraph that is too long is halved until it fits.
                if len(pieces[0]) <= MIN_PIECE_CHARS:
                    raise
                pieces = [*_cut_pieces(pieces[0], len(pieces[0]) // 2), *pieces[1:]]
                continue
            # `fit` returns the text of the pieces that fitted, not their number.
            taken = next(n for n in range(len(pieces), 0, -1) if "\n\n".join(pieces[:n]) == part)
            parts, pieces = [*parts, part], pieces[taken:]
        return parts

    async def json(self, name: str, **data: str) -> dict[str, Any]:
        return await self.model.json(name, choices=None, **self.inputs, **data)

    def filter_plausible(self, said: str) -> list[str]:
        text = filter_text(said, self.kind, self.passage)
        return [text] if text else []

    async def write(self, name: str, data: str, text: str) -> list[str]:
        """Return the replies in plain text, one for each part."""
        found: list[str] = []
        for part in await self.cut_parts(name, data, text):
            found += self.filter_plausible(await self.model.whole_text(name, **self.inputs, **{data: part}))
        return found


_Result = tuple[list[Triple], list[str]]


async def _make_triples(work: _DerivationTask, _: str) -> _Result:
    triples: list[dict[str, Any]] = []
    for part in await work.cut_parts("triples", "passage", work.passage.text):
        triples += (await work.json("triples", passage=part))["triples"]
    return filter_triples(triples, work.passage), []


async def _make_expert_summary(work: _DerivationTask, _: str) -> _Result:
    texts: list[str] = []
    for part in await work.cut_parts("expert_summary", "passage", work.passage.text):
        texts += work.filter_plausible((await work.json("expert_summary", passage=part))["summary"])
    return [], texts


async def _make_summary(work: _DerivationTask, previous: str) -> _Result:
    """Parts are cut with room for the longest previous summary, so that all of them are known beforehand."""
    texts: list[str] = []
    for part in await work.cut_parts("summary_after", "passage", work.passage.text, previous=previous):
        before = texts[-1][: max(len(previous), MAX_PIECE_CHARS)] if texts else previous
        reply = await work.json("summary_after", passage=part, previous=before)
        texts += work.filter_plausible(reply["summary"])
    return [], texts


async def _make_questions(work: _DerivationTask, _: str) -> _Result:
    questions: list[str] = []
    # Measured with the longest count, so that any smaller one fits in the prompt.
    for part in await work.cut_parts("questions", "passage", work.passage.text, count=str(MAX_QUESTIONS)):
        reply = await work.json("questions", passage=part, count=str(_count_questions(part)))
        questions += reply["questions"][: _count_questions(part)]
    return [], list(filter_questions(questions, work.passage))


async def _make_description(work: _DerivationTask, _: str) -> _Result:
    """Describe a slide as a whole, else each table of a passage; other passages get no description."""
    if work.passage.page_kind == "slide":
        return [], await work.write("slide_description", "slide", work.passage.text)
    texts: list[str] = []
    for table in _find_tables(work.passage.text):
        texts += await work.write("table_description", "table", table)
    return [], texts


_MAKERS: dict[DerivableKind, Callable[[_DerivationTask, str], Awaitable[_Result]]] = {
    "triple": _make_triples,
    "expert_summary": _make_expert_summary,
    "summary": _make_summary,
    "question": _make_questions,
    "description": _make_description,
}


# -- parts ------------------------------------------------------------------------------------------------------------


def _split_sections(kind: DerivableKind, passages: Sequence[Passage]) -> Iterator[list[Passage]]:
    for _, group in groupby(passages, lambda passage: passage.document_id):
        of_document = list(group)
        for part in cut_sections(kind, [len(passage.text) for passage in of_document]):
            yield [of_document[n] for n in part]


def _join_passages(passages: Sequence[Passage]) -> Passage:
    """Combine several passages into one, under the headings that they share. Their own headings are in their texts."""
    headers = [passage.header.split(" > ") for passage in passages]
    shared = [same[0] for same in takewhile(lambda same: len(set(same)) == 1, zip(*headers, strict=False))]
    return replace(passages[0], text="\n\n".join(passage.text for passage in passages), header=" > ".join(shared))


def _count_questions(text: str) -> int:
    # RAIDD asks for 32 questions per 1,024 tokens; a shorter text gets its share of them.
    return max(1, min(MAX_QUESTIONS, round(len(text) / USUAL_CHARS_PER_TOKEN * QUESTIONS_PER_TOKEN)))


def _cut_pieces(text: str, longest: int) -> list[str]:
    """Return the text's paragraphs, none longer than this; longer ones are cut at line ends, sentence ends or
    blanks.
    """
    pieces: list[str] = []
    for paragraph in re.split(r"\n[ \t]*\n", text):
        rest = paragraph.strip("\n")
        while len(rest) > longest:
            # Not in the first half: a piece of a few words would waste a call.
            cut = max(rest.rfind(end, longest // 2, longest) for end in ("\n", ". ")) + 1
            cut = cut or rest.rfind(" ", longest // 2, longest) + 1 or longest
            pieces.append(rest[:cut].rstrip())
            rest = rest[cut:].lstrip()
        pieces.append(rest)
    return [piece for piece in pieces if piece.strip()]


def _find_tables(text: str) -> list[str]:
    """Return the Markdown tables of a text: runs of rows that contain the line between head and body."""
    tables: list[str] = []
    rows: list[str] = []
    # The empty line closes a table at the end of the text.
    for line in [*text.splitlines(), ""]:
        if _ROW.fullmatch(line):
            rows.append(line)
            continue
        if any(_DIVIDER.fullmatch(row) for row in rows):
            tables.append("\n".join(rows))
        rows = []
    return tables


def _bind_call(make: Callable[..., Awaitable[DerivedBatch]], *arguments: Any) -> Callable[[], Awaitable[DerivedBatch]]:
    # Not a coroutine: one that never runs, after a failure, would warn that it was never awaited.
    return lambda: make(*arguments)


async def _gather_bounded(calls: Sequence[Callable[[], Awaitable[DerivedBatch]]]) -> list[DerivedBatch]:
    """Return the results in order, `MAX_PARALLEL_CALLS` at a time; the first failure ends the others."""
    gate = asyncio.Semaphore(MAX_PARALLEL_CALLS)

    async def one(call: Callable[[], Awaitable[DerivedBatch]]) -> DerivedBatch:
        async with gate:
            return await call()

    tasks = [asyncio.create_task(one(call)) for call in calls]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
