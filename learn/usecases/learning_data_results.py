"""Sets of training pairs and their pairs, as shown to people who may see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from pydantic import Field

from argot.learn.store.pair_store import PairStore
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.usecase_registry import Text
from argot.types import Principal
from argot.work.job_types import JobRecord

if TYPE_CHECKING:
    from argot.learn.store.pair_store import PairSet, StoredPair
    from argot.work.job_types import Jobs

DataKind = Literal["heading", "definition", "cloze", "asked", "twins", "standard", "alternative", "simple", "complex"]
DATA_KINDS: tuple[DataKind, ...] = get_args(DataKind)
WITHOUT_MODEL: tuple[DataKind, ...] = ("heading", "definition", "cloze", "asked", "twins")
PairPart = Literal["", "train", "validation", "test"]
PAIR_PARTS: tuple[PairPart, ...] = get_args(PairPart)
PairStateAsked = Literal["", "kept", "struck", "corrected"]
PAIR_STATES: tuple[PairStateAsked, ...] = get_args(PairStateAsked)
DEFAULT_SEED = 7
MAX_SHOWN_PAIRS = 200

Words = Annotated[Text, Field(max_length=500)]
Question = Annotated[Text, Field(min_length=1, max_length=1000)]
Answer = Annotated[Text, Field(max_length=10_000)]

PAIRS = "pairs"
"""The kind of the jobs that make sets of training pairs."""


@dataclass(frozen=True, slots=True)
class DataSet:
    """A set of pairs: how it was made, and its content. `pairs` are those not struck, `by_kind` and `by_part` count
    them.

    `status`: "making", "stopped" (the same command goes on there) or "done"; `done` of `total` passages were gone
    through. `left_out`: how many pairs, by reason. `fault`: why its
    making in the background ended.
    """

    name: str
    created: str
    created_by: str
    seed: int
    kinds: list[str]
    limit: int
    tags: list[str]
    model: str
    status: Literal["making", "stopped", "done"]
    done: int
    total: int
    pairs: int
    struck: int
    corrected: int
    by_kind: dict[str, int]
    by_part: dict[str, int]
    left_out: dict[str, int]
    fault: str


@dataclass(frozen=True, slots=True)
class DataPair:
    """A pair with its passage. `document_id` is empty where the passage came with an import and is not in the base.

    `first_question`, `first_answer`: as they were made, where somebody corrected them. `passage` is empty where it is
    not in the documents any more: the pair is then in no training.
    """

    id: str
    question: str
    answer: str
    kind: str
    part: str
    state: str
    passage_id: str
    passage: str
    document: str
    document_id: str
    first_question: str | None
    first_answer: str | None
    changed_by: str
    changed_at: str


@dataclass(frozen=True, slots=True)
class DataFound:
    """A set, some of its pairs, and the number of pairs that match."""

    set: DataSet
    pairs: list[DataPair]
    total: int


@dataclass(frozen=True, slots=True)
class ExportedData:
    """The unstruck pairs of a set as JSONL; `name` is the file's."""

    name: str
    text: str
    pairs: int


@dataclass(frozen=True, slots=True)
class RemovedData:
    name: str
    pairs: int


async def list_making_jobs(jobs: Jobs) -> dict[str, JobRecord]:
    """Return the newest job of each set that was being made lately, by the name of the set."""
    return {job.label: job for job in reversed(await jobs.list_jobs(PAIRS))}


async def is_being_made(kb: KnowledgeBase, name: str) -> bool:
    jobs = await list_making_jobs(kb.jobs)
    return name in jobs and jobs[name].is_under_way


def describe_set(kb: KnowledgeBase, one: PairSet, jobs: Mapping[str, JobRecord]) -> DataSet:
    """Describe a set. `jobs`: those of `list_making_jobs`."""
    from argot.learn.store.pair_store import PairQuery

    store, made = kb.open_store(PairStore), one.made
    status: Literal["making", "stopped", "done"] = "stopped"
    job = jobs.get(one.name)
    if job is not None and job.is_under_way:
        status = "making"
    # Its making may have ended since `one` was read.
    elif one.status == "done" or store.get_set(one.name).status == "done":
        status = "done"
    kept, struck, corrected = (
        store.count(one.name, PairQuery(state=state)) for state in ("kept", "struck", "corrected")
    )
    return DataSet(
        one.name, one.created, one.created_by, one.seed, list(made["kinds"]), made["limit"], list(made["tags"]),
        made["model"], status, one.done, one.total, kept, struck, corrected, store.counts(one.name, "kind"),
        store.counts(one.name, "part"), dict(one.left_out), job.error if job and status == "stopped" else "",
    )  # fmt: skip


def add_passages(kb: KnowledgeBase, principal: Principal, stored: list[StoredPair]) -> list[DataPair]:
    found = kb.document_store.passages(principal, [one.passage_id for one in stored if not one.passage])
    shown = []
    for one in stored:
        passage, document, id_ = one.passage, one.document, ""
        if not passage:
            document = ""
        if not passage and one.passage_id in found:
            of = found[one.passage_id]
            passage, document, id_ = of[0].with_header, of[1].name, of[1].id
        shown.append(
            DataPair(
                id=one.id, question=one.question, answer=one.answer, kind=one.kind, part=one.part, state=one.state,
                passage_id=one.passage_id, passage=passage, document=document, document_id=id_,
                first_question=one.first_question, first_answer=one.first_answer, changed_by=one.changed_by,
                changed_at=one.changed_at,
            )
        )  # fmt: skip
    return shown
