"""Messages with several questions, given meanings, numbered parts and quoted texts, in each language with a file."""

import pytest

from argot.languages.language_data import LISTED_LANGUAGES, read_language_file
from argot.languages.quoted_words import asks_for_words, is_label
from argot.tools.answering.mentions import find_introduced
from argot.tools.reading.answer_types import asks_for_all, asks_for_several, asks_twice
from argot.tools.reading.inline_definitions import find_explanations
from argot.tools.reading.numbered_references import find_numbered_references
from argot.tools.reading.question_splitting import split_questions
from argot.tools.text.numbered_parts import find_numbered_parts

SPLIT = {
    "en": [
        ("What is PLP and how tall may a pole be?", ["What is PLP?", "How tall may a pole be?"]),
        ("What is tCCS? And what is tADL?", ["What is tCCS?", "What is tADL?"]),
        ("Compare the red and the blue kayak", ["What is the red kayak?", "What is the blue kayak?"]),
        ("How do kayaks differ from canoes?", ["What is kayaks?", "What is canoes?"]),
        ("What is the difference between tPROG and tBERS?", ["What is tPROG?", "What is tBERS?"]),
    ],
    "de": [
        ("Was ist PLP und wie hoch darf ein Mast sein?", ["Was ist PLP?", "Wie hoch darf ein Mast sein?"]),
        ("Was ist tCCS? Und was ist tADL?", ["Was ist tCCS?", "Was ist tADL?"]),
        ("Vergleiche das rote und das blaue Kajak", ["Was ist das rote Kajak?", "Was ist das blaue Kajak?"]),
        ("Worin unterscheiden sich Kajaks und Kanus?", ["Was ist Kajaks?", "Was ist Kanus?"]),
        ("Was ist der Unterschied zwischen tPROG und tBERS?", ["Was ist tPROG?", "Was ist tBERS?"]),
    ],
    "fr": [
        ("Qu'est-ce que PLP et quelle hauteur a un mât ?", ["Qu'est-ce que PLP ?", "Quelle hauteur a un mât ?"]),
        ("Qu’est-ce que tCCS ? Et qu’est-ce que tADL ?", ["Qu’est-ce que tCCS ?", "Qu’est-ce que tADL ?"]),
        (
            "Compare le kayak rouge et le canoë bleu",
            ["Qu’est-ce que le kayak rouge ?", "Qu’est-ce que le canoë bleu ?"],
        ),
        (
            "En quoi les kayaks diffèrent-ils des canoës ?",
            ["Qu’est-ce que les kayaks ?", "Qu’est-ce que canoës ?"],
        ),
        (
            "Quelle est la différence entre tPROG et tBERS ?",
            ["Qu’est-ce que tPROG ?", "Qu’est-ce que tBERS ?"],
        ),
    ],
    "es": [
        ("¿Qué es PLP y qué altura tiene un poste?", ["¿Qué es PLP?", "¿Qué altura tiene un poste?"]),
        ("¿Qué es tCCS? ¿Y qué es tADL?", ["¿Qué es tCCS?", "¿Qué es tADL?"]),
        ("Compara el kayak rojo y la canoa azul", ["¿Qué es el kayak rojo?", "¿Qué es la canoa azul?"]),
        ("¿En qué se diferencian los kayaks de las canoas?", ["¿Qué es los kayaks?", "¿Qué es las canoas?"]),
        ("¿Cuál es la diferencia entre tPROG y tBERS?", ["¿Qué es tPROG?", "¿Qué es tBERS?"]),
    ],
}
WHOLE = {
    "en": ["What is PLP and how does it work?", "Who decides what is stored and how long files are kept?"],
    "de": [
        "Was ist PLP und wie funktioniert das?",
        "Wer entscheidet, was gespeichert wird und wie lange Dateien bleiben?",
        "Welcher Zuschlag gilt in der Spätschicht und ab wieviel Uhr?",
    ],
    "fr": [
        "Qu'est-ce que PLP et comment ça marche ?",
        "Qui décide ce qui est conservé et combien de temps les fichiers sont gardés ?",
        "Quel supplément est payé le soir et à quelle heure ?",
    ],
    "es": [
        "¿Qué es PLP y cómo funciona?",
        "¿Quién decide qué se guarda y cuánto tiempo se conservan los archivos?",
        "¿Qué suplemento se paga por la noche y a qué hora?",
    ],
}
ALL = {
    "en": ["What are the steps?", "In what order do I dress?"],
    "de": ["Was muss ich alles mitbringen?", "In welcher Reihenfolge ziehe ich mich an?"],
    "fr": ["Quels sont les objets interdits ?", "Dans quel ordre faut-il s'habiller ?"],
    "es": ["¿Cuáles son los pasos?", "¿En qué orden me visto?"],
}
SEVERAL = {
    "en": ("How many cabins are there?", "How many days of leave do I get?"),
    "de": ("Wie viele Hütten gibt es?", "Wie viele Tage dauert es?"),
    "fr": ("Combien de cabanes y a-t-il ?", "Combien de jours cela dure-t-il ?"),
    "es": ("¿Cuántas cabañas hay?", "¿Cuántos días dura?"),
}
TWICE = {
    "en": ("How often does it leave, and where does it go?", "Who decides?"),
    "de": ("Wie oft fährt er und wohin fährt er?", "Wo steht, wie lange das gilt?"),
    "fr": ("À quelle heure part-il et où va-t-il ?", "Qui est le collègue qui décide ?"),
    "es": ("¿Cada cuánto sale y adónde va?", "¿Quién decide?"),
}
GIVEN = {
    "en": [
        ("By SLA I mean stereolithography. How long?", "stereolithography"),
        ("SLA stands for service level agreement, who signs it?", "service level agreement"),
        ("Who signs the SLA (meaning the paper)?", "the paper"),
    ],
    "de": [
        ("Mit SLA meine ich Stereolithografie. Wie lange dauert das?", "Stereolithografie"),
        ("SLA steht für Dienstgütevereinbarung, wer unterschreibt sie?", "Dienstgütevereinbarung"),
        ("Wer unterschreibt die SLA (gemeint ist das Papier)?", "das Papier"),
        ("Wenn SLA für Stereolithografie steht, wie dick ist eine Schicht?", "Stereolithografie"),
        ("Wie lange dauert SLA, d. h. Stereolithografie, bei uns?", "Stereolithografie"),
    ],
    "fr": [
        ("Par SLA, j'entends stéréolithographie. Combien de temps ?", "stéréolithographie"),
        ("SLA signifie accord de niveau de service ; qui le signe ?", "accord de niveau de service"),
        ("Qui signe le SLA (c'est-à-dire le papier) ?", "le papier"),
    ],
    "es": [
        ("Por SLA entiendo estereolitografía. ¿Cuánto tarda?", "estereolitografía"),
        ("SLA significa acuerdo de nivel de servicio; ¿quién lo firma?", "acuerdo de nivel de servicio"),
        ("¿Quién firma el SLA (es decir, el papel)?", "el papel"),
    ],
}
ASKED = {
    "en": ["What does SLA mean in logistics?", "SLA stands for what?"],
    "de": ["Was bedeutet SLA in der Logistik?", "SLA steht wofür?", "Sag mir, was SLA bedeutet und wer es prüft"],
    "fr": ["Que signifie SLA en logistique ?", "SLA veut dire quoi ?"],
    "es": ["¿Qué significa SLA en logística?", "Dime qué SLA significa en el contrato"],
}
NUMBERED = {
    "en": [
        ("What does clause 2.2 say?", ["clause 2.2"]),
        ("What is step three of the start-up?", ["step three"]),
        ("Show steps 2-4", ["step 2", "step 3", "step 4"]),
    ],
    "de": [
        ("Was steht in Ziffer 2.2?", ["Ziffer 2.2"]),
        ("Was sagt Artikel IV?", ["Artikel IV"]),
        ("Was ist Schritt drei der Inbetriebnahme?", ["Schritt drei"]),
        ("Zeige die Schritte 2 bis 4", ["Schritt 2", "Schritt 3", "Schritt 4"]),
    ],
    "fr": [
        ("Que dit la clause 2.2 ?", ["clause 2.2"]),
        ("Quelle est l'étape trois du démarrage ?", ["étape trois"]),
        ("Montre les étapes 2 à 4", ["étape 2", "étape 3", "étape 4"]),
    ],
    "es": [
        ("¿Qué dice el apartado 2.2?", ["apartado 2.2"]),
        ("¿Cuál es el paso tres del arranque?", ["paso tres"]),
        ("Muestra los pasos 2 a 4", ["paso 2", "paso 3", "paso 4"]),
    ],
}
NO_PARTS = {
    "en": ["What comes after step 3?", "What does table 3 show?"],
    "de": ["Was kommt nach Schritt 3?", "Was zeigt Tabelle 3?", "Wo ist der Zugangspunkt 3?"],
    "fr": ["Que vient après l'étape 3 ?", "Que montre le tableau 3 ?"],
    "es": ["¿Qué viene después del paso 3?", "¿Qué muestra la tabla 3?"],
}
PRINTED = {"en": "Step 3: Press.", "de": "Schritt 3: Drücken.", "fr": "Étape 3 : Appuyez.", "es": "Paso 3: Pulse."}
QUOTED = {
    "en": (
        "The operator then reads „the valve stays open“ on the board.",
        "What is the message on the board?",
        "Is the valve open?",
        "Note",
    ),
    "de": (
        "Auf der Tafel liest man dann „das Ventil bleibt offen“.",
        "Wie lautet die Meldung auf der Tafel?",
        "Ist das Ventil offen?",
        "Hinweis",
    ),
    "fr": (
        "Le pupitre montre alors « la vanne reste ouverte ».",
        "Quel est le message sur le pupitre ?",
        "Est-ce que la vanne est ouverte ?",
        "Remarque",
    ),
    "es": (
        "El panel muestra entonces «la válvula sigue abierta».",
        "¿Qué mensaje aparece en el panel?",
        "¿La válvula está abierta?",
        "Nota",
    ),
}


