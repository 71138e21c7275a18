"""Names of people in a message: in its greeting and in its signature. English.

"Hi Priya, how much is the allowance? Best, Ann" asks about an allowance, whatever "Ann" looks like.
"""

from __future__ import annotations

import re

_NAME = r"[A-Z][a-z'’-]+(?!\w)"
_NAMES = rf"(?P<names>{_NAME}(?:(?:\s+|\s+(?:and|&)\s+){_NAME})*)"
_GREETING = re.compile(
    r"^\W*(?i:hi|hello|hey|hiya|dear|hallo|moin|good (?:morning|afternoon|evening|day)|thanks|thank you|cheers)"
    rf"(?i:\s+(?:again|there|dear))?\s+(?:(?:Mr|Mrs|Ms|Dr|Prof)\.?\s+)?{_NAMES}"
)
_SIGNED = re.compile(
    r"\b(?i:best(?: wishes)?|regards|thanks(?: again| a lot| so much)?|thank you|thx|cheers|sincerely|greetings|yours)"
    rf"\s*[,.!–—-]*\s+(?:[-–—]\s*)?{_NAMES}\s*[.!)]*\s*$"
)
# After "Vpgm," another such word continues a list, and so does one that follows "or".
_LAST = re.compile(
    r"(?:(?<!\w)(?P<before>[\w'’-]+),\s*|[?.!]\s+(?:[-–—]\s*)?)"
    rf"(?P<names>{_NAME})(?P<end>\s*[?.!]*\s*)$"
)


def find_name_spans(message: str) -> list[tuple[int, int]]:
    """Return the positions of people's names, start and end, in a message's greeting, after its thanks and at its very
    end.
    """
    found = [match.span("names") for match in (_GREETING.match(message), _SIGNED.search(message)) if match]
    last = _LAST.search(message)
    if last and not _is_continued(last):
        found.append(last.span("names"))
    return found


def _is_continued(last: re.Match[str]) -> bool:
    """Return whether the last word continues a list ("Vpgm, Vrd") or is a separate question ("Vrd? Vpp?")."""
    if last["before"] is None:
        return "?" in last["end"]
    return last["before"].istitle()
