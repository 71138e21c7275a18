"""The ledger of words: all text of a file, counted without Argot's readers, compared with the readers' result.

A census (`take_census`) returns the text of a file place by place; a named rule explains why a text need not be read.
Compared with the Markdown it shows which words are lost (`compare_words`). No module here imports a reader: a reader's
blind spot would otherwise be the ledger's too.
"""

from argot.corpus.readers.ledger.census import take_census
from argot.corpus.readers.ledger.ledger import Ledger, compare_words, warn_of_lost_words
from argot.corpus.readers.ledger.source_text import SourceText

__all__ = ["Ledger", "SourceText", "compare_words", "take_census", "warn_of_lost_words"]
