"""The glossary of one knowledge base: the meanings of terms, by context, and who may read them."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from argot.jargon_db.lookup.views import Views
from argot.jargon_db.store.conflicts import Conflicts
from argot.jargon_db.store.connections import Connections
from argot.jargon_db.store.context_store import Contexts
from argot.jargon_db.store.history import History
from argot.jargon_db.store.mining_ledger import MiningLedger
from argot.jargon_db.store.misses import Misses
from argot.jargon_db.store.privacy import Privacy
from argot.jargon_db.store.proposal_store import Proposals
from argot.jargon_db.store.search import Search
from argot.jargon_db.store.sense_store import Senses
from argot.jargon_db.store.sqlite_connections import SqliteConnections, prepare
from argot.jargon_db.store.suggestions import Suggestions
from argot.jargon_db.store.term_list import TermList
from argot.jargon_db.store.term_lookup import TermLookup
from argot.jargon_db.store.term_source import StoredTerms
from argot.jargon_db.store.usage import SenseUsage
from argot.jargon_db.store.verified_answers import VerifiedAnswers

if TYPE_CHECKING:
    from argot.jargon_db.formats.import_export import GlossaryFiles
    from argot.postgresql.stores import PostgresqlStores


class Glossary:
    """The parts of one glossary, which read and write it over the same connections.

    It may be used by many threads; writers queue, readers never wait.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._views = Views(StoredTerms(self._connections))
        self.contexts = Contexts(self._connections)
        self.senses = Senses(self._connections)
        self.search = Search(self._connections)
        self.terms = TermList(self._connections)
        self.lookup = TermLookup(self._connections, self._views)
        self.history = History(self._connections)
        self.conflicts = Conflicts(self._connections, self.history, self._views)
        self.proposals = Proposals(self._connections)
        self.suggestions = Suggestions(self._connections, self.contexts)
        self.verified = VerifiedAnswers(self._connections)
        self.misses = Misses(self._connections)
        self.usage = SenseUsage(self._connections)
        self.mining = MiningLedger(self._connections)
        self.privacy = Privacy(self._connections)

    @cached_property
    def files(self) -> GlossaryFiles:
        # Imported here: no question needs the readers of glossary files.
        from argot.jargon_db.formats.import_export import GlossaryFiles

        return GlossaryFiles(self._connections, self.senses)

    @classmethod
    def open(cls, path: Path) -> Glossary:
        """Open the glossary in this SQLite file, which is created if missing.

        Raises:
            DamagedStore: the file is corrupt, truncated or of a newer program.
        """
        # Before any connection of the parts: tables are created and damage is detected here, once.
        prepare(path)
        return cls(SqliteConnections(path))

    @classmethod
    def on(cls, stores: PostgresqlStores) -> Glossary:
        """Open the glossary of a knowledge base on PostgreSQL, which is created if missing.

        Raises:
            DamagedStore: a newer program wrote it.
            StoreUnavailable: the server does not answer.
        """
        # Imported here: PostgreSQL is an extra.
        from argot.jargon_db.store.postgresql_connections import PostgresqlConnections

        return cls(PostgresqlConnections(stores))

    def copy(self, path: Path) -> Glossary:
        """Return a copy of the current glossary in a new SQLite file, whatever its engine: for trying changes."""
        self._connections.copy_to(path)
        copy = Glossary.open(path)
        if self._connections.dialect.engine != "sqlite":
            copy.search.rebuild()
        return copy

    def close(self) -> None:
        # First, since it waits for a view under construction, which still reads.
        self._views.close()
        self._connections.close()

    def warm(self) -> None:
        """Start to build a large glossary's matcher, which takes seconds, before it is needed."""
        self._views.warm()

    def version(self) -> int:
        """Version number that increases with every change, whoever made it."""
        row = self._connections.reader().execute("SELECT value FROM meta WHERE name = 'version'").fetchone()
        return int(row[0])
