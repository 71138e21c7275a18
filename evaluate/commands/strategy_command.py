"""argot evaluate strategy: which search finds most on an organisation's own questions."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from argot.evaluate.commands.report_output import show_report
from argot.languages.catalogues import translate
from argot.ui.cli.command_base import (
    format_examples,
    make_text_column,
    open_error_console,
    open_knowledge_base,
    print_table,
    read_settings,
    say,
    say_aside,
    say_json,
)
from argot.ui.cli.progress_bar import Bar

if TYPE_CHECKING:
    from argot.evaluate.usecases.search_strategies import StrategyChoice


def register(app: typer.Typer) -> None:
    app.command(
        epilog=format_examples(
            "argot evaluate strategy --questions questions.jsonl --documents handbook",
            "argot evaluate strategy --questions questions.jsonl --home kb --save our-search",
            "argot evaluate strategy --beir data/scifact --measure map@10 --json",
            "argot evaluate strategy --data ours --save our-search",
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
    data: Annotated[
        str | None,
        typer.Option("--data", help="A set of training pairs instead ('argot learn data').", metavar="NAME"),
    ] = None,
    split: Annotated[
        Literal["validation", "test"] | None,
        typer.Option("--split", help="Only this half of the file's questions: never choose on those you report on."),
    ] = None,
    measure: Annotated[
        str, typer.Option("--measure", help="What decides: ndcg@K, map@K, hit@K, recall@K or mrr.")
    ] = "ndcg@10",
    profile: Annotated[
        str,
        typer.Option(
            "--profile", help="The present profile or a profile file; with --data only a name.", metavar="NAME_OR_FILE"
        ),
    ] = "default",
    save: Annotated[
        str | None,
        typer.Option("--save", help="Save the winner under this name, if it is better.", metavar="NAME"),
    ] = None,
    home: Annotated[
        Path | None,
        typer.Option(
            "--home",
            help="A knowledge base with the documents and the texts derived from them; it is changed only by "
            "--save. If it does not exist, it is made and kept.",
            metavar="DIR",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole report as JSON.")] = False,
) -> None:
    """Choose how to search: semantic, keyword or hybrid, which derived texts, which weights (AccurateRAG 2.3).

    Every list is retrieved once, and fused in hundreds of ways. Each strategy is shown with its paired difference to
    the best one and to the present profile. One is chosen only if the interval of that difference excludes zero;
    otherwise the present profile stays. The result is measured before re-ranking. With --data: on the set's validation
    part, also beside a running service. Without --questions, --beir and --data: on the sample questions.
    """
    from argot.evaluate.usecases import evaluation, strategy_choice
    from argot.profile_files import load_profile

    settings = read_settings(home)
    if sum((beir is not None, bool(questions or documents), data is not None)) > 1:
        raise typer.BadParameter(translate("give one of --questions FILE, --beir DIR and --data NAME"))
    if data is not None:
        _choose_on_pairs(data, split or "validation", measure, profile, save, home, as_json=as_json)
        return
    asked = strategy_choice.load_strategy_questions(
        beir, lambda: evaluation.choose_answer_questions(questions, documents, None, home, split, settings)
    )
    present = load_profile(profile, [], settings.home)
    choose = partial(strategy_choice.choose_strategy, asked, home, present, measure, save, settings)
    show_report(choose, as_json=as_json)


def _choose_on_pairs(  # noqa: PLR0917
    data: str,
    part: Literal["validation", "test"],
    measure: str,
    profile: str,
    save: str | None,
    home: Path | None,
    *,
    as_json: bool,
) -> None:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress

    from argot.evaluate.usecases.search_strategies import StrategyQuestion, strategy_choose
    from argot.service.usecases.questions.profiles import profile_save

    asked = StrategyQuestion(data=data, part=part, measure=measure, profile=profile, name=save)
    columns, console = (make_text_column(), BarColumn(), MofNCompleteColumn()), open_error_console()
    shown = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with open_knowledge_base(home) as client:
        with shown as progress:
            found = client.watch(Bar(progress, "").move).call(strategy_choose, asked=asked)
        kept = bool(save) and found.better
        if save and kept:
            client.call(profile_save, name=save, base=found.profile, switches=found.switches, about=found.about)
    if as_json:
        say_json(found)
    else:
        _tell(found)
    if save:
        told = f"Saved. Use it: argot ask --profile {save}" if kept else "Not saved: no strategy is clearly better."
        (say_aside if as_json else say)(told)


def _tell(found: StrategyChoice) -> None:
    say_aside(
        translate(
            "%(data)s, %(part)s part: %(questions)s questions, %(tried)s strategies, before re-ranking",
            data=found.data,
            part=found.part,
            questions=found.questions,
            tried=found.tried,
        )
    )
    rows: list[list[object]] = [
        [
            one.name + (" (present)" if one.name == found.present else ""),
            f"{one.mean:.3f}",
            "{:.3f} to {:.3f}".format(*one.interval95),
            f"{one.gain:+.3f}",
            "{:+.3f} to {:+.3f}".format(*one.gain95),
        ]
        for one in found.rows
    ]
    print_table(["strategy", found.measure, "95 %", "to the present", "95 %"], rows)
    better = "clearly better than the present one" if found.better else "the present one: no strategy is clearly better"
    say(translate("Chosen: %(chosen)s (%(better)s)", chosen=found.chosen, better=better))
