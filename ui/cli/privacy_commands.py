"""argot user export and argot user erase: the data stored about a person, to read and to erase."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argot.errors import InvalidInput
from argot.languages.catalogues import translate, translate_number
from argot.ui.cli.command_base import Home, format_examples, line, open_knowledge_base, say, say_aside, say_json
from argot.ui.cli.user_commands import Name, user, user_command

if TYPE_CHECKING:
    from argot.service.usecases.people.personal_data import ErasedPerson


def register(app: typer.Typer) -> None:
    user.command("export", epilog=format_examples("argot user export ann ann.json", "argot user export ann"))(export)
    user_command(
        "people.personal_data.user_erase",
        "argot user erase ann",
        "argot user erase ann --yes",
        ask="Erase %(name)s with all conversations, for good?",
    )(erase)


def export(
    name: Name,
    file: Annotated[
        Path | None, typer.Argument(help="The file to write; default: standard output.", metavar="FILE")
    ] = None,
    home: Home = None,
) -> None:
    """Export everything that is stored about a person, as JSON."""
    from argot.service.json_values import convert_to_json
    from argot.service.usecases.people.personal_data import user_export

    with open_knowledge_base(home) as client:
        found = client.call(user_export, name=name)
    if file is None:
        say_json(found)
        return
    try:
        # It holds everything that a person said: readable by its owner alone, and it never replaces a file.
        with open(file, "x", encoding="utf-8", opener=_open_private) as written:
            json.dump(convert_to_json(found), written, ensure_ascii=False, indent=2)
    except FileExistsError:
        raise InvalidInput(f"{file} is there already. Give another name.") from None
    one, many = "Wrote %(file)s: %(number)s conversation", "Wrote %(file)s: %(number)s conversations"
    say_aside(translate_number(one, many, len(found.conversations), file=file))


def erase(done: ErasedPerson, /, name: Name) -> None:
    """Erase a person and everything stored about them. This cannot be undone; backups keep their copies."""
    say(
        translate(
            "Erased %(name)s: %(conversations)s conversations, %(files)s files, %(questions)s "
            "questions in the queue, %(rows)s rows of the account, %(ratings)s of rating studies.",
            name=line(name),
            conversations=done.conversations,
            files=done.files,
            questions=done.questions,
            rows=done.rows,
            ratings=done.ratings,
        )
    )
    if not done.files_clean:
        say_aside(
            translate(
                "A store is being read just now: deleted text may stay in its log until the service stops. Erase again."
            )
        )
    named = {"documents": done.still_named.documents, "senses": done.still_named.senses}
    if any(named.values()):
        kinds = " and ".join(f"{count} {kind}" for kind, count in named.items() if count)
        say_aside(
            translate(
                "%(kinds)s still name %(name)s as a reader. Give them other readers before you reuse the name.",
                kinds=kinds,
                name=line(name),
            )
        )


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
