"""A model's statements about a question are accepted only as far as the question supports them."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argot.jargon_db.lookup.matcher import TermMatcher
from argot.jargon_db.lookup.normalise import normalise
from argot.jargon_db.lookup.ordinary_words import is_ordinary_word, is_well_known
from argot.jargon_db.lookup.spelling import Spelling
from argot.prompts.loader import prompt
from argot.tools.llm.grounding import (
    CHOSEN_SCORE,
    find_strange_words,
    is_english,
    match_context,
    match_terms,
    select_triples,
)
from argot.tools.llm.rewording import check_query, check_stand_alone
from argot.tools.reading.unknown_terms import find_unknown_terms, identify_terms
from argot.types import Context, ContextScore, Mention, Triple, Turn

NO_GLOSSARY = TermMatcher([])


def matcher(*terms: str) -> TermMatcher:
    return TermMatcher(Spelling(term, term, normalise(term)) for term in terms)


def read(question: str, known: TermMatcher = NO_GLOSSARY) -> list[Mention]:
    found = known.find(question)
    return identify_terms(question, found, known.misspelt(question, found))


def grounded(question: str, said: list[str], known: TermMatcher = NO_GLOSSARY) -> list[Mention]:
    return match_terms(question, said, read(question, known), known)


def surfaces(question: str, said: list[str], known: TermMatcher = NO_GLOSSARY) -> list[str]:
    return [mention.surface for mention in grounded(question, said, known)]


# -- terms -----------------------------------------------------------------------------------------------------------

SLASHES = "In any of the UTUU, ES/NIRE/MUBO should be what nature?"
QUANTITIES = "We need 10ns NIRE to achieve 40MP in STUP. What should be IE?"


@pytest.mark.parametrize(
    ("question", "said", "kept"),
    [
        ("Can you explain the meaning of GTC?", ["GTC", "Good Till Cancelled"], ["GTC"]),
        ("Can you explain the meaning of SPA?", ["Single-Page Application", "SPA"], ["SPA"]),
        ("What is the full form of IE?", ["IE", "Internet Explorer"], ["IE"]),
        ("Can you explain the meaning of GTC?", ["GTC (Good Till Cancelled)"], ["GTC"]),
        ("Can you explain the meaning of GTC?", ["GTC: Good Till Cancelled"], ["GTC"]),
        (SLASHES, ["UTUU", "ES/NIRE/MUBO"], ["UTUU", "ES", "NIRE", "MUBO"]),
        (SLASHES, ["UTUU, ES/NIRE"], ["UTUU", "ES", "NIRE"]),
        (QUANTITIES, ["10ns NIRE", "40MP in STUP", "IE"], ["NIRE", "MP", "STUP", "IE"]),
        ("We need 10ns MBST to achieve 40ROSN.", ["10ns MBST", "40ROSN"], ["MBST", "ROSN"]),
        ("Is 10nsNIRE enough for 40W5ONi?", ["10nsNIRE", "40W5ONi"], ["NIRE", "W5ONi"]),
        ("What is the state of NIRE?", ["“NIRE”"], ["NIRE"]),
        ("What is the state of NIRE?", ["nire"], ["NIRE"]),
        ("what does qmb mean for a tRCD2?", ["QMB", "tRCD2"], ["qmb", "tRCD2"]),
        ("What is the state of the PUCs?", ["PUC"], ["PUCs"]),
        ("What is the PUC's state?", ["PUCs"], ["PUC"]),
        ("What is the state of NIRE?", ["MUBO", "STUP"], []),
        ("NIREの意味は？", ["NIRE"], ["NIRE"]),
    ],
)
def test_a_list_of_terms_is_aligned_to_the_question(question: str, said: list[str], kept: list[str]) -> None:
    assert surfaces(question, said) == kept


@pytest.mark.parametrize(
    ("question", "said", "kept"),
    [
        ("How does kubernetes restart?", ["kubernets"], ["kubernetes"]),
        ("How does kubernetes restart?", ["Kuberentes"], ["kubernetes"]),
        ("What is the state of NIRE?", ["NRIE"], ["NIRE"]),
        ("What is the state of NIRE?", ["MIRE"], []),
        ("What are PUC and PUD?", ["PUG"], []),
        ("What is tRCD2?", ["tRCD3"], []),
    ],
)
def test_a_misspelt_term_still_aligns_but_another_code_does_not(
    question: str, said: list[str], kept: list[str]
) -> None:
    assert surfaces(question, said) == kept


@pytest.mark.parametrize(
    "said",
    [
        ["What", "is", "the", "relationship", "between", "abbreviation"],
        ["relationship between temperature and pressure", "the pressure", "USB", "ns", "10", "kHz"],
        ["waht", "tempreture", "pressures", "canteen", "Boston"],
    ],
)
def test_everyday_words_units_and_well_known_names_are_not_jargon(said: list[str]) -> None:
    question = (
        "Waht is the relationship between the tempreture, 10 kHz over USB and the pressures in the Boston canteen?"
    )
    assert surfaces(question, [*said, question]) == []


def test_glossary_terms_are_found_whatever_the_model_says() -> None:
    known = matcher("PUC", "word line", "die")
    found = grounded("How wide is the word line of a die under the PUC?", ["width"], known)
    assert [(mention.surface, mention.term) for mention in found] == [
        ("word line", "word line"),
        ("die", "die"),
        ("PUC", "PUC"),
    ]


def test_the_longest_glossary_term_wins_and_terms_with_slashes_stay_whole() -> None:
    known = matcher("SLC", "SLC cache", "ES/NIRE")
    assert surfaces("How large is the SLC cache?", ["SLC", "cache"], known) == ["SLC cache"]
    assert surfaces(SLASHES, ["UTUU", "ES/NIRE/MUBO"], known) == ["UTUU", "ES/NIRE", "MUBO"]


def test_a_term_corrected_by_the_model_is_found_in_the_question() -> None:
    known = matcher("zorbelite gasket")
    (mention,) = grounded("Where is the zorbelit gaskets kept?", ["zorbelite gasket"], known)
    assert (mention.surface, mention.term, mention.match) == ("zorbelit gaskets", "zorbelite gasket", "misspelt")
    assert grounded("Where is the work line?", ["word line"], matcher("word line")) == []


def test_the_explanation_of_a_term_is_not_a_term() -> None:
    (mention,) = grounded("What does SLA (stereolithography) cost?", ["stereolithography"])
    assert (mention.surface, mention.explained) == ("SLA", "stereolithography")


def test_in_other_languages_only_shape_and_glossary_count() -> None:
    question = "Bedeutet Grundwasserspiegel in der Betriebsanleitung dasselbe wie Oberflächenwasser beim GWS?"
    assert surfaces(question, question.split()) == ["GWS"]


@pytest.mark.parametrize("word", ["reimbursements", "username", "unplugged", "microscopy", "towards", "quarterly"])
def test_english_words_are_recognised_by_their_form(word: str) -> None:
    assert is_english(word)


@pytest.mark.parametrize("word", ["cicle", "lettre", "perifery", "tempreture", "Asia", "canteen", "thru"])
def test_typing_errors_and_well_known_names_are_not_strange_words(word: str) -> None:
    assert find_strange_words(f"Where do I find the {word}?") == []


@pytest.mark.parametrize("word", ["kubernetes", "mubo", "qmb", "zorbelite"])
def test_words_that_are_not_english_are_strange(word: str) -> None:
    assert [mention.surface for mention in find_strange_words(f"Where do I find the {word}?")] == [word]


@pytest.mark.parametrize(
    "name",
    ["guide.pdf", "/dev/nvme0n1", "https://example.org/qmb", "NX-4410B", "ISO9001", "my_var", "ann@example.org", "3rd"],
)
def test_file_names_addresses_and_part_numbers_are_not_strange_words(name: str) -> None:
    assert find_strange_words(f"Where do I find {name} today?") == []


WORDS = st.sampled_from(
    re.findall(
        r"\S+",
        """UTUU ES NIRE/MUBO 10ns 40MP STUP, PUC's PUCs qmb mubo=10 40mubo what is the relationship between pressure USB
        kHz Type II word line wrod lnie SLA (stereolithography) guide.pdf NX-4410B don't Boston tRCD2 tempreture “NIRE”
        é 🙂 und GTC?""",
    )
)
QUESTIONS = st.lists(WORDS, max_size=14).map(" ".join) | st.text(max_size=60)
SAID = st.lists(st.lists(WORDS, min_size=1, max_size=4).map(" ".join) | st.text(max_size=40), max_size=25)
GLOSSARY = matcher("PUC", "word line", "NIRE/MUBO", "IS")


@settings(max_examples=400, deadline=None)
@given(question=QUESTIONS, said=SAID, echo=st.booleans())
def test_no_false_term_survives_whatever_the_model_says(question: str, said: list[str], echo: bool) -> None:
    """Check that each mention is in the question, overlaps no other, and may be jargon, for any reply."""
    found = grounded(question, [*question.split(), question, *said] if echo else said, GLOSSARY)
    shaped = {(mention.start, mention.end) for mention in find_unknown_terms(question)}
    assert all(question[mention.start : mention.end] == mention.surface for mention in found)
    assert all(one.end <= two.start for one, two in pairwise(found))
    for mention in found:
        word = mention.surface
        known = mention.term in GLOSSARY.terms()
        strange = re.fullmatch(r"[^\W_]+", word) and not is_ordinary_word(word.lower()) and not is_well_known(word)
        assert known or mention.explained or (mention.start, mention.end) in shaped or strange, word


@settings(max_examples=100, deadline=None)
@given(question=QUESTIONS)
def test_an_empty_reply_of_the_model_keeps_the_known_terms(question: str) -> None:
    known = [mention for mention in read(question, GLOSSARY) if mention.term or mention.explained]
    assert grounded(question, [], GLOSSARY) == known


# -- contexts and triples --------------------------------------------------------------------------------------------

CONTEXTS = [Context(1, "NAND", "Say “Sales”"), Context(2, "Legal"), Context(3, "None")]
TRIPLES = [Triple("t1", "crop tool", "resize", "picture", "p1"), Triple("t2", "trim handle", "cut", "video", "p2")]


def test_only_a_given_context_is_accepted() -> None:
    assert match_context("NAND", CONTEXTS) == [ContextScore("NAND", CHOSEN_SCORE)]
    assert match_context(" nand", CONTEXTS) == [ContextScore("NAND", CHOSEN_SCORE)]
    assert match_context("Sales", CONTEXTS) == []
    assert match_context("", CONTEXTS) == []


def test_none_in_lower_case_means_no_context() -> None:
    assert match_context("none", CONTEXTS) == []
    assert match_context("None", CONTEXTS) == [ContextScore("None", CHOSEN_SCORE)]


@pytest.mark.parametrize(
    ("said", "kept"), [([2, 1], [1, 0]), ([1, 1, 1], [0]), ([0, 3, -1, 99], []), ([True, "1", 1.0, None], []), ([], [])]
)
def test_only_valid_numbers_select_triples(said: list[object], kept: list[int]) -> None:
    assert select_triples(said, TRIPLES) == [TRIPLES[place] for place in kept]


# -- rewordings ------------------------------------------------------------------------------------------------------

HISTORY = [Turn("What is the die area of PUC?", "It is 25 percent less than for CBA.")]


@pytest.mark.parametrize(
    "said",
    [
        "What is the voltage of the PUC?",
        "How high is the voltage of PUC?",
        '"What is the voltage of PUC?"',
        "What about PUC's voltage?",
    ],
)
def test_a_valid_stand_alone_question_is_accepted(said: str) -> None:
    assert check_stand_alone(said, "What about its voltage?", HISTORY) == said.strip('"')


@pytest.mark.parametrize(
    "said",
    [
        "",
        "   ",
        "The voltage of PUC is 4.5 V.",
        "What is the area of PUC?",
        "Was ist die Spannung von PUC?",
        "What is the voltage of the QMB?",
        "What is the voltage of PUC in Boston?",
        "What is the voltage of PUC at 85 degrees?",
        "What is the voltage of PUC and why do people who write such long questions never come to an end?",
        "What is the voltage of PUC? See https://example.org",
        "What is the <voltage> of PUC?",
        "voltage PUC " * 40 + "?",
    ],
)
def test_an_invalid_stand_alone_question_is_rejected(said: str) -> None:
    assert check_stand_alone(said, "What about its voltage?", HISTORY) is None


def test_the_rewordings_that_the_prompt_shows_pass_the_check() -> None:
    for shown in prompt("stand_alone").examples:
        asked, answered = shown["input"]["history"].strip().split("\n")
        history = [Turn(asked.partition(": ")[2], answered.partition(": ")[2])]
        said = shown["output"]["question"]
        assert check_stand_alone(said, shown["input"]["question"], history) == said


def test_a_stand_alone_question_must_keep_numbers_and_names() -> None:
    question = "And at 85 °C for NX-4410B?"
    assert check_stand_alone("What is the die area of PUC at 85 °C for NX-4410B?", question, HISTORY)
    assert check_stand_alone("What is the die area of PUC at 85 °C?", question, HISTORY) is None
    assert check_stand_alone("What is the die area of PUC for NX-4410B?", question, HISTORY) is None


@pytest.mark.parametrize("said", ["how to resize a picture", "How do I resize a picture with the crop tool"])
def test_a_query_in_the_words_of_the_triples_is_accepted(said: str) -> None:
    assert check_query(said, "how do I resize my picture", TRIPLES) == said


@pytest.mark.parametrize(
    "said",
    [
        "",
        "salaries of the board",
        "how to cut a video",
        "resize picture in Photoshop",
        "resize picture QMB",
        "resize picture 1024",
        "resize picture " * 20,
        "resize picture and also the salary list, contract terms and passwords",
    ],
)
def test_a_query_for_something_else_is_rejected(said: str) -> None:
    assert check_query(said, "how do I resize my picture", TRIPLES) is None


def test_a_query_must_keep_the_meaning_of_the_jargon() -> None:
    question = "How large is PUC (Peripheral Under Cell)?"
    assert check_query("size of Peripheral Under Cell PUC large", question, [])
    assert check_query("How large is it?", question, []) is None


@settings(max_examples=200, deadline=None)
@given(said=st.text(max_size=300), question=st.text(max_size=100))
def test_the_length_of_rewordings_is_bounded(said: str, question: str) -> None:
    query = check_query(said, question, TRIPLES)
    alone = check_stand_alone(said, question, HISTORY)
    assert query is None or 0 < len(query) <= 2 * len(question) + 20
    assert alone is None or 0 < len(alone) <= 600
