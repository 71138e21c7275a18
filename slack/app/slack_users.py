"""People in Slack, known by their email address there, and their language; both are remembered for a few minutes."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from argot.service.knowledge_base import KnowledgeBase
from argot.slack import slack_scopes
from argot.slack.app.web_api import Calls
from argot.slack.slack_scopes import Scope
from argot.slack.store.slack_store import SlackStore

# Every question would otherwise cost a call; a changed address is known after this time.
PERSON_CACHE_SECONDS = 600
MAX_REMEMBERED_PEOPLE = 5000
MAX_MENTIONS = 5
_SLACK_ID = re.compile(r"\b[UW][A-Z0-9]{6,20}\b")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


@dataclass(frozen=True, slots=True)
class SlackPerson:
    """A person as Slack knows them. `email`: confirmed, and of Argot's own workspace; empty for anybody else.
    `language`: as in ISO 639-1; empty: Slack does not say.
    """

    email: str = ""
    language: str = ""


class SlackPeople:
    """The people of one workspace."""

    def __init__(self, kb: KnowledgeBase, calls: Calls, store: SlackStore) -> None:
        self.kb = kb
        self.store = store
        self.calls = calls
        self.team = ""
        """Our own workspace, once it is known. Slack's payload may name the workspace of the author or presser."""
        self._known: dict[str, tuple[float, SlackPerson]] = {}

    async def own_scope(self, team: str, user: str) -> Scope:
        """Return the scope of an answer to this person alone.

        Raises:
            NotAllowed: suspended.
        """
        linked = await self.kb.blocking(self.store.find_linked_user, team, user)
        email = "" if linked or not self.kb.settings.slack.link_by_email else (await self.find_person(user)).email
        return await self.kb.blocking(slack_scopes.build_own_scope, self.kb, team, user, email)

    async def find_home(self) -> str:
        """Find our own workspace; empty: Slack does not say now."""
        if not self.team:
            identity = await self.calls.try_call(self.calls.client.auth_test)
            self.team = str((identity or {}).get("team_id") or "")
        return self.team

    async def find_person(self, user: str) -> SlackPerson:
        """Return Slack's profile of a person; nothing if it does not answer."""
        at, person = self._known.get(user, (0.0, SlackPerson()))
        if time.monotonic() - at < PERSON_CACHE_SECONDS and at:
            return person
        answer = await self.calls.try_call(self.calls.client.users_info, user=user, include_locale=True)
        home = await self.find_home()
        # Not cached: the next question asks again.
        if answer is None or not home:
            return SlackPerson()
        profile = answer.get("user") or {}
        # "de-DE", a tag as in BCP 47.
        person = SlackPerson(_read_email(profile, home), str(profile.get("locale") or "").partition("-")[0].lower())
        while len(self._known) >= MAX_REMEMBERED_PEOPLE:
            # The oldest: a dict keeps the order of insertion.
            del self._known[next(iter(self._known))]
        self._known[user] = (time.monotonic(), person)
        return person

    async def find_contact(self, team: str, text: str) -> str:
        """Find the people that a context's contact names, as mentions ("<@U1>"); empty: nobody that Slack knows."""
        ids = [one for one in dict.fromkeys(_SLACK_ID.findall(text)[:MAX_MENTIONS]) if await self._is_there(one)]
        for email in dict.fromkeys(_EMAIL.findall(text)[:MAX_MENTIONS]):
            answer = await self.calls.try_call(self.calls.client.users_lookupByEmail, email=email)
            found = str(((answer or {}).get("user") or {}).get("id") or "")
            ids += [found] if found and found not in ids else []
        if not ids:
            links = await self.kb.blocking(self.store.list_links)
            ids = [slack for of, slack, name in links if of == team and name.casefold() == text.strip().casefold()]
        return " ".join(f"<@{one}>" for one in ids[:MAX_MENTIONS])

    async def _is_there(self, slack_id: str) -> bool:
        # A word in capitals (WAREHOUSE) looks like an id, too. People who left are not mentioned.
        answer = await self.calls.try_call(self.calls.client.users_info, user=slack_id)
        return bool(answer) and not ((answer or {}).get("user") or {}).get("deleted")


def _read_email(user: Mapping[str, Any], home: str) -> str:
    # Another company decides which addresses its people have: they would be admitted as ours. The same holds for bots.
    profile = user.get("profile") or {}
    teams = (user.get("enterprise_user") or {}).get("teams") or [user.get("team_id")]
    foreign = user.get("is_stranger") or home not in teams
    if foreign or user.get("deleted") or user.get("is_bot") or user.get("is_email_confirmed") is False:
        return ""
    return str(profile.get("email") or "")
