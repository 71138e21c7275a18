"""The definitions in a passage: pairs in running text, tables and lists of terms, defining sentences.

It works on the Markdown of passages, whatever their format was: a definition list arrives as `**WL**: word line`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from argot.jargon_db.lookup.normalise import normalise
from argot.jargon_db.mining.pairs import PairKind, TextBlock
from argot.jargon_db.mining.short_forms import find_short_forms, may_be_short
from argot.jargon_db.mining.spelling_out import normalize_letters, score_spelling
from argot.jargon_db.mining.tokenizer import blank_markup, split_blocks, tokenize

DefinitionKind = Literal["table", "list", "brackets", "said", "initials", "sentence"]

WORTH: dict[DefinitionKind, float] = {
    "table": 0.95, "list": 0.95, "brackets": 0.9, "said": 0.8, "initials": 0.5, "sentence": 0.4,
}  # fmt: skip
"""Confidence in each form of definition; a pair's score is multiplied by how well its letters agree."""

MAX_EXPANSION_CHARS = 120
MAX_QUOTE_CHARS = 400
_MAX_PASSAGE_CHARS = 20_000  # characters of a passage


@dataclass(frozen=True, slots=True)
class FoundDefinition:
    """A term, its expansion (may be empty) and its description; text[start:end] contains them."""

    term: str
    expansion: str
    description: str
    kind: DefinitionKind
    score: float
    start: int
    end: int


