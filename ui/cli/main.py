"""The command `argot`."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable
from copy import copy
from functools import cache
from io import StringIO
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, cast

import typer
import typer.main

from argot import __version__
from argot.disk_space import is_no_room
from argot.errors import ArgotError
from argot.garbage_collection import collect_seldom, end_without_collecting
from argot.languages.catalogues import page_language, speak, translate
from argot.languages.language_data import ENGLISH
from argot.remedies import find_remedy
from argot.stand_ins import leave_out_clients
from argot.ui.cli import (
    answer_commands,
    derive_commands,
    document_commands,
    glossary_commands,
    insight_commands,
    job_commands,
    key_commands,
    library_commands,
    maintenance_commands,
    mcp_command,
    move_command,
    privacy_commands,
    profile_commands,
    question_commands,
    service_commands,
    source_commands,
    term_commands,
    text_check_command,
    thread_commands,
    user_commands,
)
from argot.ui.cli.command_base import format_examples
from argot.ui.cli.help_texts import translate_help
from argot.ui.cli.terminal_language import choose_terminal_language, translate_usage_line
from argot.wings import load_parts

if TYPE_CHECKING:
    from typer.models import CommandInfo

app = typer.Typer(
    name="argot",
    no_args_is_help=True,
    rich_markup_mode=None,  # brackets in help texts stay as they are
    pretty_exceptions_enable=False,  # its tracebacks print local variables, including passwords and questions
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

# In the order of the help.
for _part in (
    question_commands,
    profile_commands,
    document_commands,
    source_commands,
    library_commands,
    derive_commands,
    job_commands,
    term_commands,
    text_check_command,
    glossary_commands,
    insight_commands,
    key_commands,
    mcp_command,
    user_commands,
    privacy_commands,
    thread_commands,
    answer_commands,
):
    _part.register(app)
for _register in load_parts("commands"):
    _register(app)
for _part in (service_commands, maintenance_commands, move_command):
    _part.register(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"argot {__version__}")
        raise typer.Exit


@app.callback(epilog=format_examples("argot init", "argot add docs/", 'argot ask "What is a PUC?"', "argot serve"))
def argot(
    version: Annotated[
        # Eager: handled before typer misses a command.
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Answer questions about your own documents, in your organisation's own language, with a citation per sentence."""


def _choose_remedy(error: OSError) -> str:
    if is_no_room(error):
        return translate("Free some space on that disk")
    if isinstance(error, FileNotFoundError):
        return translate("Check the name, and the folder that you are in")
    return translate("Change its permissions, or give another folder")


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run a command. An error is printed as one clear message: exit code 1, or 2 for a wrong command line."""
    collect_seldom()
    end_without_collecting()
    # Pydantic would look for plugins in the metadata of every installed package; Argot uses none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    leave_out_clients()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # In a terminal with another encoding than UTF-8 an answer must not end in a traceback.
            stream.reconfigure(errors="replace")
    with speak(choose_terminal_language(os.environ)):
        _run_command(arguments)


def _run_command(arguments: list[str] | None) -> NoReturn:
    try:
        argument_list = sys.argv[1:] if arguments is None else arguments
        command = _build_command(argument_list[0] if argument_list else "", page_language.get())
        if page_language.get() == ENGLISH:
            command(args=arguments, prog_name="argot")
        # Typer prints English; not standalone, it leaves errors of the command line to this module.
        left = command(args=arguments, prog_name="argot", standalone_mode=False)
        sys.exit(left if type(left) is int else 0)
    except typer.TyperException as error:
        _explain_usage(error)
    except typer.Abort:
        _fail(translate("Stopped."))
    except ArgotError as error:
        _fail(_translate_error(error))
    except sqlite3.DatabaseError as error:
        remedy = find_remedy(error) or "See which one, and how to repair it, with: argot doctor"
        _fail(
            translate(
                "A store cannot be read or written: %(error)s. %(remedy)s.", error=error, remedy=translate(remedy)
            )
        )
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        what = f"{where}{translate(error.strerror or str(error))}"
        text = translate("The system refused %(what)s. %(remedy)s.", what=what, remedy=_choose_remedy(error))
        _fail(text)
    except Exception as error:
        # From the environment, because the settings themselves may be wrong.
        if os.environ.get("ARGOT_LOG_LEVEL") == "DEBUG":
            raise
        kind = type(error).__name__
        _fail(
            translate(
                "Unexpected %(kind)s: %(error)s. Repeat it with ARGOT_LOG_LEVEL=DEBUG for the details.",
                kind=kind,
                error=error,
            )
        )
    sys.exit(0)


@cache
def _build_command(name: str, language: str) -> Callable[..., Any]:
    """Build the command line with only the command or group of this name, or with all of them if there is none such:
    typer takes a seventh of a second for them all. Its help is in the language.
    """
    only = copy(app)
    only.registered_commands = [one for one in app.registered_commands if _get_name(one) == name]
    only.registered_groups = [one for one in app.registered_groups if one.name == name]
    command = typer.main.get_command(only if only.registered_commands or only.registered_groups else app)
    if language != ENGLISH:
        translate_help(command)
    return command


def _get_name(command: CommandInfo) -> str:
    return command.name or typer.main.get_command_name(cast("Callable[..., Any]", command.callback).__name__)


def _explain_usage(error: Any) -> NoReturn:
    """Print what is wrong with a command line, as Typer words it, in the language of the terminal."""
    shown = StringIO()
    error.show(file=shown)
    for text in shown.getvalue().splitlines():
        typer.echo(translate_usage_line(text), err=True)
    sys.exit(error.exit_code)


def _translate_error(error: ArgotError) -> str:
    from argot.ui.translation.page_errors import translate_error

    return translate_error(error)


def _fail(message: str) -> NoReturn:
    from argot.ui.cli.command_base import say_aside

    say_aside(f"argot: {message}")
    sys.exit(1)


if __name__ == "__main__":
    main()