def _each(rows: dict) -> list:
    return [(code, one) for code, some in rows.items() for one in some]


@pytest.mark.parametrize("code", LISTED_LANGUAGES)
def test_each_file_has_all_parts_of_its_sections(code: str) -> None:
    english, row = read_language_file("en"), read_language_file(code)
    for section in ("several", "comparison", "explanation", "numbered", "quoted"):
        assert row[section].keys() == english[section].keys()
    assert row["numbered"]["kinds"].keys() == english["numbered"]["kinds"].keys()
    rows = (SPLIT, WHOLE, ALL, SEVERAL, TWICE, GIVEN, ASKED, NUMBERED, NO_PARTS, PRINTED, QUOTED)
    assert all(one.keys() == set(LISTED_LANGUAGES) for one in rows)


@pytest.mark.parametrize(("code", "row"), _each(SPLIT))
def test_several_questions_are_split(code: str, row: tuple[str, list[str]]) -> None:
    assert split_questions(row[0]) == row[1]


@pytest.mark.parametrize(("code", "message"), _each(WHOLE))
def test_one_question_is_not_split(code: str, message: str) -> None:
    assert split_questions(message) == [message]


@pytest.mark.parametrize("code", LISTED_LANGUAGES)
def test_questions_for_several_things_are_recognised(code: str) -> None:
    assert all(map(asks_for_all, ALL[code]))
    (several, amount), (twice, once) = SEVERAL[code], TWICE[code]
    assert asks_for_several(several) and not asks_for_several(amount)
    assert asks_twice(twice) and not asks_twice(once)


