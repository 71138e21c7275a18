"""Questions in English, German, French and Spanish: one suite over all files of words, which each has to pass."""

import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest

from argot.languages.language_data import LISTED_LANGUAGES, read_language_file
from argot.languages.negation_words import load_negation_words
from argot.languages.question_words import is_confirmation, load_question_words
from argot.languages.request_patterns import RequestKind, load_requests
from argot.tools.answering.cited_support import find_claim_objection
from argot.tools.answering.foreign_denial import denies_by_question, is_opposed_across
from argot.tools.answering.objections import find_missing, find_objection
from argot.tools.answering.premises import remove_asked_amounts
from argot.tools.reading.answer_types import asks_whether, find_answer_type, has_shape, is_decisive
from argot.tools.reading.chitchat import identify_small_talk
from argot.tools.reading.definition_questions import find_asked_meanings
from argot.tools.reading.file_kinds import filter_by_kind
from argot.tools.reading.file_questions import parse_file_question
from argot.tools.reading.follow_ups import stand_alone
from argot.tools.reading.history_questions import find_recalled
from argot.tools.reading.library_questions import is_glossary_question, is_library_question
from argot.tools.reading.whole_file_questions import find_asked_file, is_missing_file_asked
from argot.tools.text.quantities import find_missing_quantity, find_quantities
from argot.tools.text.sentences import split_sentences
from argot.tools.text.words import content_stems
from argot.types import Document, Mention, Turn

TYPES = {
    "en": {
        "quantity": "How many days of leave do I get?", "time": "When does the service desk open?",
        "person": "Who approves my request?", "reason": "Why is the lab locked?",
        "steps": "How do I apply for leave?", "definition": "What is a PUC?",
    },
    "de": {
        "quantity": "Wie viele Urlaubstage bekomme ich?", "time": "Wann öffnet die Anlaufstelle?",
        "person": "Wer genehmigt meinen Antrag?", "reason": "Warum ist das Labor abgeschlossen?",
        "steps": "Wie kann ich Urlaub beantragen?", "definition": "Was ist ein PUC?",
    },
    "fr": {
        "quantity": "Combien de jours de congé ai-je ?", "time": "À quelle heure ouvre le guichet ?",
        "person": "Qui approuve ma demande ?", "reason": "Pourquoi le laboratoire est-il fermé ?",
        "steps": "Comment puis-je demander un congé ?", "definition": "Qu'est-ce que le PUC ?",
    },
    "es": {
        "quantity": "¿Cuántos días de vacaciones tengo?", "time": "¿Cuándo abre la oficina?",
        "person": "¿Quién aprueba mi solicitud?", "reason": "¿Por qué está cerrado el laboratorio?",
        "steps": "¿Cómo puedo pedir vacaciones?", "definition": "¿Qué es un PUC?",
    },
}  # fmt: skip
SENTENCES = {
    "en": {"time": "It opens every Monday.", "person": "The line manager decides."},
    "de": {"time": "Sie öffnet jeden Montag.", "person": "Die Führungskraft entscheidet darüber."},
    "fr": {"time": "Il ouvre chaque lundi.", "person": "La décision est prise par le responsable."},
    "es": {"time": "La oficina abre cada lunes.", "person": "La decisión la toma el responsable."},
}
WHETHER = {
    "en": "May I work from abroad?", "de": "Darf ich im Ausland arbeiten?", "fr": "Puis-je travailler à l'étranger ?",
    "es": "¿Puedo trabajar desde el extranjero?",
}  # fmt: skip
DECISIVE = {
    "en": "Photographs are forbidden.", "de": "Das Fotografieren ist im Werk verboten.",
    "fr": "Les photos sont interdites dans l'usine.", "es": "Las fotos están prohibidas en la planta.",
}  # fmt: skip
SMALL_TALK = {
    "en": {"greeting": "Good morning", "thanks": "Thanks a lot!", "farewell": "Bye", "about": "Who are you?"},
    "de": {"greeting": "Guten Morgen", "thanks": "Vielen Dank!", "farewell": "Tschüss", "about": "Wer bist du?"},
    "fr": {"greeting": "Bonjour", "thanks": "Merci beaucoup !", "farewell": "Au revoir", "about": "Qui êtes-vous ?"},
    "es": {"greeting": "Buenos días", "thanks": "¡Muchas gracias!", "farewell": "Adiós", "about": "¿Quién eres?"},
}
FOLLOW_UPS = {
    "en": ["Why?", "And for part-timers?"], "de": ["Warum?", "Und für Teilzeitkräfte?"],
    "fr": ["Pourquoi ?", "Et pour le temps partiel ?"], "es": ["¿Por qué?", "¿Y para tiempo parcial?"],
}  # fmt: skip


