"""Work that is started during a wait: it is exactly what is needed afterwards, and no answer depends on it."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from argot.corpus.embedding.text_cache import TextCache
from argot.graph import prefetch, run
from argot.graph.build import build_graph
from argot.graph.nodes import augment_question
from argot.graph.prefetch import DraftPrefetch
from argot.graph.run_context import build_run_context
from argot.profile import Profile
from argot.protocols import AnswerRequest, Vectors
from argot.results import AskResult
from argot.tools.llm.model_server import ModelServer
from argot.types import Principal

EXPLICIT = "What is the Word Line voltage during a read?"
JARGON = "What is the WL voltage during a read?"
ANSWER = "The Word Line voltage during a read is 4.5 V [1]."


class Quoting:
    """A quoting stub that counts its calls."""

    def __init__(self, writer: Any) -> None:
        self.writer, self.asked = writer, 0

    async def write(self, request: AnswerRequest) -> AsyncIterator[str]:
        self.asked += 1
        async for piece in self.writer.write(request):
            yield piece


def run_of(kb: Any, scripted: Any | None = None) -> Any:
    settings = scripted.settings(home=kb.folder) if scripted else kb.settings
    server = ModelServer.from_settings(settings) if scripted else None
    return build_run_context(kb.corpus, kb.glossary, Principal("ann"), Profile(), settings, server=server)


async def answered(given: Any, question: str) -> AskResult:
    *_, last = [event async for event in run.ask(build_graph(InMemorySaver()), given, question, "t")]
    assert isinstance(last.data, AskResult)
    return last.data


@pytest.mark.parametrize(
    ("reply", "asked"),
    [
        pytest.param("Pigs fly [1]. So do cows.", 1, id="unsupported"),
        pytest.param(f"{ANSWER} Pigs fly.", 0, id="supported"),
    ],
)
async def test_quotations_are_looked_for_once_and_only_where_a_model_writes_unsupported_text(
    tiny_kb: Any, scripted_model: Any, reply: str, asked: int
) -> None:
    scripted_model.reply("cited_answer", reply)
    given = run_of(tiny_kb, scripted_model)
    quoting = Quoting(given.quoting)
    result = await answered(replace(given, quoting=quoting), EXPLICIT)
    assert result.status == "answered"
    assert "4.5 V" in result.answer
    assert quoting.asked == asked


async def test_a_draft_is_checked_each_time_its_length_doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def checked(draft: str, *_: Any) -> list[Any]:
        looked.append(draft)
        return []

    monkeypatch.setattr(prefetch, "check_draft", checked)
    one = DraftPrefetch(AnswerRequest("?", "?", [], []), None, "?")  # type: ignore[arg-type]
    pieces: list[str] = []
    for _ in range(9):
        for piece in ("One", " more", ". "):
            pieces.append(piece)
            one.receive(pieces)
            await one.wait()
    assert [draft.count(".") for draft in looked] == [1, 2, 4, 8]
    one.receive(["Taken", " back", ". "])
    await one.wait()
    assert looked[-1] == "Taken back. "


async def test_a_draft_is_not_checked_inside_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    monkeypatch.setattr(prefetch, "check_draft", lambda draft, *_: looked.append(draft) or [])
    one = DraftPrefetch(AnswerRequest("?", "?", [], []), None, "?")  # type: ignore[arg-type]
    pieces: list[str] = []
    for piece in ("It is ", "4", ".", "5", " V", " [1]", ".", " So"):
        pieces.append(piece)
        one.receive(pieces)
        await one.wait()
    assert looked == ["It is 4.5 V [1]. "]


def list_texts(
    vectors: TextCache[Any], name: str, listed: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """List each text that is embedded for this cache."""
    embed = vectors._compute

    def embed_listed(texts: Sequence[str]) -> Vectors:
        listed.extend((name, text) for text in texts)
        return embed(texts)

    monkeypatch.setattr(vectors, "_compute", embed_listed)


def forget_vectors(embedder: Any) -> None:
    embedder._queries.clear()
    embedder._searches.clear()


@pytest.mark.parametrize("question", [EXPLICIT, JARGON])
async def test_only_needed_texts_are_embedded_ahead_and_only_once(
    tiny_kb: Any, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    embedder, embedded = tiny_kb.corpus.embedder, []
    for name in ("_queries", "_searches"):
        list_texts(getattr(embedder, name), name, embedded, monkeypatch)
    forget_vectors(embedder)
    ahead_of_time = (await answered(run_of(tiny_kb), question)).answer, sorted(embedded)
    monkeypatch.setattr(run, "embed_question_ahead", lambda *_: None)
    monkeypatch.setattr(augment_question, "embed_ahead", lambda *_: None)
    forget_vectors(embedder)
    embedded.clear()
    assert ((await answered(run_of(tiny_kb), question)).answer, sorted(embedded)) == ahead_of_time
    assert len(embedded) == len(set(embedded))
