"""Names of new senses that are everyday words, such as "it" and "am": a person decides before questions are read so."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from itertools import zip_longest
from typing import Literal

from argot.jargon_db.formats.glossary_file import GlossaryFile, RejectedRow
from argot.jargon_db.lookup.ordinary_words import is_function_word
from argot.jargon_db.store.inputs import SenseInput, normalise_context

EverydayChoice = Literal["draft", "take", "leave"]
"""Whether senses with such names become drafts, are taken, or are left out."""
_MAX_CHARS = 9
_REASON = "its name is an everyday word"


def list_everyday_names(sense_input: SenseInput) -> list[str]:
    """Return the names of a sense that are function words. In capitals, as IT, they are no such words: the matcher
    recognises them only so.
    """
    return [
        name
        for name in (sense_input.term, *(sense_input.aliases or ()))
        if len(name) <= _MAX_CHARS and not name.isupper() and is_function_word(name.casefold())
    ]


def decide_everyday_words(
    found: GlossaryFile, stored: Set[tuple[str, str, str]], choice: EverydayChoice
) -> tuple[GlossaryFile, tuple[str, ...]]:
    """Return the file as it is imported, and the everyday words among the names of new senses. A status in a file of
    Argot's is a person's decision, and stays.
    """
    words: dict[str, None] = {}
    senses, places, rejected = [], [], list(found.rejected)
    for one, place in zip_longest(found.senses, found.places, fillvalue=""):
        assert isinstance(one, SenseInput)
        names = list_everyday_names(one)
        known = bool(names) and (one.term, normalise_context(one.context), one.expansion) in stored
        undecided = bool(names) and not known and one.status is None
        if undecided:
            words |= dict.fromkeys(names)
            if choice == "leave":
                shown = f"row {place}" if isinstance(place, int) else str(place)
                rejected.append(RejectedRow(shown, _REASON, sense=one))
                continue
        senses.append(replace(one, status="draft") if undecided and choice == "draft" else one)
        places.append(place)
    if not words:
        return found, ()
    return replace(found, senses=senses, places=places, rejected=rejected), tuple(words)
