"""The ledger of words: all text that a file holds, counted without our readers, against what they read of it.

A census (`census_of`) gives the text of a file place by place; a named rule says why a text need not be read. Struck
against the Markdown it tells which words are lost (`strike_ledger`). No module here imports a reader: a reader's blind
spot would otherwise be the ledger's too.
"""

from argot.corpus.readers.ledger.census import census_of
from argot.corpus.readers.ledger.ledger import Ledger, lost_words_warning, strike_ledger
from argot.corpus.readers.ledger.source_text import SourceText

__all__ = ["Ledger", "SourceText", "census_of", "lost_words_warning", "strike_ledger"]
