"""Counting the entries of a list where its heading names them and no text states their number."""

from __future__ import annotations

import pytest

from argot.tools.answering.counting import MAX_SURELY_WHOLE_CHARS, count_entries, read_entry_count
from argot.types import PageKind, Passage

ITEMS = "- Frankfurt\n- Oslo\n- Turin"
ASKED = "How many regions do we support?"


def passage(text: str, *path: str, header: str = "", page_kind: PageKind | None = None) -> Passage:
    path = path or ("Guide",)
    return Passage("p", "d", "r", 0, 0, len(text), text, header or " > ".join(path), path, page_kind=page_kind)


def count(question: str, text: str, *path: str) -> int:
    found = count_entries(question, passage(text, *path))
    return found.entries if found else 0


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (ASKED, f"## Regions\n\n{ITEMS}"),
        (ASKED, f"## Regions\n\nWe support the following:\n\n{ITEMS}"),
        (ASKED, f"We support these regions:\n\n{ITEMS}\n\nAsk the desk for a new one."),
        ("how many different regions are available", f"The following regions are supported:\n\n{ITEMS}"),
        (
            "What is the number of regions?",
            "| Region | Since |\n|---|---|\n| Oslo | 2019 |\n| Turin | 2020 |\n| Rome | - |",
        ),
        (
            "How many hold codes are there?",
            "## Hold codes\n\n| Code | Why |\n|---|---|\n| H1 | a |\n| H2 | b |\n| H3 | a |",
        ),
        ("How many steps does a restart have?", "## Restart\n\nThe steps are:\n\n1. Stop it.\n2. Wait.\n3. Start it."),
    ],
)
def test_a_list_of_the_asked_items_is_counted(question: str, text: str) -> None:
    assert count(question, text) == 3


@pytest.mark.parametrize(
    ("question", "text"),
    [
        # a number states it, or the question counts something else
        (ASKED, f"## Regions\n\nWe are in three regions.\n\n{ITEMS}"),
        (ASKED, f"We support 3 regions:\n\n{ITEMS}"),
        (ASKED, f"Our regions have these limits:\n\n{ITEMS}"),
        (ASKED, f"## Regions\n\nTo add a region:\n\n{ITEMS}"),
        (ASKED, f"## Regions\n\nThey are close to you.\n\n{ITEMS}"),
        (ASKED, "## Regions\n\n| Alarm | Region |\n|---|---|\n| A1 | Oslo |\n| A2 | Turin |"),
        # the list has further or fewer entries
        (ASKED, f"## Regions in Asia\n\n{ITEMS}"),
        (ASKED, f"We support some regions, such as:\n\n{ITEMS}"),
        (ASKED, f"We do not support these regions:\n\n{ITEMS}"),
        (ASKED, f"## Regions\n\n{ITEMS}\n- etc."),
        (ASKED, f"## Regions\n\n{ITEMS}\n- Rome and Milan"),
        (ASKED, f"## Regions\n\n{ITEMS}\n- Oslo"),
        (ASKED, f"## Regions\n\n{ITEMS}\n  - its suburbs"),
        (ASKED, "## Regions\n\n2. Frankfurt\n3. Oslo"),
        (ASKED, "## Regions\n\n- Frankfurt"),
        (ASKED, "| Region | Since |\n|---|---|\n| Oslo | 2019 |\n| Turin | 2020 |\n| Total | 2 |"),
        (ASKED, f"## Regions\n\nIn the north:\n\n{ITEMS}\n\nIn the south:\n\n- Rome\n- Bari"),
        # the question asks for some of the entries, or for each
        ("How many regions do we support in Asia?", f"## Regions\n\n{ITEMS}"),
        ("How many other regions do we support?", f"## Regions\n\n{ITEMS}"),
        ("How many regions has each team?", f"## Regions\n\n{ITEMS}"),
        ("How many large regions are there?", f"## Regions\n\n{ITEMS}"),
        ("After a year, how many regions are there?", f"## Regions\n\n{ITEMS}"),
        ("Which regions do we support?", f"## Regions\n\n{ITEMS}"),
    ],
)
def test_an_uncertain_count_is_not_given(question: str, text: str) -> None:
    assert count(question, text) == 0


