"""Several questions in one message, without a language model: each is answered, with its own citations."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from repository import ROOT

from argot.graph.build import build_graph
from argot.graph.run import ask
from argot.results import AskResult
from argot.tools.reading.question_splitting import split_questions

GERMAN = ROOT / "samples" / "german" / "documents"


async def asked(kb: Any, question: str, **profile: Any) -> AskResult:
    run = kb.run_context(**profile)
    events = [event async for event in ask(build_graph(InMemorySaver()), run, question, "t")]
    assert isinstance(events[-1].data, AskResult)
    return events[-1].data


@pytest.mark.parametrize(
    ("message", "parts"),
    [
        ("What is PLP and how tall may a pole be?", ["What is PLP?", "How tall may a pole be?"]),
        ("What is tCCS? And what is tADL?", ["What is tCCS?", "What is tADL?"]),
        (
            "Who cooks and how old must a pan be before I get a new one?",
            ["Who cooks?", "How old must a pan be before I get a new one?"],
        ),
        ("When is lunch, and who cooks?", ["When is lunch?", "Who cooks?"]),
        ("What is the difference between tPROG and tBERS?", ["What is tPROG?", "What is tBERS?"]),
        ("compare the red and the blue kayak", ["What is the red kayak?", "What is the blue kayak?"]),
        ("How do kayaks and canoes differ in weight?", ["What is kayaks weight?", "What is canoes weight?"]),
        ("Word Line versus tariff filing", ["What is Word Line?", "What is tariff filing?"]),
        ("What is A1, and what is B2, and what is C3?", ["What is A1?", "What is B2?", "What is C3?"]),
    ],
)
def test_several_questions_are_split(message: str, parts: list[str]) -> None:
    assert split_questions(message) == parts


@pytest.mark.parametrize(
    "message",
    [
        "Which side gets hottest, and by how much?",
        "What is PLP and how does it work?",
        "What is PLP, and why?",
        "Which pan is old and how long does it last?",
        "How do I trim and format a drive?",
        "What and where is PLP?",
        "Who decides what is stored and how long files are kept?",
        "Compare the limits in the US and in Europe",
        "What is the difference between A1, B2 and C3?",
        "How do I compare it with that one?",
        "PLP and how tall a pole may be",
        "Which one is right?\nA) What is this?\nB) How is that?",
        "What is A1? What is B2? What is C3? What is D4?",
        "What is a word line?",
    ],
)
def test_one_question_is_not_split(message: str) -> None:
    assert split_questions(message) == [message]


async def test_both_questions_are_answered_with_citations(tiny_kb: Any) -> None:
    result = await asked(tiny_kb, "What is the WL voltage during a read and how long does trimming a drive take?")
    assert result.status == "answered"
    cited = {(one.document, sentence.text) for sentence in result.sentences for one in sentence.citations}
    assert any(document == "nand-layout.md" and "4.5 V" in text for document, text in cited)
    assert any(document == "drive-tool.md" and "40 seconds" in text for document, text in cited)
    assert [one.expansion for one in result.jargon] == ["Word Line"]
    assert not any("do not seem" in note for note in result.notes)


async def test_a_question_that_no_document_answers_is_named(tiny_kb: Any) -> None:
    question = "How long does trimming a drive take? What do penguins eat in winter?"
    result = await asked(tiny_kb, question)
    assert result.status == "answered" and "40 seconds" in result.answer
    assert {one.document for sentence in result.sentences for one in sentence.citations} == {"drive-tool.md"}
    assert "The documents do not seem to answer “What do penguins eat in winter?”" in result.notes
    nothing = await asked(tiny_kb, "What do penguins eat in winter? How high do kestrels fly?")
    assert nothing.status == "abstained" and not any("do not seem" in note for note in nothing.notes)


async def test_several_questions_are_answered_without_reranking(tiny_kb: Any) -> None:
    result = await asked(tiny_kb, "What does a late tariff filing cost and how is a drive trimmed?", rerank=False)
    assert result.status == "answered"


async def test_a_comparison_quotes_one_block_for_each_side(tiny_kb: Any) -> None:
    result = await asked(tiny_kb, "Compare the Word Line voltage and a late tariff filing")
    assert result.status == "answered"
    documents = [one.citations[0].document for one in result.sentences]
    assert list(dict.fromkeys(documents)) == ["nand-layout.md", "tariff-filing.md"]
    assert any("in this order. Nothing is concluded" in note for note in result.notes)


async def test_a_comparison_says_which_side_nothing_that_is_quoted_names(tiny_kb: Any) -> None:
    tiny_kb.add("leave.md", "# Travel comp time\n\nTravel comp time is for journeys of a day.\n")
    result = await asked(tiny_kb, "What is the difference between travel comp time and weekend comp time?")
    assert result.status == "answered" and "journeys" in result.answer
    assert "Nothing that is quoted names “weekend comp time”, so this is only a part of the comparison." in (
        result.notes
    )


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("Vergleiche Warngrenze und Toleranz", ("Warngrenze", "Toleranz")),
        ("Vergleiche die Toleranz von Kanalätzung und Wolframfüllung", ("± 7,0 nm", "± 0,05 Ω")),
        ("Was ist der Unterschied zwischen der Toleranz und der Warngrenze?", ("Toleranz", "Warngrenze")),
    ],
)
async def test_a_comparison_in_german_quotes_and_names_both_sides(
    tiny_kb: Any, question: str, quoted: tuple[str, str]
) -> None:
    tiny_kb.add("qualitaetspruefung.md", (GERMAN / "werk" / "qualitaetspruefung.md").read_text("utf-8"))
    result = await asked(tiny_kb, question)
    assert result.status == "answered" and all(one in result.answer for one in quoted)
    assert any("Daraus wird nichts gefolgert" in note for note in result.notes), result.notes


async def test_a_comparison_without_one_of_its_sides_is_refused_and_names_it(tiny_kb: Any) -> None:
    result = await asked(tiny_kb, "Compare the Word Line voltage and the diet of penguins")
    assert result.status == "abstained"
    assert "Nothing was found about “the diet of penguins”, so there is nothing to compare." in result.notes


async def test_a_side_that_the_closest_passages_name_is_not_said_to_be_missing(tiny_kb: Any) -> None:
    tiny_kb.add(
        "schichten.md", "# Schichten\n\nAuszubildende gehen erst im zweiten Jahr in Frühschicht und Spätschicht.\n"
    )
    result = await asked(tiny_kb, "Was ist der Unterschied zwischen Spätschicht und Pinguin?")
    assert not any("„Spätschicht“" in note and "nichts gefunden" in note for note in result.notes), result.notes


async def test_a_question_about_two_things_is_answered_for_both(tiny_kb: Any) -> None:
    for name, cleaner in {"north": "Ada Berg cleans it on Mondays.", "south": "The cleaner is Tom Rye."}.items():
        text = f"# {name.title()} lamp\n\nIt stands in the harbour.\n\n## Cleaning\n\n{cleaner}\n"
        tiny_kb.add(f"{name}.md", text)
    result = await asked(tiny_kb, "Who cleans the north lamp and the south lamp?")
    assert "Ada Berg" in result.answer and "Tom Rye" in result.answer
    alone = await asked(tiny_kb, "Who cleans the north lamp?")
    assert "Ada Berg" in alone.answer and "Tom Rye" not in alone.answer
