"""Tests of the papers' experiments: each runs end to end with a scripted model, on small data in each form."""

import json
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from repository import ROOT

from argot.errors import InvalidInput, ModelUnavailable, NotFound
from argot.evaluate.answer_questions import AnswerQuestion
from argot.evaluate.experiments import experiment_running as experiments
from argot.evaluate.experiments import kept_experiments
from argot.evaluate.experiments.annotated_answers import load_annotated_answers
from argot.evaluate.experiments.api_calls import has_call
from argot.evaluate.experiments.experiment import ALONE_NOTE, Experiment, PaperRow
from argot.evaluate.experiments.experiment_catalogue import EXPERIMENTS, find_experiment
from argot.evaluate.experiments.experiment_data import load_experiment_data
from argot.evaluate.experiments.experiment_running import ExperimentOptions, run_experiment
from argot.evaluate.experiments.experiment_runs import ExperimentFolder, ExperimentRun, RowResult, compute_figures
from argot.evaluate.experiments.loogle import cut_windows, join_chunks
from argot.evaluate.experiments.reference_rows import MatchedAnswer, measure_answer
from argot.evaluate.experiments.run_comparison import build_comparison_tables, compare_runs
from argot.evaluate.experiments.run_page import build_run_page
from argot.evaluate.experiments.run_pooling import pool_runs
from argot.evaluate.experiments.run_tables import build_run_tables
from argot.evaluate.experiments.score_tables import build_score_tables
from argot.evaluate.experiments.solution_scores import MAX_PAIRS, SolutionLoop, SolvedQuestion
from argot.profile import SWITCHES, Profile, change_profile, compare_switches, find_profile, parse_changes
from argot.settings import Settings
from argot.tools.answering.citations import match_as_published, match_references
from argot.tools.retrieval.reranker import LexicalScorer
from argot.types import MatchedSegment, Passage

MANUAL = """# Drive manual

## Trimming

To trim a drive, open the Media panel and click on Trim. Trimming a drive takes about 40 seconds.
"""
OFFICE = """# Office handbook

## Holidays

Full-time staff have 27 days of paid time off a year. Up to 8 days may be carried over.
"""
QUESTIONS = [
    ("q1", "How long does trimming a drive take?", "drive.md", "Trimming a drive takes about 40 seconds."),
    ("q2", "How many days of paid time off are there?", "office.md", "Full-time staff have 27 days of paid time off"),
]
TASKS = ("Timeline reorder", "Computation")


def quiet(step: str, done: int, total: int) -> None:
    assert done <= total


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def answers_form(folder: Path) -> Path:
    write(folder / "documents" / "drive.md", MANUAL)
    write(folder / "documents" / "office.md", OFFICE)
    rows = [
        {"id": id_, "kind": "fact", "question": asked, "gold": [{"document": name, "quote": said}], "reference": said}
        for id_, asked, name, said in QUESTIONS
    ]
    write(folder / "questions.jsonl", lines(*rows))
    return folder


def beir_form(folder: Path) -> Path:
    documents = {"drive": MANUAL, "office": OFFICE}
    write(folder / "corpus.jsonl", lines(*({"_id": id_, "text": text} for id_, text in documents.items())))
    write(folder / "queries.jsonl", lines(*({"_id": id_, "text": asked} for id_, asked, _, _ in QUESTIONS)))
    judged = [f"{id_}\t{name.removesuffix('.md')}\t1\n" for id_, _, name, _ in QUESTIONS]
    write(folder / "qrels" / "test.tsv", "query-id\tcorpus-id\tscore\n" + "".join(judged))
    return folder


def quiz_form(folder: Path) -> Path:
    write(folder / "documents" / "drive.md", MANUAL)
    first = {"question": "How long does trimming take?", "options": ["40 seconds", "2 days"], "answer": "40 seconds"}
    second = {"question": "What is clicked on?", "options": ["Trim", "Erase"], "answer": "Trim"}
    write(folder / "quiz.jsonl", lines({**first, "context": "Drives"}, {**second, "context": "Panels"}))
    return folder


def raidd_form(folder: Path) -> Path:
    chunks = {
        "Drives": [{"text": MANUAL.rsplit("\n\n", 1)[-1].strip()}, {"text": "A drive that is full should be trimmed."}],
        "Office": [{"text": OFFICE.rsplit("\n\n", 1)[-1].strip()}],
    }
    write(folder / "docs_chunks256.json", json.dumps(chunks))
    rows = [
        {"doc": doc, "question": asked, "answer": said, "task": task, "evidence": [said]}
        for (_, asked, _, said), doc, task in zip(QUESTIONS, chunks, TASKS, strict=True)
    ]
    write(folder / "questions.json", json.dumps(rows))
    return folder


def references_form(path: Path) -> Path:
    sentences = [
        {"text": "Trimming a drive takes about 40 seconds.", "passages": [1]},
        {"text": "Full-time staff have 27 days of paid time off a year.", "passages": [2]},
    ]
    asked = "How long does trimming take, and how many days off are there?"
    write(path, lines({"id": "a1", "question": asked, "passages": [MANUAL, OFFICE], "sentences": sentences}))
    return path


def benchmarks_form(folder: Path) -> Path:
    abstract = {"QUESTION": "Does trimming help?", "CONTEXTS": ["Trimming helps drives."], "final_decision": "yes"}
    write(folder / "pubmedqa" / "ori_pqal.json", json.dumps({"1": abstract}))
    call = "torch.hub.load(repo_or_dir='acme/sound', model='ear', pretrained=True)"
    about = {"domain": "Audio", "functionality": "Hears sounds", "api_name": "ear", "api_call": call}
    write(folder / "apibench" / "api" / "torchhub_api.jsonl", lines(about))
    asked = {"code": "###Instruction: Which API hears sounds?\n###Output: x", "api_call": call}
    write(folder / "apibench" / "apibench" / "torchhub_eval.json", lines(asked))
    hotpot = {"_id": "h1", "question": "Where is the drive?", "answer": "Bremen", "context": [["Drive", ["It is in Bremen."]]]}  # fmt: skip  # noqa: E501
    write(folder / "hotpotqa" / "hotpot_dev_distractor_v1.json", json.dumps([hotpot]))
    return folder


