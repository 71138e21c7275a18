"""Tests of the suite `answers`: what counts as complete, and how an ideal and a lying model are reported."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from argot.errors import InvalidInput, NotFound
from argot.evaluate.answer_measures import answer_outcome, compute_auroc, compute_refusal_rate, compute_sentence_f1
from argot.evaluate.answer_outcomes import build_outcome
from argot.evaluate.answer_questions import (
    AnswerQuestion,
    AnswerSet,
    GoldSnippet,
    build_answer_set,
    load_answer_questions,
)
from argot.evaluate.answer_report import build_answers_report
from argot.evaluate.gold_passages import GoldFinder
from argot.evaluate.known_answers import KnownAnswers
from argot.evaluate.known_models import IdealModel
from argot.evaluate.sample_suite import list_effective_ways
from argot.evaluate.temporary_base import EVALUATOR, TemporaryBase
from argot.evaluate.usecases import evaluation
from argot.evaluate.usecases.evaluation_bases import open_base
from argot.evaluate.usecases.measured_models import JudgeChoice
from argot.profile import Profile
from argot.profile_files import load_profile
from argot.results import AskResult
from argot.service.storage.adopted_models import AdoptedModel, AdoptedModels, find_model_path, keep_adopted
from argot.service.storage.home_folder import is_knowledge_base
from argot.settings import Settings
from argot.tools.text.answer_likeness import rouge_l

MANUAL = """# Drive manual

## Trimming

To trim a drive, open the Media panel and click on Trim. Trimming a drive takes about 40 seconds.

## Holidays

