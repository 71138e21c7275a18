"""The language of a terminal, and the errors of the commands that everybody uses in it."""

from __future__ import annotations

from collections.abc import Mapping

from argot.languages.catalogues import LANGUAGE_NAMES, translate
from argot.languages.language_data import ENGLISH
from argot.languages.written_texts import find_template, translate_written

ERRORS = (
    "There is no knowledge base in %(home)s. Make one with: %(command)s",
    "There is no file or folder %(path)s. Nothing was added.",
    "%(address)s was not added: %(host)s lies in a private network (%(number)s). An administrator can name it as a "
    "source: argot source add %(source)s --with private=yes",
    "The question is empty. Write what you want to know.",
    "There is no thread '%(thread)s' of yours. See them with: argot threads list",
    "There is no context '%(context)s'. Contexts: %(contexts)s.",
    "Unknown profile '%(name)s'. Profiles: %(names)s.",
    "Unknown switch '%(name)s'. Switches: %(names)s.",
    "There is no document '%(name)s'. See them all with: argot list",
    "'%(text)s' is not a date. Write it as 2025-03-01, 2025-03 or 2025.",
    "There is no user '%(name)s'. Make one with: argot user add %(user)s --group GROUP",
    "Unknown glossary format '%(name)s'. Formats: %(names)s.",
)
"""What use cases write in English for logs and programs, too, and these commands meet most."""
USAGE_LINES = ("Usage: %(words)s", "Try '%(command)s' for help.", "Error: %(problem)s")
USAGE_PROBLEMS = (
    "Missing argument %(name)s.",
    "Missing option %(name)s.",
    "Missing command.",
    "No such command %(name)s.",
    "No such command %(name)s. Did you mean %(others)s?",
    "No such option: %(name)s (Possible options: %(others)s)",
    "No such option: %(name)s",
    "Option %(name)s requires an argument.",
    "Option %(name)s requires %(number)s arguments.",
    "Option %(name)s does not take a value.",
    "Got unexpected extra argument(s) (%(words)s)",
    "Invalid value for %(name)s: Input should be a valid integer, unable to parse string as an integer",
    "Invalid value for %(name)s: Input should be a valid number, unable to parse string as a number",
    "Invalid value for %(name)s: Value error, %(value)s is not one of %(others)s.",
    "Invalid value for %(name)s: %(reason)s",
)
"""The lines in which Typer says what is wrong with a command line, and the problems that it knows."""


def choose_terminal_language(environment: Mapping[str, str]) -> str:
    """Return the language that a terminal asks for, as gettext reads it; English without a catalogue of it."""
    locale = next((environment[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(name)), "C")
    if locale.partition(".")[0] in ("C", "POSIX"):
        return ENGLISH
    wanted = [*environment.get("LANGUAGE", "").split(":"), locale]
    codes = (name.partition(".")[0].partition("_")[0] for name in wanted)
    return next((code for code in codes if code in LANGUAGE_NAMES), ENGLISH)


def translate_usage_line(text: str) -> str:
    """Write a line of Typer's about a wrong command line in the language of the terminal."""
    template, values = find_template(text, USAGE_LINES)
    if "problem" in values:
        values["problem"] = translate_written(values["problem"], USAGE_PROBLEMS)
    return translate(template, **values) if template else text


def translate_command_error(text: str) -> str:
    """Write an error of a command in the language of the terminal; one without a translation stays English."""
    from argot.service.usecases.glossary.import_texts import translate_refusal
    from argot.ui.translation.page_errors import ERRORS as PAGE_ERRORS

    if refusal := translate_refusal(text):
        return refusal
    template, values = find_template(text, (*ERRORS, *PAGE_ERRORS))
    return translate(template, **values) if template else translate(text)
