"""The side `recorded`: replies of a capable model, repeated where the passages they cite are in the prompt."""

import json
from pathlib import Path
from typing import Any

import pytest

from argot.errors import InvalidInput
from argot.evaluate.answer_questions import AnswerQuestion, AnswerSet, build_answer_set
from argot.evaluate.known_answers import KnownAnswers
from argot.evaluate.recorded_replies import (
    RecordedModel,
    RecordedReply,
    find_cited,
    list_statements,
    load_replies,
    select_recorded,
    split_reply,
)
from argot.evaluate.right_marks import RightMarks, count_marks
from argot.evaluate.usecases import evaluation
from argot.profile_files import load_profile
from argot.results import AskResult, Citation, Sentence
from argot.settings import Settings

KILN = """# Firing the kiln

The kiln is heated to 1,240 degrees within nine hours. It cools for two days.

- Open the damper before you light the burner.
- Close the lid with both clamps.
"""
GLAZE = "# Glazes\n\nThe blue glaze needs 4 percent cobalt."
REPLY = (
    "The kiln reaches 1,240 degrees within nine hours [3]. Close the lid with both clamps [3]. "
    "Cobalt makes 4 percent [7]."
)


def recorded(text: str = REPLY, **more: Any) -> RecordedReply:
    return RecordedReply("q", "How is it fired?", text, {3: KILN, 7: GLAZE}, **more)


def write_prompt(*passages: str) -> str:
    return "\n".join(f'<passage n="{n}" source="x">\n{text}\n</passage>' for n, text in enumerate(passages, 1))


def ask_model(prompt: str, reply: RecordedReply, *, lies: bool = False, place: int = 0) -> tuple[str, Any]:
    model = RecordedModel([reply], lies=lies)
    served = model.expect(AnswerQuestion("q", "fact", "How is it fired?"), place)
    return model.answer(prompt), served


def test_a_reply_is_repeated_under_the_numbers_of_the_prompt() -> None:
    said, served = ask_model(write_prompt("Penguins swim.", GLAZE, KILN), recorded())
    assert said == REPLY.replace("[3]", "[9]").replace("[7]", "[2]").replace("[9]", "[3]")
    assert served.asked and served.gold_shown and served.has_answer
    assert served.sentences == (
        "The kiln reaches 1,240 degrees within nine hours.", "Close the lid with both clamps.",
        "Cobalt makes 4 percent.",
    )  # fmt: skip


@pytest.mark.parametrize(
    "passages", [[KILN], [GLAZE], ["Penguins swim."], [KILN.replace("1,240", "900"), GLAZE], []], ids=str
)
def test_the_model_refuses_where_a_cited_passage_is_missing(passages: list[str]) -> None:
    said, served = ask_model(write_prompt(*passages), recorded())
    assert said == "NOT IN THE PASSAGES"
    assert served.asked and not served.gold_shown and served.sentences == ()


def test_a_passage_that_is_cut_in_another_way_is_found_by_the_sentences_that_the_reply_rests_on() -> None:
    first = "The **kiln** is heated to\n1,240 degrees within nine hours."
    second = "* Close the lid with both clamps."
    said, served = ask_model(write_prompt(second, first, GLAZE), recorded())
    assert served.gold_shown
    assert said == REPLY.replace("hours [3]", "hours [2]").replace("clamps [3]", "clamps [1]").replace("[7]", "[3]")


def test_a_recorded_refusal_is_repeated_and_is_no_right_answer() -> None:
    said, served = ask_model(write_prompt(KILN, GLAZE), recorded("NOT IN THE PASSAGES"))
    assert said == "NOT IN THE PASSAGES" and not served.has_answer


def test_a_number_in_brackets_that_is_no_citation_stays() -> None:
    said, _ = ask_model(
        write_prompt(GLAZE), RecordedReply("q", "?", "Cobalt makes 4 percent [7], see form [12].", {7: GLAZE})
    )
    assert said == "Cobalt makes 4 percent [1], see form [12]."


