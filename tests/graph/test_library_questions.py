""" "What documents do you have?" is answered with the documents that the asker may read."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from argot.graph.build import build_graph
from argot.graph.presentation.listing_wording import MAX_DOCUMENTS
from argot.graph.run import ask
from argot.results import AskResult
from argot.service.usecases.questions.questions import read_in_thread
from argot.tools.reading.library_questions import (
    find_library_topic,
    find_listing_parts,
    is_glossary_question,
    is_library_question,
)
from argot.types import THREAD, Principal
from argot.ui.rendering.chat_markdown import view_result


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


@pytest.mark.parametrize(
    "message",
    [
        "how many terms are in the glossary?",
        "How many terms does the glossary have?",
        "Hi, how many abbreviations do you know?",
        "can you tell me how many entries there are in the glossary",
        "How big is your glossary?",
        "What is in the glossary?",
        "Which terms are defined in our glossary?",
        "List all terms of the glossary, please",
        "number of terms in the glossary",
    ],
)
def test_questions_about_the_glossary_are_recognised(message: str) -> None:
    assert is_glossary_question(message) and not is_library_question(message)


@pytest.mark.parametrize(
    "message",
    [
        "How many terms are there?",
        "How many terms does the contract have?",
        "What terms do we have?",
        "How many abbreviations may a report use?",
        "Who looks after the glossary?",
        "Which terms are in the glossary of the tariff handbook?",
    ],
)
def test_other_questions_about_terms_are_ordinary_questions(message: str) -> None:
    assert not is_glossary_question(message)


async def test_the_terms_that_the_asker_may_read_are_counted(tiny_kb: Any) -> None:
    tiny_kb.glossary.senses.add("WL", "Tools", "work list")  # a second meaning is no second term
    tiny_kb.glossary.senses.add("QQD", "Tools", "a draft", status="draft")
    result = await asked(tiny_kb.run_context(), "how many terms are in the glossary?")
    assert (result.status, result.passages, result.misses) == ("small_talk", [], [])
    assert result.answer == (
        "The glossary has 4 terms that you may read. I know the terms of Legal, NAND and Tools."
        " The page Terms lists them all."
    )
    insider = await asked(tiny_kb.run_context(Principal("iris", frozenset({"vault"}))), "What is in the glossary?")
    assert insider.answer.startswith("The glossary has 5 terms")
    german = await asked(tiny_kb.run_context(), "Wie viele Begriffe sind im Glossar?")
    assert german.answer.startswith("Das Glossar hat 4 Begriffe")
    tiny_kb.glossary.senses.add("QQE", "general", "of no context")
    assert "terms of Legal, NAND and Tools." in (await asked(tiny_kb.run_context(), "What is in the glossary?")).answer


async def test_terms_without_a_context_are_no_subject_of_their_own(empty_kb: Any) -> None:
    empty_kb.glossary.senses.add("QQE", "general", "of no context")
    told = await asked(empty_kb.run_context(), "What is in the glossary?")
    assert told.answer.startswith("The glossary has 1 term that you may read. The page")


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


async def test_passages_of_two_documents_of_one_name_show_their_folders(tiny_kb: Any) -> None:
    for folder in ("north", "south"):
        tiny_kb.add(f"{folder}/lamps.md", f"# Lamps of the {folder}\n\nThe {folder} lamp of the pier burns 7 hours.\n")
    result = await asked(tiny_kb.run_context(), "How long do the north lamp and the south lamp of the pier burn?")
    assert {"north/lamps.md", "south/lamps.md"} <= {one.name for one in result.passages}
    assert {one.document for one in result.passages if one.folder} == {"lamps.md"}
    shown = view_result(result).content
    assert "**north/lamps\\.md**" in shown or "**south/lamps\\.md**" in shown


@pytest.mark.parametrize(
    ("message", "topic"),
    [
        ("Wie viele Dokumente behandeln Urlaub?", "Urlaub"),
        ("In wie vielen Dokumenten geht es um den Urlaub?", "Urlaub"),
        ("Wieviele Dokumente gibt es zum Thema Urlaub?", "Urlaub"),
        ("Combien de documents parlent de vacances ?", "vacances"),
        ("Combien de documents y a-t-il sur les vacances ?", "vacances"),
        ("¿Cuántos documentos hablan de vacaciones?", "vacaciones"),
        ("¿Cuántos documentos hay sobre las vacaciones?", "vacaciones"),
        ("Wie viele Dokumente brauche ich für den Urlaub?", ""),
        ("Combien de documents faut-il pour les vacances ?", ""),
        ("¿Cuántos documentos necesito para las vacaciones?", ""),
    ],
)
def test_documents_about_something_are_counted_in_other_languages_too(message: str, topic: str) -> None:
    assert find_library_topic(message) == topic


@pytest.mark.parametrize(
    ("message", "parts"),
    [
        ("Which documents are about tariffs? Also how high is the fee?", ["Which documents are about tariffs?"]),
        ("Welche Dokumente behandeln Tarife? Und wie hoch ist die Gebühr?", ["Welche Dokumente behandeln Tarife?"]),
        ("Quels documents parlent de tarifs ? Et quel est le prix ?", ["Quels documents parlent de tarifs ?"]),
        ("¿Qué documentos hablan de tarifas? ¿Y cuál es el precio?", ["¿Qué documentos hablan de tarifas?"]),
        ("What is the fee? How many terms are in the glossary?", ["How many terms are in the glossary?"]),
        ("Which documents are about tariffs?", []),
        ("How high is the fee? And when is it due?", []),
    ],
)  # fmt: skip
def test_questions_for_a_list_are_found_in_a_message_of_several(message: str, parts: list[str]) -> None:
    assert find_listing_parts(message) == parts


async def test_a_question_for_a_list_beside_another_is_not_passed_over(tiny_kb: Any) -> None:
    both = "What does a late tariff filing cost? Which documents are about tariffs?"
    result = await asked(tiny_kb.run_context(), both)
    assert result.status == "answered" and "tariff" in result.answer
    assert [note for note in result.notes if "asks for a list" in note and "Which documents are about tariffs?" in note]
    alone = await asked(tiny_kb.run_context(), "What does a late tariff filing cost?")
    assert not [note for note in alone.notes if "asks for a list" in note]
