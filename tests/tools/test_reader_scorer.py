from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from shared_models import copy_exported_embedder
from tiny_reader import tiny_cross_encoder, tiny_model

from argot.corpus.embedding.exported_models import export_once
from argot.errors import InvalidSettings
from argot.learn.reader.export import write_reader
from argot.profile import Profile
from argot.protocols import Scorer
from argot.settings import Settings
from argot.tools.retrieval import scorer_choice
from argot.tools.retrieval.cross_encoder import CrossEncoderScorer
from argot.tools.retrieval.hybrid_search import WeightedQuery
from argot.tools.retrieval.reader_export import export_reader
from argot.tools.retrieval.reader_scorer import ReaderScorer
from argot.tools.retrieval.reranker import READ_PASSAGES, LexicalScorer, rerank
from argot.tools.retrieval.scorer_choice import READER_SOURCE_MODEL, choose_scorer, describe_scorer, load_scorer
from argot.tools.retrieval.token_vectors import MODEL_FILES
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


def test_the_reader_is_a_scorer_with_scores_from_0_to_1(reader: ReaderScorer) -> None:
    assert isinstance(reader, Scorer)
    for judged in (reader.score, reader.answers):
        scores = judged(QUESTION, TEXTS)
        assert len(scores) == len(TEXTS) and all(0 <= score <= 1 for score in scores)
        assert judged(QUESTION, []) == []
        assert judged("", TEXTS) == [0, 0, 0]
    assert reader.score(QUESTION, TEXTS)[2] == 0 == reader.answers(QUESTION, TEXTS)[2]


def test_a_text_with_the_same_words_scores_highest(reader: ReaderScorer) -> None:
    scores = reader.score("the training takes 6 microseconds .", TEXTS)
    assert scores[0] == max(scores) > 0.95


def test_likeness_is_the_cosine_similarity_of_whole_texts(reader: ReaderScorer) -> None:
    alike = reader.likeness(TEXTS[0], TEXTS)
    assert alike[0] == pytest.approx(1, abs=0.01) and -1 <= alike[1] < alike[0] and alike[2] == 0
    assert reader.likeness(TEXTS[0], []) == []


def test_a_text_once_read_is_cached(reader: ReaderScorer) -> None:
    (once,), (again,) = reader.read_texts(["Lunch is paid by badge."]), reader.read_texts(["Lunch is paid by badge."])
    assert once is again
    alone = reader.read_texts(["training"])[0].vectors
    assert np.allclose(np.linalg.norm(alone.astype(np.float32), axis=1), 1, atol=0.01)


def test_reranking_reads_the_best_passages_and_keeps_all(reader: ReaderScorer) -> None:
    found = hits(READ_PASSAGES + 5)
    query = [WeightedQuery(QUESTION)]
    ordered = rerank(query, found, reader, Profile())
    by_words = rerank(query, found, LexicalScorer(), Profile())
    assert {hit.passage.id for hit in ordered} == {hit.passage.id for hit in found}
    assert [hit.passage.id for hit in ordered[READ_PASSAGES:]] == [hit.passage.id for hit in by_words[READ_PASSAGES:]]
    assert [hit.score for hit in ordered] == sorted((hit.score for hit in ordered), reverse=True)
    assert all(0 <= hit.score <= 1 for hit in ordered)
    assert rerank(query, [], reader, Profile()) == []


def test_a_passage_without_a_word_of_the_question_is_read_if_the_search_put_it_first(reader: ReaderScorer) -> None:
    document = hits(1)[0].document
    texts = ["Lunch is paid by badge.", *(f"How long does the training take in room {n}?" for n in range(30))]
    found = [
        Hit(Passage(f"p{n}", "d", "r", n, 0, len(one), one, ""), document, 0.5 if n else 0.8)
        for n, one in enumerate(texts)
    ]
    query = [WeightedQuery("How long does the training take?")]
    by_words = rerank(query, found, LexicalScorer(), Profile())
    assert by_words[-1].passage.id == "p0"
    read: list[str] = []

    class RecordingReader(ReaderScorer):
        def score_and_answers(self, query: str, texts: Sequence[str]) -> tuple[list[float], list[float]]:
            read.extend(texts)
            return super().score_and_answers(query, texts)

    rerank(query, found, RecordingReader(reader.folder, LexicalScorer(), threads=1), Profile())
    assert len(read) == READ_PASSAGES and texts[0] in read


def test_a_passage_is_scored_by_its_best_matching_query(reader: ReaderScorer) -> None:
    found = hits(2)
    document = found[0].document
    texts = ["The canteen opens at noon.", "Leave is asked for by mail."]
    found = [Hit(Passage(f"p{n}", "d", "r", n, 0, 9, one, ""), document, 0.5) for n, one in enumerate(texts)]
    first, other = WeightedQuery("Leave is asked for by mail."), WeightedQuery("The canteen opens at noon.", 0.01)
    alone = rerank([first], found, reader, Profile())
    both = rerank([first, other], found, reader, Profile())
    assert [hit.passage.id for hit in alone] == [hit.passage.id for hit in both] == ["p1", "p0"]
    assert both[0].score - both[1].score < alone[0].score - alone[1].score


