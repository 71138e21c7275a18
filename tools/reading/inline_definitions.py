"""Finds definitions within a question: "SLA (stereolithography)", "by SLA I mean ...".

The asker's explanation takes precedence over the glossary. A short form in or before brackets must be spelt by its long
form, checked as in Schwartz and Hearst, "A simple algorithm for identifying abbreviation definitions in biomedical
text" (2003): so "the PUC (used in NAND)" explains nothing.
"""

from __future__ import annotations

import re

from argot.languages.detection import identify_listed_language
from argot.languages.explanation_words import SHORT, ExplanationWords, load_explanation_words
from argot.languages.language_data import ENGLISH

Explanation = tuple[int, int, str]
"""Start and end of the term in the question, and its stated meaning."""

_SHORT_THEN_LONG = re.compile(rf"\b(?P<short>{SHORT})\s{{0,2}}\((?P<long>[^()]{{3,120}})\)")
_SHORT_IN_BRACKETS = re.compile(rf"\((?P<short>{SHORT})\)")
_CLAUSE_END = re.compile(r"[().;:?!]")
_MAX_MEANING_CHARS = 160  # characters


def find_explanations(question: str) -> list[Explanation]:
    """Return every meaning that the question states, by position; of several at one place the first rule's."""
    found: dict[int, Explanation] = {}
    # English beside the question's own language: of a few words nothing may show which it is.
    for code in dict.fromkeys((identify_listed_language(question), ENGLISH)):
        words = load_explanation_words(code)
        for rule in (_from_brackets_after, _from_brackets_before, _from_words, _from_last_words):
            for explanation in rule(question, words):
                found.setdefault(explanation[0], explanation)
    return [found[start] for start in sorted(found)]


def find_long_form(short: str, text: str) -> str:
    """Return the end of `text` that spells `short`, or nothing (Schwartz and Hearst 2003, figure 1)."""
    letters = [c for c in short.lower() if c.isalnum()]
    low = text.lower()
    at = len(low) - 1
    for index in range(len(letters) - 1, -1, -1):
        # The first letter has to begin a word; the others may be anywhere, from the end to the beginning.
        while at >= 0 and (low[at] != letters[index] or (index == 0 and at > 0 and low[at - 1].isalnum())):
            at -= 1
        if at < 0:
            return ""
        at -= 1
    return text[at + 1 :].strip()


def _from_brackets_after(question: str, words: ExplanationWords) -> list[Explanation]:
    found = []
    for match in _SHORT_THEN_LONG.finditer(question):
        meaning = words.bracket.sub("", match["long"].strip())
        # Words such as "short for" mark a meaning, whatever its letters.
        is_introduced = meaning != match["long"].strip()
        short = match["short"].removesuffix("s") if match["short"][:-1].isupper() else match["short"]
        if _is_meaning(meaning, words) and (is_introduced or find_long_form(short, meaning) == meaning):
            found.append((match.start("short"), match.end("short"), meaning))
    return found


def _from_brackets_before(question: str, words: ExplanationWords) -> list[Explanation]:
    found = []
    for match in _SHORT_IN_BRACKETS.finditer(question):
        short = match["short"]
        clause = _CLAUSE_END.split(question[max(0, match.start() - _MAX_MEANING_CHARS) : match.start()])[-1]
        # The bound of Schwartz and Hearst on the words before the brackets.
        before = clause.split()[-min(len(short) + 5, 2 * len(short)) :]
        meaning = find_long_form(short, " ".join(before))
        if len(short) > 1 and _is_meaning(meaning, words) and meaning != short:
            found.append((match.start("short"), match.end("short"), meaning))
    return found


def _from_words(question: str, words: ExplanationWords) -> list[Explanation]:
    """Return the meanings stated in words, but not asked-for ones: "what does PUC mean in firmware, and who
    decides?".
    """
    found = []
    for match in words.said.finditer(question):
        # In "what does PUC mean in firmware" the words after "mean" are no meaning.
        if match["verb"] and words.asked.search(question[: match.start("short")]):
            continue
        meaning = words.cut.split(match["long"].strip())[0]
        if _is_meaning(meaning, words) and _is_short_form(match["short"]):
            found.append((match.start("short"), match.end("short"), meaning))
    return found


def _from_last_words(question: str, words: ExplanationWords) -> list[Explanation]:
    """Return the meanings stated before the verb: "wenn SLA für Stereolithografie steht"."""
    found = []
    for match in words.framed.finditer(question) if words.framed else ():
        meaning = (match["long"] or match["other"]).strip()
        if _is_meaning(meaning, words) and _is_short_form(match["short"]):
            found.append((match.start("short"), match.end("short"), meaning))
    return found


def _is_short_form(word: str) -> bool:
    """Return whether a word is like LLC, tCCS or L2P, and not merely capitalised, like the first of a sentence."""
    return sum(c.isupper() or c.isdigit() for c in word) >= 2 or (word[0].islower() and not word.islower())


def _is_meaning(text: str, words: ExplanationWords) -> bool:
    # "SLA (what is that?)" asks, "PUC (CUA)" names another abbreviation.
    return bool(re.search(r"[^\W\d_]{3}", text)) and not words.asks.match(text) and not text.isupper()
