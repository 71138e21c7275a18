"""Names under which people asked in Slack. Their rows are erased with the others of people.db."""

from __future__ import annotations

from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.personal_keepers import PersonalKeeper
from argot.slack.store.slack_store import SlackStore


async def _find_names(kb: KnowledgeBase, name: str) -> list[str]:
    linked = await kb.blocking(SlackStore(kb.people.database).list_links)
    return [f"slack:{team}:{slack_user}" for team, slack_user, user in linked if user == name]


KEEPER = PersonalKeeper(other_names=_find_names)