def test_a_list_that_may_continue_in_another_passage_is_not_counted() -> None:
    listed = f"## Regions\n\n{ITEMS}"
    assert count_entries(ASKED, passage(listed, page_kind="page")) is None
    assert count_entries(ASKED, passage(f"{'We grow. ' * (MAX_SURELY_WHOLE_CHARS // 9)}\n\n{listed}")) is None
    assert count_entries(ASKED, passage(ITEMS, "Guide", "Regions")) is None
    rows = "| Region | Since |\n|---|---|\n| Oslo | 2019 |\n| Rome | 2020 |"
    assert count_entries(ASKED, passage(rows)) is not None
    assert count_entries(ASKED, passage(rows, header="Guide\n| Region | Since |")) is None


def test_a_number_stated_in_another_passage_wins_over_a_count() -> None:
    listed = passage(f"## Regions\n\n{ITEMS}")
    assert count_entries(ASKED, listed, [passage("Argot runs in Oslo.")]) is not None
    assert count_entries(ASKED, listed, [passage("Argot runs in 4 cloud regions.")]) is None


def test_a_counted_list_is_shown_with_its_introduction() -> None:
    found = count_entries(ASKED, passage(f"Argot is fast.\n\nWe support these regions:\n\n{ITEMS}\n\nCall us."))
    assert found is not None
    assert list(found.numbers) == [1, 2, 3, 4]
    assert read_entry_count(found.line) == 3
    assert read_entry_count("Of 3 entries: two") == 0


OTHERS = {
    "de": ("Wie viele Standorte gibt es?", "Standorte", "3 Einträge:"),
    "fr": ("Combien de sites y a-t-il ?", "Sites", "3 entrées :"),
    "es": ("¿Cuántas sedes hay?", "Sedes", "3 entradas:"),
}


@pytest.mark.parametrize(
    ("question", "text"),
    [
        *((asked, f"## {heading}\n\n{ITEMS}") for asked, heading, _ in OTHERS.values()),
        (
            "Wie viele Standorte betreiben wir?",
            f"Wir betreiben die folgenden Standorte:\n\n{ITEMS}\n\nFragen Sie nach.",
        ),
        ("Wie viele verschiedene Sperrcodes gibt es?", f"Folgende Sperrcodes gibt es:\n\n{ITEMS}\n\nSiehe dort."),
        ("Wie groß ist die Anzahl der Schichten?", "| Schicht | Ab |\n|---|---|\n| A | 6 |\n| B | 14 |\n| C | 22 |"),
        ("Combien d’alarmes existent ?", f"Les alarmes suivantes existent :\n\n{ITEMS}\n\nVoir là."),
        ("Combien y a-t-il de codes de blocage ?", f"## Codes de blocage\n\n{ITEMS}"),
        ("Quel est le nombre d'équipes ?", "| Équipe | De |\n|---|---|\n| A | 6 |\n| B | 14 |\n| C | 22 |"),
        ("¿Cuántos códigos de bloqueo hay?", f"Hay los siguientes códigos de bloqueo:\n\n{ITEMS}\n\nVea allí."),
        ("¿Cuál es el número de turnos?", "| Turno | De |\n|---|---|\n| A | 6 |\n| B | 14 |\n| C | 22 |"),
    ],
)
def test_a_list_in_another_language_is_counted(question: str, text: str) -> None:
    assert count(question, text) == 3


@pytest.mark.parametrize(
    ("language", "changed"),
    [
        ("de", f"## Standorte\n\nWir haben drei Standorte.\n\n{ITEMS}"),
        ("de", f"## Standorte in Asien\n\n{ITEMS}"),
        ("de", f"Einige Standorte sind zum Beispiel:\n\n{ITEMS}"),
        ("de", f"Diese Maschinen haben keine Standorte:\n\n{ITEMS}"),
        ("de", f"## Standorte\n\n{ITEMS}\n- Rom und Mailand"),
        ("de", f"## Standorte\n\n{ITEMS}\n- usw."),
        ("de", f"Unsere Standorte haben diese Maschinen:\n\n{ITEMS}"),
        ("de", "| Standort | Seit |\n|---|---|\n| Oslo | 2019 |\n| Turin | 2020 |\n| Summe | 2 |"),
        ("fr", f"## Sites\n\nNous avons trois sites.\n\n{ITEMS}"),
        ("fr", f"## Sites en Asie\n\n{ITEMS}"),
        ("fr", f"Les sites sont par exemple :\n\n{ITEMS}"),
        ("fr", f"Les machines n’ont pas de sites :\n\n{ITEMS}"),
        ("fr", f"## Sites\n\n{ITEMS}\n- Rome et Milan"),
        ("fr", f"## Sites\n\n{ITEMS}\n- et d’autres"),
        ("es", f"## Sedes\n\nTenemos tres sedes.\n\n{ITEMS}"),
        ("es", f"## Sedes en Asia\n\n{ITEMS}"),
        ("es", f"Algunas sedes son:\n\n{ITEMS}"),
        ("es", f"No son sedes:\n\n{ITEMS}"),
        ("es", f"## Sedes\n\n{ITEMS}\n- Roma y Milán"),
        ("es", f"## Sedes\n\n{ITEMS}\n- y otras"),
    ],
)
def test_an_uncertain_count_is_not_given_in_another_language(language: str, changed: str) -> None:
    assert count(OTHERS[language][0], changed) == 0


