"""The files of a conversation: which of them a message asks about, whole or in part, and which passages are read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from argot.corpus.store.revision_reads import read_documents
from argot.graph.run_context import RunContext
from argot.languages.catalogues import translate, translate_number
from argot.tools.answering.file_outline import select_overview
from argot.tools.reading.file_kinds import filter_by_kind
from argot.tools.reading.file_questions import FileQuestion, parse_file_question
from argot.tools.reading.whole_file_questions import Pointer, find_asked_file
from argot.types import Document, Hit

# White space and punctuation at the very end; it always matches, if only the empty string.
_END = re.compile(r"[\s?.!…]*$")


def list_files(run: RunContext) -> list[Document]:
    """Return the documents that "this file" can mean: those the question is limited to, then the conversation's files,
    oldest first.
    """
    own = run.corpus.store.list_conversation_documents(run.principal)
    return [*(read_documents(run.corpus.store, run.principal, run.documents) if run.documents else ()), *own]


def find_whole_files(message: str, files: Sequence[Document], before: Mapping[str, Any] | None) -> list[Document]:
    """Return the files whose gist the message asks for; none if it asks for something else.

    "This" and "it" mean a file only if it was added since the last turn, or that turn was about it; otherwise they mean
    the previous answer.

    Args:
        files: of the conversation, oldest first.
        before: the turn before this one.
    """
    meant = find_asked_file(message, [file.name for file in files]) if files else None
    if meant is None:
        asked = _find_same_again(message, files, before)
        return [files[asked]] if asked is not None else []
    return _find_meant(meant, files, before, message)


def find_inside_files(
    message: str, files: Sequence[Document], before: Mapping[str, Any] | None
) -> tuple[list[Document], FileQuestion] | None:
    """Return the files of the conversation that the message asks about, and its question; None if it mentions none.

    "It" means a file as for `find_whole_files`. "And plan.pdf?" repeats the previous question for that file.
    """
    asked = parse_file_question(message, [file.name for file in files]) if files else None
    meant = _find_meant(asked.pointer, files, before, message) if asked else []
    if asked is None or not meant:
        return None
    # "And plan.pdf?"
    if not asked.question and before:
        asked = FileQuestion(asked.pointer, before["stand_alone_question"])
    return meant, asked


def _find_same_again(message: str, files: Sequence[Document], before: Mapping[str, Any] | None) -> int | None:
    """Return the number of the file in "And plan.pdf?", if the previous turn asked for the gist of a file, or there was
    none.
    """
    asked = parse_file_question(message, [file.name for file in files]) if files else None
    again = asked is not None and not asked.question and (before is None or bool(before.get("whole")))
    return asked.pointer if asked and again and isinstance(asked.pointer, int) else None


def _find_meant(
    meant: Pointer | int, files: Sequence[Document], before: Mapping[str, Any] | None, message: str
) -> list[Document]:
    """Return the files that are pointed at; none if "it" is none of them."""
    if isinstance(meant, int):
        return [files[meant]]
    # "The PDF" is no spreadsheet, whichever was added last.
    files = files if meant == "it" else filter_by_kind(message, files)
    seen = before.get("files", []) if before else []
    last_asked = [*before.get("whole", []), *before.get("scope", [])] if before else []
    # By revision, so that a changed file that was added again counts as new.
    new = [file for file in files if file.revision_id not in seen]
    same = [file for file in files if file.id in last_asked]
    if meant == "files":
        return list(files)
    # "The file" must be one of them; "it" and "this" may also mean the previous answer.
    return new[-1:] or same or (list(files[-1:]) if meant == "file" else [])


def add_file_names(message: str, files: Sequence[Document]) -> str:
    """Return the message with the names of the files it is about: "What is this about (plan.pdf)?"."""
    end = _END.search(message)
    place = end.start() if end else len(message)
    names = ", ".join(file.name for file in files)
    return message if all(file.name in message for file in files) else f"{message[:place]} ({names}){message[place:]}"


def load_file_hits(ids: Sequence[str], run: RunContext) -> list[Hit]:
    """Return the passages that best represent these documents as wholes, document by document, in their order.

    At most as many as an answer keeps (`passages` of the profile), evenly from each document.
    """
    held = {document.id: document for document in list_files(run)}
    wanted = [held[id_] for id_ in ids if id_ in held]
    room = max(1, run.profile.passages // max(1, len(wanted)))
    return [
        Hit(passage, document, 1.0, {})
        for document in wanted
        for passage in select_overview(run.corpus.store.passages_of(run.principal, document.id), room)
    ][: run.profile.passages]


def write_scope_notes(turn: Mapping[str, Any], run: RunContext) -> list[str]:
    """Return a note that names the only files searched, limited to those this principal may read."""
    wanted = turn.get("scope", [])
    names = [one.name for one in read_documents(run.corpus.store, run.principal, wanted)] if wanted else []
    if wanted and not names:
        return [translate("What alone was to be searched is not there any more, or not for you.")]
    one, many = "Only %(names)s was searched, as you asked.", "Only %(names)s were searched, as you asked."
    return [translate_number(one, many, len(names), names=translate(" and ").join(names))] if names else []
