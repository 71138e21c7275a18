"""Recognition of questions about a file of the conversation: "What does the file say about wages?".

Such a question is then searched for in that file alone, without the words that mention the file. Conservative, as in
`whole_file_questions.py`: "the manual" may be any document, "this document" and "rota.md" are attachments. The words
are data of each language (`argot/languages`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from argot.languages.request_patterns import RequestPatterns, fold_accents, list_requests
from argot.tools.reading.whole_file_questions import MAX_CHARS, Pointer


@dataclass(frozen=True, slots=True)
class FileQuestion:
    """A question and the file it is about. An empty `question` means the previous one.

    `is_follow_up`: the question may refer to earlier messages.
    """

    pointer: Pointer | int
    question: str
    is_follow_up: bool = False


def parse_file_question(message: str, names: Sequence[str]) -> FileQuestion | None:
    """Return the question that the message asks of a file; None if it mentions none.

    names: of the available files; the pointer is the number of one that the message names.
    """
    # The limit applies to the asker's own words, whatever the length of a file's name.
    if len(message) > MAX_CHARS + max(map(len, names), default=0):
        return None
    marked = _replace_names(unicodedata.normalize("NFC", " ".join(message.replace("’", "'").split())), names)
    for words in list_requests("detail", message):
        if found := _read_question(marked, words, names):
            return found
    return None


def _read_question(marked: str, words: RequestPatterns, names: Sequence[str]) -> FileQuestion | None:
    marked = _keep_between(marked, end=words.ending.search(fold_accents(marked)))
    if found := _match_first(words.compile("again"), marked):
        return FileQuestion(_read_pointer(found), "")
    marked = _keep_between(marked, opening=words.opening.match(fold_accents(marked)))
    if found := _match_first(words.compile("topics"), marked):
        topic = _restore_names(marked[slice(*found.span("topic"))], names)
        is_follow_up = _match_first(words.compile("leans"), topic) is not None
        # In the words of the topic only: "what does the file say" would be searched for as well.
        return FileQuestion(_read_pointer(found), words.texts["about"] % topic, is_follow_up)
    if found := _match_first(words.compile("questions"), marked):
        question = _restore_names(marked[slice(*found.span("question"))], names).rstrip(",;: ")
        return FileQuestion(
            _read_pointer(found), words.texts["ask"] % f"{question[:1].upper()}{question[1:]}", is_follow_up=True
        )
    return None


def _keep_between(text: str, *, opening: re.Match[str] | None = None, end: re.Match[str] | None = None) -> str:
    return text[opening.end() if opening else 0 : end.start() if end else len(text)]


def _match_first(patterns: Sequence[re.Pattern[str]], text: str) -> re.Match[str] | None:
    return next((found for one in patterns if (found := one.fullmatch(fold_accents(text)))), None)


def _read_pointer(found: re.Match[str]) -> Pointer | int:
    groups = found.groupdict()
    if groups.get("name"):
        return int(groups["name"].casefold().removeprefix("name"))
    return "files" if groups.get("files") else "file" if groups.get("file") else "it"


def _replace_names(text: str, names: Sequence[str]) -> str:
    """Return each file's name replaced by one word. Only with its extension: "puc.md" is a file, "PUC" is a term."""
    # The longest first, so that "rota.md" is not found within "old rota.md".
    for number, name in sorted(enumerate(names), key=lambda one: -len(one[1])):
        if PurePosixPath(name).suffix:
            spelt = re.escape(unicodedata.normalize("NFC", " ".join(name.split())))
            text = re.sub(rf"(?<!\w)[\"'“”„`]?{spelt}[\"'“”`]?(?!\w)", f"name{number}", text, flags=re.IGNORECASE)
    return text


def _restore_names(text: str, names: Sequence[str]) -> str:
    return re.sub(r"\bname(\d+)\b", lambda mark: names[int(mark[1])] if int(mark[1]) < len(names) else mark[0], text)