def _each(rows: dict[str, dict[str, str]]) -> list[tuple[str, str, str]]:
    return [(code, kind, text) for code, some in rows.items() for kind, text in some.items()]


@pytest.mark.parametrize("code", LISTED_LANGUAGES)
def test_each_file_of_words_is_complete(code: str) -> None:
    english, row = read_language_file("en"), read_language_file(code)
    assert row.keys() == english.keys()
    assert row["shapes"].keys() == english["shapes"].keys()
    assert row["small_talk"].keys() == english["small_talk"].keys()
    assert len(row["months"].split()) == 12
    assert {one["type"] for one in row["asks"]} == {one["type"] for one in english["asks"]}
    assert {code for rows in (TYPES, SENTENCES, WHETHER, DECISIVE, SMALL_TALK, FOLLOW_UPS) for code in rows} == {
        *LISTED_LANGUAGES
    }
    assert row["negation"].keys() == english["negation"].keys()
    assert load_question_words(code).shapes
    assert load_negation_words(code).negations


@pytest.mark.parametrize(("code", "kind", "question"), _each(TYPES))
def test_the_type_of_the_wanted_answer_is_found(code: str, kind: str, question: str) -> None:
    assert find_answer_type(question) == kind


@pytest.mark.parametrize(("code", "kind", "sentence"), _each(SENTENCES))
def test_a_sentence_has_the_shape_of_the_answer(code: str, kind: str, sentence: str) -> None:
    assert has_shape(kind, sentence)  # type: ignore[arg-type]


@pytest.mark.parametrize("code", LISTED_LANGUAGES)
def test_yes_or_no_questions_and_what_decides_them(code: str) -> None:
    assert asks_whether(WHETHER[code])
    assert not asks_whether(TYPES[code]["person"])
    assert is_decisive(DECISIVE[code])
    assert not is_decisive(SENTENCES[code]["time"])


@pytest.mark.parametrize(("code", "kind", "message"), _each(SMALL_TALK))
def test_small_talk_is_no_question(code: str, kind: str, message: str) -> None:
    assert identify_small_talk(message) == kind


@pytest.mark.parametrize("code", LISTED_LANGUAGES)
def test_a_question_is_no_small_talk(code: str) -> None:
    assert {identify_small_talk(question) for question in TYPES[code].values()} == {None}


@pytest.mark.parametrize(("code", "follow_up"), [(code, one) for code, some in FOLLOW_UPS.items() for one in some])
def test_a_follow_up_is_read_with_the_question_before(code: str, follow_up: str) -> None:
    before = TYPES[code]["quantity"]
    read = stand_alone(follow_up, [Turn(before, "")], lambda text: [])
    assert read != follow_up
    assert content_stems(before)[0] in content_stems(read)


@pytest.mark.parametrize("code", LISTED_LANGUAGES)
def test_a_whole_question_needs_none_before(code: str) -> None:
    asked = TYPES[code]["person"]
    assert stand_alone(asked, [Turn(TYPES[code]["quantity"], "")], lambda text: []) == asked


