"""A profile switches off single stages, and every built-in profile answers questions."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import ValidationError

from argot.errors import InvalidSettings
from argot.graph.build import build_graph
from argot.graph.run import ask
from argot.profile import PROFILES, Profile, change_profile, compare_switches, find_profile, parse_changes
from argot.results import AskResult
from argot.ui.cli.terminal_answer import print_turn

QUESTION = "What is the WL voltage during a read?"


async def asked(run: Any, question: str = QUESTION) -> tuple[AskResult, set[str]]:
    events = [event async for event in ask(build_graph(InMemorySaver()), run, question, "t")]
    result = events[-1].data
    assert isinstance(result, AskResult)
    return result, {event.name for event in events if event.kind == "stage"}


@pytest.mark.parametrize("name", PROFILES)
async def test_every_built_in_profile_answers_a_question(tiny_kb: Any, name: str) -> None:
    run = tiny_kb.run_context(**find_profile(name).model_dump())
    result, _ = await asked(run, "What is the Word Line voltage during a read?")
    assert result.status == "answered"
    assert "4.5 V" in result.answer


@pytest.mark.parametrize(
    "stage",
    [
        "identify_jargon",
        "identify_context",
        "look_up_jargon",
        "augment_question",
        "reformulate_query",
        "generate_answer",
    ],
)
async def test_a_stage_switched_off_does_not_run(tiny_kb: Any, stage: str) -> None:
    result, stages = await asked(tiny_kb.run_context(**{stage: False}))
    assert stage not in stages
    assert stage not in result.timings
    assert result.passages


async def test_without_jargon_stages_no_term_is_looked_up_or_missed(tiny_kb: Any) -> None:
    run = tiny_kb.run_context(**find_profile("no_jargon").model_dump())
    result, _ = await asked(run, "What does the PUC do with QXZT?")
    assert (result.jargon, result.misses, result.context) == ([], [], None)
    assert result.search_queries == ["What does the PUC do with QXZT?"]
    assert result.status != "needs_choice"


async def test_without_augmentation_expansions_are_not_searched(tiny_kb: Any) -> None:
    result, _ = await asked(tiny_kb.run_context(augment_question=False))
    assert [jargon.expansion for jargon in result.jargon] == ["Word Line"]
    assert result.search_queries[0] == QUESTION


async def test_without_reranking_the_fused_order_stays_and_no_threshold_applies(tiny_kb: Any) -> None:
    run = tiny_kb.run_context(rerank=False, abstain_below=1.0, passages=2)
    result, _ = await asked(run)
    assert result.status == "answered"
    assert len(result.passages) == 2
    assert [passage.score for passage in result.passages] == sorted((p.score for p in result.passages), reverse=True)


async def test_without_reference_matching_no_sentence_is_cited(
    tiny_kb: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    result, _ = await asked(tiny_kb.run_context(match_references=False))
    assert result.status == "answered"
    assert result.sentences
    assert not any(sentence.citations or sentence.lacks_support for sentence in result.sentences)
    assert result.notes == ["No sentence was checked against the passages (match_references is off)."]
    print_turn(result)
    assert "no passage supports" not in capsys.readouterr().out


async def test_without_generation_the_reply_says_no_answer_was_requested(tiny_kb: Any) -> None:
    result, _ = await asked(tiny_kb.run_context(generate_answer=False))
    assert (result.status, bool(result.passages)) == ("abstained", True)
    said = "No answer was asked for (generate_answer is off). The closest passages are:"
    assert result.answer.splitlines()[0] == said


@pytest.mark.parametrize("search", ["search_semantic", "search_keyword", "search_derived"])
async def test_each_search_can_be_switched_off(tiny_kb: Any, search: str) -> None:
    result, _ = await asked(tiny_kb.run_context(**{search: False}))
    kind = search.removeprefix("search_")
    assert result.passages
    assert not any(kind in name for passage in result.passages for name in passage.found_by if kind != "semantic")
    assert kind != "semantic" or not any(name == kind for passage in result.passages for name in passage.found_by)


async def test_triples_reformulate_a_question_that_is_not_a_sentence(tiny_kb: Any) -> None:
    question = "steps for trimming some old drive"
    with_triples, _ = await asked(tiny_kb.run_context(), question)
    assert with_triples.triples
    assert with_triples.search_queries[0] == question
    assert len(with_triples.search_queries) == 2
    without, _ = await asked(tiny_kb.run_context(reformulate_query=False), question)
    assert (without.triples, without.search_queries) == ([], [question])


async def test_the_enhanced_query_replaces_the_question_as_in_the_paper(tiny_kb: Any) -> None:
    question = "steps for trimming some old drive"
    beside, _ = await asked(tiny_kb.run_context(), question)
    instead, _ = await asked(tiny_kb.run_context(enhanced_replaces=True), question)
    assert instead.triples == beside.triples
    assert instead.search_queries == beside.search_queries[1:]
    assert find_profile("paper").enhanced_replaces and not find_profile("default").enhanced_replaces


def test_the_paper_profile_differs_from_the_default_where_the_papers_do() -> None:
    assert compare_switches(find_profile("paper")) == {
        "choose_sense": False, "misses": "strict", "matching": "published", "spare_model": False,
        "search_augmented": True, "triples_in_one_call": False, "enhanced_replaces": True, "one_index": True,
        "rank_fusion": True, "adapt_queries": False, "choose_document": False, "search_again": False,
        "find_verified": False,
    }  # fmt: skip


async def test_an_explicit_question_is_not_reformulated(tiny_kb: Any) -> None:
    result, _ = await asked(tiny_kb.run_context(), "How long does trimming a drive take?")
    assert (result.triples, result.search_queries) == ([], ["How long does trimming a drive take?"])


def test_an_unknown_profile_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidSettings, match=r"'fast'.*default.*plain_rag"):
        find_profile("fast")


def test_both_searches_cannot_be_off() -> None:
    with pytest.raises(InvalidSettings, match="search_semantic and search_keyword cannot both be off"):
        change_profile(Profile(), parse_changes(["search_keyword=off", "search_semantic=off"]))


def test_a_thorough_answer_has_a_largest_budget() -> None:
    for more in ("max_tool_calls=25", "max_tool_tokens=500001"):
        with pytest.raises(InvalidSettings, match="max_tool_"):
            change_profile(Profile(), parse_changes([more]))


def test_withholding_requires_reference_matching() -> None:
    with pytest.raises(ValidationError, match="match_references"):
        Profile(withhold_unsupported=True, match_references=False)
