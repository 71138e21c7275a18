"""argot learn data: questions with the passages that answer them, to train on and to measure by."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argot.errors import InvalidInput
from argot.languages.catalogues import translate
from argot.ui.cli.command_base import (
    AsUser,
    Audience,
    Home,
    Json,
    format_count,
    format_examples,
    line,
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
    from argot.learn.usecases.learning_data_results import DataPair, DataSet, RemovedData

data = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Questions with the passages that answer them, to train on and to measure by.",
)

data_command = UseCaseCommands(data, "argot.learn.usecases", as_user=True)

KINDS = "heading, definition, cloze, asked, twins; with a model: standard, alternative, simple, complex"
SetName = Annotated[str, typer.Argument(help="The set's name: small letters, digits, hyphens.", metavar="NAME")]
PerPassage = Annotated[
    int | None,
    typer.Option(
        "--per-passage",
        min=1,
        max=30,
        help="The most standard and alternative pairs of a passage (12 and 8); Trustworthy Answers has 30.",
        metavar="N",
    ),
]
PairId = Annotated[str, typer.Argument(help="The pair's id, as 'show' lists it.", metavar="PAIR")]


@data.command(
    epilog=format_examples(
        "argot learn data make ours",
        "argot learn data make ours --kind heading --kind twins --limit 500",
        "argot learn data make asked --kind standard --kind complex --tag manuals",
    )
)
def make(
    name: SetName,
    *,
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", help=f"{KINDS}. Repeatable; none: all that need no model.", metavar="KIND"),
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="No more pairs than this.", metavar="N")] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Another order of passages, other parts (7).", metavar="N")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", help="Only documents with this tag; repeatable.", metavar="TAG")
    ] = None,
    per_passage: PerPassage = None,
    json_: Json = False,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Make a set of training pairs from your documents. Stopped or killed, the same command goes on where it was.

    Of ten passages, eight are for training, one for validation and one for testing: no passage is in two parts.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

    from argot.learn.usecases.learning_data_making import DataRecipe, data_make
    from argot.learn.usecases.learning_data_results import DATA_KINDS
    from argot.service.usecases.usecase_registry import find_choice

    kinds = [find_choice(DATA_KINDS, one, "the kind") for one in kind or []]
    recipe = DataRecipe(kinds=kinds or None, limit=limit, seed=seed, tags=tag or None, per_passage=per_passage)
    columns = (make_text_column(), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    console = open_error_console()
    shown = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with open_knowledge_base(home) as client, shown as progress:
        watched = client.as_user(as_user).watch(Bar(progress, "making pairs").move)
        made = watched.call(data_make, name=name, recipe=recipe)
    if json_:
        say_json(made)
        return
    by_part, by_kind = _join_counts(made.by_part), _join_counts(made.by_kind)
    say(
        translate(
            "%(pairs)s in '%(name)s': %(by_part)s (%(by_kind)s).",
            pairs=format_count(made.pairs, "pair"),
            name=made.name,
            by_part=by_part,
            by_kind=by_kind,
        )
    )
    if made.left_out:
        say_aside(translate("Left out: %(counts)s.", counts=_join_counts(made.left_out)))


@data_command("learning_data.data_list", "argot learn data list", name="list", json=True)
def list_(found: list[DataSet], /) -> None:
    """List the sets of training pairs."""
    rows: list[list[object]] = [
        [one.name, one.pairs, _describe_state(one), _join_counts(one.by_part), one.created] for one in found
    ]
    print_table(["name", "pairs", "state", "parts", "made"], rows)
    if not rows:
        say_aside(translate("There is no set yet. Make one with: argot learn data make NAME"))


@data.command(
    epilog=format_examples("argot learn data show ours", "argot learn data show ours --state struck --words pump")
)
def show(
    name: SetName,
    *,
    words: Annotated[str, typer.Option("--words", help="With these words in question or answer.")] = "",
    kind: Annotated[str, typer.Option("--kind", help="Of this kind alone.", metavar="KIND")] = "",
    part: Annotated[str, typer.Option("--part", help="train, validation or test.", metavar="PART")] = "",
    state: Annotated[str, typer.Option("--state", help="kept, struck or corrected.", metavar="STATE")] = "",
    start: Annotated[int, typer.Option("--start", min=0, help="Skip the first N.", metavar="N")] = 0,
    limit: Annotated[int, typer.Option("--limit", min=1, max=200, help="Show at most N (25).", metavar="N")] = 25,
    json_: Json = False,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Show a set: how it was made, and its pairs."""
    from argot.learn.usecases.learning_data import data_show
    from argot.learn.usecases.learning_data_results import PAIR_PARTS, PAIR_STATES
    from argot.service.usecases.usecase_registry import find_choice

    of_part, of_state = find_choice(PAIR_PARTS, part, "--part"), find_choice(PAIR_STATES, state, "--state")
    with open_knowledge_base(home) as client:
        found = client.as_user(as_user).call(
            data_show, name=name, words=words, kind=kind, part=of_part, state=of_state, start=start, limit=limit
        )
    if json_:
        say_json(found)
        return
    print_table(
        ["pair", "kind", "part", "state", "question", "document"],
        [[one.id, one.kind, one.part, _describe_pair_state(one), one.question, one.document] for one in found.pairs],
    )
    shown = f"{start + 1} to {start + len(found.pairs)} of {found.total:,}" if found.pairs else "none"
    kept = format_count(found.set.pairs, "pair")
    say_aside(
        translate(
            "%(shown)s; %(kept)s kept, %(struck)s struck (%(state)s).",
            shown=shown,
            kept=kept,
            struck=found.set.struck,
            state=_describe_state(found.set),
        )
    )


