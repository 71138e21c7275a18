"""argot ratings: studies in which people rate answers of several systems, or passages, blindly."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from argot.errors import InvalidInput
from argot.languages.catalogues import translate
from argot.ui.cli.command_base import (
    AsUser,
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
    from argot.ratings.usecases.studies import Aspect, AspectResults, StudyDetails, StudySummary
    from argot.service.transport.knowledge_base_client import Client

ratings = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Studies: people rate answers blindly.")
rating_command = UseCaseCommands(ratings, "argot.ratings.usecases.studies", as_user=True)

Study = Annotated[str, typer.Argument(help="The study's name.", metavar="STUDY")]


def register(app: typer.Typer) -> None:
    app.add_typer(ratings, name="ratings")


@ratings.command(
    "create",
    epilog=format_examples(
        "argot ratings create spring --file answers.jsonl --readers-confirmed",
        "argot ratings create profiles --questions questions.txt --profile default --profile plain_rag",
        "argot ratings create profiles --resume",
        "argot ratings create thumbs --thumbs --bad --since 2027-01-01",
        'argot ratings create tone --file answers.jsonl --aspect "Tone: polite and plain?" --no-ranking',
        "argot ratings create search --kind passages --questions questions.txt",
        "argot ratings create sources --kind references --file answered.jsonl --readers-confirmed",
    ),
)
def create(
    study: Study,
    *,
    file: Annotated[
        Path | None,
        typer.Option("--file", help="JSONL: question, answers by system; reference, documents.", metavar="FILE"),
    ] = None,
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            help="What is judged: answers; passages (are they relevant?); references (what do sentences rest on?).",
            metavar="KIND",
        ),
    ] = "answers",
    questions: Annotated[
        Path | None,
        typer.Option("--questions", help="Questions to ask through profiles: one a line, or JSONL.", metavar="FILE"),
    ] = None,
    profile: Annotated[
        list[str] | None, typer.Option("--profile", help="A profile that answers; repeatable.", metavar="NAME")
    ] = None,
    thumbs: Annotated[bool, typer.Option("--thumbs", help="Answers that askers judged by a thumb and shared.")] = False,
    good: Annotated[bool, typer.Option("--good", help="With --thumbs: only answers that helped.")] = False,
    bad: Annotated[bool, typer.Option("--bad", help="With --thumbs: only answers that did not help.")] = False,
    since: Annotated[str, typer.Option("--since", help="With --thumbs: only from this day on.", metavar="DATE")] = "",
    about: Annotated[str, typer.Option("--about", help="What raters should know.", metavar="TEXT")] = "",
    aspect: Annotated[
        list[str] | None,
        typer.Option("--aspect", help="What is judged from 1 to 5; repeatable.", metavar='"NAME: WORDING"'),
    ] = None,
    no_ranking: Annotated[bool, typer.Option("--no-ranking", help="Raters do not rank the answers.")] = False,
    readers_confirmed: Annotated[
        bool,
        typer.Option("--readers-confirmed", help="All whom you invite may read every answer of the file."),
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Ask what an earlier run left unasked.")] = False,
    json_: Json = False,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Make a study: of answers in a file, of questions asked through profiles, or of answers with thumbs.

    Without --aspect: Correctness, Helpfulness and Informativeness. Of passages and references one profile is asked.
    Stop the asking when you like: what is answered stays, and --resume goes on there.
    """
    from argot.ratings.usecases.questions import rating_create_asked, rating_create_from_thumbs
    from argot.ratings.usecases.studies import StudyForm, StudyKind, rating_create
    from argot.service.usecases.usecase_registry import find_choice

    if sum((file is not None, questions is not None, thumbs, resume)) != 1:
        raise InvalidInput("Give one of --file, --questions, --thumbs and --resume. See: argot ratings create --help")
    judged = find_choice(get_args(StudyKind), kind, "--kind")
    form = StudyForm(name=study, about=about, aspects=_parse_aspects(aspect), ranking=not no_ranking, kind=judged)
    with open_knowledge_base(home) as opened:
        client = opened.as_user(as_user)
        if file is not None:
            confirmed = readers_confirmed
            made = client.call(rating_create, form=form, data=_read_file(file), readers_confirmed=confirmed)
        elif questions is not None:
            text = _read_file(questions)
            asked = client.call(rating_create_asked, form=form, questions=text, profiles=profile or [])
            made = _ask_missing(client, study)
            if left := asked.questions - made.questions:
                say_aside(
                    translate("Left out: %(left)s, for which nothing was found.", left=format_count(left, "question"))
                )
        elif thumbs:
            value: Literal[-1, 1] | None = None if bad == good else 1 if good else -1
            made = client.call(rating_create_from_thumbs, form=form, value=value, since=since, profiles=profile or [])
            made = _ask_missing(client, study) if profile else made
        else:
            made = _ask_missing(client, study)
    _print_summary(made, json_=json_)
    if not json_:
        say_aside(translate("Invite people with: argot ratings invite %(study)s NAME", study=shlex.quote(made.name)))


@rating_command("rating_list", "argot ratings list", "argot ratings list --json", name="list", json=True)
def list_studies(found: list[StudySummary], /) -> None:
    """List the studies, the latest first, and how far each is."""
    rows: list[list[object]] = [
        [one.name, f"{one.ready} of {one.questions}", one.raters, one.ratings, "closed" if one.closed_at else "open"]
        for one in found
    ]
    print_table(["study", "answered", "raters", "ratings", ""], rows)
    say_aside(format_count(len(found), "study", "studies"))


