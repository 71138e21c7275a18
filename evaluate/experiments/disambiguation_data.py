"""Readers of the files of the SDU shared tasks on acronym disambiguation, of similar sets, and of plain text.

SDU 2021, task 2: a JSON list of `{"id", "tokens", "acronym": index of its token, "expansion"}`. SDU 2022: a list of
`{"ID", "sentence", "acronym": as written, "label"}`. Similar sets vary: JSON lines, an object by id, tokens in one
string, no ids, a lower-case acronym. Everything unambiguous is read; an error names the rest.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argot.errors import InvalidInput
from argot.files import read_text

_HELP = (
    "It takes id, tokens, acronym (its place) and expansion (SDU 2021), or ID, sentence, acronym and label (SDU 2022)"
)
_DICTIONARY_HELP = (
    'must hold the expansions of each acronym: {"CNN": ["...", "..."]}, a list of {"acronym", "expansion"}, or CSV '
    "with the columns acronym (or term) and expansion"
)
_MAX_LINE_CHARS = 2_000  # characters; longer lines are cut

# The names that published sets use for each value; the first name that an entry has counts.
_ID = ("id", "ID", "Id", "_id", "uid", "sentence_id")
_TEXT = ("sentence", "text", "context", "passage")
_TOKENS = ("tokens", "words")
_ACRONYM = ("acronym", "abbreviation", "short_form", "short form", "term", "abbr", "acr")
_EXPANSION = ("expansion", "label", "long_form", "long form", "meaning", "full_form", "definition")
_EXPANSIONS = ("expansions", "meanings", "senses", "long_forms", *_EXPANSION)
_LISTS = ("data", "sentences", "examples", "samples", "instances", "items")


@dataclass(frozen=True, slots=True)
class AcronymSentence:
    """An acronym in a sentence, which is `before`, `acronym` and `after` joined. `expansion` is None for a sentence
    without a label.
    """

    id: str
    before: str
    acronym: str
    after: str
    expansion: str | None = None

    @property
    def text(self) -> str:
        return " ".join(part for part in (self.before, self.acronym, self.after) if part)

    @property
    def rest(self) -> str:
        """Return the sentence without the acronym."""
        return " ".join(part for part in (self.before, self.after) if part)


# -- sentences --------------------------------------------------------------------------------------------------------


def load_sentences(path: Path) -> list[AcronymSentence]:
    """Load the sentences of a file of either shared task. Sentences without a label serve as text.

    Raises:
        InvalidInput: the file cannot be read, is not JSON, has a malformed entry (the message names it) or no label at
            all.
    """
    sentences = [_read_entry(path, number, entry) for number, entry in enumerate(_load_entries(path), 1)]
    if all(one.expansion is None for one in sentences):
        raise InvalidInput(f"{path}, entry 1 has no label, nor has any other, so nothing can be measured. {_HELP}.")
    return sentences


def load_text(path: Path) -> list[str]:
    """Load unlabelled sentences: the text of a JSON file of a shared task (ignoring labels), or lines of text.

    Raises:
        InvalidInput: the file cannot be read.
    """
    if path.suffix.lower() not in (".json", ".jsonl"):
        return [line.strip()[:_MAX_LINE_CHARS] for line in _read_file(path).splitlines() if line.strip()]
    return [_read_entry_text(path, number, entry) for number, entry in enumerate(_load_entries(path), 1)]


def _load_entries(path: Path) -> list[Any]:
    """Return the entries of a list, an object by id, an object with one of these ("data", "samples"), or JSON lines."""
    found = _load_json(path)
    if isinstance(found, dict):
        inner = _find_first(found, _LISTS)
        found = inner if isinstance(inner, list | dict) else found
    # An object may be a single entry, or hold the entries by their ids.
    if isinstance(found, dict) and found:
        if _find_first(found, (*_TEXT, *_TOKENS)) is not None:
            found = [found]
        # If an entry has an id of its own, that counts instead of its key.
        elif all(isinstance(entry, dict) for entry in found.values()):
            found = [{"id": key, **entry} for key, entry in found.items()]
    if not isinstance(found, list) or not found:
        raise InvalidInput(f"{path} must hold a list of sentences. {_HELP}.")
    return found


def _read_entry_text(path: Path, number: int, entry: Any) -> str:
    if isinstance(entry, str):
        return entry
    if isinstance(entry, dict):
        for value in (_find_first(entry, _TEXT), _find_first(entry, _TOKENS)):
            if isinstance(value, str):
                return value
            if _is_list_of_strings(value):
                return " ".join(value)
    raise InvalidInput(f"{path}, entry {number} has neither tokens nor sentence nor text.")


def _read_entry(path: Path, number: int, entry: Any) -> AcronymSentence:
    try:
        return _read_sentence(number, entry)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        said = f"has no {error}" if isinstance(error, KeyError) else f"is malformed: {error}"
        raise InvalidInput(f"{path}, entry {number} {said}. {_HELP}.") from error


def _read_sentence(number: int, entry: Any) -> AcronymSentence:
    if not isinstance(entry, dict):
        raise TypeError("it is no object")
    name = str(_find_first(entry, _ID, number))
    label, acronym = _read_label(entry), _find_first(entry, _ACRONYM)
    if acronym is None:
        raise KeyError("acronym")
    # Some sets give the index as a list of one.
    if isinstance(acronym, list) and len(acronym) == 1:
        acronym = acronym[0]
    tokens, text = _find_first(entry, _TOKENS), _find_first(entry, _TEXT)
    if tokens is None and text is None:
        raise KeyError("sentence")
    # In Python True is an int, and would count as index 1.
    if not isinstance(acronym, int | str) or isinstance(acronym, bool):
        raise TypeError(f"acronym is {acronym!r}, which is neither a place nor a word")
    words = tokens if tokens is not None else text
    # "3" is an index, unless the sentence has the token 3: then it is the acronym.
    if isinstance(acronym, int) or (acronym.isdigit() and acronym not in words):
        return _build_from_tokens(name, words.split() if isinstance(words, str) else words, int(acronym), label)
    if tokens is not None and not isinstance(tokens, str):
        if not _is_list_of_strings(tokens):
            raise ValueError("tokens must be strings")
        places = [n for n, token in enumerate(tokens) if token == acronym]
        # The first of several occurrences: the file does not say which is meant.
        if places:
            return _build_from_tokens(name, tokens, places[0], label)
        words = " ".join(tokens)
    return _build_from_text(name, words, acronym, label)


def _read_label(entry: Mapping[str, Any]) -> str | None:
    label = _find_first(entry, _EXPANSION)
    if label is not None and not isinstance(label, str):
        raise TypeError(f"the label is {label!r}, which is no text")
    return label if label and label.strip() else None


def _build_from_tokens(name: str, tokens: Sequence[str], place: int, expansion: str | None) -> AcronymSentence:
    if not _is_list_of_strings(tokens) or not 0 <= place < len(tokens):
        raise ValueError(f"acronym is {place!r} and there are {len(tokens)} tokens, which must be strings")
    return AcronymSentence(name, " ".join(tokens[:place]), tokens[place], " ".join(tokens[place + 1 :]), expansion)


def _build_from_text(name: str, sentence: str, acronym: str, label: str | None) -> AcronymSentence:
    escaped = re.escape(acronym)
    # As a whole word if it occurs as one ("AC", not within "ACME"), otherwise wherever it occurs, in any case.
    match = re.search(rf"(?<!\w){escaped}(?!\w)", sentence) or re.search(escaped, sentence, re.IGNORECASE)
    # Some sentences of these sets do not have their acronym.
    if match is None or not acronym:
        return AcronymSentence(name, sentence.strip(), acronym, "", label)
    return AcronymSentence(name, sentence[: match.start()].strip(), acronym, sentence[match.end() :].strip(), label)


# -- dictionaries -----------------------------------------------------------------------------------------------------


def load_dictionary(path: Path) -> dict[str, list[str]]:
    """Load the expansions of each acronym, without repetitions, from an object, a list of pairs, or CSV (also that of a
    glossary).

    Raises:
        InvalidInput: the file has none of these forms.
    """
    pairs = list(_load_csv_pairs(path) if path.suffix.lower() in (".csv", ".tsv") else _load_json_pairs(path))
    # A dict instead of a set: it removes repetitions and keeps the order of the file.
    found: dict[str, dict[str, None]] = {}
    for acronym, expansion in pairs:
        if acronym.strip() and expansion.strip():
            found.setdefault(acronym.strip(), {})[expansion.strip()] = None
    if not found:
        raise InvalidInput(f"{path} {_DICTIONARY_HELP}.")
    return {acronym: list(expansions) for acronym, expansions in found.items()}


def _load_json_pairs(path: Path) -> Iterable[tuple[str, str]]:
    found = _load_json(path)
    listed = found.items() if isinstance(found, dict) else map(_read_pair, found) if isinstance(found, list) else ()
    for acronym, values in listed:
        # SDU's own dictionary lists the expansions; similar sets give a single one as text, or an object with counts.
        names = [values] if isinstance(values, str) else list(values) if isinstance(values, dict | list) else [None]
        texts = [name for name in names if isinstance(name, str)]
        if not isinstance(acronym, str) or len(texts) < len(names):
            raise InvalidInput(f"{path} {_DICTIONARY_HELP}.")
        yield from ((acronym, text) for text in texts)


def _read_pair(entry: Any) -> tuple[Any, Any]:
    if isinstance(entry, dict):
        return _find_first(entry, _ACRONYM), _find_first(entry, _EXPANSIONS)
    return (entry[0], entry[1]) if isinstance(entry, list) and len(entry) == 2 else (None, None)


def _load_csv_pairs(path: Path) -> Iterable[tuple[str, str]]:
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    for row in csv.DictReader(io.StringIO(_read_file(path)), delimiter=delimiter):
        # Spreadsheets write "Term" or " term"; extra cells are a list under the key None.
        lower = {(name or "").strip().casefold(): value for name, value in row.items() if isinstance(value, str)}
        yield _find_first(lower, _ACRONYM, ""), _find_first(lower, _EXPANSION, "")


# -- reading files of either kind -------------------------------------------------------------------------------------


def _find_first(entry: Mapping[str, Any], names: Sequence[str], default: Any = None) -> Any:
    """Return the entry's value under the first of these names that it has; null counts as absent."""
    return next((entry[name] for name in names if entry.get(name) is not None), default)


def _is_list_of_strings(values: object) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _load_json(path: Path) -> Any:
    """Load the JSON value of a file, or a list of the values of its lines."""
    text = _read_file(path)
    try:
        return json.loads(text)
    except ValueError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        try:
            # A file of one line is meant to be one value, so the first error says what is wrong with it.
            if len(lines) > 1:
                return [json.loads(line) for line in lines]
        except ValueError:
            pass
        raise InvalidInput(f"{path} is no JSON: {error}.") from error


def _read_file(path: Path) -> str:
    try:
        return read_text(path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8: {error.reason} at byte {error.start}.") from error


Dictionary = Mapping[str, Sequence[str]]
