"""The kind of value that a question asks for, and whether a passage contains one."""

from __future__ import annotations

import pytest

from argot.tools.reading.asked_values import find_asked_value, may_hold_value


@pytest.mark.parametrize(
    ("question", "kind", "holds", "lacks"),
    [
        ("How many milliwatts does it draw?", "power", "It draws 3 mW.", "It must wake within 5 ms."),
        ("how much does a taxi cost?", "money", "A taxi is 40 euros.", "A taxi comes within 6 minutes."),
        ("how much is a main bearing", "money", "Main bearing: 18,400 euro", "Main bearing: 250 g of grease"),
        ("How much is a suite?", "money", "| Suite | Price |\n| Ada | 950 |", "| Suite | Beds |\n| Ada | 4 |"),
        ("What is the fee?", "money", "The fee is 40.", "The fee is due within 6 days."),
        ("what does the car park cost a guest", "money", "The car park is free.", "The car park opens at 6."),
        ("whats the hourly rate for a dresser", "money", "Dressers get £14.20.", "Dressers get time off."),
        ("What is the price of a share?", "money", "A share costs $12.", "The windows are open for 24 months."),
        ("How many square metres is the clean room?", "area", "It has 800 m² of floor.", "It is 8 m high."),
        ("What's the input capacitance of a pin?", "capacitance", "At most 3.5 pF.", "At most 3.5 V."),
        ("How many days of notice must I give?", "time", "Three months' notice.", "Give notice in writing."),
        ("How heavy is the box?", "mass", "| Box | Weight (kg) |\n| A | 4 |", "The box is 40 cm wide."),
        ("How heavy is the box?", "mass", "It has 27 kilos.", "The box is 40 cm wide."),
        ("Was kostet ein Taxi?", "money", "Ein Taxi kostet 40,00 €.", "Ein Taxi kommt in 6 Minuten."),
        ("Wieviel Kilometergeld gibt es?", "money", "| Wagen | 0,34 € je km |", "Höchstens 400 km je Reise."),
        ("Wie hoch ist die Gebühr?", "money", "Sie beträgt 12 Euro.", "Sie ist nach 24 Monaten fällig."),
        ("Wie viele Stunden darf ich arbeiten?", "time", "Höchstens 10 h am Tag.", "Die Pause wird erfasst."),
        ("Wie dick ist die Scheibe?", "length", "Sie ist 775 µm dick.", "Sie wiegt 120 g."),
        ("Combien de jours de congés payés ai-je ?", "time", "Vous avez 25 jours.", "Vous payez 40 €."),
        ("Combien coûte un taxi ?", "money", "Un taxi coûte 40 €.", "Un taxi arrive en 6 minutes."),
        ("Quel est le prix du repas ?", "money", "Le repas est à 12 euros.", "Le repas est servi à midi."),
        ("Combien de jours de congé ai-je ?", "time", "Vous avez 25 jours.", "La demande se fait par écrit."),
        ("¿Cuánto cuesta un taxi?", "money", "Un taxi cuesta 40 €.", "Un taxi llega en 6 minutos."),
        ("¿Cuál es el precio de la comida?", "money", "Son 12 euros.", "Se sirve a mediodía."),
        ("¿Cuántas semanas dura?", "time", "Dura 12 semanas.", "Se firma al final."),
    ],
)
def test_only_a_passage_with_a_value_of_the_asked_kind_matches(
    question: str, kind: str, holds: str, lacks: str
) -> None:
    value = find_asked_value(question)
    assert value is not None
    assert value.kind == kind
    assert value.is_in(holds)
    assert not value.is_in(lacks)


@pytest.mark.parametrize(
    ("question", "holds", "lacks"),
    [
        ("How many people may enter?", "Several people may enter.", "People may enter."),
        ("Wie viele Gäste dürfen hinein?", "Mehrere Gäste dürfen hinein.", "Gäste werden begleitet."),
        ("Wie viele Gäste dürfen hinein?", "Fünfzehn Gäste dürfen hinein.", "Gäste werden begleitet."),
        ("Combien de visiteurs peuvent entrer ?", "Treize visiteurs peuvent entrer.", "Les visiteurs sont suivis."),
        ("¿Cuántos visitantes pueden entrar?", "Dieciséis pueden entrar.", "Los visitantes van con alguien."),
        ("Combien de visiteurs peuvent entrer ?", "Plusieurs visiteurs peuvent entrer.", "Les visiteurs sont suivis."),
        ("¿Cuántos visitantes pueden entrar?", "Varios visitantes pueden entrar.", "Los visitantes van con alguien."),
        ("When may I leave?", "Leave when the alarm rings.", "Staff leave their post."),
        ("Wann darf ich gehen?", "Gehen Sie, wenn der Alarm ertönt.", "Beschäftigte verlassen ihren Platz."),
        ("Quand puis-je partir ?", "Partez quand l'alarme sonne.", "Le personnel quitte son poste."),
        ("¿Cuándo puedo salir?", "Salga cuando suene la alarma.", "El personal deja su puesto."),
    ],
)
def test_a_number_or_time_may_be_given_without_a_figure(question: str, holds: str, lacks: str) -> None:
    assert may_hold_value(question, holds) and not may_hold_value(question, lacks)


@pytest.mark.parametrize(
    "question",
    [
        "How many holidays do I get?", "Who signs?", "How do I pay a supplier?", "", "Wie viele Urlaubstage habe ich?",
        "Wer zahlt?", "Wie lange dauert es?", "Combien y en a-t-il ?", "¿Quién paga?",
        "Wie viel Zeit habe ich, um die Rechnung zu bezahlen?", "Wie viel Prozent der Kosten werden erstattet?",
        "Combien de temps ai-je pour payer ?", "¿Cuánto tiempo tengo para pagar?",
    ],
)  # fmt: skip
def test_a_question_without_a_unit_asks_for_no_kind_of_value(question: str) -> None:
    assert find_asked_value(question) is None
