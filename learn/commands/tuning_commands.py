"""argot learn tuning: pairs, trainings and figures by one Start."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from argot.clock import format_time_left
from argot.languages.catalogues import translate
from argot.learn.commands.learn_commands import Kind, is_served, learn, parse_changes, show_progress
from argot.learn.commands.learn_data_commands import KINDS, PerPassage
from argot.ui.cli.command_base import (
    AsUser,
    Home,
    Json,
    format_examples,
    line,
    open_knowledge_base,
    print_table,
    read_settings,
    say,
    say_aside,
    say_json,
)
from argot.ui.cli.usecase_commands import UseCaseCommands

if TYPE_CHECKING:
    from argot.learn.usecases.learning_data_making import DataRecipe
    from argot.learn.usecases.tuning_stages import TuningStage, TuningView
    from argot.learn.usecases.tunings import ModelsToTune
    from argot.service.transport.knowledge_base_client import Client

POLL_SECONDS = 1.0
tuning = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="One start for pairs, trainings and figures: what measures better can then be adopted.",
)
tuning_command = UseCaseCommands(tuning, "argot.learn.usecases.tunings", as_user=True)
TuningName = Annotated[str, typer.Argument(help="Its id, as 'argot learn tuning list' shows it.", metavar="TUNING")]
Detach = Annotated[bool, typer.Option("--detach", help="Do not wait: the service goes on with it.")]


def register(_: typer.Typer) -> None:
    learn.add_typer(tuning, name="tuning")


@tuning.command(
    epilog=format_examples(
        "argot learn tuning start ours --model embedder",
        "argot learn tuning start ours --model embedder --model reranker --tag manuals --set embedder.epochs=3",
        "argot learn tuning start asked --model generator --base generator=models/SmolLM2-135M --kind standard",
        "argot learn tuning start ours --model reranker    # the set 'ours' is finished: it is used as it is",
    )
)
def start(
    name: Annotated[
        str, typer.Argument(help="The name of the set of pairs: a new one, or a finished one.", metavar="NAME")
    ],
    *,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", help="Tune embedder, reranker or generator; repeatable (embedder).", metavar="MODEL"),
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", help="Only documents with this tag; repeatable.", metavar="TAG")
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", help=f"{KINDS}. Repeatable; none: all that need no model.", metavar="KIND"),
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="No more pairs than this.", metavar="N")] = None,
    per_passage: PerPassage = None,
    base: Annotated[
        list[str] | None,
        typer.Option("--base", help="The model to start from; else the one in use.", metavar="MODEL=FOLDER"),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", help="Something of a recipe, e.g. embedder.epochs=3.", metavar="MODEL.NAME=VALUE"),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same pairs and models.")] = 7,
    detach: Detach = False,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Make pairs from your documents, train models on them, and measure each beside the one that it started from.

    Stopped or killed, 'argot learn tuning resume' goes on at the stage where it was. Nothing changes for anybody until
    you adopt a model.
    """
    from argot.learn.usecases.tunings import tuning_start

    tuned = _parse_models(model or ["embedder"], base or [], changes or [], seed)
    recipe = replace(_parse_data(kind or [], limit, tag or [], seed), per_passage=per_passage)
    _go_on(
        lambda client: client.call(tuning_start, name=name, tuned=tuned, recipe=recipe),
        detach=detach,
        as_user=as_user,
        home=home,
    )


def _parse_models(models: list[str], bases: list[str], changes: list[str], seed: int) -> ModelsToTune:
    from argot.learn.run_folder import RUN_KINDS
    from argot.learn.usecases.tunings import ModelsToTune
    from argot.service.usecases.usecase_registry import find_choice

    places, recipes = {}, defaultdict[Kind, dict[str, str]](dict)
    for one, place in parse_changes(bases).items():
        folder = str(Path(place).absolute()) if Path(place).is_dir() else place
        places[find_choice(RUN_KINDS, one, "the model of --base")] = folder
    for one, value in parse_changes(changes).items():
        kind, _, name = one.partition(".")
        recipes[find_choice(RUN_KINDS, kind, "the model of --set")][name] = value
    wanted = [find_choice(RUN_KINDS, one, "--model") for one in models]
    return ModelsToTune(models=wanted, bases=places, recipes=dict(recipes), training_seed=seed)


