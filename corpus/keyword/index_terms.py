"""The terms of the keyword index: those of a text, and those of a question.

FTS5's tokenizer splits at every symbol and Porter's stemmer cuts endings, so `C++` would be `C` and `tCCS` would be
`tcc`. Identifiers are therefore indexed a second time, folded but whole, in a separate column.

Words of a passage in another language than English are indexed as their stems in that language, on which Porter's
stemmer then works as on any word. A question does not know in which language the passages are that answer it, so its
words are searched as they are, and as their stems in each language that passages have. Where all passages are English
nothing is added.

Chinese and Japanese have no spaces between words. Each pair of neighbouring characters is indexed and searched as a
word, which needs no dictionary.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from argot.corpus.keyword.word_tokens import tokenize_words
from argot.days import find_days, name_month
from argot.language import EAST_ASIAN
from argot.languages.detection import identify_question_language
from argot.languages.language_data import ENGLISH, LISTED_LANGUAGES, load_language
from argot.languages.stemming import has_stemmer, stem_text

# Users paste whole pages into the question; the time of a search grows with its words.
MAX_QUERY_CHARS = 20_000
MAX_QUERY_TOKENS = 128
MAX_IDENTIFIER_CHARS = 128

# Soft hyphens, zero-width spaces and direction marks, copied from PDF and HTML, split words invisibly.
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_UNSPACED = re.compile(f"[{EAST_ASIAN}]+")
_WORD = re.compile(r"[^\W_]+")
_CANDIDATE = re.compile(r"[^\s\"'`“”‘’,;!?()\[\]{}<>|=*…–—]+")
# The two differ: a leading `/` belongs to the name (`/etc/hosts`), and so does a trailing `+` (`C++`).
_LEADING = "_.:-+@&$%\\~^•·"
_TRAILING = "_.:-/@&$%\\~^•·"
_SYMBOL_NAME = re.compile(r"[^\W\d_]{1,3}(?:\+\+|#)|\.[^\W\d_]{2,8}")  # C++, g++, C#, F#, .NET


def fold_for_index(text: str) -> str:
    """Return one spelling for visually equal text: NFKC (full width, ligatures, combining marks), without invisible
    characters, and with Chinese and Japanese in pairs of characters.
    """
    # ASCII, which most text is, needs no normalising. SQLite would end the text at a NUL.
    if text.isascii():
        return text.replace("\x00", " ")
    folded = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).replace("\x00", " ")
    return _UNSPACED.sub(_split_into_pairs, folded)


def _split_into_pairs(found: re.Match[str]) -> str:
    run = found[0]
    return f" {' '.join(run[at : at + 2] for at in range(max(1, len(run) - 1)))} "


def _find_words(text: str) -> list[str]:
    # Words are split like FTS5's unicode61 does; stemming and accents are left to it.
    return _WORD.findall(text)


def find_identifiers(text: str) -> Iterator[str]:
    """Return names in the text that must be findable exactly, as written, in order and with repetitions."""
    for match in _CANDIDATE.finditer(text):
        if (name := _trim_identifier(match[0])) is not None:
            yield name


def build_identifier_column(*texts: str) -> str:
    """Build the content of the column `identifiers` for these texts."""
    return " ".join(hash_identifier(name) for text in texts for name in find_identifiers(fold_for_index(text)))


def build_passage_words(title: str, heading_path: Sequence[str], text: str, language: str = "") -> dict[str, Any]:
    """Return the columns of a passage that serve only the keyword index; its language as in ISO 639-1."""
    heading = " ".join(heading_path)
    return {
        "title": stem_text(fold_for_index(title), language),
        "heading": stem_text(fold_for_index(heading), language),
        "folded": _fold_if_different(text, language),
        "identifiers": build_identifier_column(title, heading, text),
    }


def build_text_words(text: str, language: str = "") -> dict[str, Any]:
    """Return the same for a derived text or a triple."""
    return {"folded": _fold_if_different(text, language), "identifiers": build_identifier_column(text)}


def _fold_if_different(text: str, language: str) -> str | None:
    folded = stem_text(fold_for_index(text), language)
    # Most text folds to itself, and is not stored twice.
    return None if folded == text else folded


def hash_identifier(name: str) -> str:
    """Return a word that FTS5 neither splits nor stems (it ends in a digit), the same for all capitalisations."""
    return f"x{blake2b(name.casefold().encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}0"


@dataclass(frozen=True, slots=True)
class SearchPhrase:
    """Words to be found consecutively, after stemming; or the token of a name, to be found among identifiers."""

    words: str
    is_identifier: bool = False


def parse_question(query: str, languages: Collection[str] = ()) -> list[SearchPhrase]:
    """Parse any text into phrases to search, each by itself: its words without stop words, its identifiers exactly.

    Empty if there is nothing to search for (empty, only emoji). Phrases hold letters, digits and spaces only.

    Args:
        languages: those of the passages (ISO 639-1), besides English.
    """
    text = fold_for_index(query[:MAX_QUERY_CHARS])
    exact, plain = _split_identifiers(text)
    stop_words = _choose_stop_words(query)
    # "What is it?" has only stop words, which are then searched for.
    content = [word for word in plain if word.casefold() not in stop_words] or ([] if exact else plain)
    phrases = [SearchPhrase(hash_identifier(name), is_identifier=True) for name in exact]
    # `NX-4410B` may also be written `NX 4410B`, so its parts as a phrase match too.
    phrases += [SearchPhrase(" ".join(parts)) for parts in map(_find_words, exact) if len(parts) > 1]
    phrases += _list_day_phrases(text)
    phrases += [SearchPhrase(word) for word in content]
    phrases += [stems for phrase in phrases for stems in _list_stemmed(phrase, languages)]
    # Identifiers come first, so only ordinary words are cut off.
    return list(dict.fromkeys(phrases))[:MAX_QUERY_TOKENS]


def _list_day_phrases(text: str) -> list[SearchPhrase]:
    """Return the other ways in which passages may write the days of a question: "05 17" is in "2025-05-17"."""
    return [
        SearchPhrase(words)
        for day in sorted(find_days(text))
        for words in (f"{day.month:02} {day.day:02}", f"{day.day:02} {day.month:02}", f"{day.day} {name_month(day)}")
    ]


def _choose_stop_words(query: str) -> frozenset[str]:
    language = identify_question_language(query[:MAX_QUERY_CHARS])
    return load_language(language if language in LISTED_LANGUAGES else ENGLISH).stop_words


def _list_stemmed(phrase: SearchPhrase, languages: Collection[str]) -> list[SearchPhrase]:
    """Return the phrase as passages in these languages contain it, where that differs for the index."""
    if phrase.is_identifier:
        return []
    known = {tokenize_words(phrase.words)}
    found = []
    for language in sorted(filter(has_stemmer, languages)):
        stemmed = stem_text(phrase.words, language)
        if (tokens := tokenize_words(stemmed)) not in known:
            known.add(tokens)
            found.append(SearchPhrase(stemmed))
    return found


def list_exact_phrases(text: str, languages: Collection[str]) -> list[SearchPhrase]:
    """Return exactly these words in this order, as passages in English and in these languages contain them; empty: no
    words.
    """
    phrase = parse_exact_phrase(text)
    return [phrase, *_list_stemmed(phrase, languages)] if phrase else []


def parse_exact_phrase(text: str) -> SearchPhrase | None:
    """Return exactly these words in this order (stemmed); names like `C++` exactly. None: no words."""
    folded = fold_for_index(text[:MAX_QUERY_CHARS]).strip()
    name = _trim_identifier(folded) if not re.search(r"\s", folded) else None
    # As a word, `C++` would become `C` and match other text.
    if name is not None and _SYMBOL_NAME.fullmatch(name):
        return SearchPhrase(hash_identifier(name), is_identifier=True)
    found = _find_words(folded)[:MAX_QUERY_TOKENS]
    return SearchPhrase(" ".join(found)) if found else None


def match_expression(phrases: Sequence[SearchPhrase], *, columns: str) -> str | None:
    """Return an FTS5 expression for rows that contain any of the phrases, words in these columns; None for no phrases.

    Text of a question reaches FTS5 only within quotes, and there are only letters, digits and spaces.
    """
    terms = (f'{"identifiers" if one.is_identifier else f"{{{columns}}}"} : "{one.words}"' for one in phrases)
    return " OR ".join(terms) or None


def _split_identifiers(text: str) -> tuple[list[str], list[str]]:
    """Return identifiers, and the words to search in running text: all those outside identifiers, and their longer
    parts.
    """
    exact: list[str] = []
    plain: list[str] = []
    position = 0
    for match in _CANDIDATE.finditer(text):
        plain += _find_words(text[position : match.start()])
        position = match.end()
        name = _trim_identifier(match[0])
        if name is None:
            plain += _find_words(match[0])
        else:
            exact.append(name)
            plain += _split_identifier(name)
    return _drop_doubles(exact), _drop_doubles(plain + _find_words(text[position:]))


def _trim_identifier(candidate: str) -> str | None:
    """Return the candidate without the punctuation around it, if only its exact form identifies the thing."""
    name = candidate.rstrip(_TRAILING)
    # `.NET` keeps its dot.
    name = name if _SYMBOL_NAME.fullmatch(name) else name.lstrip(_LEADING)
    if not 2 <= len(name) <= MAX_IDENTIFIER_CHARS or not _WORD.search(name):
        return None
    return name if _is_exact(name) else None


def _is_exact(name: str) -> bool:
    """Return whether it has digits with letters or points (NX-4410B, L2P, 10.2.3), inner capitals or symbols (tCCS,
    ARGOT_HOME), or is like C++.
    """
    parts = _find_words(name)
    has_digit = any(character.isdigit() for character in name)
    has_letter = any(character.isalpha() for character in name)
    if has_digit:
        return has_letter or len(parts) > 1
    # A plain word is a name if it has a capital after its first letter, as in `tCCS` or `NASA`.
    if len(parts) == 1 and parts[0] == name:
        return any(character.isupper() for character in name[1:])
    return _SYMBOL_NAME.fullmatch(name) is not None or any(symbol in name for symbol in "_/.:#+@\\")


def _split_identifier(name: str) -> list[str]:
    """Return parts that are meaningful by themselves. A name like `C++` has none: its `C` is another thing."""
    if _SYMBOL_NAME.fullmatch(name):
        return []
    return [part for part in _find_words(name) if len(part) > 1 and not part.isdigit()]


def _drop_doubles(items: Iterable[str]) -> list[str]:
    seen: dict[str, str] = {}
    for item in items:
        seen.setdefault(item.casefold(), item)
    return list(seen.values())
