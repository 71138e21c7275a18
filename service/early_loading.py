"""Loading of what a question needs, side by side: a thread opens vectors and models while this one imports the graph.

Most of a command's first question is imports, which use one processor. Opening a model does not need the interpreter.
"""

from __future__ import annotations

import logging
import threading
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argot.service.knowledge_base import KnowledgeBase

logger = logging.getLogger(__name__)

_OPENING = ("argot.corpus.corpus", "argot.tools.retrieval.scorer_choice")
_ANSWERING = ("argot.graph.build", "argot.graph.run")


class EarlyLoading:
    """Loading, in a thread, of what the first question of a process needs. `wait` for it before the knowledge base is
    closed.
    """

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb
        # Before the thread begins: two threads that import the same modules could find them half imported.
        for name in _OPENING:
            import_module(name)
        self._thread = threading.Thread(target=self._open, name="early-loading")
        self._thread.start()
        # In this thread, and before anything waits for the stores.
        for name in _ANSWERING:
            import_module(name)

    def wait(self) -> None:
        self._thread.join()

    def _open(self) -> None:
        from argot.tools.retrieval.scorer_choice import load_scorer

        try:
            _ = self._kb.corpus
            load_scorer(self._kb.settings)
        # The question needs the same, and reports to its asker why it does not open.
        except Exception as error:
            logger.debug("not opened ahead of the question: %s", error)
