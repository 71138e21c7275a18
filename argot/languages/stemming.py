"""Stems of words in the languages of Snowball, for texts that are not English.

English has Porter's stems, which SQLite's tokenizer makes; `argot.corpus.keyword.index_terms` combines the two.
"""

from __future__ import annotations

import re
from functools import lru_cache

_STEMMERS = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "eo": "esperanto", "es": "spanish",
    "et": "estonian", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali",
    "nl": "dutch", "nn": "norwegian", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""Names of Snowball's algorithms by ISO 639-1 codes, without English."""
_WORD = re.compile(r"[^\W_]+")


def has_stemmer(language: str) -> bool:
    """Return whether words of this language (ISO 639-1) are stemmed by rules of their own; not so for English."""
    return language in _STEMMERS


def stem_text(text: str, language: str) -> str:
    """Return the text with each word replaced by its stem in lower case; unchanged in a language without a stemmer."""
    if not has_stemmer(language):
        return text
    return _WORD.sub(lambda found: stem_word(found[0].casefold(), language), text)


@lru_cache(maxsize=100_000)
def stem_word(word: str, language: str) -> str:
    """Return the stem of a lower-case word; a word with digits is a name, and stays as it is."""
    from snowballstemmer import stemmer

    if any(map(str.isdigit, word)):
        return word
    # One stemmer per word, which costs little beside its work: a stemmer stores its word, and threads would mix theirs.
    stemmed: str = stemmer(_STEMMERS[language]).stemWord(word)
    return stemmed


def list_stemmed_languages() -> list[str]:
    """List the names of Snowball's algorithms in use, each once."""
    return sorted(set(_STEMMERS.values()))
