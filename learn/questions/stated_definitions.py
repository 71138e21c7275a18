"""Sentences that define something, and the question that each answers."""

from __future__ import annotations

import re

from argot.learn.questions.heading_wording import IMPERATIVES, split_words

_ARTICLE = r"(?:(?P<article>An?|The) )?"
_SUBJECT = r"(?P<subject>[A-Za-z][\w-]*(?: [\w-]+){0,4}?)"
_SHORT = r"(?: \((?P<short>[A-Z][A-Za-z0-9-]{1,9})\))?"
_SAYS = re.compile(
    rf"^{_ARTICLE}{_SUBJECT}{_SHORT},?"
    r" (?:(?P<verb>is|are) (?:an? |the |any |one of )"
    r"(?!(?:same|only|case|best|good|most|first|last|few|lot|number of|default|following|must|requirement|subject"
    r"|result|reason|key)\b|responsib)\w"
    r"|(?:refers? to|denotes?|means|stands? for) (?!that\b)\w)"
)
_LONG_AND_SHORT = re.compile(r"((?:[A-Za-z][\w-]* (?:of |and |for |the )?){2,6})\(([A-Z][A-Z0-9]{1,7})s?\)")
_NO_BEGINNING = split_words(
    """this that these those it its there here what which who whose one each every some many most all both other
    another such same first second third last next following above below only main current new old figure table
    section chapter result reason purpose goal aim idea example note if when while after before because since
    although though in on at for with by to as from but and or so then thus however therefore also not no nothing he
    she they we you i your our their his her my please underneath confirm verify make sure where how why once during
    under over between among more less few several any either neither let see use"""
)
_NO_END = split_words("""is are was be been of to and or which that who it not also there this as in on at with""")
_EMPTY = split_words(
    """difference answer problem solution point rule value choice option method approach way exception default device
    system product document step task limit cause symptom advantage disadvantage benefit main order owner person
    response type name number part author"""
)


def make_definition_question(sentence: str, place: int) -> tuple[str, str] | None:
    """Make the question that a definition answers, with the sentence; None where it defines nothing.

    `place` chooses among the wordings.
    """
    if not 6 <= len(sentence.split()) <= 45 or not sentence.endswith("."):
        return None
    if (found := _SAYS.match(sentence)) and (question := _word_question(found, place)):
        return question, sentence
    return None


def make_short_form_question(sentence: str, place: int) -> tuple[str, str] | None:
    """Make a question about an abbreviation that the sentence spells out, with the sentence."""
    for found in _LONG_AND_SHORT.finditer(sentence):
        words, short = [word for word in found[1].split() if word not in ("of", "and", "for", "the")], found[2]
        initials = "".join(part[0] for word in words for part in word.split("-") if part).upper()
        if initials.endswith(short) and len(short) > 1:
            return (f"What does {short} stand for?", f"what is {short}", f"What is meant by {short}?")[
                place % 3
            ], sentence
    return None


def _word_question(found: re.Match[str], place: int) -> str:
    article, subject, short = (found["article"] or "").lower(), found["subject"], found["short"]
    words = subject.split()
    if words[0].lower() in _NO_BEGINNING | IMPERATIVES or words[-1].lower() in _NO_END or len(subject) < 3:
        return ""
    if any(word.lower() in _NO_END - {"of", "and", "to", "in"} for word in words) or re.search(
        r"\w(?:ed|ly)$", words[-1]
    ):
        return ""
    # "The default is ..." asks for the document that one is reading.
    if len(words) == 1 and (words[0].lower() in _EMPTY or (article == "the" and words[0].islower())):
        return ""
    plural = found["verb"] == "are"
    name = (
        subject
        if words[0][1:] != words[0][1:].lower() or not words[0].isalpha() or article
        else _lower_subject(subject)
    )
    if short and place % 2:
        return f"What is {'a ' if article in ('a', 'an') else ''}{short}?"
    shown = f"{article} {name}".strip()
    if not article and place % 2:
        return f"What is meant by {name}?"
    return f"What {'are' if plural else 'is'} {shown}?"


def _lower_subject(subject: str) -> str:
    first, _, rest = subject.partition(" ")
    # A sentence begins with a capital, a name has one at any position: several of them are one.
    return subject if not rest or any(word[:1].isupper() for word in rest.split()) else f"{first.lower()} {rest}"
