"""The list of everything that stores text of documents, with the function that erases what was derived from some of
them.

Every table or folder that can contain documents' text must be listed here;
`tests/service/maintenance/test_erased_documents.py` fails on an unlisted one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from argot.service.maintenance.erased_texts import ErasedTexts
from argot.service.storage import home_folder as layout
from argot.wings import load_parts

if TYPE_CHECKING:
    from argot.corpus.store.document_store import CorpusStore
    from argot.corpus.store.dustbin import ErasedDocuments
    from argot.service.knowledge_base import KnowledgeBase


@dataclass(frozen=True, slots=True)
class Erasure:
    """An erasure in progress. `is_quoted` returns whether a text quotes these documents, and not its own sources."""

    documents: ErasedDocuments
    is_quoted: ErasedTexts

    @classmethod
    def of(cls, documents: ErasedDocuments, store: CorpusStore) -> Erasure:
        from argot.corpus.store.dustbin import read_living_texts

        return cls(documents, ErasedTexts(documents.texts, lambda sources: read_living_texts(store, sources)))

    def is_gone(self, id_: str) -> bool:
        """Return whether this is the id of a document that is being erased, or of one of its passages."""
        return id_ in self.documents.passages or id_ in self.documents.ids


Erase = Callable[["KnowledgeBase", Erasure], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class TextKeeper:
    """A part of Argot that stores text of documents.

    Attributes:
        keeps: a description of it, for people.
        tables: their names, or patterns for those of an index; they are unique across stores.
        folders: files and folders in the knowledge base's own folder.
        erase: removes everything derived from these documents. Running it twice has the same result. None: `corpus`
            removes it with the documents themselves, or it contains no text of them.
    """

    name: str
    keeps: str
    tables: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    erase: Erase | None = None


async def erase_everywhere(kb: KnowledgeBase, documents: ErasedDocuments) -> None:
    """Erase everything derived from these documents everywhere; the documents themselves are still in the dustbin."""
    erasure = Erasure.of(documents, kb.document_store)
    for keeper in list_keepers():
        if keeper.erase is not None:
            await keeper.erase(kb, erasure)


async def _erase_answers(kb: KnowledgeBase, erasure: Erasure) -> None:
    if not await kb.blocking(kb.stores.holds, "threads"):
        return
    threads = await kb.threads()
    for thread in await threads.ids():
        # A turn under way would write over what is erased meanwhile.
        async with kb.threads_turns.of(thread):
            await threads.erase_passages(thread, erasure.is_gone, erasure.is_quoted)


async def _erase_quotations(kb: KnowledgeBase, erasure: Erasure) -> None:
    def forget() -> None:
        proposals, store = kb.glossary.proposals, kb.document_store
        quoted = proposals.quoted_passages()
        proposals.forget_evidence(quoted - store.live(quoted))
        kb.glossary.verified.erase(erasure.is_gone, erasure.is_quoted)

    await kb.blocking(forget)


async def _erase_jobs(kb: KnowledgeBase, erasure: Erasure) -> None:
    await kb.jobs.forget_documents(erasure.documents.ids, erasure.documents.originals)


KEEPERS: Sequence[TextKeeper] = (
    TextKeeper(
        "documents",
        "passages, words, vectors, originals, derived texts, former revisions, and what is to be done about them",
        tables=(
            *("audiences", "citation_counts", "derivation*", "derived*", "document_*", "documents", "generations"),
            *(
                "keyword_totals",
                "ledger",
                "meta",
                "passage_*",
                "passages",
                "pictures",
                "quantised_vectors",
                "removed_*",
            ),
            *("revisions", "source_*", "sources", "triple_*", "triples", "vector_deletions", "vectors", "blob*"),
        ),
        folders=(layout.CORPUS, layout.BLOBS, layout.VECTORS),
    ),
    TextKeeper(
        "conversations",
        "sentences of answers",
        tables=("asked", "feedback", "files", "shared_links", "threads", "checkpoints", "writes", "checkpoint_*"),
        folders=(layout.THREADS,),
        erase=_erase_answers,
    ),
    TextKeeper(
        "glossary",
        "quotations in proposed meanings, and verified answers",
        tables=(
            *(
                "accepted_conflicts",
                "aliases",
                "changes",
                "contexts",
                "digests",
                "glossary_meta",
                "history",
                "history_rows",
                "import_columns",
                "mined",
                "proposal_voices",
            ),
            *("miss_questions", "misses", "proposals", "sense_rows", "sense_search*", "senses", "terms", "uses"),
            "verified_answers",
        ),
        folders=(layout.GLOSSARY,),
        erase=_erase_quotations,
    ),
    TextKeeper(
        "jobs",
        "files that were sent, and what came of them",
        tables=("job_*", "procrastinate_*"),
        erase=_erase_jobs,
    ),
    TextKeeper(
        "people",
        "nothing of documents: accounts, notices of new meanings, questions from Slack until they are answered",
        tables=(
            *("keys", "managed", "memberships", "notices", "provider_links", "provisioned_*", "sessions"),
            *("slack_*", "users"),
        ),
        folders=(layout.PEOPLE,),
    ),
    TextKeeper(
        "settings",
        "nothing of documents: profiles, who has the folder open, what services share, the chat window's own files, and"
        " the papers' experiments, which are made of data that somebody gave",
        tables=("kept_files", "service_*", "store_migrations"),
        folders=(layout.MARKER, layout.PROFILES, "lock", "owner.json", "chat", "experiments"),
    ),
)


def list_keepers() -> list[TextKeeper]:
    """Return the core's keepers and those of the wings."""
    return [*KEEPERS, *load_parts("text_keepers")]