FORMS = {
    "answers": answers_form, "beir": beir_form, "quiz": quiz_form, "raidd": raidd_form, "references": references_form,
    "benchmarks": benchmarks_form,
}  # fmt: skip


def data_for(experiment: Experiment, folder: Path) -> Path | None:
    return FORMS[experiment.form](folder / "data") if experiment.form in FORMS else None


def answers_well(model: Any) -> None:
    """Script a model that answers from the first passage, rates everything good, and derives a text of each kind."""
    model.reply("cited_answer", "Trimming a drive takes about 40 seconds [1].")
    model.reply("closed_book", {"answer": "I guess 40 seconds."})
    model.reply("judge_correct", {"verdict": "TRUE"})
    model.reply("judge_raidd_accuracy", lambda request: {"verdict": "TRUE" if "trimming" in request.user else "FALSE"})
    model.reply("judge_geval", {"reasoning": "the same", "score": 4})
    scores = {"accuracy": 4, "helpfulness": 3, "informativeness": 2}
    model.reply("judge_aspects", {"a": scores, "b": scores})
    model.reply("solution_score", {"answer": "About 40 seconds.", "score": 60})
    model.reply("summary_after", {"summary": "Trimming a drive takes about 40 seconds, in the Media panel."})
    model.reply("questions", {"questions": ["How long does trimming a drive take?"]})
    model.reply("triples", {"triples": [{"source": "drive", "action": "takes", "target": "40 seconds"}]})
    model.reply("quiz_option", {"option": "A"})
    model.reply("quiz_closed_book", {"option": "A"})
    model.reply("match_references", {"segments": [{"first": 1, "last": 1, "passage": 1}]})


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_runs_with_a_scripted_model(name: str, scripted_model: Any, tmp_path: Path) -> None:
    experiment = EXPERIMENTS[name]
    answers_well(scripted_model)
    # Two of the table's chunk sizes are enough: the other rows differ in size only.
    rows = [row.label for row in experiment.rows if name != "raidd-1" or row.variant in ("64/10", "256/50")]
    options = ExperimentOptions(data_for(experiment, tmp_path), rows, limit=1 if name == "golden-retriever-2" else None, trials=1)  # fmt: skip  # noqa: E501
    settings = scripted_model.settings(home=tmp_path / "kb")
    report, tables, place = run_experiment(name, options, tmp_path, settings, quiet)
    run = ExperimentRun.model_validate(report)
    assert [row.label for row in run.rows] == rows
    by_label = {row.label: row for row in experiment.rows}
    for result in run.rows:
        row = by_label[result.label]
        assert (result.state == "not run") == bool(row.never or row.tuned), result
        assert result.figures or result.state == "not run", result
    # Besides the table's own columns there are only the domains of a quiz.
    known = {column.key for column in experiment.columns}
    assert experiment.form == "quiz" or all(known.issuperset(result.figures) for result in run.rows)
    # The paper's figures stand beside Argot's, in the terminal and on the page.
    told = str([table.rows for table in tables])
    page = (place / "report.html").read_text("utf-8")
    for row in (by_label[label] for label in rows):
        for column in experiment.columns:
            if column.key in row.paper:
                value = row.paper[column.key]
                shown = f"{round(100 * value, 2):g} %" if column.percent else f"{value:g}"
                assert f"· {shown}" in told
                assert f'<span class="paper">{shown}</span>' in page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    assert json.loads((place / "run.json").read_text("utf-8"))["id"] == run.id
    assert (place / "bases").exists() == (not run.finished and experiment.form not in ("none", "references"))


def test_rows_that_need_a_model_say_so_without_one(tmp_path: Path) -> None:
    options = ExperimentOptions(answers_form(tmp_path / "data"))
    report, _, _ = run_experiment("kapqa-3", options, tmp_path, Settings(), quiet)
    run = ExperimentRun.model_validate(report)
    states = {row.label: row.state for row in run.rows}
    assert states["BM25"] == states["DPR"] == "measured"
    triples = run.find_row("augmentation with domain-specific triples")
    assert triples is not None
    assert triples.reason == "not run: needs a language model: --model-url URL"
    measured = run.find_row("BM25")
    assert measured is not None
    assert measured.figures["hit@3"].mean == 1.0
    assert "geval" not in measured.figures


def test_an_experiment_without_a_row_that_can_run_is_an_error(tmp_path: Path) -> None:
    options = ExperimentOptions(answers_form(tmp_path / "data"), ["oracle: triples of the gold documents"])
    with pytest.raises(InvalidInput, match=r"No row of kapqa-3 can run: needs a language model"):
        run_experiment("kapqa-3", options, tmp_path, Settings(), quiet)
    with pytest.raises(InvalidInput, match=r"has no row 'DRP'. Rows: 'BM25', 'DPR'"):
        run_experiment("kapqa-3", ExperimentOptions(rows=["DRP"]), tmp_path, Settings(), quiet)
    with pytest.raises(InvalidInput, match=r"no experiment 'table-1'. Experiments: golden-retriever-1"):
        run_experiment("table-1", ExperimentOptions(), tmp_path, Settings(), quiet)
    with pytest.raises(InvalidInput, match="is no folder of a model"):
        # A folder above that of the model would be found out only after the other rows.
        options = ExperimentOptions(beir_form(tmp_path / "beir"), embedder=str(tmp_path))
        run_experiment("trustworthy-2", options, tmp_path, Settings(), quiet)
    # The report would name a model that answered nothing.
    with pytest.raises(InvalidInput, match=r"No row of kapqa-3 takes --plain-reranker\. Leave it out\."):
        run_experiment("kapqa-3", ExperimentOptions(plain_reranker="tuned"), tmp_path, Settings(), quiet)