def test_the_reader_is_exported_on_first_use(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    settings = Settings(threads=1, cache=copy_exported_embedder(tmp_path / "cache"))
    scorer = choose_scorer(settings)
    assert isinstance(scorer, ReaderScorer) and not scorer.folder.exists()
    assert choose_scorer(settings) is scorer
    scores = scorer.score(
        "Who approves the tariff?", ["The commission approves each tariff.", "Poles are ten feet high."]
    )
    assert scores[0] > scores[1]
    assert [one.getMessage() for one in caplog.records if "is made ready in" in one.getMessage()]
    assert scorer.card["steps"] == 0 and scorer.card["started_from"] == READER_SOURCE_MODEL
    assert [one.name for one in scorer.folder.parent.glob(".export-*")] == []


def test_concurrent_exports_create_one_reader(tmp_path: Path) -> None:
    exported, _ = export_once(READER_SOURCE_MODEL, Settings().cache)
    with ThreadPoolExecutor() as both:
        for done in [both.submit(export_reader, exported, tmp_path / "made", "model") for _ in range(2)]:
            done.result()
    assert {one.name for one in (tmp_path / "made").iterdir()} == {*MODEL_FILES}
    assert [one.name for one in tmp_path.iterdir()] == ["made"]


def test_an_untrained_reader_equals_its_encoder(tmp_path: Path) -> None:
    """Check that the graph cut from the embedder's equals the one that a training starts with."""
    texts = ["The commission approves each tariff."]
    write_reader(None, READER_SOURCE_MODEL, tmp_path)
    traced, cut = ReaderScorer(tmp_path, LexicalScorer(), threads=1), choose_scorer(Settings(threads=1))
    assert isinstance(cut, ReaderScorer)
    one, other = traced.read_texts(texts)[0], cut.read_texts(texts)[0]
    assert np.allclose(one.vectors, other.vectors, atol=1e-3)
    assert one.weights.std() < 1e-4 and other.weights.std() == 0
    assert traced.card["readings"] == cut.card["readings"]


def test_a_reader_that_cannot_be_exported_names_the_alternative(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scorer_choice, "export_once", lambda *_: (tmp_path / "nothing", None))
    with pytest.raises(InvalidSettings, match=r"reader cannot be made .*'reranker' = 'lexical'"):
        choose_scorer(Settings(threads=2, cache=tmp_path)).score("?", ["nothing"])


def test_the_reranker_is_chosen_by_its_setting(folder: Path, tmp_path: Path) -> None:
    assert isinstance(choose_scorer(Settings(reranker="lexical")), LexicalScorer)
    assert isinstance(choose_scorer(None), LexicalScorer)
    assert describe_scorer(Settings(reranker="lexical")) == "lexical, without a model"
    trained = Settings(reranker=str(folder))
    chosen = choose_scorer(trained)
    assert isinstance(chosen, ReaderScorer) and chosen.folder == folder and choose_scorer(trained) is chosen
    assert f"{folder}, not tuned on your documents, from " in describe_scorer(trained)


def test_any_cross_encoder_can_be_the_reranker(tmp_path: Path) -> None:
    wanted = Settings(reranker=str(tiny_cross_encoder(tmp_path / "ranks")))
    scorer = choose_scorer(wanted)
    assert isinstance(scorer, CrossEncoderScorer) and isinstance(scorer, Scorer) and choose_scorer(wanted) is scorer
    scores = scorer.score(QUESTION, TEXTS)
    assert len(scores) == len(TEXTS) and all(0 <= score <= 1 for score in scores)
    assert len(set(scores)) == len(TEXTS) and scorer.score(QUESTION, []) == []
    assert describe_scorer(wanted) == f"cross-encoder {wanted.search.reranker}"
    found = hits(5)
    ordered = rerank([WeightedQuery(QUESTION)], found, scorer, Profile())
    assert {hit.passage.id for hit in ordered} == {hit.passage.id for hit in found}


@pytest.mark.parametrize("name", ["no-such/model", "lexcal", "/nonexistent", "two words"])
def test_an_unknown_model_name_is_refused_without_network_access(name: str, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(InvalidSettings, match="neither 'reader' nor 'lexical'") as refused:
        load_scorer(Settings(reranker=name))
    assert "huggingface" not in str(refused.value) and not caplog.records


def test_the_setting_lexical_ignores_case() -> None:
    assert isinstance(choose_scorer(Settings(reranker="LEXICAL")), LexicalScorer)


def test_a_model_that_is_not_a_cross_encoder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match=r"'no-such/model', .*neither 'reader' nor 'lexical'.*Set 'reader'"):
        load_scorer(Settings(reranker="no-such/model"))
    several = Settings(reranker=str(tiny_cross_encoder(tmp_path / "classifies", labels=3)))
    with pytest.raises(InvalidSettings, match="gives 3 scores"):
        load_scorer(several)
