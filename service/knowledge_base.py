"""The one process that owns a knowledge base, and all its open resources.

Opening takes the lock and checks every store; the stores themselves open on first use, so that `argot glossary list`
loads neither the vector index nor the embedder.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, cast

from argot.clock import timestamp
from argot.databases import Stores
from argot.profile_files import SavedProfiles
from argot.question_threads import THREADS
from argot.service.admission_control import Gates
from argot.service.answer_jobs import Answers, LocalAnswers
from argot.service.audit.audit_trail import AuditTrail, make_trail
from argot.service.identity.people import People, make_local_principal
from argot.service.identity.sessions import DAY, HOUR, Lifetimes
from argot.service.observability.trace_export import TraceExport, export_of
from argot.service.replicas.turns import Turns
from argot.service.storage import home_folder as layout
from argot.service.storage import restore
from argot.service.storage.adopted_models import apply_adopted, settle_adopted
from argot.service.storage.damage import check_database
from argot.service.storage.home_lock import PATIENCE_SECONDS, HomeLock, take_lock
from argot.service.storage.opened_stores import (
    describe_place,
    make_owner,
    open_corpus_store,
    open_kept_files,
    open_stores,
)
from argot.service.storage.store_location import place_home, refuse_if_elsewhere
from argot.service.storage.unfinished_move import refuse_unfinished
from argot.service.storage.writing_lock import WritingLock
from argot.service.threads.thread_store import Threads
from argot.settings import Settings
from argot.sqlite import convert_sqlite_errors
from argot.sqlite_database import SqliteStores
from argot.types import Principal
from argot.work.job_choice import choose_jobs
from argot.work.job_types import Jobs
from argot.work.side_work import Chores

if TYPE_CHECKING:
    from argot.corpus.corpus import Corpus, VectorSearch
    from argot.corpus.store.document_store import CorpusStore
    from argot.graph.build import ArgotGraph
    from argot.jargon_db.glossary import Glossary
    from argot.postgresql.stores import PostgresqlStores
    from argot.service.observability.metrics import Metrics
    from argot.service.replicas.shared_service import SharedService
    from argot.service.storage.store_owner import StoreOwner
    from argot.tools.llm.model_server import ModelServer
    from argot.tools.llm.vision_server import VisionServer

logger = logging.getLogger(__name__)

THREADS_FOR_SERVERS = 6
"""Threads in which questions may wait for stores on servers, beside those that compute."""
THREADS_FOR_SEARCH = 2
"""The same of an answer worker, whose vectors the service searches."""

P = ParamSpec("P")
T = TypeVar("T")


class WingStore(Protocol):
    """A store of a wing, on the engine of this knowledge base's stores."""

    def __init__(self, stores: Stores, /) -> None: ...

    def close(self) -> None: ...

    def scrub(self) -> bool:
        """Remove deleted data from all files; return whether that was done."""
        ...


WingStoreT = TypeVar("WingStoreT", bound=WingStore)


