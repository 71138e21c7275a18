"""The measurement of one row of an experiment on one part of its data: a value for each question and column."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from argot.errors import ModelUnavailable
from argot.evaluate.answer_questions import AnswerQuestion
from argot.evaluate.experiments.experiment import OF_ANSWERS
from argot.evaluate.experiments.oracle_triples import add_gold_triples
from argot.evaluate.experiments.question_measures import PARALLEL_QUESTIONS, FoundAnswer, measure_answers
from argot.evaluate.experiments.reference_rows import measure_matching
from argot.evaluate.experiments.row_work import Each, RowWork
from argot.evaluate.experiments.solution_scores import SolutionLoop
from argot.evaluate.experiments.suite_rows import measure_abbreviation_row, measure_quiz_row
from argot.evaluate.failure_tolerance import Patience, group_items
from argot.evaluate.gold_passages import GoldFinder
from argot.evaluate.temporary_base import EVALUATOR, Asker, TemporaryBase
from argot.profile import Profile
from argot.results import AskResult, FoundPassage
from argot.tools.retrieval.hybrid_search import WeightedQuery, hybrid_search
from argot.tools.retrieval.reranker import rerank
from argot.tools.retrieval.scorer_choice import choose_scorer
from argot.types import Document


async def measure_row(work: RowWork) -> Each:
    """Measure a row.

    Raises:
        ModelUnavailable: the model server is down.
        InvalidInput: a question cannot be asked.
    """
    if work.part.quiz:
        return await measure_quiz_row(work)
    match work.row.way:
        case "abbreviations":
            return await measure_abbreviation_row(work)
        case "matching":
            return await measure_matching(work)
        case "aspects":
            return await _measure_aspects(work)
    return await _measure_questions(work)


# -- questions that are asked, or only used for a search ---------------------------------------------------------------

LOOPS = ("s-icl", "s-icl by judge")
_Find = Callable[[AnswerQuestion], Awaitable[tuple[str, Sequence[FoundPassage]]]]
"""A question -> its answer (empty if there is none) and the passages found, best first."""


async def _measure_questions(work: RowWork) -> Each:
    found = await _find_answers(work)
    measures = {column.measure for column in work.columns if column.measure}

    def report_progress(done: int, total: int) -> None:
        if work.judges:
            work.progress(f"{work.name}: judging", done, total)

    values = await measure_answers(found, measures, work.judges, work.base.settings, report_progress)
    each: Each = {}
    for one, of_question in zip(found, values, strict=True):
        each[work.make_key(one.question.id)] = {
            column.key: of_question.get(column.measure)
            for column in work.columns
            if column.measure and column.task in ("", one.question.kind) and column.place in (None, one.gold_place)
        }
    return each


async def _find_answers(work: RowWork) -> list[FoundAnswer]:
    """Ask all questions. Those without a reply are left out: counted as wrong, they would measure the server."""
    documents = work.base.corpus.store.documents(EVALUATOR)
    find = _make_finder(work, documents)
    patience = Patience()

    async def look(question: AnswerQuestion) -> FoundAnswer | None:
        answers = await patience.wait(find(question))
        return _build_found_answer(work.base, question, *answers, documents) if answers is not None else None

    tried: list[FoundAnswer | None] = []
    # S-ICL uses what it learnt from one question in the next.
    for batch in group_items(work.part.questions, 1 if work.row.way in LOOPS else PARALLEL_QUESTIONS):
        tried += await asyncio.gather(*map(look, batch))
        work.progress(work.name, len(tried), len(work.part.questions))
    work.failed, work.reason = patience.failed, patience.reason
    return [one for one in tried if one is not None]


def _make_finder(work: RowWork, documents: Sequence[Document]) -> _Find:
    answers = any(column.measure in OF_ANSWERS for column in work.columns)
    profile = work.profile if answers else work.profile.model_copy(update={"generate_answer": False})
    if work.row.way == "rerank":
        return lambda question: asyncio.to_thread(_rank_all, work, profile, question)
    if work.row.way in LOOPS:
        return _find_by_solutions(work, profile)

    async def find(question: AnswerQuestion) -> tuple[str, Sequence[FoundPassage]]:
        gold = _find_gold_documents(question, documents) if work.row.way == "oracle" else frozenset()
        changed = add_gold_triples(work.base, gold) if work.row.way == "oracle" else None
        result = await work.base.make_asker(profile, work.server, changed)(question.question)
        _require_reply(result)
        return read_answer(result), result.passages

    return find


def _require_reply(result: AskResult) -> None:
    """Refuse a result without the model's reply: the quotations that replace it would be measured as the model's
    answer.

    Raises:
        ModelUnavailable: the model was asked for the answer, and failed.
    """
    failed = [call.failed for call in result.model_calls if call.prompt == "cited_answer" and call.failed]
    if failed and result.answered_by != "model":
        raise ModelUnavailable(f"The language model gave no answer: {failed[-1]}.")


def _find_by_solutions(work: RowWork, profile: Profile) -> _Find:
    assert work.server is not None, "the row needs a model"
    loop = SolutionLoop(work.server, work.judge if work.row.way == "s-icl by judge" else None)
    search = work.base.make_asker(profile.model_copy(update={"generate_answer": False}), work.server)

    async def find(question: AnswerQuestion) -> tuple[str, Sequence[FoundPassage]]:
        result = await search(question.question)
        return await loop.answer(question, result.passages), result.passages

    return find


def _rank_all(work: RowWork, profile: Profile, question: AnswerQuestion) -> tuple[str, Sequence[FoundPassage]]:
    """Return all candidates in the re-ranker's order, whatever their number (Trustworthy Answers, table 3)."""
    queries = [WeightedQuery(question.question)]
    hits = hybrid_search(work.base.corpus, EVALUATOR, queries, profile)
    ranked = rerank(queries, hits, choose_scorer(work.base.settings), profile, profile.candidates)
    return "", [
        FoundPassage(
            n=n,
            passage_id=hit.passage.id,
            document=hit.document.id,
            uri=hit.document.uri,
            page=hit.passage.page,
            heading=hit.passage.heading,
            text=hit.passage.text,
            score=hit.score,
        )
        for n, hit in enumerate(ranked, start=1)
    ]


