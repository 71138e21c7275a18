"""KaPQA's oracle (7.2): the triples of a question's gold documents instead of retrieved ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, cast

from argot.evaluate.temporary_base import EVALUATOR, TemporaryBase
from argot.graph.run_context import ReaderAndWriter, RunContext
from argot.protocols import QuestionReader
from argot.results import ModelCall
from argot.types import Triple


class OracleReader:
    """A reader that enhances every query with the relevant gold triples, and otherwise works like the given reader."""

    def __init__(self, reader: QuestionReader, gold: Sequence[Triple]) -> None:
        self._reader = reader
        self._gold = list(gold)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    async def relevant_triples(self, question: str, triples: Sequence[Triple]) -> list[Triple]:
        # The query enhancement chooses the triples, because the graph skips this call if no triple was retrieved.
        return list(triples)

    async def enhance_query(self, question: str, triples: Sequence[Triple]) -> str:
        relevant = await self._reader.relevant_triples(question, self._gold) if self._gold else []
        return await self._reader.enhance_query(question, relevant)


def add_gold_triples(base: TemporaryBase, documents: Collection[str]) -> Callable[[RunContext], RunContext]:
    """Return a function that gives the run's context a reader that knows the triples of these documents (ids),
    whichever triples are retrieved.
    """
    gold = load_triples(base, documents)

    def change_run(run: RunContext) -> RunContext:
        made = run.reader_and_writer
        if made is None:
            return replace(run, reader=_build_oracle(run.reader, gold))

        def make_reader_and_writer(calls: list[ModelCall]) -> ReaderAndWriter:
            both = made(calls)
            return replace(both, reader=_build_oracle(both.reader, gold))

        return replace(run, reader_and_writer=make_reader_and_writer)

    return change_run


def _build_oracle(reader: QuestionReader, gold: Sequence[Triple]) -> QuestionReader:
    return cast(QuestionReader, OracleReader(reader, gold))


def load_triples(base: TemporaryBase, documents: Collection[str]) -> list[Triple]:
    connection = base.corpus.store.database.connection()
    ids = [
        id_
        for document in sorted(documents)
        for (id_,) in connection.execute("SELECT id FROM triples WHERE document = ? ORDER BY id", (document,))
    ]
    found = base.corpus.store.triples(EVALUATOR, ids)
    return [found[id_] for id_ in ids if id_ in found]
