"""A question for the meaning of a term is answered from the glossary, which is named as the source."""

from dataclasses import replace
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from argot.graph.build import build_graph
from argot.graph.presentation.wording import write_definition
from argot.graph.run import answer_choice, ask, read_turn
from argot.results import AskResult
from argot.slack.app.block_kit import MessageContext, render_messages
from argot.types import Principal, Sense
from argot.ui.rendering.chat_markdown import view_result
from argot.ui.rendering.message_markdown import format_message


async def asked(run: Any, question: str) -> AskResult:
    *_, last = [event async for event in ask(build_graph(InMemorySaver()), run, question, "t")]
    assert isinstance(last.data, AskResult)
    return last.data


SAID = "In the glossary (Tools): “DGD” means dangerous goods declaration. The sender's paper."


@pytest.fixture
def kb(tiny_kb: Any) -> Any:
    tiny_kb.glossary.senses.add("DGD", "Tools", "dangerous goods declaration", "The sender's paper.")
    return tiny_kb


@pytest.mark.parametrize(
    ("sense", "said"),
    [
        (Sense(1, "DGD", "Ops", "dangerous goods"), "In the glossary (Ops): “DGD” means dangerous goods."),
        (Sense(1, "DGD", "", "a", "A."), "In the glossary: “DGD” means a."),
        (Sense(1, "DGD", "general", "a", "A."), "In the glossary: “DGD” means a."),
        (Sense(1, "DL", "", "drill log", "For drills"), "In the glossary: “DL” means drill log. For drills."),
        (Sense(1, "Terne", "Ops", "", "A ship.\n\nSmall."), "In the glossary (Ops): “Terne”: A ship. Small."),
    ],
)  # fmt: skip
def test_a_definition_names_its_source(sense: Sense, said: str) -> None:
    assert write_definition(sense) == said


@pytest.mark.parametrize("question", ["What does DGD mean?", "What is a DGD?", "define DGD", "What is meant by DGD?"])
async def test_the_glossary_answers_when_the_documents_do_not(kb: Any, question: str) -> None:
    result = await asked(kb.run_context(), question)
    assert (result.status, result.answer, result.answered_by) == ("answered", SAID, "extractive")
    assert result.notes == []
    (sentence,) = result.sentences
    assert (sentence.supported, sentence.citations, sentence.sense_id > 0) == (True, [], True)
    assert result.cited_passages == []


async def test_sentences_from_the_documents_follow_the_definition(kb: Any) -> None:
    kb.add("cargo.md", "# Dangerous goods declaration\n\nThe DGD is handed in 24 hours before departure.\n")
    result = await asked(kb.run_context(), "What is a DGD?")
    first, *others = result.sentences
    assert first.text == SAID
    assert any("24 hours" in one.text and one.citations for one in others)


async def test_a_list_that_only_mentions_the_term_is_not_quoted(kb: Any) -> None:
    kb.add("cargo.md", "# What a DGD needs\n\n1. Print the DGD form.\n2. Sign it.\n")
    assert (await asked(kb.run_context(), "What is a DGD?")).answer == SAID


async def test_a_second_question_in_the_message_is_answered_too(kb: Any) -> None:
    result = await asked(kb.run_context(), "What is a DGD? And what is the Word Line voltage during a read?")
    assert result.answer.startswith(SAID)
    assert "4.5 V" in result.answer
    assert not any("do not seem to answer" in note for note in result.notes)
    missing = await asked(kb.run_context(), "What is a DGD? And who won the chess tournament in Lisbon?")
    assert missing.answer == SAID
    assert "The documents do not seem to answer “Who won the chess tournament in Lisbon?”" in missing.notes


async def test_a_question_about_a_term_is_not_a_question_for_its_meaning(kb: Any) -> None:
    result = await asked(kb.run_context(), "Who signs the DGD?")
    assert (result.status, SAID in result.answer) == ("abstained", False)


