"""A question's journey on real stores: every branch, both interrupts, resuming, crashes, and access rights."""

import asyncio
import importlib
import json
import shutil
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from repository import ROOT

from argot.errors import Conflict, InvalidInput
from argot.graph.build import build_graph
from argot.graph.checkpoints.checkpointer import TurnSaver
from argot.graph.checkpoints.step_holder import STORE_SECONDS
from argot.graph.checkpoints.thread_history import read_past_turns
from argot.graph.node_frame import StateUpdate
from argot.graph.presentation.document_notes import write_change_notes
from argot.graph.presentation.turn_view import assemble
from argot.graph.run import AskEvent, answer_choice, ask, read_thread
from argot.graph.state import State, TurnPart, finish_turn, make_empty_turn
from argot.profile import Profile, find_profile
from argot.results import AskResult
from argot.types import Principal

INSIDER = Principal("ann", frozenset({"vault"}))


@asynccontextmanager
async def stored_graph(folder: Path) -> AsyncIterator[Any]:
    async with TurnSaver.from_conn_string(str(folder / "threads.db")) as saver:
        yield build_graph(saver)


async def events_of(events: AsyncIterator[AskEvent]) -> list[AskEvent]:
    return [event async for event in events]


async def result_of(events: AsyncIterator[AskEvent]) -> AskResult:
    *_, last = await events_of(events)
    assert last.kind == "result"
    assert isinstance(last.data, AskResult)
    return last.data


async def ask_once(run: Any, question: str) -> AskResult:
    return await result_of(ask(build_graph(InMemorySaver()), run, question, "t"))


def missed(kb: Any) -> dict[str, int]:
    return {miss.term: miss.count for miss in kb.glossary.misses.open(Principal("boss", sees_all=True))}


class Writer:
    """A writer of the given pieces."""

    def __init__(self, *pieces: str) -> None:
        self.pieces = pieces
        self.requests: list[Any] = []

    async def write(self, request: Any) -> AsyncIterator[str]:
        self.requests.append(request)
        for piece in self.pieces:
            yield piece


# -- answered ---------------------------------------------------------------------------------------------------------


async def test_a_question_in_jargon_is_answered_with_citations(tiny_kb: Any) -> None:
    result = await ask_once(tiny_kb.run_context(), "What is the WL voltage during a read?")
    assert result.status == "answered"
    assert "4.5 V" in result.answer
    assert [(jargon.surface, jargon.expansion, jargon.context) for jargon in result.jargon] == [
        ("WL", "Word Line", "NAND")
    ]
    assert result.search_queries[0] == "What is the Word Line voltage during a read?"
    cited = [sentence for sentence in result.sentences if "4.5 V" in sentence.text]
    assert cited
    citation = cited[0].citations[0]
    assert {passage.n: passage.passage_id for passage in result.passages}[citation.n] == citation.passage_id
    assert citation.document == "nand-layout.md"
    document = tiny_kb.corpus.store.document(Principal("ann"), "nand-layout.md")
    markdown = tiny_kb.corpus.store.markdown(Principal("ann"), document.revision_id)
    assert "4.5 V" in markdown[slice(*citation.span)]


async def test_citations_are_numbered_as_the_reader_meets_them(tiny_kb: Any) -> None:
    result = await ask_once(tiny_kb.run_context(), "How long does trimming take and what does a late filing cost?")
    met = [citation.n for sentence in result.sentences for citation in sentence.citations]
    assert list(dict.fromkeys(met)) == list(range(1, len(set(met)) + 1))
    assert sorted(passage.n for passage in result.passages) == list(range(1, len(result.passages) + 1))
    assert {passage.passage_id: passage.n for passage in result.passages}.items() >= {
        citation.passage_id: citation.n for sentence in result.sentences for citation in sentence.citations
    }.items()


async def test_an_alias_of_only_one_sense_selects_that_sense(tiny_kb: Any) -> None:
    tiny_kb.glossary.senses.add("PUC", "Legal", "Public Utilities Commission", aliases=["PUC hearing"])
    result = await ask_once(tiny_kb.run_context(), "When must papers be filed before a PUC hearing?")
    assert [jargon.expansion for jargon in result.jargon] == ["Public Utilities Commission"]


