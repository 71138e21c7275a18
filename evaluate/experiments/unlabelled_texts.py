"""Evidence for the senses of acronyms from unlabelled text: many sentences together, without a language model.

`disambiguation.py` compares one question with the passages of a knowledge base. Here many sentences are read together,
and each is evidence for the others, too. Everything is learnt from the sentences themselves: where an expansion is
spelt out, which words occur together (latent semantic analysis of positive pointwise mutual information: Turney and
Pantel 2010, section 4), and which words follow each other. Labels are not used; the weight of each kind of evidence was
chosen on other sentences (docs/senses.md).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argot.tools.text.words import content_stems, fold_words, stem

Floats = NDArray[np.float32]

_DIMENSIONS = 150  # of the topic vectors
_SMALL = 800  # words; a smaller matrix is decomposed as a whole
_RARE = 3  # words in fewer sentences have no topic vector
_MAX_WITNESSES = 300  # sentences used of those that spell out one expansion
_SURROUNDING = 6  # the number of most similar sentences that are averaged
_BATCH_SENTENCES = 1_000  # sentences compared with all others at a time: limits memory
_FEW = 5  # sentences with an acronym at which their own mean has the same weight as the mean of all sentences


@dataclass(frozen=True, slots=True)
class AcronymUsage:
    """An acronym in a sentence, with the text before it and after it."""

    before: str
    acronym: str
    after: str

    @property
    def text(self) -> str:
        return " ".join(part for part in (self.before, self.acronym, self.after) if part)

    @property
    def rest(self) -> str:
        return " ".join(part for part in (self.before, self.after) if part)


class Texts:
    """Sentences with acronyms, and the evidence about words and phrases in them."""

    def __init__(
        self,
        usages: Sequence[AcronymUsage],
        expansions: Sequence[str],
        vectors: Floats,
        meanings: Floats,
        rests: Floats | None = None,
    ) -> None:
        """`vectors` has shape (usages, dimensions), `meanings` (expansions, dimensions): unit vectors of the base's
        embedder.

        `rests` has a row for each usage without its acronym. None leaves this kind out: with much text it adds little.
        """
        self.usages = usages
        self._rests = rests
        self.vectors, self.meanings = vectors, meanings
        self.number = {expansion: n for n, expansion in enumerate(expansions)}
        self._phrases = [tuple(stem(word) for word in fold_words(expansion)) for expansion in expansions]
        self._sequences = [[stem(word) for word in fold_words(usage.text)] for usage in usages]
        self._stems = [content_stems(usage.rest) for usage in usages]
        self._of_expansions = [content_stems(expansion) for expansion in expansions]
        self.surroundings = _average_surroundings(vectors)
        self._weigh_words()
        self._means = {id(kind): kind.mean(axis=0) for kind in (self.vectors, self.topics, self.surroundings)}
        self._witnesses = self._find_spelt_out()
        self._count_neighbours()

    # -- learning, done once ------------------------------------------------------------------------------------------

    def _weigh_words(self) -> None:
        """Build TF-IDF rows of sentences and expansions, and their topic vectors."""
        spread = Counter(word for stems in self._stems for word in set(stems))
        of_expansions = {word for stems in self._of_expansions for word in stems}
        known = {word: n for n, word in enumerate(sorted(spread.keys() | of_expansions))}
        rarity = [math.log((len(self._stems) + 1) / (spread[word] + 0.5)) for word in known]
        self.words = _weigh_texts(self._stems, known, rarity)
        self.words_of_expansions = _weigh_texts(self._of_expansions, known, rarity)
        topics = _place_words(self.words)
        self.topics: Floats = _normalise(self.words @ topics)
        self.topics_of_expansions: Floats = _normalise(self.words_of_expansions @ topics)

    def _find_spelt_out(self) -> list[list[int]]:
        """Return for each expansion the sentences that have all its words in sequence, as stems."""
        by_phrase: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        for n, phrase in enumerate(self._phrases):
            by_phrase[phrase].append(n)
        sizes = sorted({len(phrase) for phrase in self._phrases if phrase})
        found: list[list[int]] = [[] for _ in self._phrases]
        for n, stems in enumerate(self._sequences):
            spans = {tuple(stems[at : at + size]) for size in sizes for at in range(len(stems) - size + 1)}
            for phrase in spans & by_phrase.keys():
                for expansion in by_phrase[phrase]:
                    found[expansion].append(n)
        return found

    def _count_neighbours(self) -> None:
        self._single = Counter(word for stems in self._sequences for word in stems)
        self._pairs = Counter(pair for stems in self._sequences for pair in pairwise(stems))
        self._total = max(1, sum(self._single.values()))

    # -- evidence -----------------------------------------------------------------------------------------------------

    def collect_evidence(self, rows: Sequence[int], expansions: Sequence[str]) -> dict[str, Floats]:
        """Return for sentences (`rows`) with one acronym an array (sentences, expansions) for each kind of evidence."""
        numbers = [self.number[expansion] for expansion in expansions]
        found = {
            "meaning": self._measure_nearness(self.vectors, rows, self.meanings[numbers]),
            "rest": self._measure_rest(rows, self.meanings[numbers]),
            "field": np.tile(self._means[id(self.vectors)] @ self.meanings[numbers].T, (len(rows), 1)),
            "surroundings": self._measure_nearness(self.surroundings, rows, self.meanings[numbers]),
            "topic": self._measure_nearness(self.topics, rows, self.topics_of_expansions[numbers]),
            "stated": np.array([[self._measure_stated(row, n) for n in numbers] for row in rows]),
            "fluency": np.array([self._measure_fluency(self.usages[row], numbers) for row in rows]),
        }
        witnessed = [self._measure_witnesses(rows, self._list_own_witnesses(n, numbers)) for n in numbers]
        for kind in witnessed[0]:
            found[kind] = np.stack([one[kind] for one in witnessed], axis=1)
        return {kind: np.asarray(values, dtype=np.float32) for kind, values in found.items()}

    def _measure_nearness(self, places: Floats, rows: Sequence[int], expansions: Floats) -> Floats:
        """Return cosines minus the average for each expansion, since some expansions are near to every sentence.

        The average is taken over the acronym's own sentences and, if they are few, over all sentences as well.
        """
        own, share = places[rows], len(rows) / (len(rows) + _FEW)
        average = share * own.mean(axis=0) + (1 - share) * self._means[id(places)]
        return np.asarray((own - average) @ expansions.T, dtype=np.float32)

    def _measure_rest(self, rows: Sequence[int], expansions: Floats) -> Floats:
        """Return the cosines of the sentences without the acronym, since its letters may resemble one of the
        expansions.
        """
        if self._rests is None:
            return np.zeros((len(rows), len(expansions)), dtype=np.float32)
        return np.asarray(self._rests[rows] @ expansions.T, dtype=np.float32)

    def _measure_stated(self, row: int, expansion: int) -> float:
        """Return the share of the expansion's words that the sentence has."""
        words = set(self._of_expansions[expansion])
        return len(words.intersection(self._stems[row])) / len(words) if words else 0.0

    def _measure_fluency(self, usage: AcronymUsage, expansions: Iterable[int]) -> list[float]:
        """Return how much more often than by chance the expansion's last word comes before the word after the
        acronym.
        """
        after = [stem(word) for word in fold_words(usage.after[:40])][:1]
        return [
            self._measure_association(self._phrases[n][-1], after[0]) if after and self._phrases[n] else 0.0
            for n in expansions
        ]

    def _measure_association(self, first: str, second: str) -> float:
        expected = self._single[first] * self._single[second] / self._total
        return math.log((self._pairs[first, second] + 0.05 * expected + 0.001) / expected) if expected else 0.0

    def _list_own_witnesses(self, expansion: int, rivals: Sequence[int]) -> list[int]:
        """Return the sentences that spell out an expansion, except those that spell out a longer rival with it: "Energy
        Efficiency 21" is not "Efficiency 21".
        """
        phrase = self._phrases[expansion]
        longer = [n for n in rivals if self._phrases[n] != phrase and _has_phrase(self._phrases[n], phrase)]
        others = {row for n in longer for row in self._witnesses[n]}
        return [row for row in self._witnesses[expansion] if row not in others][:_MAX_WITNESSES]

    def _measure_witnesses(self, rows: Sequence[int], witnesses: Sequence[int]) -> dict[str, Floats]:
        """Return evidence from the sentences that spell out an expansion; a sentence is no evidence for itself."""
        none = np.zeros(len(rows), dtype=np.float32)
        if not witnesses:
            return dict.fromkeys(("spelt out", "defined", "near by words", "near by meaning"), none)
        texts = [self.usages[w].text.casefold() for w in witnesses]
        other = np.array([[self.usages[row].text.casefold() != text for text in texts] for row in rows])
        acronym = stem(self.usages[rows[0]].acronym.casefold())
        defining = np.array([acronym in self._sequences[w] for w in witnesses])
        return {
            "spelt out": other.any(axis=1).astype(np.float32),
            "defined": np.log1p((other & defining).sum(axis=1)),
            "near by words": np.where(other, _make_dense(self.words[rows] @ self.words[witnesses].T), 0.0).max(axis=1),
            "near by meaning": np.where(other, self.vectors[rows] @ self.vectors[witnesses].T, 0.0).max(axis=1),
        }

    def measure_likeness(self, rows: Sequence[int], kind: str) -> Floats:
        """Return a square matrix of the similarity of the sentences to each other, by "words" or "topic"."""
        if kind == "words":
            return _make_dense(self.words[rows] @ self.words[rows].T)
        return np.asarray(self.topics[rows] @ self.topics[rows].T, dtype=np.float32)


