"""argot learn: training data, and models trained on it, which are adopted if they measure better."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from argot.clock import format_time_left
from argot.languages.catalogues import translate
from argot.learn.commands.learn_data_commands import data
from argot.ui.cli.command_base import (
    AsUser,
    Home,
    Json,
    format_count,
    format_examples,
    line,
    open_error_console,
    open_knowledge_base,
    print_table,
    read_settings,
    say,
    say_aside,
    say_json,
)

if TYPE_CHECKING:
    from argot.learn.usecases.model_adoption import Gain
    from argot.learn.usecases.training_queue import RunProgress
    from argot.learn.usecases.training_runs import RunSummary
    from argot.service.transport.knowledge_base_client import Client

Kind = Literal["embedder", "reranker", "generator"]
POLL_SECONDS = 1.0

learn = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Learning: training data and models of your own.")

learn.add_typer(data, name="data")

Data = Annotated[str, typer.Option("--data", help="The set of pairs to learn from (argot learn data).", metavar="SET")]
Base = Annotated[
    str,
    typer.Option("--base", help="The model to start from: a folder, a package or a training; else the one in use."),
]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", help="Something of the recipe, e.g. epochs=3; repeatable.", metavar="NAME=VALUE"),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same model.")]
Name = Annotated[str, typer.Option("--name", help="What to call it.")]
Detach = Annotated[bool, typer.Option("--detach", help="Do not wait: the service, or 'argot learn worker', trains it.")]
Run = Annotated[str, typer.Argument(help="Its id, as 'argot learn runs' shows it.", metavar="RUN")]


def register(app: typer.Typer) -> None:
    app.add_typer(learn, name="learn")


# -- training ---------------------------------------------------------------------------------------------------------


@learn.command(
    "embedder",
    epilog=format_examples("argot learn embedder --data manuals", "argot learn embedder --data manuals --set epochs=1"),
)
def embedder(  # noqa: PLR0917
    data: Data,
    base: Base = "",
    changes: Changes = None,
    seed: Seed = 7,
    name: Name = "",
    detach: Detach = False,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Train the model that finds passages by meaning, and measure it before and after."""
    _train("embedder", data, base, changes or [], seed, name, detach, as_user, home)