class KnowledgeBase:
    """An open knowledge base. Use cases receive it as their first argument; nothing else opens its stores.

    Use it in one event loop, as `async with KnowledgeBase.open(home, settings) as kb`.
    """

    def __init__(self, home: Path, settings: Settings, lock: HomeLock | None, stores: Stores | None = None) -> None:
        self.home = home
        self.opened_at = timestamp("seconds")
        self.given = settings
        """The original settings, without the models that the knowledge base has adopted."""
        self.settings = apply_adopted(home, settings)
        self.lock = lock
        self.writing = WritingLock()
        self.gates = Gates(settings)
        self.answers: Answers = LocalAnswers(self)
        """Runs the jobs of questions."""
        self.metrics: Metrics | None = None
        """Metrics of all operations; None if nobody reads them."""
        self.tracing: TraceExport | None = None
        """The destination of traces of questions; None: nowhere."""
        self.audit: AuditTrail | None = None
        """The record of what people did; None: none is kept."""
        self.stores: Stores = stores or SqliteStores(home)
        """Stores people, ratings, training pairs and threads; on PostgreSQL, everything but the vectors."""
        if settings.storage.database or settings.storage.chroma_url:
            THREADS.allow_waiting(THREADS_FOR_SERVERS)
        self.profiles = SavedProfiles(open_kept_files(home, settings, self.stores))
        self._owner: StoreOwner | None = None
        """Decides who may have it open beside this process; None: only this one may, or it is another's."""
        self.shared: SharedService | None = None
        """State shared with other processes on the same PostgreSQL; None: no other has these stores open."""
        self.threads_turns = Turns()
        """Held while a question of a thread is answered: two at once would write over each other's state."""
        self._search: VectorSearch | None = None
        self._guard = threading.RLock()
        self._corpus: Corpus | None = None
        self._store: CorpusStore | None = None
        self._glossary: Glossary | None = None
        self._people: People | None = None
        self._wing_stores: dict[type[WingStore], WingStore] = {}
        self._model_server: ModelServer | None = None
        self._vision_server: VisionServer | None = None
        self._threads: Threads | None = None
        self._opening_threads = asyncio.Lock()
        self._graph: ArgotGraph | None = None
        self._warming: asyncio.Task[None] | None = None
        self.chores = Chores()
        """What is done after the answers given so far."""
        self.jobs: Jobs = choose_jobs(self, self.stores, settings)
        """The queue of long work, and its workers."""
        self._parts: dict[Callable[[], Any], Any] = {}

    @classmethod
    def open(
        cls,
        home: Path,
        settings: Settings,
        *,
        create: bool = False,
        patience: float | None = None,
        stores: Stores | None = None,
    ) -> KnowledgeBase:
        """Take the lock and check the stores.

        Args:
            create: create the folder of a new knowledge base if missing.
            patience: seconds to wait for another owner; None: `PATIENCE_SECONDS`.
            stores: storage of people, ratings, training pairs and threads; None: in the folder. Only for tests, as long
                as the corpus and the glossary are always local, and a backup contains only the folder.

        Raises:
            NotFound: `home` contains no knowledge base (and `create` is not given).
            KnowledgeBaseBusy: another process owns it; the message names the process and the remedy.
            DamagedStore: a store is corrupt; the message ends with the repair command.
        """
        home = home.expanduser().absolute()
        patience = PATIENCE_SECONDS if patience is None else patience
        if settings.storage.database:
            return cls._open_shared(home, settings, create=create, patience=patience)
        refuse_unfinished(home, SqliteStores(home), "")
        if remark := restore.finish_interrupted_restore(
            home, patience
        ):  # first: until then there may be no knowledge base to find
            logger.warning("%s", remark)
        if create:
            layout.create(home)
        else:
            layout.require(home)
        refuse_if_elsewhere(home)
        lock = take_lock(home, patience)
        try:
            for name in layout.DATABASES:
                check_database(home / name)
            _note_stores(home)
            settle_adopted(home, cut_off=True)
            opened = cls(home, settings, lock, stores)
            opened.tracing = export_of(settings)
            opened.audit = make_trail(settings)
        except BaseException:
            lock.release()
            raise
        return opened

    @classmethod
    def _open_shared(cls, home: Path, settings: Settings, *, create: bool, patience: float) -> KnowledgeBase:
        """Open it on PostgreSQL: the folder is this process's own, and may be a new one."""
        with ExitStack() as undo:
            stores = open_stores(home, settings)
            undo.callback(stores.close)
            refuse_unfinished(home, stores, describe_place(stores))
            place_home(home, stores, describe_place(stores), create=create)
            lock = take_lock(home, patience)
            undo.callback(lock.release)
            if restore.cut_off(home):  # its unpacked files; the schema is replaced in one transaction
                logger.warning("%s", restore.finish_restore(home))
            owner = make_owner(stores, settings)
            undo.callback(owner.close)
            owner.take(patience)
            opened = cls(home, settings, lock, stores)
            opened._owner = owner
            opened.tracing = export_of(settings)
            opened.audit = make_trail(settings)
            undo.pop_all()
        return opened

    @classmethod
    def open_beside_owner(cls, home: Path, settings: Settings, search: VectorSearch) -> KnowledgeBase:
        """Open it to answer questions beside the process that owns it: the documents are only read, and that process
        searches their vectors.
        """
        opened = cls(home, settings, None, open_stores(home, settings))
        opened._search = search
        THREADS.allow_waiting(THREADS_FOR_SEARCH)
        return opened

    async def __aenter__(self) -> KnowledgeBase:
        # Not if it was opened beside the owner, which does the housekeeping.
        if self.lock and not isinstance(self.stores, SqliteStores):
            from argot.service.replicas.sharing import share

            people = await self.blocking(lambda: self.people)
            self.shared = await share(cast("PostgresqlStores", self.stores), people, self.threads_turns)
            self.gates.count_for_all(self.shared)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the open resources, and release the lock last."""
        try:
            # Before the stores, which the jobs still use.
            await self.jobs.close()
            await self.chores.finish()
            await self._close_model()
            if self.tracing:
                await asyncio.to_thread(self.tracing.close)
            if self.audit:
                await asyncio.to_thread(self.audit.close)
            if self._threads:
                await self._threads.close()
            if self.shared:
                await self.shared.close()
            # In threads, because closing flushes the logs.
            stores = (self._corpus, self._store, self._glossary, self._people)
            for store in (*stores, *self._wing_stores.values()):
                if store:
                    await asyncio.to_thread(store.close)
            if self._owner:
                await asyncio.to_thread(self._owner.close)
            await asyncio.to_thread(self.stores.close)
            if self.lock and not self.settings.storage.database:
                _note_stores(self.home)
        finally:
            if self.lock:
                self.lock.release()

    @property
    def corpus(self) -> Corpus:
        """Documents, passages and vectors. The first use takes a moment: inside the event loop, call `load` before."""
        return self._open_corpus(for_repair=False)

    @property
    def document_store(self) -> CorpusStore:
        """Documents and passages only, for callers that need no vectors."""
        with self._guard:
            if self._corpus is not None:
                return self._corpus.store
            if self._store is None:
                with convert_sqlite_errors(self.home / layout.CORPUS):
                    self._store = self._corpus_store(read_only=False)
            return self._store

    def _corpus_store(self, *, read_only: bool) -> CorpusStore:
        before = self._owner.keep if self._owner else None
        return open_corpus_store(self.home, self.settings, self.stores, read_only=read_only, before_changes=before)

    @property
    def glossary(self) -> Glossary:
        with self._guard:
            if self._glossary is None:
                from argot.jargon_db.glossary import Glossary

                if self.settings.storage.database:
                    self._glossary = Glossary.on(cast("PostgresqlStores", self.stores))
                else:
                    path = self.home / layout.GLOSSARY
                    with convert_sqlite_errors(path):
                        self._glossary = Glossary.open(path)
            return self._glossary

    @property
    def people(self) -> People:
        with self._guard:
            if self._people is None:
                lifetimes = Lifetimes(
                    self.settings.sign_in.session_idle_hours * HOUR, self.settings.sign_in.session_days * DAY
                )
                self._people = People(self.stores, lifetimes)
            return self._people

    def open_store(self, kind: type[WingStoreT]) -> WingStoreT:
        """Return the store of a wing, opened on first use."""
        with self._guard:
            if kind not in self._wing_stores:
                self._wing_stores[kind] = kind(self.stores)
            return cast("WingStoreT", self._wing_stores[kind])

    @property
    def model_server(self) -> ModelServer | None:
        """The language model server of the settings; None if they name none.

        Raises:
            InvalidSettings: its URL is invalid.
        """
        if self._model_server is None and self.settings.model_server.url:
            from argot.tools.llm.model_server import ModelServer

            self._model_server = ModelServer.from_settings(self.settings)
            # The costs of calls are counted from the first one on.
            if self._model_server is not None and self.metrics is not None:
                self._model_server.told = self.metrics.model_called
        return self._model_server

    @property
    def vision_server(self) -> VisionServer | None:
        """The vision model server of the settings; None if they name none.

        Raises:
            InvalidSettings: its URL is invalid.
        """
        if self._vision_server is None and self.settings.vision.url:
            from argot.tools.llm.vision_server import VisionServer

            self._vision_server = VisionServer.from_settings(self.settings)
            if self._vision_server is not None and self.metrics is not None:
                self._vision_server.told = self.metrics.model_called
        return self._vision_server

    async def warm(self) -> None:
        """Open everything that a question needs, before the first one arrives."""
        (await self.load()).embed_in_background()
        await self.graph()
        await self.answers.warm()

    async def require_answering(self) -> None:
        """Check that a question could be answered now.

        Raises:
            ArgotError: a store cannot be opened or does not answer.
        """
        # Nobody has this name: the cheapest query that threads.db must answer.
        await (await self.threads()).of("")
        await self.load()
        self.answers.require_ready()

    def warm_model(self) -> None:
        """Load the HTTP client of the model server, and ask for its models, in the background.

        An unavailable server is no error here: a question that needs it reports that.
        """
        if self.model_server is not None and self._warming is None:
            self._warming = asyncio.create_task(self._warm(self.model_server))

    async def _warm(self, server: ModelServer) -> None:
        try:
            await server.load()
            await server.served_model()
        # Nobody awaits the warming; a question that needs the server reports the error to its asker. The server is not
        # remembered as down: a process that starts is so busy that its own connection can time out.
        except Exception as error:
            from argot.tools.llm.faults import build_fault

            fault = build_fault(error, server.settings, server.address)
            logger.info("the language model server does not answer yet: %s", fault.clause)

    async def _close_model(self) -> None:
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.gather(self._warming, return_exceptions=True)
        for server in (self._model_server, self._vision_server):
            if server is not None:
                server.told = None
                await server.aclose()

    async def threads(self) -> Threads:
        async with self._opening_threads:
            # Two concurrent first callers wait for one opening.
            if self._threads is None:
                self._threads = await Threads.open(self.stores)
            return self._threads

    def scrubs(self) -> list[Callable[[], Any]]:
        """Return a function of each open store that removes deleted data from its files."""
        # Only open ones: this process deleted nothing from the others.
        glossary = self._glossary.privacy if self._glossary is not None else None
        opened = (self._people, glossary, self._threads, self._corpus, *self._wing_stores.values())
        return [store.scrub for store in opened if store is not None]

    async def graph(self) -> ArgotGraph:
        """A question's journey, compiled over the threads' checkpoints."""
        if self._graph is None:
            from argot.graph.build import build_graph

            self._graph = build_graph((await self.threads()).saver)
        return self._graph

    async def load(self, *, for_repair: bool = False) -> Corpus:
        """Open the corpus in a worker thread, so that the event loop continues meanwhile.

        With `for_repair` it opens even if its vectors are damaged or another embedder's, for inspection or rebuilding.
        """
        if self._corpus is None:
            await asyncio.to_thread(self._open_corpus, for_repair=for_repair)
        return self.corpus

    def _open_corpus(self, *, for_repair: bool) -> Corpus:
        with self._guard:
            if self._corpus is None:
                from argot.corpus.corpus import Corpus

                with convert_sqlite_errors(self.home / layout.CORPUS):
                    beside = self._search is not None
                    store = self._corpus_store(read_only=beside)
                    if self._search is not None:
                        self._corpus = Corpus.beside(self.home, self.settings, self._search, store)
                    else:
                        self._corpus = Corpus.open(self.home, self.settings, for_repair=for_repair, store=store)
            return self._corpus

    def part(self, make: Callable[[], T]) -> T:
        """Return the object that `make` creates for this knowledge base on the first call."""
        if make not in self._parts:
            self._parts[make] = make()
        return cast("T", self._parts[make])

    def principal(self, user: str | None) -> Principal:
        """Return the local user, or the named one.

        Raises:
            NotFound: there is no such user.
        """
        return self.people.principal(user) if user is not None else make_local_principal()

    async def look_up(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function that only looks up a row or two, for the present principal: directly if that takes
        microseconds.

        Raises:
            StoreUnavailable
        """
        if self.shared is None:
            return function(*args, **kwargs)
        return await self.shared.look_up(function, *args, **kwargs)

    async def blocking(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a store's function in a worker thread."""
        return await asyncio.to_thread(function, *args, **kwargs)


def _note_stores(home: Path) -> None:
    try:
        layout.note_stores(home)
    except OSError as error:  # on a full disk, which keeps nobody from reading
        logger.warning("the list of stores could not be written to %s: %s", home, error)
