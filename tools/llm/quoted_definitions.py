"""A definition that the model found in the documents, with the words it quotes for it, or none.

A model's own definition of a term proves nothing. Only a quoted one is kept: the quotation must occur in the passage it
names, and so must the expansion.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from argot.errors import ModelUnavailable
from argot.prompts.fences import wrap_in_fence
from argot.tools.answering.embedded_instructions import has_orders
from argot.types import Document, Passage

if TYPE_CHECKING:
    from argot.tools.llm.session import Model

MAX_PASSAGES = 8  # passages
MIN_QUOTE_CHARS = 12
"""Characters: a shorter quotation is hardly more than the term itself."""


@dataclass(frozen=True, slots=True)
class QuotedDefinition:
    """`quote` occurs in the passage, word for word; so does `expansion`, which may be empty."""

    expansion: str
    definition: str
    quote: str
    passage: Passage
    document: Document


async def quote_definition(
    model: Model, term: str, found: Sequence[tuple[Passage, Document]]
) -> QuotedDefinition | None:
    """Return the definition in these passages (best first); None if the model fails or its quotation does not occur.

    Passages that address the answerer ("ignore all ...") are not shown.
    """
    shown = [one for one in found if not has_orders(one[0])][:MAX_PASSAGES]
    if not shown:
        return None
    pieces = [
        wrap_in_fence("passage", one.text, n=number, document=of.name) for number, (one, of) in enumerate(shown, 1)
    ]
    try:
        passages = await model.fit("define_term", "passages", pieces, term=term)
        reply = await model.json("define_term", term=term, passages=passages)
    except ModelUnavailable:
        return None
    # 0 means that no passage defines the term; the schema cannot know how many there are.
    if not 1 <= reply["passage"] <= len(shown):
        return None
    passage, document = shown[reply["passage"] - 1]
    quote, definition = _find_quote(reply["quote"], passage.text), " ".join(reply["definition"].split())
    if len(quote) < MIN_QUOTE_CHARS or not definition:
        return None
    return QuotedDefinition(_find_quote(reply["expansion"], passage.text), definition, quote, passage, document)


def _find_quote(quote: str, text: str) -> str:
    """Return the quotation as the text spells it; empty if the text does not contain it.

    White space and case may differ, words may not.
    """
    words = quote.strip().strip("\"“”'").split()
    if not words:
        return ""
    # A quotation may cross a line end of the passage.
    pattern = r"(?<!\w)" + r"\s+".join(map(re.escape, words)) + r"(?!\w)"
    found = re.search(pattern, text, re.IGNORECASE)
    return " ".join(found[0].split()) if found else ""