def _parse_data(kinds: list[str], limit: int | None, tags: list[str], seed: int) -> DataRecipe:
    from argot.learn.usecases.learning_data_making import DataRecipe
    from argot.learn.usecases.learning_data_results import DATA_KINDS, DEFAULT_SEED
    from argot.service.usecases.usecase_registry import find_choice

    wanted = [find_choice(DATA_KINDS, one, "the kind") for one in kinds]
    return DataRecipe(kinds=wanted or None, limit=limit, seed=seed if seed != DEFAULT_SEED else None, tags=tags or None)


@tuning_command("tuning_list", "argot learn tuning list", "argot learn tuning list --json", name="list", json=True)
def list_(found: list[TuningView], /) -> None:
    """List the tunings, newest first, each with its stages."""
    rows: list[list[object]] = [
        [one.id, one.data, one.status, ", ".join(map(_describe_stage, one.stages)), one.created] for one in found
    ]
    print_table(["tuning", "pairs", "state", "stages", "started"], rows)
    if not found:
        say_aside(translate("There is no tuning yet. Start one with: argot learn tuning start NAME"))


@tuning.command(epilog=format_examples("argot learn tuning show t0001", "argot learn tuning show t0001 --json"))
def show(tuning: TuningName, json_: Json = False, as_user: AsUser = None, home: Home = None) -> None:
    """Show the stages of a tuning, and what each came to."""
    from argot.learn.usecases.tunings import tuning_show

    with open_knowledge_base(home) as client:
        found = client.as_user(as_user).call(tuning_show, tuning=tuning)
    if json_:
        say_json(found)
    else:
        _print_tuning(found)


@tuning_command("tuning_stop", "argot learn tuning stop t0001")
def stop(stopped: TuningView, /, tuning: TuningName) -> None:
    """Stop a tuning at its present stage; what is made and trained is kept."""
    say(translate("%(id)s is stopped. Go on: argot learn tuning resume %(tuning)s", id=stopped.id, tuning=tuning))


@tuning_command("tuning_remove", "argot learn tuning remove t0001")
def remove(gone: TuningView, /, tuning: TuningName) -> None:
    """Remove a tuning that has ended from the list; its pairs and trainings stay."""
    say(translate("Removed %(tuning)s. Its pairs ('%(data)s') and trainings stay.", tuning=tuning, data=gone.data))


@tuning.command(epilog=format_examples("argot learn tuning resume t0001", "argot learn tuning resume t0001 --detach"))
def resume(tuning: TuningName, detach: Detach = False, as_user: AsUser = None, home: Home = None) -> None:
    """Have a stopped, failed or killed tuning go on at the stage where it was."""
    from argot.learn.usecases.tunings import tuning_resume

    _go_on(lambda client: client.call(tuning_resume, tuning=tuning), detach=detach, as_user=as_user, home=home)


# -- going on ---------------------------------------------------------------------------------------------------------


def _go_on(begin: Callable[[Client], TuningView], *, detach: bool, as_user: str | None, home: Path | None) -> None:
    """Begin a tuning, and follow that of the service to its end, or do its stages here where no service runs."""
    begun: list[TuningView] = []

    def begin_once(client: Client) -> TuningView:
        # In the step that does the first stage: the base is not closed between the two.
        if not begun:
            begun.append(begin(client))
        return begun[0]

    try:
        while (found := _take_step(begin_once, detach=detach, as_user=as_user, home=home)) is None:
            pass
    except KeyboardInterrupt:
        if begun:
            _stop(begun[0].id, as_user, home)
        raise typer.Exit(130) from None
    if detach:
        say(translate("%(id)s is begun.", id=found.id))
        say_aside(
            translate(
                "A running service goes on with it. See how far it is: argot learn tuning show %(id)s", id=found.id
            )
        )
        return
    _print_tuning(found)
    if found.status != "done":
        if not found.lacks_pairs:
            say_aside(translate("Go on: argot learn tuning resume %(id)s", id=found.id))
        raise typer.Exit(1 if found.status == "failed" else 130)