async def test_the_augmented_question_explains_terms_and_context(tiny_kb: Any) -> None:
    run = replace(tiny_kb.run_context(), writer=(writer := Writer("The Word Line voltage during a read is 4.5 V.")))
    result = await ask_once(run, "What is the WL voltage during a read?")
    assert result.augmented_question == (
        "What is the WL voltage during a read?\n"
        "Context: NAND (Memory cells, layout and word lines of NAND flash chips)\n"
        "Terms:\n- WL: Word Line (NAND). connects the control gates of one page"
    )
    assert writer.requests[0].augmented == result.augmented_question


async def test_the_augmented_question_is_searched_as_the_paper_has_it_by_a_switch(tiny_kb: Any) -> None:
    question = "What is the WL voltage during a read?"
    plain = await ask_once(tiny_kb.run_context(), question)
    assert plain.search_queries[0] == "What is the Word Line voltage during a read?"
    profile = Profile(search_augmented=True)
    paper = await ask_once(replace(tiny_kb.run_context(), profile=profile), question)
    assert paper.search_queries == [paper.augmented_question]
    assert "connects the control gates of one page" in paper.search_queries[0]
    # Passages are judged by what is asked, without the definition's words: the answer stays one.
    assert paper.status == plain.status == "answered"
    assert find_profile("paper").search_augmented and not Profile().search_augmented


async def test_stage_events_and_answer_tokens_are_streamed(tiny_kb: Any) -> None:
    run = replace(tiny_kb.run_context(), writer=Writer("The Word Line voltage ", "during a read is 4.5 V."))
    events = await events_of(ask(build_graph(InMemorySaver()), run, "What is the WL voltage during a read?", "t"))
    stages = [event.name for event in events if event.kind == "stage" and event.seconds is not None]
    started = [event.name for event in events if event.kind == "stage" and event.seconds is None]
    assert sorted(stages) == sorted(started)
    assert stages[0] == "stand_alone"
    assert set(stages[1:3]) == {"identify_jargon", "identify_context"}
    assert stages[3:] == [
        "look_up_jargon",
        "augment_question",
        "reformulate_query",
        "retrieve",
        "rerank",
        "generate_answer",
        "match_references",
    ]
    assert "".join(str(event.data) for event in events if event.kind == "token") == (
        "The Word Line voltage during a read is 4.5 V."
    )
    result = events[-1].data
    assert isinstance(result, AskResult)
    assert set(result.timings) == set(stages)
    assert all("WL = Word Line" in str(e.data) for e in events if e.name == "augment_question" and e.seconds)


async def test_unsupported_sentences_are_marked(tiny_kb: Any) -> None:
    run = replace(
        tiny_kb.run_context(), writer=Writer("A Word Line connects the control gates of one page. [1] Pigs fly.")
    )
    result = await ask_once(run, "What does a WL connect?")
    assert [(sentence.text, sentence.supported) for sentence in result.sentences] == [
        ("A Word Line connects the control gates of one page.", True),
        ("Pigs fly.", False),
    ]
    assert result.answer == "A Word Line connects the control gates of one page. Pigs fly."


async def test_withheld_unsupported_sentences_are_never_streamed(tiny_kb: Any) -> None:
    run = tiny_kb.run_context(withhold_unsupported=True)
    run = replace(run, writer=Writer("Pigs fly. ", "The Word Line voltage during a read is 4.5 V."))
    events = await events_of(ask(build_graph(InMemorySaver()), run, "What is the WL voltage during a read?", "t"))
    assert not any("Pigs" in str(event.data) for event in events)
    assert "".join(str(event.data) for event in events if event.kind == "token") == (
        "The Word Line voltage during a read is 4.5 V."
    )
    result = events[-1].data
    assert isinstance(result, AskResult)
    assert any("1 sentence is withheld" in note for note in result.notes)


# -- abstained --------------------------------------------------------------------------------------------------------


async def test_weak_evidence_gives_the_nearest_passages_instead_of_an_answer(tiny_kb: Any) -> None:
    result = await ask_once(tiny_kb.run_context(abstain_below=1.0), "Who trims a drive in the panel of the queen?")
    assert result.status == "abstained"
    assert result.sentences == []
    assert result.passages
    assert result.passages[0].document in result.answer
    for place, passage in enumerate(result.passages):
        assert bool(passage.excerpt) == (place < 3)
        assert passage.excerpt in " ".join(passage.text.split())
        assert passage not in result.nearest_passages or f"    “{passage.excerpt}”" in result.answer