def test_a_tuned_generator_gives_the_answers_from_memory_and_from_passages(scripted_model: Any, tmp_path: Path) -> None:
    answers_well(scripted_model)
    scripted_model.models = [*scripted_model.models, "tuned-one"]
    options = ExperimentOptions(answers_form(tmp_path / "data"), generator="tuned-one")
    settings = scripted_model.settings(model=scripted_model.models[0])
    report, _, _ = run_experiment("trustworthy-5", options, tmp_path, settings, quiet)
    assert [row["state"] for row in report["rows"]] == ["measured", "measured"]
    assert report["models"]["tuned generator"] == "tuned-one"
    for prompt in ("closed_book", "cited_answer"):
        assert {one.body["model"] for one in scripted_model.asked(prompt)} == {"tuned-one"}
    assert {one.body["model"] for one in scripted_model.asked("judge_aspects")} == {report["models"]["judge"]}


def test_a_trained_reranker_is_used_for_the_rows_that_need_one(tmp_path: Path) -> None:
    from shared_models import copy_exported_embedder
    from tiny_reader import tiny_cross_encoder

    label = "re-ranker with TS+TCL, k=10"
    tuned = str(tiny_cross_encoder(tmp_path / "tuned"))
    options = ExperimentOptions(beir_form(tmp_path / "data"), [label], reranker=tuned)
    settings = Settings(cache=copy_exported_embedder(tmp_path / "cache"))
    report, _, _ = run_experiment("trustworthy-3", options, tmp_path, settings, quiet)
    assert report["rows"][0]["state"] == "measured"
    assert report["rows"][0]["figures"]["hit@5"]["mean"] == 1.0
    assert report["models"]["tuned reranker"] == "tuned"


def test_a_tuned_reranker_is_ordered_by_its_score_alone() -> None:
    for row in find_experiment("trustworthy-3").rows:
        profile = find_experiment("trustworthy-3").build_profile(row)
        assert (profile.rerank_weight == 1.0) == bool(row.tuned), row.label


def test_an_interrupted_run_is_continued(scripted_model: Any, tmp_path: Path) -> None:
    answers_well(scripted_model)
    options = ExperimentOptions(answers_form(tmp_path / "data"), ["BM25", "via general purpose LLM"])
    settings = scripted_model.settings(model_seconds=5)

    measured = experiments._Running.measure
    first = {"done": False}

    def stopped(self: Any, run: ExperimentRun, row: Any) -> None:
        if first["done"]:
            raise KeyboardInterrupt
        first["done"] = True
        measured(self, run, row)

    experiments._Running.measure = stopped  # type: ignore[method-assign]
    try:
        with pytest.raises(KeyboardInterrupt):
            run_experiment("kapqa-3", options, tmp_path, settings, quiet)
    finally:
        experiments._Running.measure = measured  # type: ignore[method-assign]
    (id_,) = ExperimentFolder(tmp_path).list_ids()
    before = ExperimentFolder(tmp_path).load(id_)
    assert [row.label for row in before.rows] == ["BM25"]
    asked = len(scripted_model.asked("cited_answer"))
    resumed = ExperimentOptions(options.data, options.rows, resume=True)
    report, _, _ = run_experiment("kapqa-3", resumed, tmp_path, settings, quiet)
    assert report["id"] == id_
    assert report["rows"][0] == before.rows[0].model_dump()
    assert [row["label"] for row in report["rows"]] == ["BM25", "via general purpose LLM"]
    assert len(scripted_model.asked("cited_answer")) == asked + len(QUESTIONS)


def test_a_run_is_resumed_only_with_the_same_documents_and_trials(tmp_path: Path) -> None:
    def run(**changed: Any) -> str:
        options = ExperimentOptions(tmp_path / "data", ["BM25"], resume=True, **changed)
        return str(run_experiment("kapqa-3", options, tmp_path, Settings(), quiet)[0]["id"])

    folder = answers_form(tmp_path / "data")
    first = run()
    assert run() == first != run(trials=2)
    write(folder / "documents" / "office.md", OFFICE.replace("8 days", "9 days"))
    assert run() == ExperimentFolder(tmp_path).list_ids()[2]


def test_missing_verdicts_of_the_judge_are_reported(scripted_model: Any, tmp_path: Path) -> None:
    answers_well(scripted_model)
    scripted_model.fault("invalid_json", prompt="judge_geval")
    options = ExperimentOptions(answers_form(tmp_path / "data"), ["DPR"])
    report, _, place = run_experiment("kapqa-3", options, tmp_path, scripted_model.settings(), quiet)
    (row,) = report["rows"]
    assert "geval" not in row["figures"]
    assert row["unjudged"] == len(QUESTIONS)
    assert row["reason"] == "2 verdicts of the judge were none, or did not come: they count for nothing."
    assert row["reason"] in (place / "report.html").read_text("utf-8")


def test_a_quote_shown_after_a_failure_is_not_taken_for_the_models_answer(scripted_model: Any, tmp_path: Path) -> None:
    answers_well(scripted_model)
    scripted_model.fault("status", prompt="cited_answer", code=500)
    options = ExperimentOptions(answers_form(tmp_path / "data"), ["DPR"])
    report, _, _ = run_experiment("kapqa-3", options, tmp_path, scripted_model.settings(), quiet)
    (row,) = report["rows"]
    assert row["failed"] == len(QUESTIONS)
    said = "2 questions got no reply from the model and are left out: --resume asks again. The last reason: The"
    assert row["reason"].startswith(said)
    assert row["figures"] == {} == row["each"]


