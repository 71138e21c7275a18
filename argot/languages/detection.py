"""The language of a text, of a passage within it, and of a question.

Long texts are identified by py3langid, which knows 97 languages. It takes some seconds to load, so questions are first
identified by their function words, of the languages that Argot has lists for.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

from argot.languages.language_data import ENGLISH, LISTED_LANGUAGES, LanguageData, load_language, load_listed_languages

UNKNOWN = ""
MIN_LETTERS = 40
"""Letters below which a text is too short to be identified by itself."""
MIN_PASSAGE_LETTERS = 200
"""Letters below which a passage has the language of its document."""
MIN_CONFIDENCE = 0.7
"""Probability above which a text is taken to be in another language than English."""
MIN_PASSAGE_CONFIDENCE = 0.9
"""Probability above which a passage is taken to be in another language than its document."""
MAX_CHARS = 20_000
"""Characters of a document that are read: its language does not change with more of them."""
MIN_LEAD = 2
"""Points of `_measure_lead`: one sign, or two weak ones, more than of English."""
MIN_LEAD_SHARE = 0.2
"""Points for each word of a text, so that a stray word of another language in a long list shows nothing."""
_MIN_WORDS = 4
"""Words of a question without any function word that make it worth loading the identifier."""

_MIN_GUESS_CONFIDENCE = 0.35
_SCRIPTS = tuple(
    (code, re.compile(f"[{letters}]"))
    for code, letters in (
        ("ja", "\u3040-\u30ff"), ("ko", "\uac00-\ud7af"), ("zh", "\u4e00-\u9fff"), ("uk", "іїєґІЇЄҐ"),
        ("ru", "\u0400-\u04ff"), ("ar", "\u0600-\u06ff"), ("he", "\u0590-\u05ff"), ("el", "\u0370-\u03ff"),
        ("hi", "\u0900-\u097f"), ("th", "\u0e00-\u0e7f"),
    )
)  # fmt: skip
"""Scripts, each with the language that uses it most; letters of one language before those that it shares."""
_MAX_SENTENCE_CHARS = 1_000
_MIN_FUNCTION_WORDS = 0.15
"""Share of the words of a running text that are function words; in the four languages a third to a half."""
_NO_LANGUAGE = "zxx"
"""py3langid's answer for code and encoded data."""

_NO_PROSE = re.compile(r"```.*?```|~~~.*?~~~|`[^`\n]*`|https?://\S+|\S+@\S+|<[^>\n]*>|[\d|#*_=+-]+", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]+")


def identify_language(text: str) -> str:
    """Return the language of a document (ISO 639-1); empty if it is too short, or hardly any language.

    Another language than English is only returned where its function words agree, as far as Argot knows them: tables of
    names and numbers look like any language.
    """
    prose = _select_prose(text[:MAX_CHARS])
    if _count_letters(prose) < MIN_LETTERS:
        return UNKNOWN
    found, confidence = _classify(prose)
    return found if found == ENGLISH or _is_credible(found, confidence, prose, MIN_CONFIDENCE) else UNKNOWN


def identify_passage_language(text: str, document_language: str) -> str:
    """Return the language of a passage: the document's, unless it is long and clearly in another one."""
    prose = _select_prose(text)
    if _count_letters(prose) < MIN_PASSAGE_LETTERS:
        return document_language
    if _has_function_words(prose, document_language):  # as nearly all have, which saves the slow identifier
        return document_language
    found, confidence = _classify(prose)
    return found if _is_credible(found, confidence, prose, MIN_PASSAGE_CONFIDENCE) else document_language


def _has_function_words(prose: str, language: str) -> bool:
    """Return whether most function words of a text are of this language, and as many as in running text."""
    if language not in LISTED_LANGUAGES:
        return False
    words = _WORD.findall(prose.casefold())
    counts = {one.code: sum(word in one.stop_words for word in words) for one in load_listed_languages()}
    return counts[language] == max(counts.values()) and counts[language] >= _MIN_FUNCTION_WORDS * len(words)


@lru_cache(maxsize=1_000)
def identify_question_language(question: str) -> str:
    """Return the language of a question (ISO 639-1): English unless its script, function words, or else the identifier
    show another one.
    """
    if written := _identify_script(question):
        return written
    listed = identify_listed_language(question)
    words = [word.casefold() for word in _WORD.findall(question)]
    if listed != ENGLISH or len(words) < _MIN_WORDS:
        return listed
    if any(word in one.stop_words for one in load_listed_languages() for word in words):
        return ENGLISH
    found, confidence = _classify(question)
    return found if confidence >= MIN_CONFIDENCE and found != _NO_LANGUAGE else ENGLISH