@pytest.mark.parametrize(
    "sentence", ["Yes, it is 950.", "Ja, die Grenze ist 950.", "Oui, la limite est de 950.", "Sí, el límite es 950."]
)
def test_a_confirmation_claims_the_numbers_of_the_question(sentence: str) -> None:
    assert is_confirmation(sentence) and not is_confirmation(SENTENCES["de"]["time"])
    assert remove_asked_amounts(sentence, "No limit is known.", "950?") == sentence


def test_words_of_questions_are_no_content() -> None:
    assert content_stems("Wie viele Urlaubstage habe ich in den Jahren?") == ["urlaubstag", "jahr"]
    assert content_stems("Combien de jours de congés l'équipe a-t-elle ?") == ["jour", "cong", "équip"]
    assert content_stems("¿Cuántos días de vacaciones tengo?") == ["dias", "vacacion"]


def test_german_ordinals_end_no_sentence() -> None:
    text = "Der Urlaub kann bis zum 31. März genommen werden. Die Bahn wird in der 2. Klasse benutzt."
    assert [text[start:end] for start, end in split_sentences(text)] == [
        "Der Urlaub kann bis zum 31. März genommen werden.",
        "Die Bahn wird in der 2. Klasse benutzt.",
    ]


DATES = {"en": "on 3 March 2025", "de": "am 3. März 2025", "fr": "le 3 mars 2025", "es": "el 3 de marzo de 2025"}
AMOUNTS = {"en": "1,234.50 EUR", "de": "1.234,50 EUR", "fr": "1 234,50 EUR", "es": "1.234,50 EUR"}
TIMES = {"en": "within 6 weeks", "de": "binnen 6 Wochen", "fr": "sous 6 semaines", "es": "en 6 semanas"}


@pytest.mark.parametrize("code", LISTED_LANGUAGES)
def test_dates_amounts_and_times_are_the_same_in_every_language(code: str) -> None:
    for texts in (DATES, AMOUNTS, TIMES):
        assert find_quantities(texts[code]) == find_quantities(texts["en"])
        assert find_missing_quantity(texts[code], texts["en"]) == ""
    assert find_missing_quantity(TIMES[code], "within 5 weeks")
    assert find_missing_quantity(AMOUNTS[code], "1,234.60 EUR")


@pytest.mark.parametrize(
    "text", ["Un appareil neuf est contrôlé avant sa mise en service.", "Das darf nicht außer Acht gelassen werden."]
)
def test_words_that_are_numbers_only_before_a_unit(text: str) -> None:
    assert find_missing_quantity(text, "A new device must not be disregarded.") == ""
    for time, same in (("neuf jours", "within 9 days"), ("acht Tage", "within 8 days")):
        assert find_missing_quantity(time, same) == "" and find_missing_quantity(time, "within 7 days")


# -- requests that no document answers by its words --------------------------------------------------------------------

FILES = ["rota.md", "Q3 plan_final.docx"]


@cache
def load_phrasings(name: str) -> dict[str, dict[str, list[str]]]:
    return tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))


def find_meant(question: str) -> list[str]:
    at = question.find("DGD")
    mentions = [Mention("DGD", at, at + 3, "DGD")] if at >= 0 else []
    return [one.surface for one in find_asked_meanings(question, mentions, ["Catering"])]


def read_detail(message: str) -> tuple[str, str] | None:
    found = parse_file_question(message, FILES)
    return (str(found.pointer), found.question) if found else None


READERS: dict[str, Callable[[str], Any]] = {
    "library": is_library_question, "glossary": is_glossary_question, "history": find_recalled, "detail": read_detail,
    "meaning": find_meant,
    "gist": lambda message: None if (found := find_asked_file(message, FILES)) is None else str(found),
    "about": identify_small_talk,
}  # fmt: skip
WANTED: dict[str, Any] = {"library": True, "glossary": True, "meaning": ["DGD"], "about": "about"}


