"""The inverse cloze task (Lee, Chang and Toutanova 2019): a sentence is removed from its passage, and serves as its
question.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from argot.tools.text.words import content_stems

MIN_WORDS, MAX_WORDS = 7, 30
MIN_LEFT_WORDS = 2
"""Sentences that stay in the passage."""
MIN_SHARED_WORDS = 2
"""Content words of the sentence that also occur in the rest of the passage: otherwise nothing links the two."""

_NOT_ALONE = re.compile(
    r"^(?:this|that|these|those|it|its|they|their|he|she|his|her|such|both|then|thus|hence|therefore|however|also|but|and"
    r"|or|so|otherwise|instead|here|there|in this|in that|in these|for this|if so|as such|for example|for instance|e\.g"
    r"|moreover|furthermore|in addition|additionally|similarly|finally|first|second|next|note|see|refer|do not confuse"
    r"|the (?:following|above|latter|former|same|other|second|first|next|last)|one of|each of|all of|some of)\b",
    re.IGNORECASE,
)
_NO_SUBJECT = re.compile(r"^[A-Z][a-z]+s (?:all|the|an?|whether|your|how) ")
_POINTS = re.compile(
    r"\b(?:above|below|following|previous|aforementioned|this (?:section|document|chapter|page|guide|manual|file|table)"
    r"|figure|table \d|see also|as follows|earlier|the image|the latter|these|those|described here)\b|:$| : |https?:",
    re.IGNORECASE,
)

_RUN_INTO = re.compile(
    r"[\w)] (?:The|An?|If|When|To|You|Your|Note|See|This|These|It|In|For|Select|Press|Use|Do|On|Make|Check"
    r"|Confirm|Go|Open) "
)


def choose_cloze_sentence(sentences: Sequence[str]) -> str | None:
    """Choose the sentence of a passage that speaks for itself and of the others' topic; None where none does.

    Always the same one of the same sentences.
    """
    if len(sentences) <= MIN_LEFT_WORDS:
        return None
    fit = [place for place, one in enumerate(sentences) if _may_stand_alone(one)]
    for place in sorted(fit, key=lambda place: hashlib.blake2b(sentences[place].encode(), digest_size=8).digest()):
        others = set(content_stems(" ".join(one for other, one in enumerate(sentences) if other != place)))
        if len(set(content_stems(sentences[place])) & others) >= MIN_SHARED_WORDS:
            return sentences[place]
    return None


def remove_sentence(text: str, sentence: str) -> str:
    """Remove the sentence from its passage."""
    wanted = r"\s+".join(map(re.escape, sentence.split()))
    return re.sub(wanted, "", text, count=1).strip() or text


def _may_stand_alone(sentence: str) -> bool:
    words = sentence.split()
    if not MIN_WORDS <= len(words) <= MAX_WORDS or not re.search(r"[^.]\.$", sentence) or not sentence[0].isupper():
        return False
    if (
        _NOT_ALONE.match(sentence)
        or _NO_SUBJECT.match(sentence)
        or _POINTS.search(sentence)
        or re.search(r"\b(?:it|they|them)\b", sentence)
    ):
        return False
    # A heading, a caption or a menu that ran into the sentence.
    names = sum(word[:1].isupper() for word in words[1:])
    if names > 0.35 * len(words) or _RUN_INTO.search(sentence):
        return False
    letters = sum(character.isalpha() or character.isspace() for character in sentence)
    return letters > 0.85 * len(sentence) and len(set(content_stems(sentence))) >= 4
