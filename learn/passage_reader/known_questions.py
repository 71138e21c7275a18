"""The examples from `lay_train`: employees' questions about documents, with the sentences that answer marked.

Argot itself cuts the documents into passages and searches them, so that the wrong passages are those that it would
mistake for right ones. None of the data may be added to the repository.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from argot.corpus.corpus import Corpus
from argot.corpus.ingestion.sources import list_sources
from argot.json_text import json_lines
from argot.learn.passage_reader.examples import NO_PART, OPEN, PART, Example, JudgedPassage, write_examples
from argot.learn.passage_reader.written_questions import read_written_questions
from argot.profile import Profile
from argot.settings import Settings
from argot.tools.answering.quoting import read_units
from argot.tools.answering.support import support
from argot.tools.retrieval.hybrid_search import WeightedQuery, hybrid_search
from argot.tools.retrieval.passage_reader import measure_passages
from argot.tools.retrieval.passage_windows import read_passage_text
from argot.tools.retrieval.quoted_passages import QuotationFinder, fold_prose
from argot.tools.retrieval.reader_scorer import ReaderScorer
from argot.tools.retrieval.reranker import rerank
from argot.tools.retrieval.scorer_choice import load_scorer
from argot.types import EVERYONE, Passage, Principal

RIGHT_PASSAGES, WRONG_PASSAGES = 3, 5
"""Passages of one example at most: those that answer, and others."""
MAX_FOUND_PASSAGES = 12
"""The best passages of a search, from which the wrong ones are taken."""
MIN_PART_SHARE, MAX_NO_PART_SHARE = 0.7, 0.4
"""The least share of words in common with a gold quotation for a part of the answer, and the share below which a unit
is no part. Between them its label is `OPEN`."""
_MIN_PART_CHARS = 12  # characters; a shorter text is in a quotation by chance
TRAINER = Principal("training", sees_all=True)


def prepare_examples(sets: Iterable[Path], work: Path, split: str, settings: Settings) -> Iterator[tuple[str, Path]]:
    """Write the examples of each set into `work`, and yield its name and file; an existing file is kept, and a set
    without a question of the split is left out.

    A set is a folder with `documents`, and with `questions.jsonl` unless all its questions come with Argot. Its
    knowledge base, which takes a minute or two, is kept in `work`.
    """
    for folder in sorted(sets, key=lambda one: one.name):
        name, rows = folder.name, read_questions(folder)
        target = work / f"{name}.{split}.jsonl"
        if not target.is_file() and any(row["split"] == split for row in rows):
            with open_base(folder, work, settings) as corpus:
                write_examples(ExampleMaker(corpus, name, settings).make(rows, split), target)
        if target.is_file():
            yield name, target


def read_questions(folder: Path) -> list[dict[str, Any]]:
    """Read the questions of a set, and those that were written for training."""
    file = folder / "questions.jsonl"
    own = [row for _, row in json_lines(file)] if file.is_file() else []
    return own + read_written_questions(folder.name, folder / "documents")


@contextmanager
def open_base(folder: Path, work: Path, settings: Settings) -> Iterator[Corpus]:
    """Open the knowledge base of a set, which is kept in `work`; what it lacks of the documents is added first."""
    work.mkdir(parents=True, exist_ok=True)
    corpus = Corpus.open(work / "bases" / folder.name, settings)
    try:
        for _ in corpus.add(list_sources([folder / "documents"]), audience=EVERYONE, tags=()):
            pass
        yield corpus
    finally:
        corpus.close()


class ExampleMaker:
    """Makes examples of questions over one knowledge base."""

    def __init__(self, corpus: Corpus, source: str, settings: Settings) -> None:
        self._corpus, self._source = corpus, source
        scorer = load_scorer(settings)
        if not isinstance(scorer, ReaderScorer):
            raise TypeError("the passage reader is trained over the token vectors of the setting 'reranker' = 'reader'")
        self._scorer = scorer
        self._quotations = QuotationFinder()
        self._addresses = {one.id: one.uri for one in corpus.store.documents(TRAINER)}
        self._passages = [one for id_ in self._addresses for one in corpus.store.passages_of(TRAINER, id_)]

    def make(self, rows: Sequence[dict[str, Any]], split: str) -> Iterator[Example]:
        """Make the examples of one split. Training sees no passage of a document that belongs to another split."""
        held_back = list_held_back(rows) if split == "train" else set()
        for row in rows:
            if row["split"] == split:
                judged = tuple(self._judge_passages(row, held_back))
                # A question whose quotation runs over the end of a passage teaches nothing.
                if judged and (not row["gold"] or any(one.relevant for one in judged)):
                    yield Example(self._source, row["id"], row["question"], judged)

    def _judge_passages(self, row: dict[str, Any], held_back: set[str]) -> Iterator[JudgedPassage]:
        quotes = list_quotes(row)
        right = self._quotations.find_passages(quotes, self._passages)
        queries, known = [WeightedQuery(row["question"], 1.0)], {one.id for one in right}
        found = hybrid_search(self._corpus, TRAINER, queries, Profile())
        hits = rerank(queries, found, self._scorer, Profile(), judged=False)
        scores = {hit.passage.id: hit.score for hit in hits}
        wrong = [hit.passage for hit in hits[:MAX_FOUND_PASSAGES] if hit.passage.id not in known]
        wrong = [one for one in wrong if not ends_with_name(self._addresses[one.document_id], held_back)]
        chosen = [*right[:RIGHT_PASSAGES], *wrong[:WRONG_PASSAGES]]
        for one in sorted(chosen, key=lambda one: -scores.get(one.id, 0.0)):
            yield self._judge(row["question"], one, quotes if one.id in known else (), scores.get(one.id, 0.0))

    def _judge(self, question: str, passage: Passage, quotes: Sequence[str], score: float) -> JudgedPassage:
        (measured,) = measure_passages(self._scorer, question, [passage])
        if measured.whole is None:
            raise ValueError(f"nothing was read of the question '{question}' or of passage {passage.id}")
        units, may_answer = read_units(passage.with_columns), tuple(map(bool, measured.may_answer))
        labels = tuple(
            judge_unit(unit.text, quotes) if may else OPEN for unit, may in zip(units, may_answer, strict=True)
        )
        text = read_passage_text(passage)
        return JudgedPassage(bool(quotes), text, labels, may_answer, measured.units, measured.whole, score)


def list_quotes(row: Mapping[str, Any]) -> list[str]:
    """List the quotations that answer a question, as readers extract them from its documents."""
    quotes = [_read_quote(one["document"], one["quote"]) for one in row["gold"]]
    return quotes + [_read_quote(one["document"], one["sentence"]) for one in row.get("also", ())]


def judge_unit(text: str, quotes: Sequence[str]) -> int:
    """Label a unit by the quotations that answer: a part of the answer if it is in one or has one; else by the words in
    common; without quotations no part.
    """
    share = max((_measure_part(text, quote) for quote in quotes), default=0.0)
    return PART if share >= MIN_PART_SHARE else NO_PART if share < MAX_NO_PART_SHARE else OPEN


def _measure_part(text: str, quote: str) -> float:
    own, wanted = fold_prose(text), fold_prose(quote)
    if own and wanted and (wanted in own or (own in wanted and len(own) >= _MIN_PART_CHARS)):
        return 1.0
    return max(support(quote, text), support(text, quote) if len(own.split()) >= 4 else 0.0)


def list_held_back(rows: Sequence[dict[str, Any]]) -> set[str]:
    """List the documents of the questions that are not for training."""
    held: set[str] = set()
    for row in rows:
        if row["split"] != "train":
            held |= {gold["document"] for gold in row["gold"]}
            held |= {row[name] for name in ("nearest_document", "near_document") if row.get(name)}
    return held


def _read_quote(document: str, quote: str) -> str:
    return html.unescape(quote) if document.endswith((".html", ".htm")) else quote


def ends_with_name(address: str, names: Iterable[str]) -> bool:
    """Return whether a document's address ends with one of these names."""
    return any(address.endswith(f"/{name}") for name in names)
