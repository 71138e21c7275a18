"""Pairs of a short form and the long form that spells it out, within one block of running text.

Three ways, the most certain first: brackets ("word line (WL)", "WL (word line)", also nested and with other text),
words that state it ("WL stands for word line", "word line, or WL"), and a phrase elsewhere in the same sentence with
exactly these initials. `spelling_out` judges the spelling.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from argot.jargon_db.mining.short_forms import TokenRun, find_short_forms, may_be_short
from argot.jargon_db.mining.spelling_out import (
    GOOD_SCORE,
    STRICT_SCORE,
    TAIL,
    can_start,
    normalize_letters,
    score_spelling,
    strip_accents,
)
from argot.jargon_db.mining.tokenizer import CLOSING, OPENING, Token, tokenize

PairKind = Literal["brackets", "said", "initials"]


@dataclass(frozen=True, slots=True)
class Span:
    """text[start:end]."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]

    def overlaps(self, other: Span) -> bool:
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Pair:
    """A short form and its long form; `score` in [0, 1] is how well one spells the other."""

    short: Span
    long: Span
    kind: PairKind
    score: float


@dataclass(frozen=True, slots=True)
class Phrase:
    """Tokens [first, last] and how well they spell a short form."""

    first: int
    last: int
    score: float


# Text that may accompany the form in brackets: "(i.e. word line)", "(abbreviated as WL)", '("WL")'.
_LEAD = re.compile(
    r"""(?:i\.?e\.?|e\.g\.|viz\.?|or|also|abbreviated|abbr\.?|abbreviation|acronym|short|shortly|for|as|to|in|is|the|a|an
        |henceforth|hereafter|hereinafter|called|simply|known|denoted|named|referred|by|see|,|:|=|"|“|”|'|‘|’|`)$""",
    re.VERBOSE | re.IGNORECASE,
)
# From short to long: "WL stands for word line", "WL = word line", "WL, word line".
_SAID_BEHIND = re.compile(
    r"""["'”’)\]]*\s*(?:,?\s*(?:which\s+|that\s+)?(?:(?:here\s+)?(?:means?|stands?\s+for|denotes?|represents?|refers?\s+to|signif(?:y|ies))
        |standing\s+for|(?:is|are|being)?\s*(?:short|an?\s+(?:abbreviation|acronym)|the\s+(?:abbreviation|acronym))\s+(?:for|of)
        |abbreviates|,?\s*i\.e\.,?|,?\s*or|for)\s+|\s*[=:–—-]\s*|\s*,\s*|\s+)(?:the\s+|an?\s+)?["'“‘]?""",
    re.VERBOSE | re.IGNORECASE,
)
# From long to short: "word line, or WL", "random access memory, RAM", "word line is called WL".
_SAID_BEFORE = re.compile(
    r"""["'”’]?\s*(?:,?\s*(?:(?:is|are|was|were|be|hereafter|henceforth|commonly|often|also|simply|usually)\s+)*
        (?:abbreviated|shortened|abbr\.?|called|denoted|known|referred\s+to|named|labeled|labelled)\s*(?:as|to|by|with|:)?|,?\s*or|,?\s*i\.e\.,?
        |,|\s*[=–—:-])?\s+(?:the\s+|an?\s+)?["'“‘]?""",
    re.VERBOSE | re.IGNORECASE,
)
_MIN_STATED_SCORE = 0.7  # how well a phrase must spell the short form if words state that it does,
_MIN_ADJACENT_SCORE = 0.9  # and if it is merely next to it
_NEVER_WITHIN = frozenset([*OPENING, *CLOSING, *'"“”='])
_MAX_LONG_FORM_TOKENS = 24  # maximum tokens of a long form
_MAX_BRACKET_TOKENS = 60  # tokens of it that are examined
_MAX_DROPPED_TOKENS = 3  # tokens between a long form and its bracket
_DROPPED_COST = 0.12
_COMMA_COST = 0.06
_SMALL_FIRST_COST = 0.2  # a phrase that begins with "the"
_PART_OF_WORD_COST = 0.15  # a phrase that begins after a hyphen