@data.command(epilog=format_examples("argot learn data export ours ours.jsonl"))
def export(
    name: SetName,
    file: Annotated[Path, typer.Argument(help="The file to write.", metavar="FILE.jsonl")],
    *,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Write the kept pairs of a set as JSONL, with their passages."""
    from argot.files import write_atomically
    from argot.learn.usecases.learning_data import data_export

    with open_knowledge_base(home) as client:
        found = client.as_user(as_user).call(data_export, name=name)
    write_atomically(file, found.text)
    say(translate("%(pairs)s written to %(file)s", pairs=format_count(found.pairs, "pair"), file=file))


@data.command("import", epilog=format_examples("argot learn data import theirs theirs.jsonl --audience research"))
def import_(
    name: SetName,
    file: Annotated[Path, typer.Argument(help="A file as 'export' writes it.", metavar="FILE.jsonl")],
    *,
    audience: Audience = None,
    json_: Json = False,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Make a set of the pairs in a JSONL file: all of them, or none.

    Passages that are not among your documents are kept with their text; --audience says who may see those.
    """
    from argot.files import read_text
    from argot.learn.usecases.learning_data import data_import

    try:
        text = read_text(file)
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{file} cannot be read: byte {error.start + 1} is not UTF-8 text.") from error
    with open_knowledge_base(home) as client:
        made = client.as_user(as_user).call(data_import, name=name, text=text, audience=audience)
    if json_:
        say_json(made)
    else:
        say(
            translate(
                "%(pairs)s in '%(name)s': %(counts)s.",
                pairs=format_count(made.pairs, "pair"),
                name=made.name,
                counts=_join_counts(made.by_part),
            )
        )


@data_command("learning_data.data_strike", "argot learn data strike ours 1f0c9a2b3c4d5e6f")
def strike(struck: DataPair, /, name: SetName, pair: PairId) -> None:
    """Strike a pair: nothing learns from it, until it is restored."""
    say(translate("Struck: %(question)s", question=line(struck.question)))


@data_command("learning_data.data_restore", "argot learn data restore ours 1f0c9a2b3c4d5e6f")
def restore(restored: DataPair, /, name: SetName, pair: PairId) -> None:
    """Restore a pair that was struck."""
    say(translate("Restored: %(question)s", question=line(restored.question)))


@data.command(epilog=format_examples('argot learn data correct ours 1f0c9a2b3c4d5e6f --question "How hot may it get?"'))
def correct(
    name: SetName,
    pair: PairId,
    *,
    question: Annotated[str | None, typer.Option("--question", help="The question as it should be.")] = None,
    answer: Annotated[str | None, typer.Option("--answer", help="The answer as it should be; empty: none.")] = None,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Give a pair another question or answer."""
    from argot.learn.usecases.learning_data import data_correct

    if question is None and answer is None:
        raise typer.BadParameter(translate("give --question or --answer"))
    with open_knowledge_base(home) as client:
        saved = client.as_user(as_user).call(data_correct, name=name, pair=pair, question=question, answer=answer)
    say(translate("Saved: %(question)s", question=line(saved.question)))


@data_command("learning_data.data_remove", "argot learn data remove ours")
def remove(removed: RemovedData, /, name: SetName) -> None:
    """Remove a set with all its pairs. Models that learnt from it stay."""
    say(translate("Removed '%(name)s' with %(pairs)s.", name=removed.name, pairs=format_count(removed.pairs, "pair")))


def _describe_state(one: DataSet) -> str:
    return one.status if one.status == "done" else f"{one.status}, {one.done} of {one.total} passages"


def _describe_pair_state(one: DataPair) -> str:
    return f"{one.state}, corrected" if one.first_question is not None else one.state


def _join_counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items()) or "none"
