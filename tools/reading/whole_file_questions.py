"""Recognition of questions about a whole file of the conversation: "Summarise this", "What's in the PDF?".

No passage answers that by its words, and there is nothing to search for. Conservative: every word has to belong to such
a request, so that "What does the file say about costs?" is a question like any other. English, as small talk is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import PurePosixPath
from typing import Literal

MAX_CHARS = 200
"""Characters: a longer message asks for more than the gist of a file."""

Pointer = Literal["it", "file", "files"]
"""The kind of reference in a message: by a word that may mean anything ("this"), as a file, or as several."""

_KIND = (
    r"(?:(?:pdf|word|excel|powerpoint|text|markdown|csv|html|office) )?"
    r"(?:file|document|doc|docx|pdf|paper|text|attachment|upload|spreadsheet|sheet|workbook|xlsx?|ods|odt|rtf|msg|vsdx"
    r"|table|presentation|powerpoint|pptx|odp|deck|slide deck|slide|report|article|letter|memo|note|manual|guide"
    r"|contract|agreement|invoice"
    r"|markdown|csv|page)"
)
_SENT = r"(?:attached|uploaded|sent|added|shared|dropped|given|provided|gave you|enclosed|put in)"
# "the file I just sent you", "the report above".
_BEHIND = rf"(?: (?:that |which )?(?:i|we)(?:'ve| have)? (?:just )?{_SENT}(?: here| you)?| {_SENT}| above| here)?"
_BEFORE = r"(?:(?:attached|uploaded|enclosed|whole|entire|new|last|latest|above|following) )*"
_ONE = (
    rf"(?:the|this|that|my|our|your) {_BEFORE}{_KIND}{_BEHIND}|{_KIND} (?:i|we) (?:just )?{_SENT}"
    rf"|{_BEFORE}(?:file|document|attachment)|the (?:attached|uploaded)(?: one)?|what (?:i|we) (?:just )?{_SENT}"
)
_SEVERAL = rf"(?:(?:all|both)(?: of)? )?(?:(?:the|these|those|my|our) )?{_BEFORE}{_KIND}s{_BEHIND}|both(?: of them)?"
_NAMED = rf"(?:(?:the|this|that|my|our) )?(?:{_KIND} )?(?:called )?(?P<name>name\d+)(?: {_KIND})?"
_IT = r"this(?: one| here| thing)?|that(?: one| thing)?|it|these|those|them"
_WHAT = rf"(?:{_NAMED}|(?P<files>{_SEVERAL})|(?P<file>{_ONE})|(?P<it>{_IT}))"

# Words for a file as a whole, with the qualifiers people use: "the main points".
_GIST = (
    r"(?:summary|summari[sz]ation|overview|outline|synopsis|abstract|gist|digest|recap|tl ?dr|contents?|subjects?"
    r"|topics?|purpose|structure|table of contents|(?:main|key|most important|important|central|core) "
    r"(?:points?|ideas?|messages?|topics?|takeaways?|findings?|facts|things|statements?|subjects?|themes?|parts?)"
    r"|takeaways?|highlights|bullet points)"
)
_BRIEF = r"(?:(?:short|brief|quick|concise|rough|general|high level|one line|one paragraph|small) )*"
_ARTICLE = r"(?:(?:a|an|the|some|any|its) )?"
_IS = r"(?:'s|s| is| are| was| were)"
_REQUESTS = (
    rf"what{_IS} {_WHAT}(?: (?:all )?about)?",
    rf"what {_WHAT} (?:is|are) (?:all )?about",
    rf"what (?:does|do|did) {_WHAT} (?:say|contain|cover|include|deal with|talk about|tell(?: me| us)?|describe"
    rf"|discuss|hold|consist of|state|show|explain|treat|have in it)",
    rf"what{_IS} (?:(?:(?:written|there|said|stated|described|covered|contained) )?in|inside|inside of) {_WHAT}",
    rf"what{_IS} {_ARTICLE}{_BRIEF}{_GIST}(?: (?:of|in|from) {_WHAT})?",
    rf"(?:what|which) (?:topics?|subjects?|things) (?:does|do|are|is) (?:covered (?:in|by) )?{_WHAT}"
    rf"(?: (?:cover|deal with|discuss|contain|about))?",
    rf"what information (?:is in|does|do) {_WHAT}(?: (?:have|contain|hold|give))?",
    r"what did (?:i|we) (?:just )?(?P<files>attach|upload|send|share|add)",
    rf"what (?:kind|type|sort) of (?:file|document|text|thing) (?:is|are) {_WHAT}",
    rf"what (?:should|must|do) (?:i|we) (?:need to |have to )?know (?:about|from) {_WHAT}",
    rf"(?:summari[sz]e|sum up|outline|describe|explain|introduce|skim|digest|recap|read|condense|tl ?dr) {_WHAT}",
    rf"sum {_WHAT} up",
    rf"(?:walk|take|guide) (?:me|us) through {_WHAT}",
    rf"help (?:me|us) (?:to )?understand {_WHAT}",
    rf"tell (?:me|us) (?:more |something )?about {_WHAT}",
    rf"tell (?:me|us) what(?:'s| is) in {_WHAT}",
    rf"tell (?:me|us) what {_WHAT} (?:is about|are about|says|say|contains|contain)",
    rf"(?:(?:give|show|write|make|get|send)(?: me| us)? |(?:i|we) (?:need|want|would like) |i'd like |provide )?"
    rf"{_ARTICLE}{_BRIEF}{_GIST}(?: (?:of|for|about|on|from|in) {_WHAT})?",
    r"summari[sz]e|tl ?dr",
)
_POLITE = re.compile(
    r"^(?:(?:please|pls|hi|hello|hey|argot|ok|okay|so|and|now|then|well|briefly|quickly|shortly|thanks|just"
    r"|(?:can|could|would|will) you(?: please| kindly)?) )+"
)
# The wanted form of the gist does not change the request: "in two sentences", "for me".
_MANNER = re.compile(
    r"(?: (?:please|pls|for me|for us|briefly|quickly|shortly|in short|in brief|in general|exactly|actually|thanks"
    r"|thank you|roughly|in detail|to me|then|in (?:a |one |two |three |four |five |\d+ |few |some |plain |simple "
    r"|your |own )*(?:sentences?|lines?|words?|paragraphs?|bullet points|bullets|points|english)))+$"
)
# Without a file these words alone show that one was meant to be attached.
_SAID_TO_BE_HERE = re.compile(
    rf"\b(?:attached|uploaded|attachments?|uploads?|(?:this|these|my) (?:\w+ )?(?:file|document|doc|docx|pdf)s?"
    rf"|(?:i|we) (?:just )?{_SENT})\b"
)
_BREAKS = re.compile(r"[^\w']+")


def find_asked_file(message: str, names: Sequence[str]) -> Pointer | int | None:
    """Return the file or files whose gist the message asks for; None if it asks for something else.

    Args:
        names: of the available files; the number of one is returned if the message names it.
    """
    if len(message) > MAX_CHARS + max(map(len, names), default=0):
        return None
    said = _strip_manner(_replace_names(_normalize(message), names))
    found = next((match for one in _compile_requests() if (match := one.fullmatch(said))), None)
    if found is None:
        return None
    groups = found.groupdict()
    if groups.get("name"):
        return int(groups["name"].removeprefix("name"))
    return "files" if groups.get("files") else "file" if groups.get("file") else "it"


def is_missing_file_asked(message: str) -> bool:
    """Return whether a message without any file asks about "this file", or one that was attached.

    "The manual" or "the report" may well be one of the documents.
    """
    said_here = _SAID_TO_BE_HERE.search(_normalize(message)) is not None
    return said_here and find_asked_file(message, []) in ("file", "files")


@cache
def _compile_requests() -> tuple[re.Pattern[str], ...]:
    # A quarter of a second, which `argot ask` need not wait when nobody speaks of a file.
    return tuple(re.compile(pattern) for pattern in _REQUESTS)


def _normalize(text: str) -> str:
    return " ".join(_BREAKS.sub(" ", text.casefold().replace("’", "'").replace("_", " ")).split())


def _replace_names(said: str, names: Sequence[str]) -> str:
    """Return each file's name replaced by one word. Only with its extension: "puc.md" is a file, "PUC" is a term."""
    spelt = {_normalize(name): number for number, name in enumerate(names) if PurePosixPath(name).suffix}
    # The longest first, so that "rota.md" is not found within "old rota.md".
    for spelling, number in sorted(spelt.items(), key=lambda one: -len(one[0])):
        said = re.sub(rf"(?<!\S){re.escape(spelling)}(?!\S)", f"name{number}", said)
    return said


def _strip_manner(said: str) -> str:
    return _MANNER.sub("", _POLITE.sub("", said))
