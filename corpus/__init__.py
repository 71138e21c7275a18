"""Files become Markdown, Markdown becomes passages, passages become an index. No language model is needed here."""

from typing import TYPE_CHECKING

from argot.lazy import build_lazy_getattr

if TYPE_CHECKING:
    from argot.corpus.corpus import Corpus
    from argot.corpus.store.document_store import CorpusStore

__all__ = [
    "Corpus",
    "CorpusStore",
]

# Type checkers read the imports above; a `__getattr__` would tell them that every name is there.
if not TYPE_CHECKING:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "Corpus": "corpus",
            "CorpusStore": "store.document_store",
        },
    )