class TextBlock:
    """One block of text, split and searched once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokenize(text)
        self.runs = find_short_forms(text, self.tokens)
        self._brackets = _find_brackets(self.tokens)
        self._words = [
            TAIL * self._is_behind_hyphen(i) + strip_accents(token.text) for i, token in enumerate(self.tokens)
        ]
        self._given = [token.is_word or token.text in ("&", "'s", "’s") for token in self.tokens]
        self._bounds = [token.is_stop or token.text in _NEVER_WITHIN for token in self.tokens]
        self._in_run = frozenset(i for run in self.runs for i in range(run.first, run.last + 1))

    def pairs(self) -> list[Pair]:
        """Return all pairs, by position. A short form at one position is paired once, by the most certain way."""
        found: list[Pair] = []
        # The most certain ways first: overlaps with pairs already found are left out.
        for pair in (*self._find_in_brackets(), *self._find_stated()):
            _add(found, pair)
        for pair in self._by_initials(found):
            _add(found, pair)
        return sorted(found, key=lambda pair: (pair.short.start, pair.long.start))

    # -- brackets

    def _find_in_brackets(self) -> Iterator[Pair]:
        for opening, closing in self._brackets:
            first, last = self._strip_lead(opening + 1, closing - 1)
            if first > last:
                continue
            yield from self._find_long_before(opening, first, last)
            yield from self._find_long_within(opening, first, last)

    def _strip_lead(self, first: int, last: int) -> tuple[int, int]:
        """Narrow the content of brackets, leaving out "i.e.", "abbreviated as" and quotation marks."""
        # In capitals it may be the form itself: "(IN)".
        while first < last and _LEAD.match(self.tokens[first].text) and not self.tokens[first].text.isupper():
            first += 1
        while first < last and _LEAD.match(self.tokens[last].text) and not self.tokens[last].is_word:
            last -= 1
        return first, last

    def _find_long_before(self, opening: int, first: int, last: int) -> Iterator[Pair]:
        """Find pairs such as: word line (WL), word lines (WLs; see below), the word line of a block (block WL)."""
        # The first that is spelt out: remarks follow it ("WLs; see below").
        for run in self._find_shorts_within(first, last):
            phrase = self._find_best_before(run.text, opening - 1, _MAX_DROPPED_TOKENS)
            if phrase and phrase.score >= GOOD_SCORE:
                yield self._pair(run, phrase, "brackets")
                return

    def _find_shorts_within(self, first: int, last: int) -> Iterator[TokenRun]:
        # After a comma or colon another remark begins.
        cut = next((i for i in range(first, last + 1) if self.tokens[i].text in ",;:=" or self._opens(i)), last + 1) - 1
        if cut < first:
            return
        whole = TokenRun(first, cut, self.text[self.tokens[first].start : self.tokens[cut].end])
        several = " " in whole.text
        if may_be_short(whole.text) and not several:
            yield whole
        begin = bisect_left(self.runs, first, key=lambda run: run.first)
        yield from (run for run in self.runs[begin : begin + _MAX_BRACKET_TOKENS] if run.last <= last)
        # Two words come last: in "block WL" only WL is the form.
        if may_be_short(whole.text) and several:
            yield whole

    def _opens(self, index: int) -> bool:
        return self.tokens[index].text in OPENING

    def _find_long_within(self, opening: int, first: int, last: int) -> Iterator[Pair]:
        """Find pairs such as: WL (word line), WL (i.e. word line, the row of a block)."""
        place = bisect_left(self.runs, opening - 1, key=lambda run: run.last)
        run = self.runs[place] if place < len(self.runs) else None
        if run is None or run.last != opening - 1:
            text = self.tokens[opening - 1].text if opening else ""
            # Brackets may explain a form that its shape does not reveal ("Wl").
            if not may_be_short(text) or sum(map(str.isupper, text)) < 1 or len(text) < 2:
                return
            run = TokenRun(opening - 1, opening - 1, text)
        phrase = self._find_best_after(run.text, first, last)
        if phrase and phrase.score >= GOOD_SCORE:
            yield self._pair(run, phrase, "brackets")

    # -- words that say so

    def _find_stated(self) -> Iterator[Pair]:
        for run in self.runs:
            end = self.tokens[run.last].end
            behind = _SAID_BEHIND.match(self.text, end)
            if behind:
                first = self._find_token(behind.end())
                phrase = self._find_best_after(
                    run.text, first, min(first + _MAX_LONG_FORM_TOKENS, len(self.tokens) - 1)
                )
                if phrase and self._is_stated(phrase, run, behind.group()):
                    yield self._pair(run, phrase, "said")
            yield from self._find_stated_before(run)

    def _find_stated_before(self, run: TokenRun) -> Iterator[Pair]:
        start = self.tokens[run.first].start
        # Seven tokens suffice for the longest phrase: "is commonly referred to as the".
        for last in range(run.first - 1, max(-1, run.first - 8), -1):
            token = self.tokens[last]
            if not token.is_word:
                continue
            between = _SAID_BEFORE.fullmatch(self.text, token.end, start)
            if between:
                phrase = self._find_best_before(run.text, last, 0)
                if phrase and self._is_stated(phrase, run, between.group()):
                    yield self._pair(run, phrase, "said")
                    return

    def _is_stated(self, phrase: Phrase, run: TokenRun, between: str) -> bool:
        """Return whether the text between the two states that they are the same, or the letters leave no doubt."""
        if self.tokens[phrase.first].is_small_word:
            return False
        if "=" in between:
            return phrase.score >= GOOD_SCORE
        # A word is between them; "for" alone is too weak ("PUC for the next drive").
        if re.search(r"[^\W\d_]{2}", between) and between.strip().lower() != "for":
            return phrase.score >= _MIN_STATED_SCORE
        # Only a comma, a dash or a space: the letters must leave no doubt.
        return phrase.score >= _MIN_ADJACENT_SCORE and self._is_unambiguous(phrase, run)

    def _is_unambiguous(self, phrase: Phrase, run: TokenRun) -> bool:
        """Return whether the letters cannot agree by chance."""
        first, last = self.tokens[phrase.first], self.tokens[phrase.last]
        if first.is_small_word or last.is_small_word or phrase.first == phrase.last:
            return False
        # A phrase that contains an abbreviation is rather a list of them.
        if not self._in_run.isdisjoint(range(phrase.first, phrase.last + 1)):
            return False
        # Two letters agree with many phrases; with capitalised names at both ends they are accepted.
        return len(normalize_letters(run.text)) > 2 or (first.text[0].isupper() and last.text[0].isupper())

    def _find_token(self, offset: int) -> int:
        return bisect_left(self.tokens, offset, key=lambda token: token.start)

    # -- the letters alone

    def _by_initials(self, found: Sequence[Pair]) -> Iterator[Pair]:
        """Yield pairs for short forms that nothing else spells out, with a phrase that has these initials."""
        spelt = {normalize_letters(pair.short.of(self.text)) for pair in found}
        for run in self.runs:
            letters = normalize_letters(run.text)
            if len(letters) < 2 or letters in spelt:
                continue
            spelt.add(letters)
            phrase = self._match_initials(letters, run)
            if phrase:
                yield self._pair(run, phrase, "initials")

    def _match_initials(self, letters: str, run: TokenRun) -> Phrase | None:
        low, high = self._find_sentence(run.first)
        best: tuple[int, Phrase] | None = None
        for last in range(low, high + 1):
            if not self._words[last].removeprefix(TAIL).startswith(letters[-1]):
                continue
            phrase = self._find_best_before(run.text, last, 0)
            if not phrase or phrase.score < STRICT_SCORE or phrase.first <= run.first <= phrase.last:
                continue
            if self._is_unambiguous(phrase, run):
                distance = min(abs(phrase.first - run.last), abs(run.first - phrase.last))
                if best is None or distance < best[0]:
                    best = distance, phrase
        return best[1] if best else None

    def _find_sentence(self, index: int) -> tuple[int, int]:
        low = high = index
        while low > 0 and not self._ends_sentence(low - 1):
            low -= 1
        while high < len(self.tokens) - 1 and not self._ends_sentence(high):
            high += 1
        return low, high

    def _ends_sentence(self, index: int) -> bool:
        if self.tokens[index].text not in ".!?":
            return False
        following = self.tokens[index + 1] if index + 1 < len(self.tokens) else None
        # "approx. the" and "e.g. a" do not end a sentence.
        return following is None or (following.spaced and not following.text[0].islower())

    # -- phrases

    def _find_best_before(self, short: str, last: int, droppable: int) -> Phrase | None:
        """Return the phrase ending at token `last`, or up to `droppable` tokens before, that spells the short form
        best.
        """
        best: Phrase | None = None
        dropped = 0.0
        for end in range(last, max(-1, last - droppable - 1), -1):
            token = self.tokens[end]
            if self._bounds[end]:
                break
            if token.is_word and not self._is_before_hyphen(end):
                phrase = self._find_best_start(short, end, dropped)
                # More than rounding: at a tie the phrase nearer to the bracket is kept.
                if phrase and (best is None or phrase.score > best.score + 1e-9):
                    best = phrase
            dropped += _DROPPED_COST if token.is_word and not token.is_small_word else 0.02
        return best

    def _find_best_start(self, short: str, end: int, dropped: float) -> Phrase | None:
        letters, own = normalize_letters(short), strip_accents(short)
        best: Phrase | None = None
        cost, words = dropped, list[str]()
        for start in range(end, max(-1, end - _MAX_LONG_FORM_TOKENS), -1):
            word = self._words[start]
            # A phrase that contains the short form itself does not spell it.
            if self._bounds[start] or word == own:
                break
            if not self._given[start]:
                cost += _COMMA_COST * (word in ",/")
                continue
            words.insert(0, word)
            if not can_start(letters, word):
                continue
            worth = score_spelling(letters, words) - cost - _PART_OF_WORD_COST * word.startswith(TAIL)
            worth -= _SMALL_FIRST_COST * self.tokens[start].is_small_word
            if worth > 0 and (best is None or worth > best.score + 1e-9) and self._is_longer(start, end, letters):
                best = Phrase(start, end, worth)
        return best

    def _find_best_after(self, short: str, first: int, last: int) -> Phrase | None:
        """Return the phrase beginning at token `first` that spells the short form best."""
        letters, own = normalize_letters(short), strip_accents(short)
        best: Phrase | None = None
        cost, words = 0.0, list[str]()
        for end in range(first, min(last, first + _MAX_LONG_FORM_TOKENS, len(self.tokens) - 1) + 1):
            word = self._words[end]
            if self._bounds[end] or word == own:
                break
            if not self._given[end]:
                cost += _COMMA_COST * (word in ",/")
                continue
            words.append(word)
            worth = score_spelling(letters, words) - cost
            if worth > 0 and (best is None or worth > best.score + 1e-9) and self._is_longer(first, end, letters):
                best = Phrase(first, end, worth)
        return best

    def _is_longer(self, first: int, last: int, letters: str) -> bool:
        """Return whether the phrase is longer than the form it spells, and not a row of abbreviations itself."""
        words = [token.text for token in self.tokens[first : last + 1] if token.is_word]
        # "(ECC, LDPC)" is a list of abbreviations, though their letters may agree.
        telling = any(len(word) > 5 or (len(word) > 2 and not word.isupper()) for word in words)
        return telling and sum(map(len, words)) > len(letters)

    def _is_behind_hyphen(self, index: int) -> bool:
        return index > 0 and self.tokens[index - 1].is_hyphen and not self.tokens[index].spaced

    def _is_before_hyphen(self, index: int) -> bool:
        following = self.tokens[index + 1 : index + 3]
        return len(following) == 2 and following[0].is_hyphen and following[1].is_word and not following[1].spaced

    def _pair(self, run: TokenRun, phrase: Phrase, kind: PairKind) -> Pair:
        short = Span(self.tokens[run.first].start, self.tokens[run.last].end)
        return Pair(
            short, Span(self.tokens[phrase.first].start, self.tokens[phrase.last].end), kind, min(1.0, phrase.score)
        )


def _add(found: list[Pair], pair: Pair) -> None:
    if not any(pair.short.overlaps(other.short) or pair.long.overlaps(other.long) for other in found):
        found.append(pair)


def _find_brackets(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Return indexes of the brackets that belong together. One that is never closed runs to the end."""
    found: list[tuple[int, int]] = []
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.text in OPENING:
            opened.append(index)
        elif token.text in CLOSING and opened:
            found.append((opened.pop(), index))
    # Brackets that a cut block or a typing error left open still explain a term.
    found += [(index, len(tokens)) for index in opened]
    return sorted((index, min(end, index + _MAX_BRACKET_TOKENS)) for index, end in found)
