"""The problems of rows of an imported list, in the language of the page or terminal.

Readers of lists name a problem in English, because the file of rejected rows, logs and programs have it, too
(`argot/errors.py`: `RowProblem`).
"""

from __future__ import annotations

from argot.languages.catalogues import translate
from argot.languages.written_texts import find_template, translate_written

REFUSAL = "%(name)s: nothing was imported, for %(number)s reason(s):"
NOT_MANAGED = "%(name)s: nothing was imported; an import in part leaves these out:"
MORE_REASONS = "... and %(number)s more"
HEADS = (REFUSAL, NOT_MANAGED)
PLACES = (
    "row %(number)s, column %(name)s",
    "row %(number)s",
    "line %(number)s, column %(place)s",
    "line %(number)s",
    "entry of line %(number)s",
    "%(sheet)s, row %(number)s",
)
_FIELD = ", field "
REASONS = (
    "it names no term: it is left out",
    "%(term)s has neither an expansion nor a description: it is left out",
    "%(term)s has neither an expansion nor a description; say what it stands for, or describe it",
    "the term is empty; give the word or abbreviation to be explained",
    "the context is empty; name the team or field the term belongs to",
    "the term has %(size)s characters; shorten it to %(most)s and describe it instead",
    "an alias has %(size)s characters; shorten it to %(most)s",
    "a cell has %(size)s characters; shorten it to %(most)s",
    "it has %(size)s characters; shorten it to %(most)s",
    "%(name)s cannot name a context; use 1 to %(most)s characters, and not '*', which stands for every context",
    "'*' stands for every context; name the team or field the term belongs to",
    "unknown status %(status)s. Statuses: %(statuses)s",
    "the status %(status)s is not known: the meaning becomes a draft",
    "%(date)s is no date, and is left out; write it like 2027-01-31",
    "invalid date %(date)s; write it like 2027-01-31",
    "%(given)s values for %(known)s columns; put a value that holds the separator in quotes",
    "more than %(most)s rows are wrong; the rest was not read",
    "it holds no table: give a list with a row for each term",
    "sheets without terms are left out: %(names)s",
    "the places and reasons of an earlier import are left out: --map reason=FIELD keeps them",
    "%(term)s is defined differently in %(place)s: both meanings are kept",
    "%(term)s is read as %(number)s terms: %(terms)s",
    "%(term)s is kept as one term, since it names more than %(most)s; write a row for each",
    "it holds more than %(most)s entries; split it, or raise the setting max_glossary_senses",
    "it has %(size)s MiB, and at most %(most)s are read; split it, or have the setting max_glossary_mb raised",
    "it holds NUL characters, as no text does; save it again as CSV in UTF-8",
    "it is a PDF; add it as a document, and let Argot look for terms in the documents",
    "it is compressed; unpack it",
    "it is no XLSX workbook; save it again in a spreadsheet program, or give its real format",
    "it is an old or encrypted workbook or document of an office program; save it as XLSX without a password",
    "%(name)s does not manage a context %(context)s; leave its terms out, or ask who does",
)


def translate_place(place: str) -> str:
    """Write where something is in a file: "row 3, column term", "line 9, field term"."""
    where, named, field = place.partition(_FIELD)
    written = translate_written(where, PLACES) if where else ""
    return f"{written}, {translate('field %(name)s', name=field)}" if named else written


def translate_reason(reason: str) -> str:
    """Write what is wrong; what has no translation stays English."""
    return translate_written(reason, REASONS)


def translate_refusal(text: str) -> str:
    """Write the message of a refused file (`argot/errors.py`: `InvalidGlossary`): a line, and one for each reason.
    Empty if the text is none.
    """
    first, *lines = text.split("\n")
    if not lines or not find_template(first, HEADS)[0]:
        return ""
    return "\n".join([translate_written(first, HEADS), *("  " + _translate_line(line.strip()) for line in lines)])


def _translate_line(line: str) -> str:
    if find_template(line, [MORE_REASONS])[0]:
        return translate_written(line, [MORE_REASONS])
    place, colon, reason = line.partition(": ")
    if not colon or not find_template(place.partition(_FIELD)[0], PLACES)[0]:
        return translate_reason(line)
    return f"{translate_place(place)}: {translate_reason(reason)}"
