"""argot evaluate: the suites that measure retrieval and answers."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from argot.evaluate.commands import calibrate_commands, set_commands, strategy_command
from argot.evaluate.commands.options import (
    AsJson,
    Base,
    Changes,
    JudgeModel,
    Judges,
    JudgeUrl,
    ProfileName,
    Search,
    Side,
    Split,
    choose_profile,
)
from argot.evaluate.commands.report_output import show_report
from argot.ui.cli.command_base import format_examples, read_settings

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Measure retrieval and answers on questions whose answers are known.",
)

for _part in (strategy_command, calibrate_commands, set_commands):
    _part.register(app)


def register(whole: typer.Typer) -> None:
    whole.add_typer(app, name="evaluate")


@app.command(
    epilog=format_examples(
        "argot evaluate retrieval --beir data/scifact",
        "argot evaluate retrieval --beir data/jargonised --glossary data/jargonised/glossary.csv --json",
        "argot evaluate retrieval --beir data/scifact --home scifact-kb --set search_derived=off",
        "argot evaluate retrieval --beir data/scifact --home scifact-kb --search Q+",
        "argot evaluate retrieval --beir data/scifact --against plain_rag",
        "argot evaluate retrieval --beir data/scifact --failures failed",
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
    failures: Annotated[
        Path | None,
        typer.Option(
            "--failures",
            help="Write samples of 100 questions whose gold is not found, and of 100 that find it, not first, into "
            "this folder, for people to judge: argot ratings create NAME --kind passages --file FILE.",
            metavar="DIR",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure how well documents are found and, with a glossary, how much of the loss from jargon it recovers.

    Without a glossary, the report has nDCG@k, MAP@k, hit@k (Success@k), recall@k and MRR of the questions as they are.
    With a glossary, it has the results with it, without it (the floor) and, if the folder has queries.plain.jsonl,
    those of the original questions (the ceiling). Intervals are 95 %, by bootstrap: two ways are compared question by
    question, and questions that share a gold document are resampled together.
    """
    # Imported in each command, because it loads all measuring code, and `argot --help` must be quick.
    from argot.evaluate.usecases import evaluation

    settings = read_settings(home)
    chosen = choose_profile(profile, changes, settings, search)
    other = choose_profile(against, None, settings) if against else None
    show_report(partial(evaluation.retrieval, beir, glossary, home, chosen, other, failures, settings), as_json=as_json)


