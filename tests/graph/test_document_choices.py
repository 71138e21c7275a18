"""Asking back which document is meant, on real stores: when, how a reply is read, and what the thread remembers."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from argot.errors import Conflict
from argot.graph.build import build_graph
from argot.graph.checkpoints.checkpointer import TurnSaver
from argot.graph.run import answer_choice, ask, read_thread
from argot.profile import PROFILES
from argot.results import AskResult
from argot.types import Principal

RESET = "How do I reset the router?"
INSIDER = Principal("ann", frozenset({"network"}))


def router(name: str, seconds: int) -> str:
    return (
        f"# Router {name}\n\n## Resetting\n\nTo reset the router, hold its button for {seconds} seconds.\n\n"
        f"## Updating the firmware\n\nPlug the stick in. The update of the firmware takes {seconds // 2} minutes.\n"
    )


@pytest.fixture
def kb(tiny_kb: Any) -> Any:
    tiny_kb.add("r1.md", router("R1", 10))
    tiny_kb.add("r7.md", router("R7", 30))
    return tiny_kb


class Talk:
    """One conversation, in which different principals may ask."""

    def __init__(self, kb: Any, **profile: Any) -> None:
        self.kb, self.profile = kb, profile
        self.graph = build_graph(InMemorySaver())

    def run(self, principal: Principal | None = None) -> Any:
        return self.kb.run_context(principal, **self.profile)

    async def ask(self, question: str, principal: Principal | None = None) -> AskResult:
        return await result_of(ask(self.graph, self.run(principal), question, "t"))

    async def choose(self, answer: str, principal: Principal | None = None) -> AskResult:
        return await result_of(answer_choice(self.graph, self.run(principal), "t", answer))


async def result_of(events: Any) -> AskResult:
    *_, last = [event async for event in events]
    assert isinstance(last.data, AskResult)
    return last.data


def offered(result: AskResult) -> list[str]:
    return [choice.expansion for choice in result.choices]


# -- when -------------------------------------------------------------------------------------------------------------


async def test_the_asker_chooses_a_document_and_is_answered_from_it(kb: Any, tmp_path: Path) -> None:
    async with TurnSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
        asked = await result_of(ask(build_graph(saver), kb.run_context(), RESET, "t"))
    assert asked.status == "needs_choice"
    assert sorted(offered(asked)) == ["", "Router R1", "Router R7"]
    assert asked.choices[-1].answer == "anyway"
    assert asked.answer.startswith("“the router” fits several documents. Which one do you mean?\n1. Router R")
    r7 = next(choice.answer for choice in asked.choices if choice.expansion == "Router R7")
    async with TurnSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:  # another process would do the same
        result = await result_of(answer_choice(build_graph(saver), kb.run_context(), "t", r7))
        with pytest.raises(Conflict, match="Nothing is waiting"):
            await result_of(answer_choice(build_graph(saver), kb.run_context(), "t", r7))
    assert result.status == "answered"
    assert "30 seconds" in result.answer and "10 seconds" not in result.answer
    assert {citation.document for sentence in result.sentences for citation in sentence.citations} == {"r7.md"}
    assert "r1.md" not in {passage.document for passage in result.passages}
    assert not result.choices and not result.notes


@pytest.mark.parametrize(
    "question",
    [
        "How do I reset Router R7?",
        "Which routers can I reset?",
        "How do I reset all the routers?",
        "How do the routers differ when I reset them?",
        "How do I reset a router?",
        "How do I reset the Zyxel router?",
        "How long does trimming the drive take?",
    ],
)
async def test_a_question_that_names_one_or_all_documents_is_answered(kb: Any, question: str) -> None:
    assert (await Talk(kb).ask(question)).status in {"answered", "abstained"}


async def test_documents_that_agree_need_no_choice(tiny_kb: Any) -> None:
    tiny_kb.add("r1.md", router("R1", 10))
    tiny_kb.add("r7.md", router("R7", 10))
    result = await Talk(tiny_kb).ask(RESET)
    assert result.status == "answered" and "10 seconds" in result.answer


@pytest.mark.parametrize("profile", ["lenient", "paper", "plain_rag"])
async def test_profiles_that_do_not_ask_back_answer_at_once(kb: Any, profile: str) -> None:
    run = replace(kb.run_context(), profile=PROFILES[profile])
    assert (await result_of(ask(build_graph(InMemorySaver()), run, RESET, "t"))).status == "answered"


@pytest.mark.parametrize("switch", [{"choose_document": False}, {"document_margin": 0.0}, {"generate_answer": False}])
async def test_no_choice_is_offered_with_the_switch_off(kb: Any, switch: dict[str, Any]) -> None:
    assert (await Talk(kb, **switch).ask(RESET)).status != "needs_choice"


async def test_the_conversation_or_the_askers_context_decides_the_document(kb: Any) -> None:
    talk = Talk(kb)
    await talk.ask("How long does the update of Router R7 take?")
    assert (await talk.ask(RESET)).status == "answered"
    at_home = replace(kb.run_context(), asker_context="R7 team")
    assert (await result_of(ask(build_graph(InMemorySaver()), at_home, RESET, "t"))).status == "answered"


async def test_sections_of_one_document_are_offered_as_choices(tiny_kb: Any) -> None:
    sections = "\n\n".join(
        f"## Printer {name}\n\nThe toner of the printer lasts {pages} pages. " + f"It stands on floor {pages}. " * 40
        for name, pages in (("P3", 3000), ("P9", 9000))
    )
    tiny_kb.add("network.md", f"# Network handbook\n\n{sections}\n")
    talk = Talk(tiny_kb)
    asked = await talk.ask("How long does the toner of the printer last?")
    assert sorted(offered(asked)) == ["", "Printer P3", "Printer P9"]
    assert "9000 pages" in (await talk.choose("P9")).answer


# -- how it is answered -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reply", ["R7", "the R7 one", "router r7", "I mean Router R7."])
async def test_a_reply_in_words_is_understood(kb: Any, reply: str) -> None:
    talk = Talk(kb)
    await talk.ask(RESET)
    result = await talk.choose(reply)
    assert result.question == RESET and "30 seconds" in result.answer


async def test_an_ordinal_is_a_choice_and_other_text_is_a_new_question(kb: Any) -> None:
    talk = Talk(kb)
    second = offered(await talk.ask(RESET))[1]
    seconds = {"Router R1": "10 seconds", "Router R7": "30 seconds"}
    assert seconds[second] in (await talk.ask("the second")).answer
    talk = Talk(kb)
    await talk.ask(RESET)
    result = await talk.choose("How long does trimming a drive take?")
    assert result.status == "answered" and "40 seconds" in result.answer
    first, _ = (await read_thread(talk.graph, talk.run(), "t")).turns
    assert first.status == "needs_choice" and not first.choices


async def test_after_answer_anyway_the_thread_is_not_asked_again(kb: Any) -> None:
    talk = Talk(kb)
    await talk.ask(RESET)
    result = await talk.choose("answer anyway")
    assert result.status == "answered" and "seconds" in result.answer
    assert (await talk.ask("How long does the firmware update of the router take?")).status == "answered"


async def test_only_readable_documents_are_offered_and_accepted(tiny_kb: Any) -> None:
    for name, seconds, audience in (("R1", 10, frozenset()), ("R7", 30, frozenset()), ("R9", 50, {"network"})):
        tiny_kb.add(f"{name}.md", router(name, seconds), audience=frozenset(audience))
    talk, outsider = Talk(tiny_kb), Principal("ann")
    asked = await talk.ask(RESET, INSIDER)
    r9 = next(choice.answer for choice in asked.choices if choice.expansion == "Router R9")
    (shown,) = (await read_thread(talk.graph, talk.run(outsider), "t")).turns
    assert sorted(offered(shown)) == ["", "Router R1", "Router R7"]
    assert "R9" not in shown.model_dump_json()
    with pytest.raises(Conflict, match="no longer open"):
        await talk.choose(r9, outsider)
    result = await talk.choose("R7", outsider)
    assert "30 seconds" in result.answer and "R9" not in result.model_dump_json()


async def test_hostile_titles_are_offered_as_plain_text(tiny_kb: Any) -> None:
    for name, seconds in (("<b>R1</b> [x](javascript:alert)", 10), ("R7\u202e", 30)):
        tiny_kb.add(f"{seconds}.md", router(name, seconds))
    asked = await Talk(tiny_kb).ask(RESET)
    assert "\n" not in "".join(offered(asked)) and len(asked.choices) == 3


# -- what the thread remembers ----------------------------------------------------------------------------------------


async def test_a_choice_is_remembered_within_its_thread(kb: Any) -> None:
    talk = Talk(kb)
    await talk.ask(RESET)
    await talk.choose("R7")
    more = await talk.ask("And how long does the firmware update of the router take?")
    assert "15 minutes" in more.answer
    assert more.notes == ["“router” was taken to mean Router R7, as before."]
    assert (await Talk(kb).ask(RESET)).status == "needs_choice"


async def test_the_other_one_means_the_document_not_chosen(kb: Any) -> None:
    talk = Talk(kb)
    await talk.ask(RESET)
    await talk.choose("R7")
    other = await talk.ask("And the other one?")
    assert other.stand_alone_question == RESET and "10 seconds" in other.answer
    # From now on the thread refers to that document.
    assert "5 minutes" in (await talk.ask("How long does the firmware update of the router take?")).answer


async def test_the_other_one_among_several_is_asked_back(kb: Any) -> None:
    kb.add("r9.md", router("R9", 50))
    talk = Talk(kb)
    await talk.ask(RESET)
    await talk.choose("R7")
    again = await talk.ask("What about the other one?")
    assert sorted(offered(again)) == ["", "Router R1", "Router R9"]
    assert "50 seconds" in (await talk.choose("R9")).answer


async def test_naming_another_document_replaces_the_remembered_choice(kb: Any) -> None:
    talk = Talk(kb)
    await talk.ask(RESET)
    await talk.choose("R7")
    named = await talk.ask("How do I reset Router R1?")
    assert "10 seconds" in named.answer and not named.notes
    assert "5 minutes" in (await talk.ask("How long does the firmware update of the router take?")).answer


async def test_a_chosen_document_that_became_unreadable_is_forgotten(tiny_kb: Any) -> None:
    tiny_kb.add("r1.md", router("R1", 10))
    tiny_kb.add("r9.md", router("R9", 50), audience=frozenset({"network"}))
    talk = Talk(tiny_kb)
    await talk.ask(RESET, INSIDER)
    await talk.choose("R9", INSIDER)
    result = await talk.ask("How long does the firmware update of the router take?", Principal("ann"))
    assert "5 minutes" in result.answer and "R9" not in result.model_dump_json()
