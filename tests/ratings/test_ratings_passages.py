"""Tests of studies that judge whether passages are relevant, and which sentences of an answer they support."""

import csv
import io
import json
import shutil
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from argot.errors import InvalidInput, NotFound
from argot.ratings.passage_files import MAX_PASSAGES
from argot.ratings.store.rating_store import MIGRATIONS, RatingStore
from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.sqlite import open_database
from argot.sqlite_database import SqliteStores
from argot.types import Principal

LOCAL = make_local_principal()
MIA = Principal("mia", frozenset({"managers"}))
ANN, BEN = Principal("ann"), Principal("ben", frozenset({"hr"}))
QUESTION = "What does a late tariff filing cost?"
PASSAGES = ("500 dollars a day.", "Trimming takes 40 seconds.", "It is late after 30 days.")
SENTENCES = ("It costs 500 dollars a day.", "It is late after 30 days.", "Ask your lawyer.")
BEARS_OUT = {SENTENCES[0]: {PASSAGES[0]}, SENTENCES[1]: {PASSAGES[0], PASSAGES[2]}, SENTENCES[2]: set()}


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = shutil.copytree(tiny_home, tmp_path / "kb")
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        for name in ("ann", "eve"):
            opened.people.add(name)
        opened.people.add("ben", ("hr",))
        opened.people.add("mia", ("managers",))
        yield opened


async def do(kb: KnowledgeBase, who: Principal, name: str, /, **given: Any) -> Any:
    return await catalogue.get_result(kb, who, name, **given)


def row_of(kind: str, **more: Any) -> dict[str, Any]:
    answer = {"answer": " ".join(SENTENCES)} if kind == "references" else {}
    return {"question": QUESTION, "passages": list(PASSAGES), **answer, **more}


async def made(kb: KnowledgeBase, kind: str, *people: str, row: Any = None, **more: Any) -> Any:
    data = json.dumps(row or row_of(kind))
    given = {"name": "Autumn", "kind": kind, "data": data, "readers_confirmed": True, **more}
    study = await do(kb, MIA, "rating_create", **given)
    if people:
        await do(kb, MIA, "rating_invite", study="Autumn", people=list(people))
    return study


async def task_of(kb: KnowledgeBase, who: Principal) -> Any:
    return await do(kb, who, "rating_task", study="Autumn", place=1)


async def say(kb: KnowledgeBase, who: Principal, says: Any, **more: Any) -> Any:
    """Save the judgement `says(passage, subject)` for each passage and subject."""
    task = await task_of(kb, who)
    scores = {
        one["letter"]: {aspect["name"]: int(says(one["text"], aspect["wording"])) for aspect in task["aspects"]}
        for one in task["answers"]
    }
    return await do(kb, who, "rating_save", study="Autumn", place=1, scores=scores, **more)


async def rows_of(kb: KnowledgeBase, who: Principal, form: str) -> list[dict[str, Any]]:
    text = (await do(kb, who, "rating_export", study="Autumn", form=form))["text"]
    return list(csv.DictReader(io.StringIO(text))) if form == "csv" else [json.loads(one) for one in text.splitlines()]


# -- relevance --------------------------------------------------------------------------------------------------------


async def test_passages_are_shuffled_per_rater_and_counted_by_their_rank(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The seed of a study is random; with some, three people see three passages in one order.
    monkeypatch.setattr("argot.ratings.store.rating_store.secrets.token_hex", lambda size: "5e" * size)
    study = await made(kb, "passages", "ann", "ben", "eve")
    assert (study["kind"], study["ranking"], [one["name"] for one in study["aspects"]]) == (
        "passages", False, ["Relevant"],
    )  # fmt: skip
    people = (ANN, BEN, Principal("eve"))
    orders = {tuple(one["text"] for one in (await task_of(kb, who))["answers"]) for who in people}
    assert len(orders) > 1 and all(sorted(order) == sorted(PASSAGES) for order in orders)
    for who in people:
        await say(kb, who, lambda text, _: text == PASSAGES[0])
    results = (await do(kb, MIA, "rating_show", study="Autumn"))["results"]["measured"][0]
    assert {one["system"]: (one["mean"], one["counts"]) for one in results["systems"]} == {
        "all": (1 / 3, [6, 3]), "1": (1, [0, 3]), "2": (0, [3, 0]), "3": (0, [3, 0]),
    }  # fmt: skip
    assert (results["alpha"], results["scale"], results["pairs"]) == (1, [0, 1], [])
    exported = await rows_of(kb, MIA, "csv")
    assert {(one["system"], one["Relevant"]) for one in exported} == {("1", "1"), ("2", "0"), ("3", "0")}


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        ({"A": {"Relevant": 1}}, "B and C: say whether they are relevant"),
        ({"A": {"Relevant": 5}}, "there is no 5. Points go from 0 to 1"),
        ({"A": {"Correctness": 1}}, "there is no aspect 'Correctness'"),
    ],
)
async def test_an_unjudged_passage_is_reported(kb: KnowledgeBase, scores: Any, told: str) -> None:
    await made(kb, "passages", "ann")
    with pytest.raises(InvalidInput, match=told):
        await do(kb, ANN, "rating_save", study="Autumn", place=1, scores=scores)