@app.command(
    epilog=format_examples(
        "argot evaluate answers",
        "argot evaluate answers --questions questions.jsonl --documents handbook --glossary glossary.csv",
        "argot evaluate answers --questions questions.jsonl --documents handbook --split validation --side ideal",
        "argot evaluate answers --questions questions.jsonl --documents handbook --side recorded replies.jsonl",
        "argot evaluate answers --public clapnq --against plain_rag --json",
        "argot evaluate answers --questions questions.jsonl --home my-kb --set rerank=off",
        "argot evaluate answers --home my-kb --search S+ --against default",
        "argot evaluate answers --judge correct --judge geval --judge-url http://127.0.0.1:8001/v1",
    )
)
def answers(  # noqa: PLR0917
    replies: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="The recorded replies, with --side recorded or recorded-lying; see below."),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option("--questions", help="The questions, JSONL: id, kind, question, gold, and more; see above."),
    ] = None,
    documents: Annotated[Path | None, typer.Option("--documents", help="The folder of their documents.")] = None,
    public: Annotated[
        str | None,
        typer.Option("--public", help="A public set in the folder ARGOT_DATASETS, e.g. clapnq.", metavar="SET"),
    ] = None,
    glossary: Annotated[
        Path | None, typer.Option("--glossary", help="In Argot's CSV form; contexts.csv beside it is read too.")
    ] = None,
    home: Base = None,
    split: Annotated[
        Literal["train", "validation", "test"] | None,
        typer.Option("--split", help="Only this part: validation for choosing, test for reporting."),
    ] = None,
    side: Annotated[
        Literal["extractive", "model", "ideal", "lying", "recorded", "recorded-lying"],
        typer.Option(
            "--side",
            help="Without a language model; with the one at ARGOT_MODEL_URL; with one that knows the reference "
            "answers and gives them (ideal), or gives them with one thing changed (lying); or with one that repeats "
            "the replies of FILE (recorded), or repeats them with one thing changed (recorded-lying).",
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
    """Measure whether answers are complete, cite the right passages, and are given only if the documents hold them.

    Without --questions and --public: 270 questions in employees' words over the sample documents.

    The report begins with a summary: complete answers, complete and clean ones (at most 30 % of the sentences are
    beside the point), answers that begin with the answer, wrong and refused ones, right sentences marked as
    unsupported. Then, by kind of question: complete, partial, wrong, abstained, asked back; how often the first
    citation is right; sentence F1 against the gold snippets; exact match, ROUGE-1, ROUGE-L and BERTScore (local model,
    not rescaled) against the reference; the rank at which a gold passage was found, and how often one was found for
    right and for wrong answers (RAIDD's CP-CCR and IP-CCR). Argot should refuse questions of the kind "unanswerable",
    and ask back at "underspecified" ones. With --side ideal or recorded: at which stage right answers are lost. With
    --side lying or recorded-lying: which false sentences are shown as supported.

    The judges use the model at ARGOT_MODEL_URL or --judge-url: correct (TRUE/FALSE, AccurateRAG), raidd (the same with
    RAIDD's prompt), geval (similarity, 1 to 5), aspects (accuracy, helpfulness, informativeness, 1 to 5), ranking (of
    four profiles, in random order). The judge rules needs no model, and is rough. Replies without a verdict are counted
    separately. "references" lets the model match sentences with passages, beside Argot's own matching (Trustworthy
    Answers 6).

    A line of the file is a JSON object. "gold" lists what belongs to a complete answer, word for word: "document", its
    path in the folder, and "quote" (empty: the whole document). "must" lists short texts that a complete answer has,
    alternatives between bars ("27 days|27 d"); without it the quotes are searched for. "reference": the answer in full.
    "also": sentences of other places that are a complete answer each ("document", "sentence"). "near": sentences that
    only look like one. "earlier": the messages before the question; or "previous": the one before it. "split": train,
    validation or test. "asker_context": the asker's team, as in the glossary's contexts. "note": a remark of your own.
    A question without an answer needs only id, kind and question; any other also needs gold, must or reference.

    A line of FILE has what a capable model once replied: "id" (or only "question"), "reply" with the numbers of
    passages in brackets, and "cited", the text of each by its number. Only these questions are asked. If the passages
    are in the prompt, the model repeats the reply with the prompt's numbers; otherwise it refuses.
    """
    from argot.evaluate.usecases import evaluation
    from argot.evaluate.usecases.measured_models import JudgeChoice

    settings = read_settings(home)
    asked = evaluation.choose_answer_questions(questions, documents, public, home, split, settings)
    profiles = [choose_profile(profile, changes, settings, search)]
    profiles += [choose_profile(one, None, settings) for one in against or ()]
    judges = JudgeChoice(judge or (), judge_url, judge_model)
    measure = partial(
        evaluation.answers, asked, glossary, home, profiles, side, settings, judges=judges, replies=replies
    )
    show_report(measure, as_json=as_json)


@app.command(
    epilog=format_examples(
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
    """Ask the sample knowledge base's own questions, with every stage on and with each stage switched off in turn.

    "derived texts off" and "triples off" are measured if the knowledge base of --home has such texts or triples.
    """
    from argot.evaluate.usecases import evaluation

    settings = read_settings(home)
    chosen = choose_profile(profile, changes, settings)
    show_report(partial(evaluation.samples, split, ways, side, home, chosen, settings), as_json=as_json)


@app.command(
    epilog=format_examples(
        "argot evaluate reading handbook",
        "argot evaluate reading handbook --worst 50",
        "argot evaluate reading handbook --json > reading.json",
    )
)
def reading(
    folder: Annotated[Path, typer.Argument(help="A folder of documents; its subfolders are included.")],
    worst: Annotated[
        int, typer.Option("--worst", min=0, help="The number of files to show, those that lost the most.", metavar="N")
    ] = 10,
    as_json: AsJson = False,
) -> None:
    """Measure how many words of the files in a folder are read, left out by a rule, and lost.

    All text of each file is counted without Argot's readers: every part of an Office file, the pages, fields and
    annotations of a PDF, the parts of a mail. A word is kept if the document that Argot makes from the file has it;
    otherwise it is left out by a rule, such as "hidden sheet, row or column", or it is lost. For lost words the report
    says whether the reader warns about them, or this comparison does, which runs whenever a file is read, or whether
    they are too few for a warning.

    Numbers in cells of workbooks and charts are not counted, because programs format them for display. Nothing is
    stored. An unreadable file is listed with the reason, and the others are measured.
    """
    from argot.evaluate.usecases import evaluation

    show_report(partial(evaluation.reading, folder, worst, read_settings(None)), as_json=as_json)
