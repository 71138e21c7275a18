"""Start of slow work before its result is needed, while the graph waits for something else.

No result is passed on: the slow functions (the embedder, `support`, `find_objection`) cache their results by input, so
that later callers wait less and get the same result either way. A failure occurs again where the result is needed.

- A question's vector is computed while its turn is set up, the vectors of its queries while helpful triples are
  retrieved.
- While a model writes its answer, the sentences so far are matched with the passages.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from argot.graph.draft_checking import check_draft
from argot.graph.run_context import RunContext
from argot.protocols import AnswerRequest
from argot.question_threads import begin_in_thread, call_in_thread
from argot.tools.reading.context_classifier import select_compared_text

# A stop counts only before white space; closing quotes and brackets may be between, as in `(see 4.5).` Chinese and
# Japanese stops need no space after them.
_END = re.compile(r"[.!?][^\w\s]*\s|[。！？\n]")
"""End of a sentence. The stop in "4.5" is none, and a writer may pause between its characters."""


def embed_question_ahead(question: str, run: RunContext) -> None:
    """Begin to embed what `identify_context` compares, for a question that needs no history to be understood."""
    if run.profile.identify_context:
        begin_in_thread(_embed_question, question, run)


def embed_ahead(queries: Sequence[str], run: RunContext) -> None:
    """Begin to embed the queries that will be searched for."""
    if run.profile.search_semantic:
        embedder = run.corpus.embedder
        begin_in_thread(embedder.embed_searches if run.profile.adapt_queries else embedder.embed_queries, queries)


def _embed_question(question: str, run: RunContext) -> None:
    known = run.glossary.lookup.matcher(run.principal).find(question)
    # The exact text that `identify_context` embeds, since the embedder's cache needs the same input.
    run.corpus.embedder.embed_queries([select_compared_text(question, known)])


class DraftPrefetch:
    """Match a draft with the passages while it is still being written: whenever a sentence ends and the draft has
    doubled since the last match, or was restarted.
    """

    def __init__(self, request: AnswerRequest, run: RunContext, question: str) -> None:
        """
        Args:
            request: the model's request.
            question: the question, as for `check_draft`.
        """
        self._request = request
        self._run = run
        self._asked = question
        self._matched_chars = 0
        self._task: asyncio.Task[None] | None = None

    def receive(self, pieces: Sequence[str]) -> None:
        """Receive all pieces so far; to be called for each new one."""
        # A stop and the space after it may arrive as two pieces; searching three is cheaper than searching the whole
        # draft.
        if not _END.search("".join(pieces[-3:])) or (self._task and not self._task.done()):
            return
        draft = _drop_unfinished("".join(pieces))
        # The writer retracted its pieces and restarted, so that the recorded length no longer applies.
        is_restarted = len(draft) < self._matched_chars
        # Doubling keeps the total work below twice that of the last match, however long the answer.
        if draft.strip() and (is_restarted or len(draft) >= 2 * self._matched_chars):
            self._matched_chars = len(draft)
            self._task = asyncio.create_task(self._match(draft))

    async def wait(self) -> None:
        """Wait for the work that was started. asyncio logs its failures, which do not affect the answer."""
        if self._task:
            # `wait` does not raise what the task raised.
            await asyncio.wait([self._task])

    def cancel(self) -> None:
        if self._task:
            self._task.cancel()

    async def _match(self, draft: str) -> None:
        await call_in_thread(check_draft, draft, self._request.hits, self._run, self._asked)


def _drop_unfinished(draft: str) -> str:
    # Without the unfinished sentence.
    return draft[: max((end.end() for end in _END.finditer(draft)), default=0)]


@asynccontextmanager
async def match_ahead(request: AnswerRequest, run: RunContext, question: str) -> AsyncIterator[DraftPrefetch]:
    """Match the draft ahead until the answer ends, a model fails or the asker leaves."""
    ahead = DraftPrefetch(request, run, question)
    try:
        yield ahead
        # Awaited: a second match beside it would do the same work twice, on the same cores.
        await ahead.wait()
    finally:
        ahead.cancel()
