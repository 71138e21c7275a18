"""What a passage is asked without a language model: by its headings, by what it defines, by a sentence of its own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from argot.learn.questions.cloze_sentences import cloze_sentence
from argot.learn.questions.heading_wording import asked
from argot.learn.questions.section_questions import Section, section_below, sections_of
from argot.learn.questions.stated_definitions import definition_question, short_form_question
from argot.tools.answering.embedded_instructions import is_instruction
from argot.tools.text.markdown_prose import extract_prose
from argot.tools.text.sentences import split_units

LEAST_WORDS = 10
"""Below a heading, for it to be answered there."""


@dataclass(frozen=True, slots=True)
class MadeQuestion:
    """A question that may become a pair. `answer` may be empty."""

    kind: str
    question: str
    answer: str = ""


def headings_of(text: str, title: str, *, first: bool) -> list[str]:
    """The headings of a passage under which there is enough to answer; arguments as for `passage_questions`."""
    return [one.heading for one in _sections(text, title, first)]


def passage_questions(
    text: str, title: str, kinds: Iterable[str], *, first: bool = False, repeated: frozenset[str] = frozenset()
) -> Iterator[MadeQuestion]:
    """
    Args:
        text: the passage's Markdown.
        title: the document's.
        kinds: of "heading", "definition", "cloze".
        first: the document begins with this passage: without a heading of its own it stands below the title.
        repeated: headings, folded, that stand in several places.
    """
    kinds = set(kinds)
    sentences = prose_sentences(text) if kinds & {"definition", "cloze"} else ()
    # First, for they have answers: a heading often asks nearly the same.
    if "definition" in kinds:
        yield from _of_definitions(sentences)
    if "heading" in kinds:
        for section in _sections(text, title, first):
            yield from _of_heading(section, title, repeated)
    # A passage from which its definition is taken would not answer what it is.
    said = [one for one in sentences if not definition_question(one, 0) and not short_form_question(one, 0)]
    if "cloze" in kinds and (sentence := cloze_sentence(said)):
        yield MadeQuestion("cloze", sentence)


def _sections(text: str, title: str, first: bool) -> list[Section]:
    # One word alone, as "Connections", asks for nothing: of what?
    below_title = first and len(title.split()) > 1 and not sections_of(text, 0)
    return section_below(title, text, LEAST_WORDS) if below_title else sections_of(text, LEAST_WORDS)


def _of_heading(section: Section, title: str, repeated: frozenset[str]) -> Iterator[MadeQuestion]:
    ambiguous = section.heading.casefold() in repeated
    if question := asked(section.heading, title, section.text, _place(section.text), ambiguous=ambiguous):
        yield MadeQuestion("heading", question)


def _of_definitions(sentences: Iterable[str]) -> Iterator[MadeQuestion]:
    for sentence in sentences:
        place = _place(sentence)
        for found in (definition_question(sentence, place), short_form_question(sentence, place)):
            if found:
                yield MadeQuestion("definition", *found)


@lru_cache(maxsize=256)
def prose_sentences(text: str) -> tuple[str, ...]:
    """The sentences of the passage's prose, without mark-up; none that speaks to a model."""
    found = (text[start:end] for start, end, kind in split_units(text) if kind == "prose")
    plain = (" ".join(extract_prose(one).text.split()) for one in found)
    return tuple(one for one in plain if one and not is_instruction(one))


def _place(text: str) -> int:
    """Chooses among wordings: the same for the same text, whatever stands around it."""
    return int.from_bytes(hashlib.blake2b(re.sub(r"\s+", " ", text).encode(), digest_size=4).digest(), "big")