def _has_phrase(words: Sequence[str], phrase: Sequence[str]) -> bool:
    return any(tuple(words[at : at + len(phrase)]) == phrase for at in range(len(words) - len(phrase) + 1))


def _average_surroundings(vectors: Floats) -> Floats:
    """Return for each sentence a vector of length 1: the weighted mean of those most similar to it, without itself."""
    centred = _normalise(vectors - vectors.mean(axis=0))
    found = np.zeros_like(vectors)
    for start in range(0, len(vectors), _BATCH_SENTENCES):
        likeness = centred[start : start + _BATCH_SENTENCES] @ centred.T
        here = np.arange(len(likeness))
        likeness[here, start + here] = 0
        if len(vectors) > _SURROUNDING:
            least = np.partition(likeness, -_SURROUNDING, axis=1)[:, -_SURROUNDING][:, None]
            likeness = np.where(likeness >= least, likeness, 0)
        found[start : start + _BATCH_SENTENCES] = np.maximum(likeness, 0) ** 3 @ vectors
    return _normalise(found)


def _weigh_texts(texts: Sequence[Sequence[str]], known: dict[str, int], rarity: Sequence[float]) -> Any:
    """Return a sparse TF-IDF matrix with one row of length 1 for each text; unknown words are left out."""
    from scipy import sparse  # type: ignore[import-untyped]

    rows, columns, values = [], [], []
    for row, stems in enumerate(texts):
        counts = Counter(word for word in stems if word in known)
        weights = [(known[word], (1 + math.log(n)) * rarity[known[word]]) for word, n in counts.items()]
        length = math.sqrt(sum(weight * weight for _, weight in weights)) or 1.0
        rows += [row] * len(weights)
        columns += [column for column, _ in weights]
        values += [weight / length for _, weight in weights]
    shape = (len(texts), len(known))
    return sparse.csr_matrix((np.array(values, dtype=np.float32), (rows, columns)), shape=shape)


