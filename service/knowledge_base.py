"""The one process that owns a knowledge base, and everything it holds open for it.

Opening takes the lock and looks at every store; the stores themselves open when they are first needed, so that
`argot glossary list` loads neither the vector index nor the embedder.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, cast

from argot.databases import Stores
from argot.errors import KnowledgeBaseBusy
from argot.profile_files import SavedProfiles
from argot.service.admission_control import Gate, Limits
from argot.service.answer_jobs import Answers, AnswersHere
from argot.service.identity.people import People, make_local_principal
from argot.service.identity.sessions import DAY, HOUR, Lifetimes
from argot.service.observability.trace_export import TraceExport, export_of
from argot.service.replicas.holds import Hold
from argot.service.replicas.turns import Turns
from argot.service.storage import home_folder as layout
from argot.service.storage import restore
from argot.service.storage.adopted_models import apply_adopted, settle_adopted
from argot.service.storage.damage import check_database
from argot.service.storage.home_lock import HomeLock, read_owner
from argot.service.storage.opened_stores import (
    describe_place,
    make_owner,
    open_corpus_store,
    open_kept_files,
    open_stores,
)
from argot.service.storage.store_location import place_home, refuse_if_elsewhere
from argot.service.storage.unfinished_move import refuse_unfinished
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
    from argot.postgresql import PostgresqlStores
    from argot.service.observability.metrics import Metrics
    from argot.service.replicas.shared_service import SharedService
    from argot.service.storage.store_owner import StoreOwner
    from argot.tools.llm.model_server import ModelServer

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


class WingStore(Protocol):
    """A store that a wing brings, over what keeps this knowledge base's stores."""

    def __init__(self, stores: Stores, /) -> None: ...

    def close(self) -> None: ...

    def scrub(self) -> bool:
        """Let nothing that was deleted stay in a file; return whether that could be done."""
        ...


WingStoreT = TypeVar("WingStoreT", bound=WingStore)

ADDED_AT_ONCE = 3
"""Folders and uploads: an upload does not wait for a folder of a thousand files."""
PATIENCE_SECONDS = 1.0
"""How long to wait for a command that is just about to finish before saying that the knowledge base is busy."""


