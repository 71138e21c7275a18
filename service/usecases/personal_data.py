"""What is kept of a person, for them to read and to have erased."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from argot.clock import timestamp
from argot.errors import NotFound
from argot.service.identity.people import LOCAL_NAME
from argot.service.json_values import jsonable
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.scrubbing import scrubbed
from argot.service.usecases.attachments import thread_files
from argot.service.usecases.threads import delete_thread, thread_read
from argot.service.usecases.usecase_registry import Text, usecase
from argot.types import Principal

if TYPE_CHECKING:
    from argot.service.threads.thread_store import Thread


@usecase("asker")
async def my_data(kb: KnowledgeBase, principal: Principal) -> dict[str, Any]:
    """Everything that is kept of oneself, as `user_export` has it."""
    return await _exported(kb, principal)


@usecase("admin")
async def user_export(kb: KnowledgeBase, principal: Principal, *, name: Text) -> dict[str, Any]:
    """Everything that is kept of a person: account, groups, sessions, keys, notices, Slack links, conversations with
    feedback and names of files, questions that met unknown terms, and what they did in the glossary.

    Passages are in it as far as the person may read them. Passwords and keys are not: only their hashes are kept.

    Raises:
        NotFound: nothing is kept of anybody of this name.
    """
    user = await kb.blocking(kb.people.find, name)
    found = await _exported(kb, user.principal if user else Principal(name, sees_all=name == LOCAL_NAME))
    if not user and not any(found[part] for part in ("people", "conversations", "glossary")):
        raise _nobody(name)
    return found


@usecase("admin")
async def user_erase(kb: KnowledgeBase, principal: Principal, *, name: Text) -> dict[str, Any]:
    """Erase a person: shut out at once, then conversations with their files and feedback, questions that met unknown
    terms, notices, Slack links, keys, sessions and the account. It cannot be undone.

    The glossary's history stays, and names them "erased person". `still_named`: documents and senses whose readers
    name them; a new user of the same name could read those.

    Raises:
        NotFound: nothing is kept of anybody of this name.
    """
    if await kb.blocking(kb.people.find, name):
        await kb.blocking(kb.people.suspend, name)
    names = await _names(kb, name)
    erased = {"conversations": 0, "files": 0}
    threads = await kb.threads()
    while found := [one for each in names for one in await threads.of(each)]:
        for thread in found:
            erased["files"] += len(await threads.files(thread.owner, thread.id))
            await delete_thread(kb, thread.owner, thread.id)
            erased["conversations"] += 1
    await kb.chores_done()
    erased["questions"] = await kb.blocking(kb.glossary.privacy.erase_person, names)
    erased["rows"] = await kb.blocking(kb.people.erase, names)
    if not any(erased.values()):
        raise _nobody(name)
    whole = await scrubbed(kb)
    return {"name": name, **erased, "files_clean": whole, "still_named": await _still_named(kb, name)}


async def _exported(kb: KnowledgeBase, principal: Principal) -> dict[str, Any]:
    """Everything of one person, with the passages that they may read."""
    names = await _names(kb, principal.name)
    threads = await kb.threads()
    found = [one for each in names for one in await threads.of(each)]
    asked = {each: await kb.blocking(kb.glossary.privacy.kept_of, each) for each in names}
    return {
        "name": principal.name,
        "at": timestamp(),
        "people": await kb.blocking(kb.people.kept_of, names),
        "conversations": [await _conversation(kb, principal, thread) for thread in found],
        "glossary": {each: kept for each, kept in asked.items() if kept},
    }


async def _conversation(kb: KnowledgeBase, principal: Principal, thread: Thread) -> dict[str, Any]:
    owner = principal if thread.owner == principal.name else Principal(thread.owner, principal.groups)
    read = await thread_read.function(kb, owner, thread=thread.id)
    return {**jsonable(read), "files": jsonable(await thread_files.function(kb, owner, thread=thread.id))}


async def _names(kb: KnowledgeBase, name: str) -> list[str]:
    """The person's name, and those under which they asked in Slack before they were known to be this user."""
    linked = await kb.blocking(kb.people.slack.links)
    return [name, *(f"slack:{team}:{slack_user}" for team, slack_user, user in linked if user == name)]


async def _still_named(kb: KnowledgeBase, name: str) -> dict[str, int]:
    reader = Principal("erasing", sees_all=True)
    documents = await kb.blocking(kb.document_store.documents, reader)
    senses = await kb.blocking(kb.glossary.senses.find, reader)
    token = f"@{name}"
    return {
        "documents": sum(token in one.audience for one in documents),
        "senses": sum(token in one.audience for one in senses),
    }


def _nobody(name: str) -> NotFound:
    return NotFound(f"Nothing is kept of anybody called '{name}'. See the users with: argot user list")
