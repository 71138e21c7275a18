"""The language of a terminal, and what is wrong with a command line in it."""

from __future__ import annotations

from collections.abc import Mapping

from argot.languages.catalogues import LANGUAGE_NAMES, translate
from argot.languages.language_data import ENGLISH
from argot.languages.written_texts import find_template

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
    "Invalid value for '%(name)s': %(reason)s",
    "Invalid value: %(reason)s",
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
        values["problem"] = _translate_problem(values["problem"])
    return translate(template, **values) if template else text


def _translate_problem(problem: str) -> str:
    from argot.ui.translation.validation_texts import translate_reason

    template, values = find_template(problem, USAGE_PROBLEMS)
    if "reason" in values:
        values["reason"] = translate_reason(values["reason"])
    return translate(template, **values) if template else translate(problem)