async def test_the_excerpt_of_a_nearest_passage_fits_the_expanded_question(
    tiny_kb: Any,
) -> None:
    result = await ask_once(tiny_kb.run_context(abstain_below=1.0), "Does the WL trim the hedges of the queen?")
    assert result.status == "abstained"
    assert any("Word Line" in passage.excerpt for passage in result.passages)
    answered = await ask_once(tiny_kb.run_context(), "What is the WL voltage during a read?")
    assert answered.passages and not any(passage.excerpt for passage in answered.passages)


async def test_an_excerpt_is_hidden_once_its_passage_is_unreadable(tiny_kb: Any) -> None:
    tiny_kb.add("vault.md", "# Hedges\n\nQuillfeather trims the hedges of the vault.\n", frozenset({"vault"}))
    graph = build_graph(InMemorySaver())
    run = tiny_kb.run_context(INSIDER, abstain_below=1.0)
    result = await result_of(ask(graph, run, "Who trims the hedges of the queen?", "t"))
    assert "Quillfeather trims" in result.answer
    values = (await graph.aget_state({"configurable": {"thread_id": "t"}})).values
    after = assemble(values, tiny_kb.run_context(Principal("ann")), "t")
    assert after.status == "abstained" and "Quillfeather" not in str(after)


async def test_an_answer_without_any_supported_sentence_is_withdrawn(tiny_kb: Any) -> None:
    run = replace(tiny_kb.run_context(), writer=Writer("Pigs fly. So do cows."))
    result = await ask_once(run, "What is the WL voltage during a read?")
    assert (result.status, result.sentences) == ("abstained", [])
    assert "Pigs" not in result.answer


async def test_an_empty_answer_counts_as_abstaining(tiny_kb: Any) -> None:
    result = await ask_once(replace(tiny_kb.run_context(), writer=Writer()), "What is the WL voltage during a read?")
    assert result.status == "abstained"


async def test_an_empty_knowledge_base_abstains_without_asking_back(empty_kb: Any) -> None:
    result = await ask_once(empty_kb.run_context(), "What does the QXZT do for NASA?")
    assert result.status == "abstained"
    assert missed(empty_kb) == {"QXZT": 1}


# -- ambiguous terms --------------------------------------------------------------------------------------------------


async def test_an_ambiguous_term_asks_back_and_the_choice_resumes_the_turn(tiny_kb: Any) -> None:
    run = tiny_kb.run_context(sense_margin=1.0)
    async with stored_graph(tiny_kb.folder) as graph:
        asked = await result_of(ask(graph, run, "What does the PUC do?", "t"))
    assert asked.status == "needs_choice"
    assert {choice.expansion for choice in asked.choices} == {
        "Peripheral Under Cell",
        "Public Utilities Commission",
        "",
    }
    assert "1. " in asked.answer
    async with stored_graph(tiny_kb.folder) as graph:  # another process would do the same
        result = await result_of(answer_choice(graph, run, "t", "the legal one"))
    assert result.status == "answered"
    assert result.jargon[0].expansion == "Public Utilities Commission"
    assert "tariff" in result.answer
    assert result.search_queries == ["What does the Public Utilities Commission do?"]


async def test_a_choice_is_remembered_in_its_thread_only(tiny_kb: Any) -> None:
    run, graph = tiny_kb.run_context(sense_margin=0.2), build_graph(InMemorySaver())
    first = await result_of(ask(graph, tiny_kb.run_context(sense_margin=1.0), "What does the PUC do?", "t"))
    legal = next(choice.answer for choice in first.choices if choice.context == "Legal")
    await result_of(answer_choice(graph, tiny_kb.run_context(sense_margin=1.0), "t", legal))
    again = await result_of(ask(graph, run, "Tell me about the PUC.", "t"))
    assert again.status != "needs_choice"
    assert again.jargon[0].expansion == "Public Utilities Commission"
    assert (await graph.aget_state({"configurable": {"thread_id": "other"}})).values == {}


async def test_none_of_these_keeps_the_term_and_records_a_miss(tiny_kb: Any) -> None:
    run, graph = tiny_kb.run_context(sense_margin=1.0), build_graph(InMemorySaver())
    await result_of(ask(graph, run, "What does the PUC do about the Word Line voltage?", "t"))
    result = await result_of(answer_choice(graph, run, "t", "none of these"))
    assert result.status in {"answered", "abstained"}
    assert result.jargon == []
    assert result.search_queries[0] == "What does the PUC do about the Word Line voltage?"
    assert any("none of its known senses" in note for note in result.notes)
    assert missed(tiny_kb) == {"PUC": 1}


