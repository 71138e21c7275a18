"""Which rows of a table are quoted."""

from __future__ import annotations

from collections.abc import Mapping

from argot.profile import Profile
from argot.protocols import AnswerRequest
from argot.tools.answering.extractive_writer import ExtractiveWriter
from argot.tools.retrieval.hybrid_search import WeightedQuery
from argot.tools.retrieval.reranker import LexicalScorer, rerank
from argot.types import Document, Hit, Passage

CABINS = (
    "| Cabin type | Beds | Window | Price |\n|---|---|---|---|\n| Economy | 4 | no | 490 |\n"
    "| Sea view | 2 | yes | 950 |\n| Pet cabin | 2 | no | 790 |\n| Suite | 3 | yes | 1850 |"
)
DRIVES = (
    "| Product | Capacity (TB) | Failures (million hours) |\n|---|---|---|\n| Tern 7 | 2 | 1.8 |\n"
    "| Heron E4 | 4 | 2.5 |\n| Heron E4 | 8 | 2.4 |\n| Heron E4 cold grade | 16 | 2 |"
)
CHARGE = (
    "| State of charge | What to do |\n|---|---|\n| below 65 % | ask the chief engineer |\n"
    "| below 45 % | cancel the next crossing |\n| below 30 % | start the generator |"
)

LEAD_TIMES = (
    "| Product | Lead time | Price (EUR) |\n|---|---|---|\n| Tern | 6 weeks | 120 |\n| Heron | 10 weeks | 95 |\n"
    "| Wren | 4 weeks | 300 |"
)


async def answer(question: str, text: str, cut: Mapping[str, tuple[bool, bool]] | None = None) -> str:
    document = Document("d", "file:///guide.md", "Guide", "text/markdown", "r", "h", "2026-01-01")
    hit = Hit(Passage("p", "d", "r", 0, 0, len(text), text, "Guide", ("Guide",)), document, 0.9)
    hits = rerank([WeightedQuery(question)], [hit], LexicalScorer(), Profile())
    request = AnswerRequest(question, question, (), hits, cut_lists=cut or {})
    return "".join([piece async for piece in ExtractiveWriter().write(request)])


def rows(quoted: str) -> list[str]:
    """Return the first cells of the quoted rows, without the header."""
    return [line.split("|")[1].strip() for line in quoted.split("\n") if line.startswith("|")][2:]


async def test_a_short_table_is_quoted_whole_when_no_row_is_named() -> None:
    quoted = await answer("How much is a cabin with a window?", CABINS)
    assert rows(quoted) == ["Economy", "Sea view", "Pet cabin", "Suite"]


async def test_a_named_row_is_quoted_alone() -> None:
    assert rows(await answer("How much is the pet cabin?", CABINS)) == ["Pet cabin"]
    assert rows(await answer("How much is a suite cabin?", CABINS)) == ["Suite"]


async def test_rows_of_one_name_are_quoted_together_unless_distinguished() -> None:
    question = "How many million hours between failures for the product Heron E4"
    assert "Heron E4, Heron E4" in ", ".join(rows(await answer(f"{question}?", DRIVES)))
    assert rows(await answer(f"{question} cold grade?", DRIVES)) == ["Heron E4 cold grade"]
    assert "| Heron E4 | 8 | 2.4 |" in await answer(f"{question} with a capacity of 8 TB?", DRIVES)


async def test_a_row_is_named_by_one_of_the_names_in_a_cell() -> None:
    cities = "| City | Limit |\n|---|---|\n| New York, Boston | 250 |\n| Chicago, Detroit (centre) | 210 |"
    assert rows(await answer("What is the limit for a hotel in Chicago?", cities)) == ["Chicago, Detroit (centre)"]


async def test_a_row_answers_if_only_its_first_cell_has_words_that_no_column_has() -> None:
    kept = (
        "| Record | Period |\n|---|---|\n| Video of the gates | 72 hours |\n| Visitor book | 12 months |\n"
        "| Training records | three years |"
    )
    assert rows(await answer("For which period is the gate camera kept?", kept)) == ["Video of the gates"]
    assert len(rows(await answer("For which period is a record kept?", kept))) == 3


async def test_a_numbered_row_is_found_in_any_spelling() -> None:
    quarters = "| Quarter | Start | End |\n|---|---|---|\n" + "\n".join(
        f"| Q{number} | {number} May | {number} June |" for number in range(1, 5)
    )
    for question in ("When does the third quarter start and end?", "When does Q3 start?", "Start of quarter 3?"):
        assert rows(await answer(question, quarters)) == ["Q3"]
    bare = quarters.replace("| Q", "| ")
    assert rows(await answer("When does the 3rd quarter start?", bare.replace("| uarter", "| Quarter"))) == ["3"]


async def test_a_superlative_chooses_the_extreme_row_of_a_whole_table() -> None:
    question = "Which product has the longest lead time?"
    assert rows(await answer(question, LEAD_TIMES)) == ["Heron"]
    assert len(rows(await answer(question, LEAD_TIMES, cut={"p": (False, True)}))) == 3


async def test_a_number_in_the_question_is_compared_with_bounds() -> None:
    question = "What to do at a state of charge of"
    assert rows(await answer(f"{question} 30 %?", CHARGE)) == ["below 65 %", "below 45 %"]
    assert rows(await answer(f"{question} 45 %?", CHARGE)) == ["below 65 %"]


async def test_a_table_is_quoted_whole_when_the_number_cannot_be_compared() -> None:
    whole = ["below 65 %", "below 45 %", "below 30 %"]
    assert rows(await answer("What to do at a state of charge of about 30 %?", CHARGE)) == whole
    assert rows(await answer("What to do at a state of charge of 80 %?", CHARGE)) == whole


async def test_all_equally_matching_rows_of_a_long_table_are_quoted() -> None:
    lines = [f"| Room {number} | {'window' if number % 9 == 0 else 'none'} | {number} |" for number in range(1, 31)]
    table = "\n".join(["| Place | Light | Fee |", "|---|---|---|", *lines])
    assert rows(await answer("How high is the fee for light by a window?", table)) == ["Room 9", "Room 18", "Room 27"]


async def test_a_single_step_does_not_answer_a_how_to_question() -> None:
    steps = "1. Put the pads on.\n2. The tower connects by itself in a minute.\n3. If it does not, press RETRY."
    assert await answer("The tower connects not by itself, what now?", steps) == steps
    assert await answer("How long until the tower connects by itself?", steps) == steps.split("\n")[1]


async def test_a_row_is_named_in_the_language_of_the_question() -> None:
    rooms = (
        "| Bereich | Sollwert | Prüfung |\n|---|---|---|\n| Kühlräume | 4 °C | täglich |\n"
        "| Gärraum | 32 °C | jede Schicht |\n| Theke | 6 °C | täglich |"
    )
    text = await answer("Wie oft wird im Kühlraum die Temperatur geprüft?", rooms)
    assert "Kühlräume" in text and "Gärraum" not in text and "Theke" not in text
