"""The second try: a search in other words if the first did not find the answer, or only a part of it."""

import re
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from argot.graph.build import build_graph
from argot.graph.checkpoints.erased_turns import erase_from_turn
from argot.graph.run import AskEvent, answer_choice, ask, read_thread
from argot.graph.run_context import build_run_context
from argot.profile import Profile
from argot.results import AskResult
from argot.tools.llm.model_server import ModelServer
from argot.types import Principal

QUESTION = "Where can a swimmer get a forgotten towel back?"
WANTED = "Belongings left behind are kept at the gate office for six weeks."
ANSWER = "Belongings left behind are kept at the gate office for six weeks [{n}]."
POOL = "# Pool rules\n\n## Towels\n\nEvery swimmer brings a towel. A swimmer without a towel can borrow one.\n"
OFFICE = f"# Lost property\n\n{WANTED}\n"
OTHER = "lost property office"
FEW = {"passages": 1, "passages_for_model": 1, "choose_document": False}
"""One passage is read, so that a second search can find a new one."""


@pytest.fixture
def kb(tiny_kb: Any) -> Any:
    tiny_kb.add("pool.md", POOL)
    tiny_kb.add("office.md", OFFICE)
    return tiny_kb


def run_with(kb: Any, scripted: Any, principal: Principal | None = None, **profile: Any) -> Any:
    given = scripted.settings(home=kb.folder)
    server = ModelServer.from_settings(given)
    assert server
    return build_run_context(
        kb.corpus, kb.glossary, principal or Principal("ann"), Profile(**{**FEW, **profile}), given, server=server
    )


def answer_if_shown(request: Any) -> str:
    """Answer like a model that reads: only if the passage is in the prompt."""
    place = re.search(rf'<passage n="(\d+)"[^<]*{re.escape(WANTED)}', request.user)
    return ANSWER.format(n=place[1]) if place else "NOT IN THE PASSAGES"


async def events_of(events: AsyncIterator[AskEvent]) -> list[AskEvent]:
    return [event async for event in events]


async def asked(run: Any, question: str = QUESTION) -> AskResult:
    last = (await events_of(ask(build_graph(InMemorySaver()), run, question, "t")))[-1]
    assert isinstance(last.data, AskResult)
    return last.data


async def test_a_refusal_leads_to_a_search_in_other_words(kb: Any, scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", answer_if_shown)
    scripted_model.reply("other_queries", {"queries": [OTHER]})
    result = await asked(run_with(kb, scripted_model))
    assert (result.status, result.answered_by) == ("answered", "model")
    assert result.answer == WANTED
    assert result.searched_again == [[OTHER]]
    assert OTHER in result.search_queries
    assert f"Searched again for “{OTHER}”." in result.notes
    told = scripted_model.asked("other_queries")[0].user
    assert "Pool rules" in told  # the place of the passage that was read
    assert "Lost property" in told  # a title among the others


async def test_a_model_that_knows_no_other_words_reads_the_next_passages(kb: Any, scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", answer_if_shown)
    scripted_model.reply("other_queries", {"queries": []})
    result = await asked(run_with(kb, scripted_model))
    assert (result.status, result.answer) == ("answered", WANTED)
    assert result.searched_again == [[]]
    assert not any("Searched again" in note for note in result.notes)
    assert result.search_queries == [QUESTION]


async def test_after_a_second_refusal_the_passages_read_first_are_shown_first(kb: Any, scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", "NOT IN THE PASSAGES")
    scripted_model.reply("other_queries", {"queries": []})
    result = await asked(run_with(kb, scripted_model))
    read = [re.search(r"Pool rules|Lost property", one.user) for one in scripted_model.asked("cited_answer")]
    assert [found and found[0] for found in read] == ["Pool rules", "Lost property"]
    assert result.status == "abstained"
    assert result.passages[0].document == "pool.md"


async def test_with_the_switch_off_a_turn_searches_once(kb: Any, scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", answer_if_shown)
    scripted_model.reply("other_queries", {"queries": [OTHER]})
    result = await asked(run_with(kb, scripted_model, search_again=False))
    assert (result.status, result.searched_again) == ("abstained", [])
    assert not scripted_model.asked("other_queries")
    assert len(scripted_model.asked("cited_answer")) == 1


async def test_nothing_is_written_again_if_nothing_new_is_found(kb: Any, scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", "NOT IN THE PASSAGES")
    scripted_model.reply("other_queries", {"queries": [OTHER]})
    result = await asked(run_with(kb, scripted_model, passages=20, passages_for_model=20))
    assert (result.status, result.searched_again) == ("abstained", [[OTHER]])
    assert len(scripted_model.asked("cited_answer")) == 1
    assert result.passages


async def test_a_turn_searches_again_at_most_twice(kb: Any, scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", "NOT IN THE PASSAGES")
    proposed = [[OTHER], ["tariff filing penalties"], ["word line voltage"]]
    scripted_model.replies("other_queries", *({"queries": queries} for queries in proposed))
    result = await asked(run_with(kb, scripted_model))
    assert result.status == "abstained"
    assert result.searched_again == proposed[:2]
    assert len(scripted_model.asked("cited_answer")) <= 3
    assert OTHER in scripted_model.asked("other_queries")[1].user  # what was tried


PART = "A swimmer without a towel can borrow one [1]. The passages do not say where a forgotten towel is kept."


def tell_part_first(request: Any) -> str:
    found = answer_if_shown(request)
    return PART if found.startswith("NOT") else f"A swimmer without a towel can borrow one [2]. {found}"


async def test_an_answer_that_lacks_a_part_is_written_anew_with_more_passages(kb: Any, scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", tell_part_first)
    scripted_model.reply("other_queries", {"queries": [OTHER]})
    kb.add("towels.md", "# Towels\n\nA swimmer can get a fresh towel back at the towel desk for two tokens.\n")
    result = await asked(run_with(kb, scripted_model, passages=2, passages_for_model=2))
    assert result.searched_again == [[OTHER]]
    assert WANTED in result.answer
    assert "do not say" not in result.answer
    assert "the passages do not say where a forgotten towel" in scripted_model.asked("other_queries")[0].user.lower()


async def test_the_sources_of_a_part_stay_among_the_passages_of_the_next_try(kb: Any, scripted_model: Any) -> None:
    for number in range(5):
        kb.add(
            f"towel{number}.md", f"# Towel {number}\n\nA swimmer gets forgotten towel {number} back at desk {number}.\n"
        )
    part = "There is one on the last list [4]. The passages do not say where a forgotten towel is kept."
    scripted_model.replies("cited_answer", part, "NOT IN THE PASSAGES")
    scripted_model.reply("other_queries", {"queries": [OTHER]})
    await asked(run_with(kb, scripted_model, passages=4, passages_for_model=4))
    first, second = (re.split("</?passages>", one.user)[1] for one in scripted_model.asked("cited_answer"))
    (cited,) = re.findall(r'<passage n="4"[^>]*>\n(.*?)</passage>', first, re.DOTALL)
    assert WANTED in second and cited in second


async def test_titles_that_share_a_word_with_the_question_are_proposed_first(kb: Any, scripted_model: Any) -> None:
    for name in ("Anchors", "Ropes", "The towel laundry"):
        kb.add(f"{name}.md", f"# {name}\n\nSomething else.\n")
    scripted_model.reply("cited_answer", "NOT IN THE PASSAGES")
    scripted_model.reply("other_queries", {"queries": []})
    await asked(run_with(kb, scripted_model))
    titles = scripted_model.asked("other_queries")[0].user.partition("<titles>\n")[2]
    assert titles.startswith("- The towel laundry\n")


async def test_the_first_answer_is_kept_if_the_second_try_gives_none(kb: Any, scripted_model: Any) -> None:
    scripted_model.replies("cited_answer", PART, "NOT IN THE PASSAGES")
    scripted_model.reply("other_queries", {"queries": [OTHER]})
    events = await events_of(ask(build_graph(InMemorySaver()), run_with(kb, scripted_model), QUESTION, "t"))
    result = events[-1].data
    assert isinstance(result, AskResult)
    assert (result.status, result.searched_again) == ("answered", [[OTHER]])
    assert result.answer.startswith("A swimmer without a towel can borrow one.")
    assert result.sentences[0].citations[0].document == "pool.md"
    shown = ""
    for event in events:
        shown = "" if event.kind == "retract" else shown + str(event.data) * (event.kind == "token")
    assert shown.count("can borrow one") == 1


async def test_rules_propose_queries_if_the_model_proposes_none(kb: Any, scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", "NOT IN THE PASSAGES")
    scripted_model.reply("other_queries", {"queries": []})
    result = await asked(run_with(kb, scripted_model), f"I was here on Monday. {QUESTION}")
    assert result.searched_again[0] == [QUESTION]


async def test_nothing_is_quoted_after_a_refusal_if_the_model_then_fails(kb: Any, scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", "NOT IN THE PASSAGES")
    scripted_model.fault("status", prompt="other_queries", code=500)
    result = await asked(run_with(kb, scripted_model))
    assert (result.status, result.searched_again) == ("abstained", [])
    assert any("language model server" in note for note in result.notes)


async def test_a_question_about_something_else_is_still_refused(kb: Any) -> None:
    assert (await asked(kb.run_context(), "Who wrote the tragedy of Hamlet and when?")).status == "abstained"


async def test_a_search_of_passages_alone_is_not_repeated(kb: Any) -> None:
    result = await asked(kb.run_context(generate_answer=False), "passwrod rules")
    assert result.searched_again == []


async def test_other_queries_are_hidden_with_the_passages_that_they_rest_on(kb: Any, scripted_model: Any) -> None:
    insider = Principal("ann", frozenset({"vault"}))
    scripted_model.reply("cited_answer", "NOT IN THE PASSAGES")
    scripted_model.reply("other_queries", {"queries": ["liaison team combination"]})
    graph = build_graph(InMemorySaver())
    run = run_with(kb, scripted_model, insider, passages=20, passages_for_model=20)
    question = "How often does the vault combination change?"
    await events_of(ask(graph, run, question, "t"))
    (seen,) = (await read_thread(graph, run, "t")).turns
    assert seen.searched_again == [["liaison team combination"]]
    (hidden,) = (await read_thread(graph, run_with(kb, scripted_model), "t")).turns
    assert hidden.searched_again == [[]]
    assert hidden.search_queries == [question]
    assert not any("liaison" in note for note in hidden.notes)


async def test_other_queries_are_hidden_with_the_titles_that_they_rest_on(kb: Any, scripted_model: Any) -> None:
    insider, graph = Principal("ann", frozenset({"vault"})), build_graph(InMemorySaver())
    scripted_model.reply("cited_answer", "NOT IN THE PASSAGES")
    scripted_model.reply("other_queries", {"queries": [OTHER]})
    await events_of(ask(graph, run_with(kb, scripted_model, insider), QUESTION, "t"))
    assert "Vault" in scripted_model.asked("other_queries")[0].user
    (seen,) = (await read_thread(graph, run_with(kb, scripted_model, insider), "t")).turns
    assert OTHER in seen.search_queries and [OTHER] in seen.searched_again
    (hidden,) = (await read_thread(graph, run_with(kb, scripted_model), "t")).turns
    assert not any(hidden.searched_again)
    assert hidden.search_queries == [QUESTION]
    assert not any(OTHER in note for note in hidden.notes)


def test_erasing_a_document_removes_the_queries_of_a_model_that_read_its_title() -> None:
    turn = {"hits": [{"id": "kept"}], "titled": ["gone"], "searched_again": [["its title"]], "sentences": []}
    assert erase_from_turn(turn, lambda id_: id_ == "gone", lambda *_: False) == {"searched_again": [[]]}


def test_erasing_a_passage_removes_the_queries_made_from_it() -> None:
    queries = {"searched_again": [["its words"]], "search_queries": [("its words", 1.0)]}
    turn = {"hits": [], "read": [{"id": "gone"}], **queries}
    changed = erase_from_turn(turn, lambda id_: id_ == "gone", lambda *_: False)
    assert changed == {"searched_again": [[]], "search_queries": []}


@pytest.mark.parametrize(
    ("seen", "cited", "is_kept"),
    [("lives", ["lives"], True), ("lives", [], True), ("unknown", ["unknown"], False), ("lives", ["unknown"], False)],
)
def test_a_sentence_that_repeats_erased_words_stays_only_if_a_living_source_says_them(
    seen: str, cited: list[str], is_kept: bool
) -> None:
    sentence = {"gap": "", "text": WANTED, "citations": [{"passage": id_} for id_ in cited]}
    turn = {"hits": [{"id": seen}], "sentences": [sentence]}
    changed = erase_from_turn(turn, lambda id_: False, lambda text, sources: bool(text) and "lives" not in sources)
    assert changed == ({} if is_kept else {"sentences": [{**sentence, "text": ""}]})


async def test_an_asker_who_leaves_stops_the_second_try(kb: Any, scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", "NOT IN THE PASSAGES")
    scripted_model.fault("hang", prompt="other_queries")
    async with aclosing(ask(build_graph(InMemorySaver()), run_with(kb, scripted_model), QUESTION, "t")) as events:
        async for event in events:
            if event.kind == "stage" and event.name == "search_again":
                break
    assert len(scripted_model.asked("cited_answer")) == 1


async def test_a_choice_before_the_second_try_is_asked_only_once(kb: Any, scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", "NOT IN THE PASSAGES")
    scripted_model.reply("other_queries", {"queries": [OTHER]})
    graph, run = build_graph(InMemorySaver()), run_with(kb, scripted_model)
    await events_of(ask(graph, run, "What is a PUC?", "t"))
    last = (await events_of(answer_choice(graph, run, "t", "1")))[-1]
    assert isinstance(last.data, AskResult)
    assert last.data.status in {"answered", "abstained"}
    assert not last.data.choices
