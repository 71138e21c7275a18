"""argot evaluate: the shared tasks, the quiz and the papers' experiments."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from argot.evaluate.commands.evaluate_commands import app
from argot.evaluate.commands.options import AsJson, Changes, ProfileName, Seed, Side, Split, choose_profile
from argot.evaluate.commands.report_output import show_report
from argot.evaluate.experiments import experiment_commands
from argot.languages.catalogues import translate
from argot.ui.cli.command_base import format_examples, read_settings, say


def register(whole: typer.Typer) -> None:
    """Add the experiments to `argot evaluate`; the commands below are added when this module is imported."""
    app.add_typer(experiment_commands.app, name="experiment")


@app.command(
    epilog=format_examples(
        "argot evaluate abbreviations",
        "argot evaluate abbreviations --side both --trials 1 --each 2",
        "argot evaluate abbreviations --seed 100 --json",
    )
)
def abbreviations(
    side: Side = "extractive",
    seed: Seed = 1,
    trials: Annotated[int, typer.Option("--trials", min=1, help="The number of draws of 30 abbreviations each.")] = 5,
    each: Annotated[
        int, typer.Option("--each", min=1, help="The number of questions per template in each trial.")
    ] = 30,
    as_json: AsJson = False,
) -> None:
    """Measure how well unknown abbreviations are found in questions, and nothing else (Golden-Retriever 4.2).

    Asks 13 templates with one to five random abbreviations, as in the paper; harder questions, with abbreviations in
    lower case, beside numbers and slashes, and in mixed case with digits; and questions without any.
    """
    from argot.evaluate.experiments import shared_tasks

    show_report(
        partial(shared_tasks.measure_abbreviations, side, seed, trials, each, read_settings(None)),
        as_json=as_json,
    )


@app.command(
    epilog=format_examples(
        "argot evaluate quiz --samples",
        "argot evaluate quiz --data newcomers --side both --trials 5",
        "argot evaluate quiz --write my-quiz    # the sample questions, to see what a quiz looks like",
    )
)
def quiz(  # noqa: PLR0917
    data: Annotated[
        Path | None,
        typer.Option("--data", help="A folder with documents/, quiz.jsonl, glossary.csv and contexts.csv."),
    ] = None,
    of_samples: Annotated[bool, typer.Option("--samples", help="The sample questions instead of a folder.")] = False,
    write: Annotated[
        Path | None, typer.Option("--write", help="Only write the sample questions as a folder in this form.")
    ] = None,
    split: Split = "test",
    side: Side = "extractive",
    seed: Seed = 1,
    trials: Annotated[
        int, typer.Option("--trials", min=1, help="The number of trials, each with another order of the options.")
    ] = 5,
    profile: ProfileName = "default",
    changes: Changes = None,
    as_json: AsJson = False,
) -> None:
    """Ask multiple-choice questions: the model alone, plain retrieval, and Argot (Golden-Retriever 4.1).

    The report has the mean of the trials and its standard deviation, by context. Without a model each option is scored
    against the passages found. A line of quiz.jsonl: {"question": "...", "options": ["...", "..."], "answer": "...",
    "context": "..."}; the answer repeats one of the options.
    """
    # Typer has no options that exclude each other.
    if (data is not None) + of_samples + (write is not None) != 1:
        raise typer.BadParameter(translate("give one of --data DIR, --samples and --write DIR"))
    from argot.evaluate.experiments import shared_tasks

    if write is not None:
        say(
            translate(
                "%(number)s questions and their documents written to %(folder)s",
                number=shared_tasks.write_samples_quiz(write, split),
                folder=write,
            )
        )
        return
    measure = (
        partial(shared_tasks.measure_samples_quiz, split) if data is None else partial(shared_tasks.measure_quiz, data)
    )
    settings = read_settings(None)
    chosen = choose_profile(profile, changes, settings)
    show_report(partial(measure, side, seed, trials, chosen, settings), as_json=as_json)


@app.command(
    epilog=format_examples(
        "argot evaluate identify --data sdu21_ai/dev.json",
        "argot evaluate identify --data sdu22_ae/english/legal/dev.json --json",
    )
)
def identify(
    data: Annotated[Path, typer.Option("--data", help="Sentences with BIO labels (SDU 2021), or with spans (2022).")],
    as_json: AsJson = False,
) -> None:
    """Measure how well short and long forms are found in running text, by the shared tasks' own measure.

    The report has the whole file and two halves: look only at errors of the choosing half, and report the other half.
    """
    from argot.evaluate.experiments import shared_tasks

    show_report(partial(shared_tasks.measure_identify, data), as_json=as_json)


@app.command(
    epilog=format_examples(
        "argot evaluate questions",
        "argot evaluate questions --half choosing --errors",
        "ARGOT_DATASETS=data argot evaluate questions --json",
    )
)
def questions(
    half: Annotated[
        Literal["choosing", "reporting"] | None, typer.Option("--half", help="Only this half of the questions.")
    ] = None,
    errors: Annotated[bool, typer.Option("--errors", help="List the mistakes in the choosing half.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure how well jargon is found in questions, known to the glossary or not: 200 questions labelled by hand.

    100 are sample questions, and 100 come from public data sets in the folder ARGOT_DATASETS. Of these only hashes and
    offsets are kept here, and missing sets are left out. Choose rules on one half, and report the other.
    """
    from argot.evaluate.experiments import shared_tasks

    show_report(partial(shared_tasks.measure_questions, half, read_settings(None), errors=errors), as_json=as_json)


