"""The suite `disambiguate`: choosing the senses of acronyms in running text, measured as in the SDU shared tasks.

The method uses the dictionary, the sentences themselves and any further unlabelled text; labels are only used for
measuring. The same run also measures the expansion nearest to the sentence by the embedder, each kind of evidence
alone, and all evidence without that kind.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from argot.evaluate.experiments.disambiguation_data import AcronymSentence, Dictionary
from argot.evaluate.experiments.disambiguation_matching import MatchedSentences, match_sentences
from argot.evaluate.experiments.disambiguation_measures import Guess, Measures, compute_measures
from argot.evaluate.experiments.sense_neighbours import (
    ALONE,
    NEIGHBOURS,
    TOGETHER,
    Group,
    RankedExpansions,
    choose_together,
    group_sentences,
    rank_expansions,
)
from argot.evaluate.experiments.unlabelled_texts import AcronymUsage, Texts
from argot.protocols import Embedder, Vectors

HALVES = ("choosing", "reporting")
EVERYTHING = "everything"
NEAREST = "nearest expansion by embedder"
EACH_FOR_ITSELF = "each sentence for itself"
_BATCH = 64
_MAX_REST_SENTENCES = 2_000  # sentences; with more, the kind "rest" has too little weight to be worth the embedding
_GROUPS_STEP = 50

Progress = Callable[[str, int, int], None]
Guesses = list[Guess]
"""One guess for each labelled sentence, in order."""


@dataclass(frozen=True, slots=True)
class DisambiguateReport:
    """The measures of every way of choosing, over the whole file and its halves, and of each kind of evidence.

    `unmatched` counts sentences, by reason, for which any choice is wrong or any choice is right.
    """

    name: str
    embedder: str
    texts: int
    unmatched: Mapping[str, int]
    parts: Mapping[str, Mapping[str, Measures]]
    alone: Mapping[str, Measures]
    without: Mapping[str, Measures]

    def to_json(self) -> dict[str, Any]:
        return {
            "suite": "disambiguate",
            "data": self.name,
            "embedder": self.embedder,
            "unlabelled_sentences_beside": self.texts,
            **self.unmatched,
            "parts": {
                part: {way: measures.to_json() for way, measures in ways.items()} for part, ways in self.parts.items()
            },
            "evidence_alone": {kind: measures.to_json() for kind, measures in self.alone.items()},
            "all_evidence_but": {kind: measures.to_json() for kind, measures in self.without.items()},
        }


def evaluate_disambiguate(  # noqa: PLR0917
    name: str,
    data: Sequence[AcronymSentence],
    dictionary: Dictionary,
    beside: Sequence[str],
    embedder: Embedder,
    progress: Progress,
) -> DisambiguateReport:
    """Choose for every labelled sentence, in every way. Sentences without a label and those of `beside` serve as
    text.
    """
    pairs = match_sentences(data, dictionary)
    dictionary, data = pairs.dictionary, [one for one in pairs.sentences if one.expansion is not None]
    beside = [*(one.text for one in pairs.sentences if one.expansion is None), *beside]
    texts = read_texts(data, dictionary, beside, embedder, progress)
    groups = list(_read_groups(texts, dictionary, progress))
    gold = [one.expansion or "" for one in data]
    halves = {half: [n for n, one in enumerate(data) if _choose_half(one.id) == half] for half in HALVES}
    everything = _make_guesses(groups, len(data), choose_together)
    ways = {
        NEAREST: _guess_nearest(texts, groups, len(data)),
        EACH_FOR_ITSELF: _make_guesses(groups, len(data), lambda group: choose_together(group, together={})),
        EVERYTHING: everything,
    }
    parts = {"all": list(range(len(data))), **{half: rows for half, rows in halves.items() if rows}}
    return DisambiguateReport(
        name,
        embedder.fingerprint,
        len(beside),
        _count_unmatched(pairs),
        {
            part: {way: _measure_rows(rows, gold, guesses) for way, guesses in ways.items()}
            for part, rows in parts.items()
        },
        {kind: compute_measures(gold, guesses) for kind, guesses in _guess_by_each(groups, len(data))},
        {kind: compute_measures(gold, guesses) for kind, guesses in _guess_without_each(groups, len(data))},
    )


def _count_unmatched(pairs: MatchedSentences) -> dict[str, int]:
    return {
        "acronym_not_in_dictionary": pairs.unknown_acronyms,
        "label_not_in_dictionary": pairs.unknown_labels,
        "one_sense_only": pairs.one_sense,
    }


def read_texts(
    data: Sequence[AcronymSentence],
    dictionary: Dictionary,
    beside: Sequence[str],
    embedder: Embedder,
    progress: Progress,
) -> Texts:
    """Read the sentences of `data` first, then the new ones of `beside`; each is embedded once."""
    # A labelled sentence that also occurs without a label would count twice.
    known = {one.text.casefold() for one in data}
    usages = [AcronymUsage(one.before, one.acronym, one.after) for one in data]
    for sentence in dict.fromkeys(beside):
        if sentence.casefold() not in known:
            usages.extend(find_usages(sentence, dictionary))
    expansions = sorted({expansion for found in dictionary.values() for expansion in found})
    texts = [usage.text for usage in usages]
    rests = [usage.rest for usage in usages] if len(usages) <= _MAX_REST_SENTENCES else []
    # All at once, so that texts of similar length share a batch, whichever of the three kinds they are.
    vectors = embed_texts([*texts, *expansions, *rests], embedder, progress)
    ends = len(texts), len(texts) + len(expansions)
    return Texts(
        usages, expansions, vectors[: ends[0]], vectors[ends[0] : ends[1]], vectors[ends[1] :] if rests else None
    )


def find_usages(sentence: str, dictionary: Dictionary) -> Iterator[AcronymUsage]:
    """Yield the sentence split at its first word that is an acronym of the dictionary. Without an acronym the whole
    sentence is yielded: it is evidence, too.
    """
    tokens = sentence.split()
    place = next((n for n, token in enumerate(tokens) if token in dictionary), None)
    if place is None:
        yield AcronymUsage(sentence, "", "")
    else:
        yield AcronymUsage(" ".join(tokens[:place]), tokens[place], " ".join(tokens[place + 1 :]))


def embed_texts(texts: Sequence[str], embedder: Embedder, progress: Progress) -> Vectors:
    """Return one vector of length 1 for each text. Equal texts are embedded once, those of similar length together."""
    # A batch is padded to its longest text.
    distinct = sorted(dict.fromkeys(texts), key=len)
    rows: dict[str, Any] = {}
    for start in range(0, len(distinct), _BATCH):
        batch = distinct[start : start + _BATCH]
        rows.update(zip(batch, embedder.embed_queries(batch), strict=True))
        progress("embedding sentences", start + len(batch), len(distinct))
    return np.array([rows[text] for text in texts], dtype=np.float32)


def _choose_half(identifier: str) -> str:
    # By a hash of the id, so that the halves stay the same when the file is cut or sorted.
    return HALVES[hashlib.blake2b(identifier.encode(), digest_size=1).digest()[0] % 2]


def _read_groups(texts: Texts, dictionary: Dictionary, progress: Progress) -> Iterator[Group]:
    present = len({usage.acronym for usage in texts.usages if dictionary.get(usage.acronym)})
    for done, group in enumerate(group_sentences(texts, dictionary), 1):
        yield group
        if done % _GROUPS_STEP == 0 or done >= present:
            progress("reading acronyms", min(done, present), present)


def _make_guesses(groups: Sequence[Group], count: int, choose: Callable[[Group], Any]) -> Guesses:
    """Return the first expansion of each ranking, and an empty one for acronyms that the dictionary lacks."""
    # An empty expansion is never right, so sentences without a choice lower recall.
    found = [Guess("", 0.0, 0.0)] * count
    for group in groups:
        for row, chosen in rank_expansions(group, choose(group)):
            # Later rows are the unlabelled sentences, which are only evidence.
            if row < count:
                found[row] = _guess(chosen)
    return found


def _guess(chosen: RankedExpansions) -> Guess:
    expansion, chance = chosen.ranked[0]
    return Guess(expansion, chance, chosen.margin)


def _guess_nearest(texts: Texts, groups: Sequence[Group], count: int) -> Guesses:
    """Choose the expansion whose vector is nearest to the sentence's, as a baseline. The cosine serves as the
    probability.
    """

    def compute_cosines(group: Group) -> Any:
        numbers = [texts.number[expansion] for expansion in group.expansions]
        return texts.vectors[list(group.rows)] @ texts.meanings[numbers].T

    guesses = _make_guesses(groups, count, compute_cosines)
    # A cosine may be negative, and rounding may make it larger than 1.
    return [Guess(one.expansion, min(max(one.chance, 0.0), 1.0), one.margin) for one in guesses]


def _guess_by_each(groups: Sequence[Group], count: int) -> Iterator[tuple[str, Guesses]]:
    for kind, weight in ALONE.items():
        # Bound as a default: a closure would see the last kind of the loop. No neighbours: they need a first estimate.
        yield kind, _make_guesses(groups, count, lambda group, w={kind: weight}: choose_together(group, w, {}))  # type: ignore[misc]


def _guess_without_each(groups: Sequence[Group], count: int) -> Iterator[tuple[str, Guesses]]:
    """Yield guesses without one kind of evidence at a time; the weights of the other kinds stay the same."""
    for kind in dict.fromkeys([*ALONE, *NEIGHBOURS]):
        alone = {name: weight for name, weight in ALONE.items() if name != kind}
        together = {name: weight for name, weight in TOGETHER.items() if name != kind}
        yield kind, _make_guesses(groups, count, lambda group, a=alone, t=together: choose_together(group, a, t))  # type: ignore[misc]


def _measure_rows(rows: Sequence[int], gold: Sequence[str], guesses: Guesses) -> Measures:
    return compute_measures([gold[n] for n in rows], [guesses[n] for n in rows])