async def test_the_chosen_sense_is_the_one_defined(tiny_kb: Any) -> None:
    graph, run = build_graph(InMemorySaver()), tiny_kb.run_context()
    waiting = [event async for event in ask(graph, run, "What is a PUC?", "t")][-1].data
    assert waiting.status == "needs_choice"
    legal = next(choice.answer for choice in waiting.choices if choice.context == "Legal")
    result = [event async for event in answer_choice(graph, run, "t", legal)][-1].data
    assert result.answer.startswith("In the glossary (Legal): “PUC” means Public Utilities Commission. the authority")


LISTED = [
    "In the glossary (Legal): “PUC” means Public Utilities Commission. the authority that approves tariffs.",
    "In the glossary (NAND): “PUC” means Peripheral Under Cell. circuits under the memory array.",
]


@pytest.mark.parametrize(
    "question",
    [
        "What does PUC stand for here?",
        "What are the two meanings of PUC?",
        "How many meanings does PUC have?",
        "What else can PUC mean?",
        "List all meanings of PUC",
        "What are the meanings of PUC at Legal?",
    ],
)
async def test_all_meanings_are_told_if_nothing_but_a_meaning_is_asked_for(tiny_kb: Any, question: str) -> None:
    result = await asked(tiny_kb.run_context(), question)
    assert (result.status, result.choices, result.jargon) == ("answered", [], [])
    assert sorted(sentence.text for sentence in result.sentences) == LISTED
    assert all(sentence.supported and sentence.sense_id for sentence in result.sentences)


@pytest.mark.parametrize("question", ["What is a PUC?", "PUC?", "Explain PUC"])
async def test_a_question_about_the_thing_wants_one_sense(tiny_kb: Any, question: str) -> None:
    assert (await asked(tiny_kb.run_context(), question)).status == "needs_choice"


async def test_one_meaning_is_told_where_the_asker_or_the_question_is_clear(tiny_kb: Any) -> None:
    ours = await asked(replace(tiny_kb.run_context(), asker_context="Legal"), "What does PUC stand for?")
    assert [sentence.text for sentence in ours.sentences if sentence.sense_id] == LISTED[:1]


async def test_a_listed_meaning_that_the_asker_may_not_read_is_left_out(kb: Any) -> None:
    kb.glossary.senses.add("DGD", "Legal", "duty of good deed", "A promise.", audience=frozenset({"insiders"}))
    result = await asked(kb.run_context(), "What are the meanings of DGD?")
    assert "good deed" not in result.model_dump_json()
    assert result.answer == SAID


async def test_a_plural_is_defined_as_its_own_term(kb: Any) -> None:
    kb.glossary.senses.add("DgdS", "Tools", "dry goods delivery service", "A firm.")
    result = await asked(kb.run_context(), "What are DGDs?")
    assert (result.answer, [one.term for one in result.jargon]) == (SAID, ["DGD"])


async def test_a_retired_or_restricted_sense_is_no_longer_shown(kb: Any) -> None:
    graph, run = build_graph(InMemorySaver()), kb.run_context()
    assert [event async for event in ask(graph, run, "What is a DGD?", "t")][-1].data.answer == SAID
    (sense,) = kb.glossary.lookup.senses(Principal("boss", sees_all=True), ["DGD"])["DGD"]
    kb.glossary.senses.retire(Principal("boss", sees_all=True), sense.id, sense.version)
    later = await read_turn(graph, run, "t", 0)
    assert later is not None
    assert "dangerous" not in later.model_dump_json()
    assert later.notes == ["1 sentence is not shown: the documents changed, or you may no longer read them."]


async def test_every_surface_shows_a_definition_as_a_supported_answer(kb: Any) -> None:
    result = await asked(kb.run_context(), "What is a DGD?")
    assert view_result(result).content.split("\n\n")[0] == SAID
    assert format_message(result).split("\n\n")[0] == SAID
    assert render_messages(result, MessageContext())[0]["blocks"][0]["text"]["text"] == SAID
