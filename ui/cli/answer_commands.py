"""argot answers: answers that managers verify, and that are then given first to the same question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from argot.languages.catalogues import translate, translate_number
from argot.ui.cli.command_base import line, print_table, say, say_aside
from argot.ui.cli.usecase_commands import UseCaseCommands

if TYPE_CHECKING:
    from argot.service.usecases.questions.verified_answers import VerifiedShown

answers = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Verified answers, for managers.")
answer_command = UseCaseCommands(answers, as_user=True)

AnswerId = Annotated[int, typer.Argument(help="Its number (see `argot answers list`).", metavar="ANSWER", min=0)]
EditedText = Annotated[str, typer.Option("--text", help="The answer in other words, as Markdown.", metavar="TEXT")]


def register(app: typer.Typer) -> None:
    app.add_typer(answers, name="answers")


@answer_command(
    "questions.verified_answers.verified_add",
    "argot answers verify t0123456789abcdef",
    'argot answers verify t0123456789abcdef 2 --text "Trimming a drive takes about 40 seconds."',
    json=True,
)
def verify(
    found: VerifiedShown,
    /,
    thread: Annotated[str, typer.Argument(help="The thread (see `argot threads list`).", metavar="THREAD")],
    turn: Annotated[
        int | None,
        typer.Argument(help="The number of the answer in it, from 0; without it the last.", metavar="TURN", min=0),
    ] = None,
    text: EditedText = "",
) -> None:
    """Verify an answer: whoever asks the same question and may read its sources gets it first, with your name."""
    say(translate("Verified as answer %(id)s: %(question)s", id=found.id, question=line(found.question)))


@answer_command(
    "questions.verified_answers.verified_list",
    "argot answers list",
    "argot answers list --expired",
    name="list",
    json=True,
)
def list_answers(
    found: list[VerifiedShown],
    /,
    expired: Annotated[bool, typer.Option("--expired", help="Only those that are not given any more.")] = False,
) -> None:
    """List the verified answers that you look after, the latest first, and why some of them have expired."""
    rows = [[one.id, one.at[:16], line(one.by), line(one.question), line(" ".join(one.expired))] for one in found]
    print_table(["answer", "verified", "by", "question", "expired"], rows)
    say_aside(translate_number("%(number)s verified answer", "%(number)s verified answers", len(found)))


@answer_command("questions.verified_answers.verified_renew", "argot answers renew 3", json=True)
def renew(found: VerifiedShown, /, answer: AnswerId, text: EditedText = "") -> None:
    """Verify an answer again: its text is compared with its documents as they are now."""
    say(translate("Verified answer %(id)s again: %(question)s", id=found.id, question=line(found.question)))


@answer_command("questions.verified_answers.verified_remove", "argot answers remove 3")
def remove(found: VerifiedShown, /, answer: AnswerId) -> None:
    """Drop a verified answer: its question is answered like any other."""
    say(translate("Dropped answer %(id)s: %(question)s", id=found.id, question=line(found.question)))
