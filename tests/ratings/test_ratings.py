"""Tests of rating studies: made, rated blindly, read, exported, closed, and erased with their people."""

import csv
import io
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from argot.errors import Conflict, InvalidInput, NotAllowed, NotFound
from argot.evaluate.human_labels import load_labels
from argot.ratings.answer_order import draw_blind_order
from argot.ratings.study import Answer
from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.backup import restore_backup
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.types import Principal

LOCAL = make_local_principal()
MIA = Principal("mia", frozenset({"managers"}))
SYSTEMS = ("Zebra-7B", "Yak-70B", "Xerus")
ASPECTS = ("Correctness", "Helpfulness", "Informativeness")
QUESTIONS = 12
FORMS = ("jsonl", "csv")


def file_of(questions: int = QUESTIONS, **more: Any) -> str:
    rows = (
        {
            "question": f"Question {n}?",
            "answers": {name: f"answer of {n}-{i}" for i, name in enumerate(SYSTEMS)},
            **more,
        }
        for n in range(1, questions + 1)
    )
    return "\n".join(map(json.dumps, rows))


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = shutil.copytree(tiny_home, tmp_path / "kb")
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        for name in ("ann", "ben", "eve"):
            opened.people.add(name)
        opened.people.add("mia", ("managers",))
        yield opened


async def do(kb: KnowledgeBase, who: Principal, name: str, /, **given: Any) -> Any:
    return await catalogue.get_result(kb, who, name, **given)


async def made(kb: KnowledgeBase, *people: str, **more: Any) -> Any:
    given = {"name": "Autumn", "data": file_of(), "readers_confirmed": True, **more}
    study = await do(kb, MIA, "rating_create", **given)
    if people:
        await do(kb, MIA, "rating_invite", study="Autumn", people=list(people))
    return study


def full(task: Any, points: int = 4) -> dict[str, Any]:
    letters = [one["letter"] for one in task["answers"]]
    scores = {letter: {one["name"]: points for one in task["aspects"]} for letter in letters}
    return {"place": task["place"], "scores": scores, "ranks": {letter: n for n, letter in enumerate(letters, 1)}}


def by_quality(task: Any) -> dict[str, Any]:
    """Return a rating that prefers the first system, whatever its letter."""
    best = {one["letter"]: int(one["text"][-1]) for one in task["answers"]}
    scores = {letter: dict.fromkeys(ASPECTS, 5 - place) for letter, place in best.items()}
    return {"place": task["place"], "scores": scores, "ranks": {one: place + 1 for one, place in best.items()}}


# -- rating -----------------------------------------------------------------------------------------------------------


async def test_each_rater_has_a_fixed_order_of_their_own_without_system_names(kb: KnowledgeBase) -> None:
    await made(kb, "ann", "ben")
    orders: dict[str, list[list[str]]] = {}
    for name in ("ann", "ben"):
        tasks = [await do(kb, Principal(name), "rating_task", study="Autumn", place=n) for n in range(1, QUESTIONS + 1)]
        assert tasks[0] == await do(kb, Principal(name), "rating_task", study="autumn", place=1)
        orders[name] = [[one["text"] for one in task["answers"]] for task in tasks]
        told = json.dumps([tasks, await do(kb, Principal(name), "rating_studies_mine")])
        assert not any(system in told for system in SYSTEMS)
    assert orders["ann"] != orders["ben"]
    assert len({tuple(text[-1] for text in order) for order in orders["ann"]}) > 2


def test_each_system_is_equally_likely_in_each_place() -> None:
    answers = [Answer(name, "") for name in SYSTEMS]
    first = [draw_blind_order(answers, "seed", f"rater {n}", n % 7)["A"].system for n in range(600)]
    assert all(150 < first.count(name) < 250 for name in SYSTEMS)


