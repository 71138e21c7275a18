"""Recognition of questions about the available documents: "What documents do you have?". English, as small talk is.

No document answers that. Conservative: every word has to belong to such a request, so that "Which documents do I need
for a visa?" is a question like any other.
"""

from __future__ import annotations

import re

MAX_CHARS = 120  # characters; such a request is short

_NOUN = (
    r"(?:(?:(?:different|other|internal|available|company|uploaded|indexed|source|reference) )*"
    r"(?:documents?|docs|files?|sources?|manuals|handbooks|guides|papers|material|materials|documentation|texts)"
    r"(?: (?:and|or) (?:documents|docs|files|sources|manuals|handbooks|guides))?)"
)
_PLACE = r"(?:knowledge ?base|kb|library|collection|database|corpus|index|system|archive|repository)"
_HERE = (
    rf"(?: (?:here|now|currently|right now|at the moment|in total|altogether|exactly|in (?:the|your|this) {_PLACE}))*"
)
_YOU = r"(?:you|u|argot|we|i|this (?:bot|assistant|tool|system)|the (?:bot|assistant|system))"
_HOLD = (
    r"(?:(?:currently |actually |already )?(?:have(?: got)?(?: access to)?|know(?: about| of)?|hold|contain|read|see"
    r"|search(?: through| in)?|cover|use|store|access|offer|index|answer from|draw on|work with|look at|rely on"
    r"|ask (?:you )?about|ask questions about))"
)
_THERE = (
    rf"(?: (?:that |which )?(?:{_YOU} (?:can )?{_HOLD}|(?:are|is) (?:there|available|known|loaded|indexed|stored)"
    r"|available|you've got|of yours))?"
)
_ALL = r"(?:(?:all|every|each)(?: of)? )?(?:(?:your|the|our|these) )?"
_REQUESTS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:what|which) (?:(?:kinds?|sorts?|types?) of )?{_NOUN} (?:do|can|does|did|could) {_YOU} {_HOLD}{_HERE}",
        rf"(?:what|which) {_NOUN} (?:have|has) {_YOU}(?: got| read| indexed| seen)?{_HERE}",
        rf"(?:what|which) {_NOUN} (?:are|is|have been|were)"
        r"(?: (?:there|available|loaded|indexed|uploaded|stored|included|known)(?: to you)?"
        rf"| in (?:the|your|this) {_PLACE}){_HERE}",
        rf"(?:what|which|how many) {_NOUN} (?:did|have) (?:i|we) (?:just |already )?"
        rf"(?:upload|add|attach|send|sent|share|give|given)(?:ed|d)?(?: you| to you)?{_HERE}",
        rf"how many {_NOUN} (?:(?:do|can|does|did) {_YOU} {_HOLD}|have {_YOU}(?: got| read| indexed)?"
        rf"|are (?:there|available|loaded|indexed|stored|in (?:the|your|this) {_PLACE})){_HERE}",
        rf"(?:list|show|name|enumerate|display|give|tell|print)(?: me| us)?(?: a list of| the names of| about)?"
        rf" (?:(?:all|every)(?: of)? (?:(?:your|the|our) )?|your ){_NOUN}{_THERE}{_HERE}",
        rf"(?:list|show|name|enumerate|display|give|tell|print)(?: me| us)?(?: a list of| the names of| about)? {_ALL}"
        rf"{_NOUN} (?:that |which )?(?:{_YOU} (?:can )?{_HOLD}|there are|(?:are )?available){_HERE}",
        rf"(?:list|(?:a |the )list of) (?:all )?(?:your |available )?{_NOUN}{_HERE}",
        rf"what(?:'s| is| are) (?:all )?(?:in|inside|part of) (?:your|the|this) {_PLACE}",
        rf"what(?:'s| is| are) your (?:{_NOUN}|{_PLACE})",
        r"where (?:do|does) (?:you|argot) (?:get|take|have) (?:your|the|its|these) (?:answers?|information|knowledge"
        r"|facts|data) from",
        r"what (?:do you|does argot) (?:have access to|answer from|have in (?:your|the) (?:library|knowledge base))",
        r"what (?:information|knowledge|data|content) do you have(?: access to)?",
        r"(?:do you have|is there|can i (?:see|get)) (?:a|the) list of (?:all )?(?:your |the )?" + _NOUN,
    )
)
_POLITE = re.compile(
    r"^(?:(?:please|pls|hi|hello|hey|argot|ok|okay|so|and|now|then|well|thanks|btw|by the way|just"
    r"|(?:can|could|would|will) you(?: please)?) )+"
)
_END = re.compile(r"(?: (?:please|pls|thanks|thank you|again|for me|then))+$")
_BREAKS = re.compile(r"[^\w']+")


def is_library_question(message: str) -> bool:
    """Return whether the message asks which documents there are, or how many."""
    if len(message) > MAX_CHARS:
        return False
    said = " ".join(_BREAKS.sub(" ", message.casefold().replace("’", "'")).split())
    said = _END.sub("", _POLITE.sub("", said))
    return any(pattern.fullmatch(said) for pattern in _REQUESTS)
