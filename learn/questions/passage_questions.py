"""What a passage is asked without a language model: by its headings, by what it defines, by a sentence of its own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from argot.learn.questions.cloze_sentences import cloze_sentence
from argot.learn.questions.heading_wording import asked
from argot.learn.questions.stated_definitions import definition_question, short_form_question
from argot.learn.reader.section_questions import Section, sections_of
from argot.tools.answering.embedded_instructions import is_instruction
from argot.tools.text.markdown_prose import plain_prose
from argot.tools.text.sentences import split_units


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question that may become a pair. `answer` may be empty."""

    kind: str
    question: str
    answer: str = ""


def headings_of(text: str) -> list[str]:
    """The headings in a passage under which there is enough to answer."""
    return [one.heading for one in sections_of(text)]


def passage_questions(
    text: str, title: str, kinds: Iterable[str], *, repeated: frozenset[str] = frozenset()
) -> Iterator[Candidate]:
    """
    Args:
        text: the passage's Markdown.
        title: the document's.
        kinds: of "heading", "definition", "cloze".
        repeated: headings, folded, that stand in several places.
    """
    kinds = set(kinds)
    sentences = prose_sentences(text) if kinds & {"definition", "cloze"} else ()
    # First, for they have answers: a heading often asks nearly the same.
    if "definition" in kinds:
        yield from _of_definitions(sentences)
    if "heading" in kinds:
        for section in sections_of(text):
            yield from _of_heading(section, title, repeated)
    # A passage from which its definition is taken would not answer what it is.
    said = [one for one in sentences if not definition_question(one, 0) and not short_form_question(one, 0)]
    if "cloze" in kinds and (sentence := cloze_sentence(said)):
        yield Candidate("cloze", sentence)


def _of_heading(section: Section, title: str, repeated: frozenset[str]) -> Iterator[Candidate]:
    ambiguous = section.heading.casefold() in repeated
    if question := asked(section.heading, title, section.text, _place(section.text), ambiguous=ambiguous):
        yield Candidate("heading", question)


def _of_definitions(sentences: Iterable[str]) -> Iterator[Candidate]:
    for sentence in sentences:
        place = _place(sentence)
        for found in (definition_question(sentence, place), short_form_question(sentence, place)):
            if found:
                yield Candidate("definition", *found)


@lru_cache(maxsize=256)
def prose_sentences(text: str) -> tuple[str, ...]:
    """The sentences of the passage's prose, without mark-up; none that speaks to a model."""
    found = (text[start:end] for start, end, kind in split_units(text) if kind == "prose")
    plain = (" ".join(plain_prose(one).text.split()) for one in found)
    return tuple(one for one in plain if one and not is_instruction(one))


def _place(text: str) -> int:
    """Chooses among wordings: the same for the same text, whatever stands around it."""
    return int.from_bytes(hashlib.blake2b(re.sub(r"\s+", " ", text).encode(), digest_size=4).digest(), "big")
