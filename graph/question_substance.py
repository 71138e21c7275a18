"""Check of a question for words beside its terms.

"What is a DCC?" and "Who do I contact about DOE?" contain nothing that distinguishes the senses of the term. A ranking
of senses from such a question is chance, however far apart its scores are.
"""

from __future__ import annotations

from collections.abc import Sequence

from argot.corpus.keyword.stop_words import STOP_WORDS
from argot.tools.text.words import words
from argot.types import Mention

_QUESTION_WORDS = frozenset(
    word
    for line in (
        "abbreviation abbreviations acronym acronyms anybody anyone anything ask asked asking call called clarify",
        "colleague contact contacts define defined definition describe described description detail details document",
        "documentation documents example examples expand expansion explain explained explanation expression find found",
        "full guide guideline guidelines hello help hey hi idea info information internal introduction jargon know",
        "known learn letters list look lookup manual mean meaning means meant named names overview owner page person",
        "phrase please policy procedure procedures purpose question read regarding responsible rule rules say section",
        "short show somebody someone something stand standing stands summary team tell term terms thanks thing things",
        "topic understand want wiki wonder wondering word words work works",
    )
    for word in line.split(" ")
)


def has_only_terms(question: str, mentions: Sequence[Mention]) -> bool:
    """Return whether the question consists only of terms and question words."""
    text = question
    for mention in sorted(mentions, key=lambda mention: mention.start, reverse=True):
        # A space replaces the term, so that its neighbours do not merge into one word.
        text = f"{text[: mention.start]} {text[mention.end :]}"
    return not any(_is_telling(word, text[start:end], text) for word, start, end in words(text))


def _is_telling(word: str, written: str, text: str) -> bool:
    # "IT" is a name, though "it" is a stop word; in a question all in capitals that cannot be seen.
    if len(written) > 1 and written.isupper() and not text.isupper():
        return True
    # Single letters are what is left of "U.S.".
    return len(word) > 1 and word not in STOP_WORDS and word not in _QUESTION_WORDS
