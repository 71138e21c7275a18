"""One key for all the ways to type a term.

`normalise` folds differences that never change the meaning: Unicode form and width, case, invisible characters, white
space, and hyphen, slash or underscore between two parts. `list_variants` handles those that may change it (plural,
possessive).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from argot.jargon_db.lookup.ordinary_words import is_ordinary_word

APOSTROPHES = "'’ʼ"
# Hyphens and dashes of all lengths, the minus sign, and the small and full-width forms: Word turns "-" into some of
# these automatically.
_DASHES = dict.fromkeys([*range(0x2010, 0x2016), 0x2212, 0xFE58, 0xFE63, 0xFF0D], "-")
_FOLDED_SIGNS: dict[int, str] = {**_DASHES, 0x2019: "'", 0x02BC: "'", 0x2018: "'", 0x2044: "/", 0x2215: "/"}
# Signs of Arabic, Syriac and Kaithi that Unicode calls format characters although they are visible.
_VISIBLE_FORMAT = frozenset([*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD])
_WHITE_SPACE = re.compile(r"\s+")
# Only between two parts: "-40" keeps its minus, "C-" its hyphen.
_SEPARATOR = re.compile(r"(?<=[^\s\-/_])[-/_](?=[^\W_])")
_ABSOLUTE_PATH = re.compile(r"(?:^|(?<=\s))/\S+")
# After these the plural is "es": "boxes".
_SIBILANT = ("s", "x", "z", "ch", "sh")
_NO_PLURAL = ("ss", "us", "is")


@lru_cache(maxsize=65_536)
def normalise(term: str) -> str:
    """Return the key of a term: "Write‑Amplification" and "write amplification" share one, `C++` and `C#` keep their
    signs.

    A token that begins with a slash (`/dev/nvme0n1`) is a path and keeps its slashes. Control characters and lone
    surrogates are dropped, so that a key can be bound to SQL and written to JSON. Idempotent; "" if there are only
    invisible characters.
    """
    text = fold_characters(term)
    return _fold_separators(_WHITE_SPACE.sub(" ", text).strip())


def fold_characters(text: str) -> str:
    """Apply NFKC and case folding, drop invisible characters, and unify dashes and apostrophes. Spaces and separators
    are kept.
    """
    if text.isascii():
        if text.isprintable():
            return text.lower()
        return "".join(char for char in text.lower() if is_visible(char))
    # Until it changes no more: a folded sign may compose with the next one.
    for _ in range(4):
        visible = "".join(char for char in text if is_visible(char))
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", visible).casefold()).translate(
            _FOLDED_SIGNS
        )
        if folded == text:
            break
        text = folded
    return text


@lru_cache(maxsize=4096)
def is_visible(char: str) -> bool:
    """Return False for zero-width, bidi and soft-hyphen characters, variation selectors, controls and lone
    surrogates.
    """
    if char.isspace():
        return True
    # Variation selectors are marks by category, but choose the glyph of the sign before them.
    if "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef":
        return False
    category = unicodedata.category(char)
    return category not in ("Cc", "Cs") and (category != "Cf" or ord(char) in _VISIBLE_FORMAT)


def _fold_separators(text: str) -> str:
    if "/" not in text:
        return _SEPARATOR.sub(" ", text)
    pieces: list[str] = []
    end = 0
    for path in _ABSOLUTE_PATH.finditer(text):
        pieces += [_SEPARATOR.sub(" ", text[end : path.start()]), path.group()]
        end = path.end()
    return "".join([*pieces, _SEPARATOR.sub(" ", text[end:])])


def list_variants(term: str) -> tuple[str, ...]:
    """Return the keys to look a term up by, best first: its own, without possessive, singular, plural; no duplicates.

    "PUC's" gives puc's, puc, ...; "dies" gives dies, die, dy, ...; "OKR" also gives okrs, since a glossary may define
    the plural.
    """
    key = normalise(term)
    bare = strip_possessive(key)
    keys = dict.fromkeys([key, bare])
    head, space, last = bare.rpartition(" ")
    for form in (*guess_singulars(last), *guess_plurals(last)):
        keys.setdefault(f"{head}{space}{form}")
    return tuple(form for form in keys if form)


def strip_possessive(key: str) -> str:
    if key.endswith("'s"):
        return key[:-2]
    return key.removesuffix("'") if key.endswith("s'") else key


def guess_singulars(word: str) -> tuple[str, ...]:
    """Return the words that a folded word may be the plural of; "bus" and "basis" are no plurals, "cpus" and "apis"
    are.
    """
    if len(word) < 3 or not word.endswith("s") or word.endswith("ss") or not word[-2].isalnum():
        return ()
    if word.endswith(_NO_PLURAL) and is_ordinary_word(word):
        return ()
    forms = [word[:-1]]
    if word.endswith("es") and word[:-2].endswith(_SIBILANT):
        forms.append(word[:-2])
    # "dies" is no plural of "dy".
    if word.endswith("ies") and len(word) > 4:
        forms.append(word[:-3] + "y")
    return tuple(forms)


def guess_plurals(word: str) -> tuple[str, ...]:
    """Return the plurals of a folded word of at least two letters that looks like no plural itself."""
    if len(word) < 2 or not word[-1].isalpha() or (word.endswith("s") and not word.endswith(_NO_PLURAL)):
        return ()
    if word.endswith(_SIBILANT):
        return (f"{word}es",)
    if word.endswith("y") and word[-2] not in "aeiou":
        return (f"{word}s", f"{word[:-1]}ies")
    return (f"{word}s",)
