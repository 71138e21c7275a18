"""Answering as a job, apart from the person who asks, and the interface of those that do such jobs.

A job is a question with everything needed to answer it, in plain types, so that another process can do it as well
(`service/answering/`). Scheduling, bookkeeping and notifications stay with the process that owns the knowledge base.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from argot.results import AskEvent
    from argot.settings import Settings


class AnswerJob(Protocol):
    """A frozen dataclass of plain types. Running it twice has the same result as once."""

    def events(self, kb: Any) -> AsyncGenerator[AskEvent]:
        """Run it with this knowledge base. Closing this stops the work; after that nothing more is written.

        Args:
            kb: a `KnowledgeBase`, whose module imports this one.
        """
        ...


class Answers(Protocol):
    """Runs jobs: in this process or in others."""

    def events(self, job: AnswerJob) -> AsyncGenerator[AskEvent]:
        """Run the job and yield its events, as `AnswerJob.events` does."""
        ...

    async def warm(self) -> None:
        """Wait until jobs can be run, or it is clear that it takes longer."""

    async def renew(self, settings: Settings) -> None:
        """Use the models of these settings from now on. When this returns, every new job does so."""

    def require_ready(self) -> None:
        """Check that jobs can be run now.

        Raises:
            RetryLater: no job can be run now.
        """

    def describe(self) -> str:
        """Describe in one clause the processes that run the jobs, and their memory."""
        ...


class LocalAnswers:
    """Runs jobs in this process."""

    def __init__(self, kb: Any) -> None:
        self._kb = kb

    def events(self, job: AnswerJob) -> AsyncGenerator[AskEvent]:
        return job.events(self._kb)

    async def warm(self) -> None:
        """Load the modules that only answering needs."""
        from argot.tools.retrieval.scorer_choice import load_scorer

        kb = self._kb
        kb.warm_model()
        await kb.blocking(kb.glossary.warm)
        await kb.blocking(load_scorer, kb.settings)

    async def renew(self, settings: Settings) -> None:
        """Do nothing: jobs read the settings of the knowledge base."""

    def require_ready(self) -> None:
        """Do nothing: this process can answer as long as it runs."""

    def describe(self) -> str:
        return "the process of the service"