@app.command(
    epilog=format_examples(
        "argot evaluate disambiguate --data sdu21_ad/dev.json --dictionary sdu21_ad/diction.json",
        "argot evaluate disambiguate --data dev.json --dictionary diction.json --text notes.txt --json",
    )
)
def disambiguate(
    data: Annotated[
        Path, typer.Option("--data", help="Sentences with an acronym and its expansion (SDU 2021 or 2022), JSON.")
    ],
    dictionary: Annotated[Path, typer.Option("--dictionary", help="The expansions of each acronym, JSON or CSV.")],
    text: Annotated[
        list[Path] | None,
        typer.Option(
            "--text",
            help="Further text without labels: JSON as --data, or one sentence per line; repeatable.",
            metavar="FILE",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure how often the right sense of an acronym is chosen, by the shared tasks' measure, without a language
    model.

    Uses the dictionary, the sentences themselves and --text; labels are only used for measuring. The report also has
    the expansion nearest to the sentence by the embedder, the accuracy on the most certain sentences, the calibration
    of the probabilities, and the value of each kind of evidence. A hash of the id makes two halves: the weights were
    chosen on one of them (docs/senses.md).
    """
    from argot.evaluate.experiments import shared_tasks

    show_report(
        partial(shared_tasks.measure_disambiguate, data, dictionary, text or [], read_settings(None)),
        as_json=as_json,
    )


@app.command(epilog=format_examples("argot evaluate tables", "argot evaluate tables --pdf-dir my-pdfs --json"))
def tables(
    pdf_dir: Annotated[
        Path | None,
        typer.Option(
            "--pdf-dir",
            help="PDFs with a NAME-str.xml beside each, instead of ARGOT_DATASETS/icdar2013.",
            metavar="DIR",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure how well tables of PDFs are read, beside pdfplumber, by the measure of the ICDAR 2013 table competition.

    Compares pairs of neighbouring cells with text, and their direction; blank cells are skipped, and texts are compared
    without blanks and case. A pair is right if the page has it too; every pair of a false table is wrong. The report
    counts all pairs alike, and by document. A hash of the name makes two halves: rules were chosen on one of them.
    """
    from argot.evaluate.experiments import shared_tasks

    show_report(partial(shared_tasks.measure_tables, pdf_dir, read_settings(None)), as_json=as_json)