Full-time staff have 27 days of paid time off a year. Up to 8 days may be carried over.
"""
STEPS = ("open the Media panel", "click on Trim")


def asked(kind: str = "fact", **more: Any) -> AnswerQuestion:
    return AnswerQuestion("q", kind, "How long does trimming take?", **more)


@pytest.mark.parametrize(
    ("status", "answer", "expected"),
    [
        ("answered", "Open the media panel, then click on Trim.", "complete"),
        ("answered", "You have to click on Trim.", "partial"),
        ("answered", "Nobody knows.", "wrong"),
        ("abstained", "", "abstained"),
        ("query_miss", "", "abstained"),
        ("needs_choice", "", "asked back"),
    ],
)
def test_an_answer_is_complete_if_it_states_every_step(status: str, answer: str, expected: str) -> None:
    assert answer_outcome(asked(must=STEPS), status, answer) == expected


def test_any_answer_to_an_unanswerable_question_is_wrong() -> None:
    assert answer_outcome(asked("unanswerable"), "answered", "It takes 40 seconds.") == "wrong"
    assert answer_outcome(asked("unanswerable"), "abstained", "") == "abstained"


def test_a_number_is_accepted_in_any_listed_form_and_no_other_number_is() -> None:
    question = asked(must=("27 days|27 d",))
    assert answer_outcome(question, "answered", "It is 27 d.") == "complete"
    assert answer_outcome(question, "answered", "It is 28 days.") == "wrong"


def test_gold_snippets_are_compared_where_no_list_is_given() -> None:
    question = asked(gold=(GoldSnippet("m.md", "Trimming a drive takes about 40 seconds."),))
    assert answer_outcome(question, "answered", "Trimming a drive takes about 40 seconds.") == "complete"
    assert answer_outcome(question, "answered", "The canteen opens at noon.") == "wrong"


def test_the_reference_word_for_word_is_complete_though_it_repeats_no_snippet() -> None:
    question = asked(gold=(GoldSnippet("m.md", "Trimming a drive takes about 40 seconds."),))
    question = replace(question, reference="Less than a minute, usually.")
    assert answer_outcome(question, "answered", "Less than a minute, usually.") == "complete"
    assert answer_outcome(question, "answered", "Less than a minute.") == "wrong"


def test_measures_have_their_extreme_values() -> None:
    gold = asked(gold=(GoldSnippet("m.md", "Trimming a drive takes about 40 seconds."),))
    assert compute_sentence_f1(gold, ["Trimming a drive takes about 40 seconds."]) == 1.0
    assert compute_sentence_f1(gold, ["The canteen opens at noon."]) == 0.0
    assert compute_sentence_f1(asked(), ["Anything."]) is None
    assert rouge_l("one two three", "one two three") == 1.0
    assert rouge_l("one two three", "four") == 0.0
    assert compute_auroc([0.9, 0.8, 0.1], [True, True, False]) == 1.0
    assert compute_auroc([0.5, 0.5], [True, False]) == 0.5
    assert compute_auroc([0.5], [True]) is None
    assert compute_refusal_rate([0.9, 0.8, 0.1, 0.88], [True, True, False, False], answered=0.5) == 0.5


def line_of(**fields: Any) -> str:
    return json.dumps({"id": "q", "kind": "fact", "question": "How long?", "must": ["40"], **fields})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1: not JSON"),
        ("[]", "line 1: holds no JSON object"),
        ('{"id": "q"}', "line 1: needs id, kind, question"),
        ("", "holds no question"),
        (line_of(question=" "), "line 1: question cannot be ' '"),
        (line_of(kind=None), "line 1: kind cannot be None"),
        (line_of(must="27"), "line 1: must cannot be '27'"),
        (line_of(gold=[{"document": "m.md"}]), "line 1: needs id, kind, question, gold .* quote is not there"),
        (line_of(must=[""]), r"line 1: must cannot be \[''\]: an empty text"),
        (line_of(must=["27|"]), "line 1: must cannot be .*27.*: an empty text"),
        (line_of(must=["|"]), "line 1: must cannot be"),
        (line_of(split="half"), "line 1: split cannot be 'half': Input should be 'train', 'validation', 'test'"),
        (line_of(asker_contxt="Legal"), "line 1: there is no field 'asker_contxt'. Did you mean asker_context"),
        (line_of(must=[]), "line 1: nothing says what a whole answer to 'q' holds"),
        (f"{line_of()}\n\n{line_of()}", "line 3: the id 'q' is taken .*line 1"),
        ("\udcff", "byte 1 is not UTF-8"),
    ],
)
def test_a_malformed_file_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(text, errors="surrogateescape")
    with pytest.raises(InvalidInput, match=message):
        load_answer_questions(path)


def test_unknown_fields_of_a_question_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(line_of(id=7, note="mine", asker_context="Legal", split="test"))
    (question,) = load_answer_questions(path)
    assert (question.id, question.asker_context, question.split) == ("7", "Legal", "test")


def test_a_line_may_hold_earlier_messages_near_misses_and_what_its_writer_adds(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    elsewhere = {"document": "m.md", "sentence": "It takes 40 s."}
    own = {"nearest_document": "m.md", "near_document": "n.md", "also_in": ["n.md"], "quoted_answer_of_0.3.1": {}}
    path.write_text(
        line_of(near=["It took 40 days."], also=[elsewhere], previous="What is trimming?", split="train", **own)
        + "\n"
        + line_of(id="r", earlier=["Hello?", "What is trimming?"])
    )
    one, other = load_answer_questions(path)
    assert (one.near, one.also) == (("It took 40 days.",), (GoldSnippet("m.md", "It takes 40 s."),))
    assert (one.earlier, one.split) == (("What is trimming?",), "train")
    assert other.earlier == ("Hello?", "What is trimming?")
    assert load_answer_questions(path, "train") == [one]


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        ({"document": "nope.md", "quote": "x"}, "line 1: .* holds no document 'nope.md'"),
        ({"document": "manual.md", "quote": "The canteen opens at noon."}, "line 1: manual.md does not hold .*noon"),
    ],
)
def test_missing_gold_is_refused_before_any_question_is_asked(
    tmp_path: Path, gold: dict[str, str], message: str
) -> None:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "manual.md").write_text(MANUAL)
    (tmp_path / "questions.jsonl").write_text(line_of(gold=[gold]))
    with pytest.raises(InvalidInput, match=message):
        measured(build_answer_set(tmp_path / "questions.jsonl", tmp_path / "documents"), "extractive")


def test_a_folder_without_documents_is_refused(tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").write_text(line_of())
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInput, match="empty holds no documents"):
        build_answer_set(tmp_path / "questions.jsonl", tmp_path / "empty")


def test_refusals_in_the_summary_agree_with_the_table_by_kind(tmp_path: Path) -> None:
    result = AskResult(question="q", stand_alone_question="q", status="abstained", thread="t", answer="")
    back = result.model_copy(update={"status": "needs_choice"})
    outcomes = [
        build_outcome(asked("unanswerable"), result, frozenset()),
        build_outcome(asked("unanswerable"), back, frozenset()),
        build_outcome(asked("underspecified"), back, frozenset()),
    ]
    report = build_answers_report("set", [], {"default": outcomes})
    rows, found = report.rows["default"], report.abstention["default"]
    assert found["unanswerable refused"] == rows["unanswerable"].outcomes["abstained"] == 0.5
    assert found["underspecified asked back"] == rows["underspecified"].outcomes["asked back"] == 1.0


@pytest.fixture(scope="module")
def drive_questions(tmp_path_factory: pytest.TempPathFactory) -> AnswerSet:
    folder = tmp_path_factory.mktemp("drive")
    (folder / "documents").mkdir()
    (folder / "documents" / "manual.md").write_text(MANUAL)
    rows = [
        {
            "id": "a", "kind": "number", "question": "How many days off do I get?", "must": ["27"],
            "gold": [{"document": "manual.md", "quote": "Full-time staff have 27 days of paid time off a year."}],
            "reference": "Full-time staff get 27 days of paid time off a year.",
        },
        {"id": "b", "kind": "unanswerable", "question": "Who painted the canteen?", "gold": [], "reference": ""},
    ]  # fmt: skip
    (folder / "questions.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    return build_answer_set(folder / "questions.jsonl", folder / "documents")


def measured(questions: AnswerSet, side: evaluation.AnswerSide) -> dict[str, Any]:
    profiles = [load_profile("default")]
    report, _ = evaluation.answers(questions, None, None, profiles, side, Settings(), lambda *_: None)
    return report


def test_an_unknown_asker_context_is_refused_before_any_question_is_asked(
    drive_questions: AnswerSet, tmp_path: Path
) -> None:
    first, *others = drive_questions.questions
    questions = replace(drive_questions, questions=[replace(first, asker_context="Legle"), *others])
    glossary = tmp_path / "glossary.csv"
    glossary.write_text("term,context,expansion\nPTO,Legal,paid time off\n")
    with pytest.raises(InvalidInput, match=r"line 1: asker_context cannot be 'Legle': .* Contexts: Legal\."):
        measured(replace(questions, glossary=glossary), "extractive")


def test_an_ideal_models_answers_reach_the_asker_and_its_refusals_count(
    drive_questions: AnswerSet,
) -> None:
    report = measured(drive_questions, "ideal")
    assert {where: n for where, n in report["losses"]["default"].items() if n} == {"whole and unmarked": 1}
    assert report["abstention"]["default"]["unanswerable refused"] == 1.0
    row = report["rows"]["default"]["answerable"]
    assert 0 < row["bert_f1"] < 1.001 and 0 < row["rouge_l"] <= row["rouge_1"] <= 1
    chunks = report["chunks"]["default"]
    assert list(chunks) == ["all", "number"] and chunks["all"]["cp_ccr"] == 1.0
    assert report["references"]["default"][0]["precision"] == 1.0


def test_a_model_matches_references_beside_argots_own_matching(drive_questions: AnswerSet, scripted_model: Any) -> None:
    segments = [{"first": 1, "last": 9, "passage": 1}]
    scripted_model.reply("match_references", {"segments": segments})
    scripted_model.reply("judge_correct", {"verdict": "TRUE"})
    url = scripted_model.settings().model_server.url
    judges = JudgeChoice(["references", "correct"], url=url)

    def asked() -> tuple[dict[str, Any], str]:
        report, tables = evaluation.answers(
            drive_questions, None, None, [Profile()], "ideal", Settings(), lambda *_: None, judges
        )
        return report, " ".join(table.title for table in tables)

    report, titles = asked()
    found = report["matching"]["default"]
    assert (found["answers"], found["malformed"], found["ours"]["precision"]) == (1, 0, 1.0)
    assert found["model"]["segments"] == 1.0 and found["model"]["sentences_matched"] == 1.0
    assert "References matched by us and by the model" in titles and "Judge correct" in titles
    assert report["judges"][0]["rows"]["default"]["mean"] == {"TRUE": 1.0} and report["right_by"] == "judge correct"
    scripted_model.fault("invalid_json")
    report, titles = asked()
    assert (report["matching"]["default"]["malformed"], report["matching"]["default"]["model"]) == (1, None)
    assert report["judges"][0]["rows"]["default"]["malformed"] == 1


def test_a_lying_models_answers_are_not_shown_as_supported(drive_questions: AnswerSet) -> None:
    lies = measured(drive_questions, "lying")["lies"]["default"]
    assert lies["all"] == (1, 0)


def test_two_profiles_are_compared_question_by_question(drive_questions: AnswerSet) -> None:
    profiles = [load_profile("default"), load_profile("default", ["search_keyword=off"])]
    report, tables = evaluation.answers(
        drive_questions, None, None, profiles, "extractive", Settings(), lambda *_: None
    )
    change = report["compared"]["default search_keyword=off against default"]["complete"]
    assert (change["questions"], change["clusters"]) == (1, 1)
    assert any("against" in table.title for table in tables)
    titles = " ".join(table.title for table in tables)
    assert "Likeness to the reference" in titles and "RAIDD table 3" in titles


def test_a_profile_is_not_compared_with_itself(drive_questions: AnswerSet) -> None:
    with pytest.raises(InvalidInput, match="'default' is named twice"):
        evaluation.answers(
            drive_questions, None, None, [Profile(), Profile()], "extractive", Settings(), lambda *_: None
        )


def test_known_answers_refuse_without_a_gold_passage() -> None:
    with KnownAnswers(IdealModel()) as server:
        served = server.expect(asked(reference="It takes 40 seconds.", gold=(GoldSnippet("m.md", "40 seconds"),)), 0)
        prompt = {"messages": [{"role": "user", "content": '<passage n="1">\nPenguins swim.\n</passage>'}]}
        assert server.reply(prompt) == "NOT IN THE PASSAGES"
        assert served.asked and not served.gold_shown


def test_gold_is_found_in_every_document_that_holds_it_whatever_the_mark_up(tmp_path: Path) -> None:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "manual.md").write_text(MANUAL)
    (tmp_path / "documents" / "card.md").write_text("# Card\n\nTrimming a *drive* takes\nabout 40 seconds. Call us.")
    (tmp_path / "documents" / "other.md").write_text("# Other\n\nPainting a drive takes about 40 seconds.")
    quote = "**Trimming** a drive takes about 40 seconds."
    (tmp_path / "questions.jsonl").write_text(line_of(gold=[{"document": "manual.md", "quote": quote}]))
    asked = build_answer_set(tmp_path / "questions.jsonl", tmp_path / "documents")
    with TemporaryBase(tmp_path / "kb", Settings()) as base:
        base.add(asked.sources, lambda *_: None)
        documents = base.corpus.store.documents(EVALUATOR)
        finder = GoldFinder(base, documents)
        holding = finder.find_passages(asked.questions[0])
        assert holding == finder.find_passages(replace(asked.questions[0], gold=(GoldSnippet("card.md", quote),)))
        named = {one.id: one.name for one in documents}
        held = {named[p.document_id] for d in documents for p in base.corpus.store.passages_of(EVALUATOR, d.id)
                if p.id in holding}  # fmt: skip
    assert held == {"manual.md", "card.md"}


def test_a_quotation_may_have_the_mark_up_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "documents").mkdir()
    lamp = "Lamps\n=====\n\n.. |price| replace:: nine crowns\n\n"
    lamp += "Ask in the `Shop <https://example.com/s>`_ for |price| lamps.\n"
    (tmp_path / "documents" / "lamp.rst").write_text(lamp)
    (tmp_path / "documents" / "oil.html").write_text("<h1>Oil</h1><p>Oil &amp; wicks cost six crowns.</p>")
    quotes = {"lamp.rst": "Ask in the `Shop <https://example.com/s>`_", "oil.html": "Oil &amp; wicks cost"}
    lines = [line_of(id=name, gold=[{"document": name, "quote": quote}]) for name, quote in quotes.items()]
    lines.append(line_of(id="replaced", gold=[{"document": "lamp.rst", "quote": "for |price| lamps"}]))
    (tmp_path / "questions.jsonl").write_text("\n".join(lines))
    asked = build_answer_set(tmp_path / "questions.jsonl", tmp_path / "documents")
    assert [one.gold[0].quote for one in asked.questions[:2]] == ["Ask in the Shop", "Oil & wicks cost"]
    with TemporaryBase(tmp_path / "kb", Settings()) as base:
        base.add(asked.sources, lambda *_: None)
        finder = GoldFinder(base, base.corpus.store.documents(EVALUATOR))
        assert [len(finder.find_passages(one)) for one in asked.questions[:2]] == [1, 1]
        finder.find_passages(asked.questions[2])


# -- kept knowledge bases ----------------------------------------------------------------------------------------------


def test_a_new_base_is_made_kept_and_measured_again_without_change(drive_questions: AnswerSet, tmp_path: Path) -> None:
    home = tmp_path / "new" / "kb"

    def measured_in() -> Any:
        profiles = [load_profile("default", home=home)]
        return evaluation.answers(drive_questions, None, home, profiles, "extractive", Settings(), lambda *_: None)[0]

    first = measured_in()
    before = {path.name: path.read_bytes() for path in home.glob("*.db")}
    assert is_knowledge_base(home) and [path.name for path in home.parent.iterdir()] == ["kb"]
    assert measured_in()["rows"] == first["rows"]
    assert {path.name: path.read_bytes() for path in home.glob("*.db")} == before


def test_a_failed_measurement_leaves_no_partial_base(drive_questions: AnswerSet, tmp_path: Path) -> None:
    home = tmp_path / "kb"
    with pytest.raises(InvalidInput, match=r"absent\.csv"):
        evaluation.answers(
            drive_questions, tmp_path / "absent.csv", home, [Profile()], "extractive", Settings(), lambda *_: None
        )
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_a_base_is_refused_and_left_unchanged(drive_questions: AnswerSet, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InvalidInput, match="not empty"):
        evaluation.answers(drive_questions, None, tmp_path, [Profile()], "extractive", Settings(), lambda *_: None)
    with pytest.raises(NotFound, match="argot init"):
        stored = AnswerSet("q", drive_questions.questions, ())
        evaluation.answers(stored, None, tmp_path / "kb", [Profile()], "extractive", Settings(), lambda *_: None)


def test_only_search_paths_that_affect_the_base_are_measured(tiny_home: Path, tmp_path: Path) -> None:
    with TemporaryBase(tmp_path / "empty", Settings()) as base:
        assert {"derived texts off", "triples off"}.isdisjoint(list_effective_ways(base))
    with TemporaryBase(Path(shutil.copytree(tiny_home, tmp_path / "kb")), Settings()) as base:
        assert "triples off" in list_effective_ways(base)
        assert "derived texts off" not in list_effective_ways(base)


def test_a_base_is_measured_with_its_adopted_models(tiny_home: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    model = AdoptedModel("reranker", "r1", "ours", "r1", "ndcg@10", 0.1, 0.05, 0.15, "ada")
    keep_adopted(home, AdoptedModels({"reranker": (model,)}))
    with open_base(home, Settings()) as base:
        assert base.settings.search.reranker == str(find_model_path(home, model))
    # A named setting takes precedence, and a temporary base has adopted no model.
    with open_base(home, Settings(reranker="lexical")) as base:
        assert base.settings.search.reranker == "lexical"
    with open_base(None, Settings()) as base:
        assert base.settings.search.reranker == "reader"