def _place_words(words: Any) -> Floats:
    """Return a vector for each word, so that words with similar neighbours have similar vectors. The vectors of rare
    words are 0.
    """
    from scipy import sparse

    holds = (words > 0).astype(np.float32)
    counts = np.asarray(holds.sum(axis=0)).ravel()
    kept = np.flatnonzero(counts >= _RARE)
    vectors = np.zeros((words.shape[1], _DIMENSIONS), dtype=np.float32)
    if not len(kept):
        return vectors
    together = (holds[:, kept].T @ holds[:, kept]).tocoo()
    expected = counts[kept][together.row] * counts[kept][together.col] / words.shape[0]
    more = np.log(together.data / expected)
    is_pair = (more > 0) & (together.row != together.col)
    matrix = sparse.csr_matrix((more[is_pair], (together.row[is_pair], together.col[is_pair])), shape=together.shape)
    left, strength = _decompose(matrix.astype(np.float32), min(_DIMENSIONS, len(kept)))
    vectors[kept, : len(strength)] = left * np.sqrt(strength)
    return vectors


def _decompose(matrix: Any, size: int) -> tuple[Floats, Floats]:
    """Return the left singular vectors of the largest singular values. A small matrix is decomposed as a whole.

    With little text many singular values are equal, and an iterative method would choose among them at random.
    """
    from scipy.sparse.linalg import svds  # type: ignore[import-untyped]

    if matrix.shape[0] <= _SMALL:
        left, strength, _ = np.linalg.svd(_make_dense(matrix))
        return left[:, :size], strength[:size]
    left, strength, _ = svds(matrix, k=size, v0=np.ones(matrix.shape[0], dtype=np.float32))
    return left, np.maximum(strength, 0)


def _make_dense(matrix: Any) -> Floats:
    return np.asarray(matrix.todense(), dtype=np.float32)


def _normalise(matrix: Floats) -> Floats:
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.maximum(lengths, 1e-9), dtype=np.float32)
