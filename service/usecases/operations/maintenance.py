"""Looking after a knowledge base: checks and backups."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance import backup as archive
from argot.service.maintenance.backup import Backup
from argot.service.usecases.usecase_registry import usecase
from argot.types import Principal


@dataclass(frozen=True, slots=True)
class StoreProblem:
    """Something in the stores of documents that is wrong, and the command that mends it."""

    subject: str
    message: str
    remedy: str


@usecase("admin")
async def check(kb: KnowledgeBase, principal: Principal) -> list[StoreProblem]:
    """Check that documents, keyword index and vectors are consistent.

    The result says what is wrong and how to repair it.
    """
    # Opened even if its vectors are damaged: that is to be told, too.
    corpus = await kb.load(mending=True)
    return [StoreProblem(one.subject, one.message, one.remedy) for one in await kb.blocking(corpus.check)]


@usecase("admin", local=True)
async def backup(kb: KnowledgeBase, principal: Principal, *, path: str) -> Backup:
    """Write everything except the vectors to a tar file, as of one moment. Questions are answered meanwhile."""
    # No document may change between the copies of the stores and those of the original files.
    async with kb.writing:
        if kb.settings.storage.database:
            from argot.service.maintenance.shared_backup import write_shared_backup

            return await kb.blocking(write_shared_backup, kb.home, kb.settings, kb.stores, Path(path))
        return await kb.blocking(archive.write_backup, kb.home, Path(path))
