"""Views: the terms that a person may know, ready to be found in questions. They are rebuilt when the glossary changes.

The view of a small glossary is built on demand. For a large one that takes seconds, and no question waits for it:

- The previous view is patched with the changes since, in milliseconds, and a new one is built in another thread. Until
  that is done, misspelt phrases and suggestions for unknown terms are those of the previous view.
- After more than MAX_PATCHED_CHANGES changes (an import) the previous view is used meanwhile.
- Only if a sense was hidden since, or there is no previous view, does the question wait for the new one.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from typing import Protocol

from argot.jargon_db.lookup.matcher import TermMatcher
from argot.jargon_db.lookup.normalise import normalise
from argot.jargon_db.lookup.spelling import Spelling, Suggester
from argot.types import Principal

logger = logging.getLogger(__name__)

Guards = frozenset[tuple[str, str]]
"""Pairs of audiences, of a sense and of its context."""

_ANYBODY = Principal("")
# One for each set of rights in use.
MAX_VIEWS = 16
LARGE_GLOSSARY_SENSES = 5_000
"""Number of senses from which a view is built in the background."""
MAX_PATCHED_CHANGES = 1_000
"""Number of changed senses up to which a view is patched at once."""


class TermSource(Protocol):
    """The source of the terms. Each call reads the stored state, and may be made from any thread."""

    def state(self) -> tuple[int, int]:
        """The number of the glossary's version, and of its last change."""

    def highest_sense(self) -> int:
        """The highest number of a sense, which estimates their count."""

    def guards(self) -> Guards:
        """The pairs that guard the senses."""

    def readable_guards(self, principal: Principal, guards: Guards) -> Guards:
        """Return the pairs that the principal passes."""

    def was_hidden_since(self, change: int) -> bool:
        """Return whether a readable sense may have been hidden after this change."""

    def names_changed_since(self, change: int, most: int) -> set[str] | None:
        """Return the terms and aliases, before and after, of the senses changed after this change; None if they are
        more than `most`.
        """

    def spellings(self, guards: Guards, keys: Iterable[str] | None = None) -> Iterator[Spelling]:
        """Return all spellings that these pairs guard; or only those with these keys."""

    def expansions(self, guards: Guards) -> list[tuple[str, str]]:
        """Return term and expansion of every approved sense that these pairs guard."""


class View:
    """The matcher and suggester that principals with the same readable senses share. The suggester is built when a term
    is first missed.
    """

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

    def patch(
        self,
        state: tuple[int, int],
        guards: Guards,
        matcher: TermMatcher,
        expansions: Callable[[], Iterable[tuple[str, str]]],
    ) -> View:
        """Return this view with another matcher. The suggester, which is slow to build, is kept."""
        made = View(state, guards, matcher, expansions)
        # Only if it was built: accessing the property would build it now.
        if "suggester" in vars(self):
            made.suggester = self.suggester
        return made

    def complete(self) -> None:
        """Build at once the parts that are otherwise built at the first question that needs them."""
        self.matcher.complete()
        _ = self.suggester