@pytest.mark.parametrize("place", range(12))
def test_the_lying_model_changes_one_sentence_and_keeps_the_others(place: int) -> None:
    said, served = ask_model(write_prompt(KILN, GLAZE), recorded(), lies=True, place=place)
    told = [one for one in served.sentences if one not in split_reply(REPLY)]
    assert told == [served.lie] and served.kind_of_lie and not served.has_answer
    assert len(served.sentences) - len(told) >= 2
    assert split_reply(said) == list(served.sentences)


def test_a_sentence_of_the_reply_is_supported_by_the_passage_it_cites_and_no_other_sentence_is() -> None:
    model = RecordedModel([recorded()])
    model.expect(AnswerQuestion("q", "fact", "How is it fired?"), 0)
    prompt = f"{write_prompt(GLAZE, KILN)}\n\n1. Close the lid with both clamps.\n2. Close the lid with tape.\n"
    assert [one["passage"] for one in model.match_sentences(prompt)] == [2, 0]


def test_cited_passages_are_found_with_any_table_layout() -> None:
    table = "| wood | days |\n|---|---|\n| oak | 40 |\n| pine | 12 |"
    reply = RecordedReply("q", "?", "Oak dries for 40 days [1].", {1: table})
    (statement,) = list_statements(reply)
    assert find_cited(statement, reply.cited, {5: "| wood | days |\n|---|---|\n| oak | 40 |"}) == {1: [5]}
    assert find_cited(statement, reply.cited, {5: "| wood | days |\n|---|---|\n| pine | 12 |"}) == {1: []}


# -- the file ----------------------------------------------------------------------------------------------------------