def test_a_row_with_questions_without_a_reply_is_measured_again(scripted_model: Any, tmp_path: Path) -> None:
    answers_well(scripted_model)
    # Each call is tried twice: this many faults keep both questions of the first row without a reply.
    scripted_model.fault("status", prompt="cited_answer", code=500, times=2 * len(QUESTIONS))
    options = ExperimentOptions(answers_form(tmp_path / "data"), resume=True)
    settings = scripted_model.settings()

    def run() -> ExperimentRun:
        return ExperimentRun.model_validate(run_experiment("kapqa-3", options, tmp_path, settings, quiet)[0])

    first = run()
    assert len(first.rows) == len(find_experiment("kapqa-3").rows) and not first.finished
    (failed,) = [row for row in first.rows if row.failed]
    assert (failed.label, failed.failed, failed.figures) == ("BM25", 2, {})
    second = run()
    assert second.id == first.id and second.finished
    assert {row.failed for row in second.rows} == {0}
    again = second.find_row(failed.label)
    assert again is not None and again.figures["hit@3"].questions == 2
    # The others are left as they were.
    assert [row for row in second.rows if row != again] == [row for row in first.rows if row != failed]


def test_a_trial_without_a_reply_is_left_out_of_a_quiz(scripted_model: Any, tmp_path: Path) -> None:
    def choose_rightly(request: Any) -> dict[str, str]:
        return {"option": next(letter for letter in "AB" if re.search(rf"\b{letter}\W+(40|Trim)", request.user))}

    scripted_model.reply("quiz_closed_book", choose_rightly)
    # Each call is tried twice, so the two questions of the first trial get no reply.
    scripted_model.fault("status", prompt="quiz_closed_book", code=500, times=4)
    folder = quiz_form(tmp_path / "data")
    for trials, shares in ((1, [None, None]), (2, [1.0, 1.0])):
        options = ExperimentOptions(folder, ["Vanilla LLM"], trials=trials)
        report, _, _ = run_experiment("golden-retriever-1", options, tmp_path, scripted_model.settings(), quiet)
        (row,) = report["rows"]
        assert [one["total"] for one in row["each"].values()] == shares
        assert row["failed"] == 2
        scripted_model.fault("status", prompt="quiz_closed_book", code=500, times=4)


def test_quiz_questions_with_the_same_words_are_scored_separately(scripted_model: Any, tmp_path: Path) -> None:
    folder = quiz_form(tmp_path / "data")
    rows = [
        {"question": "Which is true?", "options": options, "answer": options[0], "context": "Drives"}
        for options in (["It is trimmed", "It is 5"], ["It is full", "It is 7"])
    ]
    write(folder / "quiz.jsonl", lines(*rows))

    def right_once(request: Any) -> dict[str, str]:
        wanted = "It is trimmed" if "It is 5" in request.user else "It is 7"
        return {"option": next(letter for letter in "AB" if re.search(rf"\b{letter}\W+{wanted}", request.user))}

    scripted_model.reply("quiz_closed_book", right_once)
    options = ExperimentOptions(folder, ["Vanilla LLM"], trials=1)
    report, _, _ = run_experiment("golden-retriever-1", options, tmp_path, scripted_model.settings(), quiet)
    assert [one["total"] for one in report["rows"][0]["each"].values()] == [1.0, 0.0]


def test_an_unreachable_server_is_reported_before_anything_is_read(tmp_path: Path, scripted_model: Any) -> None:
    scripted_model.fault("refuse")
    with pytest.raises(ModelUnavailable):
        options = ExperimentOptions(answers_form(tmp_path / "data"))
        run_experiment("kapqa-3", options, tmp_path, scripted_model.settings(), quiet)
    assert ExperimentFolder(tmp_path).list_ids() == []


def test_runs_are_shown_and_compared(tmp_path: Path) -> None:
    options = ExperimentOptions(beir_form(tmp_path / "data"), ["BGE-Vanilla, Ver.1 (header)"])
    ids = [run_experiment("trustworthy-2", options, tmp_path, Settings(), quiet)[0]["id"] for _ in range(2)]
    assert len(set(ids)) == 2
    listed, tables = kept_experiments.show_experiment(None, tmp_path)
    assert [run["id"] for run in listed["runs"]] == ids
    assert "unfinished" in tables[0].rows[0][-1]
    compared, tables = kept_experiments.compare_experiments(ids, (), tmp_path)
    assert {one["change"]["difference"] for one in compared["figures"]} == {0.0}
    assert tables[0].rows[0][-2] == "no" and len(tables) == 1  # nothing changed
    assert {(one["won"], one["lost"]) for one in compared["figures"]} == {(0, 0)}
    pooled, tables = kept_experiments.pool_experiments(ids, tmp_path)
    assert {one["deviation"] for one in pooled["figures"]} == {0.0} and "2 runs" in tables[0].title
    with pytest.raises(NotFound, match=f"The newest: {ids[0]}"):
        kept_experiments.show_experiment("../../etc", tmp_path)
    (tmp_path / "experiments" / ids[0] / "run.json").write_text("{}")
    with pytest.raises(InvalidInput, match="is no run of an experiment"):
        kept_experiments.show_experiment(ids[0], tmp_path)
    # A damaged run does not hide the others.
    listed, tables = kept_experiments.show_experiment(None, tmp_path)
    assert [run["id"] for run in listed["runs"]] == ids[1:]
    assert "is no run of an experiment" in tables[0].rows[-1][-1]


def test_runs_on_different_questions_are_not_compared() -> None:
    row = RowResult(label="BM25", state="measured", each={"q": {"hit@3": 1.0}, "r": {"hit@3": 0.0}})
    # With a limit, two different sets may both begin with a question "q".
    asked = {"q": "1", "r": "1"}
    first = ExperimentRun(id="a", experiment="kapqa-3", started="", fingerprint="1", limit=2, asked=asked, rows=[row])
    second = first.model_copy(update={"id": "b", "fingerprint": "2", "asked": {"q": "2", "r": "2"}})
    with pytest.raises(InvalidInput, match="no row that both measured on the same questions"):
        compare_runs(find_experiment("kapqa-3"), first, second)
    shared = compare_runs(find_experiment("kapqa-3"), first, second.model_copy(update={"asked": {**asked, "q": "2"}}))
    assert [one.change.questions for one in shared.figures] == [1]
    with pytest.raises(InvalidInput, match=r"c one of kapqa-4\. Give runs of one experiment"):
        other = first.model_copy(update={"id": "c", "experiment": "kapqa-4"})
        compare_runs(find_experiment("kapqa-3"), first, other)


