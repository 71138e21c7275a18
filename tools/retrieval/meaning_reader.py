"""Judgement of passages and their units by meaning alone, if the question or the passages are not in English.

Words do not match across languages, and the trained readers have learnt from English. A multilingual embedder places a
question near the sentences that answer it, in whatever language they are. With another embedder nothing is found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from typing import Any, cast

import numpy as np

from argot.corpus.embedding.cosine_scale import rescale_cosines
from argot.protocols import Embedder, PassageReading
from argot.tools.answering.quoting import may_answer, read_units
from argot.tools.reading.passage_languages import is_beyond_english, is_in_other_language
from argot.tools.reading.passage_readings import to_chance, to_log_odds
from argot.tools.retrieval.reading_cache import ReadingCache
from argot.types import Hit, Passage

MAX_PASSAGES = 5
"""Number of passages that are judged, those that the search put first. With eight, fewer right ones come first."""
# Chosen on translated questions over the English samples (bench/laboratory/languages.md).
_UNIT_GAIN = 20.0
"""Log-odds of a unit's chance per unit of its cosine."""
_EVEN_COSINE = 0.25
"""Cosine of the question and a unit that is as likely to answer as not."""
_COSINE_WEIGHT, _SEARCH_WEIGHT = 1.5, 0.25
"""Weights of a passage's best unit, and of the search's score, in the order of passages and in the evidence."""
_EVIDENCE_SEARCH_WEIGHT = 0.75
"""Weight of the search's score in the evidence across languages: there it says more than in the order."""
_ACROSS_LANGUAGES, _WITHIN_LANGUAGE = -0.2, -0.44
"""Added to the order's score; within a language also to the evidence, so that `Profile.abstain_below` is the right
bound for it."""
_EVIDENCE_ACROSS_LANGUAGES = -0.51
"""Added to the evidence across languages, where cosines are lower: of 56 validation questions with an
answer 50 reach the bound, and of 58 without one 12."""
_TRANSLATIONS = (
    ("Who signs the travel expenses of a trainee?", "Wer unterschreibt die Reisekosten eines Auszubildenden?"),
    ("Pallets are stacked three high in the warehouse.", "Au dépôt, les palettes sont empilées sur trois niveaux."),
    ("Restart the service after you change its settings.", "Reinicie el servicio después de cambiar su configuración."),
    ("Rain is expected in the north on Tuesday.", "Am Dienstag wird im Norden Regen erwartet."),
    (
        "Invoices over 500 dollars need a second signature.",
        "Les factures de plus de 500 dollars exigent un second visa.",
    ),
    ("The orchestra rehearses the third movement.", "La orquesta ensaya el tercer movimiento."),
)
_MIN_TRANSLATION_COSINE = 0.4
"""Least mean cosine of translations, on the scale of the default model, for an embedder to count as multilingual."""


class MeaningReader:
    """A `PassageReader` by the cosines of an embedder. Safe to use from several threads."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._readings = ReadingCache()
        self._claim_readings = ReadingCache()

    @cached_property
    def is_multilingual(self) -> bool:
        """True if the embedder places a sentence and its translation near each other."""
        vectors = np.asarray(self.embedder.embed_queries([text for pair in _TRANSLATIONS for text in pair]))
        cosines = np.einsum("ij,ij->i", vectors[::2], vectors[1::2])
        return float(rescale_cosines(cosines, self.embedder).mean()) >= _MIN_TRANSLATION_COSINE

    def read_passages(self, question: str, passages: Sequence[Passage]) -> list[PassageReading]:
        """Return the reading of each passage; without a multilingual embedder, nothing in it answers."""
        return self._readings.all_of(question, passages, self._read_units)

    def read_closely(self, question: str, passages: Sequence[Passage]) -> list[PassageReading]:
        return self.read_passages(question, passages)

    def measure_likeness(self, text: str, passages: Sequence[Passage]) -> float:
        """Measure the cosine of a text with the nearest unit of the passages, on the scale of the default model."""
        return max((_get_best_cosine(one) for one in self._read_claim(text, passages)), default=0.0)

    def find_nearest(self, text: str, passages: Sequence[Passage]) -> tuple[str, str]:
        """Return the passages' unit that is nearest to a text, and its language; empty without any."""
        readings = zip(self._read_claim(text, passages), passages, strict=True)
        reading, passage = max(readings, key=lambda one: one[0].relevance, default=(None, None))
        if reading is None or passage is None or not reading.relevance:
            return "", ""
        number = max(range(len(reading.units)), key=lambda at: reading.units[at])
        return read_units(passage.with_columns)[number].plain, passage.language

    def _read_claim(self, text: str, passages: Sequence[Passage]) -> list[PassageReading]:
        """Return the reading of each passage for a statement: of a title it says less than a question does."""
        return self._claim_readings.all_of(text, passages, partial(self._read_units, headings=1))

    def _read_units(self, question: str, passages: Sequence[Passage], headings: int = 0) -> list[PassageReading]:
        known = [_list_texts(one, headings) for one in passages] if self.is_multilingual else [{} for _ in passages]
        listed = [text for of_passage in known for text in of_passage.values()]
        chances = iter(self._measure_chances(question, listed) if listed else ())
        return [
            _build_reading({number: next(chances) for number in of_passage}, one)
            for of_passage, one in zip(known, passages, strict=True)
        ]

    def _measure_chances(self, question: str, texts: Sequence[str]) -> list[float]:
        asked = np.asarray(self.embedder.embed_queries([question]))[0]
        cosines = rescale_cosines(np.asarray(self.embedder.embed_passages(texts)) @ asked, self.embedder)
        return [float(chance) for chance in to_chance(_UNIT_GAIN * (cosines - _EVEN_COSINE))]


