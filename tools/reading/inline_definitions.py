"""Finds definitions within a question: "SLA (stereolithography)", "by SLA I mean ...".

The asker's explanation takes precedence over the glossary. A short form in or before brackets must be spelt by its long
form, checked as in Schwartz and Hearst, "A simple algorithm for identifying abbreviation definitions in biomedical
text" (2003): so "the PUC (used in NAND)" explains nothing.
"""

from __future__ import annotations

import re

Explanation = tuple[int, int, str]
"""Start and end of the term in the question, and its stated meaning."""

# At most ten characters, at least one of them a capital: SLA, tCCS, L2P.
_SHORT = r"(?=[A-Za-z0-9/-]{0,9}[A-Z])[A-Za-z0-9][A-Za-z0-9/-]{0,9}"
_SHORT_THEN_LONG = re.compile(rf"\b(?P<short>{_SHORT})\s{{0,2}}\((?P<long>[^()]{{3,120}})\)")
_SHORT_IN_BRACKETS = re.compile(rf"\((?P<short>{_SHORT})\)")
_CLAUSE_END = re.compile(r"[().;:?!]")
_MAX_MEANING_CHARS = 160  # characters
_SAID = re.compile(
    rf"""\b(?:by\ )?["'“‘]?(?P<short>{_SHORT})["'”’]?,?\s{{1,3}}
         (?:(?P<verb>(?:here\ )?means?|stands?\ for|(?:is\ )?short\ for|(?:is\ )?an\ abbreviation\ (?:of|for))\s+
           |\(?i\.?\s?e\.?,?\s+|I\ mean\s+|meaning\s+|as\ in\s+|being\ short\ for\s+|=\s+|\(=\s*)
         ["'“‘]?(?P<long>[^,;:.?!()"”’]{{3,80}})""",
    re.VERBOSE,
)
_BRACKET_LEAD = re.compile(r"^(?:i\.?\s?e\.?,?|I mean|meaning|short for|=|that is,?|which means|stands for)\s+", re.I)
# In "what does PUC mean in firmware" the words after "mean" are no meaning.
_ASKED_ABOUT = re.compile(
    r"""\b(?:what|does|do|did|can|could|may|might|would)\s+(?:the\s+|an?\s+|this\s+|that\s+)?
        (?:(?:term|word|abbreviation|acronym|letters)\s+)?["'“‘]?$""",
    re.IGNORECASE | re.VERBOSE,
)
_ASKS = re.compile(r"^(?:what|which|who|how|why|where|when|something|anything|it|that|this|the same|exactly)\b", re.I)


def find_explanations(question: str) -> list[Explanation]:
    """Return every meaning that the question states, by position; of several at one place the first rule's."""
    found: dict[int, Explanation] = {}
    for rule in (_from_brackets_after, _from_brackets_before, _from_words):
        for explanation in rule(question):
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


def _from_brackets_after(question: str) -> list[Explanation]:
    found = []
    for match in _SHORT_THEN_LONG.finditer(question):
        said = _BRACKET_LEAD.sub("", match["long"].strip())
        # Words such as "short for" mark a meaning, whatever its letters.
        told = said != match["long"].strip()
        short = match["short"].removesuffix("s") if match["short"][:-1].isupper() else match["short"]
        if _is_meaning(said) and (told or find_long_form(short, said) == said):
            found.append((match.start("short"), match.end("short"), said))
    return found


def _from_brackets_before(question: str) -> list[Explanation]:
    found = []
    for match in _SHORT_IN_BRACKETS.finditer(question):
        short = match["short"]
        clause = _CLAUSE_END.split(question[max(0, match.start() - _MAX_MEANING_CHARS) : match.start()])[-1]
        # The bound of Schwartz and Hearst on the words before the brackets.
        words = clause.split()[-min(len(short) + 5, 2 * len(short)) :]
        said = find_long_form(short, " ".join(words))
        if len(short) > 1 and _is_meaning(said) and said != short:
            found.append((match.start("short"), match.end("short"), said))
    return found


def _from_words(question: str) -> list[Explanation]:
    """Return the meanings stated in words, but not asked-for ones: "what does PUC mean in firmware, and who
    decides?".
    """
    found = []
    for match in _SAID.finditer(question):
        if match["verb"] and _ASKED_ABOUT.search(question[: match.start("short")]):
            continue
        said = match["long"].strip().split(" and what ")[0]
        if _is_meaning(said) and _is_short_form(match["short"]):
            found.append((match.start("short"), match.end("short"), said))
    return found


def _is_short_form(word: str) -> bool:
    """Return whether a word is like LLC, tCCS or L2P, and not merely capitalised, like the first of a sentence."""
    return sum(c.isupper() or c.isdigit() for c in word) >= 2 or (word[0].islower() and not word.islower())


def _is_meaning(said: str) -> bool:
    # "SLA (what is that?)" asks, "PUC (CUA)" names another abbreviation.
    return bool(re.search(r"[^\W\d_]{3}", said)) and not _ASKS.match(said) and not said.isupper()
