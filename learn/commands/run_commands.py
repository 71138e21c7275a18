"""argot learn runs, show, stop, remove, adopt and back: what trainings came to, and which models are in force."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from argot.clock import format_time_left
from argot.languages.catalogues import format_local_number, translate
from argot.learn.commands.learn_commands import Kind, Run, learn
from argot.ui.cli.command_base import (
    AsUser,
    Home,
    Json,
    format_examples,
    open_error_console,
    open_knowledge_base,
    print_table,
    say,
    say_aside,
    say_json,
)
from argot.ui.cli.usecase_commands import UseCaseCommands

if TYPE_CHECKING:
    from argot.learn.usecases.model_adoption import Gain
    from argot.learn.usecases.training_runs import RemovedRun, RunSummary


def register(app: typer.Typer) -> None:
    """Register the commands below `argot learn`."""
    plain = UseCaseCommands(learn, "argot.learn.usecases.training_runs", as_user=True)
    plain("training_list", "argot learn runs", "argot learn runs --json", json=True)(runs)
    learn.command("show", epilog=format_examples("argot learn show r0001", "argot learn show r0001 --json"))(show)
    plain("training_stop", "argot learn stop r0001")(stop)
    plain("training_remove", "argot learn remove r0001")(remove)
    learn.command("adopt", epilog=format_examples("argot learn adopt r0001"))(adopt)
    learn.command("back", epilog=format_examples("argot learn back reranker"))(back)


# -- runs -------------------------------------------------------------------------------------------------------------


def runs(found: list[RunSummary], /) -> None:
    """List the trainings, newest first: how far each is, and what came of it."""
    rows: list[list[object]] = [
        [one.id, one.kind, one.name, one.data, _describe_status(one), _describe_gain(one.gain)] for one in found
    ]
    print_table(["run", "kind", "name", "data", "state", "gain on validation"], rows)
    if not found:
        say_aside(translate("No model was trained yet. Make pairs to learn from: argot learn data --help"))


def _describe_status(one: RunSummary) -> str:
    if one.in_force:
        return "in force"
    if one.status == "running" and one.steps:
        return f"{one.doing} {one.step}/{one.steps}" + (
            f", {format_time_left(one.seconds_left)} left" if one.seconds_left else ""
        )
    return one.status


def _describe_gain(gain: Gain | None) -> str:
    return f"{gain.measure} {gain.gain:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})" if gain else ""


def show(run: Run, json_: Json = False, as_user: AsUser = None, home: Home = None) -> None:
    """Show a training: its recipe, how far it is, its figures before and after, and whether it may be adopted."""
    from argot.learn.usecases.model_adoption import model_verdict
    from argot.learn.usecases.training_runs import STARTED_FROM, training_show

    with open_knowledge_base(home) as client:
        found = client.as_user(as_user).call(training_show, run=run)
        verdict = client.as_user(as_user).call(model_verdict, run=run) if found.run.status == "done" else None
    if json_:
        say_json(found)
        return
    one = found.run
    say(f"{one.id}  {one.name}")
    say(
        translate(
            "%(kind)s from %(base)s, on %(data)s, seed %(seed)s, asked for by %(asked_by)s at %(created)s",
            kind=one.kind,
            base=one.base,
            data=one.data,
            seed=one.seed,
            asked_by=one.asked_by,
            created=one.created,
        )
    )
    if one.recipe:
        options = ", ".join(f"{name}={value}" for name, value in one.recipe.items())
        say(translate("recipe: %(options)s, the rest as by default", options=options))
    say(f"{_describe_status(one)}{f': {one.error}' if one.error else ''}")
    if found.figures:
        print_table(
            ["part", "measure", "before", "after", "change", "95 % interval"],
            [
                [
                    f"{each.part}, {each.of}" if each.of else each.part,
                    each.measure,
                    _format_figure(each.before),
                    _format_figure(each.after),
                    f"{each.gain:+.3f}",
                    f"{each.low:+.3f} to {each.high:+.3f}",
                ]
                for each in found.figures
                if each.ways == STARTED_FROM
            ],
        )
    if found.seconds:
        memory = (
            translate(", and %(size)s MB of memory at most", size=format_local_number(round(found.peak_megabytes)))
            if found.peak_megabytes
            else ""
        )
        say(
            translate(
                "It took %(seconds)s%(memory)s, since it was begun or last resumed.",
                seconds=format_time_left(found.seconds),
                memory=memory,
            )
        )
    if verdict is not None and not one.in_force:
        say(verdict.refused or translate("It may be adopted: argot learn adopt %(id)s", id=one.id))


def _format_figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def stop(_: RunSummary, /, run: Run) -> None:
    """Stop a training at its next step; its checkpoint is kept."""
    say(translate("%(run)s stops at its next step. Go on: argot learn resume %(run)s", run=run))


def remove(gone: RemovedRun, /, run: Run) -> None:
    """Remove a training for good, with its model. A model that was adopted stays in force."""
    say(translate("Removed %(id)s (%(name)s).", id=gone.id, name=gone.name))


# -- adopting ---------------------------------------------------------------------------------------------------------


def adopt(
    run: Run,
    for_everybody: Annotated[
        bool,
        typer.Option("--for-everybody", help="It learnt from documents that not all may read, and is to serve all."),
    ] = False,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Put a training's model into force, if it measures better on the validation part; 'back' takes it back."""
    from argot.learn.usecases.model_adoption import model_adopt

    with open_knowledge_base(home) as client, _show_rebuilding() as moved:
        done = client.as_user(as_user).watch(moved).call(model_adopt, run=run, for_everybody=for_everybody)
    say(
        translate(
            "%(kind)s: %(now)s is in force, instead of %(before)s.", kind=done.kind, now=done.now, before=done.before
        )
    )
    say_aside(done.say or translate("Take it back: argot learn back %(kind)s", kind=done.kind))


def back(
    kind: Annotated[Kind, typer.Argument(help="What is taken back.")], as_user: AsUser = None, home: Home = None
) -> None:
    """Take back the model that was adopted last: the one before it answers again."""
    from argot.learn.usecases.model_adoption import model_back

    with open_knowledge_base(home) as client, _show_rebuilding() as moved:
        done = client.as_user(as_user).watch(moved).call(model_back, kind=kind)
    say(
        translate(
            "%(kind)s: %(now)s is in force again, instead of %(before)s.",
            kind=done.kind,
            now=done.now,
            before=done.before,
        )
    )


@contextmanager
def _show_rebuilding() -> Iterator[Callable[[dict[str, Any]], None]]:
    """Show a bar while vectors are rebuilt."""
    from rich.progress import Progress

    from argot.ui.cli.progress_bar import Bar

    console = open_error_console()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        yield Bar(progress, "rebuilding vectors").move
