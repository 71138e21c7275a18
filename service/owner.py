"""The one process that owns a knowledge base, and everything it holds open for it.

Opening takes the lock and looks at every store; the stores themselves open when they are first needed, so that
`argot glossary list` loads neither the vector index nor the embedder.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from argot.errors import KnowledgeBaseBusy
from argot.service import home as layout
from argot.service.lock import HomeLock, read_owner
from argot.service.people import People, local_principal
from argot.service.restore import finish_restore
from argot.service.sqlite import check_database, damage_named
from argot.service.threads import Threads
from argot.settings import Settings
from argot.types import Principal

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

    from argot.corpus.ingest import Corpus
    from argot.corpus.store import CorpusStore
    from argot.jargon_db.glossary import Glossary

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE_SECONDS = 1.0
"""How long to wait for a command that is just about to finish before saying that the knowledge base is busy."""


class KnowledgeBase:
    """An open knowledge base. Use cases get it as their first argument; nothing else opens its stores.

    Use it in one event loop, as `async with KnowledgeBase.open(home, settings) as kb`.
    """

    def __init__(self, home: Path, settings: Settings, lock: HomeLock) -> None:
        self.home = home
        self.settings = settings
        self.lock = lock
        self.writing = asyncio.Lock()
        """Held while documents change, so that one change follows the other; questions go on beside it."""
        self._guard = threading.RLock()
        self._corpus: Corpus | None = None
        self._store: CorpusStore | None = None
        self._glossary: Glossary | None = None
        self._people: People | None = None
        self._threads: Threads | None = None
        self._opening_threads = asyncio.Lock()
        self._graph: CompiledStateGraph[Any, Any, Any, Any] | None = None
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @classmethod
    def open(
        cls, home: Path, settings: Settings, *, create: bool = False, patience: float = PATIENCE_SECONDS
    ) -> KnowledgeBase:
        """Take the lock and check the stores.

        Raises:
            NotFound: `home` holds no knowledge base (and `create` is not given).
            KnowledgeBaseBusy: another process owns it; the message names the process and what to do.
            DamagedStore: a store is corrupt; the message ends with the command that mends it.
        """
        home = home.expanduser().absolute()
        if create:
            layout.create(home)
        else:
            layout.require(home)
        lock = take_lock(home, patience)
        try:
            finish_restore(home)
            for name in layout.DATABASES:
                check_database(home / name)
        except BaseException:
            lock.release()
            raise
        return cls(home, settings, lock)

    async def __aenter__(self) -> KnowledgeBase:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close what was opened, and let go of the lock last."""
        try:
            if self._threads:
                await self._threads.close()
            for store in (self._corpus, self._store, self._glossary, self._people):
                if store:
                    await asyncio.to_thread(store.close)
        finally:
            self.lock.release()

    @property
    def corpus(self) -> Corpus:
        """Documents, passages and vectors. The first use takes a moment: inside the event loop, use `load` before."""
        return self._open_corpus(mending=False)

    @property
    def document_store(self) -> CorpusStore:
        """Documents and passages alone, for who needs no vectors."""
        with self._guard:
            if self._corpus is not None:
                return self._corpus.store
            if self._store is None:
                from argot.corpus.store import CorpusStore

                path = self.home / layout.CORPUS
                with damage_named(path):
                    self._store = CorpusStore.open(path)
            return self._store

    @property
    def glossary(self) -> Glossary:
        with self._guard:
            if self._glossary is None:
                from argot.jargon_db.glossary import Glossary

                path = self.home / layout.GLOSSARY
                with damage_named(path):
                    self._glossary = Glossary.open(path)
            return self._glossary

    @property
    def people(self) -> People:
        with self._guard:
            if self._people is None:
                self._people = People(self.home / layout.PEOPLE)
            return self._people

    async def threads(self) -> Threads:
        async with self._opening_threads:
            if self._threads is None:
                self._threads = await Threads.open(self.home / layout.THREADS)
            return self._threads

    async def graph(self) -> CompiledStateGraph[Any, Any, Any, Any]:
        """A question's journey, compiled over the threads' checkpoints."""
        if self._graph is None:
            from argot.graph.build import build_graph

            self._graph = build_graph((await self.threads()).saver)
        return self._graph

    async def load(self, *, mending: bool = False) -> Corpus:
        """The corpus, opened in a worker thread so that the event loop goes on meanwhile.

        With `mending` it opens even though its vectors are damaged or another embedder's, to be looked at or rebuilt.
        """
        if self._corpus is None:
            await asyncio.to_thread(self._open_corpus, mending=mending)
        return self.corpus

    def _open_corpus(self, *, mending: bool) -> Corpus:
        with self._guard:
            if self._corpus is None:
                from argot.corpus.ingest import Corpus

                with damage_named(self.home / layout.CORPUS):
                    self._corpus = Corpus.open(self.home, self.settings, mending=mending)
            return self._corpus

    def turn_of(self, thread: str) -> asyncio.Lock:
        """Held while a question of this thread is answered: two at once would write over each other's state."""
        return self._turns.setdefault(thread, asyncio.Lock())

    def principal(self, user: str | None) -> Principal:
        """The person at this machine, or the user named.

        Raises:
            NotFound: there is no such user.
        """
        return self.people.principal(user) if user is not None else local_principal()

    async def blocking(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a store's function in a worker thread."""
        return await asyncio.to_thread(function, *args, **kwargs)


def take_lock(home: Path, patience: float) -> HomeLock:
    """The lock, waiting a moment for its holder to finish; not for one that serves: that one stays.

    Raises:
        KnowledgeBaseBusy
    """
    deadline = time.monotonic() + patience
    while True:
        try:
            return HomeLock(home)
        except KnowledgeBaseBusy:
            owner = read_owner(home)
            if (owner and owner.socket) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
