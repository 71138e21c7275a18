"""Everyday words, names, times and stress are no terms, though a large glossary has their letters."""

from typing import Any

import pytest

from argot.jargon_db.lookup.matcher import TermMatcher
from argot.jargon_db.lookup.normalise import normalise
from argot.jargon_db.lookup.spelling import Spelling
from argot.tools.reading.everyday_words import is_everyday_in_prose, is_stressed, is_time
from argot.tools.reading.extractive_reader import ExtractiveReader
from argot.types import Mention, Principal

ANN = Principal("ann")
TERMS = ("APPS", "MAC", "ETC", "AM", "PM", "NOT", "ALL", "PUC", "ZWRK", "BOAT", "HMB")


async def list_terms(kb: Any, question: str) -> list[str]:
    matcher = TermMatcher([Spelling(term, term, normalise(term)) for term in TERMS])
    reader = ExtractiveReader(matcher, kb.corpus.store, ANN, None)
    return [mention.term for mention in await reader.identify_jargon(question) if mention.term]


@pytest.mark.parametrize(
    "question",
    [
        "Which apps may I install?",
        "Can I get a Mac instead of a laptop?",
        "Do we run linters etc before a merge?",
        "Is the canteen open at 5 pm or only until 11 AM?",
        "Is it closed from 5PM on?",
        "I must NOT open it, so who may?",
        "Tell me ALL about the array",
    ],
)
async def test_everyday_words_and_times_are_no_terms(tiny_kb: Any, question: str) -> None:
    assert await list_terms(tiny_kb, question) == []


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("What does the puc do?", ["PUC"]),
        ("Are PUCs small?", ["PUC"]),
        ("What is the MAC?", ["MAC"]),
        ("What does etc mean?", ["ETC"]),
        ("Which 'apps' are meant?", ["APPS"]),
        ("Who is the PM of the station?", ["PM"]),
    ],
)
async def test_a_word_meant_as_a_term_is_read_as_one(tiny_kb: Any, question: str, terms: list[str]) -> None:
    assert await list_terms(tiny_kb, question) == terms


async def test_a_word_that_documents_write_in_small_letters_is_no_term(tiny_kb: Any) -> None:
    assert await list_terms(tiny_kb, "Where is the zwrk?") == ["ZWRK"]
    tiny_kb.add("mill.md", "# Mill\n\nThe zwrk stands beside the door.\n")
    assert await list_terms(tiny_kb, "Where is the zwrk?") == []
    tiny_kb.add("list.md", "# List\n\nThe ZWRK counts the rolls.\n")
    assert await list_terms(tiny_kb, "Where is the zwrk?") == ["ZWRK"]


async def test_capitals_of_the_documents_make_a_term_of_an_everyday_word(tiny_kb: Any) -> None:
    assert await list_terms(tiny_kb, "May I ask the BOAT?") == ["BOAT"]
    assert await list_terms(tiny_kb, "May I ask BOAT?") == []
    tiny_kb.add("access.md", "# Access\n\nThe BOAT decides who may enter.\n")
    assert await list_terms(tiny_kb, "May I ask BOAT?") == ["BOAT"]


async def test_exchanged_letters_of_an_abbreviation_name_no_term(tiny_kb: Any) -> None:
    assert await list_terms(tiny_kb, "How large is the HBM?") == []


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("I open it DAILY or weekly", "DAILY", True),
        ("I must NOT open it", "NOT", True),
        ("Is the DAILY open?", "DAILY", False),
        ("DAILY", "DAILY", False),
        ("Who pays for BOAT?", "BOAT", False),
        ("Do you set PIN?", "PIN", False),
    ],
)
def test_the_word_before_shows_whether_capitals_are_stress(text: str, word: str, expected: bool) -> None:
    start = text.index(word)
    assert is_stressed(text, start, start + len(word)) == expected


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [("5 pm", "pm", True), ("11AM", "AM", True), ("the PM", "PM", False), ("5 m", "m", False)],
)
def test_am_and_pm_are_times_behind_a_number(text: str, word: str, expected: bool) -> None:
    start = text.index(word)
    assert is_time(text, start, start + len(word)) == expected


@pytest.mark.parametrize(
    ("text", "word", "term", "expected"),
    [
        ("The cat sleeps.", "cat", "CAT", True), ("The CAT ran.", "CAT", "CAT", False),
        ("Two CATs.", "CATs", "CAT", False),
        ("Open at 11 AM.", "AM", "AM", True), ("The AM signs.", "AM", "AM", False), ("a puc", "puc", "PUC", False),
        ("a shop floor", "shop floor", "shop floor", False),
    ],
)  # fmt: skip
def test_an_everyday_word_of_a_page_is_no_term(text: str, word: str, term: str, expected: bool) -> None:
    start = text.index(word)
    assert is_everyday_in_prose(Mention(word, start, start + len(word), term), text) == expected
