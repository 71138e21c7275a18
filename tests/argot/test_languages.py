"""Languages of texts, passages and questions, and their stems."""

import pytest

from argot.languages.detection import (
    identify_language,
    identify_passage_language,
    identify_question_language,
    name_language,
)
from argot.languages.language_data import LISTED_LANGUAGES, load_language
from argot.languages.stemming import has_stemmer, list_stemmed_languages, stem_text, stem_word

TEXTS = {
    "en": "Full-time staff have thirty days of leave in a calendar year. Leave is approved by the line manager.",
    "de": "Vollzeitkräfte haben dreißig Tage Urlaub im Kalenderjahr. Der Urlaub wird von der Führungskraft genehmigt.",
    "fr": "Le personnel à temps plein a trente jours de congé par an. Le congé est approuvé par le responsable.",
    "es": "El personal a tiempo completo tiene treinta días de vacaciones al año. El responsable aprueba el permiso.",
    "it": "Il personale a tempo pieno ha trenta giorni di ferie all'anno. Le ferie sono approvate dal responsabile.",
}
QUESTIONS = {
    "de": [
        "Wie viele Urlaubstage habe ich im Jahr?", "Was bedeutet BRD?", "Muss ich das VPN starten?",
        "Und was gilt für Teilzeit?", "Krankmeldung spätestens am dritten Tag", "Wer ist für den SLA zuständig?",
    ],
    "en": [
        "How many vacation days do I get?", "die bonding temperature", "NAND die area", "What was the die size?",
        "What is CI?", "SLA EST on call", "café opening hours", "No me too tickets", "plan in Zürich?",
    ],
    "fr": [
        "Combien de jours de congé ai-je par an ?", "Que signifie BRD ?", "Qui est responsable du SLA ?",
        "Et pour le temps partiel ?", "Puis-je me faire payer les heures supplémentaires ?", "À partir de quand ?",
    ],
    "es": [
        "¿Cuántos días de vacaciones tengo al año?", "¿Qué significa BRD?", "¿Quién es responsable del SLA?",
        "¿Y a tiempo parcial?", "El ticket se crea en Jira y se asigna al equipo.", "¿A partir de cuándo?",
    ],
}  # fmt: skip


@pytest.mark.parametrize("language", TEXTS)
def test_the_language_of_a_text_is_identified(language: str) -> None:
    assert identify_language(TEXTS[language]) == language


@pytest.mark.parametrize("text", ["", "NX-4410 | 12 | 14.5\n" * 50, "```\nfor x in y: print(x)\n```\n" * 20, "OK."])
def test_a_text_without_sentences_has_no_language(text: str) -> None:
    assert identify_language(text) == ""


def test_a_short_passage_has_the_language_of_its_document_and_a_long_one_its_own() -> None:
    assert identify_passage_language("Prices in the annex", "de") == "de"
    assert identify_passage_language(TEXTS["de"] * 4, "en") == "de"
    assert identify_passage_language(TEXTS["en"] * 4, "de") == "en"


@pytest.mark.parametrize(("language", "question"), [(code, one) for code, some in QUESTIONS.items() for one in some])
def test_the_language_of_a_question_is_identified(language: str, question: str) -> None:
    assert identify_question_language(question) == language


def test_a_question_in_a_language_without_a_list_is_identified() -> None:
    assert identify_question_language("Hoeveel vakantiedagen krijgt iedere werknemer jaarlijks?") == "nl"


def test_stems_of_other_languages_join_inflected_words() -> None:
    assert stem_text("Die Anträge der Bereichsleitungen", "de").split()[1] == stem_word("antrag", "de")
    assert stem_text("NX-4410B", "de") == "nx-4410b"
    assert stem_text("The pumps", "en") == "The pumps"
    assert not has_stemmer("en")


def test_every_stemmer_is_one_of_snowball() -> None:
    from snowballstemmer import algorithms

    assert set(list_stemmed_languages()) <= set(algorithms())


def test_languages_have_names() -> None:
    assert [name_language(code) for code in LISTED_LANGUAGES] == ["English", "German", "French", "Spanish"]
    assert name_language("xx") == "XX"


@pytest.mark.parametrize("code", LISTED_LANGUAGES)
def test_words_of_a_language_are_in_lower_case(code: str) -> None:
    words = load_language(code)
    listed = words.stop_words | words.signs | words.weak_signs | words.asking_words
    assert listed
    assert {word for word in listed if word != word.casefold() and "ß" not in word} == set()
    assert words.weak_signs & words.signs == frozenset()
