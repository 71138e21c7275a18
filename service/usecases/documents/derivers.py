"""The models that derive texts of documents: a language model, a vision model for pictures, or rules."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from argot.corpus.ingestion.derivation import RULES_MODEL, DerivedBatch, Recipe
from argot.corpus.store.picture_rows import list_passage_pictures
from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.derivation_servers import require_servers
from argot.tools.llm.deriver import ModelDeriver, Usage
from argot.tools.llm.picture_deriver import PictureDeriver, PictureMaterial
from argot.tools.retrieval.triple_extraction import ExtractiveDeriver
from argot.types import PICTURE, DerivableKind, Passage, Picture, Principal

MAX_TERMS = 20
_ANYBODY = Principal("")
"""Reads what everybody may: a description is shown to all readers of its document, whoever they are."""


class Making(Protocol):
    """Source of derived texts: a model's deriver, or rules."""

    def recipe(self, kind: DerivableKind) -> Recipe: ...

    async def make(self, kind: DerivableKind, passages: Sequence[Passage], previous: str = "") -> DerivedBatch: ...


class ByRules:
    """Triples by rules, for where there is no language model."""

    def recipe(self, kind: DerivableKind) -> Recipe:
        return Recipe(kind, ExtractiveDeriver.name, RULES_MODEL)

    async def make(self, kind: DerivableKind, passages: Sequence[Passage], previous: str = "") -> DerivedBatch:
        return DerivedBatch(self.recipe(kind), passages, triples=await ExtractiveDeriver().triples(passages))


@dataclass
class Derivers:
    """A deriver for each kind of text. `spent`: calls and tokens of all of them."""

    texts: Making
    pictures: PictureDeriver | None = None
    spent: Usage = field(default_factory=Usage)

    @classmethod
    async def open(cls, kb: KnowledgeBase, kinds: Collection[DerivableKind]) -> Derivers:
        """Return derivers for these kinds, by the models of the settings; triples by rules where there is none.

        Raises:
            InvalidSettings: pictures are wanted, and the settings name no vision model server.
            ModelUnavailable: a server that they need does not answer.
        """
        if PICTURE in kinds:
            require_servers(kb.settings, [PICTURE])
        spent = Usage()
        texts: Making = ByRules()
        if kb.model_server is not None and set(kinds) - {PICTURE}:
            texts = await ModelDeriver.open(kb.model_server, kinds)
            texts.spent = spent
        pictures = await open_picture_deriver(kb) if PICTURE in kinds else None
        if pictures is not None:
            pictures.spent = spent
        return cls(texts, pictures, spent)

    @property
    def is_by_rules(self) -> bool:
        """True if only rules derive, so that the work takes no time; False if a model is asked."""
        return isinstance(self.texts, ByRules) and self.pictures is None

    @property
    def model(self) -> str:
        """The names of the models."""
        used = [one for one in (self.texts, self.pictures) if isinstance(one, ModelDeriver | PictureDeriver)]
        return ", ".join(one.model for one in used)

    def recipe(self, kind: DerivableKind) -> Recipe:
        return self._choose(kind).recipe(kind)

    async def make(self, kind: DerivableKind, passages: Sequence[Passage], previous: str = "") -> DerivedBatch:
        """
        Raises:
            PassageFailed, ModelUnavailable: as of the deriver of this kind.
        """
        return await self._choose(kind).make(kind, passages, previous)

    def _choose(self, kind: DerivableKind) -> Making:
        if kind != PICTURE:
            return self.texts
        assert self.pictures is not None  # `open` was given the kind
        return self.pictures


async def open_picture_deriver(kb: KnowledgeBase) -> PictureDeriver | None:
    """Return the deriver of descriptions; None if the settings name no vision model server.

    Raises:
        ModelUnavailable: that server does not answer.
    """
    if kb.vision_server is None:
        return None

    async def load(passage: Passage) -> Sequence[PictureMaterial]:
        return await kb.blocking(_load_pictures, kb, passage)

    return await PictureDeriver.open(kb.vision_server, load)


def _load_pictures(kb: KnowledgeBase, passage: Passage) -> list[PictureMaterial]:
    store = kb.document_store
    found = [one.picture for one in list_passage_pictures(store, make_local_principal(), [passage.id])]
    return [
        PictureMaterial(one, store.blobs.get(one.content_hash), explain_terms(kb, f"{passage.text}\n{join_words(one)}"))
        for one in found
    ]


def join_words(picture: Picture) -> str:
    """Return everything that is said about a picture and in it."""
    return "\n".join([picture.caption, picture.alternative, picture.words])


def explain_terms(kb: KnowledgeBase, text: str) -> str:
    """Return the meanings of the glossary's terms in a text, a line for each; only of those that everybody may read."""
    mentions = kb.glossary.lookup.matcher(_ANYBODY).find(text)
    terms = list(dict.fromkeys(one.term for one in mentions if one.term))[:MAX_TERMS]
    senses = kb.glossary.lookup.senses(_ANYBODY, terms)
    return "\n".join(
        f"{one.term} ({one.context}): {'. '.join(filter(None, [one.expansion, one.description]))}"
        for term in terms
        for one in senses[term]
    )
