"""The questions of a rating study that a person may see."""

from __future__ import annotations

from collections.abc import Sequence

from argot.errors import NotFound
from argot.ratings.study import Answer, Study, StudyItem
from argot.service.knowledge_base import KnowledgeBase
from argot.types import Principal


def select_ready_items(study: Study, items: Sequence[StudyItem]) -> list[StudyItem]:
    """Select the questions that every profile has answered. Nobody may see the others yet: more answers are still to be
    added.
    """
    # Passages are added all together, from one profile.
    wanted = set(study.profiles) if study.kind == "answers" else set()
    return [one for one in items if one.answers and wanted <= {answer.system for answer in one.answers}]


def select_readable_items(
    kb: KnowledgeBase, principal: Principal, study: Study, items: Sequence[StudyItem]
) -> list[StudyItem]:
    """Select the questions that this person may rate: they may read all that the answers rest on. Blocks."""
    # Answers that askers share by a thumb are only for managers of all contexts (docs/chat.md).
    if study.origin == "thumbs" and not principal.manages_all:
        return []
    ready = select_ready_items(study, items)
    sources = [answer.sources for item in ready for answer in item.answers]
    documents: set[str] = set()
    if any(one.documents for one in sources):
        documents = {one.uri for one in kb.document_store.documents(principal)}
    senses = {id_ for id_ in {id_ for one in sources for id_ in one.senses} if _may_read_sense(kb, principal, id_)}

    def may_read(answer: Answer) -> bool:
        return documents.issuperset(answer.sources.documents) and senses.issuperset(answer.sources.senses)

    return [one for one in ready if all(map(may_read, one.answers))]


def _may_read_sense(kb: KnowledgeBase, principal: Principal, sense_id: int) -> bool:
    try:
        kb.glossary.senses.get(principal, sense_id)
    except NotFound:
        return False
    return True
