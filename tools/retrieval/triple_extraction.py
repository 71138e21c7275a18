"""(source, action, target) triples from instructions, by rules, at ingest (KaPQA 5, step 1) without a language model.

A user's intention is in the words of the documents: "To edit the image, click on the triple line menu" gives (triple
line menu, edit, image). The rules cover only the five forms of instructions; unclear wording gives no triple, since a
wrong one misleads every search it matches. Each part occurs word for word in the passage or its headings.

    purpose first   To ACTION TARGET, [first] click [on] SOURCE
    purpose last    Click SOURCE to ACTION TARGET;  SOURCE is used to ACTION TARGET
    ability         SOURCE lets you ACTION TARGET;  You can ACTION TARGET with SOURCE
    effect          The SOURCE command ACTIONs TARGET          (command, button, option, setting, tool, ...)
    step            a list item "Click SOURCE" below the heading "Rotate a text box", or the line "To rotate it:"
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple

from argot.corpus.keyword.stop_words import STOP_WORDS
from argot.tools.text.markdown_prose import extract_prose
from argot.tools.text.sentences import split_blocks
from argot.types import DerivedText, Passage, Triple

MAX_TRIPLES_PER_PASSAGE = 35
"""As many as the paper's model made from one document."""

_MAX_SENTENCE_CHARS = 400  # characters; a longer sentence is no instruction, and slow to match

_HANDLE = (
    r"(?:double-click|right-click|left-click|long-press|click|select|choose|press|tap|touch|hit|open|use|run|execute"
    r"|call|type|enter|drag|go to|navigate to|turn|push|pull|move|set|enable|tick|check|activate|launch|invoke|issue"
    r"|pick|hold down|hold|switch to|contact|ask|phone|mail)"
)
_PREFIX = r"(?:on|to|in|into|at|down|up)"
_DETERMINER = r"(?:the|an?|your|its|their|our|any|all|each|every|this|that|these|those|one|some|another)"
# Words that begin another part of the sentence, and cannot be part of a name.
_BREAKS = (
    r"in|on|at|from|to|with|within|by|for|of which|when|if|and then|then|or|using|via|through|so|before|after|until"
    r"|while|as|because|unless|which|that|where|into|onto|over|under|between|during|without|is|are|was|were|will|can"
    r"|may|must|should|and|has|have|had|it|they|you|we|but|not|again|first|instead|lets?|allows?|enables?|helps?"
)
_WORD = rf"(?!(?:{_BREAKS})\b)[\w`'’/+#*.-]*[\w`+#*]"
_NAME = rf"[\"“'‘]?{_WORD}(?: (?:> |→ )?{_WORD}){{0,5}}[\"”'’]?"
"""A thing: up to six words, none of which begins another part of the sentence; `File > Export` is one thing."""

# Verbs without an action of their own are left out: "to see the menu", "to make sure".
_ACTION = (
    r"(?!(?:be|have|the|an?|this|that|your|do so|see|learn|know|get|make sure|ensure)\b)"
    r"[a-z]{3,}(?:-[a-z]+)?(?: (?:up|down|off|on|out|back))?"
)
_SOURCE = rf"(?:{_DETERMINER} )?(?P<source>{_NAME})"
_TARGET = rf"(?:{_DETERMINER} )?(?P<target>{_NAME}(?: of (?:{_DETERMINER} )?{_WORD}(?: {_WORD})?)?)"
_DO = rf"(?P<action>{_ACTION}) {_TARGET}"
_THING = (
    r"(?:command|button|option|tool|menu|menu item|flag|switch|setting|dialog|feature|utility|key|icon|handle|panel|tab"
    r"|slider|checkbox|field|parameter|argument|script|function|wizard|page|link|knob|lever|register|form)"
)

_RULES = tuple(
    re.compile(rule, re.IGNORECASE)
    for rule in (
        # In the order of the table above: purpose first, purpose last (two), ability (two), effect.
        rf"\bto {_DO}[^,.;:]{{0,60}}, (?:please |you can |you must |first |then |simply |just )*"
        rf"{_HANDLE} (?:{_PREFIX} )?{_SOURCE}",
        rf"(?:^|[,;:] |\b(?:then|and|you can|can|must|should|please|first) ){_HANDLE} (?:{_PREFIX} )?{_SOURCE}"
        rf"(?: (?:in|on|at|from|of) {_DETERMINER} [\w -]{{1,40}}?)? (?:in order )?to {_DO}",
        rf"(?:^|[,;:] ){_SOURCE} (?:is|are|can be) used (?:to|when you) {_DO}",
        rf"(?:^|[,;:] ){_SOURCE} (?:lets?|allows?|enables?|helps?) (?:you|users|people|the user) (?:to )?{_DO}",
        rf"\byou (?:can|may) {_DO}[^,.;:]{{0,30}}? (?:with|(?:by )?using|via|by clicking(?: on)?|by pressing"
        rf"|by selecting|through) {_SOURCE}",
        rf"^(?:the )?(?P<source>{_NAME} {_THING}) (?P<action>[a-z]{{3,}}s) {_TARGET}",
    )
)
_STEP = re.compile(
    rf"^(?:first |then |next |finally |now ){{0,2}},? ?{_HANDLE} (?:{_PREFIX} )?{_SOURCE}", re.IGNORECASE
)
_PURPOSE = re.compile(rf"^(?:how (?:do (?:i|you|we) |can (?:i|you|we) |to )|to )?{_DO}", re.IGNORECASE)
_CUE = re.compile(
    rf"\bto \w|\b(?:lets?|allows?|enables?|helps?) |\byou (?:can|may) |^(?:the )?[^,.;:]{{1,60}} {_THING} ",
    re.IGNORECASE,
)
"""Every rule needs one of these. Most prose has none, and is skipped at once."""

