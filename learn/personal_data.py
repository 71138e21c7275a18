"""Questions of a person in sets of pairs and in trainings, to be erased."""

from __future__ import annotations

from argot.jargon_db.store.privacy import ERASED
from argot.learn.run_folder import list_every_run
from argot.learn.store.pair_store import PairStore
from argot.learn.tuning_plan import erase_person_from_plans
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.personal_keepers import PersonalKeeper
from argot.service.storage.home_folder import RUNS


async def _erase_questions(kb: KnowledgeBase, names: list[str]) -> int:
    return await kb.blocking(_erase, kb, names)


def _erase(kb: KnowledgeBase, names: list[str]) -> int:
    """Erase these people's questions from sets of pairs and from the folders of trainings, and
    their names from tunings.
    """
    known = kb.stores.holds("learning")
    asked = kb.open_store(PairStore).asked_by(names) if known else set()
    # The folders first: if this is interrupted and begun again, the sets still tell which questions were theirs.
    questions = sum(run.erase_person(names, asked, ERASED) for run in list_every_run(kb.home.absolute() / RUNS))
    tunings = erase_person_from_plans(kb.home.absolute(), names, ERASED)
    return questions + tunings + (kb.open_store(PairStore).erase_person(names, ERASED) if known else 0)


KEEPER = PersonalKeeper(erase=_erase_questions)
