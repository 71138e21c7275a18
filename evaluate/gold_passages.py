"""The passages that hold the gold of a question, in any document that has it word for word, with any mark-up."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from argot.errors import InvalidInput
from argot.evaluate.answer_questions import AnswerQuestion, GoldSnippet, report_missing_document
from argot.evaluate.known_models import HOLDS
from argot.evaluate.temporary_base import EVALUATOR, TemporaryBase
from argot.tools.answering.support import support
from argot.tools.retrieval.quoted_passages import QuotationFinder, fold_prose
from argot.tools.text.words import content_stems
from argot.types import Document, Passage

_MIN_TELLING_STEMS = 4
"""The least number of stems of a quotation that means the same in any document; "in the library" may not."""


class GoldFinder:
    """A search for gold in the passages of a base."""

    def __init__(self, base: TemporaryBase, documents: Sequence[Document]) -> None:
        self._base = base
        self._documents = documents
        self._quotations = QuotationFinder()

    def find_passages(self, question: AnswerQuestion) -> frozenset[str]:
        """Return the ids of the passages that hold a gold snippet; for a snippet without a quote, all passages of its
        document. A passage of another file that has the same quotation counts too.

        Raises:
            InvalidInput: a question of a file names a document that does not exist, or quotes what it does not have.
        """
        found: set[str] = set()
        for one in question.gold:
            document = _find_document(self._documents, one.document)
            passages = self._list_passages(document) if document else []
            holding = self._find_holding(one.quote, passages)
            holding = holding or {p.id for p in passages if support(one.quote, p.text) >= HOLDS}
            # The annotations of a public set are used as they are. A mistake in a file would count as a wrong answer.
            if question.place and not holding:
                self._require_quoted(question, one, document)
            found |= holding
        return frozenset(found | self._find_elsewhere(question) if question.place else found)

    def _find_elsewhere(self, question: AnswerQuestion) -> set[str]:
        """Return the ids of passages of any document that have a quotation long enough to mean the same there."""
        quotes = (one.quote for one in (*question.gold, *question.also))
        telling = [quote for quote in quotes if len(set(content_stems(quote))) >= _MIN_TELLING_STEMS]
        return {id_ for quote in telling for id_ in self._find_holding(quote, self._passages)}

    @cached_property
    def _passages(self) -> list[Passage]:
        return [passage for document in self._documents for passage in self._list_passages(document)]

    def _list_passages(self, document: Document) -> list[Passage]:
        return self._base.corpus.store.passages_of(EVALUATOR, document.id)

    def _find_holding(self, quote: str, passages: Sequence[Passage]) -> set[str]:
        # A snippet without words is in each of them.
        found = self._quotations.find_passages([quote], passages) if fold_prose(quote) else passages
        return {passage.id for passage in found}

    def _require_quoted(self, question: AnswerQuestion, gold: GoldSnippet, document: Document | None) -> None:
        if document is None:
            raise report_missing_document(question, gold, "the knowledge base")
        # The quotation may continue in the next passage, so look in the whole document.
        markdown = self._base.corpus.store.markdown(EVALUATOR, document.revision_id)
        # What a reader leaves out, such as a substitution, is still in the file.
        texts = (markdown, _read_file(document))
        if not any(fold_prose(gold.quote) in fold_prose(text) for text in texts):
            raise InvalidInput(
                f"{question.place}: {gold.document} does not hold the quotation {gold.quote!r}. Quote it word for word."
            )


def _read_file(document: Document) -> str:
    """Return the text of the file that a document was read from; empty if it is no file of this machine."""
    address = urlsplit(document.uri)
    path = Path(url2pathname(address.path))
    return path.read_text("utf-8", errors="replace") if address.scheme == "file" and path.is_file() else ""


def _find_document(documents: Sequence[Document], name: str) -> Document | None:
    """Find a document by the end of its address, which has the folders of a set, or else by its file name."""
    ending = f"/{name}"
    exactly = (one for one in documents if one.uri.endswith(ending))
    return next(exactly, next((one for one in documents if one.name == Path(name).name), None))
