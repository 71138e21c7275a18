"""Typing errors in ordinary words of a question."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import pytest

from argot.tools.reading.typing_errors import correct_words, find_typing_errors
from argot.tools.text.words import stem
from argot.types import Mention

WORDS = ("password", "canteen", "holiday", "contract", "contact", "reception", "traning", "haven", "mine", "person")


def count_in(words: Collection[str]) -> Callable[[str], int]:
    stems = {stem(word) for word in words}
    return lambda word: int(stem(word) in stems)


def find_errors(
    question: str, words: Collection[str], terms: Sequence[Mention] = (), written: Collection[str] = ()
) -> list[tuple[str, str]]:
    return find_typing_errors(question, terms, count_in(words), lambda word: word in written)


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("passwrod rules", "password rules"),
        ("When does the canten open, the cantene?", "When does the canteen open, the canteen?"),
        ("how many holidys do i get", "how many holidays do i get"),
        ("Where is the recepton?", "Where is the reception?"),
    ],
)
def test_a_misspelt_word_is_read_as_the_one_that_the_documents_have(question: str, read: str) -> None:
    assert correct_words(question, find_errors(question, WORDS)) == read


@pytest.mark.parametrize(
    "question",
    [
        "the contrct",  # contract and contact are as near
        "Who is Passwrod?",
        "where is passwrod.txt and /etc/passwrod and me@passwrod.org",
        "sick hours i havent earned yet, which wont come",  # the documents have "haven"
        "the traning of new people",  # the documents write it so themselves
        "the weather in recent years",  # no word of the documents is near
        "PASSWROD",
        "Restart the sssd",
    ],
)
def test_other_words_stay_as_they_are(question: str) -> None:
    assert find_errors(question, WORDS) == []


@pytest.mark.parametrize(
    "question",
    [
        "Muss ich meine Krankmeldung per Mail schicken?",
        "À quelle personne dois-je envoyer ma demande ?",
        "¿A qué persona debo enviar mi solicitud?",
    ],
)
def test_words_of_another_language_are_no_misspelt_english_ones(question: str) -> None:
    assert find_errors(question, WORDS) == []


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("when does the haeting start", "when does the heating start"),
        ("wehn dose the haeting seeson strat", "when dose the heating season start"),
        ("How mcuh is a micorchip?", "How much is a microchip?"),
        ("wats teh pone numbr of NightPaw", "whats the phone number of NightPaw"),
        ("wich season has waht heating", "which season has what heating"),
    ],
)
def test_several_errors_of_one_question_are_corrected_function_words_too(question: str, read: str) -> None:
    words = ("heating", "hate", "season", "start", "microchip", "phone", "number", "stay")
    assert correct_words(question, find_errors(question, words, written=["heating", "microchip"])) == read


@pytest.mark.parametrize(
    "question", ["what is hdd", "what is an hplc", "the file teh.txt", "restart the ssdd", "is tha so"]
)
def test_a_short_word_that_may_be_an_abbreviation_stays(question: str) -> None:
    assert find_errors(question, ["had", "hold"], written=["had", "hold"]) == []


def test_a_word_of_a_term_stays_as_it_is() -> None:
    term = Mention("passwrod vault", 4, 18, "passwrod vault", "exact")
    assert find_errors("The passwrod vault", WORDS, [term]) == []


def test_an_ordinary_word_comes_before_what_only_looks_like_a_form_of_one() -> None:
    question = "who is here on monday mornig"
    assert find_errors(question, ["morning", "more"], written=["morning", "moring"]) == [("mornig", "morning")]
    assert find_errors(question, ["more"]) == []


def test_a_form_that_is_not_listed_has_to_be_written_so() -> None:
    question = "where is the form submtted"
    assert find_errors(question, ["submit"], written=["submitted"]) == [("submtted", "submitted")]
    assert find_errors(question, ["submit"]) == []
