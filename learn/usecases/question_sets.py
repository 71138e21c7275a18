"""The sets of pairs as questions that other wings measure on."""

from __future__ import annotations

from argot.learn.store.pair_store import PairQuery, PairStore
from argot.learn.usecases.pair_sets import find_visible_set, list_visible_sets
from argot.service.knowledge_base import KnowledgeBase
from argot.service.question_sets import PassageQuestion, QuestionSets
from argot.types import Principal


def list_finished_sets(kb: KnowledgeBase, principal: Principal) -> list[str]:
    """List the names of the finished sets that a person may see, newest first."""
    return [one.name for one in list_visible_sets(kb, principal) if one.status == "done"]


def _load_questions(kb: KnowledgeBase, principal: Principal, name: str, part: str) -> list[PassageQuestion]:
    found = find_visible_set(kb, principal, name)
    kept = kb.open_store(PairStore).pairs(found.name, PairQuery(part=part, state="kept"))
    # A cloze question stands word for word in its passage; a pair with a passage of its own was imported.
    return [
        PassageQuestion(one.id, one.question, one.passage_id, one.answer)
        for one in kept
        if one.kind != "cloze" and not one.passage
    ]


SETS = QuestionSets(
    list_names=list_finished_sets,
    require_visible=find_visible_set,
    load_questions=_load_questions,
    page="/workbench/data",
    command="argot learn data show",
)
