"""The words of engineers' files that are no plain text: XML, SystemRDL, and markup that is written by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator

from argot.corpus.readers.ledger import source_text as rules
from argot.corpus.readers.ledger.budget import Budget
from argot.corpus.readers.ledger.decoding import decode_text
from argot.corpus.readers.ledger.source_text import SourceText
from argot.corpus.readers.written_markup import COMMANDS

_XML_UNSEEN = re.compile(r"<!--.*?(?:-->|\Z)|<[?!][^<>]*>", re.DOTALL)
_XML_TAG = re.compile(r"<[^<>]*>")
_XML_ESCAPES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}
_TAGS_PER_CHECK = 10_000
_RDL_UNSEEN = r"//[^\n]*|/\*.*?(?:\*/|\Z)|`include\b[^\n]*"
_RDL_PART = re.compile(rf'(?P<text>"(?:[^"\\]|\\.)*")|{_RDL_UNSEEN}', re.DOTALL)


def read_xml_texts(data: bytes, budget: Budget) -> Iterator[SourceText]:
    """Give the texts between the tags. Names of elements and their attributes are structure."""
    text = decode_text(data)
    text = _XML_UNSEEN.sub(" ", text)
    end = 0
    for number, tag in enumerate(_XML_TAG.finditer(text)):
        if number % _TAGS_PER_CHECK == 0:
            budget.check()
        if between := text[end : tag.start()].strip():
            for escape, sign in _XML_ESCAPES.items():
                between = between.replace(escape, sign)
            yield SourceText("text", "text", between)
        end = tag.end()


def read_systemrdl_texts(data: bytes) -> Iterator[SourceText]:
    """Give the descriptions: names and numbers are read by the structure that they stand in."""
    for found in _RDL_PART.finditer(decode_text(data)):
        if found["text"] is None:
            yield SourceText("comment", "text", found[0], rules.MARKUP)
        else:
            yield SourceText("text", "text", found[0][1:-1].replace("\\", ""))


def read_written_markup_texts(data: bytes) -> Iterator[SourceText]:
    """Give the text of AsciiDoc or Org apart from the commands that headings and lists stand for."""
    text = decode_text(data).replace("\r\n", "\n")
    for found in COMMANDS.finditer(text):
        yield SourceText("text", "text", found[0], rules.MARKUP)
    yield SourceText("text", "text", COMMANDS.sub(" ", text))
