"""Views: the terms that somebody may know, ready to be found in questions. Made anew when the glossary changes.

The view of a small glossary is made when it is asked for. For a large one that takes seconds, which no question waits:

- The view before is patched with what changed since, in milliseconds, and a new one is made in another thread. Until
  that is done, misspelt phrases and suggestions for unknown terms are those of the view before.
- After more than MAX_PATCHED_CHANGES changes (an import) the view before serves as it is meanwhile.
- Only if something was hidden since, or there is no view before, does the question wait for the new one.
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
"""Senses from which on a view is made beside the questions."""
MAX_PATCHED_CHANGES = 1_000
"""Changed senses up to which a view is changed for them at once."""


class TermSource(Protocol):
    """The source of the terms. Each call reads what is stored now, and may be made from any thread."""

    def state(self) -> tuple[int, int]:
        """The number of the glossary's version, and of its last change."""

    def highest_sense(self) -> int:
        """The highest number of a sense: about how many there are."""

    def guards(self) -> Guards:
        """The pairs that guard the senses."""

    def readable_guards(self, principal: Principal, guards: Guards) -> Guards:
        """Return the pairs that the principal passes."""

    def was_hidden_since(self, change: int) -> bool:
        """Return whether something readable may have been hidden after this change."""

    def names_changed_since(self, change: int, most: int) -> set[str] | None:
        """The terms and aliases that senses changed after this change have or had; None: of more senses than `most`."""

    def spellings(self, guards: Guards, keys: Iterable[str] | None = None) -> Iterator[Spelling]:
        """All spellings that these pairs guard; or those with these keys alone."""

    def expansions(self, guards: Guards) -> list[tuple[str, str]]:
        """Term and expansion of every approved sense that these pairs guard."""


class View:
    """The matcher and suggester that principals with the same readable senses share. The suggester is made when a term
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
        """This view with another matcher. The suggester, which takes long to make, is kept as it is."""
        made = View(state, guards, matcher, expansions)
        # Only if it was made: asking for the property would make it now.
        if "suggester" in vars(self):
            made.suggester = self.suggester
        return made

    def complete(self) -> None:
        """Makes at once what is otherwise made at the first question that needs it."""
        self.matcher.complete()
        _ = self.suggester


class Views:
    """The views of one glossary. May be used by many threads."""

    def __init__(self, source: TermSource) -> None:
        self._source = source
        self._guard = threading.Lock()
        self._one_at_a_time = threading.Lock()
        self._views: dict[Guards, View] = {}
        self._patched: dict[Guards, View] = {}
        # Of which version, and what: exchanged as one tuple, so that no thread sees one without the other.
        self._guards: tuple[int, Guards] = (-1, frozenset())
        self._hidden: tuple[tuple[int, int], bool] = ((-1, -1), False)
        self._making: set[Guards] = set()
        self._makers: list[threading.Thread] = []
        self._closed = False

    def cache_key(self, principal: Principal) -> tuple[int, Guards]:
        """The glossary's version, and the pairs of audiences that the principal passes: a key for what they may see."""
        version = self._source.state()[0]
        return version, self._source.readable_guards(principal, self._get_guards(version))

    def of(self, principal: Principal) -> View:
        state = self._source.state()
        guards = self._get_guards(state[0])
        open_to = self._source.readable_guards(principal, guards)
        view = self._views.get(open_to)
        if view is not None and view.version == state[0]:
            return view
        # `_before` gives none where something was hidden since: that must not be found for a moment longer.
        if self._is_large() and (before := self._before(open_to, guards, state)) is not None:
            now = self._patch_view(before, open_to, guards, state) or before
            self._start_making(open_to)
            return now
        with self._one_at_a_time:
            view = self._views.get(open_to)
            # Another thread may have made it while this one waited for the lock.
            return view if view is not None and view.version >= state[0] else self._make(open_to)

    def warm(self) -> None:
        """Begins to make the views of a large glossary: for people in no group, and for those who see all.

        Whoever asks meanwhile waits for the rest of the work only.
        """
        if self._is_large():
            guards = self._get_guards(self._source.state()[0])
            for open_to in {self._source.readable_guards(_ANYBODY, guards), guards}:
                self._start_making(open_to)

    def finish(self) -> None:
        """Waits until nothing is being made any more."""
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
        """The newest view that was made for the same rights, if nothing was hidden since."""
        with self._guard:
            views = list(self._views.items())
        # Compared over the pairs that both versions know: a new audience alone makes the rights no others.
        alike = [view for pairs, view in views if pairs & guards == open_to & view.guards]
        found = max(alike, key=lambda view: view.change, default=None)
        return None if found is None or self._hidden_since(found.change, state[1]) else found

    def _hidden_since(self, change: int, now: int) -> bool:
        if self._hidden[0] != (change, now):
            self._hidden = ((change, now), self._source.was_hidden_since(change))
        return self._hidden[1]

    def _patch_view(self, before: View, open_to: Guards, guards: Guards, state: tuple[int, int]) -> View | None:
        """The view before, with the changes since put into it; None if they are too many."""
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
            # Every question after a change comes by here; one maker is enough.
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
    # Out first: a dict keeps the place of a key that is set again, and the oldest is taken by place.
    views.pop(open_to, None)
    views[open_to] = made
    while len(views) > MAX_VIEWS:
        views.pop(next(iter(views)))