def make_run(id_: str, values: dict[str, float], **more: Any) -> ExperimentRun:
    each = {key: {"hit@3": value} for key, value in values.items()}
    row = RowResult(label="BM25", state="measured", each=each, figures=compute_figures(each, {}))
    asked, texts = {key: key for key in values}, {key: f"What is {key}?" for key in values}
    given = {"experiment": "kapqa-3", "started": "", "fingerprint": "1", "asked": asked, "texts": texts, **more}
    return ExperimentRun(id=id_, rows=[row], **given)


def test_drawn_questions_are_compared_by_their_words() -> None:
    # golden-retriever-2 draws its questions, so that its runs list none.
    first, second = (make_run(id_, {"p": value}, asked={}) for id_, value in (("a", 0.0), ("b", 1.0)))
    (figure,) = compare_runs(find_experiment("kapqa-3"), first, second).figures
    assert figure.won == 1


def test_questions_won_and_lost_are_counted_and_named() -> None:
    first = make_run("a", {"p": 0.0, "q": 0.5, "r": 1.0, "s": 1.0})
    second = make_run("b", {"p": 1.0, "q": 1.0, "r": 1.0, "s": 0.0})
    found = compare_runs(find_experiment("kapqa-3"), first, second)
    (figure,) = found.figures
    assert (figure.won, figure.tied, figure.lost) == (2, 1, 1)
    assert [(one.id, one.question) for one in figure.gains] == [("p", "What is p?"), ("q", "What is q?")]
    assert [one.id for one in figure.losses] == ["s"]
    _, changed = build_comparison_tables(find_experiment("kapqa-3"), found)
    assert [row[2:5] for row in changed.rows] == [
        ["won", "p", "What is p?"], ["won", "q", "What is q?"], ["lost", "s", "What is s?"],
    ]  # fmt: skip


def test_two_rows_of_one_run_are_compared(tmp_path: Path) -> None:
    run = make_run("kapqa-3-1", {"p": 0.0, "q": 1.0, "r": 1.0})
    each: Any = {"p": {"hit@3": 1.0}, "q": {"hit@3": 1.0}}
    run.rows += [RowResult(label="DPR", state="measured", each=each), RowResult(label="via general purpose LLM", state="not run")]  # fmt: skip  # noqa: E501
    ExperimentFolder(tmp_path).save(run, "")
    found, tables = kept_experiments.compare_experiments([run.id], ["bm25", "DPR"], tmp_path)
    (figure,) = found["figures"]
    assert (figure["row"], figure["won"], figure["tied"], figure["lost"]) == ("DPR", 1, 1, 0)
    assert [one["id"] for one in figure["gains"]] == ["p"]
    assert tables[0].title == "DPR against BM25"
    with pytest.raises(InvalidInput, match=r"measured no row 'via general purpose LLM'\. Measured rows: 'BM25', 'DPR'"):
        kept_experiments.compare_experiments([run.id], ["BM25", "via general purpose LLM"], tmp_path)
    for ids, rows in (([run.id], []), ([run.id], ["BM25"]), ([run.id, run.id], ["BM25", "DPR"])):
        with pytest.raises(InvalidInput, match="Give two runs, or one run and two of its rows"):
            kept_experiments.compare_experiments(ids, rows, tmp_path)


def test_runs_of_several_seeds_are_pooled() -> None:
    runs = [make_run(id_, {"p": value, "q": value}) for id_, value in (("a", 0.2), ("b", 0.4), ("c", 0.9))]
    (figure,) = pool_runs(runs).figures
    assert figure.mean == pytest.approx(0.5) and figure.deviation == pytest.approx(0.36056, abs=1e-5)
    assert figure.runs == ["a", "b", "c"]
    with pytest.raises(InvalidInput, match="at least two different runs"):
        pool_runs(runs[:1])
    with pytest.raises(InvalidInput, match="a and d asked different questions"):
        pool_runs([runs[0], make_run("d", {"p": 1.0}, fingerprint="2")])
    with pytest.raises(InvalidInput, match="a is a run of kapqa-3, d one of kapqa-4"):
        pool_runs([runs[0], make_run("d", {"p": 1.0}, experiment="kapqa-4")])
    unmeasured = [run.model_copy(update={"rows": []}) for run in runs]
    with pytest.raises(InvalidInput, match="No row was measured by two of the runs a, b, c"):
        pool_runs(unmeasured)


def test_the_list_of_experiments_says_what_can_run_here(tmp_path: Path) -> None:
    report, tables = kept_experiments.list_experiments(Settings(datasets=tmp_path / "none"))
    by_name = {one["name"]: one for one in report["experiments"]}
    assert by_name["golden-retriever-2"]["runs_here"] == 1
    assert by_name["kapqa-3"]["runs_here"] == 0
    assert by_name["kapqa-3"]["why_not"] == ["ARGOT_DATASETS holds no emanuals; or give --data"]
    assert "not public" in by_name["trustworthy-7"]["why_not"][0]
    assert len(tables[0].rows) == len(EXPERIMENTS)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_figure_of_a_paper_has_a_column_in_its_table(name: str) -> None:
    experiment = EXPERIMENTS[name]
    assert len({row.label for row in experiment.rows}) == len(experiment.rows)
    if experiment.paper == "AccurateRAG":
        # AccurateRAG has no re-ranker; the row for Argot as it is has one.
        reranked = {row.label for row in experiment.rows if experiment.build_profile(row).rerank and not row.never}
        assert reranked <= {"Argot as it is", "Argot with the model given"}
    for row in experiment.rows:
        assert row.paper.keys() <= {column.key for column in experiment.columns}
        assert experiment.build_profile(row).misses == "lenient"


