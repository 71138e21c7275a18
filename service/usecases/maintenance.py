"""Looking after a knowledge base: checks and backups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from argot.service.json_values import jsonable
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance import backup as archive
from argot.service.usecases.usecase_registry import usecase
from argot.types import Principal


@usecase("admin")
async def check(kb: KnowledgeBase, principal: Principal) -> list[dict[str, Any]]:
    """Whether documents, keyword index and vectors fit together: what is wrong, and how to mend it."""
    corpus = await kb.load(mending=True)
    return [jsonable(problem) for problem in await kb.blocking(corpus.check)]


@usecase("admin", local=True)
async def backup(kb: KnowledgeBase, principal: Principal, *, path: str) -> dict[str, Any]:
    """Write everything but the vectors into a tar file, as of one moment. Questions go on meanwhile."""
    async with kb.writing:
        plain: dict[str, Any] = jsonable(await kb.blocking(archive.write_backup, kb.home, Path(path)))
    return plain
