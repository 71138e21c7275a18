"""argot evaluate: the suites that measure retrieval and answers."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from argot.types import SearchChoice
from argot.ui.cli import experiment_commands, strategy_command
from argot.ui.cli.command_base import examples, say, settings_for
from argot.ui.cli.report_output import show_report

if TYPE_CHECKING:
    from argot.profile import Profile
    from argot.settings import Settings

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Measure retrieval and answers on questions whose answers are known.",
)

app.add_typer(experiment_commands.app, name="experiment")
strategy_command.register(app)

AsJson = Annotated[bool, typer.Option("--json", help="Print the whole report as JSON.")]
ProfileName = Annotated[
    str, typer.Option("--profile", help="The profile to measure, or a file of one.", metavar="NAME_OR_FILE")
]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", help="A switch of the profile, e.g. rerank=off; repeatable.", metavar="SWITCH=VALUE"),
]
Search = Annotated[
    SearchChoice | None,
    typer.Option("--search", help="What is searched, as RAIDD names it: see argot ask --help; nothing else is."),
]
Base = Annotated[
    Path | None,
    typer.Option(
        "--home",
        help="A knowledge base that holds the documents; it is not changed. One that is not there is made, and kept.",
        metavar="DIR",
    ),
]
Judges = Annotated[
    list[str] | None,
    typer.Option("--judge", help="Ask correct, raidd, geval, aspects, ranking, rules or references; repeatable."),
]
JudgeUrl = Annotated[
    str,
    typer.Option(
        "--judge-url", help="The judging model's server, instead of ARGOT_MODEL_URL; ARGOT_JUDGE_KEY: its key."
    ),
]
JudgeModel = Annotated[str, typer.Option("--judge-model", help="The judging model's name.", metavar="NAME")]
SideChoice = Literal["extractive", "model", "both"]
Side = Annotated[
    SideChoice,
    typer.Option("--side", help="Without a language model, with the one at ARGOT_MODEL_URL, or first one then other."),
]
Seed = Annotated[int, typer.Option("--seed", help="Of the first trial; each later one counts on.", metavar="N")]
Split = Annotated[
    Literal["validation", "test"],
    typer.Option("--split", help="The half of the sample questions: for choosing, or for reporting."),
]


@app.command(
    epilog=examples(
        "argot evaluate retrieval --beir data/scifact",
        "argot evaluate retrieval --beir data/jargonised --glossary data/jargonised/glossary.csv --json",
        "argot evaluate retrieval --beir data/scifact --home scifact-kb --set search_derived=off",
        "argot evaluate retrieval --beir data/scifact --home scifact-kb --search Q+",
        "argot evaluate retrieval --beir data/scifact --against plain_rag",
    )
)
def retrieval(  # noqa: PLR0917
    beir: Annotated[Path, typer.Option("--beir", help="A folder with corpus.jsonl, queries.jsonl, qrels/test.tsv.")],
    glossary: Annotated[Path | None, typer.Option("--glossary", help="A glossary in Argot's CSV form.")] = None,
    home: Base = None,
    profile: ProfileName = "default",
    changes: Changes = None,
    search: Search = None,
    against: Annotated[
        str | None, typer.Option("--against", help="Compare with this profile, question by question.", metavar="NAME")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """How well documents are found; with a glossary, how much of what jargon costs it wins back.

    Without a glossary: nDCG@k, MAP@k, hit@k (Success@k) and recall@k, and MRR, of the questions as they stand. With
    one: with it, without it (the floor) and, where the folder holds queries.plain.jsonl, of the untouched questions
    (the ceiling). Intervals of 95 % by bootstrap: two ways are compared question by question, and questions that share
    a gold document are drawn together.
    """
    # Imported in each command alone: it brings in all that measures, and `argot --help` must be quick.
    from argot.evaluate.usecases import evaluation

    settings = settings_for(home)
    chosen = _profile(profile, changes, settings, search)
    other = _profile(against, None, settings) if against else None
    show_report(partial(evaluation.retrieval, beir, glossary, home, chosen, other, settings), as_json=as_json)


@app.command(
    epilog=examples(
        "argot evaluate answers",
        "argot evaluate answers --questions questions.jsonl --documents handbook --glossary glossary.csv",
        "argot evaluate answers --questions questions.jsonl --documents handbook --split validation --side ideal",
        "argot evaluate answers --public clapnq --against plain_rag --json",
        "argot evaluate answers --questions questions.jsonl --home my-kb --set rerank=off",
        "argot evaluate answers --home my-kb --search S+ --against default",
        "argot evaluate answers --judge correct --judge geval --judge-url http://127.0.0.1:8001/v1",
    )
)
def answers(  # noqa: PLR0917
    questions: Annotated[
        Path | None,
        typer.Option("--questions", help="The questions, JSONL: id, kind, question, gold, and more; see above."),
    ] = None,
    documents: Annotated[Path | None, typer.Option("--documents", help="The folder of their documents.")] = None,
    public: Annotated[
        str | None,
        typer.Option("--public", help="A public set out of the folder ARGOT_DATASETS, e.g. clapnq.", metavar="SET"),
    ] = None,
    glossary: Annotated[
        Path | None, typer.Option("--glossary", help="In Argot's CSV form; contexts.csv beside it is read too.")
    ] = None,
    home: Base = None,
    split: Annotated[
        Literal["validation", "test"] | None,
        typer.Option("--split", help="Only this half: for choosing, or for reporting."),
    ] = None,
    side: Annotated[
        Literal["extractive", "model", "ideal", "lying"],
        typer.Option(
            "--side",
            help="Without a language model; with the one at ARGOT_MODEL_URL; or with one that knows the reference "
            "answers and gives them (ideal), or gives them with one thing changed (lying).",
        ),
    ] = "extractive",
    profile: ProfileName = "default",
    changes: Changes = None,
    search: Search = None,
    against: Annotated[
        list[str] | None,
        typer.Option("--against", help="Compare with this profile, question by question; repeatable.", metavar="NAME"),
    ] = None,
    judge: Judges = None,
    judge_url: JudgeUrl = "",
    judge_model: JudgeModel = "",
    as_json: AsJson = False,
) -> None:
    """Whether questions are answered: whole, with the right citation, and only where the documents hold the answer.

    Without --questions and --public: 270 questions in employees' words over the sample documents.

    By kind of question: complete, partial, wrong, abstained, asked back; the right citation first; sentence F1 against
    the gold snippets; exact match, ROUGE-1, ROUGE-L and BERTScore (local model, not rescaled) against the reference; in
    which place a gold passage was found, and whether it was for right and wrong answers (RAIDD's CP-CCR and IP-CCR).
    Questions of the kinds "unanswerable" and "underspecified" should be refused and asked back. With --side ideal:
    where right answers are lost on the way to the asker. With --side lying: which false sentences are shown as
    supported.

    Judges, asked of the model at ARGOT_MODEL_URL or --judge-url: correct (TRUE/FALSE, AccurateRAG), raidd (the same as
    RAIDD asks), geval (likeness, 1 to 5), aspects (accuracy, helpfulness, informativeness, 1 to 5), ranking (of four
    profiles, in drawn order); rules needs no model, and is rough. Replies that are no verdict are counted apart.
    "references" lets the model match sentences with passages, beside our own matching (Trustworthy Answers 6).

    A line of the file is a JSON object. "gold" lists what belongs to a whole answer, word for word: "document", its
    path in the folder, and "quote" (empty: the whole document). "must" lists short texts that a whole answer says,
    alternatives between bars ("27 days|27 d"); without it the quotes are looked for. "reference": the answer in full.
    "split": validation or test. "asker_context": the asker's team, as in the glossary's contexts. "note": a remark of
    your own. Only id, kind and question are needed where nothing answers; else one of gold, must and reference too.
    """
    from argot.evaluate.usecases import evaluation
    from argot.evaluate.usecases.measured_models import JudgeChoice

    settings = settings_for(home)
    asked = evaluation.answer_questions(questions, documents, public, home, split, settings)
    profiles = [_profile(profile, changes, settings, search), *(_profile(one, None, settings) for one in against or ())]
    judges = JudgeChoice(judge or (), judge_url, judge_model)
    measure = partial(evaluation.answers, asked, glossary, home, profiles, side, settings, judges=judges)
    show_report(measure, as_json=as_json)


@app.command(
    epilog=examples(
        "argot evaluate samples",
        'argot evaluate samples --split validation --way "everything on" --way "jargon off"',
        "argot evaluate samples --home kb --profile strict --set rerank=off",
    )
)
def samples(  # noqa: PLR0917
    split: Split = "test",
    ways: Annotated[
        list[str] | None,
        typer.Option("--way", help="Only this way of running, e.g. 'everything on'; repeatable.", metavar="WAY"),
    ] = None,
    side: Side = "extractive",
    home: Base = None,
    profile: ProfileName = "default",
    changes: Changes = None,
    as_json: AsJson = False,
) -> None:
    """The sample knowledge base's own questions, with everything on and with each stage switched off in turn.

    "derived texts off" and "triples off" are measured where the knowledge base of --home has any.
    """
    from argot.evaluate.usecases import evaluation

    settings = settings_for(home)
    chosen = _profile(profile, changes, settings)
    show_report(partial(evaluation.samples, split, ways, side, home, chosen, settings), as_json=as_json)


@app.command(
    epilog=examples(
        "argot evaluate abbreviations",
        "argot evaluate abbreviations --side both --trials 1 --each 2",
        "argot evaluate abbreviations --seed 100 --json",
    )
)
def abbreviations(
    side: Side = "extractive",
    seed: Seed = 1,
    trials: Annotated[int, typer.Option("--trials", min=1, help="Drawings of 30 abbreviations each.")] = 5,
    each: Annotated[int, typer.Option("--each", min=1, help="Questions a template, in each trial.")] = 30,
    as_json: AsJson = False,
) -> None:
    """How well unknown abbreviations are found in questions, and nothing else (Golden-Retriever 4.2).

    13 templates with one to five random abbreviations, as in the paper; then harder ones: in lower case, glued to
    numbers and slashes, in mixed case with digits; and questions without any.
    """
    from argot.evaluate.experiments import shared_tasks

    show_report(partial(shared_tasks.abbreviations, side, seed, trials, each, settings_for(None)), as_json=as_json)


@app.command(
    epilog=examples(
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
        Path | None, typer.Option("--write", help="Only write the sample questions as such a folder.")
    ] = None,
    split: Split = "test",
    side: Side = "extractive",
    seed: Seed = 1,
    trials: Annotated[int, typer.Option("--trials", min=1, help="Each with its own order of the options.")] = 5,
    profile: ProfileName = "default",
    changes: Changes = None,
    as_json: AsJson = False,
) -> None:
    """Multiple-choice questions: the model alone, plain retrieval, and Argot (Golden-Retriever 4.1).

    The mean of the trials and its standard deviation, by context. Without a model each option is scored against the
    passages found. A line of quiz.jsonl: {"question": "...", "options": ["...", "..."], "answer": "...", "context":
    "..."}; the answer repeats one of the options.
    """
    # Typer knows no options that exclude each other.
    if (data is not None) + of_samples + (write is not None) != 1:
        raise typer.BadParameter("give one of --data DIR, --samples and --write DIR")
    from argot.evaluate.experiments import shared_tasks

    if write is not None:
        say(f"{shared_tasks.write_samples_quiz(write, split)} questions and their documents written to {write}")
        return
    measure = partial(shared_tasks.samples_quiz, split) if data is None else partial(shared_tasks.quiz, data)
    settings = settings_for(None)
    chosen = _profile(profile, changes, settings)
    show_report(partial(measure, side, seed, trials, chosen, settings), as_json=as_json)


@app.command(
    epilog=examples(
        "argot evaluate identify --data sdu21_ai/dev.json",
        "argot evaluate identify --data sdu22_ae/english/legal/dev.json --json",
    )
)
def identify(
    data: Annotated[Path, typer.Option("--data", help="Sentences with BIO labels (SDU 2021), or with spans (2022).")],
    as_json: AsJson = False,
) -> None:
    """How well short and long forms are found in running text, by the shared tasks' own measure.

    The file is shown as a whole and in two halves: look at errors of the choosing half only, and report the other.
    """
    from argot.evaluate.experiments import shared_tasks

    show_report(partial(shared_tasks.identify, data), as_json=as_json)


@app.command(
    epilog=examples(
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
    """How well jargon is found in questions, known to the glossary or not: 200 questions labelled by hand.

    100 sample questions, and 100 of public data sets in the folder ARGOT_DATASETS; of those only hashes and offsets
    are kept here, and a set that is absent is left out. Choose rules on the one half, report the other.
    """
    from argot.evaluate.experiments import shared_tasks

    show_report(partial(shared_tasks.questions, half, settings_for(None), errors=errors), as_json=as_json)


@app.command(
    epilog=examples(
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
            help="Further text without labels: JSON as --data, or a sentence a line; repeatable.",
            metavar="FILE",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """How often the right sense of an acronym is chosen, by the shared tasks' own measure, without a language model.

    Uses the dictionary, the sentences themselves and --text; labels are only for measuring. Beside it the nearest
    expansion by the embedder, accuracy on the surest part, how honest the probabilities are, and what each kind of
    evidence is good for. A hash of the id makes two halves: the weights were chosen on the one (docs/senses.md).
    """
    from argot.evaluate.experiments import shared_tasks

    show_report(partial(shared_tasks.disambiguate, data, dictionary, text or [], settings_for(None)), as_json=as_json)


@app.command(epilog=examples("argot evaluate tables", "argot evaluate tables --pdf-dir my-pdfs --json"))
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
    """How well tables of PDFs are read, beside pdfplumber, by the measure of the ICDAR 2013 table competition.

    Compared are pairs of neighbouring cells that hold text, with their direction; blank cells are passed over, and
    texts lose their blanks and their case. A pair is right if the page has it too. Tables that are none count as
    wrong. All pairs alike, and by document; a hash of the name makes two halves: rules were chosen on the one.
    """
    from argot.evaluate.experiments import shared_tasks

    show_report(partial(shared_tasks.tables, pdf_dir, settings_for(None)), as_json=as_json)


@app.command(
    epilog=examples(
        "argot evaluate reading handbook",
        "argot evaluate reading handbook --worst 50",
        "argot evaluate reading handbook --json > reading.json",
    )
)
def reading(
    folder: Annotated[Path, typer.Argument(help="A folder of documents, searched with the folders in it.")],
    worst: Annotated[
        int, typer.Option("--worst", min=0, help="How many files are shown that lost the most.", metavar="N")
    ] = 10,
    as_json: AsJson = False,
) -> None:
    """How many words of the files in a folder are read, left out by a rule, and lost.

    All text of each file is counted without Argot's readers: every part of an Office file, the pages, fields and
    annotations of a PDF, the parts of a mail. A word is kept if the document that Argot makes of the file has it; left
    out by a rule, such as "hidden sheet, row or column"; or lost. Of lost words the report says whether the reader
    warns of them, or this comparison does, which runs whenever a file is read; or whether they are too few to tell.

    Numbers in cells of workbooks and charts are not counted, because programs show them by formats. Nothing is stored.
    A file that is refused is listed with the reason, and the others are measured.
    """
    from argot.evaluate.usecases import evaluation

    show_report(partial(evaluation.reading, folder, worst, settings_for(None)), as_json=as_json)


def _profile(
    name_or_file: str, changes: list[str] | None, settings: Settings, search: SearchChoice | None = None
) -> Profile:
    from argot.profile import SEARCHES, changed_profile, changes_of
    from argot.profile_files import profile_from

    profile = profile_from(name_or_file, [], settings.home)
    return changed_profile(profile, {**(SEARCHES[search] if search else {}), **changes_of(changes or [])})