# A heading is an aim only if it begins with such a verb: "Installation notes" names no action.
_IMPERATIVES = frozenset(
    """
    activate add adjust align apply approve archive assign attach back book borrow build calibrate cancel change
    check clean clear close combine compare compress configure connect convert copy create crop cut delete
    deploy disable disconnect display download draw duplicate edit enable encrypt enter erase export extract
    fill find fix flip format import increase insert install invite join label launch load lock manage mark
    measure merge mount move name open order organize pair pause place play prepare print protect publish reboot
    record recover reduce register remove rename repair replace report request reset resize restart restore
    return revoke rotate run save scan schedule search select send set share show sign sort split start stop
    store submit switch sync test track transfer turn uninstall unlock update upgrade upload use validate verify
    view watch write zoom
    """.split()  # noqa: SIM905
)


# "the following command", "this way": true of anything.
_VAGUE = re.compile(rf"(?:(?:following|next|same|other|right|left|above|below|new) )?(?:{_THING}s?|ones?|way|thing)")


class _Parts(NamedTuple):
    source: str
    action: str
    target: str


class ExtractiveDeriver:
    """A `Deriver` by rules. It derives no texts: summaries and questions take understanding."""

    name = "extractive-triples-1"

    async def triples(self, passages: Sequence[Passage]) -> list[Triple]:
        """Return at most `MAX_TRIPLES_PER_PASSAGE` of each passage, in its order, without repeats."""
        return [triple for passage in passages for triple in _extract_triples(passage)]

    async def derived_texts(self, passages: Sequence[Passage]) -> list[DerivedText]:
        return []


def _extract_triples(passage: Passage) -> list[Triple]:
    # A dictionary drops repeats and keeps the order.
    found = dict.fromkeys(parts for parts in _find_parts(passage) if _is_sound(parts))
    return [Triple(_make_id(passage.id, parts), *parts, passage.id) for parts in list(found)[:MAX_TRIPLES_PER_PASSAGE]]


def _make_id(passage_id: str, parts: _Parts) -> str:
    return "t" + blake2b("\0".join((passage_id, *parts)).encode(), digest_size=8).hexdigest()


def _find_parts(passage: Passage) -> Iterator[_Parts]:
    aim = _find_aim(passage.heading_path[-1]) if passage.heading_path else None
    for start, end, kind in split_blocks(passage.text):
        if kind in ("row", "code"):
            continue
        text = extract_prose(passage.text[start:end]).text
        if kind == "heading":
            aim = _find_aim(text)
            continue
        if kind == "prose":
            # "To rotate it:" above a list is an aim; any other prose keeps that of the heading.
            aim = _find_aim(text[:-1]) if text.endswith(":") and text.lower().startswith("to ") else aim
        for statement in _split_statements(text):
            yield from _match_rules(statement)
        if kind == "item" and aim and len(text) <= _MAX_SENTENCE_CHARS:
            yield from _match_step(text, aim)


def _split_statements(text: str) -> Iterator[str]:
    """Yield sentences that may contain an instruction. Split coarsely, for speed: an abbreviation costs at most a
    triple.
    """
    for statement in re.split(r"(?<=[.!?]) (?=[A-Z*\"“])", text):
        if len(statement) <= _MAX_SENTENCE_CHARS and _CUE.search(statement):
            yield statement


def _match_rules(text: str) -> Iterator[_Parts]:
    statement = _strip_marker(text)
    for rule in _RULES:
        for match in rule.finditer(statement):
            yield _Parts(
                _strip_determiner(match["source"]), match["action"].lower(), _strip_determiner(match["target"])
            )


def _match_step(text: str, aim: tuple[str, str]) -> Iterator[_Parts]:
    if match := _STEP.match(_strip_marker(text)):
        yield _Parts(_strip_determiner(match["source"]), *aim)


def _find_aim(heading: str) -> tuple[str, str] | None:
    """Return the purpose in a heading: (action, target) of "Rotate a text box", "How to rotate a text box"."""
    match = _PURPOSE.match(heading.strip().rstrip("?.:"))
    if match is None or match["action"].split()[0].lower() not in _IMPERATIVES:
        return None
    return match["action"].lower(), _strip_determiner(match["target"])


def _strip_marker(text: str) -> str:
    return re.sub(r"^\s*(?:[-*+•]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s+", "", text)


def _strip_determiner(part: str) -> str:
    """Return a part without quotation marks around it and without a leading determiner."""
    part = part.strip(" \"“”'‘’`*.,")
    return re.sub(rf"^{_DETERMINER} ", "", part, flags=re.IGNORECASE)


def _is_sound(parts: _Parts) -> bool:
    """Return whether source and target name something: no pronouns, numbers, bare "command", and not the same."""
    things = (parts.source.casefold(), parts.target.casefold())
    if _VAGUE.fullmatch(things[0]) or _VAGUE.fullmatch(things[1]):
        return False
    return (
        all(re.search(r"[^\W\d_]{2}", thing) and not set(thing.split()) <= STOP_WORDS for thing in things)
        and things[0] != things[1]
        and parts.action not in STOP_WORDS
    )
