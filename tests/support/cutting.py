"""Cutting a document into passages in one step."""

from argot.corpus.chunking.passages import build_passages, cut_document
from argot.corpus.read_limits import ReadLimits
from argot.types import ParsedDocument, Passage


def cut_passages(parsed: ParsedDocument, *, document_id: str, revision_id: str, max_chars: int) -> list[Passage]:
    """Return the passages of a document under the default limits."""
    cuts = cut_document(parsed, max_chars=max_chars, limits=ReadLimits(), name=parsed.title)
    return build_passages(parsed.title, parsed.markdown, cuts, document_id=document_id, revision_id=revision_id)