def is_read(kind: str, row: str) -> bool:
    """Return whether a row of the phrasings is read as its kind, and as what it says before or behind its message."""
    if kind == "other":
        return not any(read(row) for read in READERS.values())
    if kind in WANTED:
        return bool(READERS[kind](row) == WANTED[kind])
    wanted, message = row.split(": ", 1)
    if kind == "detail":
        message, question = message.split(" =", 1)
        return bool(read_detail(message) == (wanted, question.strip()))
    return bool(READERS[kind](message) == wanted)


@pytest.mark.parametrize(
    ("code", "kind"), [(code, kind) for code in LISTED_LANGUAGES[1:] for kind in [*READERS, "other"]]
)
def test_requests_are_read_as_what_they_are(code: str, kind: str) -> None:
    assert [row for row in load_phrasings("phrasings.toml")[code][kind] if not is_read(kind, row)] == []


@pytest.mark.parametrize("code", LISTED_LANGUAGES)
def test_requests_that_were_written_after_the_rules_are_mostly_read(code: str) -> None:
    rows = [(kind, row) for kind, some in load_phrasings("later_phrasings.toml")[code].items() for row in some]
    asked = [is_read(kind, row) for kind, row in rows if kind != "other"]
    assert sum(asked) >= 0.9 * len(asked)
    assert all(is_read(kind, row) for kind, row in rows if kind == "other")


@pytest.mark.parametrize("code", LISTED_LANGUAGES)
def test_each_file_of_requests_is_complete_and_compiles(code: str) -> None:
    english, row = read_language_file("en_requests"), read_language_file(f"{code}_requests")
    assert row.keys() == english.keys()
    assert row["kinds"].keys() == english["kinds"].keys()
    for kind in get_args(RequestKind):
        assert row[kind].keys() == english[kind].keys()
        for key in row[kind].keys() - {"parts", "about", "ask", "around"}:
            assert load_requests(kind, code).compile(key)


@pytest.mark.parametrize(
    "message",
    ["Résumé du contrat que j'ai envoyé", "resume del contrato que he subido", "Fass den Anhang zusammen"],
)
def test_a_file_that_is_not_there_is_missed(message: str) -> None:
    assert is_missing_file_asked(message)


def test_accents_are_not_needed() -> None:
    assert find_recalled("Cual fue mi ultima pregunta?") == "last"
    assert find_recalled("Quelle etait ma premiere question?") == "first"
    assert find_meant("Que significa DGD?") == ["DGD"]


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("Was steht in meiner Tabelle?", "b.xlsx"), ("Résume la présentation", "c.pptx"),
        ("¿Qué dice la hoja de cálculo?", "b.xlsx"), ("What is in the PDF?", "a.pdf"),
        ("Fass das PDF zusammen", "a.pdf"),
    ],
)  # fmt: skip
def test_the_kind_of_a_file_is_read_in_each_language(message: str, name: str) -> None:
    files = [Document(one, f"file:///{one}", one, "", one, "", "") for one in ("a.pdf", "b.xlsx", "c.pptx")]
    assert [file.name for file in filter_by_kind(message, files)] == [name]


# -- sentences that deny what their passage says -----------------------------------------------------------------------


@cache
def load_rows(name: str, code: str) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))[code]
    return rows


@pytest.mark.parametrize("code", ["de", "fr", "es"])
def test_most_sentences_that_deny_their_passage_are_refused_and_no_true_one(code: str) -> None:
    rows = load_rows("negations.toml", code) + load_rows("later_negations.toml", code)
    assert [row["true"] for row in rows if find_objection(row["true"], row["source"]) == "negation"] == []
    # Left are those that deny only one side of a contrast: "not on Monday but on Tuesday".
    assert sum(bool(find_objection(row["false"], row["source"])) for row in rows) >= 0.8 * len(rows)


