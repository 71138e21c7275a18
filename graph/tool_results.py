"""Results of other servers' tools as passages: numbered, cited and checked like those of documents.

They are data like any passage. They are kept only in the turn, never in a store, an index or a cache, so that no other
asker can see them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from argot.graph.state import ToolResultRecord
from argot.languages.catalogues import translate
from argot.results import TOOL_RESULT, ToolSource
from argot.types import Document, Passage, Principal

_THREAD = r"[\w-]{1,40}"
_PIECE = re.compile(rf"result-({_THREAD})-(\d{{1,6}})-\d+-\d+")


def make_result_id(thread: str, turn: int, number: int) -> str:
    """Return the id of a result, which is short and fits into an address."""
    # A result of a thread with an unusual name is cited all the same, but cannot be opened.
    return f"result-{thread if re.fullmatch(_THREAD, thread) else 'unnamed'}-{turn}-{number}"


def list_piece_ids(result: ToolResultRecord) -> list[str]:
    return [f"{result['id']}-{n}" for n in range(len(result["pieces"]))]


def read_place(piece: str) -> tuple[str, int] | None:
    """Return the thread and the turn of a piece, by its id; None for any other id."""
    found = _PIECE.fullmatch(piece)
    return (found[1], int(found[2])) if found else None


def may_see(result: ToolResultRecord, principal: Principal) -> bool:
    """Return whether a reader asked for this result, and may still use its server."""
    return principal.name == result["asker"] and principal.may_read(frozenset(result["groups"]))


def load_results(results: Sequence[ToolResultRecord], principal: Principal) -> dict[str, tuple[Passage, Document]]:
    """Return the pieces of the results that the principal may see, by id, each as a passage of one document."""
    return {
        passage.id: (passage, document)
        for result in results
        if may_see(result, principal)
        for document in [_make_document(result)]
        for passage in _make_passages(result, document)
    }


def find_results(results: Sequence[ToolResultRecord]) -> dict[str, ToolResultRecord]:
    """Return the result of each piece, by the piece's id."""
    return {id_: result for result in results for id_ in list_piece_ids(result)}


def make_source(result: ToolResultRecord) -> ToolSource:
    return ToolSource(server=result["server"], tool=result["tool"], at=result["at"])


def name_result(result: ToolResultRecord) -> str:
    """Return the name under which a result is shown as a source."""
    return translate(
        "result of the tool %(tool)s of %(server)s, %(time)s",
        tool=result["tool"],
        server=result["server"],
        time=_format_time(result["at"]),
    )


def _format_time(at: str) -> str:
    return f"{at[:16].replace('T', ' ')} UTC"


def _make_document(result: ToolResultRecord) -> Document:
    return Document(
        id=result["id"],
        uri=f"{TOOL_RESULT}{result['server']}/{result['tool']}",
        title=f"{result['tool']} of {result['server']}, {_format_time(result['at'])}",
        media_type="text/plain",
        revision_id=result["id"],
        content_hash="",
        added_at=result["at"],
        passages=len(result["pieces"]),
    )


def _make_passages(result: ToolResultRecord, document: Document) -> list[Passage]:
    found, start = [], 0
    for ordinal, (id_, text) in enumerate(zip(list_piece_ids(result), result["pieces"], strict=True)):
        found.append(
            Passage(
                id=id_,
                document_id=document.id,
                revision_id=document.revision_id,
                ordinal=ordinal,
                start=start,
                end=start + len(text),
                text=text,
                header=f"Result of a tool, no document: {document.title}",
            )
        )
        start += len(text) + 1
    return found
