"""The ledger of words: all text that a file holds, counted without our readers, against what they read of it.

A census (`take_census`) gives the text of a file place by place; a named rule says why a text need not be read. Struck
against the Markdown it tells which words are lost (`compare_words`). No module here imports a reader: a reader's blind
spot would otherwise be the ledger's too.
"""

from argot.corpus.readers.ledger.census import take_census
from argot.corpus.readers.ledger.ledger import Ledger, compare_words, warn_of_lost_words
from argot.corpus.readers.ledger.source_text import SourceText

__all__ = ["Ledger", "SourceText", "compare_words", "take_census", "warn_of_lost_words"]