# -- references -------------------------------------------------------------------------------------------------------


async def test_references_are_annotated_and_exported_for_the_experiment(kb: KnowledgeBase) -> None:
    await made(kb, "references", "ann", "ben", "eve")
    assert [one["wording"] for one in (await task_of(kb, ANN))["aspects"]] == list(SENTENCES)
    await say(kb, ANN, lambda text, sentence: text in BEARS_OUT[sentence])
    await say(kb, BEN, lambda text, sentence: text in BEARS_OUT[sentence])
    # A single rater's vote does not make a passage the source of a sentence.
    await say(kb, Principal("eve"), lambda text, sentence: text == PASSAGES[1] and sentence == SENTENCES[0])
    (row,) = await rows_of(kb, MIA, "annotated")
    assert row == {
        "id": "1", "question": QUESTION, "passages": list(PASSAGES),
        "sentences": [
            {"text": one, "passages": [PASSAGES.index(text) + 1 for text in sorted(BEARS_OUT[one], key=PASSAGES.index)]}
            for one in SENTENCES
        ],
    }  # fmt: skip
    table = await rows_of(kb, MIA, "csv")
    assert [one["passages"] for one in table if one["rater"] == "ann"] == ["1", "1 3", ""]
    shown = (await do(kb, MIA, "rating_show", study="Autumn"))["results"]["measured"][0]
    assert shown["systems"][0]["counts"] == [4, 5] and 0 < shown["alpha"] < 1
    assert (await rows_of(kb, MIA, "jsonl"))[0]["sentences"] == list(SENTENCES)


async def test_an_unannotated_sentence_is_reported_and_kept_as_a_draft(kb: KnowledgeBase) -> None:
    await made(kb, "references", "ann")
    half = {letter: {"1": int(letter == "A")} for letter in "ABC"}
    with pytest.raises(InvalidInput, match="Sentences 2 and 3 have no passage yet"):
        await do(kb, ANN, "rating_save", study="Autumn", place=1, scores=half)
    await do(kb, ANN, "rating_save", study="Autumn", place=1, scores=half, draft=True)
    assert (await task_of(kb, ANN))["given"]["scores"] == half
    assert await rows_of(kb, MIA, "annotated") == []
    await do(kb, ANN, "rating_save", study="Autumn", place=1, cannot_judge=True)
    assert await rows_of(kb, MIA, "annotated") == []


async def test_only_references_are_exported_as_annotated(kb: KnowledgeBase) -> None:
    await made(kb, "passages")
    with pytest.raises(InvalidInput, match="no references are annotated"):
        await rows_of(kb, MIA, "annotated")


# -- creating a study, and who may see it -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "change", "told"),
    [
        ("passages", {"passages": []}, f"a list of 1 to {MAX_PASSAGES} passages"),
        ("passages", {"passages": ["x"] * (MAX_PASSAGES + 1)}, f"1 to {MAX_PASSAGES} passages, and has 21"),
        ("passages", {"passages": [{"text": "x", "document": 0}]}, "'document' is missing, empty or no text"),
        ("passages", {"passages": [{"text": "x", "heading": []}]}, "'heading' is missing, empty or no text"),
        ("passages", {"passages": [" "]}, "'text' is missing, empty or no text"),
        ("passages", {"passages": [{"text": "x", "score": 1}]}, "a passage has a field 'score'"),
        ("passages", {"passages": [{"text": "x", "document": "no.md"}]}, "no document 'no.md'"),
        ("passages", {"answer": "x"}, "it has a field 'answer'"),
        ("references", {"answer": ""}, "'answer' is missing"),
        ("references", {"sentences": []}, "a list of 1 to 200 sentences"),
        ("references", {"answer": "It is so. " * 201}, "the answer has 201 sentences, and may have 200"),
        ("references", {"sentences": ["one", 2]}, "'sentences' is missing, empty or no text"),
    ],
)
async def test_the_error_for_an_invalid_line_names_it(
    kb: KnowledgeBase, kind: str, change: dict[str, Any], told: str
) -> None:
    with pytest.raises(InvalidInput, match=f"Line 1: .*{told}"):
        await made(kb, kind, row=row_of(kind, **change))


