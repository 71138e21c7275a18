"""Looking after a knowledge base: checks and backups."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance import backup as archive
from argot.service.maintenance.backup import Backup
from argot.service.maintenance.language_advice import advise_on_languages
from argot.service.storage.home_folder import note_backup
from argot.service.usecases.usecase_registry import usecase
from argot.types import Principal

logger = logging.getLogger(__name__)

READ_TERMS = 500
"""Terms whose labels are looked at for their languages: the first ones of a glossary in two languages have both."""


@dataclass(frozen=True, slots=True)
class StoreProblem:
    """Something in the stores of documents that is wrong, and the command that mends it."""

    subject: str
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class LanguageAdvice:
    """Advice for documents of several languages, with its command; empty: there is none."""

    text: str


@usecase("admin")
async def check(kb: KnowledgeBase, principal: Principal) -> list[StoreProblem]:
    """Check that documents, keyword index and vectors are consistent.

    The result says what is wrong and how to repair it.
    """
    # Opened even if its vectors are damaged, because that is one of the problems to report.
    corpus = await kb.load(for_repair=True)
    return [StoreProblem(one.subject, one.message, one.remedy) for one in await kb.blocking(corpus.check)]


@usecase("admin")
async def language_advice(kb: KnowledgeBase, principal: Principal) -> LanguageAdvice:
    """Return the advice for documents and a glossary of several languages; an empty text if there is none."""
    corpus = await kb.load()
    senses, _ = await kb.blocking(partial(kb.glossary.terms.page, principal, limit=READ_TERMS))
    labels = {label.language for sense in senses for label in sense.labels}
    return LanguageAdvice(await kb.blocking(advise_on_languages, corpus, principal, labels))


@usecase("admin", local=True)
async def backup(kb: KnowledgeBase, principal: Principal, *, path: str) -> Backup:
    """Write everything except the vectors to a tar file, as of one moment. Questions are answered meanwhile."""
    # No document may change between the copies of the stores and those of the original files.
    async with kb.writing:
        if kb.settings.storage.database:
            from argot.service.maintenance.shared_backup import write_shared_backup

            made = await kb.blocking(write_shared_backup, kb.home, kb.settings, kb.stores, Path(path))
        else:
            made = await kb.blocking(archive.write_backup, kb.home, Path(path))
    try:
        await kb.blocking(note_backup, kb.home)
    except OSError as error:  # the backup is complete all the same
        logger.warning("the time of the backup could not be noted in %s: %s", kb.home, error)
    return made
