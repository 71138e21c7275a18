"""A conversation as a file: Markdown to read and pass on, or JSON with everything."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Literal

from argot.locations import place
from argot.results import AskResult, Sentence
from argot.service.json_values import convert_to_json
from argot.service.threads.thread_store import ThreadRead

MAX_NAME_CHARS = 60
# Titles, questions and names are untrusted text and must not act as Markdown.
_MARKS = re.compile(r"([\\`*_{}\[\]<>#|])")


def export_thread(thread: ThreadRead, form: Literal["markdown", "json"]) -> tuple[str, str, str]:
    """Return the file's name, media type and text."""
    name = make_file_name(thread.title)
    if form == "json":
        text = json.dumps(convert_to_json(thread), ensure_ascii=False, indent=2)
        return f"{name}.json", "application/json", f"{text}\n"
    return f"{name}.md", "text/markdown", "\n".join(_render_lines(thread))


def make_file_name(title: str) -> str:
    """Return only letters, digits and hyphens, because the name goes into a header, and onto a disk."""
    # NFKD splits off accents, which ASCII then drops: `é` becomes `e`.
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode("ascii").casefold()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:MAX_NAME_CHARS].strip("-") or "conversation"


def _render_lines(thread: ThreadRead) -> Iterator[str]:
    yield f"# {_escape_markdown(thread.title)}\n"
    yield f"Begun {thread.created_at[:16]}, last used {thread.updated_at[:16]}.\n"
    # Turns count from 0, so the number of the first stored one is the number of missing ones.
    if gone := thread.turns[0].turn if thread.turns else 0:
        yield f"*{gone} earlier questions are no longer kept.*\n"
    for result in thread.turns:
        yield f"## {_escape_markdown(result.question)}\n"
        yield f"{_answer(result)}\n"
        yield from _render_readings(result)
        yield from _render_sources(result)
        yield from (f"> {_escape_markdown(note)}\n" for note in result.notes)


def _answer(result: AskResult) -> str:
    if not result.sentences:
        return "\n".join(map(_escape_markdown, result.answer.splitlines()))
    # Tables and lists keep their lines, prose becomes one paragraph.
    return "\n\n".join(_render_sentences(result)) if _has_blocks(result) else _render_prose(result)


def _has_blocks(result: AskResult) -> bool:
    return any("\n" in one.text or one.text.lstrip().startswith(("|", "-", "*")) for one in result.sentences)


def _render_prose(result: AskResult) -> str:
    return " ".join(_render_sentences(result))


def _render_sentences(result: AskResult) -> Iterator[str]:
    yield from map(_render_sentence, result.sentences, result.list_marks())


def _render_sentence(sentence: Sentence, numbers: Sequence[int]) -> str:
    marks = "(no passage supports this)" if sentence.lacks_support else "".join(f"[{n}]" for n in numbers)
    return f"{sentence.text.strip()} {marks}".rstrip()


def _render_readings(result: AskResult) -> Iterator[str]:
    if result.jargon:
        yield "Understood as:\n"
        for one in result.jargon:
            context = f" ({_escape_markdown(one.context)})" if one.context else ""
            yield f"- **{_escape_markdown(one.surface)}**: {_escape_markdown(one.meaning)}{context}"
        yield ""


def _render_sources(result: AskResult) -> Iterator[str]:
    if result.cited_passages:
        yield "Sources:\n"
        for passage in result.cited_passages:
            heading = f": {_escape_markdown(passage.heading)}" if passage.heading else ""
            fresh = f", {_escape_markdown(passage.freshness)}" if passage.freshness else ""
            where = place(passage.document, passage.page, passage.page_kind)
            pictures = "".join(f"; {_escape_markdown(one.label)}" for one in passage.pictures)
            yield f"- [{passage.n}] {_escape_markdown(passage.name)}{where}{fresh}{heading}{pictures}"
        yield ""


def _escape_markdown(text: str) -> str:
    return _MARKS.sub(r"\\\1", " ".join(text.split()))