class Views:
    """The views of one glossary. They may be used by many threads."""

    def __init__(self, source: TermSource) -> None:
        self._source = source
        self._guard = threading.Lock()
        self._one_at_a_time = threading.Lock()
        self._views: dict[Guards, View] = {}
        self._patched: dict[Guards, View] = {}
        # Version and views are exchanged as one tuple, so that no thread sees one without the other.
        self._guards: tuple[int, Guards] = (-1, frozenset())
        self._hidden: tuple[tuple[int, int], bool] = ((-1, -1), False)
        self._making: set[Guards] = set()
        self._makers: list[threading.Thread] = []
        self._closed = False

    def cache_key(self, principal: Principal) -> tuple[int, Guards]:
        """Return the glossary's version, and the pairs of audiences that the principal passes: a cache key for the
        visible senses.
        """
        version = self._source.state()[0]
        return version, self._source.readable_guards(principal, self._get_guards(version))

    def of(self, principal: Principal) -> View:
        state = self._source.state()
        guards = self._get_guards(state[0])
        open_to = self._source.readable_guards(principal, guards)
        view = self._views.get(open_to)
        if view is not None and view.version == state[0]:
            return view
        # `_before` returns none if a sense was hidden since: that must not be found any longer.
        if self._is_large() and (before := self._before(open_to, guards, state)) is not None:
            now = self._patch_view(before, open_to, guards, state) or before
            self._start_making(open_to)
            return now
        with self._one_at_a_time:
            view = self._views.get(open_to)
            # Another thread may have built it while this one waited for the lock.
            return view if view is not None and view.version >= state[0] else self._make(open_to)

    def warm(self) -> None:
        """Start to build the views of a large glossary: for people in no group, and for those who see all.

        A question that arrives meanwhile waits only for the rest of the work.
        """
        if self._is_large():
            guards = self._get_guards(self._source.state()[0])
            for open_to in {self._source.readable_guards(_ANYBODY, guards), guards}:
                self._start_making(open_to)

    def finish(self) -> None:
        """Wait until no view is under construction."""
        for maker in list(self._makers):
            maker.join()

    def close(self) -> None:
        self._closed = True
        self.finish()

    # -- which ----------------------------------------------------------------------------------------------------

    def _get_guards(self, version: int) -> Guards:
        known = self._guards
        if known[0] != version:
            known = self._guards = (version, self._source.guards())
        return known[1]

    def _is_large(self) -> bool:
        return self._source.highest_sense() >= LARGE_GLOSSARY_SENSES

    def _before(self, open_to: Guards, guards: Guards, state: tuple[int, int]) -> View | None:
        """Return the newest view that was built for the same rights, if no sense was hidden since."""
        with self._guard:
            views = list(self._views.items())
        # Compared over the pairs that both versions have: a new audience alone does not change the rights.
        alike = [view for pairs, view in views if pairs & guards == open_to & view.guards]
        found = max(alike, key=lambda view: view.change, default=None)
        return None if found is None or self._hidden_since(found.change, state[1]) else found

    def _hidden_since(self, change: int, now: int) -> bool:
        if self._hidden[0] != (change, now):
            self._hidden = ((change, now), self._source.was_hidden_since(change))
        return self._hidden[1]

    def _patch_view(self, before: View, open_to: Guards, guards: Guards, state: tuple[int, int]) -> View | None:
        """Return the previous view patched with the changes since; None if they are too many."""
        known = self._patched.get(open_to)
        if known is not None and known.version == state[0]:
            return known
        names = self._source.names_changed_since(before.change, MAX_PATCHED_CHANGES)
        if names is None:
            return None
        keys = set(map(normalise, names)) - {""}
        expansions = partial(self._source.expansions, open_to)
        matcher = before.matcher.patch(keys, self._source.spellings(open_to, keys), expansions)
        made = before.patch(state, guards, matcher, expansions)
        with self._guard:
            _keep(self._patched, open_to, made)
        return made

    # -- making ---------------------------------------------------------------------------------------------------

    def _start_making(self, open_to: Guards) -> None:
        with self._guard:
            # Every question after a change reaches this line; one builder is enough.
            if open_to in self._making or self._closed:
                return
            self._making.add(open_to)
            # Daemon: a process that ends does not wait for a view nobody will use.
            maker = threading.Thread(
                target=self._make_in_background, args=(open_to,), name="glossary view", daemon=True
            )
            self._makers = [one for one in self._makers if one.is_alive()] + [maker]
        maker.start()

    def _make_in_background(self, open_to: Guards) -> None:
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
        state = self._source.state()
        guards = self._get_guards(state[0])
        made = View(state, guards, self._matcher(open_to), partial(self._source.expansions, open_to))
        if completely:
            made.complete()
        with self._guard:
            _keep(self._views, open_to, made)
            self._patched.pop(open_to, None)
        return made

    def _matcher(self, open_to: Guards) -> TermMatcher:
        return TermMatcher(self._source.spellings(open_to), partial(self._source.expansions, open_to))


def _keep(views: dict[Guards, View], open_to: Guards, made: View) -> None:
    # Removed first: a dict keeps the position of a key that is set again, and the oldest is dropped by position.
    views.pop(open_to, None)
    views[open_to] = made
    while len(views) > MAX_VIEWS:
        views.pop(next(iter(views)))
