"""argot evaluate strategy: which search finds most on an organisation's own questions."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from argot.ui.cli.command_base import examples, settings_for
from argot.ui.cli.report_output import show_report


def register(app: typer.Typer) -> None:
    app.command(
        epilog=examples(
            "argot evaluate strategy --questions questions.jsonl --documents handbook",
            "argot evaluate strategy --questions questions.jsonl --home kb --save our-search",
            "argot evaluate strategy --beir data/scifact --measure map@10 --json",
        )
    )(strategy)


def strategy(  # noqa: PLR0917
    questions: Annotated[
        Path | None,
        typer.Option("--questions", help="Questions with gold passages, JSONL, as for 'argot evaluate answers'."),
    ] = None,
    documents: Annotated[Path | None, typer.Option("--documents", help="The folder of their documents.")] = None,
    beir: Annotated[
        Path | None, typer.Option("--beir", help="A folder with corpus.jsonl, queries.jsonl, qrels/test.tsv instead.")
    ] = None,
    split: Annotated[
        Literal["validation", "test"] | None,
        typer.Option("--split", help="Only this half of the file's questions: never choose on those you report on."),
    ] = None,
    measure: Annotated[
        str, typer.Option("--measure", help="What decides: ndcg@K, map@K, hit@K, recall@K or mrr.")
    ] = "ndcg@10",
    profile: Annotated[
        str, typer.Option("--profile", help="The present profile, or a file of one.", metavar="NAME_OR_FILE")
    ] = "default",
    save: Annotated[
        str | None,
        typer.Option("--save", help="Keep the winner under this name, if it is better.", metavar="NAME"),
    ] = None,
    home: Annotated[
        Path | None,
        typer.Option(
            "--home",
            help="A knowledge base that holds the documents, and what was derived of them; it is not changed, but for "
            "--save. One that is not there is made, and kept.",
            metavar="DIR",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole report as JSON.")] = False,
) -> None:
    """Choose how to search: semantic, keyword or hybrid, which derived texts, which weights (AccurateRAG 2.3).

    Every list is retrieved once, and fused in hundreds of ways. Each strategy is shown with its paired difference to
    the best one and to the present profile. One is chosen only where that interval excludes zero; else the present
    profile stays. Measured is what is found before re-ranking. Without --questions and --beir: the sample questions.
    """
    from argot.profile_files import profile_from
    from argot.service.operations import evaluation, strategy_choice

    settings = settings_for(home)
    if beir is not None and (questions or documents):
        raise typer.BadParameter("give --beir DIR, or --questions FILE, not both")
    asked = strategy_choice.strategy_questions(
        beir, lambda: evaluation.answer_questions(questions, documents, None, home, split, settings)
    )
    present = profile_from(profile, [], settings.home)
    choose = partial(strategy_choice.choose_strategy, asked, home, present, measure, save, settings)
    show_report(choose, as_json=as_json)
