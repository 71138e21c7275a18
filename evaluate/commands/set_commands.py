"""argot evaluate set: evaluations on a set of training pairs, as the workbench's page Evaluate offers them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from argot.languages.catalogues import translate
from argot.ui.cli.command_base import (
    AsUser,
    Home,
    Json,
    format_examples,
    make_text_column,
    open_error_console,
    open_knowledge_base,
    print_table,
    say,
    say_aside,
    say_json,
)
from argot.ui.cli.progress_bar import Bar
from argot.ui.cli.usecase_commands import UseCaseCommands

if TYPE_CHECKING:
    from argot.evaluate.usecases.set_evaluations import ComparedEvaluation, EvaluationView

sets = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Evaluate retrieval or answers on a set of training pairs, in the knowledge base itself.",
)
set_command = UseCaseCommands(sets, "argot.evaluate.usecases.set_evaluations", as_user=True)
EvaluationName = Annotated[str, typer.Argument(help="Its id, as 'list' shows it.", metavar="EVALUATION")]


def register(app: typer.Typer) -> None:
    app.add_typer(sets, name="set")


@sets.command(
    epilog=format_examples(
        "argot evaluate set run ours",
        "argot evaluate set run ours --of answers --judge --limit 50",
        "argot evaluate set run ours --part validation --profile careful --json",
    )
)
def run(
    data: Annotated[str, typer.Argument(help="The set of pairs (argot learn data).", metavar="NAME")],
    *,
    of: Annotated[
        Literal["retrieval", "answers"], typer.Option("--of", help="Whether passages are found, or answers are right.")
    ] = "retrieval",
    part: Annotated[
        Literal["validation", "test"],
        typer.Option("--part", help="validation for choosing, test for the figures that you report."),
    ] = "test",
    profile: Annotated[
        str | None,
        typer.Option("--profile", help="The profile that answers; by default the service's.", metavar="NAME"),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="No more questions than this.", metavar="N")
    ] = None,
    judge: Annotated[
        bool, typer.Option("--judge", help="The language model also judges the answers: TRUE or FALSE.")
    ] = False,
    json_: Json = False,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Ask the questions of a set, and measure whether their passages are found, or the answers are right.

    The figures are kept, also for the page Evaluate of the workbench; 'compare' compares them question by question.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress

    from argot.evaluate.usecases.awaited_evaluations import evaluation_measure
    from argot.evaluate.usecases.set_evaluations import EvaluationQuestion

    asked = EvaluationQuestion(data=data, part=part, of=of, profile=profile, limit=limit, judge=judge)
    columns, console = (make_text_column(), BarColumn(), MofNCompleteColumn()), open_error_console()
    shown = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with open_knowledge_base(home) as client, shown as progress:
        watched = client.as_user(as_user).watch(Bar(progress, "asking").move)
        found = watched.call(evaluation_measure, asked=asked)
    if json_:
        say_json(found)
        return
    say(_describe(found))
    rows: list[list[object]] = [
        [one.measure, f"{one.mean:.3f}", f"{one.low:.3f} to {one.high:.3f}", one.questions] for one in found.figures
    ]
    print_table(["measure", "mean", "95 %", "questions"], rows)
    if found.left_out:
        say_aside(
            translate(
                "%(left_out)s pairs left out: their passages are gone, or not yours to read.", left_out=found.left_out
            )
        )


@set_command("evaluation_list", "argot evaluate set list", "argot evaluate set list --json", name="list", json=True)
def list_(found: list[EvaluationView], /) -> None:
    """List the evaluations that were kept, newest first."""
    rows: list[list[object]] = [
        [one.id, one.of, one.data, one.part, one.profile, one.questions, _name_first(one), one.ran_at] for one in found
    ]
    print_table(["evaluation", "of", "pairs", "part", "profile", "questions", "", "when"], rows)
    if not found:
        say_aside(translate("Nothing was evaluated yet. Begin with: argot evaluate set run NAME"))


@sets.command(
    epilog=format_examples("argot evaluate set compare e0001 e0002", "argot evaluate set compare e1 e2 --json")
)
def compare(
    evaluations: Annotated[
        list[str], typer.Argument(help="Two or more; all are compared with the first.", metavar="EVALUATION...")
    ],
    json_: Json = False,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Compare evaluations with the first, paired by question, with 95 % intervals, and questions won and lost."""
    from argot.evaluate.usecases.set_evaluations import evaluation_compare

    with open_knowledge_base(home) as client:
        found = client.as_user(as_user).call(evaluation_compare, evaluations=evaluations)
    if json_:
        say_json(found)
        return
    say(_describe(found[0].evaluation))
    for one in found[1:]:
        _print_compared(one)


@set_command("evaluation_remove", "argot evaluate set remove e0001")
def remove(gone: EvaluationView, /, evaluation: EvaluationName) -> None:
    """Remove an evaluation with its figures."""
    say(translate("Removed %(evaluation)s", evaluation=_describe(gone)))


def _print_compared(one: ComparedEvaluation) -> None:
    say(f"\n{_describe(one.evaluation)}")
    rows: list[list[object]] = [
        [
            each.measure,
            f"{each.first:.3f}",
            f"{each.second:.3f}",
            f"{each.gain:+.3f}",
            f"{each.low:+.3f} to {each.high:+.3f}",
            each.won,
            each.lost,
            each.questions,
        ]
        for each in one.changes
    ]
    print_table(["measure", "first", "this", "difference", "95 %", "won", "lost", "questions"], rows)


def _describe(one: EvaluationView) -> str:
    by = f", answered by {one.model}" if one.model else ""
    judged = f", judged by {one.judge}" if one.judge else ""
    return f"{one.id}: {one.of} on {one.data}, {one.part} part, profile {one.profile}{by}{judged}"


def _name_first(one: EvaluationView) -> str:
    return "" if not one.figures else f"{one.figures[0].measure} {one.figures[0].mean:.3f}"
