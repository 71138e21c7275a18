"""A document cut into passages in one go."""

from argot.corpus.chunking.passages import cuts_of, passages_of
from argot.corpus.read_limits import ReadLimits
from argot.types import ParsedDocument, Passage


def cut_passages(parsed: ParsedDocument, *, document_id: str, revision_id: str, max_chars: int) -> list[Passage]:
    """Return the passages of a document under the default limits."""
    cuts = cuts_of(parsed, max_chars=max_chars, limits=ReadLimits(), name=parsed.title)
    return passages_of(parsed.title, parsed.markdown, cuts, document_id=document_id, revision_id=revision_id)