def _list_texts(passage: Passage, headings: int) -> dict[int, str]:
    """Return the text of each unit that may answer by itself, by its number, below its last headings, so many of them
    (0: all), which say what it is about.
    """
    units = read_units(passage.with_columns)
    above = f"{' > '.join(passage.heading_path[-headings:])}: " if passage.heading_path else ""
    return {unit.number: f"{above}{unit.plain}" for unit in units if may_answer(unit, units)}


def _build_reading(chances: dict[int, float], passage: Passage) -> PassageReading:
    units = tuple(chances.get(unit.number, 0.0) for unit in read_units(passage.with_columns))
    return PassageReading(max(units, default=0.0), units)


def load_meaning_reader(embedder: Embedder) -> MeaningReader:
    """Return the reader over this embedder, always the same one, so that its readings are kept."""
    return _get_meaning_reader(cast(Any, embedder))


# One alone: the last one keeps its model in memory.
@lru_cache(maxsize=1)
def _get_meaning_reader(embedder: Embedder) -> MeaningReader:
    return MeaningReader(embedder)


def find_judge(question: str, hits: Sequence[Hit], embedder: Embedder) -> MeaningReader | None:
    """Return the reader by which these hits are to be judged; None if the trained readers know their language, or the
    embedder does not know it either.
    """
    reader = load_meaning_reader(embedder)
    return reader if is_beyond_english(question, hits) and reader.is_multilingual else None


def rank_by_meaning(question: str, hits: Sequence[Hit], reader: MeaningReader, most: int = MAX_PASSAGES) -> list[Hit]:
    """Return the hits of a search with the best ones in the order of their best units; the first one's score is the
    evidence that the passages answer. `most`: the number of hits that are judged.
    """
    near, far = hits[:most], hits[most:]
    readings = reader.read_passages(question, [hit.passage for hit in near])
    fits = [_measure_fit(question, hit, reading) for hit, reading in zip(near, readings, strict=True)]
    first = max(range(len(near)), key=lambda place: fits[place])
    shift = _measure_evidence(question, near[first], readings[first]) - fits[first]
    scored = [replace(hit, score=_limit(fit + shift)) for hit, fit in zip(near, fits, strict=True)]
    scored.sort(key=lambda hit: -hit.score)
    return [*scored, *(replace(hit, score=min(hit.score, scored[-1].score)) for hit in far)]


def _measure_fit(question: str, hit: Hit, reading: PassageReading) -> float:
    added = _ACROSS_LANGUAGES if is_in_other_language(question, hit.passage) else _WITHIN_LANGUAGE
    return _COSINE_WEIGHT * _get_best_cosine(reading) + _SEARCH_WEIGHT * hit.score + added


def _measure_evidence(question: str, hit: Hit, reading: PassageReading) -> float:
    if not is_in_other_language(question, hit.passage):
        return _limit(_measure_fit(question, hit, reading))
    weighed = _COSINE_WEIGHT * _get_best_cosine(reading) + _EVIDENCE_SEARCH_WEIGHT * hit.score
    return _limit(weighed + _EVIDENCE_ACROSS_LANGUAGES)


def _limit(score: float) -> float:
    return min(1.0, max(0.0, score))


def _get_best_cosine(reading: PassageReading) -> float:
    return _EVEN_COSINE + to_log_odds(reading.relevance) / _UNIT_GAIN
