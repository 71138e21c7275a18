"""The files of a conversation: which of them a message asks about as a whole, and what of them is read for it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from argot.graph.context import RunContext
from argot.tools.asked_of_file import whole_file_asked
from argot.tools.outline import overview
from argot.types import Document, Hit

_END = re.compile(r"[\s?.!…]*$")


def whole_files(message: str, files: Sequence[Document], before: Mapping[str, Any] | None) -> list[Document]:
    """The files that the message asks to be told the gist of; none: it asks for something else.

    "This" and "it" mean a file only if it came since the last turn, or that turn was about it; else what was said.

    Args:
        files: of the conversation, oldest first.
        before: the turn before this one.
    """
    meant = whole_file_asked(message, [file.name for file in files]) if files else None
    if meant is None:
        return []
    if isinstance(meant, int):
        return [files[meant]]
    seen, spoken_of = (before.get("files", []), before.get("whole", [])) if before else ([], [])
    new = [file for file in files if file.revision_id not in seen]
    same = [file for file in files if file.id in spoken_of]
    if meant == "files":
        return list(files)
    return new[-1:] or same or (list(files[-1:]) if meant == "file" else [])


def named_in(message: str, files: Sequence[Document]) -> str:
    """The message with the names of the files it is about: "What is this about (plan.pdf)?"."""
    end = _END.search(message)
    place = end.start() if end else len(message)
    names = ", ".join(file.name for file in files)
    return message if all(file.name in message for file in files) else f"{message[:place]} ({names}){message[place:]}"


def hits_of_files(ids: Sequence[str], run: RunContext) -> list[Hit]:
    """The passages that tell most of these documents as wholes, document by document, in their order.

    At most as many as an answer keeps (`passages` of the profile), evenly from each document.
    """
    held = {document.id: document for document in run.corpus.store.documents_of_conversation(run.principal)}
    wanted = [held[id_] for id_ in ids if id_ in held]
    room = max(1, run.profile.passages // max(1, len(wanted)))
    return [
        Hit(passage, document, 1.0, {})
        for document in wanted
        for passage in overview(run.corpus.store.passages_of(run.principal, document.id), room)
    ][: run.profile.passages]
