"""The behaviour of every `QuestionReader`, whatever its implementation.

Another implementation joins by adding its factory to `READERS`; a factory gets the small knowledge base and a scripted
model server, which simulates a model that understands these questions but adds unwanted output.
"""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tiny_base import TinyBase, close_base, open_base

from argot.protocols import QuestionReader
from argot.tools.llm.fallback import build_reader
from argot.tools.llm.model_server import ModelServer
from argot.tools.llm.structured_output import strip_unprintable
from argot.tools.reading.extractive_reader import ExtractiveReader
from argot.types import Context, Principal, Triple, Turn

ANN = Principal("ann")
MEGABYTE = "PUC (x) 40MUBO, why? " * 50_000
CONTEXTS = [
    Context(1, "NAND", "Memory cells, layout and word lines of NAND flash chips"),
    Context(2, "Legal", "Tariffs, filings and regulation of utilities"),
    Context(3, "archive"),
]
TRIPLES = [
    Triple("t1", "Media panel", "trim", "drive", "p1"),
    Triple("t2", "tariff handbook", "file", "tariff", "p2"),
    Triple("t3", "crop tool", "edit", "video", "p3"),
]
HISTORY = [Turn("What is the die area of PUC?", "25 percent less.")]
QUESTIONS = [
    "What is PUC?",
    "How do I trim a drive in the MPL?",
    "10ns NIRE/QMB at 40MUBO for PUCs and the word line?",
    "SLA (stereolithography) of the PUC 🙂 – „WL“ é tCCS?",
    "and for the tariff?",
    "why?",
    "",
    "   ",
    "🙂🙃",
    "\u200b\ufeffPUC\u0301",
    "'; DROP TABLE senses; -- PUC NEAR( OR *",
    "PUC\n\n\tWL\r\nPUC",
]


def extractive(kb: Any, _: Any = None) -> QuestionReader:
    def senses() -> Any:
        return kb.glossary.senses.find(ANN, status="approved")

    return ExtractiveReader(kb.glossary.lookup.matcher(ANN), kb.corpus.store, ANN, kb.corpus.embedder, senses)


def extractive_alone(kb: Any, _: Any) -> QuestionReader:
    return ExtractiveReader(kb.glossary.lookup.matcher(ANN), None, ANN, None)


def model(kb: Any, scripted: Any) -> QuestionReader:
    return _with_model(kb, _understanding(scripted), spare=False)


def model_spared(kb: Any, scripted: Any) -> QuestionReader:
    return _with_model(kb, _understanding(scripted), spare=True)


def model_down(kb: Any, scripted: Any) -> QuestionReader:
    scripted.fault("refuse")
    return _with_model(kb, scripted, spare=False)


def _with_model(kb: Any, scripted: Any, *, spare: bool) -> QuestionReader:
    server = ModelServer.from_settings(scripted.settings())
    assert server is not None
    return build_reader(server.session([]), extractive(kb), kb.glossary, kb.corpus.store, ANN, spare=spare)


def _understanding(scripted: Any) -> Any:
    def given(request: Any, name: str) -> str:
        found = re.search(rf"<{name}>\n(.*?)\n</{name}>", request.user, re.DOTALL)
        return found[1] if found else ""

    def jargon(request: Any) -> dict[str, Any]:
        said = re.findall(r"\w*[A-Z]{2,}\w*", given(request, "question"))
        return {"terms": [*(term[:60] for term in said), "Good Till Cancelled", "what"][:20]}

    def relevant(request: Any) -> list[int]:
        question = given(request, "question")
        lines = re.findall(r"(\d+)\. \(.*?, (\w+), (\w+)\)", given(request, "triples"))
        return [int(number) for number, action, target in lines if action in question and target in question]

    def enhanced(request: Any) -> str:
        return f"{given(request, 'question')} in the Media panel"[:400]

    def alone(request: Any) -> dict[str, str]:
        question = given(request, "question")
        return {"question": question.replace("its", "the PUC's")[:600] or "?"}

    scripted.reply("identify_jargon", jargon)
    scripted.reply("identify_context", {"reasoning": "It may be.", "context": "Legal"})
    scripted.reply("triple_relevance", lambda request: {"relevant": [*relevant(request), 99]})
    scripted.reply("enhance_query", lambda request: {"query": enhanced(request)})
    scripted.reply("reformulate", lambda request: {"relevant": relevant(request), "query": enhanced(request)})
    scripted.reply("rewrite_query", lambda request: {"query": given(request, "question")[:400]})
    scripted.reply("stand_alone", alone)
    return scripted


READERS: list[Callable[[Any, Any], QuestionReader]] = [extractive, extractive_alone, model, model_spared, model_down]


@pytest.fixture(scope="module")
def kb(tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TinyBase]:
    """Provide the small knowledge base, once: readers do not change it."""
    base = open_base(shutil.copytree(tiny_home, tmp_path_factory.mktemp("read") / "kb"))
    yield base
    close_base(base)