async def test_a_new_question_instead_of_a_choice_is_answered(tiny_kb: Any) -> None:
    run, graph = tiny_kb.run_context(sense_margin=1.0), build_graph(InMemorySaver())
    await result_of(ask(graph, run, "What does the PUC do?", "t"))
    result = await result_of(answer_choice(graph, run, "t", "How long does trimming a drive take?"))
    assert result.question == "How long does trimming a drive take?"
    assert result.status == "answered"
    state = await read_thread(graph, run, "t")
    assert not state.waiting
    assert [(turn.question, turn.status) for turn in state.turns] == [
        ("What does the PUC do?", "needs_choice"),
        ("How long does trimming a drive take?", "answered"),
    ]
    with pytest.raises(Conflict, match="Nothing is waiting"):
        await result_of(answer_choice(graph, run, "t", "1"))


@pytest.mark.parametrize("question", ["What is a PUC?", "Tell me about PUC", "who do I contact about the PUC, please?"])
async def test_a_question_with_nothing_but_its_term_asks_back(tiny_kb: Any, question: str) -> None:
    run = tiny_kb.run_context()
    assert (await ask_once(run, question)).status == "needs_choice"
    at_home = await ask_once(replace(run, asker_context="Legal"), question)
    assert [jargon.context for jargon in at_home.jargon] == ["Legal"]


async def test_a_question_that_decides_the_sense_does_not_ask_back(tiny_kb: Any) -> None:
    result = await ask_once(tiny_kb.run_context(), "How many days before must a tariff be filed with the PUC?")
    assert [jargon.context for jargon in result.jargon] == ["Legal"]
    assert "30 days" in result.answer


async def test_a_choice_typed_as_a_question_is_taken_as_the_choice(tiny_kb: Any) -> None:
    run, graph = tiny_kb.run_context(sense_margin=1.0), build_graph(InMemorySaver())
    await result_of(ask(graph, run, "What does the PUC do?", "t"))
    result = await result_of(ask(graph, run, "Public Utilities Commission", "t"))
    assert result.question == "What does the PUC do?"
    assert result.status == "answered"


async def test_without_asking_back_the_best_sense_is_used_with_a_note(tiny_kb: Any) -> None:
    run = tiny_kb.run_context(sense_margin=1.0, choose_sense=False)
    result = await ask_once(run, "When must a tariff be filed with the PUC?")
    assert result.status == "answered"
    assert result.jargon[0].context == "Legal"
    assert any("several senses" in note for note in result.notes)
    assert result.search_queries == [
        "When must a tariff be filed with the Public Utilities Commission?",
        "When must a tariff be filed with the PUC?",
    ]


async def test_a_term_without_a_sense_in_this_context_uses_another_context(tiny_kb: Any) -> None:
    result = await ask_once(tiny_kb.run_context(), "Which word line voltage of NAND flash cells does the TFL need?")
    assert [(jargon.term, jargon.context) for jargon in result.jargon] == [("TFL", "Legal")]
    assert any("no sense in NAND" in note for note in result.notes)


async def test_an_inferred_context_gives_no_note_about_missing_senses(tiny_kb: Any) -> None:
    result = await ask_once(tiny_kb.run_context(), "Which word line voltage of the flash cells does the TFL need?")
    assert [(jargon.term, jargon.context) for jargon in result.jargon] == [("TFL", "Legal")]
    assert not [note for note in result.notes if "no sense in" in note]


async def test_an_explanation_in_the_question_defines_the_term(tiny_kb: Any) -> None:
    question = "What does the PUC (power-up check) do when a drive is trimmed?"
    result = await ask_once(tiny_kb.run_context(sense_margin=1.0), question)
    assert result.status in {"answered", "abstained"}
    assert [(jargon.surface, jargon.expansion) for jargon in result.jargon] == [("PUC", "power-up check")]
    assert result.search_queries[0] == question


# -- unknown terms ----------------------------------------------------------------------------------------------------


async def test_strict_profile_replies_to_an_unknown_term_with_a_query_miss(tiny_kb: Any) -> None:
    result = await ask_once(tiny_kb.run_context(misses="strict"), "How does the WL voltage change with QXZT?")
    assert result.status == "query_miss"
    assert [miss.term for miss in result.misses] == ["QXZT"]
    assert result.misses[0].contact == "nina@example.com"
    assert "check the spelling" in result.answer
    assert "nina@example.com" in result.answer
    assert missed(tiny_kb) == {"QXZT": 1}


async def test_strict_profile_does_not_ask_about_senses_after_a_query_miss(tiny_kb: Any) -> None:
    run = tiny_kb.run_context(misses="strict", sense_margin=1.0)
    result = await ask_once(run, "How does the PUC change with QXZT?")
    assert result.status == "query_miss"


