"""What questions are read with: the terms one may know, found fast. Made anew when the glossary changes.

A small glossary's view is made when it is asked for. For a large one that takes seconds, and no question waits so long:
the view before is changed in what was changed since, which takes milliseconds, and a new one is made beside the
questions; until then misspelt phrases and what is offered for unknown terms are those of the view before. After more
changes than that (an import) the view before serves meanwhile, as it is. Only where something was hidden since, or
there is no view before, is the new one waited for.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from argot.jargon_db.connections import Connections
from argot.jargon_db.matching import Spelling, TermMatcher
from argot.jargon_db.normalise import normalise
from argot.jargon_db.rows import may_read
from argot.jargon_db.snapshots import loaded
from argot.jargon_db.spelling import Suggester
from argot.jargon_db.statements import statement
from argot.types import Principal

logger = logging.getLogger(__name__)

Guards = frozenset[tuple[str, str]]
"""Pairs of audiences, of a sense and of its context."""

_ANYBODY = Principal("")
MOST_KEPT = 16
LARGE = 5_000
"""Senses from which on a view is made beside the questions."""
MOST_CHANGED = 1_000
"""Changed senses up to which a view is changed for them at once."""
_STATE = "SELECT (SELECT value FROM meta WHERE name = 'version'), (SELECT coalesce(max(id), 0) FROM changes)"
_GUARDS = (
    "SELECT DISTINCT senses.audience, contexts.audience "
    "FROM senses JOIN contexts ON contexts.id = senses.context WHERE NOT senses.removed"
)
_HIDDEN_SINCE = """
SELECT 1 FROM history WHERE change > ? AND (
    audience_was IS NOT NULL OR context_was IS NOT NULL OR (subject = 'context' AND before IS NOT NULL)
) LIMIT 1
"""

_CHANGED = "SELECT before, after FROM history WHERE change > ? AND subject = 'sense' LIMIT ?"


class View:
    """What principals with the same readable senses share. The suggester is made when a term is first missed."""

    def __init__(
        self,
        state: tuple[int, int],
        guards: Guards,
        matcher: TermMatcher,
        expansions: Callable[[], Iterable[tuple[str, str]]],
    ) -> None:
        self.version, self.change = state
        self.guards = guards
        self.matcher = matcher
        self._expansions = expansions

    @cached_property
    def suggester(self) -> Suggester:
        return Suggester(self.matcher.near, self._expansions())

    def changed(
        self,
        state: tuple[int, int],
        guards: Guards,
        matcher: TermMatcher,
        expansions: Callable[[], Iterable[tuple[str, str]]],
    ) -> View:
        """A view with another matcher; what takes long to make is that of this one."""
        made = View(state, guards, matcher, expansions)
        if "suggester" in vars(self):
            made.suggester = self.suggester
        return made

    def complete(self) -> None:
        """Makes what would be made at the first question that needs it."""
        self.matcher.complete()
        _ = self.suggester


class Views:
    """The views of one glossary. May be used by many threads."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._guard = threading.Lock()
        self._one_at_a_time = threading.Lock()
        self._views: dict[Guards, View] = {}
        self._patched: dict[Guards, View] = {}
        self._guards: tuple[int, Guards] = (-1, frozenset())
        self._hidden: tuple[tuple[int, int], bool] = ((-1, -1), False)
        self._making: set[Guards] = set()
        self._makers: list[threading.Thread] = []
        self._closed = False

    def standing(self, principal: Principal) -> tuple[int, Guards]:
        """The glossary's version, and what the principal may read of it: the same for all who see the same."""
        version = self._state()[0]
        return version, _open_to(principal, self._guards_at(version))

    def of(self, principal: Principal) -> View:
        state = self._state()
        guards = self._guards_at(state[0])
        open_to = _open_to(principal, guards)
        view = self._views.get(open_to)
        if view is not None and view.version == state[0]:
            return view
        if self._is_large() and (before := self._before(open_to, guards, state)) is not None:
            now = self._changed(before, open_to, guards, state) or before
            self._make_beside(open_to)
            return now
        with self._one_at_a_time:
            view = self._views.get(open_to)
            return view if view is not None and view.version >= state[0] else self._make(open_to)

    def warm(self) -> None:
        """Begins to make what those may know who are in no group, and those who see all, if it is large.

        Whoever asks meanwhile waits for the rest of it, not for all.
        """
        if self._is_large():
            guards = self._guards_at(self._state()[0])
            for open_to in {_open_to(_ANYBODY, guards), guards}:
                self._make_beside(open_to)

    def finish(self) -> None:
        """Waits until nothing is being made any more."""
        for maker in list(self._makers):
            maker.join()

    def close(self) -> None:
        self._closed = True
        self.finish()

    # -- which ----------------------------------------------------------------------------------------------------

    def _state(self) -> tuple[int, int]:
        """The number of the glossary's version, and of its last change."""
        version, change = self._connections.reader().execute(_STATE).fetchone()
        return int(version), int(change)

    def _guards_at(self, version: int) -> Guards:
        """The pairs that guard the senses."""
        known = self._guards
        if known[0] != version:
            pairs = frozenset((row[0], row[1]) for row in self._connections.reader().execute(_GUARDS))
            known = self._guards = (version, pairs)
        return known[1]

    def _is_large(self) -> bool:
        row = self._connections.reader().execute("SELECT coalesce(max(id), 0) FROM senses").fetchone()
        return int(row[0]) >= LARGE

    def _before(self, open_to: Guards, guards: Guards, state: tuple[int, int]) -> View | None:
        """The newest view that was made for the same rights, if nothing was hidden since."""
        with self._guard:
            views = list(self._views.items())
        alike = [view for pairs, view in views if pairs & guards == open_to & view.guards]
        found = max(alike, key=lambda view: view.change, default=None)
        return None if found is None or self._hidden_since(found.change, state[1]) else found

    def _hidden_since(self, change: int, now: int) -> bool:
        if self._hidden[0] != (change, now):
            row = self._connections.reader().execute(_HIDDEN_SINCE, (change,)).fetchone()
            self._hidden = ((change, now), row is not None)
        return self._hidden[1]

    def _changed(self, before: View, open_to: Guards, guards: Guards, state: tuple[int, int]) -> View | None:
        """The view before, changed in what was changed since; None if that is too much."""
        known = self._patched.get(open_to)
        if known is not None and known.version == state[0]:
            return known
        rows = self._connections.reader().execute(_CHANGED, (before.change, MOST_CHANGED + 1)).fetchall()
        if len(rows) > MOST_CHANGED:
            return None
        keys = {normalise(name) for row in rows for name in _names(row)} - {""}
        found = self._connections.reader().execute(statement("matchable_of"), {"keys": json.dumps(sorted(keys))})

        def expansions() -> list[tuple[str, str]]:
            return self._expansions(open_to)

        made = before.changed(
            state, guards, before.matcher.changed(keys, _spellings(found, open_to), expansions), expansions
        )
        with self._guard:
            _keep(self._patched, open_to, made)
        return made

    # -- making ---------------------------------------------------------------------------------------------------

    def _make_beside(self, open_to: Guards) -> None:
        with self._guard:
            if open_to in self._making or self._closed:
                return
            self._making.add(open_to)
            maker = threading.Thread(target=self._in_thread, args=(open_to,), name="glossary view", daemon=True)
            self._makers = [one for one in self._makers if one.is_alive()] + [maker]
        maker.start()

    def _in_thread(self, open_to: Guards) -> None:
        try:
            with self._one_at_a_time:
                if not self._closed:
                    self._make(open_to, completely=True)
        except Exception:
            logger.exception("the glossary's terms were not made ready; questions go on with those before")
        finally:
            with self._guard:
                self._making.discard(open_to)

    def _make(self, open_to: Guards, *, completely: bool = False) -> View:
        state = self._state()
        guards = self._guards_at(state[0])
        made = View(state, guards, self._matcher(open_to), lambda: self._expansions(open_to))
        if completely:
            made.complete()
        with self._guard:
            _keep(self._views, open_to, made)
            self._patched.pop(open_to, None)
        return made

    def _matcher(self, open_to: Guards) -> TermMatcher:
        rows = self._connections.reader().execute(statement("matchable"))
        return TermMatcher(_spellings(rows, open_to), lambda: self._expansions(open_to))

    def _expansions(self, open_to: Guards) -> list[tuple[str, str]]:
        rows = self._connections.reader().execute(statement("expansions"))
        return [(term, expansion) for term, expansion, *guard in rows if tuple(guard) in open_to]


def _keep(views: dict[Guards, View], open_to: Guards, made: View) -> None:
    """Puts a view in as the newest, and takes the oldest out where there are too many."""
    views.pop(open_to, None)
    views[open_to] = made
    while len(views) > MOST_KEPT:
        views.pop(next(iter(views)))


def _spellings(rows: Iterable[tuple[str, ...]], open_to: Guards) -> Iterator[Spelling]:
    return (Spelling(term, spelling, key) for term, spelling, key, *guard in rows if tuple(guard) in open_to)


def _names(row: tuple[str | None, ...]) -> Iterator[str]:
    """The term and its aliases, before and after a change of a sense."""
    for kept in filter(None, map(loaded, row)):
        yield from (kept["term"], *kept["aliases"])


def _open_to(principal: Principal, guards: Guards) -> Guards:
    return frozenset(guard for guard in guards if may_read(principal, *guard))
