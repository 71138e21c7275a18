"""Sentence embeddings through onnxruntime, from the weights of a sentence-transformers model.

The model is exported once (`onnx_export.py`), by a separate process. After that neither torch nor transformers is
imported: starting takes a fraction of a second. Passages are embedded in 8-bit integers if the processor multiplies
those (`quantisation.py`), questions in 32 bits; the vectors are comparable, and share one fingerprint.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from argot.corpus.embedding.cosine_scale import UNRELATED_TEXTS, keep_gain, read_gain
from argot.corpus.embedding.exported_models import EmbeddingModelCard, export_once, make_int8_graph, make_query_graph
from argot.corpus.embedding.onnx_export import MODEL_FILE, TOKENIZER_FILE
from argot.corpus.embedding.onnx_sessions import open_cached_model
from argot.corpus.embedding.quantisation import can_multiply_int8
from argot.corpus.embedding.query_adapter import ADAPTER_FOLDER, find_adapter
from argot.corpus.embedding.text_cache import TextCache
from argot.errors import UnusableModel
from argot.protocols import Embedder, Vectors
from argot.settings import Settings

if TYPE_CHECKING:
    import onnxruntime
    import tokenizers

logger = logging.getLogger(__name__)

WINDOW_OVERLAP = 0.15
BATCH_TEXTS = 32
BATCH_TOKENS = 8192  # about 32 full windows of 256 tokens: bounds the memory of models with long windows
MAX_CACHED_TEXTS = 10_000  # 15 MB at 384 dimensions

Progress = Callable[[int, int], None]
"""Called with (texts done, texts in all)."""


class OnnxEmbedder:
    """Implements `argot.protocols.Embedder`. Safe to use from several threads."""

    def __init__(
        self,
        folder: Path,
        card: EmbeddingModelCard,
        *,
        threads: int = 0,
        int8: bool = False,
        adapters: Path = ADAPTER_FOLDER,
    ) -> None:
        """
        Args:
            folder: the exported model.
            card: the properties of the original model.
            threads: processor threads of one embedding call; 0: as many as there are processors.
            int8: embed passages, and questions with the adapter, in 8-bit integers; the graphs for that are made first
                if missing (some seconds).
            adapters: the folder of query adapters; the one for this model embeds what is searched for.
        """
        self._card = card
        self._folder, self._threads, self._int8 = folder, threads, int8
        self._session = open_cached_model(folder / MODEL_FILE, threads)
        self._for_passages: onnxruntime.InferenceSession | None = None
        self._for_searches: onnxruntime.InferenceSession | None = None
        self._adapter_file = find_adapter(card.fingerprint, adapters)
        self._opening = threading.Lock()
        self._dimensions = int(self._session.get_outputs()[0].shape[1])
        self._tokenizer = open_tokenizer(folder)
        self._queries = TextCache(self._embed_queries, MAX_CACHED_TEXTS)
        self._searches = TextCache(self._embed_searches, MAX_CACHED_TEXTS)

    @property
    def fingerprint(self) -> str:
        return self._card.fingerprint

    @property
    def dimensions(self) -> int:
        return self._dimensions

    @cached_property
    def cosine_gain(self) -> float:
        gain = read_gain(self._folder)
        return keep_gain(self._folder, self.embed_queries(UNRELATED_TEXTS)) if gain is None else gain

    def windows(self, text: str) -> list[str]:
        """Return slices of the text, each short enough to be embedded whole, overlapping by about 15 %, cut between
        words.

        A short text is its own only window. They cannot be rejoined: the overlaps repeat.
        """
        # With the prefix, which may change how the first word is tokenised.
        encoding = self._tokenizer.encode(self._card.passage_prefix + text, add_special_tokens=False)
        shift = len(self._card.passage_prefix)
        offsets = [(start - shift, end - shift) for start, end in encoding.offsets if end > shift]
        size = self._card.max_tokens - self._tokenizer.num_special_tokens_to_add(False)
        # The prefix takes its share of each window. At least 8 tokens remain, so that windows advance.
        size = max(8, size - (len(encoding.ids) - len(offsets)))
        if len(offsets) <= size:
            return [text]
        words = [word for word, (_, end) in zip(encoding.word_ids, encoding.offsets, strict=True) if end > shift]
        return [text[max(0, offsets[first][0]) : offsets[last - 1][1]] for first, last in _cut_windows(words, size)]

    def embed_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        prefixed = [self._card.passage_prefix + text for text in texts]
        if not self._int8:
            return self._embed(prefixed, progress)
        # One by one: integers are scaled by the largest number of a batch, and no vector may depend on the other texts
        # of its batch.
        return self._embed(prefixed, progress, self._open_int8_session(), at_once=1)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries with a cache: one question is embedded by several stages of its journey, and the sentences it
        is compared with recur with the next question.
        """
        return self._stack(self._queries.get_all(texts))

    def embed_searches(self, texts: Sequence[str]) -> Vectors:
        # Without the lock once it is open: passages may hold that while their graph is made.
        if self._for_searches or self._open_query_session():
            return self._stack(self._searches.get_all(texts))
        return self.embed_queries(texts)

    def _stack(self, vectors: Sequence[NDArray[np.float32]]) -> Vectors:
        return np.array(vectors, dtype=np.float32).reshape(len(vectors), self._dimensions)

    def _embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed([self._card.query_prefix + text for text in texts])

    def _embed_searches(self, texts: Sequence[str]) -> Vectors:
        prefixed = [self._card.query_prefix + text for text in texts]
        # One by one, as passages are.
        return self._embed(prefixed, session=self._for_searches, at_once=1 if self._int8 else BATCH_TEXTS)

    def _open_int8_session(self) -> onnxruntime.InferenceSession:
        """Opened by the first passage, so that a process that only asks questions saves its memory."""
        with self._opening:
            if self._for_passages is None:
                self._for_passages = open_cached_model(make_int8_graph(self._folder), self._threads)
            return self._for_passages

    def _open_query_session(self) -> onnxruntime.InferenceSession | None:
        """Open the graph that embeds with the adapter, by the first search; None if it cannot be made: questions are
        then embedded as they are.
        """
        with self._opening:
            if self._for_searches is None and self._adapter_file is not None:
                try:
                    graph = make_query_graph(self._folder, self._adapter_file, int8=self._int8)
                except UnusableModel as error:
                    logger.warning("%s", error)
                    self._adapter_file = None
                else:
                    self._for_searches = open_cached_model(graph, self._threads)
            return self._for_searches

    def _embed(
        self,
        texts: Sequence[str],
        progress: Progress | None = None,
        session: onnxruntime.InferenceSession | None = None,
        at_once: int = BATCH_TEXTS,
    ) -> Vectors:
        session = session or self._session
        vectors = np.zeros((len(texts), self._dimensions), dtype=np.float32)
        done = 0
        for positions, ids, mask in self._batches(texts, at_once):
            (vectors[positions],) = session.run(None, {"input_ids": ids, "attention_mask": mask})
            done += len(positions)
            if progress:
                progress(done, len(texts))
        return vectors

    def _batches(self, texts: Sequence[str], at_once: int) -> Iterator[tuple[list[int], Any, Any]]:
        """Yield texts of similar length together, so that little is padded; each with its positions in the input."""
        encodings = [
            self._cut_encoding(text, one)
            for text, one in zip(texts, self._tokenizer.encode_batch(list(texts)), strict=True)
        ]
        order = sorted(range(len(texts)), key=lambda n: len(encodings[n].ids))
        while order:
            longest = len(encodings[order[-1]].ids)
            take = max(1, min(at_once, BATCH_TOKENS // max(1, longest)))
            # From the longest on: it decides how many fit together.
            positions, order = order[-take:], order[:-take]
            ids = np.zeros((len(positions), longest), dtype=np.int64)
            mask = np.zeros_like(ids)
            for row, position in enumerate(positions):
                length = len(encodings[position].ids)
                ids[row, :length] = encodings[position].ids
                mask[row, :length] = 1
            yield positions, ids, mask

    def _cut_encoding(self, text: str, encoding: tokenizers.Encoding) -> tokenizers.Encoding:
        """Return the encoding of a text, cut to the longest input.

        A second tokenizer that cuts by itself would take 290 MB where there are 250,000 word pieces.
        """
        if len(encoding.ids) <= self._card.max_tokens:
            return encoding
        inner = self._tokenizer.encode(text, add_special_tokens=False)
        inner.truncate(self._card.max_tokens - self._tokenizer.num_special_tokens_to_add(False))
        return self._tokenizer.post_process(inner)


def load_embedder(settings: Settings) -> Embedder:
    """Return the embedder of the settings; export the model first if this machine has not yet (some ten seconds).

    Raises:
        InvalidSettings: `embedder` names no installed model.
    """
    folder, card = export_once(settings.search.embedder, settings.cache)
    wanted = settings.search.embedding_precision
    int8 = wanted == "int8" or (wanted == "auto" and can_multiply_int8())
    return OnnxEmbedder(folder, card, threads=settings.search.threads, int8=int8)


# -- windows --------------------------------------------------------------------------------------------------------


def _cut_windows(words: Sequence[int | None], size: int) -> Iterator[tuple[int, int]]:
    """Yield token ranges [first, last) of at most `size` tokens, each starting and ending between two words.

    A word longer than a window has no such place and is cut inside.
    """
    first = 0
    while True:
        last = min(first + size, len(words))
        if last < len(words):
            last = _find_word_start(words, last, floor=first)
        yield first, last
        if last == len(words):
            return
        overlap = int(size * WINDOW_OVERLAP)
        # At least one token on, or a window of one long word would be cut for ever.
        first = max(first + 1, _find_word_start(words, last - overlap, floor=first)) if last - overlap > first else last


def _find_word_start(words: Sequence[int | None], position: int, *, floor: int) -> int:
    """Return the nearest position at or before `position` where a word starts; `position` itself if none is after
    `floor`.
    """
    place = position
    while place > floor and words[place] is not None and words[place] == words[place - 1]:
        place -= 1
    return place if place > floor else position


# -- opening --------------------------------------------------------------------------------------------------------


def open_tokenizer(folder: Path) -> tokenizers.Tokenizer:
    """Open a model's tokenizer, which neither cuts nor fills up."""
    from tokenizers import Tokenizer

    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
    # The file contains the padding and truncation it was saved with; neither is wanted here.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
