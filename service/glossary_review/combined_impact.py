"""Impact of several changes at once on past questions: those a manager selected, tried together in one copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from argot.errors import Conflict, NotAllowed, NotFound
from argot.service.glossary_review.impact import TRIED, Change

if TYPE_CHECKING:
    from argot.jargon_db.glossary import Glossary
    from argot.types import Principal

MAX_SENSES = 100
"""Maximum senses tried at once; changes by further ones are not examined."""
SECONDS = 4.0
"""Time limit for asking questions: the result is shown while the manager selects."""


def plan_approvals(glossary: Glossary, principal: Principal, seen: Sequence[tuple[int, int]]) -> Change:
    """Return the change that approves these drafts, each named with the version that was seen.

    Those that cannot be approved are left out, as in the real change.
    """
    names: list[str] = []
    for number, _ in seen:
        try:
            sense = glossary.senses.get(principal, number)
        # Removed since it was seen.
        except NotFound:
            continue
        names += [sense.term, *sense.aliases]

    def apply(copy: Glossary) -> None:
        for number, version in seen:
            try:
                copy.senses.approve(principal, number, version, TRIED)
            except (Conflict, NotAllowed, NotFound):
                continue

    # The versions are part of the key, so that a draft that has changed is tried again.
    return Change(("approve many", *seen), tuple(dict.fromkeys(names)), apply)


def plan_acceptances(glossary: Glossary, principal: Principal, numbers: Sequence[int], context: str) -> Change:
    """Return the change that makes approved senses of these proposals; `context` applies to those for which none was
    proposed.

    Those that cannot be accepted are left out, as in the real change.
    """
    wanted = set(numbers)
    names = [one.term for one in glossary.proposals.find(principal) if one.id in wanted]

    def apply(copy: Glossary) -> None:
        copy.proposals.accept_many(principal, numbers, context=context, status="approved", why=TRIED)

    return Change(("accept many", context, *numbers), tuple(dict.fromkeys(names)), apply)