async def test_aspects_and_thumbs_are_for_answers_only(kb: KnowledgeBase) -> None:
    with pytest.raises(InvalidInput, match="Only answers are judged by aspects"):
        await made(kb, "passages", aspects=[{"name": "Tone"}])
    with pytest.raises(InvalidInput, match="judge the answers alone"):
        await do(kb, MIA, "rating_create_from_thumbs", name="Thumbs", kind="references")
    with pytest.raises(InvalidInput, match="1 of 1 questions do not say which documents"):
        await made(kb, "passages", readers_confirmed=False)


@pytest.mark.parametrize("kind", ["passages", "references"])
async def test_passages_closed_to_a_rater_are_hidden_from_them(kb: KnowledgeBase, kind: str) -> None:
    name = (await do(kb, LOCAL, "list_documents"))[0]["name"]
    passages = [{"text": one, "document": name, "heading": "Penalties"} for one in PASSAGES]
    await made(kb, kind, "ann", "ben", row=row_of(kind, passages=passages), readers_confirmed=False)
    assert (await task_of(kb, ANN))["answers"][0]["label"] == f"{name} > Penalties"
    for who in (ANN, BEN):
        await say(kb, who, lambda text, _: text == PASSAGES[0])
    await do(kb, LOCAL, "document_label", document=name, audience=["hr"])
    with pytest.raises(NotFound, match="no question 1 for you"):
        await task_of(kb, ANN)
    assert (await task_of(kb, BEN))["saved"]
    progress = (await do(kb, MIA, "rating_show", study="Autumn"))["progress"]
    assert [(one["person"], one["rated"], one["of"]) for one in progress] == [("ann", 0, 0), ("ben", 1, 1)]
    for form in ("jsonl", "csv", *(["annotated"] if kind == "references" else [])):
        assert await rows_of(kb, MIA, form) == []
        assert await rows_of(kb, LOCAL, form) != []


@pytest.mark.parametrize("kind", ["passages", "references"])
async def test_passages_of_a_study_come_from_questions_asked_here(kb: KnowledgeBase, kind: str) -> None:
    given = {"name": "Autumn", "kind": kind, "questions": f"{QUESTION}\nWhat is a PUC?"}
    with pytest.raises(InvalidInput, match="Name one"):
        await do(kb, MIA, "rating_create_asked", **given, profiles=["default", "plain_rag"])
    study = await do(kb, MIA, "rating_create_asked", **given)
    assert (study["questions"], study["ready"], study["profiles"]) == (2, 0, ["default"])
    study = await do(kb, MIA, "rating_ask", study="Autumn")
    assert study["questions"] == study["ready"] > 0
    assert study == await do(kb, MIA, "rating_ask", study="Autumn")
    await do(kb, MIA, "rating_invite", study="Autumn", people=["ann"])
    task = await task_of(kb, ANN)
    assert task["question"] == QUESTION and len(task["answers"]) > 1
    assert any("500 dollars" in one["text"] and "tariff-filing.md" in one["label"] for one in task["answers"])
    wordings = [one["wording"] for one in task["aspects"]]
    assert any("500 dollars" in one for one in wordings) == (kind == "references")


def test_a_store_of_the_former_version_holds_studies_of_answers(tmp_path: Path) -> None:
    old = open_database(tmp_path / "ratings.db", MIGRATIONS[:1])
    with old:
        values = "(1, 'Old', '', '[]', 1, 'file', '[]', 's', 'mia', '2026-01-01T00:00:00Z', NULL)"
        old.execute(f"INSERT INTO studies VALUES {values}")
        old.execute("INSERT INTO items VALUES (1, 1, 1, 'Q?', '', '', 0)")
        old.execute("INSERT INTO answers VALUES (1, 'one', 'text', ?)", (json.dumps({"documents": [], "senses": []}),))
    old.close()
    store = RatingStore(SqliteStores(tmp_path))
    study = store.get_study("Old")
    (item,) = store.list_items(study)
    assert (study.kind, item.sentences, item.answers[0].label) == ("answers", (), "")
    store.close()
    with sqlite3.connect(tmp_path / "ratings.db") as opened:
        assert opened.execute("PRAGMA user_version").fetchone() == (2,)