def test_texts_of_a_data_set_are_escaped_on_the_page() -> None:
    evil = "<script>alert(1)</script>"
    row = RowResult(label="BM25", state="measured", reason=evil, figures=compute_figures({"q": {evil: 1.0}}, {}))
    run = ExperimentRun(id="x", experiment="kapqa-3", started="now", data=evil, models={evil: evil}, rows=[row])
    page = build_run_page(find_experiment("kapqa-3"), run)
    assert evil not in page
    assert "&lt;script&gt;" in page
    assert build_run_tables(find_experiment("kapqa-3"), run)


def test_scores_are_counted_and_wins_are_paired_by_question() -> None:
    experiment = find_experiment("trustworthy-5")
    closed = {"q1": {"accuracy": 2.0}, "q2": {"accuracy": 4.0}, "q3": {"accuracy": 5.0}, "q4": {"accuracy": None}}
    found = {"q1": {"accuracy": 5.0}, "q2": {"accuracy": 4.0}, "q3": {"accuracy": 1.0}, "q5": {"accuracy": 5.0}}
    rows = [
        RowResult(label=label, state="measured", each=each) for label, each in (("non-RAG", closed), ("RAG", found))
    ]
    run = ExperimentRun(id="x", experiment="trustworthy-5", started="now", rows=rows)
    counts, wins = build_score_tables(experiment, run)
    assert counts.rows[:2] == [
        ["Correctness (1 to 5)", "non-RAG", "0", "1", "0", "1", "1"],
        ["Correctness (1 to 5)", "RAG", "1", "0", "0", "1", "2"],
    ]
    assert wins.rows[0] == ["Correctness (1 to 5)", "1 (33 %)", "1 (33 %)", "1 (33 %)"]
    assert wins.title in build_run_page(experiment, run)
    assert build_score_tables(find_experiment("kapqa-3"), run) == []


# -- formats of data --------------------------------------------------------------------------------------------------


def test_the_error_for_incomplete_data_says_what_is_missing(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for name, said in {
        "kapqa-3": "it needs questions.jsonl and a folder documents/",
        "trustworthy-2": "corpus.jsonl is missing",
        "golden-retriever-1": r"empty lacks quiz.jsonl and documents\. evaluate/.* has the form 'quiz'",
        "raidd-2": "empty lacks docs_chunks256.json and questions.json",
        "trustworthy-7": "empty is a folder; give the file of annotated answers",
        "accurate-rag-2": "holds none of the sets. Looked for: hotpotqa/",
    }.items():
        with pytest.raises(InvalidInput, match=said):
            load_experiment_data(find_experiment(name), empty, tmp_path)
    with pytest.raises(InvalidInput, match=r"is not there. Set ARGOT_DATASETS to the folder that holds emanuals"):
        load_experiment_data(find_experiment("kapqa-3"), None, tmp_path)
    with pytest.raises(InvalidInput, match=r"gone is not there. Give data of your own with --data: evaluate/"):
        load_experiment_data(find_experiment("kapqa-3"), tmp_path / "gone", tmp_path)
    with pytest.raises(InvalidInput, match="draws its questions and takes no data"):
        load_experiment_data(find_experiment("golden-retriever-2"), empty, tmp_path)
    with pytest.raises(InvalidInput, match="has no public data: give your own with --data"):
        load_experiment_data(find_experiment("trustworthy-7"), None, tmp_path)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"doc": "Drives", "question": "?"}, "entry 1: needs the texts doc, question and answer"),
        ({"doc": "Gone", "question": "?", "answer": "!"}, "no document 'Gone'"),
        ({"doc": "Drives", "question": "?", "answer": "!", "evidence": "one"}, '"evidence" a list of texts'),
    ],
)
def test_the_error_for_a_malformed_loogle_question_names_it(row: dict[str, Any], said: str, tmp_path: Path) -> None:
    folder = raidd_form(tmp_path)
    write(folder / "questions.json", json.dumps([row]))
    with pytest.raises(InvalidInput, match=said):
        load_experiment_data(find_experiment("raidd-2"), folder, tmp_path)


def test_loogle_data_without_tasks_or_evidence_gets_a_note(tmp_path: Path) -> None:
    folder = raidd_form(tmp_path)
    write(folder / "questions.json", json.dumps([{"doc": "Drives", "question": "?", "answer": "!"}]))
    data = load_experiment_data(find_experiment("raidd-3"), folder, tmp_path)
    assert ["task" in data.notes[0], "evidence" in data.notes[1]] == [True, True]


def test_notes_of_the_public_set_are_left_out_of_a_run_on_other_data(tmp_path: Path) -> None:
    raidd_form(tmp_path / "raidd_loogle")
    own = raidd_form(tmp_path / "own")
    experiment = find_experiment("raidd-3")
    (public,) = experiment.public_notes
    assert public in load_experiment_data(experiment, None, tmp_path).notes
    assert public not in load_experiment_data(experiment, own, tmp_path).notes
    for one in EXPERIMENTS.values():
        told = " ".join(one.notes)
        assert "instead, which" not in told
        assert "--data" not in told or not one.public, one.name


@pytest.mark.parametrize(("part", "by_words"), [("hotpotqa", False), ("pubmedqa", False), ("huggingface", True)])
def test_each_set_of_accurate_rag_is_searched_as_the_paper_chose(part: str, by_words: bool) -> None:
    experiment = find_experiment("accurate-rag-2")
    tuned = [row for row in experiment.rows if row.tuned]
    assert len(tuned) == 2
    for row in tuned:
        profile = experiment.build_profile(row, part)
        assert (profile.search_keyword, profile.search_semantic) == (by_words, True)
        assert profile.rank_fusion and profile.weight_semantic == profile.weight_keyword
    own = experiment.rows[-1]
    assert experiment.build_profile(own, part).search_keyword


