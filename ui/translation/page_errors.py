"""The errors of use cases in the language of their reader: on a page, in the chat window, in Slack, in a terminal.

Use cases name a problem in English, because programs and logs read it, too. `error_templates.txt` has the texts that
people meet, one a line; any other is shown in English.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from argot.languages.catalogues import page_language, translate
from argot.languages.language_data import ENGLISH
from argot.languages.written_texts import count_fixed_characters, find_template, translate_written
from argot.service.usecases.documents.read_faults import REASONS as READ_FAULTS
from argot.service.usecases.documents.read_faults import translate_refused_file
from argot.service.usecases.glossary.import_texts import REASONS as ROW_REASONS
from argot.service.usecases.glossary.import_texts import translate_refusal
from argot.ui.translation.validation_texts import translate_invalid

PARTS = ("why", "remedy", "what", "state")
"""Names of values that are themselves texts of Argot's or of the system, and translated; all others stay as given."""
SYSTEM_REASONS = (
    "Permission denied",
    "No such file or directory",
    "Is a directory",
    "Not a directory",
    "No space left on device",
    "Read-only file system",
    "File exists",
    "File name too long",
)
"""What the operating system says most often when it refuses something (errno of POSIX)."""
WORDS = ("user", "group", "study", "aside", "cancelled", "nothing")
"""Single words that errors contain, beside those that pages show anyway."""


@cache
def load_error_templates() -> tuple[str, ...]:
    """Load the templates of errors: the one with the most text of its own first, since it fits the fewest errors."""
    lines = (files(__package__) / "error_templates.txt").read_text("utf-8").splitlines()
    return tuple(sorted((line.replace("\\n", "\n") for line in lines), key=count_fixed_characters, reverse=True))


def translate_error(error: Exception) -> str:
    """Write what an error says in the language of its reader."""
    return translate_error_text(str(error))


def translate_error_text(text: str) -> str:
    """Write the text of an error in the language of its reader; one without a translation stays English."""
    if page_language.get() == ENGLISH:
        return text
    return (
        _translate_known(text)
        or translate_refusal(text)
        or translate_refused_file(text)
        or translate_invalid(text)
        or translate(text)
    )


def _translate_known(text: str) -> str:
    """Translate a text that was written from a template, with those of its values that are texts; empty if it is not
    one.
    """
    template, values = find_template(text, load_error_templates())
    if not template:
        return ""
    parts = {name: _translate_part(value) if name in PARTS else value for name, value in values.items()}
    return translate(template, **parts)


def _translate_part(text: str) -> str:
    return _translate_known(text) or translate_written(text, (*ROW_REASONS, *READ_FAULTS))
