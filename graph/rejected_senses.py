"""Senses that the asker rejects in words: "no, I meant the other SLC"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from argot.graph.state_records import get_term, to_mention

_OTHER_SENSE = re.compile(
    r"\W*(?:(?:no+|nope|sorry|wait|not (?:that|this)(?: one)?|wrong(?: one)?|but)\W+)*"
    r"(?P<meant>i (?:meant|mean|want(?:ed)?|was asking (?:for|about))\W+)?"
    r"(?:the other|another|a different)(?: (?:one|meaning|sense|(?P<term>[\w/&+-]+)))?\W*",
    re.IGNORECASE,
)


def find_rejected_senses(message: str, before: Mapping[str, Any]) -> list[int]:
    """Return the senses (ids) in which the last question was read, if the message rejects them and asks nothing else.

    Of several terms it has to name the one that is meant.
    """
    found = _OTHER_SENSE.fullmatch(message)
    if found is None or not (found["meant"] or found["term"]):
        return []
    read = {
        one["sense"]: {mention.surface.casefold(), get_term(mention).casefold()}
        for one in before["readings"]
        for mention in [to_mention(before["mentions"][one["mention"]])]
    }
    named = {sense for sense, names in read.items() if found["term"] and found["term"].casefold() in names}
    if found["term"]:
        return [*named]
    return [*read] if len(read) == 1 else []
