"""The help of commands in the language of the terminal.

Commands write their help in English, in docstrings and beside their options. Here it is translated where Typer prints
it, so a new command is covered as it is; a test looks up each text in the catalogues.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import typer

from argot.languages.catalogues import translate
from argot.languages.written_texts import translate_written

HEADINGS = ("Arguments", "Options", "Commands")
REMARKS = ("required", "default: %(value)s")
"""What Typer adds to the help of an argument or option, in brackets."""
TYPER_TEXTS = (*HEADINGS, *REMARKS, "Show this message and exit.")

# Typer brings its own click, and does not export this class.
_Formatter: Any = typer.Context.formatter_class


class TranslatedFormatter(_Formatter):  # type: ignore[misc]
    """A formatter that translates the headings, the usage line and the help of arguments and options."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        super().write_usage(prog, args, prefix or translate("Usage: %(words)s", words=""))

    def write_heading(self, heading: str) -> None:
        super().write_heading(translate(heading) if heading in HEADINGS else heading)

    def write_dl(self, rows: Sequence[tuple[str, str]], *arguments: Any, **options: Any) -> None:
        super().write_dl([(name, _translate_option(text)) for name, text in rows], *arguments, **options)


class TranslatedContext(typer.Context):
    """A context whose help is in the language of the terminal."""

    formatter_class = TranslatedFormatter


def translate_help(command: Any) -> None:
    """Translate the help of a command and of all below it; that of their options follows when it is printed."""
    command.context_class = TranslatedContext
    command.help = "\n\n".join(map(translate, split_paragraphs(command.help)))
    command.epilog = (command.epilog or "").replace("Examples:", translate("Examples:"))
    for below in getattr(command, "commands", {}).values():
        translate_help(below)


def split_paragraphs(text: str | None) -> list[str]:
    """Split a help text into its paragraphs, each on one line."""
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text or "") if part.strip()]


def _translate_option(text: str) -> str:
    """Translate the help of an argument or option, and the remarks that Typer put behind it."""
    help_text, mark, remarks = text.rpartition("  [")
    if not mark:
        return "\n\n".join(map(translate, split_paragraphs(text)))
    translated = "; ".join(translate_written(one, REMARKS) for one in remarks.removesuffix("]").split("; "))
    return f"{_translate_option(help_text)}  [{translated}]"