async def test_strict_counts_a_term_found_in_documents_as_a_miss_and_ask_does_not(tiny_kb: Any) -> None:
    question = "What does the FTLX module do?"
    assert (await ask_once(tiny_kb.run_context(misses="strict"), question)).status == "query_miss"
    result = await ask_once(tiny_kb.run_context(), question)
    assert (result.status, result.misses) == ("answered", [])


async def test_ask_offers_spellings_and_resumes_with_the_chosen_one(tiny_kb: Any) -> None:
    run = tiny_kb.run_context()
    async with stored_graph(tiny_kb.folder) as graph:
        asked = await result_of(ask(graph, run, "What does the TFLX of the year cost when it is late?", "t"))
        assert asked.status == "needs_choice"
        assert [choice.answer for choice in asked.choices] == ["term:TFL", "anyway"]
    async with stored_graph(tiny_kb.folder) as graph:
        result = await result_of(answer_choice(graph, run, "t", "TFL"))
    assert [jargon.expansion for jargon in result.jargon] == ["tariff filing"]
    assert "tariff filing" in result.search_queries[0]
    assert missed(tiny_kb) == {"TFLX": 1}


@pytest.mark.parametrize("reply", ["99", "#7", "2025."])
async def test_a_number_of_no_choice_is_refused_in_the_question_field_and_the_choice_stays_open(
    tiny_kb: Any, reply: str
) -> None:
    run, graph = tiny_kb.run_context(sense_margin=1.0), build_graph(InMemorySaver())
    await result_of(ask(graph, run, "What does the PUC do?", "t"))
    with pytest.raises(InvalidInput, match=r"There is no choice \d+. You can choose 1: "):
        await result_of(ask(graph, run, reply, "t"))
    assert (await read_thread(graph, run, "t")).waiting
    assert (await result_of(ask(graph, run, "1", "t"))).status == "answered"


async def test_a_chosen_spelling_may_itself_be_ambiguous(tiny_kb: Any) -> None:
    run, graph = tiny_kb.run_context(sense_margin=1.0), build_graph(InMemorySaver())
    asked = await result_of(ask(graph, run, "What does the PUCX do?", "t"))
    assert "term:PUC" in [choice.answer for choice in asked.choices]
    asked = await result_of(answer_choice(graph, run, "t", "term:PUC"))
    assert asked.status == "needs_choice"
    result = await result_of(answer_choice(graph, run, "t", "Public Utilities Commission"))
    assert result.search_queries[0] == "What does the Public Utilities Commission do?"


async def test_answer_anyway_continues_with_the_unknown_term(tiny_kb: Any) -> None:
    run, graph = tiny_kb.run_context(), build_graph(InMemorySaver())
    asked = await result_of(ask(graph, run, "How long does trimming a QXZT drive take?", "t"))
    assert asked.status == "query_miss"
    assert [choice.answer for choice in asked.choices] == ["anyway"]
    assert "answer anyway" in asked.answer
    assert [miss.term for miss in asked.misses] == ["QXZT"]
    result = await result_of(answer_choice(graph, run, "t", "answer anyway"))
    assert result.status in {"answered", "abstained"}
    assert [miss.term for miss in result.misses] == ["QXZT"]
    assert any("QXZT" in note for note in result.notes)
    assert missed(tiny_kb) == {"QXZT": 1}


async def test_lenient_answers_and_notes_the_unknown_term(tiny_kb: Any) -> None:
    result = await ask_once(tiny_kb.run_context(misses="lenient"), "How long does trimming a drive take with QXZT?")
    assert result.status in {"answered", "abstained"}
    assert [miss.term for miss in result.misses] == ["QXZT"]
    assert any("QXZT" in note for note in result.notes)
    assert missed(tiny_kb) == {"QXZT": 1}


async def test_ambiguous_unknown_and_known_terms_work_in_one_question(tiny_kb: Any) -> None:
    run, graph = tiny_kb.run_context(sense_margin=1.0), build_graph(InMemorySaver())
    question = "Does the PUC set the WL voltage of the QXZT?"
    first = await result_of(ask(graph, run, question, "t"))
    assert {choice.term for choice in first.choices} == {"PUC"}
    second = await result_of(answer_choice(graph, run, "t", "Peripheral Under Cell"))
    assert {choice.term for choice in second.choices} == {"QXZT"}
    result = await result_of(answer_choice(graph, run, "t", "anyway"))
    assert result.status in {"answered", "abstained"}
    assert result.search_queries[0] == "Does the Peripheral Under Cell set the Word Line voltage of the QXZT?"
    assert {jargon.term for jargon in result.jargon} == {"PUC", "WL"}


