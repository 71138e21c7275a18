from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from tiny_reader import tiny_model

from argot.errors import InvalidSettings
from argot.learn.reader.export import write_reader
from argot.profile import Profile
from argot.protocols import Scorer
from argot.settings import Settings
from argot.tools.retrieval.hybrid_search import WeightedQuery
from argot.tools.retrieval.reader_scorer import ReaderScorer
from argot.tools.retrieval.reranker import READ, LexicalScorer, rerank
from argot.tools.retrieval.scorer_choice import scorer_for
from argot.types import Document, Hit, Passage

QUESTION = "How long does the training take?"
TEXTS = ["The training takes 6 microseconds.", "The canteen opens at noon. Lunch is paid by badge.", ""]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("reader")
    write_reader(None, str(tiny_model(tmp_path_factory.mktemp("model"))), made)
    return made


@pytest.fixture(scope="module")
def reader(folder: Path) -> ReaderScorer:
    return ReaderScorer(folder, LexicalScorer(), threads=1)


def hits(count: int) -> list[Hit]:
    document = Document("d", "file:///d.md", "D", "text/markdown", "r", "h", "2026-01-01")
    texts = [f"{TEXTS[n % 2]} {n}" for n in range(count)]
    return [
        Hit(Passage(f"p{n}", "d", "r", n, 0, len(one), one, ""), document, 1 / (n + 1)) for n, one in enumerate(texts)
    ]


def test_reader_is_a_scorer_within_bounds(reader: ReaderScorer) -> None:
    assert isinstance(reader, Scorer)
    for judged in (reader.score, reader.answers, reader.support):
        scores = judged(QUESTION, TEXTS)
        assert len(scores) == len(TEXTS) and all(0 <= score <= 1 for score in scores)
        assert judged(QUESTION, []) == []
        assert judged("", TEXTS) == [0, 0, 0]
    assert reader.score(QUESTION, TEXTS)[2] == 0 == reader.answers(QUESTION, TEXTS)[2]


def test_same_words_match_best(reader: ReaderScorer) -> None:
    scores = reader.score("the training takes 6 microseconds .", TEXTS)
    assert scores[0] == max(scores) > 0.95


def test_sentences_are_judged_where_they_stand(reader: ReaderScorer) -> None:
    text = TEXTS[1]
    first, second, beyond = reader.select(QUESTION, text, [(0, 26), (27, len(text)), (len(text), len(text) + 5)])
    assert 0 < first < 1 and 0 < second < 1 and beyond == 0
    (read,) = reader.read([text])
    assert read.part(0, 26).spans.max() == 26 and len(read.part(0, 26).ids) == 6


def test_what_was_read_is_remembered(reader: ReaderScorer) -> None:
    (once,), (again,) = reader.read(["Lunch is paid by badge."]), reader.read(["Lunch is paid by badge."])
    assert once is again
    alone = reader.read(["training"])[0].vectors
    assert np.allclose(np.linalg.norm(alone.astype(np.float32), axis=1), 1, atol=0.01)


def test_rerank_reads_the_best_and_keeps_all(reader: ReaderScorer) -> None:
    found = hits(READ + 5)
    query = [WeightedQuery(QUESTION)]
    ordered = rerank(query, found, reader, Profile())
    by_words = rerank(query, found, LexicalScorer(), Profile())
    assert {hit.passage.id for hit in ordered} == {hit.passage.id for hit in found}
    assert [hit.passage.id for hit in ordered[READ:]] == [hit.passage.id for hit in by_words[READ:]]
    assert [hit.score for hit in ordered] == sorted((hit.score for hit in ordered), reverse=True)
    assert all(0 <= hit.score <= 1 for hit in ordered)
    assert rerank(query, [], reader, Profile()) == []


def test_reader_serves_where_it_is_wanted_and_prepared(folder: Path, tmp_path: Path) -> None:
    assert isinstance(scorer_for(Settings()), LexicalScorer)
    assert isinstance(scorer_for(None), LexicalScorer)
    wanted = Settings(reranker="reader", threads=1, cache=tmp_path)
    with pytest.raises(InvalidSettings, match=r"python -m argot\.learn\.reader export"):
        scorer_for(wanted)
    shutil.copytree(folder, tmp_path / "reader")
    chosen = scorer_for(wanted)
    assert isinstance(chosen, ReaderScorer) and scorer_for(wanted) is chosen