@pytest.mark.parametrize(
    ("language", "entry"),
    [
        ("en", "Closed: Rome"), ("en", "Rome (closed since May 2020)"), ("en", "Planned sites: Rome"),
        ("en", "Note: Rome is new"), ("en", "As of: 2024"), ("en", "Rome - no longer used"),
        ("de", "Geschlossen: Rom"), ("de", "Rom (geplant für 2027)"), ("de", "Ehemalige Standorte: Rom"),
        ("de", "Hinweis: Rom ist neu"), ("de", "Stand: 2024"), ("de", "Rom – im Bau"),
        ("fr", "Fermé : Rome"), ("fr", "Rome (fermé depuis 2020)"), ("fr", "Anciens sites : Rome"),
        ("fr", "Remarque : Rome est nouveau"), ("fr", "Rome, à venir"),
        ("es", "Cerrada: Roma"), ("es", "Roma (cerrada desde 2020)"), ("es", "Antiguas sedes: Roma"),
        ("es", "Nota: Roma es nueva"), ("es", "Roma — en obras"),
    ],
)  # fmt: skip
def test_an_entry_that_is_set_apart_prevents_counting(language: str, entry: str) -> None:
    asked, heading, _ = {"en": (ASKED, "Regions", ""), **OTHERS}[language]
    assert count(asked, f"## {heading}\n\n{ITEMS}\n- {entry}") == 0
    assert count(asked, f"## {heading}\n\n{ITEMS}\n- Bergen: 2020") == 4


def test_a_cell_that_sets_its_row_apart_prevents_counting() -> None:
    rows = "| Standort | Stand |\n|---|---|\n| Oslo | offen |\n| Rom | {} |"
    asked = OTHERS["de"][0]
    assert (count(asked, rows.format("neu")), count(asked, rows.format("geschlossen"))) == (2, 0)
    assert count(ASKED, "## Regions\n\n- Closed loop\n- Future Park") == 2


@pytest.mark.parametrize(
    "question",
    [
        "Wie viele Standorte hat jedes Werk?",
        "Wie viele andere Standorte gibt es?",
        "Wie viele große Standorte gibt es?",
        "Wie viele Standorte gibt es in Asien?",
        "Combien d’autres sites y a-t-il ?",
        "Combien de sites y a-t-il en Asie ?",
        "¿Cuántas otras sedes hay?",
        "¿Cuántas sedes hay en Asia?",
    ],
)
def test_some_of_the_entries_are_not_counted_in_another_language(question: str) -> None:
    language = "de" if question.startswith("Wie") else "fr" if question.startswith("Combien") else "es"
    assert count(question, f"## {OTHERS[language][1]}\n\n{ITEMS}") == 0


@pytest.mark.parametrize(
    ("question", "heading"), [("Combien de temps faut-il ?", "Temps"), ("¿Cuántas veces hay?", "Veces")]
)
def test_a_question_for_a_time_counts_no_list(question: str, heading: str) -> None:
    assert count_entries(question, passage(f"## {heading}\n\n{ITEMS}")) is None


@pytest.mark.parametrize("language", OTHERS)
def test_the_number_of_entries_is_said_in_the_language_of_the_question(language: str) -> None:
    asked, heading, line = OTHERS[language]
    found = count_entries(asked, passage(f"## {heading}\n\n{ITEMS}"))
    assert found is not None and found.line == line and read_entry_count(line) == 3