_GLOSSARY_HEADING = re.compile(
    r"\b(?:glossary|glossaries|terms|terminology|definitions|abbreviations?|acronyms?|vocabulary|nomenclature|jargon)\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"^[ \t>]*```.*?^[ \t>]*```", re.MULTILINE | re.DOTALL)
# "- **WL**: word line", "`WL` - word line", "1. WL: word line", and a term with ": word line" on the line below.
# A meaning continues over lines until an empty one, the next item, a table or a heading.
_ENTRY = re.compile(
    r"""^(?P<lead>[ \t]*(?:[-*+•][ \t]+|\d+[.)][ \t]+)?)
        (?:(?P<mark>\*\*|__|`{1,2})(?P<marked>[^*_`\n]{1,60}?):?(?P=mark)|(?P<bare>[^\s:|*`][^:|\n]{0,40}?))
        (?P<joint>[ \t]*:[ \t]+|[ \t]+[–—=-]{1,2}[ \t]+|[ \t]*\n:[ \t]+)
        (?P<meaning>\S[^\n]*(?:\n(?![ \t]*\n|[ \t]*[-*+•|]|\*\*|\#)[^\n]+)*)""",
    re.VERBOSE | re.MULTILINE,
)
# Header, rule and at least one row.
_TABLE = re.compile(r"(?:^[ \t]*\|[^\n]*(?:\n|\Z)){3,}", re.MULTILINE)
_CELL = re.compile(r"(?<!\\)\|")
# These columns contain terms, whatever their shape; the others contain terms and much else.
_TERM_COLUMN = re.compile(
    r"(?:terms?|abbreviations?|abbr\.?|acronyms?|initialisms?|mnemonics?|short(?: form| name)?|jargon|expression)", re.I
)
_CODE_COLUMN = re.compile(r"(?:symbols?|names?|codes?|signals?|fields?|parameters?|registers?|keywords?)", re.I)
_MEANING_COLUMN = re.compile(
    r"(?:meanings?|definitions?|expansions?|stands for|long(?: form| name)?|full (?:form|name|term)|explanations?"
    r"|descriptions?|parameters?|spelt out|spelled out|what it (?:is|means))",
    re.I,
)
# "The FTL is a layer that ...", "FTL (flash translation layer) refers to ..."
_COPULA = re.compile(
    r"""^(?:(?:The|An?|In\ this\ \w+,)\s+)?["'“‘]?(?P<term>[^\s,;:()"”]{2,20}(?:\s[^\s,;:()"”]+){0,3}?)["'”’]?
        (?:\s\([^()]{2,80}\))?\s+(?:is\ (?:an?|the|one\ of)|are(?:\ the)?|refers\ to|means|denotes
        |is\ defined\ as|describes)\s+\S.{10,}""",
    re.VERBOSE | re.DOTALL,
)
# The end of an expansion and the start of its description: "word line, a row of cells", "word line (see 3.2)".
_CLAUSE_END = re.compile(r"[.;](?=\s|$)|,\s+(?=(?:an?|the|which|that|i\.e|used|where|or)\b)|\s\(|\s[–—]\s")
_SENTENCE = re.compile(r"[^.!?]*(?:[.!?](?!\s|$)[^.!?]*)*(?:[.!?]+(?=\s|$)|$)", re.DOTALL)


def find_definitions(text: str, heading: str = "") -> list[FoundDefinition]:
    """Return everything the passage defines, in order; `heading` shows whether it is a glossary.

    Reads the first 20,000 characters: a passage is far shorter.
    """
    text = text[:_MAX_PASSAGE_CHARS]
    # Blanked, not cut out, so that offsets stay valid. Code is full of "name: value".
    without_code = _CODE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    is_glossary = bool(_GLOSSARY_HEADING.search(heading))
    found = [*_from_tables(without_code), *_from_entries(without_code, is_glossary)]
    taken = [(one.start, one.end) for one in found]
    for one in (*_from_pairs(text), *_from_sentences(text)):
        # A row of a table was read as a whole; only brackets in it ("word line (WL)") add their own pair.
        if not any(start <= one.start and one.end <= end for start, end in taken) or one.kind == "brackets":
            found.append(one)
    return sorted(found, key=lambda one: one.start)


# -- tables -----------------------------------------------------------------------------------------------------------


def _from_tables(text: str) -> Iterator[FoundDefinition]:
    for table in _TABLE.finditer(text):
        lines = table.group().splitlines(keepends=True)
        columns = _find_columns(_split_cells(lines[0]))
        # Without the rule below the header it is text with bars in it.
        if columns is None or not re.fullmatch(r"[\s|:-]+", lines[1]):
            continue
        start = table.start() + len(lines[0]) + len(lines[1])
        for line in lines[2:]:
            yield from _read_row(line, start, columns)
            start += len(line)


def _find_columns(header: list[str]) -> tuple[int, int, bool] | None:
    """Return the columns of term and meaning, and whether the term must look like a short form."""
    for pattern, coded in ((_TERM_COLUMN, False), (_CODE_COLUMN, True)):
        for place, cell in enumerate(header):
            if pattern.fullmatch(cell):
                meanings = [i for i, other in enumerate(header) if i != place and _MEANING_COLUMN.fullmatch(other)]
                if meanings:
                    return place, meanings[0], coded
    return None


def _read_row(line: str, start: int, columns: tuple[int, int, bool]) -> Iterator[FoundDefinition]:
    cells = _split_cells(line)
    term_at, meaning_at, coded = columns
    if max(term_at, meaning_at) < len(cells):
        term, meaning = cells[term_at], cells[meaning_at]
        # A meaning needs two consecutive letters: "-", "n/a" and numbers are none.
        if _is_term(term, marked=not coded) and re.search(r"[^\W\d_]{2}", meaning):
            expansion, description = _split_meaning(term, meaning)
            yield FoundDefinition(
                term, expansion, description, "table", WORTH["table"], start, start + len(line.rstrip())
            )


def _split_cells(line: str) -> list[str]:
    return [_strip_markup(cell) for cell in _CELL.split(line.strip().strip("|"))]


# -- lists ------------------------------------------------------------------------------------------------------------


def _from_entries(text: str, glossary: bool) -> Iterator[FoundDefinition]:
    """Entries such as `**WL**: word line` and `- WL: word line`."""
    for match in _ENTRY.finditer(text):
        term, meaning = _strip_markup(match["marked"] or match["bare"]), _strip_markup(match["meaning"])
        # In a glossary any marked term counts, elsewhere only short forms.
        marked = bool(match["marked"]) or bool(match["lead"].strip()) or "\n:" in match["joint"]
        if not _is_term(term, marked=glossary and marked) or not re.search(r"[^\W\d_]{2}", meaning):
            continue
        spelt = score_spelling(
            normalize_letters(term),
            [token.text for token in tokenize(_split_meaning(term, meaning)[0]) if token.is_word],
        )
        # "USB: plug it in" has the form of an entry; outside a glossary the meaning must also spell the letters.
        if not (glossary or spelt > 0):
            continue
        expansion, description = _split_meaning(term, meaning)
        yield FoundDefinition(term, expansion, description, "list", WORTH["list"], match.start(), match.end())


def _is_term(term: str, *, marked: bool) -> bool:
    if marked:
        return 0 < len(term) <= 40 and len(term.split()) <= 5 and any(c.isalpha() for c in term)
    # An unmarked term must have a capital or digit, and be no capitalised word ("Note", "Step").
    return may_be_short(term) and " " not in term and bool(re.search(r"[^\W\d_a-z]", term)) and not term.istitle()


def _split_meaning(term: str, meaning: str) -> tuple[str, str]:
    """Return (expansion, description) of a meaning: its first clause, and the whole if there is more than that."""
    plain = " ".join(meaning.split())
    cut = _CLAUSE_END.search(plain)
    clause = plain[: cut.start()] if cut else plain
    # Too long for a name: the whole is a description.
    if len(clause) > MAX_EXPANSION_CHARS:
        return "", plain
    return clause.strip(" ."), "" if len(plain) <= len(clause) + 1 else plain


# -- running text -----------------------------------------------------------------------------------------------------


def _from_pairs(text: str) -> Iterator[FoundDefinition]:
    plain = blank_markup(text)
    for offset, piece in split_blocks(plain):
        for pair in TextBlock(piece).pairs():
            kind: PairKind = pair.kind
            start, end = _find_sentence_bounds(piece, pair.short.start, pair.long.start, pair.short.end, pair.long.end)
            expansion = " ".join(pair.long.of(piece).split())
            if len(expansion) <= MAX_EXPANSION_CHARS:
                worth = WORTH[kind] * pair.score
                yield FoundDefinition(pair.short.of(piece), expansion, "", kind, worth, offset + start, offset + end)


def _from_sentences(text: str) -> Iterator[FoundDefinition]:
    # "The drive is a ..." begins thousands of sentences: without a given term, only short forms count.
    return (one for one in _find_defining_sentences(text) if _is_short_form(one.term))


def find_sentences_about(term: str, text: str) -> Iterator[FoundDefinition]:
    """Return the sentences of a passage that define this term, whatever its shape."""
    return (one for one in _find_defining_sentences(text) if normalise(one.term) == normalise(term))


def _find_defining_sentences(text: str) -> Iterator[FoundDefinition]:
    plain = blank_markup(text)
    for offset, piece in split_blocks(plain):
        for sentence in _SENTENCE.finditer(piece):
            stripped = sentence.group().lstrip()
            if match := _COPULA.match(stripped):
                start = offset + sentence.end() - len(stripped)
                said = " ".join(stripped.split())
                yield FoundDefinition(
                    match["term"], "", said, "sentence", WORTH["sentence"], start, offset + sentence.end()
                )


def _is_short_form(term: str) -> bool:
    tokens = tokenize(term)
    runs = find_short_forms(term, tokens)
    return len(runs) == 1 and runs[0].text == term


def _find_sentence_bounds(text: str, *places: int) -> tuple[int, int]:
    """Return start and end of the sentences that contain all these positions."""
    start, end = 0, len(text)
    for match in re.finditer(r"[.!?]\s+", text):
        if match.end() <= min(places):
            start = match.end()
        elif match.start() >= max(places):
            end = match.start() + 1
            break
    return start, end


def _strip_markup(cell: str) -> str:
    # Markdown writes a plain underscore as "\_".
    return re.sub(r"\\(?=[\W_])", "", re.sub(r"[*`]+|__", "", cell)).strip()