async def test_a_turn_asks_back_at_most_three_times(tiny_kb: Any) -> None:
    run, graph = tiny_kb.run_context(), build_graph(InMemorySaver())
    result = await result_of(ask(graph, run, "Compare PUCX, WLX, TFLX, MPLX and PUCZ.", "t"))
    asked = 0
    while result.status == "needs_choice":
        asked += 1
        result = await result_of(answer_choice(graph, run, "t", "anyway"))
    assert asked == 3
    assert len(result.misses) == 5
    assert set(missed(tiny_kb)) == {"PUCX", "WLX", "TFLX", "MPLX", "PUCZ"}


# -- threads ----------------------------------------------------------------------------------------------------------


async def test_a_turn_starts_without_state_of_the_previous_one(tiny_kb: Any) -> None:
    run, graph = tiny_kb.run_context(), build_graph(InMemorySaver())
    await result_of(ask(graph, run, "What is the WL voltage during a read?", "t"))
    second = await result_of(ask(graph, run, "How long does trimming a drive take?", "t"))
    alone = await ask_once(run, "How long does trimming a drive take?")
    without_clock = {"timings", "thread", "turn"}
    assert second.model_dump(exclude=without_clock) == alone.model_dump(exclude=without_clock)


async def test_only_the_latest_checkpoint_is_kept_with_ids_instead_of_passages(tiny_kb: Any) -> None:
    run = tiny_kb.run_context()
    async with stored_graph(tiny_kb.folder) as graph:
        for _ in range(2):
            result = await result_of(ask(graph, run, "What is the WL voltage during a read?", "t"))
    with sqlite3.connect(tiny_kb.folder / "threads.db") as connection:
        stored = connection.execute("SELECT checkpoint FROM checkpoints").fetchall()
    assert len(stored) == 1
    assert result.passages[0].passage_id.encode() in stored[0][0]
    assert b"connects the control gates of one page." not in stored[0][0]


async def test_finished_turns_are_stored_as_bytes_and_older_formats_are_read(tiny_kb: Any) -> None:
    """Check the stored form of finished turns, which saves decoding two hundred turns at each step and question."""
    run, graph, config = tiny_kb.run_context(), build_graph(InMemorySaver()), {"configurable": {"thread_id": "t"}}
    for _ in range(3):
        await result_of(ask(graph, run, "What is the WL voltage during a read?", "t"))
    values = (await graph.aget_state(config)).values
    assert [type(turn) for turn in values["turns"]] == [bytes, bytes]
    old = [{name: one for name, one in turn.items() if name != "number"} for turn in read_past_turns(values)]
    older = {**{name: one for name, one in values.items() if name != "number"}, "turns": old}
    assert [turn["number"] for turn in read_past_turns(older)] == [0, 1]
    assert finish_turn(older) == finish_turn(values)
    assert assemble(older, run, "t").turn == 2


async def test_a_thread_hides_content_that_became_unreadable(tiny_kb: Any) -> None:
    async with stored_graph(tiny_kb.folder) as graph:
        run = tiny_kb.run_context(INSIDER)
        result = await result_of(ask(graph, run, "How often is the vault combination rotated by the VLT?", "t"))
        assert "14 days" in result.answer
        assert "Vault Liaison Team" in result.model_dump_json()
        outsider = tiny_kb.run_context(Principal("ann"))
        (turn,) = (await read_thread(graph, outsider, "t")).turns
        for secret in ("14 days", "Vault Liaison Team", "vault-handbook"):
            assert secret not in turn.model_dump_json()
        assert any("not shown" in note for note in turn.notes)


async def test_a_follow_up_never_sees_answers_that_became_unreadable(tiny_kb: Any) -> None:
    class Reader:
        def __init__(self, reader: Any) -> None:
            self.reader = reader
            self.histories: list[Any] = []

        def __getattr__(self, name: str) -> Any:
            return getattr(self.reader, name)

        async def stand_alone(self, question: str, history: Any) -> str:
            self.histories.append(history)
            return question

    graph = build_graph(InMemorySaver())
    question = "How often is the vault combination rotated?"
    await result_of(ask(graph, tiny_kb.run_context(INSIDER), question, "t"))
    for principal, seen in ((INSIDER, True), (Principal("ann"), False)):
        run = tiny_kb.run_context(principal)
        run = replace(run, reader=(reader := Reader(run.reader)))
        await result_of(ask(graph, run, "And the drive?", "t"))
        assert ("14 days" in reader.histories[0][0].answer) is seen