@pytest.fixture(params=READERS, ids=lambda make: make.__name__)
def reader(request: pytest.FixtureRequest, kb: TinyBase, scripted_model: Any) -> QuestionReader:
    made: QuestionReader = request.param(kb, scripted_model)
    return made


def test_every_implementation_is_a_question_reader(reader: QuestionReader) -> None:
    assert isinstance(reader, QuestionReader)


@pytest.mark.parametrize("question", [*QUESTIONS, MEGABYTE], ids=lambda q: q[:20] or "empty")
async def test_mentions_are_in_order_within_the_question_and_do_not_overlap(
    reader: QuestionReader, question: str
) -> None:
    end = 0
    for mention in await reader.identify_jargon(question):
        assert question[mention.start : mention.end] == mention.surface
        assert mention.surface.strip()
        assert mention.start >= end
        end = mention.end


async def test_known_and_unknown_terms_are_found(reader: QuestionReader) -> None:
    mentions = await reader.identify_jargon("How does the PUC reach the QMB?")
    assert [(m.surface, m.term) for m in mentions] == [("PUC", "PUC"), ("QMB", None)]


async def test_an_ordinary_question_has_no_jargon(reader: QuestionReader) -> None:
    assert await reader.identify_jargon("How long does it take to print a PDF over USB?") == []


async def test_a_meaning_given_in_the_question_is_kept(reader: QuestionReader) -> None:
    (mention,) = await reader.identify_jargon("What does SLA (stereolithography) cost?")
    assert mention.explained == "stereolithography"


@pytest.mark.parametrize("question", [*QUESTIONS, MEGABYTE], ids=lambda q: q[:20] or "empty")
async def test_only_given_contexts_are_returned_with_scores(reader: QuestionReader, question: str) -> None:
    scores = await reader.identify_context(question, CONTEXTS)
    names = [score.context for score in scores]
    assert set(names) <= {context.name for context in CONTEXTS}
    assert len(names) == len(set(names))
    assert all(0 < score.score <= 1 for score in scores)
    assert sum(score.score for score in scores) <= 1 + 1e-6
    assert [score.score for score in scores] == sorted((score.score for score in scores), reverse=True)


async def test_without_contexts_none_is_identified(reader: QuestionReader) -> None:
    assert await reader.identify_context("What is PUC?", []) == []


@pytest.mark.parametrize("question", [*QUESTIONS, MEGABYTE], ids=lambda q: q[:20] or "empty")
async def test_only_given_triples_are_relevant(reader: QuestionReader, question: str) -> None:
    relevant = await reader.relevant_triples(question, TRIPLES)
    assert all(triple in TRIPLES for triple in relevant)
    assert len(relevant) == len(set(relevant))
    assert await reader.relevant_triples(question, []) == []


async def test_only_the_triple_that_fits_the_question_is_kept(reader: QuestionReader) -> None:
    assert await reader.relevant_triples("How do I trim my drive?", TRIPLES) == [TRIPLES[0]]
    assert await reader.relevant_triples("How is the moon made?", TRIPLES) == []


@pytest.mark.parametrize("question", [*QUESTIONS, MEGABYTE], ids=lambda q: q[:20] or "empty")
async def test_an_enhanced_query_is_bounded_and_equals_the_question_without_triples(
    reader: QuestionReader, question: str
) -> None:
    plain = await reader.enhance_query(question, [])
    assert plain in {question, strip_unprintable(question)}  # what nobody sees does not come back from a model
    enhanced = await reader.enhance_query(question, TRIPLES)
    assert len(enhanced) <= 2 * len(question) + 20


@pytest.mark.parametrize("question", [*QUESTIONS, MEGABYTE], ids=lambda q: q[:20] or "empty")
async def test_without_history_a_question_is_unchanged(reader: QuestionReader, question: str) -> None:
    assert await reader.stand_alone(question, []) == question


@pytest.mark.parametrize("question", [*QUESTIONS, MEGABYTE], ids=lambda q: q[:20] or "empty")
async def test_a_stand_alone_question_is_never_empty(reader: QuestionReader, question: str) -> None:
    stand_alone = await reader.stand_alone(question, HISTORY)
    assert bool(stand_alone.strip()) or not question.strip()


async def test_a_complete_question_is_unchanged_by_history(reader: QuestionReader) -> None:
    question = "How many days before it takes effect must a tariff be filed?"
    assert await reader.stand_alone(question, HISTORY) == question


async def test_a_follow_up_takes_over_the_topic(reader: QuestionReader) -> None:
    assert "PUC" in await reader.stand_alone("What about its voltage?", HISTORY)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q[:20] or "empty")
async def test_reading_a_question_is_reproducible(reader: QuestionReader, question: str) -> None:
    async def everything() -> list[Any]:
        return [
            await reader.stand_alone(question, HISTORY),
            await reader.identify_jargon(question),
            await reader.identify_context(question, CONTEXTS),
            await reader.relevant_triples(question, TRIPLES),
            await reader.enhance_query(question, TRIPLES),
        ]

    assert await everything() == await everything()