@learn.command(
    "reranker",
    epilog=format_examples(
        "argot learn reranker --data manuals", "argot learn reranker --data manuals --set form=cross_encoder"
    ),
)
def reranker(  # noqa: PLR0917
    data: Data,
    base: Base = "",
    changes: Changes = None,
    seed: Seed = 7,
    name: Name = "",
    detach: Detach = False,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Train the model that puts found passages in order, and measure it before and after."""
    _train("reranker", data, base, changes or [], seed, name, detach, as_user, home)


@learn.command(
    "generator",
    epilog=format_examples(
        "argot learn generator --data manuals --base models/SmolLM2-135M --set method=lora --detach"
    ),
)
def generator(  # noqa: PLR0917
    data: Data,
    base: Base = "",
    changes: Changes = None,
    seed: Seed = 7,
    name: Name = "",
    detach: Detach = False,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Train a language model on questions with answers, and measure it before and after."""
    _train("generator", data, base, changes or [], seed, name, detach, as_user, home)


@learn.command("recipe", epilog=format_examples("argot learn recipe embedder"))
def recipe(
    kind: Annotated[Kind, typer.Argument(help="What is trained.")], json_: Json = False, home: Home = None
) -> None:
    """List what a recipe decides, with the defaults: what --set takes."""
    from argot.learn.usecases.training_runs import training_recipe

    with open_knowledge_base(home) as client:
        found = client.call(training_recipe, kind=kind)
    if json_:
        say_json(found)
        return
    print_table(["name", "default", "takes", "for"], [[one.name, one.default, one.takes, one.says] for one in found])


def _train(  # noqa: PLR0917
    kind: Kind,
    data: str,
    base: str,
    changes: list[str],
    seed: int,
    name: str,
    detach: bool,
    as_user: str | None,
    home: Path | None,
) -> None:
    from argot.learn.usecases.training_runs import training_start

    base = str(Path(base).absolute()) if base and Path(base).is_dir() else base
    with open_knowledge_base(home) as client:
        begun = client.as_user(as_user).call(
            training_start,
            kind=kind,
            data=data,
            name=name,
            base=base,
            recipe=parse_changes(changes),
            seed=seed,
        )
        served = is_served(client)
        if detach or served:
            _print_waiting(begun, served=served, detach=detach)
        if served and not detach:
            _follow_service(client.as_user(as_user), begun.id)
    if not served and not detach:
        _follow_here(begun.id, home)


def parse_changes(changes: list[str]) -> dict[str, str]:
    """Parse `["epochs=3"]` into values by name."""
    from argot.errors import InvalidInput

    found = {}
    for text in changes:
        name, _, value = (part.strip() for part in text.partition("="))
        if not name or not value:
            raise InvalidInput(f"'{text}' is not a setting of the recipe. Write NAME=VALUE, e.g. epochs=3.")
        found[name] = value
    return found


def _print_waiting(begun: RunSummary, *, served: bool, detach: bool) -> None:
    if detach:
        say(translate("%(id)s waits for its turn.", id=begun.id))
        who = "The service trains it." if served else "Train it with: argot learn worker --once"
        say_aside(translate(who))
        say_aside(translate("See how far it is: argot learn show %(id)s", id=begun.id))


def is_served(client: Client) -> bool:
    from argot.service.transport.knowledge_base_client import SocketClient

    return isinstance(client, SocketClient)


def _follow_service(client: Client, run: str) -> None:
    """Follow a training of the service: Ctrl+C ends the watching alone."""
    from argot.learn.usecases.training_runs import training_show

    with show_progress() as tell:
        try:
            while (found := client.call(training_show, run=run)).run.status in ("waiting", "running"):
                last = found.curve[-1] if found.curve else {}
                tell(_describe_progress(found.run, {name: value for name, value in last.items() if name != "step"}))
                time.sleep(POLL_SECONDS)
        except KeyboardInterrupt:
            say_aside(translate("%(run)s goes on in the service. Stop it: argot learn stop %(run)s", run=run))
            raise typer.Exit(130) from None
    _print_end(run, found.run.status, found.run.error, found.run.gain)


def _follow_here(run: str, home: Path | None) -> None:
    """Train in this command, where no service runs; Ctrl+C stops it resumably."""
    from argot.learn.usecases.training_queue import get_runs_folder, train_here
    from argot.learn.usecases.training_runs import training_show

    settings = read_settings(home)
    with show_progress() as tell:
        train_here(get_runs_folder(settings.home), settings, run, lambda one: tell(_describe_progress(one, one.losses)))
    with open_knowledge_base(home) as client:
        found = client.call(training_show, run=run).run
    _print_end(run, found.status, found.error, found.gain)


def _print_end(run: str, status: str, error: str, gain: Gain | None) -> None:
    if status == "done":
        say(translate("%(run)s is done%(gain)s.", run=run, gain=f": {gain.description}" if gain else ""))
        say_aside(
            translate("Put it into force: argot learn adopt %(run)s", run=run)
            if gain and gain.is_better
            else translate("See: argot learn show %(run)s", run=run)
        )
        return
    if status in ("stopped", "waiting"):
        say_aside(translate("%(run)s is stopped; its checkpoint is kept. Go on: argot learn resume %(run)s", run=run))
        raise typer.Exit(130)
    say_aside(
        translate(
            "argot: %(run)s failed: %(error)s Go on from its checkpoint: argot learn resume %(run)s",
            run=run,
            error=error,
        )
    )
    raise typer.Exit(1)


@contextmanager
def show_progress() -> Iterator[Callable[[str], None]]:
    """Show one changing line on a terminal; elsewhere a line whenever another stage begins."""
    console = open_error_console()
    if console.is_terminal:
        from rich.text import Text

        with console.status("") as status:
            yield lambda text: status.update(Text(line(text)))
        return
    before = [""]

    def tell(text: str) -> None:
        stage = text.partition(":")[0]
        if stage != before[0]:
            before[0] = stage
            say_aside(text)

    yield tell


def _describe_progress(one: RunProgress | RunSummary, losses: Mapping[str, float]) -> str:
    step = one.doing or one.status
    if one.steps:
        step += f": {one.step:,} of {one.steps:,}"
    if losses and one.doing == "training":
        step += ", " + ", ".join(f"{name} {value:.4f}" for name, value in losses.items())
    return step + (f", {format_time_left(one.seconds_left)} left" if one.seconds_left else "")


@learn.command("resume", epilog=format_examples("argot learn resume r0001", "argot learn resume r0001 --detach"))
def resume(run: Run, detach: Detach = False, as_user: AsUser = None, home: Home = None) -> None:
    """Have a stopped or failed training go on from its last checkpoint."""
    from argot.learn.usecases.training_runs import training_resume

    with open_knowledge_base(home) as client:
        begun = client.as_user(as_user).call(training_resume, run=run)
        served = is_served(client)
        _print_waiting(begun, served=served, detach=detach)
        if served and not detach:
            _follow_service(client.as_user(as_user), run)
    if not served and not detach:
        _follow_here(run, home)


@learn.command(
    "worker", epilog=format_examples("argot learn worker --once", "argot learn worker --runs /mnt/shared/runs")
)
def worker(
    once: Annotated[bool, typer.Option("--once", help="End when none waits.")] = False,
    runs: Annotated[
        Path | None,
        typer.Option("--runs", help="The folder of trainings, also one carried or shared from another machine."),
    ] = None,
    home: Home = None,
) -> None:
    """Train what waits, oldest first, without a service; also on another machine, which needs the folder alone.

    Ctrl+C keeps a checkpoint, and lets the training wait for the next worker.
    """
    from argot.learn.usecases.training_queue import get_runs_folder, train_all

    settings = read_settings(home)
    reported: dict[str, str] = {}

    def tell(one: RunProgress) -> None:
        state = one.doing or one.status
        if reported.get(one.run) != state:
            reported[one.run] = state
            say_aside(f"{one.run} {line(one.name)}: {state}{f': {line(one.error)}' if one.error else ''}")

    try:
        train_all(runs or get_runs_folder(settings.home), settings, tell, once=once)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    say(translate("%(trainings)s taken up; none waits any more.", trainings=format_count(len(reported), "training")))