class KnowledgeBase:
    """An open knowledge base. Use cases get it as their first argument; nothing else opens its stores.

    Use it in one event loop, as `async with KnowledgeBase.open(home, settings) as kb`.
    """

    def __init__(self, home: Path, settings: Settings, lock: HomeLock | None, stores: Stores | None = None) -> None:
        self.home = home
        self.given = settings
        """The settings as they were given, without the models that the knowledge base has adopted."""
        self.settings = apply_adopted(home, settings)
        self.lock = lock
        self.writing = asyncio.Lock()
        """Held while documents change, so that one change follows the other; questions go on beside it, and so does
        whatever only gets documents ready to be written."""
        self.adding = asyncio.Semaphore(ADDED_AT_ONCE)
        """Held by who puts documents in for everybody."""
        self.gate = Gate(Limits.limit_questions(settings))
        """Where questions wait for their turn, and where they are turned away."""
        self.attachments = Gate(Limits.of_attachments(settings), name="file")
        """The same for files that people put into their conversations."""
        self.archives = Gate(Limits.limit_archives(), name="archive")
        """The same for archives that people send: who made one decides how long it takes."""
        self.answers: Answers = AnswersHere(self)
        """What does the jobs that questions come to."""
        self.metrics: Metrics | None = None
        """What is counted of everything done; None where nobody reads it."""
        self.tracing: TraceExport | None = None
        """Where traces of questions are sent; None: nowhere."""
        self.stores: Stores = stores or SqliteStores(home)
        """What keeps people, ratings, training pairs and threads; on PostgreSQL, everything but the vectors."""
        self.profiles = SavedProfiles(open_kept_files(home, settings, self.stores))
        self._owner: StoreOwner | None = None
        """Says who may have it open beside this process; None: only this one may, or it is another's."""
        self.shared: SharedService | None = None
        """What this process has in common with others on the same PostgreSQL; None: no other has these stores open."""
        self.threads_turns = Turns()
        self._search: VectorSearch | None = None
        self._guard = threading.RLock()
        self._corpus: Corpus | None = None
        self._store: CorpusStore | None = None
        self._glossary: Glossary | None = None
        self._people: People | None = None
        self._wing_stores: dict[type[WingStore], WingStore] = {}
        self._model_server: ModelServer | None = None
        self._threads: Threads | None = None
        self._opening_threads = asyncio.Lock()
        self._graph: ArgotGraph | None = None
        self._warming: asyncio.Task[None] | None = None
        self.chores = Chores()
        """What is done after the answers given so far."""
        self.jobs: Jobs = choose_jobs(self, self.stores, settings)
        """Where long work is put, and who does it."""
        self._parts: dict[Callable[[], Any], Any] = {}

    @classmethod
    def open(
        cls,
        home: Path,
        settings: Settings,
        *,
        create: bool = False,
        patience: float = PATIENCE_SECONDS,
        stores: Stores | None = None,
    ) -> KnowledgeBase:
        """Take the lock and check the stores.

        Args:
            create: make the folder of a new knowledge base where there is none.
            patience: seconds to wait for another owner.
            stores: where people, ratings, training pairs and threads are kept; None: in the folder. For tests alone, as
                long as the corpus and the glossary are nowhere else, and a backup holds only the folder.

        Raises:
            NotFound: `home` holds no knowledge base (and `create` is not given).
            KnowledgeBaseBusy: another process owns it; the message names the process and what to do.
            DamagedStore: a store is corrupt; the message ends with the command that mends it.
        """
        home = home.expanduser().absolute()
        if settings.store:
            return cls._open_shared(home, settings, create=create, patience=patience)
        refuse_unfinished(home, SqliteStores(home), "")
        if said := finish_cut_off(home, patience):  # first: until then there may be no knowledge base to find
            logger.warning("%s", said)
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
        except BaseException:
            lock.release()
            raise
        return opened

    @classmethod
    def _open_shared(cls, home: Path, settings: Settings, *, create: bool, patience: float) -> KnowledgeBase:
        """On PostgreSQL: the folder is this process's own, and may be a new one."""
        with ExitStack() as undo:
            stores = open_stores(home, settings)
            undo.callback(stores.close)
            refuse_unfinished(home, stores, describe_place(stores))
            place_home(home, stores, describe_place(stores), create=create)
            lock = take_lock(home, patience)
            undo.callback(lock.release)
            if restore.cut_off(home):  # what it had unpacked; the schema is put in place in one transaction
                logger.warning("%s", restore.finish_restore(home))
            owner = make_owner(stores, settings)
            undo.callback(owner.close)
            owner.take(patience)
            opened = cls(home, settings, lock, stores)
            opened._owner = owner
            opened.tracing = export_of(settings)
            undo.pop_all()
        return opened

    @classmethod
    def opened_beside(cls, home: Path, settings: Settings, search: VectorSearch) -> KnowledgeBase:
        """To answer questions beside the process that owns it, and has opened it: the documents are only read, and
        that process searches their vectors.
        """
        opened = cls(home, settings, None, open_stores(home, settings))
        opened._search = search
        return opened

    async def __aenter__(self) -> KnowledgeBase:
        # Not what is opened beside the owner, which keeps order for it.
        if self.lock and not isinstance(self.stores, SqliteStores):
            from argot.service.replicas.sharing import share

            people = await self.blocking(lambda: self.people)
            self.shared = await share(cast("PostgresqlStores", self.stores), people, self.threads_turns)
            self.gate.for_all = self.attachments.for_all = self.archives.for_all = self.shared
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close what was opened, and let go of the lock last."""
        try:
            # Before the stores, which the jobs still use.
            await self.jobs.close()
            await self.chores.finish()
            await self._close_model()
            if self.tracing:
                await asyncio.to_thread(self.tracing.close)
            if self._threads:
                await self._threads.close()
            if self.shared:
                await self.shared.close()
            # In threads, because closing writes what is still in the logs.
            stores = (self._corpus, self._store, self._glossary, self._people)
            for store in (*stores, *self._wing_stores.values()):
                if store:
                    await asyncio.to_thread(store.close)
            if self._owner:
                await asyncio.to_thread(self._owner.close)
            await asyncio.to_thread(self.stores.close)
            if self.lock and not self.settings.store:
                _note_stores(self.home)
        finally:
            if self.lock:
                self.lock.release()

    def take_adopted(self) -> None:
        """Go by the models that are adopted now."""
        self.settings = apply_adopted(self.home, self.given)

    @property
    def corpus(self) -> Corpus:
        """Documents, passages and vectors. The first use takes a moment: inside the event loop, use `load` before."""
        return self._open_corpus(mending=False)

    @property
    def document_store(self) -> CorpusStore:
        """Documents and passages alone, for callers that need no vectors."""
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

                if self.settings.store:
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
                lifetimes = Lifetimes(self.settings.session_idle_hours * HOUR, self.settings.session_days * DAY)
                self._people = People(self.stores, lifetimes)
            return self._people

    def open_store(self, kind: type[WingStoreT]) -> WingStoreT:
        """Return the store of a wing, opened when it is first asked for."""
        with self._guard:
            if kind not in self._wing_stores:
                self._wing_stores[kind] = kind(self.stores)
            return cast("WingStoreT", self._wing_stores[kind])

    @property
    def model_server(self) -> ModelServer | None:
        """The language model server of the settings; None if they name none.

        Raises:
            InvalidSettings: its URL is none.
        """
        if self._model_server is None and self.settings.model_url:
            from argot.tools.llm.model_server import ModelServer

            self._model_server = ModelServer.from_settings(self.settings)
            # What calls take is counted from the first one on.
            if self._model_server is not None and self.metrics is not None:
                self._model_server.told = self.metrics.model_called
        return self._model_server

    async def warm(self) -> None:
        """Open all that a question needs, before the first one comes."""
        (await self.load()).embed_in_background()
        await self.graph()
        await self.answers.warm()

    async def require_answering(self) -> None:
        """
        Raises:
            ArgotError: a store cannot be opened or does not answer.
        """
        # Nobody has this name: the cheapest question that threads.db must answer.
        await (await self.threads()).of("")
        await self.load()
        self.answers.require_ready()

    def warm_model(self) -> None:
        """Load what speaks to the model server (HTTP, TLS), and ask it what it serves, beside everything else.

        A server that is down is no fault here: it is found out, and told, when a question needs it.
        """
        if self.model_server is not None and self._warming is None:
            self._warming = asyncio.create_task(self._warm(self.model_server))

    async def _warm(self, server: ModelServer) -> None:
        try:
            await server.load()
            await server.served_model()
        # Nobody awaits the warming; a question that needs the server tells its asker what is wrong.
        except Exception as error:
            logger.info("the language model server does not answer yet: %s", server.fault(error).clause)

    async def _close_model(self) -> None:
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.gather(self._warming, return_exceptions=True)
        if self._model_server is not None:
            self._model_server.told = None
            await self._model_server.aclose()

    async def threads(self) -> Threads:
        async with self._opening_threads:
            # Two first callers at once wait for one opening.
            if self._threads is None:
                self._threads = await Threads.open(self.stores)
            return self._threads

    def scrubs(self) -> list[Callable[[], Any]]:
        """Return a function of each open store that lets nothing that was deleted stay in a file."""
        # Only those that are open: what this process did not open it deleted nothing from.
        glossary = self._glossary.privacy if self._glossary is not None else None
        opened = (self._people, glossary, self._threads, self._corpus, *self._wing_stores.values())
        return [store.scrub for store in opened if store is not None]

    async def graph(self) -> ArgotGraph:
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
                from argot.corpus.corpus import Corpus

                with convert_sqlite_errors(self.home / layout.CORPUS):
                    beside = self._search is not None
                    store = self._corpus_store(read_only=beside)
                    if self._search is not None:
                        self._corpus = Corpus.beside(self.home, self.settings, self._search, store)
                    else:
                        self._corpus = Corpus.open(self.home, self.settings, mending=mending, store=store)
            return self._corpus

    def part(self, make: Callable[[], T]) -> T:
        """Return what `make` made of this knowledge base's own, made at the first call."""
        if make not in self._parts:
            self._parts[make] = make()
        return cast("T", self._parts[make])

    def turn_of(self, thread: str) -> AbstractAsyncContextManager[Hold]:
        """Held while a question of this thread is answered: two at once would write over each other's state."""
        return self.threads_turns.of(thread)

    def principal(self, user: str | None) -> Principal:
        """The person at this machine, or the user named.

        Raises:
            NotFound: there is no such user.
        """
        return self.people.principal(user) if user is not None else make_local_principal()

    def turns(self) -> Callable[[], AbstractContextManager[None]]:
        """`writing`, as work in a thread holds it. To be called in the event loop."""
        loop = asyncio.get_running_loop()

        @contextmanager
        def turn() -> Iterator[None]:
            # An asyncio lock belongs to its loop: the thread has it taken and released there.
            asyncio.run_coroutine_threadsafe(self.writing.acquire(), loop).result()
            try:
                yield
            finally:
                loop.call_soon_threadsafe(self.writing.release)

        return turn

    async def look_up(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function that only looks up a row or two, for who is asking: at once where that takes microseconds.

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
        logger.warning("which stores there are could not be noted in %s: %s", home, error)


def finish_cut_off(home: Path, patience: float = PATIENCE_SECONDS) -> str:
    """Bring a restore to its end that was cut off, and say what became of it; empty if there was none.

    Raises:
        KnowledgeBaseBusy
    """
    if not restore.cut_off(home):
        return ""
    lock = take_lock(home, patience)
    try:
        return restore.finish_restore(home)
    finally:
        lock.release()


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
            # An owner with a socket is a service, which will not end within a moment.
            if (owner and owner.socket) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