def write_replies(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"question": "?", "reply": "It does [1]."}, "line 1: the reply cites no passage of 'cited'"),
        ({"question": "?", "reply": "It does.", "cited": {"1": "x"}}, "line 1: the reply cites no passage"),
        ({"question": "?"}, "line 1: reply: Field required"),
        ({"question": "?", "reply": "It does [1].", "cited": {"one": "x"}}, "line 1: cited.one"),
    ],
)
def test_a_malformed_reply_is_refused_with_its_line(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        load_replies(write_replies(tmp_path / "replies.jsonl", row))


def test_only_the_questions_that_a_reply_answers_are_asked(tmp_path: Path) -> None:
    path = write_replies(
        tmp_path / "replies.jsonl",
        {"id": "a", "question": "Anything?", "reply": "It does [1].", "cited": {"1": "x"}, "sources": {"1": "y"}},
        {"question": "How HOT is it", "reply": "NOT IN THE PASSAGES"},
    )
    replies = load_replies(path)
    asked = [AnswerQuestion("a", "fact", "Why?"), AnswerQuestion("b", "fact", "How hot is it?"),
             AnswerQuestion("c", "fact", "Who?")]  # fmt: skip
    assert [one.id for one in select_recorded(AnswerSet("set", asked, ()), replies).questions] == ["a", "b"]
    with pytest.raises(InvalidInput, match="None of the 2 replies is to one of the questions"):
        select_recorded(AnswerSet("set", asked[2:], ()), replies)


@pytest.mark.parametrize("side", ["recorded", "extractive"])
def test_a_side_without_its_file_and_a_file_without_its_side_are_refused(side: Any, tmp_path: Path) -> None:
    replies = None if side == "recorded" else tmp_path / "replies.jsonl"
    message = "--side recorded needs a file" if side == "recorded" else "--side extractive takes no file"
    with pytest.raises(InvalidInput, match=message):
        evaluation.answers(
            AnswerSet("set", [], ()), None, None, [load_profile("default")], side, Settings(), lambda *_: None,
            replies=replies,
        )  # fmt: skip


# -- what becomes of them ----------------------------------------------------------------------------------------------


def build_result(*sentences: tuple[str, bool], **more: Any) -> AskResult:
    cited = Citation(n=1, passage_id="p", document="d", revision="r", page=None, heading="", span=(0, 1), score=1.0)
    found = [Sentence(text=text, supported=ok, citations=[cited] if ok else []) for text, ok in sentences]
    fields = {"status": "answered", "answered_by": "model", "thread": "t", "answer": "x", **more}
    return AskResult(question="q", stand_alone_question="q", sentences=found, **fields)


def test_marks_on_right_sentences_are_counted_and_so_are_those_that_are_not_shown() -> None:
    said = ["The kiln cools.", "Close the lid.", "Open the damper."]
    result = build_result(("The kiln cools.", True), ("Close the lid.", False))
    assert count_marks(said, result) == RightMarks(right=3, marked=1, withheld=1)
    joined = build_result(("The kiln cools. Close the lid. Open the damper.", True))
    assert count_marks(said, joined).are_none
    for lost in ({"status": "abstained"}, {"answered_by": "extractive"}):
        assert count_marks(said, build_result(("The kiln cools.", True), **lost)).withheld == 3


@pytest.fixture(scope="module")
def kiln_questions(tmp_path_factory: pytest.TempPathFactory) -> AnswerSet:
    folder = tmp_path_factory.mktemp("kiln")
    (folder / "documents").mkdir()
    (folder / "documents" / "kiln.md").write_text(KILN)
    (folder / "documents" / "glaze.md").write_text(GLAZE)
    quote = "The kiln is heated to 1,240 degrees within nine hours."
    rows = [
        {
            "id": "a", "kind": "number", "question": "How hot does the kiln get?", "reference": "1,240 degrees.",
            "gold": [{"document": "kiln.md", "quote": quote}],
        },
        {
            "id": "b", "kind": "follow_up", "question": "and how long does it cool?", "previous": "How hot is it?",
            "reference": "Two days.", "gold": [{"document": "kiln.md", "quote": "It cools for two days."}],
        },
        {"id": "c", "kind": "unanswerable", "question": "Who built the kiln?", "gold": [], "reference": ""},
        {
            "id": "d", "kind": "fact", "question": "What does the blue glaze need?", "reference": "4 percent cobalt.",
            "gold": [{"document": "glaze.md", "quote": "The blue glaze needs 4 percent cobalt."}],
        },
    ]  # fmt: skip
    write_replies(folder / "questions.jsonl", *rows)
    write_replies(
        folder / "replies.jsonl",
        {"id": "a", "question": "-", "reply": "The kiln is heated to 1,240 degrees [2].", "cited": {"2": KILN}},
        {"id": "b", "question": "-", "reply": "It cools for two days [1].", "cited": {"1": KILN}},
        {"id": "c", "question": "-", "reply": "NOT IN THE PASSAGES"},
        {"id": "d", "question": "-", "reply": "It needs gold [1].", "cited": {"1": "The glaze needs gold leaf."}},
    )
    return build_answer_set(folder / "questions.jsonl", folder / "documents")


def measure_recorded(questions: AnswerSet, side: evaluation.AnswerSide) -> dict[str, Any]:
    replies = Path(questions.questions[0].place.partition(",")[0]).with_name("replies.jsonl")
    profiles = [load_profile("default")]
    report, _ = evaluation.answers(questions, None, None, profiles, side, Settings(), lambda *_: None, replies=replies)
    return report


def test_the_report_says_what_became_of_recorded_answers(kiln_questions: AnswerSet) -> None:
    report = measure_recorded(kiln_questions, "recorded")
    losses = {what: count for what, count in report["losses"]["default"].items() if count}
    assert losses == {"whole and unmarked": 2, "passages not in the prompt": 1}
    each = {one["id"]: one for one in report["each"]}
    assert each["b"]["answer"].startswith("It cools for two days") and each["b"]["answered_by"] == "model"
    assert each["c"]["loss"] is None and each["c"]["outcome"] == "abstained"


def test_lies_are_told_among_recorded_sentences(kiln_questions: AnswerSet) -> None:
    report = measure_recorded(kiln_questions, "recorded-lying")
    told, _ = report["lies"]["default"]["all"]
    assert told == 2 and not report["losses"]


def test_the_server_repeats_replies_over_http(kiln_questions: AnswerSet) -> None:
    with KnownAnswers(RecordedModel([recorded()])) as server:
        served = server.expect(AnswerQuestion("q", "fact", "How is it fired?"), 0)
        body = {"messages": [{"role": "user", "content": write_prompt(KILN, GLAZE)}]}
        assert server.reply(body).startswith("The kiln reaches 1,240 degrees within nine hours [1].")
        assert served.gold_shown
