"""Greetings, thanks and "who are you?": a short reply without search, citation or miss; questions stay questions."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from argot.graph.build import build_graph
from argot.graph.run import ask, read_thread
from argot.results import AskResult
from argot.slack.app.block_kit import MessageContext, render_messages
from argot.tools.reading.chitchat import identify_small_talk
from argot.types import Principal
from argot.ui.rendering.chat_markdown import view_result
from argot.ui.rendering.message_markdown import format_message


async def asked(run: Any, *questions: str) -> list[tuple[AskResult, set[str]]]:
    """Return the result of each question of one thread, and the stages that ran for it."""
    graph, results = build_graph(InMemorySaver()), []
    for question in questions:
        events = [event async for event in ask(graph, run, question, "t")]
        assert isinstance(events[-1].data, AskResult)
        results.append((events[-1].data, {event.name for event in events if event.kind == "stage"}))
    return results


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Hello", "greeting"),
        ("hellooo!! :)", "greeting"),
        ("Good morning everyone", "greeting"),
        ("thanks a lot for your help", "thanks"),
        ("THANK YOU", "thanks"),
        ("Who are you?", "about"),
        ("hi, what can you do", "about"),
        ("help", "about"),
        ("Can you make mistakes?", "about"),
        ("how up to date are you?", "about"),
        ("can I trust your answers", "about"),
        ("I don't understand", "about"),
        ("Machst du Fehler?", "about"),
        ("Est-ce que tu peux te tromper ?", "about"),
        ("¿Puedes equivocarte?", "about"),
        ("What can I ask you about?", "about"),
        ("which documents do you have?", "about"),
        ("bye", "farewell"),
        ("shorter please", "rewording"),
        ("Can you make it simpler?", "rewording"),
        ("summarise that", "rewording"),
        ("Kürzer bitte", "rewording"),
        ("plus court s'il te plaît", "rewording"),
        ("más corto por favor", "rewording"),
        ("Are you sure?", "certainty"),
        ("Bist du dir da sicher?", "certainty"),
        ("Tu es sûr ?", "certainty"),
        ("¿Estás seguro?", "certainty"),
        ("What time is it?", "clock"),
        ("what's the date today", "clock"),
        ("Wie spät ist es?", "clock"),
        ("Quelle heure est-il ?", "clock"),
        ("¿Qué hora es?", "clock"),
        ("Do you use a language model?", "model"),
        ("which LLM do you use", "model"),
        ("Nutzt du ein Sprachmodell?", "model"),
        ("Utilises-tu un modèle de langage ?", "model"),
        ("¿Usas un modelo de lenguaje?", "model"),
        ("Can you delete my conversation?", "privacy"),
        ("are my questions private?", "privacy"),
        ("who can see my questions", "privacy"),
        ("Kann ich meine Unterhaltung löschen?", "privacy"),
        ("Mes questions sont-elles privées ?", "privacy"),
        ("¿Son privadas mis preguntas?", "privacy"),
        ("continue", "unasked"),
        ("asdf", "unasked"),
        ("asdfasdf!", "unasked"),
        ("qwertz", "unasked"),
        ("xxxxx", "unasked"),
        ("mehr", "unasked"),
        ("ok", "reply"),
        ("yes", "reply"),
        ("Why?", "unasked"),
        ("and?", "unasked"),
    ],
)
def test_small_talk_is_recognised(message: str, kind: str) -> None:
    assert identify_small_talk(message) == kind


@pytest.mark.parametrize(
    "message",
    [
        "Hello, what is a PUC?",
        "help desk",
        "Help me reset my VPN token",
        "thanks, and how long does trimming take?",
        "What can you do with a returned drive?",
        "Who is IT?",
        "What is the greeting protocol?",
        "Which documents do I need?",
        "What time is it open?",
        "What is the date of the review?",
        "Who can see my payslip?",
        "Can I delete a record?",
        "shorter working hours",
        "ASDF",
        "asdf install",
        "poiuy",
        "properties",
        "Are you sure the PUC is high enough?",
        "test",
        "hi " * 60,
    ],
)
def test_a_question_is_not_small_talk(message: str) -> None:
    assert identify_small_talk(message) is None


async def test_a_greeting_is_answered_without_the_documents(tiny_kb: Any) -> None:
    ((result, stages),) = await asked(tiny_kb.run_context(), "Hello!")
    assert stages == {"stand_alone", "small_talk"}
    assert (result.status, result.sentences, result.passages, result.jargon) == ("small_talk", [], [], [])
    assert "I am Argot" in result.answer
    assert tiny_kb.glossary.misses.open(Principal("boss", sees_all=True)) == []


BADGES = "# Badges\n\n## How to renew a badge\n\nTo renew a badge, hold it to the reader at gate 2.\n"


async def test_the_offered_example_questions_are_answered(tiny_kb: Any) -> None:
    tiny_kb.add("badges.md", BADGES)
    ((offer, _),) = await asked(tiny_kb.run_context(), "What can you do?")
    assert offer.examples == ["How do I renew a badge?"]
    assert all(example in offer.answer for example in offer.examples)
    for result, _ in await asked(tiny_kb.run_context(), *offer.examples):
        assert result.status == "answered", result.question


async def test_a_heading_that_finishes_the_one_above_makes_a_whole_question(tiny_kb: Any) -> None:
    tiny_kb.add("badges.md", BADGES.replace("## How to renew a badge", "## How do I...\n\n### Renew a badge?"))
    ((offer, _),) = await asked(tiny_kb.run_context(), "What can you do?")
    assert offer.examples == ["How do I renew a badge?"]


@pytest.mark.parametrize("heading", ["Renewal of badges", "Want to renew a badge?"])
async def test_a_heading_that_is_no_question_is_no_example(tiny_kb: Any, heading: str) -> None:
    tiny_kb.add("badges.md", BADGES.replace("How to renew a badge", heading))
    ((offer, _),) = await asked(tiny_kb.run_context(), "What can you do?")
    assert offer.examples == ["What documents do you have?"]
    ((again, _),) = await asked(tiny_kb.run_context(), *offer.examples)
    assert "badges.md" in again.answer and again.examples == []


async def test_an_empty_knowledge_base_offers_no_examples(empty_kb: Any) -> None:
    ((result, _),) = await asked(empty_kb.run_context(), "Hello")
    assert (result.status, result.examples) == ("small_talk", [])
    assert "no documents" in result.answer


async def test_examples_name_only_readable_documents(tiny_kb: Any) -> None:
    secret = "# Canary plan\n\n## How to read the canary voltage\n\nThe canary voltage is 9 V; a probe reads it.\n"
    tiny_kb.add("canary.md", secret, audience=frozenset({"vault"}))
    graph, insider = build_graph(InMemorySaver()), Principal("ann", frozenset({"vault"}))
    run = tiny_kb.run_context(insider)
    results = [event.data async for event in ask(graph, run, "Hello", "t")]
    assert "How do I read the canary voltage?" in str(results[-1])
    seen = await read_thread(graph, tiny_kb.run_context(Principal("bob")), "t")
    assert "anary" not in seen.turns[0].model_dump_json()


async def test_a_follow_up_refers_to_the_question_before_the_thanks(tiny_kb: Any) -> None:
    questions = ("What is the Word Line voltage during a read?", "thanks!", "why?")
    *_, (result, _) = await asked(tiny_kb.run_context(), *questions)
    assert result.stand_alone_question == "What is the Word Line voltage during a read? Why?"


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("shorter please", "cannot word the last answer anew"),
        ("Are you sure?", "read the cited sources"),
        ("What time is it?", "do not know the time"),
        ("Do you use a language model?", "How this was answered"),
        ("are my questions private?", "nobody else can open your conversations"),
        ("Nutzt du ein Sprachmodell?", "Wie diese Antwort entstand"),
    ],
)
async def test_a_message_about_the_answer_or_argot_is_not_searched(tiny_kb: Any, message: str, reply: str) -> None:
    questions = ("What is the Word Line voltage during a read?", message)
    *_, (result, stages) = await asked(tiny_kb.run_context(), *questions)
    assert stages == {"stand_alone", "small_talk"}
    assert (result.status, result.passages, result.examples) == ("small_talk", [], [])
    assert reply in result.answer


async def test_keys_tried_out_are_searched_only_where_a_document_has_them(tiny_kb: Any) -> None:
    ((result, stages),) = await asked(tiny_kb.run_context(), "asdf")
    assert (result.status, result.passages, stages) == ("small_talk", [], {"stand_alone", "small_talk"})
    tiny_kb.add("tools.md", "# Tools\n\n## asdf\n\nUse asdf to install a version of Python.\n")
    ((result, _),) = await asked(tiny_kb.run_context(), "asdf")
    assert result.status != "small_talk"


@pytest.mark.parametrize("message", ["more", "please continue", "Anything else?"])
async def test_more_says_that_there_is_no_more(tiny_kb: Any, message: str) -> None:
    questions = ("What is the Word Line voltage during a read?", message)
    (first, _), (result, _) = await asked(tiny_kb.run_context(), *questions)
    assert (first.status, result.status, result.sentences) == ("answered", "abstained", [])
    assert f"No answer to “{message}” was found beyond the one above" in result.answer


async def test_why_after_a_greeting_asks_for_a_whole_sentence(tiny_kb: Any) -> None:
    *_, (result, _) = await asked(tiny_kb.run_context(), "Hello", "Why?")
    assert (result.status, result.stand_alone_question) == ("small_talk", "Why?")
    assert "whole sentence" in result.answer


async def test_a_message_with_a_term_of_the_glossary_is_a_question(tiny_kb: Any) -> None:
    tiny_kb.glossary.senses.add("HI", "NAND", "hydrogen iodide")
    ((result, _),) = await asked(tiny_kb.run_context(), "HI?")
    assert [one.expansion for one in result.jargon] == ["hydrogen iodide"]


async def test_without_small_talk_every_message_is_a_question(tiny_kb: Any) -> None:
    ((result, stages),) = await asked(tiny_kb.run_context(small_talk=False), "Hello")
    assert "small_talk" not in stages
    assert result.status == "abstained"


async def test_without_generation_every_message_is_a_question(tiny_kb: Any) -> None:
    ((result, _),) = await asked(tiny_kb.run_context(generate_answer=False), "help")
    assert result.status != "small_talk"


async def test_every_surface_shows_a_small_talk_reply_without_sources(tiny_kb: Any) -> None:
    ((result, _),) = await asked(tiny_kb.run_context(), "Who are you?")
    shown = view_result(result)
    assert "I am Argot" in shown.content
    assert [button.payload["question"] for button in shown.buttons] == result.examples
    (message,) = render_messages(result, MessageContext(web="https://a.example"))
    assert "I am Argot" in str(message["blocks"])
    assert "Ask a person" not in str(message["blocks"])
    assert all(example[:40] in str(message["blocks"]) for example in result.examples)
    text = format_message(result)
    assert "I am Argot" in text and "Nearest passages" not in text and "Sources" not in text