async def test_the_last_of_several_saves_of_a_rating_counts(kb: KnowledgeBase) -> None:
    await made(kb, "ann")
    ann = Principal("ann")
    task = await do(kb, ann, "rating_task", study="Autumn")
    for points in (2, 2, 5):
        saved = await do(kb, ann, "rating_save", study="Autumn", **full(task, points), comment=" good ")
    assert (saved["study"]["rated"], saved["next"]) == (1, 2)
    shown = await do(kb, MIA, "rating_show", study="Autumn")
    assert shown["ratings"] == 1 and shown["results"]["measured"][0]["systems"][0]["mean"] == 5
    again = await do(kb, ann, "rating_task", study="Autumn", place=1)
    assert again["saved"] and again["given"] == {
        "scores": full(task, 5)["scores"], "ranks": full(task)["ranks"], "cannot_judge": False, "comment": "good",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"ranks": {"A": 1, "B": 1, "C": 2}}, "A and B have the same rank, 1"),
        ({"ranks": {"A": 1, "B": 2}}, "C has no rank yet"),
        ({"ranks": {"A": 1, "B": 2, "C": 4}}, "There is no rank 4"),
        ({"scores": {}}, "Answer A has no points yet for Correctness, Helpfulness and Informativeness"),
        ({"ranks": {"D": 1}}, "There is no answer D"),
        ({"scores": {"A": {"Beauty": 3}}}, "there is no aspect 'Beauty'"),
        ({"scores": {"A": {"Correctness": 6}}}, "less than or equal to 5"),
    ],
)
async def test_an_unfinished_rating_is_refused_with_the_reason(
    kb: KnowledgeBase, change: dict[str, Any], told: str
) -> None:
    await made(kb, "ann")
    task = await do(kb, Principal("ann"), "rating_task", study="Autumn")
    with pytest.raises(InvalidInput, match=told):
        await do(kb, Principal("ann"), "rating_save", study="Autumn", **{**full(task), **change})
    assert (await do(kb, MIA, "rating_show", study="Autumn"))["ratings"] == 0


async def test_a_draft_outlives_the_browser_and_is_not_counted(kb: KnowledgeBase) -> None:
    await made(kb, "ann")
    ann, half = Principal("ann"), {"A": {"Correctness": 3}}
    await do(kb, ann, "rating_save", study="Autumn", place=1, scores=half, ranks={"A": 1, "B": 1}, draft=True)
    task = await do(kb, ann, "rating_task", study="Autumn")
    assert task["place"] == 1 and not task["saved"] and task["places"][0]["begun"]
    assert task["given"]["scores"] == half and task["given"]["ranks"] == {"A": 1, "B": 1}
    shown = await do(kb, MIA, "rating_show", study="Autumn")
    assert shown["ratings"] == 0 and shown["progress"][0]["rated"] == 0
    saved = await do(kb, ann, "rating_save", study="Autumn", **full(task))
    assert saved["study"]["rated"] == 1
    # A late draft that equals the saved rating, as from a second tab, does not make it unfinished.
    await do(kb, ann, "rating_save", study="Autumn", **full(task), draft=True)
    assert (await do(kb, ann, "rating_task", study="Autumn", place=1))["saved"]
    # A different draft is kept beside the rating, which still counts.
    await do(kb, ann, "rating_save", study="Autumn", **full(task, 1), draft=True)
    assert not (await do(kb, ann, "rating_task", study="Autumn", place=1))["saved"]
    assert (await do(kb, MIA, "rating_show", study="Autumn"))["results"]["measured"][0]["systems"][0]["mean"] == 4


async def test_a_rater_may_pass_on_a_question(kb: KnowledgeBase) -> None:
    await made(kb, "ann")
    given = {"place": 1, "scores": {"A": {"Correctness": 2}}, "cannot_judge": True, "comment": "not my field"}
    saved = await do(kb, Principal("ann"), "rating_save", study="Autumn", **given)
    assert saved["study"]["rated"] == 1
    results = (await do(kb, MIA, "rating_show", study="Autumn"))["results"]
    assert (results["ratings"], results["passed"]) == (1, 1)
    assert all(one["systems"] == [] for one in results["measured"])