def _stop(id_: str, as_user: str | None, home: Path | None) -> None:
    from argot.learn.usecases.tunings import tuning_stop

    with open_knowledge_base(home) as client:
        client.as_user(as_user).call(tuning_stop, tuning=id_)
    say_aside(translate("%(id)s is stopped. Go on: argot learn tuning resume %(id)s", id=id_))


def _take_step(
    begin: Callable[[Client], TuningView], *, detach: bool, as_user: str | None, home: Path | None
) -> TuningView | None:
    """Go on up to the end of a stage; return the tuning once it has ended, or is left to the service."""
    from argot.learn.usecases.tunings import tuning_prepare

    with open_knowledge_base(home) as opened, show_progress() as tell:
        client = opened.as_user(as_user)
        found = begin(client)
        if detach:
            return found
        if is_served(opened):
            return _follow_service(client, found.id, tell)
        found = client.watch(lambda event: tell(_describe_event(event))).call(tuning_prepare, tuning=found.id)
    stage = _find_present(found)
    if stage is None or found.status != "running":
        return found
    _train(stage, home)
    return None


def _describe_event(event: dict[str, Any]) -> str:
    return f"{event['name']}: {event['done']:,} of {event['total']:,} passages"


def _train(stage: TuningStage, home: Path | None) -> None:
    """Train the stage's model in this command.

    Raises:
        KeyboardInterrupt: it was stopped.
    """
    from argot.learn.usecases.training_queue import RunProgress, get_runs_folder, train_here

    def describe(one: RunProgress) -> str:
        return f"{stage.name}, {one.doing or one.status}: {one.step:,} of {one.steps:,}"

    settings = read_settings(home)
    with show_progress() as tell:
        ended = train_here(get_runs_folder(settings.home), settings, stage.run, lambda one: tell(describe(one)))
    if ended.status in ("stopped", "waiting"):
        raise KeyboardInterrupt


def _follow_service(client: Client, id_: str, tell: Callable[[str], None]) -> TuningView:
    """Follow a tuning of the service: Ctrl+C ends the watching alone."""
    from argot.learn.usecases.tunings import tuning_show

    try:
        while (found := client.call(tuning_show, tuning=id_)).status == "running":
            if (stage := _find_present(found)) is not None:
                tell(f"{stage.name}, {stage.doing or stage.status}: {stage.done:,} of {stage.total:,}")
            time.sleep(POLL_SECONDS)
    except KeyboardInterrupt:
        say_aside(translate("%(id)s goes on in the service. Stop it: argot learn tuning stop %(id)s", id=id_))
        raise typer.Exit(130) from None
    return found


def _find_present(found: TuningView) -> TuningStage | None:
    return next((one for one in found.stages if one.status in ("waiting", "running")), None)


# -- printing ---------------------------------------------------------------------------------------------------------


def _print_tuning(found: TuningView) -> None:
    say(f"{found.id}: {found.status}{f': {line(found.error)}' if found.error else ''}")
    rows: list[list[object]] = []
    for one in found.stages:
        gain, said = one.validation, one.test
        rows.append(
            [
                one.name,
                _describe_stage(one).partition(" ")[2],
                f"argot learn data show {found.data}" if one.name == "pairs" else one.run,
                "" if gain is None else f"{gain.measure} {gain.gain:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})",
                "" if said is None else f"{said.gain:+.3f} ({said.low:+.3f} to {said.high:+.3f})",
            ]
        )
    print_table(["stage", "state", "see", "validation", "test"], rows)
    for one in found.stages:
        if one.is_offered:
            say(
                translate(
                    "The %(name)s measures better. Put it into force: argot learn adopt %(run)s",
                    name=one.name,
                    run=one.run,
                )
            )
        elif one.validation is not None and not one.in_force:
            say(
                translate(
                    "The %(name)s does not surely measure better. See: argot learn show %(run)s",
                    name=one.name,
                    run=one.run,
                )
            )


def _describe_stage(one: TuningStage) -> str:
    far = f" {one.done:,}/{one.total:,}" if one.total and one.status in ("running", "stopped") else ""
    left = f", {format_time_left(one.seconds_left)} left" if one.seconds_left and one.status == "running" else ""
    return f"{one.name} {'in force' if one.in_force else one.status}{far}{left}"
