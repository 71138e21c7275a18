"""Parts of documents that a question names by their printed numbers: "clause 2.2", "step three of the start-up", "§ 5".

English. The number of a version, a table, a figure or an amount names no such part: only a word for a part before it,
or brackets around a letter, make it a reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from argot.corpus.keyword.stop_words import STOP_WORDS
from argot.tools.text.numbered_parts import NumberedPart
from argot.tools.text.part_labels import COUNT_WORDS, KIND_NAMES, KIND_PATTERN, PartLabel, parse_label
from argot.tools.text.words import fold_words

MAX_REFERENCES = 5
_MAX_RANGE_PARTS = 5
_MAX_NOUN_WORDS = 4
_MAX_COUNT_DIGITS = 3  # digits

_DEEPER = r"(?:\s?\((?:[a-z]|[ivx]{1,5}|\d{1,2})\))"
_LABEL = (
    rf"(?:\d{{1,4}}[a-z]?(?:\.(?:\d{{1,3}}[a-z]?|[a-z]))*(?!\w|-[a-z]){_DEEPER}*"
    rf"|{_DEEPER}+|(?-i:[IVX]{{2,5}}|[A-HVX])(?![\w’'-]){_DEEPER}*|(?:{COUNT_WORDS})(?!\w))"
)
_REFERENCE = re.compile(
    rf"(?P<kind>{KIND_PATTERN})\s*(?:(?:number|no\.?|nr\.?)\s*|#\s*)?(?P<label>{_LABEL})"
    rf"(?P<more>(?:\s*(?:,|and|or|to|through|until|&|[-–])\s*(?:(?:and|or)\s+)?(?:{KIND_PATTERN}\s*)?{_LABEL})*)",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"\s*(?P<join>,|and|or|to|through|until|&|[-–])\s*(?:(?:and|or)\s+)?"
    rf"(?:{KIND_PATTERN}\s*)?(?P<label>{_LABEL})",
    re.IGNORECASE,
)
_BARE = re.compile(r"(?<=\s)\((?:[a-z]|[ivx]{1,5})\)(?=[\s?.,]|$)")
_RELATION = re.compile(
    r"\b(?:after|before|behind|following|follows?|precedes?|next|(?<!difference )between)\b[^,;]{0,20}$", re.IGNORECASE
)
_AMOUNT = re.compile(
    r"\s*(?:[%°€$£]|(?-i:[kMGmµn]?(?:V|A|W|Hz|Pa|s|m|g)|bar|kg|mm|cm|km|min)(?!\w)|per\s?cent|percent|degrees?|volts?"
    r"|watts?|euros?|dollars?|points?|hours?|minutes?|seconds?|days?)",
    re.IGNORECASE,
)
_CONTAINER = re.compile(r"\s*,?\s*(?:of|in|from|within)\s+(?P<words>[^?;,:]{2,80})", re.IGNORECASE)
_BEFORE = re.compile(r"(?P<word>[\w'’-]+)\s+$")
_LEADS = re.compile(
    r"^\W*(?:(?:in|of|from|under|according to|per)\s+)(?P<words>[^?;:,]{2,80}?),?\s+"
    r"(?:what|which|who|when|where|how|is|does|do|are)\b",
    re.IGNORECASE,
)
_END_OF_CONTAINER = re.compile(
    r"\b(?:say|says|said|about|require|requires|mean|means|state|states|is|are|was|were|do|does|and|or|that|which|who"
    r"|when|where|how|what|if|must|shall|may|can|should|with|to)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_GENERAL = frozenset(
    word
    for line in (
        "action agenda agreement book bullet carry check checklist cite clause complete conditions content",
        "contents contract describe detail details do document exact explain file first follow full give",
        "guide handbook instruction instructions last list look main manual next number numbered page paper",
        "perform please policy procedure process quote quotes read rule rules same section see show step",
        "steps sub summarise summarize tell term terms text wording words",
    )
    for word in line.split(" ")
)
"""Words for a document, a list or an order to Argot, which do not distinguish places."""
_DIVISIONS = ("chapter", "section", "article")
_LIST_KINDS = ("step", "item", "point")
_LISTED = frozenset(("agenda", "bullet", "action", "list", "numbered"))
_RARELY_PARTS = frozenset(("item", "point", "rule"))
"""Kinds whose word also ends names of other things: "access point 3", "line item 4"."""


@dataclass(frozen=True, slots=True)
class NumberedReference:
    """A part that a question names. `kind`: as in `KIND_NAMES`; empty for a letter in brackets alone.

    `name`: the reference as the asker would write it. `container`: the words for the part's location ("start" and "up"
    of "step 3 of the start-up"), without those that fit any document.
    """

    kind: str
    label: PartLabel
    name: str
    container: tuple[str, ...] = ()


def find_numbered_references(question: str) -> list[NumberedReference]:
    """Return the numbered parts that the question asks for, in its order; none if it asks for a neighbour of one."""
    found: list[NumberedReference] = []
    for match in _REFERENCE.finditer(question):
        if _is_reference(match, question):
            found += _read_references(match, question)
    if not found and len(bare := _BARE.findall(question)) == 1:
        at = question.index(bare[0])
        found = [NumberedReference("", parse_label(bare[0]), bare[0], _find_container(question, at, at + len(bare[0])))]
    return list(dict.fromkeys(found))[:MAX_REFERENCES]


def _is_reference(match: re.Match[str], question: str) -> bool:
    before, kind = question[: match.start()], _read_kind(match["kind"])
    # "What comes after step 3?" asks for another step.
    if _RELATION.search(before) or _AMOUNT.match(question, match.end()):
        return False
    word = _find_word_before(before)
    if kind in _RARELY_PARTS and word and word not in STOP_WORDS | _LISTED:
        return False
    # "Item 4711" is a thing with a number.
    if kind in _RARELY_PARTS and len(match["label"]) > _MAX_COUNT_DIGITS and match["label"].isdigit():
        return False
    # "I" and "A" in a sentence are usually words.
    return match["label"] not in ("A", "V", "X") or not re.match(r"\s+[a-z]", question[match.end() :])


def _read_references(match: re.Match[str], question: str) -> Iterator[NumberedReference]:
    kind = _read_kind(match["kind"])
    container = _find_container(question, match.start(), match.end())
    labels = [match["label"]]
    for more in _MORE.finditer(match["more"]):
        labels += [*_list_between(labels[-1], more["label"], more["join"]), more["label"]]
    for label in labels:
        name = f"{match['kind']}{label}" if match["kind"] == "§" else f"{kind} {label.strip()}"
        yield NumberedReference(kind, parse_label(label), name, container)


def _list_between(first: str, last: str, join: str) -> list[str]:
    """Return the numbers that a range such as "steps 3 to 5" leaves out."""
    if join in (",", "and", "or", "&") or not (first.isdigit() and last.isdigit()):
        return []
    inner = range(int(first) + 1, int(last))
    return [str(number) for number in inner] if len(inner) <= _MAX_RANGE_PARTS else []


def _read_kind(word: str) -> str:
    return KIND_NAMES[word.casefold().rstrip(".")]


def _find_word_before(text: str) -> str:
    found = _BEFORE.search(text)
    return found["word"].casefold() if found else ""


def _find_container(question: str, start: int, end: int) -> tuple[str, ...]:
    """Return the words for the part's location: after it, directly before it, or at the question's beginning."""
    said = []
    if found := _CONTAINER.match(question, end):
        said.append(_END_OF_CONTAINER.sub("", found["words"]))
    if found := _LEADS.match(question):
        said.append(found["words"] if found.end() <= start else "")
    said.append(_find_noun_before(question[:start]))
    words = dict.fromkeys(word for text in said for word in fold_words(text))
    return tuple(word for word in words if word not in STOP_WORDS and word not in _GENERAL and len(word) > 1)


def _find_noun_before(text: str) -> str:
    """Return "start-up" of "the start-up's step 3" and of "start-up step 3"."""
    run: list[str] = []
    for word in reversed(text.split()):
        if word.casefold() in STOP_WORDS or word[-1] in ",;:.?!" or len(run) == _MAX_NOUN_WORDS:
            break
        run.insert(0, word)
    return re.sub(r"['’]s$", "", " ".join(run))


def measure_part_fit(reference: NumberedReference, part: NumberedPart) -> int:
    """Return how well the kind of a part fits the question's word for it; 0: not at all."""
    kind = reference.kind
    if part.kind:
        if part.kind == kind:
            return 3
        return int("step" not in (part.kind, kind) and "chapter" not in (part.kind, kind))
    is_division = part.line_kind == "heading" or part.is_title
    if kind in _DIVISIONS and not is_division and len(part.label) == 1:
        return 0
    if kind == "chapter" and part.line_kind != "heading":
        return 0
    return 1 if kind in _LIST_KINDS and is_division else 2