async def test_only_invited_raters_rate_and_only_while_the_study_is_open(kb: KnowledgeBase) -> None:
    await made(kb, "ann")
    eve, ann = Principal("eve"), Principal("ann")
    assert await do(kb, eve, "rating_studies_mine") == []
    with pytest.raises(NotFound, match="invited to no study"):
        await do(kb, eve, "rating_task", study="Autumn")
    with pytest.raises(NotAllowed):
        await do(kb, ann, "rating_show", study="Autumn")
    task = await do(kb, ann, "rating_task", study="Autumn")
    await do(kb, MIA, "rating_close", study="Autumn")
    with pytest.raises(Conflict, match="closed"):
        await do(kb, ann, "rating_save", study="Autumn", **full(task))
    await do(kb, MIA, "rating_reopen", study="Autumn")
    await do(kb, ann, "rating_save", study="Autumn", **full(task))
    await do(kb, MIA, "rating_uninvite", study="Autumn", people=["ann"])
    with pytest.raises(NotFound):
        await do(kb, ann, "rating_task", study="Autumn")
    shown = await do(kb, MIA, "rating_show", study="Autumn")
    assert shown["progress"] == [{"person": "ann", "invited": False, "rated": 1, "passed": 0, "of": 12}]


# -- results and exports ----------------------------------------------------------------------------------------------


async def test_three_agreeing_raters_give_the_expected_results_and_export(kb: KnowledgeBase) -> None:
    await made(kb, "ann", "ben", "eve")
    for name in ("ann", "ben", "eve"):
        while task := await do(kb, Principal(name), "rating_task", study="Autumn"):
            await do(kb, Principal(name), "rating_save", study="Autumn", **by_quality(task))
    shown = await do(kb, MIA, "rating_show", study="Autumn")
    assert [one["rated"] for one in shown["progress"]] == [QUESTIONS] * 3
    measured = {one["name"]: one for one in shown["results"]["measured"]}
    assert list(measured) == [*ASPECTS, "Rank"]
    assert all(one["alpha"] == 1 for one in measured.values())
    means = {one["system"]: (one["mean"], one["interval"]) for one in measured["Correctness"]["systems"]}
    assert means == {"Zebra-7B": (5, [5, 5]), "Yak-70B": (4, [4, 4]), "Xerus": (3, [3, 3])}
    (zebra,) = [one for one in measured["Rank"]["systems"] if one["system"] == "Zebra-7B"]
    assert zebra["counts"] == [36, 0, 0]
    pairs = {
        (one["first"], one["second"]): (one["wins"], one["ties"], one["losses"]) for one in measured["Rank"]["pairs"]
    }
    assert pairs["Yak-70B", "Zebra-7B"] == (0, 0, 36)

    lines = (await do(kb, MIA, "rating_export", study="Autumn"))["text"].splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) == 36 and rows[0]["scores"]["Zebra-7B"]["Correctness"] == 5
    exported = await do(kb, MIA, "rating_export", study="Autumn", form="csv")
    table = list(csv.DictReader(io.StringIO(exported["text"])))
    assert exported["name"] == "ratings-autumn.csv" and len(table) == 108
    assert {(one["system"], one["rank"], one["Helpfulness"]) for one in table} == {
        ("Zebra-7B", "1", "5"), ("Yak-70B", "2", "4"), ("Xerus", "3", "3"),
    }  # fmt: skip


async def test_a_comment_is_not_a_formula_in_a_spreadsheet(kb: KnowledgeBase) -> None:
    await made(kb, "ann")
    given = {"study": "Autumn", "place": 1, "cannot_judge": True, "comment": '=HYPERLINK("http://x")'}
    await do(kb, Principal("ann"), "rating_save", **given)
    text = (await do(kb, MIA, "rating_export", study="Autumn", form="csv"))["text"]
    assert next(csv.DictReader(io.StringIO(text)))["comment"] == '\'=HYPERLINK("http://x")'


