"""The sentence of a document that states a meaning, among the documents that a person may read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from argot.types import Document, Passage, Principal, Sense

if TYPE_CHECKING:
    from argot.corpus.store.document_store import CorpusStore

MAX_PASSAGES = 30
"""Passages that are read for the definitions of one term."""
MIN_SCORE = 0.4
"""Score of a sentence such as "The FTL is a layer that ..."; less certain definitions are not shown."""
MAX_PHRASE_CHARS = 200
_ARTICLE = re.compile(r"^(?:the|an?) ")


def find_defining_sentences(
    store: CorpusStore, principal: Principal, term: str, senses: Sequence[Sense]
) -> dict[int, tuple[str, Passage, Document]]:
    """Find, for each sense of a term, the best sentence that states it, with its place; senses without one are left
    out.

    A sentence that describes the term without spelling it out counts only if the term has one sense: otherwise it is
    unknown which one it describes.
    """
    from argot.jargon_db.lookup.normalise import normalise
    from argot.jargon_db.mining import MinedText, find_definitions_of

    held = _load_passages(store, principal, [term, *(sense.expansion for sense in senses)])
    texts = [MinedText(passage.id, passage.text, passage.header) for passage, _ in held.values()]
    definitions = [one for one in find_definitions_of(term, texts) if one.score >= MIN_SCORE]
    found: dict[int, tuple[str, Passage, Document]] = {}
    for sense in senses:
        key = normalise(sense.expansion)
        stated = [one for one in definitions if one.expansion and normalise(one.expansion) == key]
        if not stated and key:
            stated = [one for one in find_definitions_of(sense.expansion, texts) if one.score >= MIN_SCORE]
        if not stated and len(senses) == 1:
            stated = [one for one in definitions if not one.expansion]
        if stated:
            found[sense.id] = (stated[0].quote, *held[stated[0].passage_id])
        elif (beginning := _find_beginning(sense.expansion, held)) is not None:
            found[sense.id] = beginning
    return found


def _find_beginning(
    expansion: str, passages: dict[str, tuple[Passage, Document]]
) -> tuple[str, Passage, Document] | None:
    """Find the first sentence of a section that has the expansion as its heading, if the sentence begins with it."""
    from argot.jargon_db.lookup.normalise import normalise
    from argot.tools.text.sentences import split_units

    key = normalise(expansion)
    for passage, document in passages.values() if key else ():
        # A passage may begin within a section, and go on over the next ones.
        heading = passage.heading_path[-1] if passage.heading_path else ""
        for start, end, kind in split_units(passage.text):
            text = passage.text[start:end]
            if kind == "heading":
                heading = text.strip("# ")
                continue
            begins = _ARTICLE.sub("", normalise(text)).startswith(f"{key} ")
            if kind == "prose" and begins and normalise(heading) == key:
                return text, passage, document
            heading = ""
    return None


def _load_passages(
    store: CorpusStore, principal: Principal, phrases: Sequence[str]
) -> dict[str, tuple[Passage, Document]]:
    wanted = [phrase.strip() for phrase in phrases if 0 < len(phrase.strip()) <= MAX_PHRASE_CHARS]
    each = max(4, MAX_PASSAGES // max(1, len(wanted)))
    ids = dict.fromkeys(one for phrase in wanted for one in store.find_phrase(principal, phrase, each))
    return store.passages(principal, list(ids)[:MAX_PASSAGES])
