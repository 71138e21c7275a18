"""The choices in the forms of the workbench: sets of pairs, and profiles that can be used."""

from __future__ import annotations

from typing import Any

from argot.service.knowledge_base import KnowledgeBase
from argot.service.question_sets import find_question_sets
from argot.service.usecases.questions.profiles import profile_list
from argot.types import Principal


async def list_choices(kb: KnowledgeBase, principal: Principal) -> dict[str, Any]:
    """List the names of sets (`sets`) and profiles (`profiles`), and the page that makes sets (`making`)."""
    sets = find_question_sets()
    return {
        "sets": await kb.blocking(sets.list_names, kb, principal) if sets else [],
        "making": sets and sets.page,
        "profiles": [one.name for one in await profile_list(kb, principal) if not one.problem],
    }