@rating_command("rating_show", "argot ratings show spring", "argot ratings show spring --json", json=True)
def show(found: StudyDetails, /, study: Study) -> None:
    """Show how far each rater is, and what they say: means with 95 % intervals, ranks, Krippendorff's alpha."""
    _print_summary(found)
    rows: list[list[object]] = [[one.person, f"{one.rated} of {one.of}", one.passed] for one in found.progress]
    if rows:
        print_table(["rater", "rated", "cannot judge"], rows)
    head = {"answers": "system", "passages": "passage", "references": ""}[found.kind]
    for one in found.results.measured:
        if one.systems:
            _print_results(one, head)


@ratings.command(
    "invite", epilog=format_examples("argot ratings invite spring ann ben", "argot ratings invite spring ben --not")
)
def invite(
    study: Study,
    people: Annotated[list[str], typer.Argument(help="Names of users.", metavar="NAME...")],
    not_: Annotated[bool, typer.Option("--not", help="Take the invitation back; what they saved stays.")] = False,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Invite users to rate the answers of a study, on the page /ratings of the service."""
    from argot.ratings.usecases.studies import rating_invite, rating_uninvite

    with open_knowledge_base(home) as client:
        case = rating_uninvite if not_ else rating_invite
        found = client.as_user(as_user).call(case, study=study, people=people)
    _print_summary(found)


@ratings.command("close", epilog=format_examples("argot ratings close spring", "argot ratings close spring --not"))
def close(
    study: Study,
    not_: Annotated[bool, typer.Option("--not", help="Open it again.")] = False,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Take no more ratings in a study. All that was saved stays."""
    from argot.ratings.usecases.studies import rating_close, rating_reopen

    with open_knowledge_base(home) as client:
        _print_summary(client.as_user(as_user).call(rating_reopen if not_ else rating_close, study=study))


@ratings.command(
    "export",
    epilog=format_examples(
        "argot ratings export spring > spring.jsonl",
        "argot ratings export spring --csv > spring.csv",
        "argot ratings export sources --annotated > annotated.jsonl",
        "argot ratings export spring --labels > labels.jsonl    # then: argot evaluate calibrate --judge aspects",
    ),
)
def export(
    study: Study,
    *,
    csv: Annotated[bool, typer.Option("--csv", help="A line for each answer that somebody rated.")] = False,
    annotated: Annotated[
        bool,
        typer.Option("--annotated", help="Of references: as the experiment trustworthy-7 reads it."),
    ] = False,
    labels: Annotated[
        bool,
        typer.Option("--labels", help="Of answers: as 'argot evaluate calibrate' reads it, to compare a judge."),
    ] = False,
    as_user: AsUser = None,
    home: Home = None,
) -> None:
    """Print every saved rating with the names of the systems, as JSON lines or CSV."""
    from argot.ratings.usecases.studies import RatingForm, rating_export

    if csv + annotated + labels > 1:
        raise InvalidInput("Give one of --csv, --annotated and --labels.")
    form: RatingForm = "csv" if csv else "annotated" if annotated else "labels" if labels else "jsonl"
    with open_knowledge_base(home) as client:
        found = client.as_user(as_user).call(rating_export, study=study, form=form)
    if found.text:
        # `say` ends the last line itself.
        say(found.text.replace("\r\n", "\n").rstrip("\n"))
    else:
        say_aside(translate("No rating has been saved yet that this form holds."))


@rating_command(
    "rating_remove",
    "argot ratings remove spring",
    "argot ratings remove spring --yes",
    ask="Remove %(study)s with all its ratings, for good?",
)
def remove(gone: StudySummary, /, study: Study) -> None:
    """Delete a study with its questions, answers and ratings, for good."""
    say(
        translate(
            "Removed %(name)s with %(ratings)s.", name=line(gone.name), ratings=format_count(gone.ratings, "rating")
        )
    )


def _parse_aspects(values: list[str] | None) -> list[Aspect] | None:
    from argot.ratings.usecases.studies import Aspect

    parts = [one.partition(":") for one in values or ()]
    return [Aspect(name.strip(), wording.strip()) for name, _, wording in parts] or None


def _read_file(path: Path) -> str:
    from argot.files import read_text

    try:
        return read_text(path)
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is not UTF-8 text. Save it as UTF-8.") from None


def _ask_missing(client: Client, study: str) -> StudySummary:
    """Ask the missing questions, with a progress bar."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress

    from argot.ratings.usecases.questions import rating_ask

    console = open_error_console()
    columns = (make_text_column(), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        return client.watch(Bar(progress, "asking").move).call(rating_ask, study=study)


def _print_summary(found: StudySummary, *, json_: bool = False) -> None:
    if json_:
        say_json(found)
        return
    state = translate("closed") if found.closed_at else translate("open")
    questions = format_count(found.questions, "question")
    answered = translate("%(number)s of %(questions)s answered", number=found.ready, questions=questions)
    counts = f"{format_count(found.raters, 'rater')}, {format_count(found.ratings, 'rating')}"
    say(f"{line(found.name)}: {answered}, {counts}, {state}")


def _print_results(one: AspectResults, head: str) -> None:
    alpha = "–" if one.alpha is None else f"{one.alpha:.3f}"
    say("\n" + translate("%(name)s (Krippendorff's alpha %(alpha)s)", name=line(one.name), alpha=alpha))
    rows: list[list[object]] = []
    for system in one.systems:
        low_high = "" if system.interval is None else f"{system.interval[0]:.2f} to {system.interval[1]:.2f}"
        rows.append([system.system, f"{system.mean:.2f}", low_high, *system.counts])
    lowest, most = one.scale
    print_table([head, "mean", "95 %", *map(str, range(lowest, most + 1))], rows)
    if one.pairs:
        pairs: list[list[object]] = [[pair.first, pair.second, pair.wins, pair.ties, pair.losses] for pair in one.pairs]
        print_table(["first", "second", "first better", "same", "second better"], pairs)
