"""Descriptions of the pictures in a passage by a vision model (*Trustworthy Answers* 3.1: multi-modal chunks).

Everything in a picture is data. The reply is checked like other derived texts, and a sentence with a number that
neither the words in the picture nor the text around it contain is left out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from argot.corpus.ingestion.derivation import DerivedBatch, Recipe
from argot.corpus.store.derived_ids import stamp_derived
from argot.errors import ModelUnavailable
from argot.results import ModelCall
from argot.tools.llm.deriver import PassageFailed, Usage, name_prompts
from argot.tools.llm.limits import Clock
from argot.tools.llm.plausibility import filter_picture_text
from argot.tools.llm.vision_server import VisionServer, build_data_address
from argot.types import PICTURE, DerivableKind, DerivedText, Passage, Picture

_PROMPT = "picture_description"
_MAX_AROUND_CHARS = 4_000
_MAX_WORDS_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class PictureMaterial:
    """A picture to describe: its bytes as Argot wrote them, and the glossary's terms around it with their meanings."""

    picture: Picture
    data: bytes
    terms: str = ""


@dataclass
class PictureDeriver:
    """Derives descriptions of pictures. `model` is the server's name for its model; it is stored with the texts.

    `load`: returns the pictures of a passage.
    """

    server: VisionServer
    model: str
    load: Callable[[Passage], Awaitable[Sequence[PictureMaterial]]]
    spent: Usage = field(default_factory=Usage)

    @classmethod
    async def open(
        cls, server: VisionServer, load: Callable[[Passage], Awaitable[Sequence[PictureMaterial]]]
    ) -> PictureDeriver:
        """Return a deriver that uses the model the server serves.

        Raises:
            ModelUnavailable: it does not report one.
        """
        try:
            server.refuse_if_down()
            served = await Clock.of(server.settings).wait(server.served_model())
        except Exception as error:
            raise server.fault(error).error() from None
        return cls(server, served.model, load)

    def recipe(self, kind: DerivableKind) -> Recipe:
        return Recipe(kind, name_prompts(kind), self.model)

    async def make(self, kind: DerivableKind, passages: Sequence[Passage], previous: str = "") -> DerivedBatch:
        """Return the descriptions of the pictures in these passages; nothing, without a call, where there are none.

        Raises:
            PassageFailed: other passages may still succeed.
            ModelUnavailable: the server fails.
        """
        recipe, texts = self.recipe(kind), []
        for passage in passages:
            for material in await self.load(passage):
                if text := await self.describe(material, passage):
                    number = material.picture.number
                    texts.append(DerivedText("", PICTURE, text, (passage.id,), recipe.prompt, recipe.model, number))
        return DerivedBatch(recipe, passages, stamp_derived(texts, passages))

    async def describe(self, material: PictureMaterial, passage: Passage | None = None, title: str = "") -> str:
        """Return the checked description of a picture; empty if nothing of the reply can be kept.

        Args:
            passage: where it stands; None: it stands alone, under this `title`.

        Raises:
            PassageFailed, ModelUnavailable: as `make`.
        """
        picture, calls = material.picture, list[ModelCall]()
        model = self.server.session(calls)
        inputs = {
            "title": passage.header if passage else title,
            "around": passage.text[:_MAX_AROUND_CHARS] if passage else "",
            "caption": picture.caption,
            "alternative": picture.alternative,
            "words": picture.words[:_MAX_WORDS_CHARS],
            "terms": material.terms,
        }
        try:
            reply = await model.whole_text(_PROMPT, [build_data_address(material.data, picture.media_type)], **inputs)
        except ModelUnavailable as error:
            if model.failed is None:
                raise PassageFailed(str(error)) from error
            raise
        finally:
            self.spent.add(calls)
        return filter_picture_text(reply, picture, passage) or ""