SAID: dict[str, tuple[Callable[[Experiment, PaperRow, Profile], bool], str]] = {
    "scores of a tuned re-ranker alone": (lambda e, row, p: row.way == "rerank" and bool(row.tuned), "rerank_weight=1"),
    "derived texts": (lambda e, row, p: row.way == "ask" and e.form == "raidd", "heading"),
    "self-score": (lambda e, row, p: row.way == "s-icl", "scores its own answers"),
    "the re-ranker scores": (lambda e, row, p: row.variant.startswith("paper"), "scored by the re-ranker in use"),
    "reworded templates": (lambda e, row, p: row.way == "abbreviations", "in other words"),
    "passages of documents": (lambda e, row, p: e.paper == "KaPQA", "any of its passages"),
    "the control layer": (lambda e, row, p: e.name == "trustworthy-3", "whole pair"),
    "no neighbours": (lambda e, row, p: e.name == "accurate-rag-1", "no cut of their neighbours"),
    "augmented search": (lambda e, row, p: p.search_augmented, "searched by the augmented question"),
}
"""What a row does -> words of its experiment's notes that say so."""


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_notes_of_an_experiment_say_what_its_profiles_do(name: str) -> None:
    experiment = EXPERIMENTS[name]
    told = " ".join(experiment.notes)
    for row in experiment.rows:
        profile = experiment.build_profile(row)
        for applies, words in SAID.values():
            assert words in told or not applies(experiment, row, profile), (row.label, words)
        if row.derive and experiment.paper == "RAIDD":
            # 2.2: one index, in which each chunk counts once.
            assert profile.one_index and not profile.search_keyword
        if "best three passages" in told and row.way == "ask":
            assert profile.passages_for_model == 3, row.label
        if row.tuned and row.way == "rerank":
            assert profile.rerank_weight == 1.0


def test_the_gain_of_golden_retriever_is_that_of_its_jargon_alone() -> None:
    experiment = find_experiment("golden-retriever-1")
    row = experiment.find_row("Golden-Retriever")
    assert row is not None
    changed = set(compare_switches(experiment.build_profile(row), find_profile("plain_rag")))
    jargon = {"identify_jargon", "identify_context", "look_up_jargon", "augment_question", "search_augmented"}
    # The rest changes no search: nothing is asked back, answered or refused in a quiz.
    assert changed - jargon == {"small_talk", "find_verified", "search_again", "misses", "abstain_below"}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_row_of_argot_itself_says_what_it_leaves_out(name: str) -> None:
    own = {"Argot as it is", "Argot with the model given"} & {row.label for row in EXPERIMENTS[name].rows}
    assert ALONE_NOTE in EXPERIMENTS[name].notes or not own


def test_the_page_on_the_papers_names_every_experiment_that_it_may() -> None:
    page = (ROOT / "docs" / "papers.md").read_text("utf-8")
    named = set(re.findall(r"`((?:golden-retriever|kapqa|raidd|trustworthy)-[a-z0-9-]+)`", page))
    assert named and named <= set(EXPERIMENTS)
    for experiment in EXPERIMENTS.values():
        assert f"## {experiment.paper}" in page, experiment.paper


def test_the_page_on_the_papers_names_switches_and_values_that_exist() -> None:
    from argot.learn.usecases.training_recipes import parse_recipe

    page = (ROOT / "docs" / "papers.md").read_text("utf-8")
    spans = [span for span in re.findall(r"`([^`]+)`", page) if not span.startswith("ARGOT_")]
    groups = [dict(found) for span in spans if (found := re.findall(r"\b([a-z_]+)=([\w.-]*\w)", span))]
    assert len(groups) >= 15

    def is_accepted(given: dict[str, str]) -> bool:
        if set(given) <= set(SWITCHES):
            return bool(change_profile(Profile(), parse_changes([f"{name}={value}" for name, value in given.items()])))
        for kind in ("embedder", "reranker", "generator"):
            with suppress(InvalidInput):
                parse_recipe(kind, given)
                return True
        return False

    assert [given for given in groups if not is_accepted(given)] == []


def test_a_limit_leaves_out_documents_from_which_texts_would_be_derived(tmp_path: Path) -> None:
    folder = raidd_form(tmp_path / "raidd")
    chunks = json.loads((folder / "docs_chunks256.json").read_text("utf-8"))
    more = {f"Other {n}": [{"text": f"Text {n}"}] for n in range(3)}
    write(folder / "docs_chunks256.json", json.dumps({**more, **chunks}))
    rows = json.loads((folder / "questions.json").read_text("utf-8"))
    # Without evidence there is no gold: the document is that of the question.
    write(folder / "questions.json", json.dumps([{**row, "evidence": []} for row in rows]))
    experiment = find_experiment("raidd-2")
    (part,) = load_experiment_data(experiment, folder, tmp_path).parts
    assert len(part.sources("")) == 5
    data = load_experiment_data(experiment, folder, tmp_path, limit=1)
    assert [one.name for one in data.parts[0].sources("64/10")] == ["Other 0.md", "Drives.md"]
    assert "as many others" in data.notes[-1]
    # Two questions about two of five documents: these two and two others are searched.
    assert "as many others" in load_experiment_data(experiment, folder, tmp_path, limit=2).notes[-1]
    write(folder / "docs_chunks256.json", json.dumps(chunks))
    whole = load_experiment_data(experiment, folder, tmp_path, limit=1)
    assert len(whole.parts[0].sources("")) == 2 and not any("as many others" in note for note in whole.notes)
    # A retrieval experiment derives nothing: its documents cost little, and fewer would make it easier.
    (part,) = load_experiment_data(find_experiment("trustworthy-2"), beir_form(tmp_path / "b"), tmp_path, limit=1).parts
    assert len(part.sources("")) == 2


