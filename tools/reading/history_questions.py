"""Recognition of requests for earlier questions: "What did I ask first?". English, as small talk is.

No document answers that. Conservative: every word has to belong to such a request.
"""

from __future__ import annotations

import re
from typing import Literal

MAX_CHARS = 100  # characters; such a request is short

RecallRequest = Literal["first", "last", "all"]

_ASKED = r"(?:did (?:i|we) (?:just )?(?:ask|want to know)|(?:have|had) (?:i|we) (?:just )?asked)(?: you)?(?: about)?"
_NOUN = r"(?:question|message|request)"
_FIRST = r"(?:first|at first|at the (?:start|beginning)|to begin with|in the beginning|initially)"
_LAST = r"(?:last|before|before that|before this|just now|previously|earlier|a moment ago|just before)"
_ALL = r"(?:so far|until now|up to now|already|here|today|in this (?:conversation|chat|thread)|altogether|in total)"
_SHOW = r"(?:repeat|show|list|tell|remind|give|quote)(?: me)?(?: (?:of|about))?"
_OWN = r"(?:my|our)"
_REQUESTS: dict[RecallRequest, str] = {
    "first": rf"(?:what|which {_NOUN}) {_ASKED} {_FIRST}(?: of all)?"
    rf"|(?:what (?:was|is)|{_SHOW}) {_OWN} (?:very )?first {_NOUN}",
    "last": rf"(?:what|which {_NOUN}) {_ASKED} {_LAST}|what did (?:i|we) just ask(?: you)?"
    rf"|(?:what (?:was|is)|{_SHOW}) {_OWN} (?:last|previous) {_NOUN}",
    "all": rf"(?:what|which {_NOUN}s) {_ASKED}(?: {_ALL})?"
    rf"|(?:what (?:were|are)|{_SHOW}) (?:all )?{_OWN} (?:earlier |previous )?{_NOUN}s(?: {_ALL})?",
}
_READ = {kind: re.compile(pattern) for kind, pattern in _REQUESTS.items()}
_POLITE = re.compile(r"^(?:(?:please|and|so|ok|okay|hey|wait|sorry|again|(?:can|could) you(?: please)?) )+")
_BREAKS = re.compile(r"[^\w']+")


def find_recalled(message: str) -> RecallRequest | None:
    """Return which questions of the conversation the message asks for; None if it asks something else."""
    if len(message) > MAX_CHARS:
        return None
    said = " ".join(_BREAKS.sub(" ", message.casefold().replace("’", "'")).split())
    # After the request as well as before it: "what did I ask first, please?"
    said = re.sub(r"(?: (?:please|again))+$", "", _POLITE.sub("", said))
    return next((kind for kind, pattern in _READ.items() if pattern.fullmatch(said)), None)
