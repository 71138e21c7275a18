"""Ids of derived texts and triples, which depend only on the passages, the words and their source.

A deriver's own ids are not used, so that two derivers, or two copies of a document, cannot collide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from argot.corpus.document_ids import hash_content
from argot.types import DerivedText, Passage, Triple


def stamp_triples(triples: Sequence[Triple], passages: Sequence[Passage]) -> list[Triple]:
    """Return each distinct triple of these passages once."""
    known = {passage.id for passage in passages}
    stamped = [
        # Without prompt and model: a triple from two recipes is the same one.
        replace(one, id=_build_id("t", one.passage_id, one.source, one.action, one.target))
        for one in triples
        if one.passage_id in known
    ]
    return list({one.id: one for one in stamped}.values())


def stamp_derived(texts: Sequence[DerivedText], passages: Sequence[Passage]) -> list[DerivedText]:
    """Return each distinct text that represents at least one of these passages once."""
    known = {passage.id for passage in passages}
    stamped = []
    for text in texts:
        spoken_for = tuple(id_ for id_ in dict.fromkeys(text.passage_ids) if id_ in known)
        # A derived text leads to its passages; without any it leads nowhere.
        if spoken_for and text.text.strip():
            # Two pictures may be described by the same words.
            of_picture = () if text.picture is None else (str(text.picture),)
            id_ = _build_id("v", *spoken_for, text.kind, text.prompt, text.model, text.text, *of_picture)
            stamped.append(replace(text, id=id_, passage_ids=spoken_for))
    return list({one.id: one for one in stamped}.values())


def _build_id(prefix: str, *parts: str) -> str:
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    return prefix + hash_content(joined.encode("utf-8", "surrogatepass"))[:16]