def read_answer(result: AskResult) -> str:
    """Return the answer without citation marks, or an empty text if the question was not answered."""
    if result.status != "answered":
        return ""
    return " ".join(sentence.text for sentence in result.sentences)


def _build_found_answer(
    base: TemporaryBase,
    question: AnswerQuestion,
    answer: str,
    passages: Sequence[FoundPassage],
    documents: Sequence[Document],
) -> FoundAnswer:
    quoted = any(one.quote for one in question.gold)
    evidence = GoldFinder(base, documents).find_passages(question) if quoted else frozenset()
    by_uri = {document.uri: document.id for document in documents}
    return FoundAnswer(
        question=question,
        answer=answer,
        documents=tuple(dict.fromkeys(by_uri.get(passage.uri, passage.document) for passage in passages)),
        gold=_find_gold_documents(question, documents),
        evidence_found=any(one.passage_id in evidence for one in passages) if evidence else None,
    )


def _find_gold_documents(question: AnswerQuestion, documents: Sequence[Document]) -> frozenset[str]:
    """Return the ids of the documents that answer the question."""
    names = {one.document for one in question.gold}
    return frozenset(document.id for document in documents if any(document.uri.endswith(f"/{name}") for name in names))


# -- answers with and without passages (Trustworthy Answers 5.3.2) ----------------------------------------------------


_BothScores = tuple[Mapping[str, float], Mapping[str, float]]
"""The scores of the answer from memory, and of the answer from passages."""


async def _measure_aspects(work: RowWork) -> Each:
    """Judge both answers together. The row measured second takes its scores from `memory`."""
    known: dict[str, _BothScores] = work.memory.setdefault("aspects", {})
    rag = work.experiment.rows[-1]
    asker = work.base.make_asker(work.experiment.build_profile(rag), work.server)
    patience = Patience()

    async def judge_question(question: AnswerQuestion) -> None:
        if question.id not in known and (both := await patience.wait(_score_both(work, question, asker))):
            known[question.id] = both

    done = 0
    for batch in group_items(work.part.questions, PARALLEL_QUESTIONS):
        await asyncio.gather(*map(judge_question, batch))
        done += len(batch)
        work.progress(work.name, done, len(work.part.questions))
    work.failed, work.reason = patience.failed, patience.reason
    side = 0 if work.row.variant == "closed book" else 1
    return {
        work.make_key(id_): {column.key: both[side].get(column.key) for column in work.columns}
        for id_, both in known.items()
    }


async def _score_both(work: RowWork, question: AnswerQuestion, asker: Asker) -> _BothScores:
    assert work.server is not None and work.judge is not None, "the row needs a model"
    reply = await work.server.session([]).json("closed_book", question=question.question)
    closed, found = str(reply["answer"]), read_answer(await asker(question.question))
    reference = question.reference
    # The order of the answers is drawn at random, since judges have a position bias.
    one, other = await work.judges["aspects"].judge(question.question, reference, [closed or "-", found or "-"])
    return one.scores, other.scores
