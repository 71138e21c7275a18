"""Questions about a passage without a language model: from its headings, its definitions, or one of its sentences."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from argot.learn.questions.cloze_sentences import choose_cloze_sentence
from argot.learn.questions.heading_wording import word_heading
from argot.learn.questions.section_questions import Section, make_section_below, split_sections
from argot.learn.questions.stated_definitions import make_definition_question, make_short_form_question
from argot.tools.answering.embedded_instructions import is_instruction
from argot.tools.text.markdown_prose import extract_prose
from argot.tools.text.sentences import split_units

MIN_WORDS = 10
"""Below a heading, for it to be answered there."""


@dataclass(frozen=True, slots=True)
class MadeQuestion:
    """A question that may become a pair. `answer` may be empty."""

    kind: str
    question: str
    answer: str = ""


def list_headings(text: str, title: str, *, first: bool) -> list[str]:
    """List the headings of a passage with enough text to answer; arguments as for `make_passage_questions`."""
    return [one.heading for one in _list_sections(text, title, first)]


def make_passage_questions(
    text: str, title: str, kinds: Iterable[str], *, first: bool = False, repeated: frozenset[str] = frozenset()
) -> Iterator[MadeQuestion]:
    """Yield the questions that rules make from a passage.

    Args:
        text: the passage's Markdown.
        title: the document's.
        kinds: of "heading", "definition", "cloze".
        first: the document begins with this passage: without a heading it is under the title.
        repeated: headings, folded, that occur in several places.
    """
    kinds = set(kinds)
    sentences = split_prose(text) if kinds & {"definition", "cloze"} else ()
    # First, for they have answers: a heading often asks nearly the same.
    if "definition" in kinds:
        yield from _ask_by_definitions(sentences)
    if "heading" in kinds:
        for section in _list_sections(text, title, first):
            yield from _ask_by_heading(section, title, repeated)
    # A passage from which its definition is removed would not answer the question.
    plain_sentences = [
        one for one in sentences if not make_definition_question(one, 0) and not make_short_form_question(one, 0)
    ]
    if "cloze" in kinds and (sentence := choose_cloze_sentence(plain_sentences)):
        yield MadeQuestion("cloze", sentence)


def _list_sections(text: str, title: str, first: bool) -> list[Section]:
    # One word alone, such as "Connections", makes no question.
    below_title = first and len(title.split()) > 1 and not split_sections(text, 0)
    return make_section_below(title, text, MIN_WORDS) if below_title else split_sections(text, MIN_WORDS)


def _ask_by_heading(section: Section, title: str, repeated: frozenset[str]) -> Iterator[MadeQuestion]:
    ambiguous = section.heading.casefold() in repeated
    if question := word_heading(section.heading, title, section.text, _place(section.text), ambiguous=ambiguous):
        yield MadeQuestion("heading", question)


def _ask_by_definitions(sentences: Iterable[str]) -> Iterator[MadeQuestion]:
    for sentence in sentences:
        place = _place(sentence)
        for found in (make_definition_question(sentence, place), make_short_form_question(sentence, place)):
            if found:
                yield MadeQuestion("definition", *found)


@lru_cache(maxsize=256)
def split_prose(text: str) -> tuple[str, ...]:
    """Split the passage's prose into sentences, without mark-up and without any that speaks to a model."""
    found = (text[start:end] for start, end, kind in split_units(text) if kind == "prose")
    plain = (" ".join(extract_prose(one).text.split()) for one in found)
    return tuple(one for one in plain if one and not is_instruction(one))


def _place(text: str) -> int:
    """Choose among wordings: the same for the same text, in any context."""
    return int.from_bytes(hashlib.blake2b(re.sub(r"\s+", " ", text).encode(), digest_size=4).digest(), "big")
