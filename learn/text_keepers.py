"""The pairs and the trainings as keepers of documents' text."""

from __future__ import annotations

from pathlib import Path

from argot.learn.run_folder import list_every_run
from argot.learn.store.pair_store import PairStore
from argot.learn.training_pairs import PoolPassage
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.text_keepers import Erasure, TextKeeper
from argot.service.storage import home_folder as layout


async def _erase_pairs(kb: KnowledgeBase, erasure: Erasure) -> None:
    if await kb.blocking(kb.stores.holds, "learning"):
        gone = erasure.documents
        await kb.blocking(kb.open_store(PairStore).erase_documents, gone.ids, gone.passages, erasure.is_quoted)


async def _erase_trainings(kb: KnowledgeBase, erasure: Erasure) -> None:
    runs = kb.home.absolute() / layout.RUNS
    if runs.is_dir():
        await kb.blocking(_erase_from_runs, runs, erasure)


def _erase_from_runs(runs: Path, erasure: Erasure) -> None:
    def is_gone(passage: PoolPassage) -> bool:
        return erasure.is_gone(passage.id) or erasure.is_quoted(passage.text, [passage.id])

    for run in list_every_run(runs):
        run.erase_texts(is_gone)


PAIRS = TextKeeper(
    "training pairs",
    "questions and answers made of passages, and imported passages",
    tables=("pairs", "set_documents", "sets", "steps"),
    folders=(layout.LEARNING,),
    erase=_erase_pairs,
)
TRAININGS = TextKeeper(
    "trainings",
    "pairs and passages that a model learns from; not what the model has learnt, which stays until it is removed",
    folders=(layout.LEARNING_FOLDER,),
    erase=_erase_trainings,
)
