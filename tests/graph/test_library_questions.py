""" "What documents do you have?" is answered with the documents that the asker may read."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from argot.graph.build import build_graph
from argot.graph.presentation.wording import MAX_DOCUMENTS
from argot.graph.run import ask
from argot.results import AskResult
from argot.service.usecases.questions.questions import read_in_thread
from argot.tools.reading.library_questions import find_library_topic, is_library_question
from argot.types import THREAD, Principal


async def asked(run: Any, question: str) -> AskResult:
    *_, last = [event async for event in ask(build_graph(InMemorySaver()), run, question, "t")]
    assert isinstance(last.data, AskResult)
    return last.data


@pytest.mark.parametrize(
    "message",
    [
        "What documents do you have?",
        "which files do you know",
        "Hi, list your documents please!",
        "List all documents",
        "Show me the documents you have access to",
        "How many documents are there?",
        "how many files have you indexed in total?",
        "What is in your knowledge base?",
        "Which sources can you search?",
        "what are your sources?",
        "Where do you get your answers from?",
        "Can you give me a list of the documents that are available here?",
        "What kind of documents do you have?",
        "Which manuals are available?",
        "What information do you have?",
        "What files did I upload?",
        "which documents have I just added here",
    ],
)
def test_requests_for_the_list_of_documents_are_recognised(message: str) -> None:
    assert is_library_question(message)


@pytest.mark.parametrize(
    "message",
    [
        "Which documents do I need for a visa?",
        "How many documents must be signed?",
        "Which files did I upload to the customer portal?",
        "What documents do you have about the PUC?",
        "List the documents",
        "Which files does the tool write?",
        "What is in the file?",
        "How many documents are there in a tariff filing?",
        "Who keeps the documents?",
        "What do you have?",
        f"What documents do you have {'here ' * 40}?",
    ],
)
def test_a_question_about_documents_is_an_ordinary_question(message: str) -> None:
    assert not is_library_question(message)


async def test_the_list_holds_the_documents_that_the_asker_may_read(tiny_kb: Any) -> None:
    result = await asked(tiny_kb.run_context(), "What documents do you have?")
    assert (result.status, result.passages, result.sentences) == ("small_talk", [], [])
    assert result.answer == (
        "I answer from 3 documents that you may read:\n"
        "- drive-tool.md: Drive tool manual\n"
        "- nand-layout.md: NAND layout guide\n"
        "- tariff-filing.md: Tariff filing handbook"
    )
    insider = await asked(tiny_kb.run_context(Principal("iris", frozenset({"vault"}))), "How many files do you have?")
    assert "4 documents" in insider.answer and "- vault-handbook.md" in insider.answer


async def test_files_of_the_conversation_come_first(tiny_kb: Any) -> None:
    tiny_kb.add("rota.md", "# Lighthouse rota\n\nThe lamp is lit.\n", audience=frozenset({f"{THREAD}t"}))
    result = await asked(tiny_kb.run_context(read_in_thread(Principal("ann"), "t")), "Which files do you have?")
    assert result.answer.splitlines()[:3] == [
        "I answer from 1 document in this conversation:",
        "- rota.md: Lighthouse rota",
        "And from 3 documents that you may read:",
    ]
    assert "rota" not in (await asked(tiny_kb.run_context(), "Which files do you have?")).answer


async def test_a_long_list_is_cut_and_says_so(tiny_kb: Any) -> None:
    for number in range(MAX_DOCUMENTS):
        tiny_kb.add(f"page-{number:02}.md", f"# Page {number}\n\nText {number}.\n")
    lines = (await asked(tiny_kb.run_context(), "What documents do you have?")).answer.splitlines()
    assert (lines[0], lines[-1]) == (
        f"I answer from {MAX_DOCUMENTS + 3} documents that you may read:",
        "and 3 others; these are the first by name.",
    )


async def test_an_empty_library_is_reported(tiny_kb: Any) -> None:
    for document in tiny_kb.corpus.store.documents(Principal("all", sees_all=True)):
        tiny_kb.corpus.remove(Principal("all", sees_all=True), document.id)
    result = await asked(tiny_kb.run_context(), "What documents do you have?")
    assert result.answer == "There are no documents yet that I could answer from."


# -- documents about a topic ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "topic"),
    [
        ("Which documents do you have about the wafer maps?", "wafer maps"),
        ("Is there a handbook page on Mural?", "Mural"),
        ("what docs cover C++ please", "C++"),
        ("List the documents about PTO", "PTO"),
        ("Welche Dokumente gibt es zum Thema Reisen?", "Reisen"),
        ("In welchem Handbuch geht es um den Drucker?", "Drucker"),
        ("Quels documents parlent des congés payés ?", "congés payés"),
        ("Avez-vous un document sur l'imprimante ?", "imprimante"),
        ("¿Qué documentos hay sobre el permiso parental?", "permiso parental"),
        ("¿Tienes algún manual sobre la impresora?", "impresora"),
        ("Which documents do I need about to travel", ""),
        ("Which documents must be signed on Monday?", ""),
        ("which guide describes what to do if the printer is on fire again", ""),
        ("Welche Unterlagen brauche ich für das Visum?", ""),
        ("Quels documents faut-il signer sur place ?", ""),
        ("¿Qué documentos necesito sobre la mesa?", ""),
    ],
)
def test_the_topic_of_a_request_for_documents_is_read(message: str, topic: str) -> None:
    assert find_library_topic(message) == topic


async def test_the_documents_about_a_topic_are_listed_by_how_they_name_it(tiny_kb: Any) -> None:
    tiny_kb.add("kiln.md", "# Kilns\n\n## Cleaning\n\nThe quartz kiln is cleaned weekly.\n")
    tiny_kb.add("rota.md", "# Rota\n\n## Kiln\n\nMia and Ann take turns.\n")
    tiny_kb.add("notes.md", "# Notes\n\nA kiln stands in hall 3.\n")
    tiny_kb.add("secret.md", "# Secret kiln\n\nIt has no number.\n", audience=frozenset({"vault"}))
    headed = await asked(tiny_kb.run_context(), "Which documents are there about kilns?")
    assert (headed.status, headed.passages) == ("small_talk", [])
    assert headed.answer.splitlines() == [
        "2 documents have “kilns” in their name, title or headings:", "- kiln.md: Kilns", "- rota.md",
    ]  # fmt: skip
    mentioned = await asked(tiny_kb.run_context(), "Is there a document about quartz?")
    assert mentioned.answer.splitlines()[0] == "1 document mentions “quartz” in its text:"


async def test_a_topic_without_a_document_is_searched_as_any_question(tiny_kb: Any) -> None:
    assert (await asked(tiny_kb.run_context(), "Is there a document about zeppelins?")).status == "abstained"
