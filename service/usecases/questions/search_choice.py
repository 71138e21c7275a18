"""Choice of the texts that one question searches: passages, or texts derived from them (RAIDD's S, Q, U); and the check
of the fields that it names.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from argot.corpus.store.revision_reads import list_underived_kinds
from argot.errors import InvalidInput
from argot.profile import SEARCHES
from argot.remedies import derive_command
from argot.service.usecases.questions.profiles import Switches
from argot.types import Principal, SearchChoice

if TYPE_CHECKING:
    from argot.corpus.store.document_store import CorpusStore


async def apply_search_choice(
    store: CorpusStore, search: SearchChoice | None, switches: Switches | None
) -> Switches | None:
    """Return the switches together with those of the choice; an explicit one takes precedence.

    Raises:
        InvalidInput: there are no such texts.
    """
    if search is None:
        return switches
    await asyncio.to_thread(require_searchable, store, search)
    return {**SEARCHES[search], **(switches or {})}


def require_searchable(store: CorpusStore, search: SearchChoice) -> None:
    """Check that the documents have texts of the kinds to search.

    Raises:
        InvalidInput: no text of a kind that this choice searches was derived from any document.
    """
    wanted = SEARCHES[search].get("derived_kinds")
    missing = list_underived_kinds(store, wanted if isinstance(wanted, list) else [])
    if missing:
        raise InvalidInput(
            f"'{search}' searches texts of the kind {', '.join(missing)}, and none was derived from any document."
            f" Make them with: {derive_command(missing)}"
        )


def require_fields(store: CorpusStore, principal: Principal, fields: Sequence[tuple[str, str]]) -> None:
    """Check that documents have the fields of a question's scope.

    Raises:
        InvalidInput: no document that the principal may read has a field of one of these names.
    """
    known = store.field_names(principal)
    for name, _ in fields:
        if name not in known:
            there = f"Fields: {', '.join(known)}." if known else "No document has any field yet."
            raise InvalidInput(f"No document that you may read has a field '{name:.60}'. {there}")
