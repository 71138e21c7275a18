"""Questions about a whole file of a conversation, such as "What is this about?": answered from it, with citations."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from argot.graph.build import build_graph
from argot.graph.run import ask
from argot.results import AskResult
from argot.service.usecases.questions.questions import read_in_thread
from argot.tools.answering.file_outline import select_overview
from argot.tools.reading.file_questions import parse_file_question
from argot.tools.reading.whole_file_questions import find_asked_file, is_missing_file_asked
from argot.types import THREAD, Passage, Principal

ROTA = """# Lighthouse rota

The rota says who keeps the lamp of the Skerry lighthouse. It holds from April to September.

## Night watches

A night watch lasts 6 hours. Two keepers share each watch.

## Supplies

- The boat comes on Mondays.
- Oil is ordered a week before.

## Wages

| rank | pay |
| --- | --- |
| keeper | 31 crowns |
| helper | 17 crowns |
"""
MENU = "# Canteen menu\n\nOn Fridays the canteen serves pike with dill.\n"


def attach(kb: Any, name: str, text: str) -> None:
    kb.add(name, text, audience=frozenset({f"{THREAD}t"}))


def in_conversation(kb: Any, **profile: Any) -> Any:
    return kb.run_context(read_in_thread(Principal("ann"), "t"), **profile)


async def asked(run: Any, *questions: str, graph: Any = None) -> list[AskResult]:
    graph, results = graph or build_graph(InMemorySaver()), []
    for question in questions:
        events = [event async for event in ask(graph, run, question, "t")]
        assert isinstance(events[-1].data, AskResult)
        results.append(events[-1].data)
    return results


# -- what asks for it -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "pointer"),
    [
        ("What is this about?", "it"),
        ("what's this?", "it"),
        ("Summarise this", "it"),
        ("summarize it in three sentences, please", "it"),
        ("TL;DR", "it"),
        ("Please give me a short summary", "it"),
        ("main points?", "it"),
        ("Summarise this file", "file"),
        ("What's in the document?", "file"),
        ("Could you sum up the attached PDF for me?", "file"),
        ("what does this paper say", "file"),
        ("Tell me about the file I just uploaded", "file"),
        ("What are the key points of my presentation?", "file"),
        ("Give me an overview of the spreadsheet.", "file"),
        ("summarise the attached", "file"),
        ("What information does this file contain?", "file"),
        ("What are these documents about?", "files"),
        ("what did I upload?", "files"),
        ("summarise both files", "files"),
        ("What is rota.md about?", 0),
        ("Summarise the file Q3 plan_final.docx", 1),
    ],
)
def test_requests_for_the_gist_of_a_file_are_recognised(message: str, pointer: str | int) -> None:
    assert find_asked_file(message, ["rota.md", "Q3 plan_final.docx"]) == pointer


@pytest.mark.parametrize(
    "message",
    [
        "What does the file say about wages?",
        "What is the rota?",
        "What is in the tank?",
        "Summarise the safety rules",
        "How long is a night watch in this document?",
        "Who wrote the report?",
        "Is this right?",
        "hello",
        "Why?",
        "What is a PUC?",
        "Tell me about the keepers",
        "What is this about the boat?",
        f"What is this about? {'word ' * 60}",
    ],
)
def test_a_question_about_a_detail_is_not_a_request_for_the_gist(message: str) -> None:
    assert find_asked_file(message, ["rota.md"]) is None


# -- what is answered -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("question", ["What is this about?", "Summarise this file", "what's in the document?"])
async def test_the_gist_is_quoted_from_the_file_with_citations(tiny_kb: Any, question: str) -> None:
    attach(tiny_kb, "rota.md", ROTA)
    (result,) = await asked(in_conversation(tiny_kb), question)
    assert result.status == "answered"
    for said in ("Lighthouse rota", "who keeps the lamp", "Night watches", "lasts 6 hours", "on Mondays", "31 crowns"):
        assert said in result.answer
    assert {one.document for sentence in result.sentences for one in sentence.citations} == {"rota.md"}
    assert all(sentence.supported for sentence in result.sentences)
    assert "rota.md" in result.stand_alone_question
    assert any("This is not a summary" in note for note in result.notes)


async def test_without_a_file_the_reply_says_that_it_is_missing(tiny_kb: Any) -> None:
    what, summary = await asked(tiny_kb.run_context(), "What is this?", "Summarise this file")
    assert what.status == "small_talk" and "no file" not in what.answer
    assert (summary.status, summary.passages, summary.examples) == ("small_talk", [], [])
    assert "There is no file in this conversation" in summary.answer


@pytest.mark.parametrize(
    ("message", "missing"),
    [
        ("Summarise the attached PDF", True),
        ("What's in my document?", True),
        ("What is the file I just uploaded about?", True),
        ("what are these files about", True),
        ("Summarise the report", False),
        ("What is the document about?", False),
        ("What does the manual say?", False),
        ("What is this about?", False),
        ("How do I rename this file?", False),
    ],
)
def test_only_a_message_about_an_attached_file_reports_it_missing(message: str, missing: bool) -> None:
    assert is_missing_file_asked(message) is missing


async def test_this_document_may_mean_the_one_just_cited(tiny_kb: Any) -> None:
    _, summary = await asked(
        tiny_kb.run_context(), "What is the Word Line voltage during a read?", "Summarise this document"
    )
    assert summary.status != "small_talk"


async def test_this_means_a_new_file_first_and_the_last_answer_later(tiny_kb: Any) -> None:
    graph, run = build_graph(InMemorySaver()), in_conversation(tiny_kb)
    (first,) = await asked(run, "What is the Word Line voltage during a read?", graph=graph)
    assert "4.5 V" in first.answer
    attach(tiny_kb, "rota.md", ROTA)
    results = await asked(
        run,
        "Summarise this",
        "Tell me more about it",
        "What is the Word Line voltage during a read?",
        "Explain this",
        "What is the file about?",
        graph=graph,
    )
    about_it = ["who keeps the lamp" in one.answer for one in results]
    assert about_it == [True, True, False, False, True]


async def test_the_newer_or_the_named_one_of_two_files_is_meant(tiny_kb: Any) -> None:
    graph, run = build_graph(InMemorySaver()), in_conversation(tiny_kb)
    attach(tiny_kb, "rota.md", ROTA)
    await asked(run, "How long is a night watch?", graph=graph)
    attach(tiny_kb, "menu.md", MENU)
    newer, named, both = await asked(
        run, "What is this about?", "Summarise rota.md", "What are the files about?", graph=graph
    )
    assert "pike" in newer.answer and "lamp" not in newer.answer
    assert "lamp" in named.answer and "pike" not in named.answer
    assert "lamp" in both.answer and "pike" in both.answer


async def test_a_file_of_a_few_lines_is_quoted_whole(tiny_kb: Any) -> None:
    text = "The lift is out of order until Friday. Please take the stairs. The porter helps with heavy loads.\n"
    attach(tiny_kb, "lift.txt", text)
    (result,) = await asked(in_conversation(tiny_kb), "What is this about?")
    assert result.answer == text.strip()


async def test_a_long_file_leaves_room_for_a_second_file(tiny_kb: Any) -> None:
    attach(
        tiny_kb,
        "book.md",
        "# Book\n\n" + "".join(f"## Chapter {n}\n\nThe hero rests in inn {n}.\n\n" for n in range(30)),
    )
    attach(tiny_kb, "menu.md", MENU)
    (result,) = await asked(in_conversation(tiny_kb), "What are the files about?")
    assert "inn 0" in result.answer and "pike" in result.answer


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("Summarise the markdown", "lamp"),
        ("What does the markdown file say about wages?", "31 crowns"),
        ("Summarise the sheet", "Quince"),
        ("What is the file about?", "Quince"),
        ("Summarise the slides", "Quince"),
    ],
)
async def test_a_file_is_found_by_its_kind_or_is_the_newest(tiny_kb: Any, message: str, words: str) -> None:
    attach(tiny_kb, "rota.md", ROTA)
    attach(tiny_kb, "stock.csv", "dish,day\nQuince pie,Friday\n")
    (result,) = await asked(in_conversation(tiny_kb), message)
    assert result.status == "answered" and words in result.answer


async def test_a_removed_file_is_no_longer_quoted(tiny_kb: Any) -> None:
    graph, run = build_graph(InMemorySaver()), in_conversation(tiny_kb)
    attach(tiny_kb, "rota.md", ROTA)
    await asked(run, "What is this about?", graph=graph)
    (document,) = [one for one in tiny_kb.corpus.store.documents(run.principal) if one.name == "rota.md"]
    tiny_kb.corpus.remove(run.principal, document.id)
    (result,) = await asked(run, "What is the file about?", graph=graph)
    assert "lamp" not in str(result)


async def test_a_file_is_not_quoted_without_generation_or_in_other_threads(tiny_kb: Any) -> None:
    attach(tiny_kb, "rota.md", ROTA)
    (only_passages,) = await asked(in_conversation(tiny_kb, generate_answer=False), "What is this about?")
    assert not only_passages.sentences
    (elsewhere,) = await asked(tiny_kb.run_context(read_in_thread(Principal("ann"), "other")), "Summarise this file")
    assert "lamp" not in str(elsewhere)


# -- something in a file ----------------------------------------------------------------------------------------------

PAY = "# Pay of the harbour\n\nWages in the harbour are paid on the first of each month. Wages rise every year.\n"


@pytest.mark.parametrize(
    ("message", "pointer", "question"),
    [
        ("What does the file say about wages?", "file", "What about wages?"),
        ("what does Rota.md say about the PLP, please?", 0, "What about the PLP?"),
        ("Does the attached document mention night watches?", "file", "What about night watches?"),
        ("Can you tell me what this PDF says about wages?", "file", "What about wages?"),
        ("Find the deadline in the contract I sent", "file", "What about the deadline?"),
        ("What does it say about it?", "it", "What about it?"),
        ("How long is a night watch in this document?", "file", "How long is a night watch?"),
        ("According to rota.md, who is paid?", 0, "Who is paid?"),
        ("Who is paid most, according to both files?", "files", "Who is paid most?"),
        ("And the Q3 plan_final.docx?", 1, ""),
        ("what about rota.md", 0, ""),
    ],
)
def test_questions_about_a_detail_of_a_file_are_recognised(message: str, pointer: str | int, question: str) -> None:
    found = parse_file_question(message, ["rota.md", "Q3 plan_final.docx"])
    assert found is not None
    assert (found.pointer, found.question) == (pointer, question)


@pytest.mark.parametrize(
    "message",
    [
        "What does the manual say about trimming?",
        "What is the limit in megabytes?",
        "Who wrote the report?",
        "How do I rename this file?",
        "Does it have a warranty?",
        "And what about wages?",
        "What does the law say about tariffs?",
        f"What does the file say about {'wages ' * 60}?",
    ],
)
def test_a_question_without_a_file_is_asked_of_all_documents(message: str) -> None:
    assert parse_file_question(message, ["rota.md"]) is None


async def test_a_question_about_a_file_is_answered_from_it_alone(tiny_kb: Any) -> None:
    tiny_kb.add("harbour.md", PAY)
    attach(tiny_kb, "rota.md", ROTA)
    everywhere, inside, about = await asked(
        in_conversation(tiny_kb),
        "When are wages paid?",
        "What does the file say about wages?",
        "What does it say about the boat?",
    )
    assert "first of each month" in everywhere.answer
    assert "31 crowns" in inside.answer and "harbour" not in inside.answer
    assert inside.notes[0] == "Only rota.md was searched, as you asked."
    assert {one.document for one in [*inside.passages, *about.passages]} == {"rota.md"}
    assert "Mondays" in about.answer


async def test_a_gap_in_a_file_is_not_filled_from_other_documents(tiny_kb: Any) -> None:
    attach(tiny_kb, "rota.md", ROTA)
    (result,) = await asked(
        in_conversation(tiny_kb), "According to this document, what does a late tariff filing cost?"
    )
    assert result.status == "abstained" and "500 dollars" not in str(result)


async def test_a_follow_up_with_another_file_repeats_the_question(tiny_kb: Any) -> None:
    attach(tiny_kb, "rota.md", ROTA)
    attach(tiny_kb, "menu.md", MENU)
    attach(tiny_kb, "pay.md", PAY)
    about, gist, other = await asked(
        in_conversation(tiny_kb), "What is menu.md about?", "And rota.md?", "And the file pay.md?"
    )
    assert "pike" in about.answer and "lamp" in gist.answer and "Wages rise" in other.answer
    wages, same, none = await asked(
        in_conversation(tiny_kb), "What does rota.md say about wages?", "And pay.md?", "What about menu.md?"
    )
    assert "31 crowns" in wages.answer
    assert "first of each month" in same.answer and "crowns" not in same.answer
    assert none.status == "abstained"


async def test_it_means_a_file_only_after_a_question_about_one(tiny_kb: Any) -> None:
    graph, run = build_graph(InMemorySaver()), in_conversation(tiny_kb)
    attach(tiny_kb, "menu.md", MENU)
    await asked(run, "What is the Word Line voltage during a read?", graph=graph)
    (result,) = await asked(run, "What does it say about a read?", graph=graph)
    assert not any("was searched" in note for note in result.notes)


# -- which passages ---------------------------------------------------------------------------------------------------


def passage(number: int, *headings: str) -> Passage:
    return Passage(str(number), "d", "r", number, number, number + 1, "x", "", headings)


def test_the_overview_of_a_long_file_takes_the_start_of_each_part() -> None:
    chapters = [passage(10 * chapter + n, f"{chapter}") for chapter in range(4) for n in range(10)]
    assert [one.ordinal for one in select_overview(chapters, 4)] == [0, 10, 20, 30]
    assert [one.ordinal for one in select_overview(chapters, 2)] == [0, 20]


def test_the_overview_without_headings_takes_evenly_spaced_passages() -> None:
    assert [one.ordinal for one in select_overview([passage(n) for n in range(100)], 5)] == [0, 20, 40, 60, 80]


def test_one_title_over_the_whole_file_is_not_a_part() -> None:
    sections = [passage(n, "Title", f"{n // 5}") for n in range(40)]
    assert [one.ordinal for one in select_overview(sections, 8)] == list(range(0, 40, 5))


def test_the_overview_of_a_short_file_is_the_whole_file() -> None:
    assert len(select_overview([passage(n, "a") for n in range(3)], 10)) == 3


# -- with a language model --------------------------------------------------------------------------------------------


def with_model(kb: Any, scripted: Any) -> Any:
    from argot.graph.run_context import add_model as modelled
    from argot.tools.llm.model_server import ModelServer

    settings = scripted.settings(home=kb.folder)
    server = ModelServer.from_settings(settings)
    assert server
    return modelled(in_conversation(kb), server, settings)


async def test_the_passages_of_the_file_go_to_the_model(tiny_kb: Any, scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", "The rota says who keeps the lamp of the Skerry lighthouse [1].")
    attach(tiny_kb, "rota.md", ROTA)
    (result,) = await asked(with_model(tiny_kb, scripted_model), "What is this about?")
    (call,) = scripted_model.asked()
    assert "What is this about (rota.md)?" in call.user
    assert "lasts 6 hours" in call.user and "31 crowns" in call.user and "Word Line" not in call.user
    assert (result.status, result.answered_by, result.notes) == ("answered", "model", [])
    assert result.sentences[0].citations[0].document == "rota.md"


@pytest.mark.parametrize("reply", ["NOT IN THE PASSAGES", "Submarines glide quietly beneath polar ice."])
async def test_the_file_is_quoted_when_the_model_gives_no_supported_answer(
    tiny_kb: Any, scripted_model: Any, reply: str
) -> None:
    scripted_model.reply("cited_answer", reply)
    attach(tiny_kb, "rota.md", ROTA)
    (result,) = await asked(with_model(tiny_kb, scripted_model), "What is this about?")
    assert (result.status, result.answered_by) == ("answered", "extractive")
    assert "who keeps the lamp" in result.answer


async def test_the_file_is_quoted_when_the_model_server_is_down(tiny_kb: Any, scripted_model: Any) -> None:
    scripted_model.fault("status", status=500)
    attach(tiny_kb, "rota.md", ROTA)
    (result,) = await asked(with_model(tiny_kb, scripted_model), "What is this about?")
    assert (result.status, result.answered_by) == ("answered", "extractive")
    assert "who keeps the lamp" in result.answer


DIENST = """# Wachordnung

Die Ordnung sagt, wer die Lampe des Leuchtturms hütet.

## Löhne

Ein Wärter bekommt 31 Kronen Lohn am Tag.

## Boot

Das Boot bringt montags Öl.
"""


async def test_questions_about_a_file_are_read_in_other_languages(tiny_kb: Any) -> None:
    attach(tiny_kb, "dienst.md", DIENST)
    gist, detail = await asked(
        in_conversation(tiny_kb), "Worum geht es in dieser Datei?", "Was steht in der Datei über Löhne?"
    )
    assert "Lampe" in gist.answer and "montags" in gist.answer
    assert "31 Kronen" in detail.answer and "montags" not in detail.answer
    assert detail.stand_alone_question == "Was gibt es über Löhne?"
