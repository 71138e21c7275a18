"""Tests of the effects of a glossary change on past questions, shown before it is made; and of the review commands."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from argot.errors import Conflict, InvalidInput, NotFound
from argot.service.glossary_review import combined_impact, impact
from argot.service.glossary_review.impact_results import QuestionAsRead
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.types import Principal
from argot.ui.cli.main import main

ASKER = Principal("ann")
MANAGER = Principal("mia", manages=frozenset({"NAND", "Tools"}))
ADMIN = Principal("local", sees_all=True)
COST = "What does the LTF cost a day?"
WORD_LINE = "What is the WL voltage during a read?"


@pytest.fixture
def home(tiny_home: Path, tmp_path: Path) -> Path:
    return shutil.copytree(tiny_home, tmp_path / "kb")


@pytest.fixture
async def kb(home: Path) -> AsyncIterator[KnowledgeBase]:
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        yield opened


async def ask(kb: KnowledgeBase, principal: Principal, question: str) -> str:
    result = await catalogue.get_result(kb, principal, "ask", question=question, profile="lenient")
    await kb.chores.finish()
    return str(result["thread"])


def everything_in(kb: KnowledgeBase) -> Any:
    glossary = kb.glossary
    seen = (glossary.senses.find(ADMIN), glossary.misses.find(ADMIN), glossary.proposals.find(ADMIN, None))
    return *seen, glossary.usage.by_week(ADMIN), glossary.history.changes(ADMIN), glossary.version()


# -- before and after -------------------------------------------------------------------------------------------------


async def test_the_effects_of_a_draft_are_shown_without_changing_anything(kb: KnowledgeBase) -> None:
    await ask(kb, MANAGER, COST)
    await ask(kb, MANAGER, WORD_LINE)
    draft = kb.glossary.senses.draft(MANAGER, "LTF", "Tools", "late tariff filing")
    was = everything_in(kb)

    found = await catalogue.get_result(kb, MANAGER, "glossary_effects", sense_id=draft.id)

    (row,) = found["rows"]
    assert (row["question"], row["source"]) == (COST, "yours")
    assert "reading" in row["changed"]
    assert row["before"]["unknown"] == ["LTF"]
    # The expansion comes from the documents rather than from a sense of the glossary.
    assert [(one["expansion"], one["context"]) for one in row["before"]["terms"]] == [("late tariff filing", "")]
    assert row["after"]["unknown"] == []
    assert [(one["surface"], one["expansion"]) for one in row["after"]["terms"]] == [("LTF", "late tariff filing")]
    assert row["after"]["query"] == "What does the late tariff filing cost a day?"
    assert row["after"]["passages"][0]["document"] == "tariff-filing.md"
    assert everything_in(kb) == was
    assert len(await catalogue.get_result(kb, MANAGER, "thread_list")) == 2


async def test_changed_questions_come_first_and_passages_of_one_side_are_marked(kb: KnowledgeBase) -> None:
    draft = kb.glossary.senses.draft(ADMIN, "WL", "Legal", "tariff filing handbook", why="another team's")
    given = [
        "What is the WL, which connects the control gates of one page?",
        "Which penalties does the WL name for electricity?",
    ]
    found = await catalogue.get_result(kb, ADMIN, "glossary_effects", sense_id=draft.id, questions=given)

    assert [bool(row["changed"]) for row in found["rows"]] == sorted(
        (bool(row["changed"]) for row in found["rows"]), reverse=True
    )
    row = next(row for row in found["rows"] if row["question"] == given[1])
    assert row["source"] == "given"
    assert [one["expansion"] for one in row["before"]["terms"]] == ["Word Line"]
    assert [one["expansion"] for one in row["after"]["terms"]] == ["tariff filing handbook"]
    for side, other in (("before", "after"), ("after", "before")):
        ids = {one["passage_id"] for one in row[other]["passages"]}
        assert all(one["only_here"] == (one["passage_id"] not in ids) for one in row[side]["passages"])
    assert (found["questions"], found["asked"], found["left_out"]) == (2, 2, 0)


async def test_the_effects_of_retiring_a_sense_are_shown(kb: KnowledgeBase) -> None:
    (sense,) = kb.glossary.senses.find(ADMIN, query="Word Line")
    found = await catalogue.get_result(
        kb, ADMIN, "glossary_effects", sense_id=sense.id, change="retire", questions=[WORD_LINE]
    )
    (row,) = found["rows"]
    assert [one["expansion"] for one in row["before"]["terms"]] == ["Word Line"]
    assert row["after"]["terms"] == []


async def test_the_effects_of_an_edit_are_shown_without_changing_anything(kb: KnowledgeBase) -> None:
    await ask(kb, MANAGER, WORD_LINE)
    (sense,) = kb.glossary.lookup.senses(MANAGER, ["WL"])["WL"]
    was = everything_in(kb)
    edit = {"sense_id": sense.id, "version": sense.version, "expansion": "clean room", "audience": []}

    found = await catalogue.get_result(kb, MANAGER, "glossary_edit_effects", **edit, questions=["Where is the WLN?"])

    (row,) = found["rows"]
    assert [one["expansion"] for one in row["before"]["terms"]] == ["Word Line"]
    assert [one["expansion"] for one in row["after"]["terms"]] == ["clean room"]
    assert row["after"]["passages"][0]["excerpt"][1].casefold() == "clean room"
    aliased = await catalogue.get_result(
        kb, MANAGER, "glossary_edit_effects", sense_id=sense.id, version=sense.version, aliases=["WLN"],
        questions=["Where is the WLN?"],
    )  # fmt: skip
    assert [row["question"] for row in aliased["rows"] if row["changed"]] == ["Where is the WLN?"]
    assert everything_in(kb) == was
    with pytest.raises(Conflict):
        await catalogue.get_result(kb, MANAGER, "glossary_edit_effects", **{**edit, "version": 0})


async def test_the_effects_of_a_proposal_are_measured_in_its_target_context(kb: KnowledgeBase) -> None:
    proposal = kb.glossary.proposals.add("person", "LTF", "late tariff filing")
    found = await catalogue.get_result(
        kb, ADMIN, "glossary_effects", proposal_id=proposal.id, context="Legal", questions=[COST]
    )
    assert [one["context"] for one in found["rows"][0]["after"]["terms"]] == ["Legal"]
    assert kb.glossary.proposals.get(ADMIN, proposal.id).status == "open"


# -- whose questions --------------------------------------------------------------------------------------------------


async def test_another_persons_question_is_shown_only_if_they_shared_it(kb: KnowledgeBase) -> None:
    thread = await ask(kb, ASKER, "How is an LTFX paid for?")
    draft = kb.glossary.senses.draft(MANAGER, "LTFX", "Tools", "late tariff filing")
    assert (await catalogue.get_result(kb, MANAGER, "glossary_effects", sense_id=draft.id))["rows"] == []

    await catalogue.get_result(kb, ASKER, "thread_share", thread=thread)
    await asyncio.to_thread(kb.glossary.senses.draft, MANAGER, "ZZ1", "Tools", "anything")

    (row,) = (await catalogue.get_result(kb, MANAGER, "glossary_effects", sense_id=draft.id))["rows"]
    assert (row["question"], row["source"]) == ("How is an LTFX paid for?", "missed")


async def test_effects_show_only_passages_the_manager_may_read(kb: KnowledgeBase) -> None:
    draft = kb.glossary.senses.draft(MANAGER, "VCX", "Tools", "vault combination")
    found = await catalogue.get_result(
        kb, MANAGER, "glossary_effects", sense_id=draft.id, questions=["How often is the VCX rotated?"]
    )
    assert "vault-handbook.md" not in json.dumps(found)
    found = await catalogue.get_result(
        kb, ADMIN, "glossary_effects", sense_id=draft.id, questions=["How often is the VCX rotated?"]
    )
    assert "vault-handbook.md" in json.dumps(found)


async def test_effects_of_a_change_that_one_may_not_approve_are_refused(kb: KnowledgeBase) -> None:
    draft = kb.glossary.senses.draft(ADMIN, "LTF", "Legal", "late tariff filing")
    hidden = kb.glossary.senses.draft(ADMIN, "LTF", "Tools", "hidden", audience=frozenset({"vault"}))
    # Drafts are for managers of their context.
    for one in (draft, hidden):
        with pytest.raises(NotFound):
            await catalogue.get_result(kb, MANAGER, "glossary_effects", sense_id=one.id, questions=[COST])
    with pytest.raises(InvalidInput, match="either a sense or a proposal"):
        await catalogue.get_result(kb, MANAGER, "glossary_effects")


# -- several changes at once ------------------------------------------------------------------------------------------


async def test_the_combined_effects_of_several_drafts_are_shown(kb: KnowledgeBase) -> None:
    await ask(kb, MANAGER, COST)
    await ask(kb, MANAGER, WORD_LINE)
    drafts = [
        kb.glossary.senses.draft(MANAGER, "LTF", "Tools", "late tariff filing"),
        kb.glossary.senses.draft(MANAGER, "XQZ", "Tools", "extra quick zone"),
    ]
    was = everything_in(kb)
    seen = [(draft.id, draft.version) for draft in drafts]
    found = await catalogue.get_result(kb, MANAGER, "glossary_effects_together", senses=[*seen, (10**9, 1)])
    assert (found["tried"], found["not_tried"], found["questions"], found["changed"]) == (3, 0, 1, 1)
    (row,) = found["rows"]
    assert row["question"] == COST
    assert [term["expansion"] for term in row["after"]["terms"]] == ["late tariff filing"]
    assert everything_in(kb) == was


async def test_the_combined_effects_of_several_proposals_are_shown(kb: KnowledgeBase) -> None:
    await ask(kb, MANAGER, COST)
    ids = [
        kb.glossary.proposals.add("mined", "LTF", "late tariff filing").id,
        kb.glossary.proposals.add("mined", "XQZ", "x q z").id,
    ]
    found = await catalogue.get_result(kb, MANAGER, "glossary_effects_together", proposal_ids=ids)
    assert (found["tried"], found["changed"]) == (2, 1)
    assert kb.glossary.proposals.get(ADMIN, ids[0]).status == "open"


async def test_the_number_of_changes_measured_together_is_limited_and_reported(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(combined_impact, "MAX_SENSES", 1)
    await ask(kb, ADMIN, COST)
    drafts = [kb.glossary.senses.draft(ADMIN, term, "Legal", "late tariff filing") for term in ("XQZ", "LTF")]
    seen = [(draft.id, draft.version) for draft in drafts]
    found = await catalogue.get_result(kb, ADMIN, "glossary_effects_together", senses=seen)
    assert (found["tried"], found["not_tried"], found["questions"]) == (1, 1, 0)
    for nothing in ({}, {"senses": seen, "proposal_ids": [1]}):
        with pytest.raises(InvalidInput, match="either"):
            await catalogue.get_result(kb, ADMIN, "glossary_effects_together", **nothing)


# -- limits -----------------------------------------------------------------------------------------------------------


async def test_effects_are_limited_in_questions_and_time(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = kb.glossary.senses.draft(ADMIN, "LTF", "Legal", "late tariff filing")
    many = [f"What does the LTF cost on day {day}?" for day in range(8)]
    monkeypatch.setattr(impact, "MAX_QUESTIONS", 3)
    found = await catalogue.get_result(kb, ADMIN, "glossary_effects", sense_id=draft.id, questions=many)
    assert (found["questions"], found["asked"], found["left_out"]) == (8, 3, 5)

    change = impact.plan_approval(kb.glossary, ADMIN, draft.id)
    hurried = await impact.measure_effects(kb, ADMIN, change, many[:3], seconds=0)
    assert (hurried.asked, hurried.left_out) == (1, 2)


async def test_effects_are_cached_until_the_glossary_or_the_documents_change(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    real = impact._read_question

    async def counted(graph: Any, run: Any, question: str) -> QuestionAsRead:
        tried.append(question)
        return await real(graph, run, question)

    monkeypatch.setattr(impact, "_read_question", counted)
    draft = kb.glossary.senses.draft(ADMIN, "LTF", "Legal", "late tariff filing")
    for _ in range(2):
        await catalogue.get_result(kb, ADMIN, "glossary_effects", sense_id=draft.id, questions=[COST])
    assert len(tried) == 2
    kb.glossary.senses.add("DAY", "Legal", "calendar day", by=ADMIN)
    await catalogue.get_result(kb, ADMIN, "glossary_effects", sense_id=draft.id, questions=[COST])
    assert len(tried) == 4


# -- the command line -------------------------------------------------------------------------------------------------


def test_the_command_line_covers_the_whole_review_of_a_missed_term(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARGOT_HOME", str(home))
    monkeypatch.setenv("COLUMNS", "300")

    def run(*arguments: str) -> str:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        out, err = capsys.readouterr()
        assert ended.value.code in (0, None), err
        return out

    document = tmp_path / "fees.md"
    document.write_text("# Fees\n\nThe late tariff filing (LTF) is a fee. The LTF is paid within a week.\n")
    run("add", str(document))
    asked = json.loads(run("ask", COST, "--json"))
    (miss,) = [one for one in json.loads(run("glossary", "queue", "--json"))["misses"] if one["term"] == "LTF"]
    number = str(miss["proposals"][0]["id"])
    assert "late tariff filing" in run("glossary", "queue")

    accepted = run("glossary", "accept", number, "--context", "Legal")
    sense = accepted.rsplit(", ", 1)[1].strip().rstrip("]")
    assert "[draft, " in accepted
    shown = run("glossary", "effects", sense)
    assert COST in shown
    assert "LTF = late tariff filing" in shown
    assert "News" not in run("threads", "show", asked["thread"])

    run("glossary", "approve", sense)
    told = run("threads", "show", asked["thread"])
    assert "LTF has a meaning now: late tariff filing (Legal)" in told
    assert "News" not in run("threads", "show", asked["thread"])
    assert "LTF" not in {one["term"] for one in json.loads(run("glossary", "queue", "--json"))["misses"]}
    assert json.loads(run("ask", COST, "--json"))["jargon"][0]["expansion"] == "late tariff filing"


def test_questions_for_effects_are_read_from_lines_or_json_lines(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARGOT_HOME", str(home))
    file = tmp_path / "questions.jsonl"
    file.write_text(f'{{"id": "q1", "question": "{WORD_LINE}"}}\n\nHow long is a WL?\n')
    from argot.ui.cli.review_commands import _read_questions

    assert _read_questions(file) == [WORD_LINE, "How long is a WL?"]
    file.write_text('{"id": "q1"}\n')
    with pytest.raises(SystemExit):
        main(["glossary", "effects", "1", "--questions", str(file)])
    assert "line 1" in capsys.readouterr().err
