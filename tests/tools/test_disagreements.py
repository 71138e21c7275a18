"""Two documents contradict each other only where nothing but one number differs, of one thing."""

import pytest

from argot.tools.answering.disagreements import disagreements
from argot.types import Document, DocumentField, Passage

SAID = "Employees get 30 days of annual leave each year."


def held(
    text: str, title: str = "Travel policy 2023", name: str = "a.md", heading: str = "Leave", region: str = ""
) -> tuple[Passage, Document]:
    fields = (DocumentField("region", region),) if region else ()
    document = Document(name, f"test:///{name}", title, "text/markdown", "r", "h", "2025-01-01", fields=fields)
    return Passage(f"p{name}", name, "r", 0, 0, len(text), text, title, (heading,)), document


def found(mine: tuple[Passage, Document], other: tuple[Passage, Document]) -> list[str]:
    return [one.other for one in disagreements([(mine[0].text, mine)], [mine, other])]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Employees get 45 days of annual leave each year.", "Travel policy 2025"),
        ("Apply in time. Employees get 45 days of annual leave each year. Ask HR.", "Travel Policy, rev. 3"),
        ("- Employees get **45 days** of annual leave each year.\n- Ask HR.", "Travel policy (draft)"),
    ],
)
def test_another_number_for_the_same_thing_contradicts(text: str, title: str) -> None:
    assert found(held(SAID), held(text, title, "b.md")) == ["Employees get 45 days of annual leave each year."]


@pytest.mark.parametrize(
    "other",
    [
        held(SAID, "Travel policy 2025", "b.md"),
        held("Employees get 45 weeks of annual leave each year.", "Travel policy 2025", "b.md"),
        held("Managers get 45 days of annual leave each year.", "Travel policy 2025", "b.md"),
        held("Employees in France get 45 days of annual leave each year.", "Travel policy 2025", "b.md"),
        held("Employees get at least 45 days of annual leave each year.", "Travel policy 2025", "b.md"),
        held("Employees get 45 days of annual leave each year.", "Travel policy of France", "b.md"),
        held("Employees get 45 days of annual leave each year.", "Travel policy 2025", "b.md", "France"),
        held("Employees get 45 days of annual leave each year.", "Travel policy 2023", "fr200.md"),
        held("Employees get 45 days of annual leave each year.", "Travel policy 2023", "a.md"),
    ],
)
def test_another_thing_condition_unit_or_document_contradicts_nothing(other: tuple[Passage, Document]) -> None:
    assert found(held(SAID), other) == []


def test_documents_of_two_regions_or_models_speak_of_two_things() -> None:
    other = "Employees get 45 days of annual leave each year."
    assert found(held(SAID, region="EU"), held(other, name="b.md", region="US")) == []
    assert found(held(SAID, "Pump 200"), held(other, "Pump 300", "b.md")) == []
    assert found(held("Weight: 30 kg"), held("Weight: 45 kg", name="b.md")) == []