def guess_question_language(question: str) -> str:
    """Return the language that the identifier finds in a question, however unsure it is; empty if it finds none."""
    found, confidence = _classify(question)
    return found if confidence >= _MIN_GUESS_CONFIDENCE and found not in (ENGLISH, _NO_LANGUAGE) else UNKNOWN


def _identify_script(question: str) -> str:
    """Return the language that the letters of a question show, if most are of one script; empty for Latin letters."""
    if question.isascii():
        return UNKNOWN
    letters = [letter for letter in question if letter.isalpha()]
    is_foreign = 2 * sum(map(_is_foreign, letters)) > len(letters)
    for code, pattern in _SCRIPTS:
        # Japanese and Ukrainian are shown by a few letters of their own.
        if is_foreign and any(map(pattern.match, letters)):
            return code
    return UNKNOWN


def _is_foreign(letter: str) -> bool:
    return any(pattern.match(letter) for _, pattern in _SCRIPTS)


@lru_cache(maxsize=1_000)
def find_question_language(question: str) -> str:
    """Return the language of a question (ISO 639-1); empty if nothing shows it, as with a name alone."""
    found = identify_question_language(question)
    words = {word.casefold() for word in _WORD.findall(question)}
    return found if found != ENGLISH or words & load_language(ENGLISH).signs else UNKNOWN


@lru_cache(maxsize=20_000)
def identify_listed_language(text: str) -> str:
    """Return the language of a question or sentence among those with a file of words; English if nothing shows
    another. It loads no identifier.
    """
    text = _NO_PROSE.sub(" ", text[:_MAX_SENTENCE_CHARS])
    words = [word.casefold() for word in _WORD.findall(text)]
    others = [load_language(code) for code in LISTED_LANGUAGES if code != ENGLISH]
    leads = {one.code: _measure_lead(words, text, one) for one in others}
    best = max(leads, key=lambda code: leads[code])
    return best if leads[best] >= max(MIN_LEAD, MIN_LEAD_SHARE * len(words)) else ENGLISH


def list_possible_languages(text: str) -> list[str]:
    """List the languages with a file of words that a message may be in: English, and those that it does not speak
    against, even if nothing shows them, as in "Documentos".
    """
    words = [word.casefold() for word in _WORD.findall(text)]
    others = [load_language(code) for code in LISTED_LANGUAGES if code != ENGLISH]
    return [ENGLISH, *(one.code for one in others if _measure_lead(words, text, one) >= 0)]


def _measure_lead(words: list[str], question: str, language: LanguageData) -> int:
    """Return how much more the words belong to this language than to English: 2 for a sign, 1 for a weak one.

    Words that both languages have, like "in", say nothing; letters that English lacks are a weak sign.
    """
    english = load_language(ENGLISH).stop_words
    lead = 0
    for word in words:
        if word in english:
            lead -= 2 * (word not in language.stop_words)
        else:
            lead += 2 * (word in language.signs) + (word in language.weak_signs)
    return lead + (not language.letters.isdisjoint(question.casefold()))


def _is_credible(language: str, confidence: float, prose: str, least: float) -> bool:
    if confidence < least or language == _NO_LANGUAGE:
        return False
    if language not in LISTED_LANGUAGES:
        return True
    words = _WORD.findall(prose.casefold())
    of_language, english = load_language(language).stop_words, load_language(ENGLISH).stop_words
    return sum(word in of_language for word in words) >= sum(word in english for word in words)


def _select_prose(text: str) -> str:
    return " ".join(_NO_PROSE.sub(" ", text).split())


def _count_letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _classify(text: str) -> tuple[str, float]:
    found, confidence = _load_identifier().classify(text)
    return str(found), float(confidence)


@cache
def _load_identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def name_language(code: str) -> str:
    """Return the English name of a language where Argot knows it, else its code in capitals."""
    return _NAMES.get(code) or (load_language(code).name if code in LISTED_LANGUAGES else code.upper())


_NAMES = {
    "ar": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "da": "Danish", "el": "Greek", "et": "Estonian",
    "fi": "Finnish", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "id": "Indonesian",
    "it": "Italian", "ja": "Japanese", "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian", "nb": "Norwegian",
    "nl": "Dutch", "nn": "Norwegian", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian",
    "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sr": "Serbian", "sv": "Swedish", "th": "Thai", "tr": "Turkish",
    "uk": "Ukrainian", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip
