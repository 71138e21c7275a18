"""The tools of a thorough answer, and the passages that they leave to the writer; no model is asked."""

from typing import Any

import pytest

from argot.graph.research_plan import select_hits, settle
from argot.graph.research_tools import MAX_LISTED, MAX_OPENED, call_tool, describe_call
from argot.results import MIN_NEAREST_SCORE
from argot.tools.llm.research import ToolRequest
from argot.types import Principal

RENT = "Whoever rents it leaves a deposit of 40 euros at the desk."


def state_of(question: str, **values: Any) -> Any:
    return {
        "stand_alone_question": question,
        "augmented_question": question,
        "search_queries": [],
        "scope": [],
        "readings": [],
        **values,
    }


def find(run: Any, phrase: str) -> list[str]:
    found: list[str] = run.corpus.store.find_phrase(run.principal, phrase, 500)
    return found


def call(run: Any, state: Any, *request: Any) -> list[str]:
    return call_tool(ToolRequest(*request), 0, state, run)["found"]


def part_of(*passages: str) -> Any:
    return {"question": "What is it?", "passages": list(passages), "is_settled": True}


@pytest.mark.parametrize(("numbers", "chosen"), [([2, 2], ["b"]), ([], []), ([9], ["c"]), (None, ["c"])])
def test_numbers_of_no_passage_are_no_choice(numbers: Any, chosen: list[str]) -> None:
    made = {"part": 0, "tool": "search", "first": "it", "second": "", "found": ["c"]}
    state = state_of("What is it?", read=[{"id": "a"}, {"id": "b"}, {"id": "c"}], tool_calls=[made])
    assert settle(part_of(), 0, numbers, state)["passages"] == chosen


def test_what_the_model_chose_is_kept_and_scored(tiny_kb: Any) -> None:
    groups = frozenset({"one", "two", "three"})
    for group in groups:  # for the same readers it would be one document
        tiny_kb.add(f"{group}.md", f"# Boats\n\n## Deposit\n\n{RENT}\n", audience=frozenset({group}))
    tiny_kb.add("news.md", "# News\n\nThe fence was painted in spring.\n")
    run = tiny_kb.run_context(Principal("ann", groups), passages=3)
    one, two, three = find(run, "leaves a deposit of 40 euros")
    (painted,) = find(run, "was painted in spring")
    read = [{"id": id_, "score": 0.0, "found_by": {"search": 1}} for id_ in (one, two, three, painted)]
    state = state_of("What is the deposit for boats?", read=read)
    kept = select_hits([part_of(two), part_of(one, two)], state, run)
    assert [hit["id"] for hit in kept] == [two, one, painted]
    assert kept[0]["score"] >= MIN_NEAREST_SCORE
    assert kept[0]["score"] > kept[2]["score"]
    assert kept[0]["found_by"] == {"search": 1}


def test_an_identifier_is_found_inside_the_scope_however_often_it_is_outside(tiny_kb: Any) -> None:
    for number in range(MAX_LISTED + 1):
        tiny_kb.add(f"list{number}.md", f"# ZK-4471\n\nZK-4471: number {number}.\n")
    text = "The valve, which the workshop keeps beside the door for whoever comes by, is a ZK-4471 like all the others."
    tiny_kb.add("valve.md", f"# Valve\n\n{text}\n")
    run = tiny_kb.run_context()
    (wanted,) = find(run, "The valve, which the workshop keeps")
    assert wanted not in find(run, "ZK-4471")[:MAX_LISTED]
    assert len(call(run, state_of("Which valve?"), "find_identifier", "ZK-4471")) == MAX_OPENED
    document = run.corpus.store.passages(run.principal, [wanted])[wanted][1]
    assert call(run, state_of("Which valve?", scope=[document.id]), "find_identifier", "ZK-4471") == [wanted]


def test_a_step_reads_only_the_documents_that_a_call_listed(tiny_kb: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny_kb.add("kayaks.md", f"# Kayaks\n\n{RENT}\n")
    run = tiny_kb.run_context()
    record = call_tool(ToolRequest("list_documents", "kayaks"), 0, state_of("Which boats?"), run)
    monkeypatch.setattr(type(run.corpus.store), "documents", None)
    assert describe_call(record, [], run) == 'list_documents("kayaks"): kayaks.md'


def test_a_document_is_opened_at_its_beginning_or_at_a_heading(tiny_kb: Any) -> None:
    step = "takes {n} minutes in the workshop, and nobody may leave the bench before the clamp is closed again. " * 12
    sections = "".join(f"## Part {n}\n\nStep {n} {step.format(n=n)}\n\n" for n in range(1, MAX_OPENED + 4))
    tiny_kb.add("long.md", f"# Assembly guide\n\n{sections}")
    run, state = tiny_kb.run_context(), state_of("How long?")
    opened = call(run, state, "open_section", "Assembly guide")
    found = run.corpus.store.passages(run.principal, opened)
    assert [passage.ordinal for passage, _ in found.values()] == list(range(MAX_OPENED))
    at_heading = call(run, state, "open_section", "Assembly guide", "Part 8")
    found = run.corpus.store.passages(run.principal, at_heading)
    assert {passage.heading_path[-1] for passage, _ in found.values()} == {"Part 8"}
    assert call(run, state, "open_section", "Assembly guide", "Holidays") == []


def test_a_section_is_opened_with_its_subsections(tiny_kb: Any) -> None:
    filler = "\n\n".join(f"Sentence {n} tells how a long paragraph about the kiln goes on and on." for n in range(40))
    tiny_kb.add(
        "kiln.md",
        f"# Kiln\n\n## Firing\n\n{filler}\n\n### Cooling\n\nOpen it at 90 degrees.\n\n## Glazes\n\n{filler}\n",
    )
    run, state = tiny_kb.run_context(), state_of("How is a kiln fired?")
    (cooling,), (glazes, *_) = find(run, "Open it at 90 degrees"), call(run, state, "open_section", "Kiln", "Glazes")
    opened = call(run, state, "open_section", "Kiln", "Firing")
    assert cooling in opened and glazes not in opened
    assert call(run, state, "open_section", "Kiln", "Cooling") == [cooling]
