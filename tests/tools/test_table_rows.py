"""Which rows of a table are quoted."""

from __future__ import annotations

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


async def answer(question: str, text: str) -> str:
    document = Document("d", "file:///guide.md", "Guide", "text/markdown", "r", "h", "2026-01-01")
    hit = Hit(Passage("p", "d", "r", 0, 0, len(text), text, "Guide", ("Guide",)), document, 0.9)
    hits = rerank([WeightedQuery(question)], [hit], LexicalScorer(), Profile())
    return "".join([piece async for piece in ExtractiveWriter().write(AnswerRequest(question, question, (), hits))])


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
