"""The shared tasks and the quiz of `argot evaluate`, each with a knowledge base made for it alone."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from argot.evaluate.experiments.abbreviation_suite import evaluate_abbreviations
from argot.evaluate.experiments.disambiguation_data import load_dictionary, load_sentences, load_text
from argot.evaluate.experiments.disambiguation_suite import evaluate_disambiguate
from argot.evaluate.experiments.disambiguation_tables import build_disambiguate_tables
from argot.evaluate.experiments.identification import evaluate_identify, load_labelled
from argot.evaluate.experiments.question_term_suite import (
    build_question_terms_tables,
    evaluate_question_terms,
    load_question_terms,
)
from argot.evaluate.experiments.quiz_data import QuizQuestion, load_quiz, write_quiz
from argot.evaluate.experiments.quiz_suite import evaluate_quiz
from argot.evaluate.experiments.table_suite import evaluate_tables
from argot.evaluate.experiments.table_tables import build_tables_tables
from argot.evaluate.experiments.task_tables import build_abbreviations_tables, build_identify_tables, build_quiz_tables
from argot.evaluate.sample_suite import (
    SampleQuestion,
    Split,
    load_questions,
)
from argot.evaluate.usecases.evaluation import Progress, Report, join_sides, name_side, name_steps
from argot.evaluate.usecases.evaluation_bases import (
    add_folder,
    add_glossary,
    open_base,
    read_contexts,
    read_input,
    sample_folder,
)
from argot.evaluate.usecases.measured_models import (
    SideChoice,
    list_model_servers,
    run_closing,
)
from argot.files import read_text
from argot.profile import Profile
from argot.settings import Settings


def measure_abbreviations(  # noqa: PLR0917
    side: SideChoice, seed: int, trials: int, each: int, settings: Settings, progress: Progress
) -> Report:
    """Measure whether abbreviations that the sample glossary lacks are found in questions full of them, and nothing
    else.

    Raises:
        InvalidInput: there is no model server.
        ModelUnavailable: the model server does not answer.
    """
    servers = list_model_servers(side, settings)
    with sample_folder() as folder, open_base(None, settings) as base:
        add_glossary(base, folder)
        identifiers = {"extractive" if server is None else "model": base.make_identifier(server) for server in servers}
        # The last is the model server if there is one.
        model = servers[-1]
        report = run_closing(evaluate_abbreviations(identifiers, base.has_word, seed, trials, each, progress), model)
        # The name of the server's model is known only after the first request.
        report = replace(report, model=model.known.model if model and model.known else "")
    return report.to_json(), build_abbreviations_tables(report)


def measure_questions(half: str | None, settings: Settings, progress: Progress, *, errors: bool) -> Report:
    """Measure how well the jargon of questions labelled by hand is found, with the sample glossary and with none.

    Raises:
        InvalidInput: the folder has another version of a public set than the labelled one.
    """
    with sample_folder() as folder, open_base(None, settings) as base:
        samples = {one.id: one.question for one in load_questions(read_input(folder / "questions.jsonl"))}
        labels = read_input(folder / "question_terms.jsonl")
        labelled, absent = load_question_terms(labels, samples, settings.datasets)
        chosen = [one for one in labelled if half in (None, one.half)]
        # The way without a glossary comes first, because the base is filled afterwards.
        without = base.make_identifier()
        bare = asyncio.run(evaluate_question_terms({"without glossary": without}, chosen, absent, progress))
        add_glossary(base, folder)
        full = asyncio.run(evaluate_question_terms({"with glossary": base.make_identifier()}, chosen, absent, progress))
    report = full.join(bare)
    return report.to_json(), build_question_terms_tables(report, errors=errors)


def measure_quiz(  # noqa: PLR0917
    folder: Path, side: SideChoice, seed: int, trials: int, profile: Profile, settings: Settings, progress: Progress
) -> Report:
    """Ask the multiple-choice questions of a quiz folder (`evaluate/experiments/quiz_data.py` describes it).

    Raises:
        InvalidInput: the folder is malformed, or there is no model server.
        ModelUnavailable: the model server does not answer.
    """
    servers, questions = list_model_servers(side, settings), load_quiz(folder)
    with open_base(None, settings) as base:
        add_folder(base, folder, progress)
        reports = {}
        for server in servers:
            on_progress = name_steps(progress, server, side)
            work = evaluate_quiz(base, questions, server, seed, trials, on_progress, profile)
            reports[name_side(server)] = run_closing(work, server)
    return join_sides({name: report.to_json() for name, report in reports.items()}), build_quiz_tables(
        list(reports.values())
    )


def measure_samples_quiz(  # noqa: PLR0917
    split: Split, side: SideChoice, seed: int, trials: int, profile: Profile, settings: Settings, progress: Progress
) -> Report:
    """Ask the multiple-choice questions of one half of the samples, as `measure_quiz` does."""
    with tempfile.TemporaryDirectory(prefix="argot-") as place:
        folder = Path(place) / "quiz"
        write_samples_quiz(folder, split)
        return measure_quiz(folder, side, seed, trials, profile, settings, progress)


def write_samples_quiz(folder: Path, split: Split) -> int:
    """Write the multiple-choice questions of one half of the samples as a quiz folder; return their number.

    Raises:
        InvalidInput: the folder already exists.
    """
    with sample_folder() as source:
        contexts = [row["name"] for row in read_contexts(read_text(source / "contexts.csv"))]
        questions = load_questions(read_text(source / "questions.jsonl"), split)
        chosen = [
            QuizQuestion(one.question, tuple(one.options), one.correct or 0, _find_context(one, contexts))
            for one in questions
            if one.options
        ]
        write_quiz(folder, chosen, source)
    return len(chosen)


def measure_identify(path: Path, progress: Progress) -> Report:
    """Measure how well short and long forms are found in the running text of a file of the SDU shared tasks.

    Raises:
        InvalidInput: the file cannot be read, or is not in the form of either task.
    """
    report = evaluate_identify(path.name, load_labelled(path), progress)
    return report.to_json(), build_identify_tables(report)


def measure_tables(folder: Path | None, settings: Settings, progress: Progress) -> Report:
    """Measure how well tables of PDFs are read: those of ICDAR 2013 in the folder of public sets, or those of a folder
    of your own.

    Raises:
        InvalidInput: no PDF in the folder has its structure beside it; the message says how to get the public ones.
    """
    report = evaluate_tables(folder or settings.datasets / "icdar2013", progress)
    return report.to_json(), build_tables_tables(report)


def measure_disambiguate(
    path: Path, dictionary: Path, beside: Sequence[Path], settings: Settings, progress: Progress
) -> Report:
    """Measure how often the right sense in a dictionary is chosen for the acronyms in the sentences of a file. `beside`
    are files of unlabelled text.

    Raises:
        InvalidInput: a file cannot be read, or is malformed.
    """
    from argot.corpus.embedding.embedder import load_embedder

    data, senses = load_sentences(path), load_dictionary(dictionary)
    more = [sentence for one in beside for sentence in load_text(one)]
    report = evaluate_disambiguate(path.name, data, senses, more, load_embedder(settings), progress)
    return report.to_json(), build_disambiguate_tables(report)


def _find_context(question: SampleQuestion, contexts: Sequence[str]) -> str:
    """Return the context whose folder has the question's document: nand-design is "NAND design"."""
    folder = question.gold[0]["document"].split("/")[0]
    return next(name for name in contexts if name.lower().replace(" and ", " ").replace(" ", "-").startswith(folder))