async def test_an_unreadable_sense_is_unknown(tiny_kb: Any) -> None:
    outsider = await ask_once(tiny_kb.run_context(misses="strict"), "Who leads the VLT?")
    assert outsider.status == "query_miss"
    assert "Liaison" not in outsider.model_dump_json()
    insider = await ask_once(tiny_kb.run_context(INSIDER, misses="strict"), "Who leads the VLT?")
    assert insider.jargon[0].expansion == "Vault Liaison Team"


# -- crashes ----------------------------------------------------------------------------------------------------------

KILLED = """
import asyncio, os, signal, sys
from dataclasses import replace
from pathlib import Path
from argot.graph.checkpoints.checkpointer import TurnSaver
from argot.graph.state import finish_turn
from argot.corpus.corpus import Corpus
from argot.graph.presentation.document_notes import write_change_notes
from argot.graph.presentation.turn_view import assemble
from argot.graph.build import build_graph
from argot.graph.checkpoints.thread_history import read_past_turns
from argot.graph.run_context import build_extractive_context
from argot.graph.run import ask
from argot.jargon_db.glossary import Glossary
from argot.profile import Profile
from argot.settings import Settings
from argot.types import Principal

class Killer:
    async def write(self, request):
        yield "The "
        await asyncio.sleep(float(sys.argv[3]))
        os.kill(os.getpid(), signal.SIGKILL)

async def main(folder):
    settings = Settings(home=folder)
    corpus, glossary = Corpus.open(folder, settings), Glossary.open(folder / "glossary.db")
    profile = Profile(misses="lenient", abstain_below=0)
    run = build_extractive_context(corpus, glossary, Principal("ann"), profile, settings)
    run = replace(run, writer=Killer())
    async with TurnSaver.from_conn_string(str(folder / "threads.db")) as saver:
        async for _ in ask(build_graph(saver), run, sys.argv[2], "t"):
            pass

asyncio.run(main(Path(sys.argv[1])))
"""


async def ask_and_kill(folder: Path, question: str, seconds: float) -> None:
    """Ask in another process, which is killed so many seconds after its first word."""
    killed = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED, str(folder), question, str(seconds))
    assert await killed.wait() == -signal.SIGKILL


async def test_a_killed_turn_resumes_and_its_side_effects_happen_once(tiny_kb: Any) -> None:
    question = "What is the WL voltage during a read with QXZT?"
    await ask_and_kill(tiny_kb.folder, question, 4 * STORE_SECONDS)
    run = tiny_kb.run_context(misses="lenient", abstain_below=0)
    async with stored_graph(tiny_kb.folder) as graph:
        events = await events_of(ask(graph, run, question, "t"))
    stages = {event.name for event in events if event.kind == "stage"}
    assert stages == {"generate_answer", "match_references"}
    result = events[-1].data
    assert isinstance(result, AskResult)
    assert "4.5 V" in result.answer
    assert [jargon.term for jargon in result.jargon] == ["WL"]
    assert missed(tiny_kb) == {"QXZT": 1}


async def test_a_turn_killed_before_its_steps_were_stored_keeps_its_question(tiny_kb: Any) -> None:
    question = "What is the WL voltage during a read with QXZT?"
    await ask_and_kill(tiny_kb.folder, question, 0)
    run = tiny_kb.run_context(misses="lenient", abstain_below=0)
    async with stored_graph(tiny_kb.folder) as graph:
        assert (await graph.aget_state({"configurable": {"thread_id": "t"}})).values["asked"] == question
        result = await result_of(ask(graph, run, question, "t"))
    assert "4.5 V" in result.answer
    assert missed(tiny_kb) == {"QXZT": 1}


async def test_a_killed_turn_gives_way_to_another_question(tiny_kb: Any) -> None:
    class Failing:
        async def write(self, request: Any) -> AsyncIterator[str]:
            yield "The "
            raise RuntimeError("gone")

    graph = build_graph(InMemorySaver())
    with pytest.raises(RuntimeError, match="gone"):
        await events_of(ask(graph, replace(tiny_kb.run_context(), writer=Failing()), "What is the WL voltage?", "t"))
    result = await result_of(ask(graph, tiny_kb.run_context(), "How long does trimming a drive take?", "t"))
    assert result.question == "How long does trimming a drive take?"
    assert "40 seconds" in result.answer


