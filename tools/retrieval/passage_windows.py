"""Passages as the passage reader reads them: the question, the heading, and the units of the passage, in tokens.

Training and service build the same windows with this module, so that a reader is served what it learnt from. It imports
no network.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from argot.days import spell_out_days
from argot.tools.answering.quoting import read_units
from argot.types import Passage

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MAX_TOKENS = 200
"""Tokens of a window: question, heading and units. A longer passage is read in several windows."""
QUESTION_TOKENS, HEADING_TOKENS = 48, 24
MAX_UNIT_TOKENS = 128
MAX_WINDOWS = 2
"""Windows of one passage; units behind them are not read."""

CLS, SEP = 101, 102
"""The marks of BERT's vocabulary around the parts of a window."""


@dataclass(frozen=True, slots=True)
class PassageText:
    """A passage to be read: the last line of its heading path, and its units in order, as plain text."""

    heading: str
    units: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a passage, with the question before it.

    `ids` and `parts` (tokens,): the tokens, and 0 for the question or 1 for the passage. `asked`: the tokens [start,
    end) of the question; `spans`: those of each unit; `units`: the numbers of these units in the passage.
    """

    ids: tuple[int, ...]
    parts: tuple[int, ...]
    asked: tuple[int, int]
    spans: tuple[tuple[int, int], ...]
    units: tuple[int, ...]


def read_passage_text(passage: Passage) -> PassageText:
    """Return the passage with the units that a quotation chooses from, `read_units(passage.with_columns)`, and days in
    the words that people ask by.
    """
    return _read_text(passage.header.partition("\n")[0], passage.with_columns)


@lru_cache(maxsize=1_000)
def _read_text(heading: str, text: str) -> PassageText:
    return PassageText(heading, tuple(spell_out_days(unit.plain) for unit in read_units(text)))


def build_windows(
    tokenizer: Tokenizer, question: str, passage: PassageText, most_tokens: int = MAX_TOKENS
) -> list[Window]:
    """Return the windows of a passage; none if it has no unit. `tokenizer` neither cuts nor fills up."""
    asked = tokenizer.encode(spell_out_days(question), add_special_tokens=False).ids[:QUESTION_TOKENS]
    heading = _encode(tokenizer, passage.heading)[:HEADING_TOKENS]
    head = [CLS, *asked, SEP, *heading, *([SEP] if heading else [])]
    parts = [0] * (len(asked) + 2) + [1] * (len(head) - len(asked) - 2)
    units = [_encode(tokenizer, unit)[:MAX_UNIT_TOKENS] for unit in passage.units]
    windows = []
    for numbers in _split_numbers([len(unit) for unit in units], most_tokens - len(head) - 1):
        ids, spans = list(head), []
        for number in numbers:
            spans.append((len(ids), len(ids) + len(units[number])))
            ids.extend(units[number])
        ids.append(SEP)
        of_passage = [1] * (len(ids) - len(parts))
        windows.append(Window(tuple(ids), (*parts, *of_passage), (1, 1 + len(asked)), tuple(spans), tuple(numbers)))
    return windows[:MAX_WINDOWS]


# A passage is read for many questions; its words are the same each time.
@lru_cache(maxsize=20_000)
def _encode(tokenizer: Tokenizer, text: str) -> tuple[int, ...]:
    return tuple(tokenizer.encode(text, add_special_tokens=False).ids)


def _split_numbers(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Yield the numbers of consecutive units that fit into `most` tokens together; units without tokens are left
    out.
    """
    numbers: list[int] = []
    filled = 0
    for number, length in enumerate(lengths):
        if not length:
            continue
        if numbers and filled + length > most:
            yield numbers
            numbers, filled = [], 0
        numbers.append(number)
        filled += length
    if numbers:
        yield numbers


def build_inputs(windows: Sequence[Window]) -> dict[str, NDArray[Any]]:
    """Return the network's inputs: `input_ids`, `attention_mask` and `token_type_ids`, (windows, tokens), and `pool`,
    (windows, 1 + units, tokens): the share of each token in the mean of the question and in that of each unit.
    """
    tokens, units = (max(map(len, many)) for many in ([w.ids for w in windows], [w.spans for w in windows]))
    shape = len(windows), tokens
    ids, mask, parts = (np.zeros(shape, dtype=np.int64) for _ in range(3))
    pool = np.zeros((len(windows), 1 + units, tokens), dtype=np.float32)
    for row, window in enumerate(windows):
        length = len(window.ids)
        ids[row, :length], mask[row, :length], parts[row, :length] = window.ids, 1, window.parts
        for place, (start, end) in enumerate((window.asked, *window.spans)):
            pool[row, place, start:end] = 1 / max(1, end - start)
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": parts, "pool": pool}
