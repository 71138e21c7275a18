"""The files of a conversation: which of them a message asks about, whole or inside, and which passages are read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from argot.corpus.store.revision_reads import read_documents
from argot.graph.run_context import RunContext
from argot.tools.answering.file_outline import overview
from argot.tools.reading.file_kinds import of_kind_named
from argot.tools.reading.file_questions import AskedInFile, asked_in_file
from argot.tools.reading.whole_file_questions import Pointer, whole_file_asked
from argot.types import Document, Hit

# White space and punctuation at the very end; it always matches, if only the empty string.
_END = re.compile(r"[\s?.!…]*$")


def files_at_hand(run: RunContext) -> list[Document]:
    """What "this file" can mean: documents that alone are asked, and the files of the conversation, oldest first."""
    own = run.corpus.store.list_conversation_documents(run.principal)
    return [*(read_documents(run.corpus.store, run.principal, run.documents) if run.documents else ()), *own]


def whole_files(message: str, files: Sequence[Document], before: Mapping[str, Any] | None) -> list[Document]:
    """The files that the message asks to be told the gist of; none: it asks for something else.

    "This" and "it" mean a file only if it came since the last turn, or that turn was about it; else what was said.

    Args:
        files: of the conversation, oldest first.
        before: the turn before this one.
    """
    meant = whole_file_asked(message, [file.name for file in files]) if files else None
    if meant is None:
        asked = _same_again(message, files, before)
        return [files[asked]] if asked is not None else []
    return _meant(meant, files, before, message)


def inside_files(
    message: str, files: Sequence[Document], before: Mapping[str, Any] | None
) -> tuple[list[Document], AskedInFile] | None:
    """What the message asks of files of the conversation, and of which; None: it speaks of none.

    "It" means a file as for `whole_files`. "And plan.pdf?" asks the question before once more, of that file.
    """
    asked = asked_in_file(message, [file.name for file in files]) if files else None
    meant = _meant(asked.pointer, files, before, message) if asked else []
    if asked is None or not meant:
        return None
    # "And plan.pdf?"
    if not asked.question and before:
        asked = AskedInFile(asked.pointer, before["stand_alone_question"])
    return meant, asked


def _same_again(message: str, files: Sequence[Document], before: Mapping[str, Any] | None) -> int | None:
    """The number of the file in "And plan.pdf?", if the turn before asked for the gist of a file, or there was none."""
    asked = asked_in_file(message, [file.name for file in files]) if files else None
    again = asked is not None and not asked.question and (before is None or bool(before.get("whole")))
    return asked.pointer if asked and again and isinstance(asked.pointer, int) else None


def _meant(
    meant: Pointer | int, files: Sequence[Document], before: Mapping[str, Any] | None, message: str
) -> list[Document]:
    """The files that are pointed at; none: "it" is none of them."""
    if isinstance(meant, int):
        return [files[meant]]
    # "The PDF" is no sheet, whichever came last.
    files = files if meant == "it" else of_kind_named(message, files)
    seen = before.get("files", []) if before else []
    spoken_of = [*before.get("whole", []), *before.get("scope", [])] if before else []
    # By revision: a file that was put in once more, changed, is new.
    new = [file for file in files if file.revision_id not in seen]
    same = [file for file in files if file.id in spoken_of]
    if meant == "files":
        return list(files)
    # "The file" must be one of them, "it" and "this" may also be what was said before.
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
    held = {document.id: document for document in files_at_hand(run)}
    wanted = [held[id_] for id_ in ids if id_ in held]
    room = max(1, run.profile.passages // max(1, len(wanted)))
    return [
        Hit(passage, document, 1.0, {})
        for document in wanted
        for passage in overview(run.corpus.store.passages_of(run.principal, document.id), room)
    ][: run.profile.passages]


def scope_notes(turn: Mapping[str, Any], run: RunContext) -> list[str]:
    """Which files alone were searched, by name; of those that this principal may read."""
    wanted = turn.get("scope", [])
    names = [one.name for one in read_documents(run.corpus.store, run.principal, wanted)] if wanted else []
    if wanted and not names:
        return ["What alone was to be searched is not there any more, or not for you."]
    were = "were" if len(names) > 1 else "was"
    return [f"Only {' and '.join(names)} {were} searched, as you asked."] if names else []