@pytest.mark.parametrize(
    ("said", "nearest", "languages", "opposed"),
    [
        ("Der Resturlaub wird ausgezahlt.", "Remaining leave is not paid out.", ("de", "en"), True),
        ("Der Resturlaub wird nicht ausgezahlt.", "Remaining leave is not paid out.", ("de", "en"), False),
        ("Im Reinraum darf nicht gegessen werden.", "Eating is forbidden in the clean room.", ("de", "en"), False),
        ("Das Essen ist nicht verboten.", "Eating is forbidden in the clean room.", ("de", "en"), True),
        ("La période d'essai ne dépasse pas six mois.", "It lasts six months at most.", ("fr", "en"), False),
        ("No se necesita una solicitud si dura más.", "A request is needed if it lasts longer.", ("es", "en"), True),
        ("Los becarios nunca reciben nada.", "Praktikanten bekommen nichts.", ("es", "de"), False),
        ("Zutritt ohne Ausweis ist nicht gestattet.", "Entry is only allowed with a badge.", ("de", "en"), False),
        ("Het wordt niet betaald.", "It is paid.", ("nl", "en"), False),
    ],
)
def test_denials_are_compared_across_languages(
    said: str, nearest: str, languages: tuple[str, str], opposed: bool
) -> None:
    assert is_opposed_across(said, nearest, languages) is opposed


def test_a_question_may_deny_what_its_answer_leaves_out() -> None:
    source = "Schwangere, Jugendliche und Personen mit betriebsärztlichem Attest arbeiten nicht nachts."
    said, asked = "Jugendliche und Personen mit betriebsärztlichem Attest.", "Wer arbeitet nicht nachts?"
    assert find_claim_objection(said, source, asked) == ""
    assert find_claim_objection("Personen mit betriebsärztlichem Attest arbeiten nachts.", source, "Wer?")
    assert find_objection("Nicht nachts arbeiten Schwangere und Personen mit betriebsärztlichem Attest.", source) == ""
    assert denies_by_question("Las embarazadas.", "¿Qué personas no pueden trabajar de noche?")
    assert not denies_by_question("Besucher dürfen eintreten.", "Dürfen Besucher nicht eintreten?")


@pytest.mark.parametrize("code", ["de", "fr", "es"])
def test_most_exchanged_names_are_refused_and_no_true_sentence(code: str) -> None:
    rows = load_rows("exchanged_names.toml", code)
    assert [row["true"] for row in rows if find_objection(row["true"], row["source"])] == []
    assert sum(find_objection(row["false"], row["source"]).startswith("name ") for row in rows) >= 0.8 * len(rows)


@pytest.mark.parametrize("code", LISTED_LANGUAGES)
def test_titles_and_legal_forms_show_that_ordinary_words_are_names(code: str) -> None:
    rows = load_rows("marked_names.toml", code)
    assert [row["true"] for row in rows if find_objection(row["true"], row["source"])] == []
    assert sum(find_objection(row["false"], row["source"]).startswith("name ") for row in rows) >= 0.8 * len(rows)


def test_german_nouns_are_no_names() -> None:
    source = "Der Antrag wird vom Leiter der Abteilung geprüft. Ersatz kommt aus München."
    for true in ("Der Antrag wird vom Leiter der Personalabteilung geprüft.", "Die Anträge prüft der Chef im Sommer."):
        assert not find_objection(true, source).startswith("name ")
    assert find_objection("Der Ersatz kommt aus Osaka.", source) == "name osaka"
    assert find_objection("The spare parts come from Munich.", "Die Ersatzteile kommen aus München.") == "name munich"
    assert find_missing("Die Ersatzteile kommen aus München.", "The spare parts come from Munich.") == ""


@pytest.mark.parametrize("question", ["Wie zieh ich mich an?", "Wie beantrage ich Urlaub?", "Wie schleust man aus?"])
def test_german_asks_for_steps_with_any_verb(question: str) -> None:
    assert find_answer_type(question) == "steps"
    assert find_answer_type("Wie lange warte ich?") == "quantity" and find_answer_type("Wie oft lüftet man?") == "time"