@pytest.mark.parametrize(("code", "row"), _each(GIVEN))
def test_a_meaning_given_in_the_question_is_found(code: str, row: tuple[str, str]) -> None:
    question, meaning = row
    at = question.index("SLA")
    assert find_explanations(question) == [(at, at + 3, meaning)]


@pytest.mark.parametrize(("code", "question"), _each(ASKED))
def test_a_meaning_that_is_asked_for_is_not_given(code: str, question: str) -> None:
    assert find_explanations(question) == []


@pytest.mark.parametrize(("code", "row"), _each(NUMBERED))
def test_numbered_parts_have_the_name_that_the_asker_uses(code: str, row: tuple[str, list[str]]) -> None:
    assert [one.name for one in find_numbered_references(row[0])] == row[1]


@pytest.mark.parametrize(("code", "question"), _each(NO_PARTS))
def test_other_numbers_name_no_part(code: str, question: str) -> None:
    assert find_numbered_references(question) == []


@pytest.mark.parametrize("code", LISTED_LANGUAGES)
def test_a_printed_part_is_of_the_kind_that_a_question_in_any_language_names(code: str) -> None:
    (part,) = find_numbered_parts(PRINTED[code])
    assert (part.kind, part.label) == ("step", ("3",))


@pytest.mark.parametrize("code", LISTED_LANGUAGES)
def test_a_quoted_message_answers_only_a_question_for_it(code: str) -> None:
    text, wanted, other, label = QUOTED[code]
    start, end = (text.index(mark) for mark in (("„", "“") if "„" in text else ("«", "»")))
    answer = text[start : end + 1]
    assert asks_for_words(wanted) and not asks_for_words(other)
    assert list(find_introduced(text, answer, frozenset(), wanted)) == []
    assert list(find_introduced(text, answer.strip("„“«» "), frozenset(), other))
    assert is_label(f"{label} ")