def test_a_limit_leaves_out_pdfs_which_take_long_to_read(tmp_path: Path) -> None:
    folder = answers_form(tmp_path / "own")
    experiment = find_experiment("accurate-rag-1")
    (part,) = load_experiment_data(experiment, folder, tmp_path, limit=1).parts
    every = len(part.sources(""))
    for number in range(4):
        write(folder / "documents" / f"more-{number}.pdf", "%PDF-1.4")
    data = load_experiment_data(experiment, folder, tmp_path, limit=1)
    assert len(data.parts[0].sources("")) == 2 < every + 4 and "as many others" in data.notes[-1]
    assert len(load_experiment_data(experiment, folder, tmp_path).parts[0].sources("")) == every + 4


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"passages": []}, "line 1: passages"),
        ({"sentences": [{"text": "One.", "passages": [3]}]}, "there is no passage 3; there are 2, from 1"),
        ({"extra": 1}, "line 1: extra"),
    ],
)
def test_the_error_for_a_malformed_annotated_answer_names_its_line(
    change: dict[str, Any], said: str, tmp_path: Path
) -> None:
    path = references_form(tmp_path / "answers.jsonl")
    write(path, lines({**json.loads(path.read_text("utf-8")), **change}))
    with pytest.raises(InvalidInput, match=said):
        load_annotated_answers(path)


def test_the_same_data_in_another_folder_has_the_same_fingerprint(tmp_path: Path) -> None:
    here, there = answers_form(tmp_path / "here"), tmp_path / "there"
    shutil.copytree(here, there)
    experiment = find_experiment("kapqa-3")
    first, second = (load_experiment_data(experiment, place, tmp_path) for place in (here, there))
    assert first.fingerprint == second.fingerprint
    assert load_experiment_data(experiment, here, tmp_path, limit=1).fingerprint != first.fingerprint


# -- single functions -------------------------------------------------------------------------------------------------


def test_overlapping_chunks_are_joined_and_cut_again() -> None:
    assert join_chunks(["one two three", "two three four", "five"]) == "one two three four five"
    words = " ".join(map(str, range(100)))
    cut = cut_windows(words, 40, 8)
    assert cut[0].split() == list(map(str, range(30)))
    assert cut[1].split()[0] == "24"
    assert cut[-1].split()[-1] == "99"


def test_an_api_call_is_compared_as_a_syntax_tree() -> None:
    call = "torch.hub.load(repo_or_dir='acme/sound', model='ear', pretrained=True)"
    assert has_call("Use model = torch.hub.load('acme/sound', 'ear') and listen (well).", call)
    assert not has_call("Use torch.hub.load('acme/sound', 'nose').", call)
    assert not has_call("Use hub.load('acme/sound', 'ear').", call)
    assert not has_call("anything", "no call")


def test_precision_of_references_counts_all_sentences_and_those_with_one(tmp_path: Path) -> None:
    (answer,) = load_annotated_answers(references_form(tmp_path / "answers.jsonl"))
    matched = MatchedAnswer([MatchedSegment(0, 0, 0, 0.9), MatchedSegment(1, 1, 0, 0.3)], 1.0)
    every = measure_answer(answer, matched, 0.0)
    assert (every["segments"], every["precision"], every["kept_precision"], every["kept"]) == (2.0, 0.5, 0.5, 1.0)
    some = measure_answer(answer, matched, 0.5)
    # A sentence that loses its reference is wrong among all, and none among those that keep one.
    assert (some["segments"], some["precision"], some["kept_precision"], some["kept"]) == (1.0, 0.5, 1.0, 0.5)
    assert [measure_answer(answer, matched, at)["near"] for at in (0.3, 0.5, 0.9)] == [0.5, 0.0, 0.5]
    assert measure_answer(answer, MatchedAnswer([], 1.0), 0.0)["kept_precision"] is None


def test_the_papers_matching_is_scored_by_the_reranker_without_other_checks() -> None:
    passage = Passage("p", "d", "r", 0, 0, 40, "Trimming does not take about 40 seconds.", "")
    said = ["Trimming takes about 40 seconds."]
    (alone,) = match_as_published(said, [passage], LexicalScorer())
    assert alone.score == LexicalScorer().score(said[0], [passage.text])[0]
    # The same method of the product does not cite a passage that says the contrary.
    assert match_references(said, [passage], LexicalScorer(), threshold=0.0, method="published") == []
    assert match_as_published(said, [passage], LexicalScorer(), threshold=1.1) == []


async def test_the_best_and_worst_scored_solutions_are_in_the_next_prompt(scripted_model: Any) -> None:
    from argot.results import FoundPassage
    from argot.tools.llm.judge import ModelJudge
    from argot.tools.llm.model_server import ModelServer

    scripted_model.context = 32768
    answers_well(scripted_model)
    server = ModelServer.from_settings(scripted_model.settings())
    assert server is not None
    own = SolutionLoop(server)
    loop = SolutionLoop(server, ModelJudge(server))
    passage = FoundPassage(n=1, passage_id="p", document="d", uri="u", page=None, heading="", text=MANUAL, score=1.0)
    await own.answer(AnswerQuestion("q", "", "Question?", (), "True answer."), [passage])
    # The model scores itself, and nobody judges.
    assert [(one.score, one.truth) for one in own.solved] == [(60, "True answer.")]
    assert not scripted_model.asked("judge_geval")
    for n in range(2):
        question = AnswerQuestion(f"q{n}", "", f"Question number {n}?", (), "True answer.")
        assert await loop.answer(question, [passage]) == "About 40 seconds."
    _, first, second = scripted_model.asked("solution_score")
    assert "solved_question" not in first.user
    assert "Question number 0?" in second.user
    # The verdict 4 on the scale from 1 to 5 gives 75.
    assert 'score="75"' in second.user
    loop.solved = [SolvedQuestion("?", "a", "t", score) for score in range(100)]
    assert [one.score for one in loop.list_shown()] == [0, 1, 2, 3, 96, 97, 98, 99]
    assert len(loop.list_shown()) == MAX_PAIRS
    await server.aclose()
