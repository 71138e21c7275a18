"""The fields that a column of a list may hold, and the names by which organisations call such columns."""

from __future__ import annotations

import csv
import difflib
import re
from functools import cache

from argot.errors import InvalidInput
from argot.jargon_db.formats.word_lists import read_word_list

UNUSED = "-"
"""The field of a column that is left out."""
_ROW_NUMBERS = frozenset(["nr", "no", "number", "nummer", "numero", "#", "s no", "sl no", "row", "lfd nr", "line"])
"""Names of columns that count the rows, and identify nothing."""

_NAMES = read_word_list("column_names.txt")
FIELDS = (*(name for name in _NAMES if name != "meaning"), UNUSED)
"""The fields that a person may choose for a column."""
WITH_LANGUAGE = frozenset(["term", "expansion", "abbreviation", "description", "aliases", "meaning"])
MANY = frozenset(
    [
        "aliases",
        "notes",
        "broader",
        "narrower",
        "related",
        "see_also",
        "deprecated",
        "forbidden",
        "example",
        "description",
    ]
)
"""Fields that several columns may share."""

_LANGUAGES = read_word_list("language_names.txt")
_LANGUAGE_OF = {word: code for code, words in _LANGUAGES.items() for word in words}
_REGION = re.compile(r"(?<![a-z])([a-z]{2})[-_]([a-z]{2})(?![a-z])", re.IGNORECASE)
_MIN_MISSPELT_CHARS = 5
_MIN_LIKENESS = 0.84


@cache
def _field_of_names() -> dict[str, str]:
    found: dict[str, str] = {}
    for field, names in _NAMES.items():
        for name in (field.replace("_", " "), *names):
            found.setdefault(_fold(name), field)
    return found


def _fold(name: str) -> str:
    """Return a column's name in lower case, without accents, brackets and other signs."""
    from argot.jargon_db.lookup.normalise import normalise

    plain = normalise(re.sub(r"([a-z])([A-Z])", r"\1 \2", name) if not name.isupper() else name)
    plain = plain.translate(str.maketrans("äöüéèêáàâíìîóòôúùûñçã", "aoueeeaaaiiiooouuunca"))
    return " ".join(re.findall(r"[^\W_]+|#", plain))


def find_field(header: str) -> str:
    """Return the field that a column of this name holds; empty if the name says nothing."""
    name = _fold(header)
    known = _field_of_names()
    if name in known or name in _ROW_NUMBERS:
        return known.get(name, UNUSED)
    # "Abbreviation / Acronym", "Term or phrase", "Definition (short)".
    parts = [_fold(part) for part in re.split(r"[/(),:&+]|\bor\b|\band\b|\boder\b|\bou\b", header) if part.strip()]
    for part in parts:
        if part in known:
            return known[part]
    # A misspelt name, or its plural.
    alike = [one for one in known if abs(len(one) - len(name)) <= 1] if len(name) >= _MIN_MISSPELT_CHARS else []
    near = difflib.get_close_matches(name, alike, 1, _MIN_LIKENESS) if " " not in name else []
    return known[near[0]] if near else ""


def split_language(header: str) -> tuple[str, str, bool]:
    """Return a column's name without the language that it names, the language, and whether it must mean a language:
    "Term (EN)" gives "Term", "en", True; "IT" gives "", "it", False.
    """
    if region := _REGION.search(header):
        rest = header[: region.start()] + header[region.end() :]
        return rest.strip(" ()[]_-:"), region[0].replace("_", "-").lower(), True
    marked = re.search(r"[(\[]\s*([A-Za-z]{2,3})\s*[)\]]", header)
    words = _fold(header).split()
    for place, word in enumerate(words):
        code = word if word in _LANGUAGES else _LANGUAGE_OF.get(word, "")
        if code:
            rest = " ".join(words[:place] + words[place + 1 :])
            return rest, code, bool(marked) or word not in _LANGUAGES
    return header, "", False


def parse_mapping(text: str) -> dict[str, str]:
    """Parse "Abbreviation=term,Meaning=expansion" into fields by the name of their column; a name that holds a comma
    stands in quotes.

    Raises:
        InvalidInput: a part is not NAME=FIELD, or there is no such field.
    """
    found: dict[str, str] = {}
    try:
        parts = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error as error:
        raise InvalidInput(f"'{text[:80]}' cannot be read: put a name with a line break in quotes.") from error
    for part in parts:
        name, between, field = (one.strip() for one in part.rpartition("="))
        if not between or not name:
            raise InvalidInput(f"'{part[:80]}' maps no column. Write COLUMN=FIELD, such as Meaning=expansion.")
        found[name] = check_field(field)
    return found


def check_field(text: str) -> str:
    """Return a field as it is stored, with its language if it has one: "term:de".

    Raises:
        InvalidInput: there is no such field.
    """
    field, _, language = text.strip().lower().replace(" ", "_").partition(":")
    if (field or UNUSED) not in FIELDS or (language and field not in WITH_LANGUAGE):
        raise InvalidInput(
            f"There is no field '{text[:80]}' for a column. Fields: {', '.join(FIELDS)} (- leaves it out)."
        )
    return f"{field}:{language}" if language else field or UNUSED