# -- creating a study -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "Line 2: not JSON"),
        ('{"question": "Q?", "answers": {"one": "x"}}', "Line 2: 'answers' takes those of 2 to 6"),
        ('{"question": "Q?", "answers": {"one": "x", "two": " "}}', "Line 2: 'two' is missing, empty"),
        ('{"question": "", "answers": {"one": "x", "two": "y"}}', "'question' is missing"),
        ('{"question": "Q?", "answer": "x"}', "a field 'answer'"),
        ('{"question": "Q?", "answers": {"one": "x", "two": "y"}, "documents": ["no.md"]}', "no document 'no.md'"),
    ],
)
async def test_an_invalid_line_is_named_and_no_study_is_made(kb: KnowledgeBase, line: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        await made(kb, data=f"{file_of(1)}\n{line}\n")
    assert await do(kb, MIA, "rating_list") == []


async def test_names_aspects_and_readers_are_checked(kb: KnowledgeBase) -> None:
    with pytest.raises(InvalidInput, match=r"12 of 12 questions do not say which documents.*--readers-confirmed"):
        await made(kb, readers_confirmed=False)
    with pytest.raises(InvalidInput, match="cannot be the name of a study"):
        await made(kb, name="a/b")
    with pytest.raises(InvalidInput, match="name of its own"):
        await made(kb, aspects=[{"name": "Good"}, {"name": "good"}])
    with pytest.raises(InvalidInput, match="asks nothing"):
        await made(kb, aspects=[], ranking=False)
    await made(kb)
    with pytest.raises(Conflict, match="already"):
        await made(kb, name="autumn")
    with pytest.raises(NotFound, match="no user 'nobody'"):
        await do(kb, MIA, "rating_invite", study="Autumn", people=["nobody"])


async def test_answers_from_documents_closed_to_a_rater_are_hidden_from_them(kb: KnowledgeBase) -> None:
    uri = (await do(kb, LOCAL, "list_documents"))[0]["name"]
    await made(kb, "ann", "ben", data=file_of(2, documents=[uri]), readers_confirmed=False)
    assert (await do(kb, Principal("ann"), "rating_studies_mine"))[0]["of"] == 2
    await do(kb, LOCAL, "document_label", document=uri, audience=["hr"])
    assert (await do(kb, Principal("ann"), "rating_studies_mine"))[0]["of"] == 0
    with pytest.raises(NotFound, match="no question 1 for you"):
        await do(kb, Principal("ann"), "rating_task", study="Autumn", place=1)
    with pytest.raises(NotFound):
        await do(kb, Principal("ann"), "rating_save", study="Autumn", place=1, cannot_judge=True)
    assert (await do(kb, Principal("ben", frozenset({"hr"})), "rating_studies_mine"))[0]["of"] == 2


async def test_an_export_leaves_out_texts_its_reader_may_not_read(kb: KnowledgeBase) -> None:
    name = (await do(kb, LOCAL, "list_documents"))[0]["name"]
    data = file_of(1, documents=[name], reference="The secret one.")
    await made(kb, "ann", data=data, readers_confirmed=False)
    await do(kb, Principal("ann"), "rating_save", study="Autumn", **full(
        await do(kb, Principal("ann"), "rating_task", study="Autumn", place=1)))  # fmt: skip
    exported = {form: (await do(kb, MIA, "rating_export", study="Autumn", form=form))["text"] for form in FORMS}
    assert all("Question 1?" in text for text in exported.values())
    await do(kb, LOCAL, "document_label", document=name, audience=["hr"])
    for form in FORMS:
        text = (await do(kb, MIA, "rating_export", study="Autumn", form=form))["text"]
        assert not any(word in text for word in ("Question 1?", "secret", "answer of 1"))
        # The results, which come from everybody's scores, stay.
        assert len(text.splitlines()) == len(exported[form].splitlines()) and "Zebra-7B" in text
    whole = (await do(kb, LOCAL, "rating_export", study="Autumn"))["text"]
    assert whole == exported["jsonl"]


async def test_ratings_become_labels_that_a_judge_is_compared_with(kb: KnowledgeBase, tmp_path: Path) -> None:
    name = (await do(kb, LOCAL, "list_documents"))[0]["name"]
    with_reference = file_of(2, documents=[name], reference="The secret one.")
    await made(kb, "ann", "ben", data=f"{with_reference}\n{file_of(1)}")
    for rater in ("ann", "ben"):
        for place in (1, 3):
            task = await do(kb, Principal(rater), "rating_task", study="Autumn", place=place)
            await do(kb, Principal(rater), "rating_save", study="Autumn", **by_quality(task))
    exported = await do(kb, MIA, "rating_export", study="Autumn", form="labels")
    file = tmp_path / "labels.jsonl"
    file.write_text(exported["text"])
    labels = load_labels(file)
    # Question 3 has no reference, and nobody rated question 2.
    assert [(one.kind, one.answer) for one in labels] == list(
        zip(SYSTEMS, ("answer of 1-0", "answer of 1-1", "answer of 1-2"), strict=True)
    )
    assert [(len(one.labels), one.decide_label("accuracy")) for one in labels] == [(2, 5), (2, 4), (2, 3)]
    await do(kb, LOCAL, "document_label", document=name, audience=["hr"])
    assert (await do(kb, MIA, "rating_export", study="Autumn", form="labels"))["text"] == ""
    await made(kb, name="Tone", aspects=[{"name": "Tone", "wording": "polite?"}])
    with pytest.raises(InvalidInput, match="no labels for a judge"):
        await do(kb, MIA, "rating_export", study="Tone", form="labels")


async def test_a_stopped_study_of_asked_questions_is_continued(kb: KnowledgeBase) -> None:
    asked = 'What does a late tariff filing cost?\n{"question": "What is a PUC?", "reference": "Peripheral Under Cell"}'
    with pytest.raises(InvalidInput, match="two profiles or more"):
        await do(kb, MIA, "rating_create_asked", name="Ways", questions=asked, profiles=["default"])
    given = {"name": "Ways", "questions": asked, "profiles": ["default", "plain_rag"]}
    await do(kb, MIA, "rating_create_asked", **given)
    await do(kb, MIA, "rating_invite", study="Ways", people=["ann"])
    events = catalogue.dispatch(kb, MIA, "rating_ask", {"study": "Ways"})
    for _ in range(4):  # stopped while the last of four questions is asked
        event = await anext(events)
    assert (event["done"], event["total"]) == (3, 4)
    await events.aclose()
    assert (await do(kb, Principal("ann"), "rating_studies_mine"))[0]["of"] == 1
    seen = [event async for event in catalogue.dispatch(kb, MIA, "rating_ask", {"study": "Ways"})]
    assert [one["kind"] for one in seen] == ["asking", "result"] and seen[-1]["data"]["ready"] == 2
    task = await do(kb, Principal("ann"), "rating_task", study="Ways")
    assert any("500 dollars" in one["text"] for one in task["answers"])
    assert not {"default", "plain_rag"} & set(json.dumps(task).replace('"', " ").split())
    assert await do(kb, MIA, "thread_list") == [] and await do(kb, LOCAL, "glossary_misses") == []


async def test_shared_answers_with_thumbs_are_rated_by_managers_only(kb: KnowledgeBase) -> None:
    ann, question = Principal("ann"), "What does a late tariff filing cost?"
    threads = [(await do(kb, ann, "ask", question=question))["thread"] for _ in range(2)]
    with pytest.raises(InvalidInput, match="Nobody has shared"):
        await do(kb, MIA, "rating_create_from_thumbs", name="Thumbs")
    for thread, share in zip(threads, (True, False), strict=True):
        await do(kb, ann, "feedback", thread=thread, turn=0, value=1, share=share)
    study = await do(kb, MIA, "rating_create_from_thumbs", name="Thumbs")
    assert study["questions"] == study["ready"] == 1
    with pytest.raises(InvalidInput, match="ben is no manager of all contexts"):
        await do(kb, MIA, "rating_invite", study="Thumbs", people=["ben"])
    await do(kb, MIA, "rating_invite", study="Thumbs", people=["mia"])
    task = await do(kb, MIA, "rating_task", study="Thumbs")
    assert task["question"] == question and len(task["answers"]) == 1 and not task["ranking"]
    assert (await do(kb, Principal("mia"), "rating_studies_mine"))[0]["of"] == 0  # she is no longer a manager
    await do(kb, MIA, "rating_save", study="Thumbs", **{**full(task), "ranks": {}})
    await do(kb, ann, "feedback", thread=threads[0], turn=0, value=0)  # feedback withdrawn
    assert (await do(kb, MIA, "rating_list"))[0]["questions"] == 0


# -- people and stores ------------------------------------------------------------------------------------------------


async def test_a_persons_ratings_are_in_their_export_and_anonymous_after_erasure(kb: KnowledgeBase) -> None:
    await made(kb, "ann", "ben")
    ann = Principal("ann")
    task = await do(kb, ann, "rating_task", study="Autumn")
    await do(kb, ann, "rating_save", study="Autumn", **full(task), comment="the zealous quokka")
    await do(kb, ann, "rating_save", study="Autumn", place=2, draft=True, comment="half a quokka")
    data = await do(kb, ann, "my_data")
    assert [one["question"] for one in data["ratings"]["ratings"]] == ["Question 1?", "Question 2?"]
    assert data["ratings"]["ratings"][0]["said"]["comment"] == "the zealous quokka"
    assert data["ratings"]["invitations"][0]["study"] == "Autumn"
    assert not any(system in json.dumps(data) for system in SYSTEMS)
    assert (await do(kb, Principal("ben"), "my_data"))["ratings"]["ratings"] == []

    erased = await do(kb, LOCAL, "user_erase", name="ann")
    assert erased["ratings"] == 3 and erased["files_clean"]
    shown = await do(kb, MIA, "rating_show", study="Autumn")
    assert shown["progress"][0]["person"] == "ben"
    assert shown["progress"][1]["person"].startswith("erased person ") and shown["progress"][1]["rated"] == 1
    # Her order was drawn from her name, so the export omits it rather than giving a wrong one.
    (row,) = map(json.loads, (await do(kb, MIA, "rating_export", study="Autumn"))["text"].splitlines())
    assert row["order"] == {} and row["scores"].keys() == set(SYSTEMS)
    exported = csv.DictReader(io.StringIO((await do(kb, MIA, "rating_export", study="Autumn", form="csv"))["text"]))
    assert {(one["system"], one["shown_as"]) for one in exported} == {(system, "") for system in SYSTEMS}
    for name in ("ratings.db", "ratings.db-wal"):
        data = (kb.home / name).read_bytes()
        assert b"quokka" not in data and b'"ann"' not in data
    await do(kb, LOCAL, "user_erase", name="mia")
    assert (await do(kb, LOCAL, "rating_list"))[0]["created_by"] == "erased person"


async def test_removing_a_study_deletes_all_its_texts(kb: KnowledgeBase) -> None:
    await made(kb, "ann", data=file_of(1).replace("answer of", "the quokka answer of"))
    assert b"quokka" in b"".join(one.read_bytes() for one in kb.home.glob("ratings.db*"))
    await do(kb, MIA, "rating_remove", study="Autumn")
    assert await do(kb, MIA, "rating_list") == []
    assert b"quokka" not in b"".join(one.read_bytes() for one in kb.home.glob("ratings.db*"))


async def test_a_backup_restores_studies(kb: KnowledgeBase, tmp_path: Path) -> None:
    await made(kb, "ann")
    await do(kb, LOCAL, "backup", path=str(tmp_path / "b.tar"))
    home = tmp_path / "other"
    restore_backup(home, tmp_path / "b.tar")
    async with KnowledgeBase.open(home, Settings(home=home)) as restored:
        assert (await do(restored, MIA, "rating_list"))[0]["questions"] == QUESTIONS