def test_a_turn_has_all_state_keys_and_nodes_write_no_others() -> None:
    assert make_empty_turn("q").keys() == TurnPart.__annotations__.keys()
    assert StateUpdate.__annotations__.keys() <= State.__annotations__.keys()


# -- LangGraph's tooling ----------------------------------------------------------------------------------------------


async def test_the_langgraph_json_graph_opens_its_stores_on_first_use(
    tiny_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = json.loads((ROOT / "langgraph.json").read_text("utf-8"))["graphs"]["argot"]
    module, attribute = name.split(":")
    monkeypatch.setenv("ARGOT_HOME", str(tmp_path / "kb"))
    app = importlib.import_module(module)
    assert not (tmp_path / "kb").exists()
    shutil.copytree(tiny_home, tmp_path / "kb")
    state = await getattr(app, attribute).ainvoke({"asked": "How long does trimming a drive take?"})
    surroundings = app.open_run_context()
    surroundings.glossary.close()
    surroundings.corpus.close()
    app.open_run_context.cache_clear()
    assert state["status"] == "answered"


# -- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("", "empty"),
        (" \n\t\x00", "empty"),
        ("🙂🙃 ?!", "holds no words"),
        ("x" * 1_000_000, "1,000,000 characters"),
    ],
)
async def test_an_invalid_question_is_refused_before_any_stage_runs(tiny_kb: Any, question: str, message: str) -> None:
    graph = build_graph(InMemorySaver())
    with pytest.raises(InvalidInput, match=message):
        await events_of(ask(graph, tiny_kb.run_context(), question, "t"))
    assert (await graph.aget_state({"configurable": {"thread_id": "t"}})).values == {}


@pytest.mark.parametrize(
    "question",
    [
        "C++?",
        "DROP TABLE misses; -- \"' ORDER BY * NEAR(",
        "lone \ud800 surrogate WL",
        "ＷＬ voltage",
        "W\u200bL voltage",
    ],
)
async def test_odd_text_is_handled_as_an_ordinary_question(tiny_kb: Any, question: str) -> None:
    assert (await ask_once(tiny_kb.run_context(), question)).status in {"answered", "abstained", "needs_choice"}


async def test_an_everyday_word_with_a_description_alone_is_not_explained_to_the_asker(tiny_kb: Any) -> None:
    tiny_kb.glossary.senses.add("Price", "Legal", "", "the amount of money that a buyer pays a seller " * 9)
    tiny_kb.glossary.senses.add("HoldBox", "Legal", "", "the place " * 90)
    result = await ask_once(tiny_kb.run_context(), "What is the price of a HoldBox pole?")
    assert [jargon.term for jargon in result.jargon] == ["HoldBox"]
    assert result.jargon[0].meaning.endswith(" the …") and len(result.jargon[0].meaning) <= 120
    tiny_kb.glossary.senses.add("Price", "NAND", "", "the cost of a read")
    result = await ask_once(tiny_kb.run_context(), "Is the price of a pole high?")
    assert "Price" in {jargon.term for jargon in result.jargon}


HOLIDAYS = "# Holidays\n\nOf 2022; **parts 4.3 and 4.9 were changed, see [the amendment](new.md).**\n\n## Dentist\n\n"


async def test_an_answer_says_if_its_document_is_replaced_in_part(tiny_kb: Any) -> None:
    tiny_kb.add("holidays.md", HOLIDAYS + "A visit to the dentist takes up to two hours.\n")
    result = await ask_once(tiny_kb.run_context(), "How long may a visit to the dentist take?")
    said = "Of 2022; parts 4.3 and 4.9 were changed, see the amendment."
    assert (result.status, result.notes) == ("answered", [f"holidays.md says of itself: “{said}”"])
    tiny_kb.add("lamps.md", "# Lamps\n\nOur lamps were changed in May. A lamp of the hall has 9 watts.\n")
    assert (await ask_once(tiny_kb.run_context(), "How many watts has a lamp of the hall?")).notes == []


def test_that_no_change_is_noted_of_a_document_that_was_replaced_since(tiny_kb: Any) -> None:
    tiny_kb.add("holidays.md", HOLIDAYS)
    run = tiny_kb.run_context()
    document = run.corpus.store.document(run.principal, "holidays.md")
    assert len(write_change_notes([document], run)) == 1
    assert write_change_notes([replace(document, revision_id="gone")], run) == []
