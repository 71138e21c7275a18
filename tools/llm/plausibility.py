"""Filter for texts that a model derives from a passage: only those that the passage supports are kept.

A triple must occur in the passage word for word. A summary or a question need not, since other words are its purpose
(RAIDD 2.2); but it has to share content words with its passage, be short enough, not repeat itself, and contain no
instruction to a model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from argot.corpus.keyword.stop_words import STOP_WORDS
from argot.language import QUESTION_MARKS
from argot.tools.answering.embedded_instructions import is_instruction
from argot.tools.retrieval.triple_extraction import MAX_TRIPLES_PER_PASSAGE
from argot.tools.text.markdown_prose import extract_prose
from argot.tools.text.quantities import find_missing_quantity
from argot.tools.text.sentences import split_sentences
from argot.tools.text.words import bare, content_stems, stem, words
from argot.types import Passage, Picture, Triple

MAX_CHARS = {"summary": 1200, "expert_summary": 2400, "question": 200, "description": 4000, "picture": 3000}
MIN_SHARED = {"summary": 0.3, "expert_summary": 0.3, "question": 0.34, "description": 0.4, "picture": 0.1}
"""The minimum share of a text's distinct stems that the passage has, too. A paraphrase of a passage shares about half
of its stems with it, a text on another subject less than a tenth. A picture shows much that the text around it does
not say."""

_MAX_PART_CHARS = 60  # characters of a part of a triple
_MARKS = " \t\n\"“”„'‘’`*_.,;:()[]"
_DETERMINER = re.compile(r"^(?:the|an?|your|its|their|our|this|that|these|those)\s+(?=\S)", re.IGNORECASE)
# "Here is the summary:", "Question 3:", "Q1."
_LABEL = re.compile(
    r"(?:here (?:is|are) .{0,40}:|(?:expert )?(?:summary|question|description|q)\s*\d{0,2}\s*[:.])\s*", re.IGNORECASE
)
_NUMBERING = r"(?:\(?\d{1,2}[.):]|[-*•])\s+"
_MIN_VARIED_SHARE = 0.4  # share of a text's stems that are distinct; a text with fewer repeats itself
_MIN_STEMS_TO_VARY = 12  # stems: a short text may repeat its subject


# -- triples ----------------------------------------------------------------------------------------------------------


def filter_triples(triples: Iterable[Mapping[str, Any]], passage: Passage) -> list[Triple]:
    """Return the model's triples whose parts occur in the passage or its headings, in the passage's own spelling.

    Ids are left empty: the store assigns them.
    """
    texts = [extract_prose(passage.text).text, extract_prose(passage.header).text]
    found = dict.fromkeys(parts for one in triples if (parts := _match_triple(one, texts)))
    return [Triple("", *parts, passage.id) for parts in list(found)[:MAX_TRIPLES_PER_PASSAGE]]


def _match_triple(triple: Mapping[str, Any], texts: Sequence[str]) -> tuple[str, str, str] | None:
    source, target = _match_thing(str(triple["source"]), texts), _match_thing(str(triple["target"]), texts)
    action = _match_action(str(triple["action"]), texts)
    if not source or not target or not action or source.casefold() == target.casefold():
        return None
    return source, action, target


def _match_thing(part: str, texts: Sequence[str]) -> str | None:
    """Return the part in the spelling of the first text that has it; None if none does, or if it names nothing."""
    bare = _DETERMINER.sub("", extract_prose(part).text.strip(_MARKS))
    standing = _find_standing(bare, texts) if len(bare) <= _MAX_PART_CHARS else None
    if standing is None or not re.search(r"[^\W\d_]{2}", standing):
        return None
    return None if {word for word, _, _ in words(standing)} <= STOP_WORDS else standing


def _match_action(part: str, texts: Sequence[str]) -> str | None:
    """Return the action in the texts' words: whole, or its verb in any form."""
    bare = extract_prose(part).text.strip(_MARKS).casefold()
    if not bare or len(bare) > _MAX_PART_CHARS or set(bare.split()) <= STOP_WORDS:
        return None
    if _find_standing(bare, texts):
        return bare
    # "rotate" where the passage writes "rotating".
    verb = bare.split()[0]
    if verb in STOP_WORDS:
        return None
    forms = (word for text in texts for word, _, _ in words(text) if stem(word) == stem(verb))
    return next((verb if word.startswith(verb) else word for word in forms), None)


def _find_standing(part: str, texts: Sequence[str]) -> str | None:
    """Return the first position in the texts that matches the part, in any capitals and blanks."""
    words_of_it = r"\s+".join(map(re.escape, part.split()))
    pattern = re.compile(rf"(?<!\w){words_of_it}(?!\w)", re.IGNORECASE)
    places = (pattern.search(text) for text in texts if words_of_it)
    return next((place[0] for place in places if place), None)


# -- texts ------------------------------------------------------------------------------------------------------------


def filter_text(reply: str, kind: str, passage: Passage) -> str | None:
    """Return the text without labels and needless blanks; None if it is not plausible."""
    text = reply.strip() if kind == "description" else " ".join(reply.split())
    text = _LABEL.sub("", text, count=1) if _LABEL.match(text) else text
    stems = content_stems(text)
    if not _is_sound(text, stems, kind):
        return None
    if bare(text) in bare(passage.header):
        return None  # the title again, which is searched anyway
    shared = set(stems) & set(content_stems(passage.with_header))
    return text if len(shared) >= MIN_SHARED[kind] * len(set(stems)) else None


def _is_sound(text: str, stems: Sequence[str], kind: str) -> bool:
    if not text or len(text) > MAX_CHARS[kind] or not stems or is_instruction(text):
        return False
    is_varied = len(stems) < _MIN_STEMS_TO_VARY or len(set(stems)) >= _MIN_VARIED_SHARE * len(stems)
    return is_varied or kind == "description"


def filter_picture_text(reply: str, picture: Picture, passage: Passage | None) -> str | None:
    """Return the description of a picture without the sentences whose numbers occur neither in the words read in it nor
    in the text around it; None if nothing plausible is left.

    `passage`: where it stands; None: it stands alone, so that its words need share nothing with the description.
    """
    known = [picture.caption, picture.alternative, picture.words]
    source = "\n".join(filter(None, [passage.header, passage.text, *known] if passage else known))
    flat = " ".join(reply.split())
    sentences = [flat[start:end] for start, end in split_sentences(flat)]
    text = " ".join(one for one in sentences if not find_missing_quantity(one, source))
    if passage is not None:
        return filter_text(text, "picture", replace(passage, text=source))
    return text if _is_sound(text, content_stems(text), "picture") else None


def filter_questions(lines: Iterable[str], passage: Passage) -> Iterator[str]:
    """Yield each question once, without its number; lines that do not end as a question are dropped."""
    seen: set[str] = set()
    for one in lines:
        text = filter_text(re.sub(rf"^{_NUMBERING}", "", one.strip()), "question", passage)
        key = " ".join(word for word, _, _ in words(text or ""))
        if text and text.endswith(QUESTION_MARKS) and key not in seen:
            seen.add(key)
            yield text
