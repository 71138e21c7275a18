"""Rows of a list that define several numbered terms at once: "PV1 / PV2", "P1 to P4"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from argot.jargon_db.store.inputs import SenseInput

MAX_COMBINED_TERMS = 10
"""Terms of one row; the terms of a longer range would fill a glossary with the same text."""
_NUMBERED = re.compile(r"(?P<stem>[A-Z][A-Za-z]{0,7}[- ]?)(?P<number>\d{1,3})")
_JOINED = re.compile(r"\s*[/,;&+]\s*|\s+(?:and|or|und|oder|et|ou|y|o)\s+")
_RANGE = re.compile(r"\s*[–—]\s*|\s+-\s+|\s*\.\.+\s*|\s+(?:to|through|bis|à|a|hasta)\s+|(?<=\d)-(?=[A-Z])")


def split_terms(sense_input: SenseInput) -> list[SenseInput]:
    """Return the senses of the terms that a row combines, each with the row's meaning; only the sense itself if it is
    of one term. "Priority 1 to 4" of "P1 to P4" becomes "Priority 1" of P1.
    """
    terms = list_combined_terms(sense_input.term)
    if not 1 < len(terms) <= MAX_COMBINED_TERMS:
        return [sense_input]
    labels = sense_input.labels
    return [
        replace(
            sense_input,
            term=term,
            expansion=_choose_part(sense_input.expansion, terms, place),
            labels=labels and tuple(replace(one, text=term) if one.text == sense_input.term else one for one in labels),
        )
        for place, term in enumerate(terms)
    ]


def list_combined_terms(term: str) -> list[str]:
    """Return the numbered terms of one shape that a text joins, or that its range covers; empty if it is another
    text.
    """
    return _list_joined(term) or _list_range(term)


def _list_joined(term: str) -> list[str]:
    parts = _JOINED.split(term)
    found = [_NUMBERED.fullmatch(part) for part in parts]
    is_alike = len(parts) > 1 and len({one and one["stem"] for one in found}) == 1 and all(found)
    return parts if is_alike and len(set(parts)) == len(parts) else []


def _list_range(term: str) -> list[str]:
    ends = [_NUMBERED.fullmatch(part) for part in _RANGE.split(term)]
    if len(ends) != 2 or ends[0] is None or ends[1] is None or ends[0]["stem"] != ends[1]["stem"]:
        return []
    return [f"{ends[0]['stem']}{number}" for number in range(int(ends[0]["number"]), int(ends[1]["number"]) + 1)]


def _choose_part(expansion: str, terms: Sequence[str], place: int) -> str:
    """Return the part of an expansion that numbers its parts as the terms do; else the whole."""
    numbers = [re.sub(r"\D", "", term) for term in terms]
    joined = rf"{_JOINED.pattern}|{_RANGE.pattern}|(?<=\d)-(?=\d)"
    ends = (numbers, [numbers[0], numbers[-1]])
    for end in ends:
        if found := re.fullmatch(rf"(?P<head>.*?\D\s?){f'(?:{joined})'.join(end)}", expansion):
            return f"{found['head']}{numbers[place]}"
    return expansion
