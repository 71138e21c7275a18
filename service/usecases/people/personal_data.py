"""Personal data: each person may read theirs, and have them erased."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from argot.clock import timestamp
from argot.errors import MissingWing, NotFound
from argot.remedies import wing_command
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.scrubbing import scrub_stores
from argot.service.storage.missing_wings import require_wings
from argot.service.threads.question_log import KeptQuestion, list_kept_questions
from argot.service.threads.shared_links import SharedLink
from argot.service.usecases.questions.threads import ThreadRead, delete_thread, thread_read
from argot.service.usecases.usecase_registry import Text, usecase
from argot.types import LOCAL_NAME, Principal
from argot.wings import load_parts

if TYPE_CHECKING:
    from argot.service.maintenance.personal_keepers import PersonalKeeper
    from argot.service.threads.thread_store import Thread

Rows: TypeAlias = dict[str, list[dict[str, Any]]]
"""Rows as they are stored, by table: columns by name."""


@dataclass(frozen=True, slots=True)
class PersonalData:
    """Everything stored about a person at a moment (`at`, ISO, UTC): the rows of their account; their conversations;
    the links by which they share them; the rows of the glossary, by the name under which they asked; their ratings; and
    the records of each question.
    """

    name: str
    at: str
    people: Rows
    conversations: list[ThreadRead]
    links: list[SharedLink]
    glossary: dict[str, Rows]
    ratings: dict[str, Any]
    asked: list[KeptQuestion]


@dataclass(frozen=True, slots=True)
class StillNamed:
    """Numbers of documents and senses that name an erased person as a reader."""

    documents: int
    senses: int


@dataclass(frozen=True, slots=True)
class ErasedPerson:
    """Counts of data erased of a person. `rows` are those of the account, `ratings` those of rating studies.
    `files_clean`: nothing deleted is left in the files of the stores.
    """

    name: str
    conversations: int
    files: int
    questions: int
    rows: int
    ratings: int
    files_clean: bool
    still_named: StillNamed


@usecase("asker")
async def my_data(kb: KnowledgeBase, principal: Principal) -> PersonalData:
    """Export everything that is stored about the caller, as `user_export` does."""
    return await _export_data(kb, principal)


@usecase("admin")
async def user_export(kb: KnowledgeBase, principal: Principal, *, name: Text) -> PersonalData:
    """Export everything that is stored about a person.

    It has account, groups, sessions, keys, notices, Slack links, conversations with feedback and names of files,
    questions that met unknown terms, changes to the glossary, and ratings. It contains the passages that the person may
    read, but no passwords and keys: only their hashes are stored.

    Raises:
        NotFound: nothing is stored about anybody of this name.
    """
    user = await kb.blocking(kb.people.find, name)
    # Rows may remain under a name that is no user's: one from Slack, or that of the local user.
    found = await _export_data(kb, user.principal if user else Principal(name, sees_all=name == LOCAL_NAME))
    rated = any(found.ratings.values())
    if not user and not (found.people or found.conversations or found.glossary or rated):
        raise _make_unknown_error(name)
    return found


@usecase("admin")
async def user_erase(kb: KnowledgeBase, principal: Principal, *, name: Text) -> ErasedPerson:
    """Erase a person and what is stored about them. This cannot be undone.

    The person is locked out at once. Then conversations with their files and feedback, questions that met unknown
    terms, notices, Slack links, keys, sessions and the account are erased. The glossary's history stays, and names the
    person "erased person". The points and ranks that they gave in rating studies stay, without their comments.
    `still_named`: documents and senses whose readers name the person; a new user of the same name could read those.

    Raises:
        NotFound: nothing is stored about anybody of this name.
        MissingWing: a wing that is not installed stores data, which could not be erased.
    """
    await _require_wings(kb, name)
    # Shut out first: otherwise they could ask on while they are being erased.
    if await kb.blocking(kb.people.find, name):
        await kb.blocking(kb.people.suspend, name)
    names = await _list_names(kb, name)
    conversations = files = 0
    threads = await kb.threads()
    # Until none is left: a running question may have begun another.
    while found := [one for each in names for one in await threads.of(each)]:
        for thread in found:
            files += len(await threads.files(thread.owner, thread.id))
            await delete_thread(kb, thread.owner, thread.id)
            conversations += 1
    # What is still to be noted after an answer would otherwise come in after the erasure.
    await kb.chores.finish()
    questions = await kb.blocking(kb.glossary.privacy.erase_person, names)
    rows = await kb.blocking(kb.people.erase, names)
    for each in names:
        await kb.jobs.forget(each)
    erased = {"questions": questions, "ratings": 0}
    for keeper in _list_keepers():
        if keeper.erase:
            erased[keeper.counted_as] += await keeper.erase(kb, names)
    questions, ratings = erased.values()
    if not (conversations or files or questions or rows or ratings):
        raise _make_unknown_error(name)
    whole = await scrub_stores(kb)
    return ErasedPerson(name, conversations, files, questions, rows, ratings, whole, await _count_still_named(kb, name))


def _list_keepers() -> list[PersonalKeeper]:
    return list(load_parts("personal_data"))


async def _require_wings(kb: KnowledgeBase, name: str) -> None:
    await kb.blocking(require_wings, kb.stores.holds, kb.home)
    kept = await kb.blocking(kb.people.kept_of, [name])
    if "slack_people" in kept and not any(keeper.other_names for keeper in _list_keepers()):
        raise MissingWing(
            f"'{name}' asked in Slack, under a name that the wing 'slack' knows, which is not installed. Nothing was"
            f" changed. Add it, {wing_command(['slack'])}"
        )


async def _export_data(kb: KnowledgeBase, principal: Principal) -> PersonalData:
    """Return everything about one person, with the passages that they may read."""
    names = await _list_names(kb, principal.name)
    threads = await kb.threads()
    found = [one for each in names for one in await threads.of(each)]
    asked = {each: await kb.blocking(kb.glossary.privacy.kept_of, each) for each in names}
    kept: dict[str, Any] = {}
    for keeper in _list_keepers():
        kept |= await keeper.find(kb, names) if keeper.find else {}
    return PersonalData(
        principal.name,
        timestamp(),
        await kb.blocking(kb.people.kept_of, names),
        [await _read_conversation(kb, principal, thread) for thread in found],
        [one for each in names for one in await threads.links.of(each)],
        {each: rows for each, rows in asked.items() if rows},
        kept.get("ratings", {}),
        [one for each in names for one in await list_kept_questions(threads, each)],
    )


async def _read_conversation(kb: KnowledgeBase, principal: Principal, thread: Thread) -> ThreadRead:
    # The owner of a thread in Slack may be no user; it is read with this person's groups.
    owner = principal if thread.owner == principal.name else Principal(thread.owner, principal.groups)
    return await thread_read.function(kb, owner, thread=thread.id)


async def _list_names(kb: KnowledgeBase, name: str) -> list[str]:
    """Return the person's name, and those under which they asked before they were linked to this user."""
    names = [name]
    for keeper in _list_keepers():
        if keeper.other_names:
            names += await keeper.other_names(kb, name)
    return names


async def _count_still_named(kb: KnowledgeBase, name: str) -> StillNamed:
    # It only counts, so it may read everything.
    reader = Principal("erasing", sees_all=True)
    documents = await kb.blocking(kb.document_store.documents, reader)
    senses = await kb.blocking(kb.glossary.senses.find, reader)
    token = f"@{name}"
    return StillNamed(
        documents=sum(token in one.audience for one in documents),
        senses=sum(token in one.audience for one in senses),
    )


def _make_unknown_error(name: str) -> NotFound:
    return NotFound(f"Nothing is kept of anybody called '{name}'. See the users with: argot user list")
