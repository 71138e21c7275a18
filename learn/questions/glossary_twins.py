"""Variants of questions with an organisation's short forms, or with these spelt out. All find the same passage."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ShortForm:
    """A short form and its expansion. `alone`: it has no other meaning anywhere in the glossary."""

    short: str
    full: str
    alone: bool = True


def make_twins(question: str, passage: str, spellings: Sequence[ShortForm]) -> Iterator[tuple[str, str]]:
    """Make the twins of a question, each with its kind: "abbreviated" or "spelt out".

    A short form with several meanings is used only if the passage contains this full form.
    """
    fitting = [one for one in spellings if one.alone or _place(one.full, passage)]
    abbreviated = _replace_forms(question, [(one.full, one.short) for one in fitting])
    if abbreviated != question:
        yield "abbreviated", abbreviated
    spelt = _replace_forms(question, [(one.short, one.full) for one in fitting], exact=True)
    # "What does CP stand for?" is then no longer answered by a passage on charge pumps.
    if spelt != question and not re.search(r"stand for|is meant by|mean\b", question):
        yield "spelt out", spelt


def _replace_forms(question: str, forms: Sequence[tuple[str, str]], *, exact: bool = False) -> str:
    # The longest first: "logical block address table" before "logical block address".
    for original, instead in sorted(forms, key=lambda form: -len(form[0])):
        found = _place(original, question, exact=exact)
        if found is None or _place(instead, question):
            continue
        question = _fit_article(question[: found.start()], instead) + question[found.end() :]
    return question


def _place(form: str, text: str, *, exact: bool = False) -> re.Match[str] | None:
    words = r"[\s-]+".join(map(re.escape, form.split()))
    return re.search(rf"(?<![\w-]){words}(?![\w-])", text, 0 if exact else re.IGNORECASE)


def _fit_article(before: str, form: str) -> str:
    """Join the text before a form to the form, with the article as it is pronounced: an NDA, a PUC."""
    spelt = form.isupper() and len(form) < 6
    vowel = form[0] in "AEFHILMNORSX" if spelt else form[0].lower() in "aeio"
    return re.sub(r"\b([Aa])n? $", r"\1n " if vowel else r"\1 ", before) + form
